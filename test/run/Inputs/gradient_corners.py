# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gradients of gradient-corners.mlir beside closed forms in float64. For each FUNCTION.npy in a folder, the gradients at the points.

import ast
import math
import pathlib
import struct
import sys


def read(path):
    data = path.read_bytes()
    length = struct.unpack_from("<H", data, 8)[0]
    header = ast.literal_eval(data[10 : 10 + length].decode())
    assert header["descr"] == "<f4"
    return struct.unpack(f"<{header['shape'][0]}f", data[10 + length :])


def logistic(x):
    """1/(1 + exp(-x)), and its slope."""
    small = math.exp(-abs(x))
    return (1 if x > 0 else small) / (1 + small), small / (1 + small) ** 2


def sign(x):
    return (x > 0) - (x < 0)


EXPECTED = {
    "sigmoid": lambda x: logistic(x)[1],
    "quick_gelu": lambda x: logistic(1.75 * x)[0] + 1.75 * x * logistic(1.75 * x)[1],
    "softplus": lambda x: logistic(2 * x)[0],
    "log_sigmoid": lambda x: logistic(-x)[0],
    "power_0": lambda x: 1.0,
    "power_open": lambda x: 0.0,
    "bounded": lambda x: float(-1 < x < 6),
    "larger": sign,
    "absolute": sign,
    "relu": lambda x: float(x > 0),
    "quotient": lambda x: -0.0 if x else math.nan,
    "angle": lambda x: 1e-30 / (x * x + 1e-60),
    "angle_0": lambda x: 0.0,
    # The squares of the largest and the least numbers are no numbers of f32.
    "norm": lambda x: 0.0 if x * x < 1e-46 or x * x > 1e39 else math.sqrt(2) * sign(x),
}

points = [float(point) for point in sys.argv[2].split(",")]
for name, expected in EXPECTED.items():
    found = read(pathlib.Path(sys.argv[1], name + ".npy"))
    assert len(found) == len(points)
    for x, own in zip(points, found):
        right = expected(x)
        if not (math.isnan(own) and math.isnan(right) or abs(own - right) <= 4e-6 * abs(right) + 2e-38):
            sys.exit(f"{name}: expected a gradient of {right} at {x} but got {own}")
print(len(EXPECTED), "functions")
