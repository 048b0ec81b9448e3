# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Norms over the last dimension, row by row.

import math


def normalize(x, gamma, beta, epsilon, is_layer):
    values, scales, width = x.get(), gamma.get(), x.shape[-1]
    shifts = beta.get() if beta else [0.0] * width
    results = []
    for begin in range(0, len(values), width):
        row = values[begin : begin + width]
        mean = math.fsum(row) / width if is_layer else 0.0
        rstd = 1 / math.sqrt(math.fsum((value - mean) ** 2 for value in row) / width + epsilon)
        results += [(value - mean) * rstd * scale + shift for value, scale, shift in zip(row, scales, shifts)]
    return type(x)(x.shape, results)


def layer_norm(x, shape, gamma, beta, epsilon):
    return normalize(x, gamma, beta, epsilon, True)


def rms_norm(x, shape, gamma, epsilon):
    return normalize(x, gamma, None, epsilon, False)


def dropout(x, probability, training):
    return x


def linear(x, w):
    rows, terms, columns, a, b = x.shape[0], x.shape[1], w.shape[0], x.get(), w.get()
    return type(x)((rows, columns), [sum(a[i * terms + k] * b[j * terms + k] for k in range(terms)) for i in range(rows) for j in range(columns)])
