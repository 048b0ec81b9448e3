# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs @activations with --check, on numbers around 0 and at the ends of the range, on several processors; and compares
# what the evaluator makes of them with the formulas.
# Usage: activation_values.py PROGRAM TYPE DIRECTORY PROCESSOR…

import math
import os
import subprocess
import sys

import npy

# The bits of a fraction, the least and the greatest exponent of normal numbers.
FORMATS = {"f16": (10, -14, 15), "bf16": (7, -126, 127), "f32": (23, -126, 127), "f64": (52, -1022, 1023)}


def numbers(element):
    bits, least, greatest = FORMATS[element]
    unit = 2.0**-bits
    magnitudes = [0.0, 2.0 ** (least - bits), 2.0**least, 2.0 ** (least // 2), 2.0 ** (greatest // 2), 2.0**greatest * (2 - unit),
                  float("inf"), unit, 1 + unit, 88.7, 88.8, 104.0, 709.0, 710.0, 4.0, 5.5, 1e4]
    magnitudes += [k * 0.0625 for k in range(1, 200)]
    return [sign * value for value in magnitudes for sign in (1, -1)] + [float("nan")]


def gelu(x):
    return 0.5 * x * (1 + math.erf(x * math.sqrt(0.5)))


def gelu_tanh(x):
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))


def silu(x, alpha=1):
    z = alpha * x
    return x / (1 + (float("inf") if z < -709 else math.exp(-z)))


def sigmoid(x):
    return 1 / (1 + (float("inf") if x < -709 else math.exp(-x)))


def relu(x):
    return x if x > 0 or math.isnan(x) else 0.0


def relu2(x):
    return relu(x) * relu(x)


def clamp(value, least, most):
    return value if math.isnan(value) else min(max(value, least), most)


def run(program, arguments):
    lines = subprocess.run(["resid-run", program, "--entry=activations", *arguments], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.splitlines()
    return [line for line in lines if ": ok, " in line]


def compare(x, up, arrays):
    """The evaluator computes in float64 too, with the same functions of the C library."""
    for i, (value, factor) in enumerate(zip(x, up)):
        f, g, h = gelu(value), gelu_tanh(value), silu(value)
        below, inside = clamp(value, -math.inf, 2.5), clamp(factor, -2.5, 2.5)
        clamped = (silu(below) * inside, silu(below, 1.702) * (inside + 1))
        for number, expected in enumerate((relu(value), f, g, h, h * factor, f * factor, g * factor, sigmoid(value), *clamped,
                                            relu2(value))):
            found = arrays[number][i]
            same = (math.isnan(found) and math.isnan(expected)) or found == expected
            scale = 1 if number == 7 else value * value if number == 10 else abs(value) * (abs(factor) + 1)
            if not same and not abs(found - expected) <= 1e-15 * scale:
                sys.exit(f"out{number}, x = {value}, up = {factor}: expected {expected} but got {found}")


def main():
    program, element, directory, *processors = sys.argv[1:]
    x = numbers(element)
    up = [(-1.5, 0.25, 3.0)[i % 3] for i in range(len(x))]
    arguments = [f"--arg={element}[1x{len(x)}]=" + ",".join(str(value) for value in values) for values in (x, up)]
    for processor in processors:
        lines = run(program, [*arguments, "--check", "--mcpu=" + processor])
        exact, bounded = (lines[0], lines[-1]), lines[1:-1]
        if len(lines) != 11 or any("bit-equal" not in line for line in exact) or any("bound" not in line for line in bounded):
            sys.exit("\n".join([f"expected eleven results within their bounds on {processor}, but got", *lines]))
    if element == "f64":
        paths = [os.path.join(directory, f"y{i}.npy") for i in range(11)]
        run(program, [*arguments, "--backend=reference", *("--out=" + path for path in paths)])
        compare(x, up, [npy.read(path)[1] for path in paths])


main()
