# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Linear layers of integers, computed with Python's integers: writes arrays and the results that they have to give, into a
# folder. Prints the sizes of each case, and its name. Knows nothing of resid but the formula.

import operator
import pathlib
import random
import struct
import sys
from fractions import Fraction

from integer_weights import round_f32, write
from quantize_values import f32, save, save_flat

# Rows, output features and input features: none of them whole panels or groups of terms; more rows than a micro-kernel
# has, in whole groups; one row; and as many terms as there may be, whose sums need more bits than f32 has.
CASES = {"odd": (9, 37, 77), "groups": (19, 48, 128), "row": (1, 24, 130), "deep": (2, 17, 131071)}


def make(folder, name, choose):
    rows, out, features = CASES[name]
    draw = lambda: choose.choice((-128, 127, choose.randint(-128, 127)))
    x = [[draw() for _ in range(features)] for _ in range(rows)]
    w = [[draw() for _ in range(features)] for _ in range(out)]
    x[0], w[0] = [-128] * features, [-128] * features
    if rows > 1:
        x[1] = [127] * features
    x_scale = [f32(choose.uniform(0.001, 0.1)) for _ in range(rows)]
    w_scale = [f32(choose.uniform(0.001, 0.1)) for _ in range(out)]
    bias = [f32(choose.gauss(0, 10)) for _ in range(out)]
    results, plain = [], []
    for i in range(rows):
        for j in range(out):
            total = sum(map(operator.mul, x[i], w[j]))
            scale = round_f32(Fraction(x_scale[i]) * Fraction(w_scale[j]))
            y = round_f32(Fraction(round_f32(Fraction(total))) * Fraction(scale))
            plain.append(y)
            results.append(round_f32(Fraction(y) + Fraction(bias[j])))
    save(folder / f"{name}.x.npy", "|i1", "b", x)
    save(folder / f"{name}.w.npy", "|i1", "b", w)
    save(folder / f"{name}.t.npy", "|i1", "b", list(zip(*w)))
    for what, values in (("r", x_scale), ("c", w_scale), ("b", bias)):
        save_flat(folder / f"{name}.{what}.npy", values, (len(values),))
    for what, values in (("y", results), ("p", plain)):
        write(folder / f"{name}.{what}.npy", "<f4", 4, (rows, out), b"".join(struct.pack("<f", v) for v in values))
    print(name, rows, out, features)


def main():
    folder, choose = pathlib.Path(sys.argv[1]), random.Random(7)
    for name in CASES:
        make(folder, name, choose)


main()
