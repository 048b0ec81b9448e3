# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Linear layers with weights of 8 and 4 bits, computed in exact fractions: writes arrays and the results that they have to
# give, into a folder. Prints for each case what resid-run takes. Knows nothing of resid but the formula.

import pathlib
import random
import struct
import sys
from fractions import Fraction

ROWS, OUT, IN, GROUP = 3, 19, 64, 32


def round_f32(value, sign=0.0):
    """The f32 nearest to a fraction, ties to even; a zero has the sign of `sign`."""
    if value == 0:
        return sign
    exponent = max(abs(value).numerator.bit_length() - abs(value).denominator.bit_length(), -126) + 1
    while exponent > -126 and abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (exponent - 23)
    return float(round(value / unit) * unit)  # to even, and exact in a double


def fma(a, b, c):
    value = Fraction(a) * Fraction(b) + Fraction(c)
    return round_f32(value, 0.0)


def write(path, kind, size, shape, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    assert len(data) == size * shape[0] * shape[1]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)


def weight_of(q, scale, second, entry):
    if entry == "offsets":
        return fma(scale, q, -second)
    return round_f32(Fraction(scale) * (q - (second if entry == "zeros" else 0)))


def make(folder, entry, bits, choose):
    name = f"{entry}{bits}"
    groups = IN // GROUP
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    x = [[struct.unpack("<f", struct.pack("<f", choose.gauss(0, 1)))[0] for _ in range(IN)] for _ in range(ROWS)]
    # The first two columns have only the smallest and the largest number.
    q = [[(low, high)[n] if n < 2 else choose.randint(low, high) for _ in range(IN)] for n in range(OUT)]
    scale = [[struct.unpack("<f", struct.pack("<f", choose.gauss(0, 1)))[0] for _ in range(groups)] for _ in range(OUT)]
    scale[2][0], scale[3][1] = 2.0 ** -149, -(2.0 ** 100)
    if entry == "zeros":
        second = [[choose.choice((-128, 127, choose.randint(low, high))) for _ in range(groups)] for _ in range(OUT)]
    else:
        second = [[struct.unpack("<f", struct.pack("<f", choose.gauss(0, 3)))[0] for _ in range(groups)] for _ in range(OUT)]
    flat = [number for row in q for number in row]
    if bits == 4:
        data = bytes((a & 15) | (b & 15) << 4 for a, b in zip(flat[::2], flat[1::2]))
        write(folder / f"{name}.q.npy", "|u1", 1, (OUT, IN // 2), data)
    else:
        write(folder / f"{name}.q.npy", "|i1", 1, (OUT, IN), struct.pack(f"{len(flat)}b", *flat))
    write(folder / f"{name}.x.npy", "<f4", 4, (ROWS, IN), b"".join(struct.pack("<f", v) for row in x for v in row))
    write(folder / f"{name}.s.npy", "<f4", 4, (OUT, groups), b"".join(struct.pack("<f", v) for row in scale for v in row))
    kind, code, size = ("|i1", "b", 1) if entry == "zeros" else ("<f4", "<f", 4)
    write(folder / f"{name}.t.npy", kind, size, (OUT, groups), b"".join(struct.pack(code, v) for row in second for v in row))
    weight = [[weight_of(q[n][k], scale[n][k // GROUP], second[n][k // GROUP], entry) for k in range(IN)] for n in range(OUT)]
    results = []
    for row in x:
        for n in range(OUT):
            total = 0.0
            for k in range(IN):
                total = fma(row[k], weight[n][k], total)
            results.append(total)
    write(folder / f"{name}.expected.npy", "<f4", 4, (ROWS, OUT), b"".join(struct.pack("<f", v) for v in results))
    arguments = ["x", "q", "s"] + (["t"] if entry != "scaled" else [])
    print(entry, bits, " ".join(f"--arg={name}.{argument}.npy" for argument in arguments))


def main():
    folder = pathlib.Path(sys.argv[1])
    choose = random.Random(1)
    for entry in ("scaled", "zeros", "offsets"):
        for bits in (8, 4):
            make(folder, entry, bits, choose)


if __name__ == "__main__":
    main()
