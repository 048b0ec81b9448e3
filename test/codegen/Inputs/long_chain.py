# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints a function of many row-wise ops, each of which reads the one before: biases, products and sums. With --tensors: sums with a
# tensor of its own each. Usage: long_chain.py OPS [--tensors]

import sys

ops = int(sys.argv[1])
TENSOR, ROW = "tensor<?x768xf32>", "tensor<768xf32>"
if "--tensors" in sys.argv:
    arguments = [f"%a{i}: {TENSOR}" for i in range(ops)]
    lines = [f"resid.add %x{i}, %a{i} : {TENSOR}" for i in range(ops)]
else:
    arguments = [f"%b: {ROW}"]
    forms = ["resid.add_bias %x{0}, %b : {2}, {3}", "arith.mulf %x{0}, %x{0} : {2}", "resid.add %x{0}, %x{1} : {2}"]
    lines = [forms[i % 3].format(i, max(0, i - 2), TENSOR, ROW) for i in range(ops)]
print(f"func.func @chain(%x0: {TENSOR}, {', '.join(arguments)}) -> {TENSOR} {{")
for i, line in enumerate(lines):
    print(f"  %x{i + 1} = {line}")
print(f"  return %x{ops} : {TENSOR}\n}}")
