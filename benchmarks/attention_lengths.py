#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What attention saves where keys are hidden: a causal window beside the same kernel without one, and a pack of sequences beside the
# same ones padded to the longest. All by turns in this process, with PyTorch's kernels that do the same, where there is PyTorch.

import argparse
import array
import ctypes
import pathlib
import statistics
import tempfile

from harness import commands, compiled, measure, native, peers

PEERS = (("attention.lengths", "PyTorch"),)
LENGTHS = [16, 64, 96, 128, 256, 320, 400, 512]


def rows(batch, heads, positions, size):
    return f"tensor<{batch}x{heads}x{positions}x{size}xf32>"


def attention(name, type, clauses="", more=""):
    """The program of a causal attention of q, k and v of a type; `clauses` and their arguments, if it has some."""
    numbers = f"tensor<1x{type.split('x')[2]}xi32>"
    argument, types = (f", %s: {numbers}", f", {numbers}, {numbers}") if "segments" in clauses else ("", "")
    return (f"func.func @{name}(%q: {type}, %k: {type}, %v: {type}{argument}) -> {type} {{\n"
            f"  %y = resid.attention %q, %k, %v {clauses}{{causal{more}}} : {type}, {type}, {type}{types}\n  return %y : {type}\n}}\n")


def take_medians(ways, samples):
    """Milliseconds of each way, by turns."""
    taken = [[measure.sample(way, 1) for way in ways] for _ in range(1 + samples)][1:]
    return [statistics.median(times) / 1e6 for times in zip(*taken)]


def compile_both(texts, options, folder):
    library = compiled.compile_path(compiled.Path("keys", "", ()), "".join(texts), options.build / "bin" / "residc", ["cc"], folder, options.flag)
    return lambda name: native.address_of(library, name)


def compare_windows(side, find, found_peers, options, threads):
    heads, positions, size, window = options.heads, options.positions, 128, options.window
    shape = (1, heads, positions, size)
    arrays = native.Memory(side, {name: 4 * heads * positions * size for name in "qkvy"})
    for seed, name in enumerate("qkv"):
        side.functions.bench_fill(arrays[name], heads * positions * size, 4, seed + 1, 1.0)
    context = side.context(threads, lends_memory=True)
    ways = [native.Sequence(side, [native.make_call(find(name), [context, *(arrays[name] for name in "qkvy")])], threads)
            for name in ("whole", "window")]
    others = [way for peer in found_peers for way in peer.ways(arrays, shape, lambda i, j: (j <= i) & (i - j < window), threads)]
    whole, near, *times = take_medians([*ways, *(way for _, way in others)], options.samples)
    pairs, seen = positions * (positions + 1) / 2, sum(min(i + 1, window) for i in range(positions))
    head = f"window of {window}, {heads} heads of {size}, {positions} tokens, threads {threads}"
    print(f"{head}: {near:.1f} ms, without it {whole:.1f}, {whole / near:.2f} times as long; {pairs / seen:.2f} times fewer keys, "
          f"{near / whole * pairs / seen:.2f} of their share", flush=True)
    for (title, _), time in zip(others, times):
        print(f"{head}: {title} {time:.1f} ms, {time / near:.2f} times resid's", flush=True)


def compare_packs(side, find, options, threads):
    heads, size, tokens, batch, longest = 32, 128, sum(LENGTHS), len(LENGTHS), max(LENGTHS)
    arrays = native.Memory(side, {**{name: 4 * heads * batch * longest * size for name in "qkvy"}, "s": 4 * tokens})
    for seed, name in enumerate("qkv"):
        side.functions.bench_fill(arrays[name], heads * batch * longest * size, 4, seed + 1, 1.0)
    numbers = array.array("i", [number for number, length in enumerate(LENGTHS) for _ in range(length)])
    ctypes.memmove(arrays["s"], numbers.tobytes(), 4 * tokens)
    context = side.context(threads, lends_memory=True)
    ways = [native.Sequence(side, [native.make_call(find(name), [context, *(arrays[each] for each in names)])], threads)
            for name, names in (("padded", "qkvy"), ("pack", "qkvsy"))]
    padded, pack = take_medians(ways, options.samples)
    share = sum(length * (length + 1) for length in LENGTHS) / (batch * longest * (longest + 1))
    print(f"{batch} sequences of {min(LENGTHS)} to {longest} tokens, {heads} heads of {size}, threads {threads}: packed {pack:.1f} ms, padded "
          f"{padded:.1f}; {1 - pack / padded:.3f} of the time is saved where {1 - share:.3f} of the pairs are, "
          f"{(1 - pack / padded) / (1 - share):.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="What attention saves where keys are hidden.")
    parser.add_argument("build", type=pathlib.Path, help="the build folder")
    parser.add_argument("--peers", type=pathlib.Path, help="a virtual environment with PyTorch")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--heads", type=int, default=32)
    parser.add_argument("--positions", type=int, default=4096)
    parser.add_argument("--window", type=int, default=512)
    parser.add_argument("--flag", action="append", default=[], help="a flag of residc")
    options = parser.parse_args()
    if options.peers:
        commands.enter_peers(options.peers)
    side = native.Native(options.build / "lib" / "libresid-benchmarks.so")
    found_peers = peers.find(side, options, PEERS, "harness") if options.peers else []
    whole, packed = rows(1, options.heads, options.positions, 128), rows(1, 32, sum(LENGTHS), 128)
    texts = [attention("whole", whole), attention("window", whole, more=f", window = {options.window}"),
             attention("padded", rows(len(LENGTHS), 32, max(LENGTHS), 128)), attention("pack", packed, "segments(%s, %s) ")]
    with tempfile.TemporaryDirectory() as folder:
        find = compile_both(texts, options, pathlib.Path(folder))
        for threads in map(int, options.threads.split(",")):
            compare_windows(side, find, found_peers, options, threads)
            compare_packs(side, find, options, threads)


main()
