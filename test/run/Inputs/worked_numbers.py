# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Inputs and checks of worked-numbers.test that need more than a few elements.
# Usage: worked_numbers.py <one of the functions below, its underscores as dashes> <its arguments…>

import math
import random
import sys

import npy

SHAPE = (4, 16, 512)
COUNT = SHAPE[0] * SHAPE[1] * SHAPE[2]
# Position in the stream, x, branch, and the sum that must stand there.
POINTS = [(517, -0.07005, 0.50748, 0.43743), (30000, 0.09600, -1.96800, -1.87200)]


def stream_inputs(folder):
    rng = random.Random(1)
    x = [rng.gauss(0, 1) for _ in range(COUNT)]
    branch = [rng.gauss(0, 1) for _ in range(COUNT)]
    for position, a, b, _ in POINTS:
        x[position], branch[position] = a, b
    npy.write(f"{folder}/x.npy", SHAPE, x)
    npy.write(f"{folder}/branch.npy", SHAPE, branch)
    npy.write(f"{folder}/zeros.npy", SHAPE, [0.0] * COUNT)


def stream_check(result):
    shape, values = npy.read(result)
    expect(shape == SHAPE, f"shape {SHAPE} but got {shape}")
    for position, a, b, total in POINTS:
        expect(abs(values[position] - total) < 1e-6, f"{a} + {b} = {total} but got {values[position]}")


def same(first, second):
    """The same bits."""
    a, b = npy.read(first), npy.read(second)
    expect(a[0] == b[0] and a[1].tobytes() == b[1].tobytes(), f"the same bits in {first} and {second}")


def dropout_inputs(folder):
    rng = random.Random(2)
    npy.write(f"{folder}/million.npy", (1000, 1000), [1.0 + rng.random() for _ in range(10**6)])


def dropout_check(original, result, p):
    """Kept share and mean within four standard errors of 1-p and of the input's mean."""
    p = float(p)
    x, y = npy.read(original)[1], npy.read(result)[1]
    n = len(x)
    share = sum(value != 0 for value in y) / n
    expect(abs(share - (1 - p)) < 4 * math.sqrt(p * (1 - p) / n), f"a kept share of {1 - p} but got {share}")
    # The mean of the results varies by the mask alone: each adds x²·p/(1-p) to its variance.
    mean_x, mean_y = sum(x) / n, sum(y) / n
    error = math.sqrt(sum(value * value for value in x) * p / (1 - p)) / n
    expect(abs(mean_y - mean_x) < 4 * error, f"a mean of {mean_x} but got {mean_y}")


def within_bound(result, reference, gamma, beta):
    """Each |error| at most 5e-7·max(1, |γ|·max(1, |x̂|) + |β|)."""
    y, expected = npy.read(result)[1], npy.read(reference)[1]
    gammas, betas = npy.read(gamma)[1], npy.read(beta)[1]
    expect(len(y) == len(expected), f"{len(expected)} elements but got {len(y)}")
    for i, (a, b) in enumerate(zip(y, expected)):
        g, shift = abs(gammas[i % len(gammas)]), betas[i % len(betas)]
        bound = 5e-7 * max(1, max(g, abs(b - shift)) + abs(shift))
        expect(abs(a - b) <= bound, f"element {i} within {bound} of {b} but got {a}")


def close(result, reference, tolerance):
    """Each |error| at most the tolerance."""
    y, expected = npy.read(result)[1], npy.read(reference)[1]
    expect(len(y) == len(expected), f"{len(expected)} elements but got {len(y)}")
    worst = max(range(len(y)), key=lambda i: math.inf if math.isnan(y[i]) else abs(y[i] - expected[i]))
    error = abs(y[worst] - expected[worst])
    expect(error <= float(tolerance), f"element {worst} within {tolerance} of {expected[worst]} but got {y[worst]}")


def expect(condition, what):
    if not condition:
        raise SystemExit(f"expected {what}")


globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])
