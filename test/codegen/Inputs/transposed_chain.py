# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints a function of many sums of a value and its transpose: each op doubles the number of paths to the argument.
# Usage: transposed_chain.py OPS

import sys

ops = int(sys.argv[1])
TENSOR = "tensor<8x8xf32>"
print(f"func.func @chain(%x0: {TENSOR}) -> {TENSOR} {{\n  %e = tensor.empty() : {TENSOR}")
for i in range(ops):
    print(f"  %t{i} = linalg.transpose ins(%x{i} : {TENSOR}) outs(%e : {TENSOR}) permutation = [1, 0]")
    print(f"  %x{i + 1} = resid.add %x{i}, %t{i} : {TENSOR}")
print(f"  return %x{ops} : {TENSOR}\n}}")
