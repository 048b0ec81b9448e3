# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# attention_backward.py BUILD [--against=RESIDC] [--threads=1,2] [--samples=N] [SHAPE…]: times of attention's forward, with
# the statistics that it saves, and of its backward, with the scratch memory of each; medians of calls by turns in one
# process. A shape is batch x heads[/heads of keys] x positions x size of a head, and `:causal`. With another residc, its
# two functions take turns with these.

import argparse
import ctypes
import itertools
import pathlib
import statistics
import tempfile

from harness import compiled, measure, native

SIZES = {"f32": 4, "bf16": 2, "f16": 2}


class Shape:
    def __init__(self, text):
        sizes, _, self.causal = text.partition(":")
        batch, heads, positions, size = sizes.split("x")
        heads, _, key_heads = heads.partition("/")
        self.text = text
        self.queries = [int(batch), int(heads), int(positions), int(size)]
        self.keys = [int(batch), int(key_heads or heads), int(positions), int(size)]

    def program(self, element):
        q, k = (f"tensor<{'x'.join(map(str, sizes))}x{element}>" for sizes in (self.queries, self.keys))
        attribute = " {causal}" if self.causal else ""
        return f"""func.func @f(%q: {q}, %k: {k}, %v: {k}) -> {q} {{
  %y = resid.attention %q, %k, %v{attribute} : {q}, {k}, {k}
  return %y : {q}
}}
"""


def count(sizes):
    product = 1
    for size in sizes:
        product *= size
    return product


class Compiled:
    """Forward and backward of one residc."""

    def __init__(self, residc, shape, element, side, arrays, threads):
        with tempfile.TemporaryDirectory() as folder:
            path = compiled.Path("f", "", ())
            library = compiled.compile_path(path, shape.program(element), residc, ["cc"], pathlib.Path(folder), ("--grad=f",))
        context = side.context(threads, lends_memory=True)
        given, statistics_, results = ("q", "k", "v"), ("max", "sum"), ("dq", "dk", "dv")
        self.ways, self.scratch = [], []
        for name, names in (("f_forward", (*given, "y", *statistics_)), ("f_backward", (*given, *statistics_, "dy", *results))):
            call = native.make_call(native.address_of(library, name), [context, *(arrays[array] for array in names)])
            self.ways.append(native.Sequence(side, [call], threads))
            scratch = getattr(library, f"{name}_scratch_bytes")
            scratch.restype = ctypes.c_int64
            self.scratch.append(scratch())


def compare(side, residcs, shape, element, threads, samples):
    wide, queries, keys = SIZES[element], count(shape.queries), count(shape.keys)
    sizes = {name: wide * (keys if name in ("k", "v", "dk", "dv") else queries) for name in ("q", "k", "v", "y", "dy", "dq", "dk", "dv")}
    rows = {name: 4 * queries // shape.queries[-1] for name in ("max", "sum")}
    arrays = native.Memory(side, sizes | rows)
    for seed, name in enumerate(("q", "k", "v", "dy")):
        side.functions.bench_fill(arrays[name], sizes[name] // wide, wide, seed + 1, 1.0)
    forms = [Compiled(residc, shape, element, side, arrays, threads) for residc in residcs]
    ways = [way for form in forms for way in form.ways]
    times = [[measure.sample(way, 1) for way in ways] for _ in range(2 + samples)][2:]
    medians = [statistics.median(taken) / 1e6 for taken in zip(*times)]
    for residc, form, forward, backward in zip(residcs, forms, medians[::2], medians[1::2]):
        print(f"{shape.text} {element}, threads {threads}, {residc}: forward {forward:.2f} ms, backward {backward:.2f} ms, "
              f"ratio {backward / forward:.2f}; scratch {form.scratch[0] / 2**20:.2f} and {form.scratch[1] / 2**20:.2f} MiB", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Times of attention's forward and backward.")
    parser.add_argument("build", type=pathlib.Path, help="the build folder")
    parser.add_argument("shapes", nargs="*", default=["2x8x512x64", "1x12x1024x64:causal"],
                        help="batch x heads[/heads of keys] x positions x size[:causal]")
    parser.add_argument("--against", type=pathlib.Path, help="another residc")
    parser.add_argument("--types", default="f32")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--samples", type=int, default=15)
    options = parser.parse_args()
    side = native.Native(options.build / "lib" / "libresid-benchmarks.so")
    residcs = [options.build / "bin" / "residc", *([options.against] if options.against else [])]
    for threads, element, shape in itertools.product(map(int, options.threads.split(",")), options.types.split(","),
                                                     map(Shape, options.shapes)):
        compare(side, residcs, shape, element, threads, options.samples)


main()
