# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs test/run/arithmetic.test's program for one type with --check, on values at which rounding, zeros' signs and
# ranges matter, each with each.
# Usage: special_values.py PROGRAM TYPE

import itertools
import subprocess
import sys

# The bits of a fraction, the least and the greatest exponent of normal numbers.
FORMATS = {"f16": (10, -14, 15), "bf16": (7, -126, 127), "f32": (23, -126, 127), "f64": (52, -1022, 1023)}


def floats(element):
    bits, least, greatest = FORMATS[element]
    unit = 2.0 ** -bits
    magnitudes = [
        0.0, 2.0 ** (least - bits), 2.0**least * (1 - unit), 2.0**least, 2.0**greatest * (2 - unit), float("inf"), 1.0,
        1 + unit, 1 - unit / 2, 0.5, 0.5 - unit / 4, 1.5, 2.5, 3.0, 100.5, 2.0**bits - 0.5, 2.0 ** (bits - 1) + 1.5,
        2.0 ** (bits + 1) - 1, unit / 2 * (1 + unit), unit / 2 * (1 - unit)]
    return [sign * value for value in magnitudes for sign in (1, -1)] + [float("nan")]


def in_range(element):
    """Floats that i32 and, without their sign, ui32 hold, up to the ends."""
    bits = FORMATS[element][0]
    end = 65504.0 if element == "f16" else 2.0**32 - max(1, 2.0 ** (31 - bits))
    return [0.0, 0.5, 0.99, 1.0, 1.5, 2.5, 1000.7, end, end / 2]


def least_signed(element, values):
    """What is taken from them so that they fit i32, down to its least number."""
    return [32768.0 if element == "f16" else 2.0**31] * len(values)


def integers(width):
    near = [0, 1, 2, 3, 127, 255, 2049, 4098, 65519, 2**24 + 1, 2**24 + 3, 2**24 - 1]
    # Halfway between two of bf16, and beside that.
    near += [0x40400000, 0x40400001, 0x403FFFFF]
    near += [2 ** (width - 1) - 1, 2 ** (width - 1) - 64, -(2 ** (width - 1)), 2 ** (width - 2) + 1, 5 << (width - 8)]
    near += [2**53 + 1, 2**60 + 2**36 + 1, 2**60 + 3 * 2**36 - 1] if width == 64 else []
    return near + [-value for value in near if 0 < value]


def near_ties():
    """f64 numbers halfway between two of a narrower type and beside that, subnormal and largest ones included."""
    found = []
    for bits, least, greatest in (FORMATS[name] for name in ("f16", "bf16", "f32")):
        unit, smallest = 2.0**-bits, 2.0 ** (least - bits)
        ties = [1 + unit / 2, 1 + unit * 1.5, smallest / 2, smallest * 1.5, 2.0**least - smallest / 2,
                2.0**greatest * (2 - unit / 2)]
        found += [tie * (1 + beside) for tie in ties for beside in (0, 2.0**-40, -(2.0**-40))]
    return found + [-value for value in found] + [float("nan"), float("inf"), -0.0]


def argument(element, values):
    return f"--arg={element}[{len(values)}]=" + ",".join(str(value) for value in values)


def main():
    program, element = sys.argv[1:]
    values = floats(element)
    pairs = list(itertools.product(values, repeat=2))
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    # The third operand of fma is the second of a later pair, so that all three differ.
    third = second[7:] + second[:7]
    arguments = [
        argument(element, first), argument(element, second), argument(element, third),
        argument(element, in_range(element)), argument(element, least_signed(element, in_range(element))),
        argument("f64", near_ties()), argument("i32", integers(32)), argument("i64", integers(64))]
    sys.exit(subprocess.run(["resid-run", program, "--check", *arguments]).returncode)


main()
