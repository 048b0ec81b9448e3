# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A post-norm block on NumPy arrays, beside the same in NumPy. Usage: main.py <shared library>
#
#   residc ../post_norm_block/block.mlir -o libblock.so && python3 main.py ./libblock.so

import sys

import numpy as np

from resid_kernels import Kernels


def layer_norm(s, gamma, beta, epsilon):
    s = s.astype(np.float64)
    centred = s - s.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + epsilon) * gamma + beta


def main():
    kernels = Kernels(sys.argv[1])
    random = np.random.default_rng(1)
    x, f = (random.standard_normal((4, 8, 120), dtype=np.float32) for _ in range(2))
    gamma, beta = (random.standard_normal(120, dtype=np.float32) for _ in range(2))

    # The function takes rows of 120; a batch of sequences is as good. Seed and step are numbers.
    y, s = kernels.call("post_norm_block", x, f, gamma, beta, 42, 0)
    dropped = np.mean(s == x)
    error = np.abs(y - layer_norm(s, gamma, beta, 1e-5)).max()
    print(f"dropped {dropped:.3f} of the branch; largest error beside float64: {error:.1e}")
    if error > 1e-5 or not 0.05 < dropped < 0.15:
        sys.exit("expected one in ten dropped and errors below 1e-5")

    # Results may also be written where the caller wants them: here over the stream itself.
    kernels.call("post_norm_block", x, f, gamma, beta, 42, 0, np.empty_like(x), x)
    if not np.array_equal(x, s):
        sys.exit("expected the same sum in place")

    try:
        kernels.call("post_norm_block", x, f.astype(np.float64), gamma, beta, 42, 1)
    except TypeError as refusal:
        print(f"refused: {refusal}")
    else:
        sys.exit("expected an array of float64 to be refused")


main()
