# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes attention.mlir and attention.inc: programs of attention of every type, kind of mask, size of a head and layout, and
# how attention.cpp calls them. Numbers of queries and keys are open. Argument: the folder.

import pathlib
import sys

BATCH, HEADS, KEY_HEADS = 2, 4, 2
# Name; type; size of a head; the mask's type and which of batch, heads, queries, keys it has; causal; with a cache;
# whether heads come after positions in memory; p of a dropout; the window, the cap, the sink's type and the size of values, if
# there are any.
PROGRAMS = [
    ("plain_f32", "f32", 20, None, "", False, False, False, None),
    ("one_f32", "f32", 1, None, "", False, False, False, None),
    ("wide_f32", "f32", 576, None, "", True, False, False, None),
    ("causal_f32", "f32", 48, None, "", True, False, False, None),
    ("cache_f32", "f32", 32, None, "", True, True, False, None),
    ("filled_f32", "f32", 33, None, "", False, True, False, None),
    ("added_f32", "f32", 16, "f32", "bhqk", False, False, False, None),
    ("rows_f32", "f32", 16, "f32", "bq", False, False, False, None),
    ("keys_f32", "f32", 17, "f32", "k", True, False, False, None),
    ("chosen_f32", "f32", 16, "i1", "qk", False, False, False, None),
    ("padding_f32", "f32", 24, "i1", "bk", True, True, False, None),
    ("behind_f32", "f32", 20, None, "", True, False, True, None),
    ("plain_f64", "f64", 20, "f64", "hk", True, False, False, None),
    ("mixed_f64", "f32", 9, "f64", "qk", False, False, False, None),
    ("plain_bf16", "bf16", 40, None, "", True, False, False, None),
    ("added_bf16", "bf16", 15, "bf16", "k", False, True, True, None),
    ("plain_f16", "f16", 32, "f16", "qk", True, False, False, None),
    ("dropped_f32", "f32", 20, None, "", False, False, False, 0.3),
    ("dropped_cache", "f32", 33, "i1", "bk", True, True, True, 0.5),
    ("dropped_f64", "f64", 16, "f64", "qk", True, False, False, 0.1),
    ("dropped_bf16", "bf16", 24, None, "", False, True, False, 0.75),
    ("all_dropped", "f32", 17, None, "", True, False, False, 1.0),
    ("none_dropped", "f16", 17, None, "", True, False, False, 0.000001),
    ("nearest_f32", "f32", 20, None, "", True, False, False, None, {"window": 1}),
    ("window_f32", "f32", 24, None, "", True, False, False, None, {"window": 70}),
    ("band_f32", "f32", 17, "i1", "qk", False, False, False, None, {"window": 50}),
    ("window_bf16", "bf16", 40, None, "", True, True, True, None, {"window": 300}),
    ("band_f16", "f16", 32, "f16", "k", False, True, False, None, {"window": 258}),
    ("window_f64", "f64", 16, "f64", "qk", True, False, False, 0.3, {"window": 33}),
    ("widest_f32", "f32", 16, None, "", False, True, False, None, {"window": 2**63 - 1}),
    ("capped_f32", "f32", 20, "f32", "qk", True, False, False, None, {"cap": 0.75}),
    ("capped_f64", "f64", 16, None, "", False, False, False, 0.3, {"cap": 3.0}),
    ("flat_bf16", "bf16", 24, "i1", "k", True, True, True, None, {"cap": 1e-38}),
    ("steep_f16", "f16", 17, None, "", True, False, False, None, {"cap": 3e38, "window": 100}),
    ("sink_f32", "f32", 20, None, "", True, False, False, None, {"sink": "f32"}),
    ("sink_f64", "f32", 16, "i1", "qk", False, False, False, None, {"sink": "f64"}),
    ("sink_bf16", "bf16", 40, "bf16", "qk", True, True, True, 0.5, {"sink": "bf16", "window": 90, "cap": 2.5}),
    ("latent_f32", "f32", 576, None, "", True, True, False, None, {"values": 512}),
    ("short_f32", "f32", 192, "i1", "qk", True, False, True, None, {"values": 128, "sink": "f32"}),
    ("few_bf16", "bf16", 40, None, "", True, False, False, 0.3, {"values": 5}),
    ("many_f16", "f16", 3, "f16", "k", False, True, False, None, {"values": 300}),
    ("long_f64", "f64", 9, None, "", False, False, True, None, {"values": 33, "window": 90, "cap": 2.0}),
    ("sink_f16", "f16", 24, None, "", False, True, False, None, {"sink": "f16", "window": 1}),
]
SIZES = {"b": BATCH, "h": HEADS, "q": "?", "k": "?"}


def mask_type(element, letters):
    """Dimensions that the mask does not have are 1 where others stand before them."""
    sizes = [str(SIZES[letter]) if letter in letters else "1" for letter in "bhqk"]
    while sizes and sizes[0] == "1":
        sizes.pop(0)
    return f"tensor<{'x'.join([*sizes, element])}>"


def transpose(name, source, from_type, to_type, dimension):
    return (f"  %{name}_axis = arith.constant {dimension} : index\n  %{name}_n = tensor.dim %{source}, %{name}_axis : {from_type}\n"
            f"  %{name}_e = tensor.empty(%{name}_n) : {to_type}\n"
            f"  %{name} = linalg.transpose ins(%{source} : {from_type}) outs(%{name}_e : {to_type}) permutation = [0, 2, 1, 3]\n")


def write_program(name, element, size, mask, letters, causal, cache, after, p, more):
    wide = "f64" if "f64" in (element, mask, more.get("sink")) else "f32"
    q, k = f"tensor<{BATCH}x{HEADS}x?x{size}x{element}>", f"tensor<{BATCH}x{KEY_HEADS}x?x{size}x{element}>"
    statistics, types, operands = f"tensor<{BATCH}x{HEADS}x?x{wide}>", [q, k], ["q", "k", "v"]
    values = more.get("values", size)
    v, y = (f"tensor<{BATCH}x{heads}x?x{values}x{element}>" for heads in (KEY_HEADS, HEADS))
    kinds = {"q": q, "k": k, "v": v, "m": mask_type(mask, letters) if mask else None}
    kinds["s"] = f"tensor<{HEADS}x{more['sink']}>" if "sink" in more else None
    types.append(v)
    text, result = "", y
    if after:
        for operand, own in {"q": q, "k": k, "v": v}.items():
            heads, columns = HEADS if operand == "q" else KEY_HEADS, values if operand == "v" else size
            kinds[operand] = f"tensor<{BATCH}x?x{heads}x{columns}x{element}>"
            text += transpose(f"{operand}t", operand, kinds[operand], own, 1)
        result = f"tensor<{BATCH}x?x{HEADS}x{values}x{element}>"
        operands = ["qt", "kt", "vt"]
    arguments = [f"%{operand}: {kinds[operand]}" for operand in "qkvms" if kinds[operand]] + (["%past: i64"] if cache else [])
    clauses = ""
    if mask:
        clauses += " mask(%m)"
        types.append(kinds["m"])
    if "sink" in more:
        clauses += " sink(%s)"
        types.append(kinds["s"])
    clauses += " past(%past)" if cache else ""
    attributes = ["causal"] if causal else []
    attributes += [f"window = {more['window']}"] if "window" in more else []
    attributes += [f"cap = {more['cap']:.6e}"] if "cap" in more else []
    if p is not None:
        clauses += " dropout(%seed, %step) origin(%row, %site)"
        attributes += [f"p = {p:.7f}", "site = 3"]
        arguments += ["%seed: i64", "%step: i64", "%row: i64", "%site: i64"]
    clauses += f" {{{', '.join(attributes)}}}" if attributes else ""
    text += (f"  %y, %max, %sum = resid.attention {', '.join('%' + operand for operand in operands)}{clauses} : {', '.join(types)}"
             f" -> {y}, {statistics}, {statistics}\n")
    if after:
        text += transpose("yt", "y", y, result, 2)
    returned = f"{result}, {statistics}, {statistics}"
    return (f"func.func @{name}({', '.join(arguments)}) -> ({returned}) {{\n{text}"
            f"  return %{'yt' if after else 'y'}, %max, %sum : {returned}\n}}\n")


def write_call(name, element, size, mask, letters, causal, cache, after, p, more):
    types = {"f32": "float", "f64": "double", "f16": "uint16_t", "bf16": "uint16_t", "i1": "bool"}
    sink = more.get("sink", "")
    wide = types["f64" if "f64" in (element, mask, sink) else "f32"]
    values = ["ctx", f"static_cast<const {types[element]} *>(a[0])", "queries", f"static_cast<const {types[element]} *>(a[1])", "keys",
              f"static_cast<const {types[element]} *>(a[2])", "keys"]
    values += [f"static_cast<const {types[mask]} *>(a[3])"] if mask else []
    values += [{"q": "queries", "k": "keys"}[letter] for letter in letters if letter in "qk"]
    values += [f"static_cast<const {types[sink]} *>(a[7])"] if sink else []
    values += ["past"] if cache else []
    values += ["kSeed", "kStep", "firstRow", "kSite"] if p is not None else []
    values += [f"static_cast<{types[element]} *>(a[4])", f"static_cast<{wide} *>(a[5])", f"static_cast<{wide} *>(a[6])"]
    strides = ", ".join("true" if letter in letters else "false" for letter in "bhqk")
    quoted = [f'"{name}"', f'"{element}"', f'"{mask or ""}"']
    return (f"{{{', '.join(quoted)}, {size}, {more.get('values', size)}, {{{strides}}}, {str(causal).lower()}, {str(cache).lower()}, {str(after).lower()},\n"
            f" {p or 0}, {more.get('window', 0)}, {more.get('cap', 0)}, \"{sink}\",\n"
            " [](const resid_ctx *ctx, [[maybe_unused]] int64_t past, int64_t queries, int64_t keys, void *const *a) {\n"
            f"   return {name}({', '.join(values)});\n }}}},\n")


programs = [program if isinstance(program[-1], dict) else (*program, {}) for program in PROGRAMS]
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
(folder / "attention.mlir").write_text("".join(write_program(*program) for program in programs))
(folder / "attention.inc").write_text("".join(write_call(*program) for program in programs))
