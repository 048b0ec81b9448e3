# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# attention_values.py FOLDER: attention with windows, caps and sinks is run, and its results are held to the formula in
# float64, which stands here once more. A cache that goes on, and a sink of -Inf, give the bits of what they stand for.

import pathlib
import subprocess
import sys

import numpy as np

FOLDER = pathlib.Path(sys.argv[1])
HEADS, KEY_HEADS, KEYS, SIZE = 4, 2, 640, 24
random = np.random.default_rng(5)
q = random.standard_normal((1, HEADS, KEYS, SIZE)).astype(np.float32) * 2
k, v = (random.standard_normal((1, KEY_HEADS, KEYS, SIZE)).astype(np.float32) for _ in range(2))
none = np.full(HEADS, -np.inf, np.float32)
sinks = np.array([0.5, -np.inf, 3.0, -2.0], np.float32)
# Name, attributes, and the same as window, cap and causality.
CASES = [("near", "causal, window = 300", 300, None, True), ("band", "window = 77", 77, None, False),
         ("all", "causal, window = 640", 640, None, True), ("one", "causal, window = 1", 1, None, True),
         ("capped", "cap = 1.5", None, 1.5, False), ("flat", "cap = 1.0e-20, window = 20", 20, 1e-20, False),
         ("steep", "cap = 1.0e+30, causal", None, 1e30, True)]


def attend(queries, sink, past, window, cap, causal):
    s = np.einsum("bhid,bhjd->bhij", queries.astype(np.float64), np.repeat(k, HEADS // KEY_HEADS, 1)) / np.sqrt(SIZE)
    s = s if cap is None else cap * np.tanh(s / cap)
    i, j = np.arange(queries.shape[2])[:, None] + past, np.arange(KEYS)[None]
    hidden = (j > i if causal else False) | (np.abs(j - i) >= window if window else False) | (j >= past + queries.shape[2])
    s = np.concatenate([np.where(hidden, -np.inf, s), np.broadcast_to(sink[None, :, None, None], (*s.shape[:3], 1))], 3)
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return np.einsum("bhij,bhjd->bhid", p[..., :-1], np.repeat(v, HEADS // KEY_HEADS, 1).astype(np.float64))


def run(name, queries, sink=None, past=None):
    arrays = [queries, k, v] + ([] if sink is None else [sink])
    arguments = []
    for number, array in enumerate(arrays):
        np.save(FOLDER / f"{number}.npy", array)
        arguments.append(f"--arg={FOLDER}/{number}.npy")
    arguments += [] if past is None else [f"--arg={past}"]
    subprocess.run(["resid-run", FOLDER / "attention.mlir", f"--entry={name}", *arguments, f"--out={FOLDER}/y.npy", "--threads=2"],
                   check=True, stdout=subprocess.DEVNULL)
    return np.load(FOLDER / "y.npy")


queries, keys = f"tensor<1x{HEADS}x?x{SIZE}xf32>", f"tensor<1x{KEY_HEADS}x?x{SIZE}xf32>"
text = ""
for name, attributes, *_ in CASES:
    for suffix, sink in (("", False), ("_sink", True)):
        for cached in (False, True):
            clauses = (" sink(%s)" if sink else "") + (" past(%past)" if cached else "")
            types = f"{queries}, {keys}, {keys}" + (f", tensor<{HEADS}xf32>" if sink else "")
            text += (f"func.func @{name}{suffix}{'_cached' if cached else ''}(%q: {queries}, %k: {keys}, %v: {keys}"
                     f"{f', %s: tensor<{HEADS}xf32>' if sink else ''}{', %past: i64' if cached else ''}) -> {queries} {{\n"
                     f"  %y = resid.attention %q, %k, %v{clauses} {{{attributes}}} : {types}\n  return %y : {queries}\n}}\n")
FOLDER.mkdir(parents=True, exist_ok=True)
(FOLDER / "attention.mlir").write_text(text)
for number, (name, _, *rest) in enumerate(CASES):
    sink = sinks if number % 2 else none
    whole = run(f"{name}_sink", q, sink)
    error = np.abs(whole - attend(q, sink, 0, *rest)).max()
    assert error < 2e-5, f"{name}: {error}"
    if sink is none:
        assert np.array_equal(whole.view(np.uint32), run(name, q).view(np.uint32)), f"{name}: a sink of -Inf has other bits than none"
    if rest[2]:
        last = run(f"{name}_sink_cached", q[:, :, 597:], sink, 597)
        assert np.array_equal(whole[:, :, 597:].view(np.uint32), last.view(np.uint32)), f"{name}: a cache has other bits"
print(f"{len(CASES)} attentions have their values")
