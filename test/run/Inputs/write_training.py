#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes examples/train_c's GPT at a small size (small GPT), adds steps of AdamW to what residc made of it (steps
# VALUE_AND_GRAD NUMBER), and lists flags of resid-run for the weights and results of that (arguments TRAIN, results
# TRAIN FOLDER).

import re
import sys

# Of 6 bytes among 40, width 64, 4 heads of 16.
SIZES = [("x64x128x", "x6x64x"), ("?x64xi32", "?x6xi32"), ("?x64xf32", "?x6xf32"), ("x64x512x", "x6x128x"), ("x64x256x", "x6x40x"), ("x64x4x32x", "x6x4x16x"),
         ("x4x64x32x", "x4x6x16x"), ("256x128x", "40x64x"), ("<64x128x", "<6x64x"), ("<128x128x", "<64x64x"), ("<512x128x", "<128x64x"), ("<128x512x", "<64x128x"),
         ("<128xf32", "<64xf32"), ("<512xf32", "<128xf32"), ("sequences, 64, 4, 32", "sequences, 6, 4, 16")]

# As examples/train_c/adamw.mlir, with one rate of decay for all.
UPDATE = """    %new{i}:3 = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}}
        ins(%w{i}, %m{i}, %v{i}, %step#{grad} : {t}, {t}, {t}, {t}) outs(%w{i}, %m{i}, %v{i} : {t}, {t}, {t}) {{
    ^bb0(%p: f32, %mean: f32, %square: f32, %g: f32, %a: f32, %b: f32, %c: f32):
      %m_kept = arith.mulf %beta_mean, %mean : f32
      %m_added = arith.mulf %rest_mean, %g : f32
      %m_new = arith.addf %m_kept, %m_added : f32
      %v_kept = arith.mulf %beta_square, %square : f32
      %g_square = arith.mulf %g, %g : f32
      %v_added = arith.mulf %rest_square, %g_square : f32
      %v_new = arith.addf %v_kept, %v_added : f32
      %m_fair = arith.divf %m_new, %mean_left : f32
      %v_fair = arith.divf %v_new, %square_left : f32
      %root = math.sqrt %v_fair : f32
      %below = arith.addf %root, %epsilon : f32
      %direction = arith.divf %m_fair, %below : f32
      %move = arith.mulf %rate, %direction : f32
      %p_kept = arith.mulf %shrink, %p : f32
      %p_new = arith.subf %p_kept, %move : f32
      linalg.yield %p_new, %m_new, %v_new : f32, f32, f32
    }} -> ({t}, {t}, {t})
"""


def write_small(text):
    for large, small in SIZES:
        text = text.replace(large, small)
    return text


def name(letter, types):
    return ", ".join(f"%{letter}{i}" for i in range(len(types)))


def write_steps(text, steps):
    signature = re.search(r"func\.func @model_value_and_grad\((.*?)\) -> \((.*?)\) (?:attributes.*?)?\{\n", text)
    arguments = re.findall(r"%arg\d+: (tensor<[^>]*>|i64)", signature[1])
    ids, weights, losses = arguments[0], arguments[4:-1], arguments[-1]
    updates = []
    for i, t in enumerate(weights):
        dims = ", ".join(f"d{d}" for d in range(t.count("x")))
        maps = ", ".join([f"affine_map<({dims}) -> ({dims})>"] * 7)
        updates.append(UPDATE.format(i=i, grad=i + 1, t=t, maps=maps, loops=", ".join(['"parallel"'] * t.count("x"))))
    zeros = "".join(f"  %zero{i} = arith.constant dense<0.0> : {t}\n" for i, t in enumerate(weights))
    listed = ", ".join(weights)
    carried = [f"%{letter}{i} = %{start}{i}" for letter, start in (("w", "weight"), ("m", "zero"), ("v", "zero")) for i in range(len(weights))]
    new = ", ".join(f"%new{i}#{part}" for part in range(3) for i in range(len(weights)))
    train = f"""
func.func @train(%before: {ids}, %next: {ids}, %seed: i64, {", ".join(f"%weight{i}: {t}" for i, t in enumerate(weights))}) -> ({losses}, {listed}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant {steps} : index
  %one = arith.constant 1.0 : f32
  %share = arith.constant 0.0625 : f32
  %rate = arith.constant 0.01 : f32
  %shrink = arith.constant 0.9999 : f32
  %beta_mean = arith.constant 0.9 : f32
  %beta_square = arith.constant 0.99 : f32
  %rest_mean = arith.constant 0.1 : f32
  %rest_square = arith.constant 0.01 : f32
  %epsilon = arith.constant 1.0e-8 : f32
  %rows = tensor.dim %before, %c0 : {ids}
  %first = tensor.splat %one[%rows] : {losses}
{zeros}  %end:{3 * len(weights) + 3} = scf.for %i = %c0 to %steps step %c1 iter_args(%loss = %first, %mean_power = %one, %square_power = %one, {", ".join(carried)})
      -> ({losses}, f32, f32, {", ".join([listed] * 3)}) {{
    %mean_next = arith.mulf %mean_power, %beta_mean : f32
    %square_next = arith.mulf %square_power, %beta_square : f32
    %mean_left = arith.subf %one, %mean_next : f32
    %square_left = arith.subf %one, %square_next : f32
    %number = arith.index_cast %i : index to i64
    %shares = tensor.splat %share[%rows] : {losses}
    %step:{len(weights) + 1} = func.call @model_value_and_grad(%before, %next, %seed, %number, {name("w", weights)}, %shares)
        : ({ids}, {ids}, i64, i64, {listed}, {losses}) -> ({losses}, {listed})
{"".join(updates)}    scf.yield %step#0, %mean_next, %square_next, {new} : {losses}, f32, f32, {", ".join([listed] * 3)}
  }}
  return %end#0, {", ".join(f"%end#{3 + i}" for i in range(len(weights)))} : {losses}, {listed}
}}
"""
    text = text.replace("func.func @model", "func.func private @model")
    end = text.rindex("}")
    return text[:end] + train + text[end:]


def find_weights(text):
    return re.findall(r"%weight\d+: tensor<([\dx]+)xf32>", text)


what, text = sys.argv[1], open(sys.argv[2]).read()
if what == "small":
    print(write_small(text), end="")
elif what == "steps":
    print(write_steps(text, int(sys.argv[3])), end="")
elif what == "arguments":
    print(*(f"--arg=f32[{shape}]=random:{i}" for i, shape in enumerate(find_weights(text))))
else:
    print(*(f"--out={sys.argv[3]}/{i}.npy" for i in range(len(find_weights(text)) + 1)))
