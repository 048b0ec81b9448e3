# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What resid.quantize and resid.dequantize give, computed in exact fractions: writes arrays and results into a folder,
# and prints for each function what resid-run takes. Knows nothing of resid but the formulas.

import math
import pathlib
import random
import struct
import sys
from fractions import Fraction

from integer_weights import round_f32, write

COLUMNS = 45
GROUP = 20


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def find_scale(values):
    if not all(map(math.isfinite, values)):
        return math.nan
    return round_f32(Fraction(max(map(abs, values), default=0.0)) / 127)


def quantize(x, scale):
    if scale == 0 or math.isnan(scale) or math.isnan(x):
        return 0
    if math.isinf(x):
        return math.copysign(127, x) * math.copysign(1, scale)
    return max(-127, min(127, round(Fraction(round_f32(Fraction(x) / Fraction(scale))))))


def find_products_that_differ(scale, count):
    """Numbers whose quotient by the scale rounds to another integer than their product with 1 / scale."""
    inverse, found = round_f32(1 / Fraction(scale)), []
    for k in range(126):
        for step in (-1, 0, 1):
            x = round_f32((Fraction(2 * k + 1) / 2) * Fraction(scale))
            x = f32(x * (1 + step * 2.0 ** -23))
            product = round(Fraction(round_f32(Fraction(x) * Fraction(inverse))))
            if product != quantize(x, scale) and len(found) < count:
                found.append(x)
    assert found, "expected numbers that tell a division from a product"
    return found


def pad(row, choose):
    return row + [choose.uniform(-1, 1) * max(map(abs, row)) / 2 for _ in range(COLUMNS - len(row))]


def make_rows(choose):
    rows = []
    # Ties, of both signs and parities: the largest number is 127 times a power of two.
    rows.append(pad([127 * 0.25] + [(k + 0.5) * 0.25 * sign for k in range(10) for sign in (1, -1)], choose))
    largest = f32(3.7)
    scale = find_scale([largest])
    rows.append(pad([largest] + find_products_that_differ(scale, 20), choose))
    rows.append([choose.gauss(0, 1) for _ in range(COLUMNS)])
    rows.append([0.0, -0.0] * 22 + [0.0])
    # 60 times the smallest number: the scale underflows. With 100 of them it is the smallest number.
    rows.append([60 * 2.0 ** -149] + [2.0 ** -149] * (COLUMNS - 1))
    rows.append([100 * 2.0 ** -149] + [33 * 2.0 ** -149] * (COLUMNS - 1))
    rows.append([3.3e38, -3.3e38] + [1e38] * (COLUMNS - 2))
    for special in (math.nan, math.inf, -math.inf):
        row = [choose.gauss(0, 1) for _ in range(COLUMNS)]
        row[choose.randrange(GROUP, 2 * GROUP)] = special
        rows.append(row)
    return [[f32(value) for value in row] for row in rows]


def split(row, group):
    return [row[first : first + group] for first in range(0, len(row), group)]


def save(path, kind, code, rows):
    data = b"".join(struct.pack("<" + code, value) for row in rows for value in row)
    write(path, kind, struct.calcsize(code), (len(rows), len(rows[0])), data)


def save_flat(path, values, shape):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    data = b"".join(struct.pack("<f", value) for value in values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)


def main():
    folder, choose = pathlib.Path(sys.argv[1]), random.Random(5)
    rows = make_rows(choose)
    save(folder / "x.npy", "<f4", "f", rows)

    def expect(name, groups_of_rows, shape):
        scales = [find_scale(group) for groups in groups_of_rows for group in groups]
        each = iter(scales)
        q = [[int(quantize(x, scale)) for group in groups for scale in [next(each)] for x in group] for groups in groups_of_rows]
        save(folder / f"{name}.q.npy", "|i1", "b", q)
        save_flat(folder / f"{name}.scale.npy", scales, shape)
        print(name, "--arg=x.npy", f"{name}.q.npy", f"{name}.scale.npy")
        return scales

    row_scales = expect("rows", [[row] for row in rows], (len(rows),))
    expect("equal_groups", [split(row, 15) for row in rows], (len(rows), 3))
    group_scales = expect("groups", [split(row, GROUP) for row in rows], (len(rows), 3))

    # A tensor without specials has a scale that is a number.
    finite = [row for row in rows if all(map(math.isfinite, row))]
    save(folder / "finite.npy", "<f4", "f", finite)
    whole = find_scale([value for row in finite for value in row])
    save(folder / "whole.q.npy", "|i1", "b", [[int(quantize(x, whole)) for x in row] for row in finite])
    save_flat(folder / "whole.scale.npy", [whole], ())
    print("whole --arg=finite.npy whole.q.npy whole.scale.npy")

    # Scales that are not those of the rows: some are 0, negative or NaN, or so large that 128 of them are no number.
    statics = [f32(scale) for scale in (0.01, 0.5, 0.003, 0.0, 2.0 ** -149, -0.02, math.nan, 0.125, 1e38, -3e38)]
    save_flat(folder / "static.npy", statics, (len(rows),))
    save(folder / "static_rows.q.npy", "|i1", "b", [[int(quantize(x, scale)) for x in row] for row, scale in zip(rows, statics)])
    print("static_rows --arg=x.npy --arg=static.npy static_rows.q.npy")
    by_group = [[statics[i], statics[i - 1], statics[i - 2]] for i in range(len(rows))]
    save(folder / "static_groups.npy", "<f4", "f", by_group)
    save(folder / "static_groups.q.npy", "|i1", "b",
         [[int(quantize(x, scale)) for group, scale in zip(split(row, GROUP), scales) for x in group] for row, scales in zip(rows, by_group)])
    print("static_groups --arg=x.npy --arg=static_groups.npy static_groups.q.npy")

    # Back: any integers, -128 too.
    integers = [[choose.randint(-128, 127) for _ in range(COLUMNS)] for _ in rows]
    integers[0][0] = -128
    save(folder / "integers.npy", "|i1", "b", integers)

    def times(q, scale):
        if math.isnan(scale):
            return math.nan
        return round_f32(q * Fraction(scale), sign=math.copysign(0.0, scale if q >= 0 else -scale))

    save(folder / "back.rows.npy", "<f4", "f", [[times(q, scale) for q in row] for row, scale in zip(integers, row_scales)])
    save(folder / "back.groups.npy", "<f4", "f",
         [[times(q, group_scales[3 * i + k // GROUP]) for k, q in enumerate(row)] for i, row in enumerate(integers)])
    save(folder / "back.whole.npy", "<f4", "f", [[times(q, whole) for q in row] for row in integers])
    print("back --arg=integers.npy --arg=rows.scale.npy --arg=groups.scale.npy --arg=whole.scale.npy back.rows.npy back.groups.npy back.whole.npy")


if __name__ == "__main__":
    main()
