# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Cases of attention and its gradients: of every type, masks, windows, caches, caps, sinks, dropout, heads of one column and of
# 576, values of another size than keys, values of Inf and NaN, packs, caches of samples.

import dataclasses
import re
import subprocess
import sys

import cases
import programs
from streams import Writer

# Of the programs: between them, all types, clauses and layouts, and heads of one column and of the most there are, values of another size.
SOME = ["one_f32", "wide_f32", "mixed_f64", "added_bf16", "dropped_cache", "window_f64", "steep_f16", "sink_bf16", "short_f32", "few_bf16"]
# Queries, keys, and how many keys a cache has before.
SIZES = [(9, 270, 255)]
MANY_SIZES = [(13, 300, 290), (33, 70, 37), (1, 513, 512), (3, 5, 2), (0, 4, 3)]
TWICE = """func.func @f(%x: tensor<1x2x9x20xf32>, %k: tensor<1x2x40x20xf32>) -> tensor<1x2x9x20xf32> {
  %y = resid.attention %x, %k, %k : tensor<1x2x9x20xf32>, tensor<1x2x40x20xf32>, tensor<1x2x40x20xf32>
  %z = resid.attention %y, %k, %k : tensor<1x2x9x20xf32>, tensor<1x2x40x20xf32>, tensor<1x2x40x20xf32>
  return %z : tensor<1x2x9x20xf32>
}
"""
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
# Two packs, of which sequences have more keys than a chunk, or begin within a block of rows.
NUMBERS = [[*[5] * 13, *[-1] * 2, *[8] * 270, *[2] * 15], [*[1] * 2, *[2] * 290, *[-1] * 8]]
PACK = """func.func @f(%q: tensor<2x4x300x24xf32>, %k: tensor<2x2x300x24xf32>, %v: tensor<2x2x300x20xf32>, %s: tensor<2x300xi32>) -> tensor<2x4x300x20xf32> {
  %y = resid.attention %q, %k, %v segments(%s, %s) {causal}
      : tensor<2x4x300x24xf32>, tensor<2x2x300x24xf32>, tensor<2x2x300x20xf32>, tensor<2x300xi32>, tensor<2x300xi32>
  return %y : tensor<2x4x300x20xf32>
}
"""
# The samples' caches are read and written; one of them is full.
CACHES = """func.func @f(%q: tensor<3x4x2x24xf32>, %x: tensor<3x2x2x24xf32>, %c: tensor<3x2x300x24xf32>, %cos: tensor<300x12xf32>,
                  %sin: tensor<300x12xf32>, %p: tensor<3xi64>) -> (tensor<3x4x2x24xf32>, tensor<3x2x300x24xf32>) {
  %k = resid.append %c, %x past(%p) : tensor<3x2x300x24xf32>, tensor<3x2x2x24xf32>, tensor<3xi64>
  %r = resid.rotary %q cos(%cos) sin(%sin) offset(%p) : tensor<3x4x2x24xf32>, tensor<300x12xf32>, tensor<300x12xf32>, tensor<3xi64>
  %y = resid.attention %r, %k, %k past(%p) {causal, window = 200}
      : tensor<3x4x2x24xf32>, tensor<3x2x300x24xf32>, tensor<3x2x300x24xf32>, tensor<3xi64>
  return %y, %k : tensor<3x4x2x24xf32>, tensor<3x2x300x24xf32>
}
"""


def forward(to, attention, program, queries, keys, past):
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
    to.add(f"{name} {queries} {keys}", text, arguments, 3)


def gradients(to, results, name, function, clause, element, queries, keys, last):
    """Of a function of run/Inputs/grad-attention.mlir, with grouped heads and dropout."""
    source = to.folder / "source.mlir"
    source.write_text((cases.INPUTS / "grad-attention.mlir").read_text().replace("xT>", f"x{element}>").replace("causal,", clause))
    wrt = "0,1,2,3" if function == "sink" else "0,1,2"
    command = [to.residc, source, f"--grad={function}", f"--wrt={wrt}", "--grad-mode=value-and-grad", "--emit=mlir", "-o", "-"]
    both = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    q, k = f"{element}[2x4x{queries}x24]", f"{element}[2x2x{keys}x24]"
    to.add(name, both, programs.name_arrays(f"{q} {k} {k} {last} 7 9 {q}"), results, f"--entry={function}_value_and_grad")


def pack(to):
    """Forward and backward in one call."""
    source = to.folder / "source.mlir"
    source.write_text(PACK)
    command = [to.residc, source, "--grad=f", "--wrt=0,1,2", "--grad-mode=value-and-grad", "--emit=mlir", "-o", "-"]
    both = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    numbers = ",".join(str(number) for numbers in NUMBERS for number in numbers)
    arguments = programs.name_arrays(f"f32[2x4x300x24] f32[2x2x300x24] f32[2x2x300x20] i32[2x300]={numbers} f32[2x4x300x20]")
    to.add("a pack", both, arguments, 4, "--entry=f_value_and_grad")


def import_attention(folder):
    """Of this repository; it takes its folder from the command line."""
    given, sys.argv = sys.argv, ["attention.py", str(folder)]
    sys.path.insert(0, str(cases.INPUTS / "../../embed/Inputs"))
    try:
        import attention
    finally:
        sys.argv = given
    return attention


def choose(folder, residc, names=SOME, sizes=SIZES):
    to, attention = Writer(folder, residc, "attention"), import_attention(folder)
    for program in attention.programs:
        if names is None or program[0] in names:
            for some in sizes:
                forward(to, attention, program, *some)
    to.add("special values", SPECIAL, programs.name_arrays("f32[1x2x7x20] f32[1x2x300x20] f32[1x2x300x20] f32[7x300]"), 3)
    gradients(to, 4, "gradients", "f", "causal,", "f32", 21, 270, "f32[270]")
    gradients(to, 4, "gradients of f64 in a window", "f", "window = 40,", "f64", 35, 67, "f32[67]")
    gradients(to, 5, "gradients of bf16, sink and cap", "sink", "causal,", "bf16", 9, 40, "bf16[4]")
    pack(to)
    to.add("caches of samples", CACHES, [*programs.name_arrays("f32[3x4x2x24] f32[3x2x2x24] f32[3x2x300x24] f32[300x12] f32[300x12]"), "i64[3]=0,298,255"], 2)
    # The threads of a warp hand weights to each other in shared memory. Here the result of the second attention takes the
    # place of its queries.
    to.add("twice", TWICE, programs.name_arrays("f32[1x2x9x20] f32[1x2x40x20]"), 1)
    last = to.cases.pop()
    in_order = [dataclasses.replace(last, order=order) for order in ("backward", "random=1")]
    # The host cuts the chunks of few queries over blocks, and leaves those of many to one warp.
    for name, heads, queries, keys, kernel in (("one query", 4, 1, 600, "chunks_1"), ("many heads", 96, 2, 260, "attention_0")):
        q, k = (f"1x{heads}x{count}x8" for count in (queries, keys))
        of_q, of_k = f"tensor<{q.replace('x1x', 'x?x')}xf32>", f"tensor<{k}xf32>"
        text = f"func.func @f(%q: {of_q}, %k: {of_k}, %v: {of_k}) -> {of_q} {{\n"
        text += f"  %y = resid.attention %q, %k, %v : {of_q}, {of_k}, {of_k}\n  return %y : {of_q}\n}}\n"
        to.add(name, text, programs.name_arrays(f"f32[{q}] f32[{k}] f32[{k}]"), 1)
        in_order.append(dataclasses.replace(to.cases.pop(), kernel=kernel))
    return to.cases + in_order


def relaxed(to, name, sizes, element, clause=""):
    """Of batches, heads, queries, keys, and columns of keys and of values."""
    batches, heads, queries, keys, size, values = sizes
    q, k, v, y = (f"tensor<{batches}x{heads}x{rows}x{columns}x{element}>" for rows, columns in ((queries, size), (keys, size), (keys, values), (queries, values)))
    text = f"func.func @f(%q: {q}, %k: {k}, %v: {v}) -> {y} {{\n  %y = resid.attention %q, %k, %v {clause} : {q}, {k}, {v} -> {y}\n  return %y : {y}\n}}\n"
    to.add(name, text, programs.name_arrays(" ".join(f"{element}[{kind[7:].rsplit('x', 1)[0]}]" for kind in (q, k, v))), 1)


def choose_relaxed(folder, residc):
    """By matrix units, which need 256 keys or enough queries for a device: every clause; heads that are no multiple of 16 columns, and the widest ones; several chunks; values of Inf
    and NaN, most of them of keys that are absent; values of f16, whose sums keep their order. Few queries, and packs of them, keep theirs too."""
    to, attention = Writer(folder, residc, "relaxed-attention"), import_attention(folder)
    for program in attention.programs:
        if program[0] in ("added_bf16", "steep_f16", "sink_bf16", "few_bf16"):
            forward(to, attention, program, 9, 256, 247)
    special = SPECIAL.replace("xf32>", "xbf16>").replace("300x", "256x").replace(", 280,", ", 240,")
    to.add("relaxed special values", special, programs.name_arrays("bf16[1x2x7x20] bf16[1x2x256x20] bf16[1x2x256x20] bf16[7x256]"), 3)
    relaxed(to, "a relaxed head of 64", (1, 2, 40, 256, 64, 64), "f16", "{causal}")
    relaxed(to, "a relaxed head of 128", (1, 2, 21, 256, 128, 128), "bf16")
    relaxed(to, "relaxed chunks", (48, 2, 8, 300, 24, 40), "bf16", "{window = 200}")
    numbers = ",".join(str(number) for numbers in NUMBERS for number in numbers)
    to.add("a relaxed pack", PACK.replace("f32>", "bf16>"), programs.name_arrays(f"bf16[2x4x300x24] bf16[2x2x300x24] bf16[2x2x300x20] i32[2x300]={numbers}"), 1)
    gradients(to, 4, "relaxed gradients", "f", "causal,", "bf16", 100, 70, "f32[70]")
    gradients(to, 4, "relaxed gradients of queries", "f", "causal,", "bf16", 21, 270, "f32[270]")
    gradients(to, 5, "relaxed gradients of f16, sink and cap", "sink", "window = 120,", "f16", 100, 100, "f16[4]")
    chosen = [dataclasses.replace(case, flags=("--relax-rounding=products", *case.flags)) for case in to.cases]
    return chosen + [dataclasses.replace(chosen[6], order=order) for order in ("backward", "random=1")]


def choose_all(folder, residc):
    return choose(folder, residc, None, MANY_SIZES)
