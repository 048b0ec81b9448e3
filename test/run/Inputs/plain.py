# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What layers consist of in plain float64 loops, which resid has no part in. A tensor is a list of rows.

import math

EPSILON = 1e-5


def linear(x, weight, bias=None):
    """Rows times a weight [out, in]."""
    return [[sum(map(float.__mul__, row, column)) + (bias[j] if bias else 0.0) for j, column in enumerate(weight)] for row in x]


def transpose(matrix):
    return [list(column) for column in zip(*matrix)]


def add(x, y):
    return [[a + b for a, b in zip(*rows)] for rows in zip(x, y)]


def layer_norm(x, gamma, beta, epsilon=EPSILON):
    result = []
    for row in x:
        mean = sum(row) / len(row)
        scale = (sum((a - mean) ** 2 for a in row) / len(row) + epsilon) ** -0.5
        result.append([(a - mean) * scale * g + b for a, g, b in zip(row, gamma, beta)])
    return result


def rms_norm(x, gamma, epsilon=EPSILON):
    scales = [(sum(a * a for a in row) / len(row) + epsilon) ** -0.5 for row in x]
    return [[a * scale * g for a, g in zip(row, gamma)] for row, scale in zip(x, scales)]


def each(function, x):
    return [[function(a) for a in row] for row in x]


def relu(a):
    return max(a, 0.0)


def silu(a):
    return a / (1 + math.exp(-a))


def gelu(a):
    return 0.5 * a * (1 + math.erf(a / math.sqrt(2)))


def gelu_tanh(a):
    return 0.5 * a * (1 + math.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))


def turn(x, size, cos, sin):
    """Rotary positions: pairs of one half with the other, head by head."""
    half, result = size // 2, [list(row) for row in x]
    for position, row in enumerate(x):
        for first in range(0, len(row), size):
            for j in range(half):
                a, b, c, s = row[first + j], row[first + half + j], cos[position][j], sin[position][j]
                result[position][first + j], result[position][first + half + j] = a * c - b * s, b * c + a * s
    return result


def attend(q, k, v, size, present):
    """Heads side by side in the rows. present(i, j): whether query i takes key j."""
    heads, groups = len(q[0]) // size, len(k[0]) // size
    result = [[0.0] * len(q[0]) for _ in q]
    for head in range(heads):
        at, of = head * size, head // (heads // groups) * size
        for i, row in enumerate(q):
            keys = [j for j in range(len(k)) if present(i, j)]
            scores = [sum(map(float.__mul__, row[at : at + size], k[j][of : of + size])) * size**-0.5 for j in keys]
            shares = [math.exp(score - max(scores)) for score in scores]
            for d in range(size):
                result[i][at + d] = sum(share * v[j][of + d] for share, j in zip(shares, keys)) / sum(shares)
    return result


def causal(i, j):
    return j <= i
