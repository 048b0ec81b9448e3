# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cuda_attention.py FOLDER [all]: attention and its gradients on the GPU's interpreter and on the CPU (resid-run
# --backend=cuda --check). A result with other bits ends the run. With `all`, every program of embed/Inputs/attention.py
# runs, with several sizes.

import os
import re
import subprocess
import sys

FOLDER, ALL = sys.argv[1], sys.argv[2:] == ["all"]
INPUTS = os.path.dirname(os.path.abspath(__file__))
sys.argv = ["attention.py", FOLDER]
sys.path[:0] = [os.path.join(INPUTS, folder) for folder in ("../../embed/Inputs", "../../gpu")]
import attention  # of this repository; writes its programs into the folder
from beside_cpu import compare

# Of the programs: between them, all types, clauses and layouts, and heads of one column and of the most there are, values of another size.
SOME = ["one_f32", "wide_f32", "mixed_f64", "added_bf16", "dropped_cache", "window_f64", "steep_f16", "sink_bf16", "short_f32", "few_bf16"]
# Queries, keys, and how many keys a cache has before.
SIZES = [(13, 300, 290), (33, 70, 37), (1, 513, 512), (3, 5, 2), (0, 4, 3)] if ALL else [(9, 270, 255)]
SPECIAL = """func.func @f(%q: tensor<1x2x7x20xf32>, %k: tensor<1x2x300x20xf32>, %x: tensor<1x2x300x20xf32>, %draw: tensor<7x300xf32>)
    -> (tensor<1x2x7x20xf32>, tensor<1x2x7x20xf32>, tensor<1x2x7x20xf32>) {
  // Values of Inf and NaN, most of them of keys that are absent; a query without a key; a score of NaN.
  %zero = arith.constant dense<0.0> : tensor<1x2x12x20xf32>
  %one = arith.constant dense<1.0> : tensor<1x2x12x20xf32>
  %inf = arith.divf %one, %zero : tensor<1x2x12x20xf32>
  %nan = arith.subf %inf, %inf : tensor<1x2x12x20xf32>
  %a = tensor.insert_slice %inf into %x[0, 0, 3, 0] [1, 2, 12, 20] [1, 1, 1, 1] : tensor<1x2x12x20xf32> into tensor<1x2x300x20xf32>
  %v = tensor.insert_slice %nan into %a[0, 0, 280, 0] [1, 2, 12, 20] [1, 1, 1, 1] : tensor<1x2x12x20xf32> into tensor<1x2x300x20xf32>
  %limit = arith.constant dense<1.5> : tensor<7x300xf32>
  %chosen = arith.cmpf ogt, %draw, %limit : tensor<7x300xf32>
  %never = arith.constant dense<1.0e30> : tensor<7x300xf32>
  %none = arith.cmpf ogt, %draw, %never : tensor<7x300xf32>
  %y = resid.attention %q, %k, %v mask(%chosen) {window = 3} : tensor<1x2x7x20xf32>, tensor<1x2x300x20xf32>, tensor<1x2x300x20xf32>, tensor<7x300xi1>
  %z = resid.attention %q, %k, %v mask(%none) : tensor<1x2x7x20xf32>, tensor<1x2x300x20xf32>, tensor<1x2x300x20xf32>, tensor<7x300xi1>
  %w = resid.attention %q, %v, %k {causal} : tensor<1x2x7x20xf32>, tensor<1x2x300x20xf32>, tensor<1x2x300x20xf32>
  return %y, %z, %w : tensor<1x2x7x20xf32>, tensor<1x2x7x20xf32>, tensor<1x2x7x20xf32>
}
"""


def write(name, text):
    path = os.path.join(FOLDER, name + ".mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def forward(program, queries, keys, past):
    name, element, size, mask, letters, _, cache, after, p, more = program
    if cache and keys < queries:
        return
    sizes = {"b": attention.BATCH, "h": attention.HEADS, "q": queries, "k": keys}
    shape = lambda heads, length, columns=size: [attention.BATCH, *([length, heads] if after else [heads, length]), columns]
    array = lambda kind, dimensions, seed: f"{kind}[{'x'.join(map(str, dimensions))}]=random:{seed}"
    of_keys = shape(attention.KEY_HEADS, keys)
    arguments = [array(element, shape(attention.HEADS, queries), 1), array(element, of_keys, 2)]
    arguments.append(array(element, shape(attention.KEY_HEADS, keys, more.get("values", size)), 3))
    text = attention.write_program(*program)
    if mask:
        rank = re.search(r"%m: tensor<([^>]*)>", text).group(1).count("x")
        arguments.append(array(mask, [sizes[letter] if letter in letters else 1 for letter in "bhqk"][4 - rank:], 4))
    if "sink" in more:
        arguments.append(array(more["sink"], [attention.HEADS], 5))
    arguments += [str(max(0, min(past, keys - queries)))] if cache else []
    arguments += ["7", "9", "3", "5"] if p is not None else []
    compare(f"{name} {queries} {keys}", write(name, text), arguments)


def gradients(name, function, clause, element, queries, keys, last):
    """Of a function of run/Inputs/grad-attention.mlir, with grouped heads and dropout."""
    with open(os.path.join(INPUTS, "grad-attention.mlir"), encoding="utf-8") as file:
        source = write("source", file.read().replace("xT>", f"x{element}>").replace("causal,", clause))
    both = os.path.join(FOLDER, "both.mlir")
    wrt = "0,1,2,3" if function == "sink" else "0,1,2"
    subprocess.run(["residc", source, f"--grad={function}", f"--wrt={wrt}", "--grad-mode=value-and-grad", "--emit=mlir", "-o", both], check=True)
    q, k = f"{element}[2x4x{queries}x24]", f"{element}[2x2x{keys}x24]"
    compare(name, both, [f"{q}=random:1", f"{k}=random:2", f"{k}=random:3", f"{last}=random:4", "7", "9", f"{q}=random:5"],
          f"--entry={function}_value_and_grad")


def main():
    for program in attention.programs:
        if ALL or program[0] in SOME:
            for sizes in SIZES:
                forward(program, *sizes)
    compare("special values", write("special", SPECIAL), [f"f32[{shape}]=random:{i}" for i, shape in enumerate(["1x2x7x20", "1x2x300x20", "1x2x300x20", "7x300"])])
    gradients("gradients", "f", "causal,", "f32", 21, 270, "f32[270]")
    gradients("gradients of f64 in a window", "f", "window = 40,", "f64", 35, 67, "f32[67]")
    gradients("gradients of bf16, sink and cap", "sink", "causal,", "bf16", 9, 40, "bf16[4]")


if __name__ == "__main__":
    main()
