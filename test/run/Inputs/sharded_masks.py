# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs ops with dropout on a whole and on its shards, which give their origin and extent, and compares the bits of each
# shard's results with those of its part of the whole.
# Usage: sharded_masks.py <folder> <backend> <op> <element type> <width> <fixed|open>
# The op is drop, backward, fused, block, heads, keys or heads_backward. A width that is open is known at run time only.

import array
import ast
import itertools
import pathlib
import random
import struct
import subprocess
import sys

SEED, STEP, SITE = 81985529216486895, 11, 5
BATCH, SEQUENCE = 3, 8
HEADS, KEY_HEADS, QUERIES, KEYS, SIZE = 4, 2, 6, 512, 8
CODES = {"f32": ("<f4", "f"), "f64": ("<f8", "d"), "bf16": ("<u2", "H")}
SCALARS = ", ".join(f"%{name}: i64" for name in ("seed", "step", "row", "site", "col", "local", "global"))
CLAUSES = "origin(%row, %site, %col) extent(%local, %global)"
WHOLE = {"row": 0, "col": 0, "local": 1, "global": 1}


class Tensor:
    """The raw elements of an array."""

    def __init__(self, shape, elements):
        self.shape, self.elements = tuple(shape), elements

    def part(self, ranges):
        """The elements in the range of each dimension."""
        strides = [1] * len(self.shape)
        for i in range(len(self.shape) - 1, 0, -1):
            strides[i - 1] = strides[i] * self.shape[i]
        *rows, columns = ranges
        elements = array.array(self.elements.typecode)
        for place in itertools.product(*rows):
            first = sum(index * stride for index, stride in zip(place, strides))
            elements.extend(self.elements[first + columns.start:first + columns.stop])
        return Tensor([len(r) for r in ranges], elements)

    def write(self, path, kind):
        header = str({"descr": CODES[kind][0], "fortran_order": False, "shape": self.shape})
        header += " " * (-(len(header) + 11) % 64) + "\n"
        path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + self.elements.tobytes())


def read(path, kind):
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + length].decode())
    if header["descr"] != CODES[kind][0]:
        raise SystemExit(f"{path}: expected {CODES[kind][0]} but got {header['descr']}")
    return Tensor(header["shape"], array.array(CODES[kind][1], data[10 + length:]))


def draw(shape, kind, seed):
    """Normal numbers, no two alike; as bf16 their upper halves."""
    source, count = random.Random(seed), 1
    for size in shape:
        count *= size
    numbers = [source.gauss(0, 1) for _ in range(count)]
    if kind == "bf16":
        words = array.array("I", array.array("f", numbers).tobytes())
        return Tensor(shape, array.array("H", (word >> 16 for word in words)))
    return Tensor(shape, array.array(CODES[kind][1], numbers))


def rows_program(op, kind, width):
    """A function of x and f, both [batch, sequence, width]."""
    stream = f"tensor<?x?x{width or '?'}x{kind}>"
    head = f"func.func @{{}}(%x: {stream}, %f: {stream}, {SCALARS}) -> "
    attributes = f"p = 0.5, site = {SITE}"
    if op in ("drop", "backward"):
        return head.format("drop") + f"""{stream} {{
  %y = resid.dropout %f seed(%seed, %step) {CLAUSES} {{{attributes}}} : {stream}
  return %y : {stream}
}}
"""
    if op == "fused":
        return head.format(op) + f"""({stream}, {stream}) {{
  %n, %s = resid.add_norm rms %x, %f dropout(%seed, %step) {CLAUSES} {{epsilon = 1.0e-5, {attributes}}} : {stream}
  return %s, %n : {stream}, {stream}
}}
"""
    return head.format(op) + f"""{stream} {{
  %y = resid.block none %x dropout(0.5, site {SITE}, seed %seed, step %step, origin %row %site %col, extent %local %global)
       : {stream} {{
  ^bb0(%h: {stream}):
    %b = arith.addf %h, %f : {stream}
    resid.yield %b : {stream}
  }}
  return %y : {stream}
}}
"""


def heads_program(op, kind, sizes):
    batch, heads, key_heads, queries, keys = sizes
    q, k = f"tensor<{batch}x{heads}x{queries}x{SIZE}x{kind}>", f"tensor<{batch}x{key_heads}x{keys}x{SIZE}x{kind}>"
    statistic = f"tensor<{batch}x{heads}x{queries}x{'f64' if kind == 'f64' else 'f32'}>"
    dropout = f"dropout(%seed, %step) {CLAUSES}"
    attributes = f"{{p = 0.5, site = {SITE}}}"
    masked = f", %present: tensor<{keys}x{kind}>" if op == "keys" else ""
    text = f"func.func @{op}(%q: {q}, %k: {k}, %v: {k}, %dy: {q}{masked}, {SCALARS}) -> "
    if op == "keys":
        return text + f"""{q} {{
  %zero = arith.constant dense<0.0> : tensor<{keys}x{kind}>
  %mask = arith.cmpf ogt, %present, %zero : tensor<{keys}x{kind}>
  %y = resid.attention %q, %k, %v mask(%mask) {dropout} {attributes} : {q}, {k}, {k}, tensor<{keys}xi1>
  return %y : {q}
}}
"""
    if op == "heads":
        return text + f"""{q} {{
  %y = resid.attention %q, %k, %v {dropout} {attributes} : {q}, {k}, {k}
  return %y : {q}
}}
"""
    return text + f"""({q}, {k}, {k}) {{
  %y, %max, %sum = resid.attention %q, %k, %v {dropout} {attributes} : {q}, {k}, {k} -> {q}, {statistic}, {statistic}
  %dq, %dk, %dv = resid.attention_grad %dy, %q, %k, %v statistics(%max, %sum) {dropout} {attributes} : {q}, {q}, {k}, {k}
  return %dq, %dk, %dv : {q}, {k}, {k}
}}
"""


class Runner:
    def __init__(self, folder, backend, kind):
        self.folder, self.backend, self.kind, self.runs = folder, backend, kind, 0

    def run(self, program, entry, tensors, words, results):
        """The results of an entry of a program, which is given as its text."""
        self.runs += 1
        folder = self.folder / str(self.runs)
        folder.mkdir(parents=True)
        source = folder / "program.mlir"
        source.write_text(program, encoding="utf-8")
        for number, tensor in enumerate(tensors):
            tensor.write(folder / f"{number}.npy", self.kind)
        arguments = [f"{folder}/{number}.npy" for number in range(len(tensors))]
        arguments += [str(n) for n in (SEED, STEP, words["row"], 3, words["col"], words["local"], words["global"])]
        if entry == "backward":
            # With respect to f; its gradient follows from that of the result, the last argument.
            gradient = folder / "gradient.mlir"
            subprocess.run(["resid-opt", str(source), "-resid-grad=function=drop wrt=1", "-o", str(gradient)], check=True)
            source, entry = gradient, "drop_backward"
            arguments.append(arguments[1])
        outs = [folder / f"out{i}.npy" for i in range(results)]
        command = ["resid-run", str(source), f"--entry={entry}", f"--backend={self.backend}"]
        command += [f"--arg={argument}" for argument in arguments] + [f"--out={out}" for out in outs]
        subprocess.run(command, check=True)
        return [read(out, self.kind) for out in outs]


def differs(name, got, expected):
    same = got.shape == expected.shape and got.elements.tobytes() == expected.elements.tobytes()
    distinct = len(set(expected.elements)) > 1
    print(f"{name}: {'the bits of the whole' if same and distinct else 'other bits'}")
    return not (same and distinct)


def compare_rows(runner, op, width, is_fixed):
    shape = (BATCH, SEQUENCE, width)
    x, f = draw(shape, runner.kind, 1), draw(shape, runner.kind, 2)
    results = 2 if op == "fused" else 1

    def run(x, f, words):
        program = rows_program(op, runner.kind, x.shape[-1] if is_fixed else None)
        return runner.run(program, op, [x, f], words, results)

    whole = run(x, f, WHOLE)
    half, split = SEQUENCE // 2, (width // 2 + 7) // 8 * 8
    everything = [range(size) for size in shape]
    cases = {}
    for first, last in ((0, 1), (1, BATCH)):
        cases[f"batch {first}"] = ({0: range(first, last)}, {"row": first * SEQUENCE})
    for first in (0, half):
        cases[f"sequence {first}"] = ({1: range(first, first + half)}, {"row": first, "local": half, "global": SEQUENCE})
    for first, last in ((0, split), (split, width)):
        cases[f"features {first}"] = ({2: range(first, last)}, {"col": first})
    cases["sequence and features"] = ({1: range(half, SEQUENCE), 2: range(split, width)},
                                      {"row": half, "local": half, "global": SEQUENCE, "col": split})
    wrong = False
    for name, (parts, words) in cases.items():
        ranges = [parts.get(i, everything[i]) for i in range(3)]
        shard = run(x.part(ranges), f.part(ranges), {**WHOLE, **words})
        # A norm couples the features of a row.
        count = 1 if 2 in parts else results
        for number in range(count):
            wrong |= differs(f"{name}, out{number}", shard[number], whole[number].part(ranges))
    return wrong


def compare_heads(runner, op):
    sizes = (BATCH, HEADS, KEY_HEADS, QUERIES, KEYS)
    shapes = {"q": (BATCH, HEADS, QUERIES, SIZE), "k": (BATCH, KEY_HEADS, KEYS, SIZE)}
    tensors = [draw(shapes[name], runner.kind, seed) for seed, name in enumerate("qkkq")]
    results = 3 if op == "heads_backward" else 1
    group = HEADS // KEY_HEADS
    one = [1.0] * KEYS if runner.kind != "bf16" else [0x3F80] * KEYS

    def run(parts, ranges, words, present=None):
        batch, heads, queries, keys = (len(r) for r in ranges)
        program = heads_program(op, runner.kind, (batch, heads, heads // group, queries, keys))
        extra = [Tensor([keys], array.array(CODES[runner.kind][1], present))] if op == "keys" else []
        return runner.run(program, op, parts + extra, {**WHOLE, **words}, results)

    def cut(tensor, index, ranges):
        batch, heads, queries, keys = ranges
        if index in (1, 2):
            return tensor.part([batch, range(heads.start // group, heads.stop // group), keys, range(SIZE)])
        return tensor.part([batch, heads, queries, range(SIZE)])

    everything = [range(sizes[0]), range(HEADS), range(QUERIES), range(KEYS)]
    cases = {}
    for first in (0, 2):
        words = {"row": first * QUERIES, "local": 2 * QUERIES, "global": HEADS * QUERIES}
        cases[f"heads {first}"] = ({1: range(first, first + 2)}, words)
    cases["batch 1"] = ({0: range(1, 3)}, {"row": HEADS * QUERIES})
    if op == "heads":
        for first in (0, 3):
            cases[f"queries {first}"] = ({2: range(first, first + 3)}, {"row": first, "local": 3, "global": QUERIES})
    if op == "keys":
        # Chunks without present keys are skipped, so the others' are those of the whole.
        cases = {f"keys {first}": ({3: range(first, first + 256)}, {"col": first}) for first in (0, 256)}
    wrong = False
    whole = None if op == "keys" else run(tensors, everything, {})
    for name, (parts, words) in cases.items():
        ranges = [parts.get(i, everything[i]) for i in range(4)]
        if op == "keys":
            hidden = [value if index in ranges[3] else 0 * value for index, value in enumerate(one)]
            whole = run(tensors, everything, {}, hidden)
        shard = run([cut(t, i, ranges) for i, t in enumerate(tensors)], ranges, words, one[:len(ranges[3])])
        for number in range(results):
            wrong |= differs(f"{name}, out{number}", shard[number], cut(whole[number], number, ranges))
    return wrong


def main():
    folder, backend, op, kind, width, is_fixed = sys.argv[1:]
    runner = Runner(pathlib.Path(folder), backend, kind)
    if op in ("heads", "keys", "heads_backward"):
        return compare_heads(runner, op)
    return compare_rows(runner, op, int(width), is_fixed == "fixed")


sys.exit(main())
