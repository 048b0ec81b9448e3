# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# attention_packs.py FOLDER [few]: sequences that lie in a pack, and samples whose caches hold other numbers of keys, have the bits
# that they have alone, forward and backward. What is run is held to the evaluator too.

import itertools
import pathlib
import subprocess
import sys

import numpy as np

FOLDER, FEW = pathlib.Path(sys.argv[1]), sys.argv[2:] == ["few"]
HEADS, KEY_HEADS, SIZE, VALUES = 4, 2, 24, 20
# Of two packs: queries and keys of each sequence, in the order they stand in; -1 is padding. Sequences begin at any key, and the keys
# of one may stand elsewhere than its queries, or be more, or fewer.
EQUAL = [[(3, 40, 40), (-1, 5, 5), (7, 301, 301), (0, 1, 1), (2, 73, 73)], [(-1, 20, 20), (1, 400, 400)]]
OTHER = [[(3, 40, 270), (-1, 2, 5), (7, 1, 301), (9, 30, 0)], [(1, 64, 20), (4, 7, 556), (-1, 2, 0)]]
TURNED = {3: 0, 7: 2, -1: 1, 9: 3}
CASES = [("causal", "f32", "causal", EQUAL), ("plain", "bf16", "", OTHER), ("near", "f32", "causal, window = 70", EQUAL),
         ("band", "f16", "window = 19, cap = 2.0", OTHER), ("wide", "f64", "window = 300", EQUAL)][:2 if FEW else None]
PASTS = [0, 610, 255]
CACHES = [("causal", "causal"), ("near", "causal, window = 280"), ("band", "window = 9")][: 1 if FEW else None]


def types(element, batch="?"):
    return [f"tensor<{batch}x{heads}x?x{size}x{element}>" for heads, size in ((HEADS, SIZE), (KEY_HEADS, SIZE), (KEY_HEADS, VALUES), (HEADS, VALUES))]


def write_pack(name, element, attributes):
    q, k, v, y = types(element)
    clauses = " {" + attributes + "}" if attributes else ""
    sink = f"tensor<{HEADS}xf32>"
    arguments = f"%q: {q}, %k: {k}, %v: {v}, %s: {sink}"
    return (f"func.func @{name}({arguments}, %a: tensor<?x?xi32>, %b: tensor<?x?xi32>) -> {y} {{\n"
            f"  %y = resid.attention %q, %k, %v sink(%s) segments(%a, %b){clauses} : {q}, {k}, {v}, {sink}, tensor<?x?xi32>, tensor<?x?xi32>\n"
            f"  return %y : {y}\n}}\n"
            f"func.func @{name}_alone({arguments}) -> {y} {{\n"
            f"  %y = resid.attention %q, %k, %v sink(%s){clauses} : {q}, {k}, {v}, {sink}\n  return %y : {y}\n}}\n")


def write_caches(name, attributes):
    q, k, _, _ = types("f32")
    text = ""
    for suffix, past, written in (("", "tensor<?xi64>", ", tensor<?xi64>"), ("_alone", "i64", "")):
        text += (f"func.func @{name}{suffix}(%q: {q}, %x: {k}, %c: {k}, %p: {past}) -> ({q}, {k}) {{\n"
                 f"  %k = resid.append %c, %x past(%p) : {k}, {k}{written}\n"
                 f"  %y = resid.attention %q, %k, %k past(%p) {{{attributes}}} : {q}, {k}, {k}{written}\n  return %y, %k : {q}, {k}\n}}\n")
    return text


def run(file, entry, arrays, results, *flags, check=False):
    """The results; `arrays` are arrays or numbers. With `check` they have the evaluator's bits."""
    for number, array in enumerate(arrays):
        if isinstance(array, np.ndarray):
            np.save(FOLDER / f"{number}.npy", array)
            arrays[number] = f"{FOLDER}/{number}.npy"
    outs = [f"{FOLDER}/out{number}.npy" for number in range(results)]
    command = ["resid-run", FOLDER / file, f"--entry={entry}", *(f"--arg={array}" for array in arrays), *(f"--out={out}" for out in outs)]
    command += [*flags, *(["--check", "--rtol=0", "--atol=0"] if check else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    assert not done.returncode, f"{entry}: {done.stdout}{done.stderr}"
    return [np.load(out) for out in outs]


def draw(made, element, *shape):
    numbers = made.standard_normal(shape)
    if element == "bf16":
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return numbers.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[element])


def same(found, expected, what):
    assert found.tobytes() == expected.tobytes(), f"{what}: other bits than alone"


def place(pack, turned):
    """First and end of each sequence's queries and keys; the keys of a pack may be turned round."""
    order = sorted(pack, key=lambda entry: TURNED.get(entry[0], 9)) if turned else pack
    ends = list(itertools.accumulate(keys for _, _, keys in order))
    keys = {id(entry): (end - entry[2], end) for entry, end in zip(order, ends)}
    ends = itertools.accumulate(queries for _, queries, _ in pack)
    return [(entry[0], slice(end - entry[1], end), slice(*keys[id(entry)])) for entry, end in zip(pack, ends)]


def number(places, count, which):
    found = np.full(count, -1, np.int32)
    for entry in places:
        found[entry[which]] = entry[0]
    return found


def check_pack(name, element, attributes, packs):
    made = np.random.default_rng(len(name))
    queries, keys = (sum(entry[which] for entry in packs[0]) for which in (1, 2))
    padded = [[*pack, (-1, queries - sum(e[1] for e in pack), keys - sum(e[2] for e in pack))] for pack in packs]
    q, k, v, dy = (draw(made, element, len(packs), heads, length, size) for heads, length, size in
                   ((HEADS, queries, SIZE), (KEY_HEADS, keys, SIZE), (KEY_HEADS, keys, VALUES), (HEADS, queries, VALUES)))
    sink = made.standard_normal(HEADS).astype(np.float32)
    placed = [place(pack, turned=packs is OTHER) for pack in padded]
    a, b = (np.stack([number(places, count, which) for places in placed]) for which, count in ((1, queries), (2, keys)))
    y, dq, dk, dv = run("both.mlir", f"{name}_value_and_grad", [q, k, v, sink, a, b, dy], 4, "--threads=2", check=element in ("f32", "bf16"))
    seen = [np.zeros(x.shape, bool) for x in (y, dq, dk, dv)]
    for sample, places in enumerate(placed):
        for segment, rows, columns in places:
            if segment == -1 or rows.start == rows.stop or columns.start == columns.stop:
                continue
            one = [np.ascontiguousarray(x[sample : sample + 1, :, part]) for x, part in ((q, rows), (k, columns), (v, columns), (dy, rows))]
            alone = run("both.mlir", f"{name}_alone_value_and_grad", [*one[:3], sink, one[3]], 4)
            for what, found, expected, part, mark in zip("y dq dk dv".split(), (y, dq, dk, dv), alone, (rows, rows, columns, columns), seen):
                same(np.ascontiguousarray(found[sample : sample + 1, :, part]), expected, f"{name}, {what} of {segment}")
                mark[sample, :, part] = True
    for what, found, mark in zip("y dq dk dv".split(), (y, dq, dk, dv), seen):
        assert not found[~mark].any(), f"{name}: {what} of padding"


def check_caches(name):
    made = np.random.default_rng(7)
    for added in (1, 30):
        q = made.standard_normal((len(PASTS), HEADS, added, SIZE), np.float32)
        x = made.standard_normal((len(PASTS), KEY_HEADS, added, SIZE), np.float32)
        cache = made.standard_normal((len(PASTS), KEY_HEADS, 640, SIZE), np.float32)
        for sample, past in enumerate(PASTS):
            cache[sample, :, past:] = np.nan
        y, kept = run("caches.mlir", name, [q, x, cache, np.array(PASTS)], 2, "--threads=2", check=True)
        for sample, past in enumerate(PASTS):
            one = [np.ascontiguousarray(array[sample : sample + 1]) for array in (q, x, cache)]
            for found, expected in zip((y, kept), run("caches.mlir", f"{name}_alone", [*one, past], 2)):
                same(found[sample : sample + 1], expected, f"{name}, sample {sample}")


FOLDER.mkdir(parents=True, exist_ok=True)
(FOLDER / "packs.mlir").write_text("".join(write_pack(*case[:3]) for case in CASES))
texts = []
for name in (case[0] for case in CASES):
    for function in (name, f"{name}_alone"):
        command = ["residc", FOLDER / "packs.mlir", f"--grad={function}", "--wrt=0,1,2", "--grad-mode=value-and-grad", "--emit=mlir", "-o", "-"]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        start = text.index(f"  func.func @{function}_value_and_grad")
        texts.append(text[start : text.index("\n  }\n", start) + 5])
(FOLDER / "both.mlir").write_text("".join(texts))
(FOLDER / "caches.mlir").write_text("".join(write_caches(*case) for case in CACHES))
for case in CASES:
    check_pack(*case)
for case in CACHES:
    check_caches(case[0])
print(f"{len(CASES)} packs and {len(CACHES)} times {len(PASTS)} caches have the bits of what is alone")
