# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# row_blocks.py BUILD [--threads=1,2] [--samples=N] [SHAPE…]: time of a product and the row kernels around it one after
# the other over their time by blocks of rows, as the ratio of medians of calls by turns, with the spread of the ratios
# of turns. A shape is rows x terms x columns. Fails where results differ in a bit. Has programs of its own: the cases of
# products.py are products alone.

import argparse
import ctypes
import itertools
import pathlib
import statistics
import subprocess
import tempfile

from harness import compiled, measure, native

SIZE = 4
# The second form runs by blocks at every shape, whatever threads there are.
FORMS = {"whole": 0, "blocks": 1}


def post(terms, columns):
    """linear, dropout, residual add, layer norm."""
    h, y, vector = f"tensor<?x{terms}xf32>", f"tensor<?x{columns}xf32>", f"tensor<{columns}xf32>"
    weight = f"tensor<{columns}x{terms}xf32>"
    return f"""func.func @post(%x: {y}, %h: {h}, %w: {weight}, %g: {vector}) -> {y} {{
  %c1 = arith.constant 1 : i64
  %l = resid.linear %h, %w bias(%g) : {h}, {weight}, {vector} -> {y}
  %d = resid.dropout %l seed(%c1, %c1) {{p = 0.1, site = 0}} : {y}
  %s = resid.add %x, %d : {y}
  %n = resid.layer_norm %s gamma(%g) beta(%g) {{epsilon = 1.0e-5}} : {y}, {vector}, {vector}
  return %n : {y}
}}
"""


def pre(terms, columns):
    """layer norm, linear."""
    h, y, vector = f"tensor<?x{terms}xf32>", f"tensor<?x{columns}xf32>", f"tensor<{terms}xf32>"
    weight = f"tensor<{columns}x{terms}xf32>"
    return f"""func.func @pre(%x: {y}, %h: {h}, %w: {weight}, %g: {vector}) -> {y} {{
  %n = resid.layer_norm %h gamma(%g) beta(%g) {{epsilon = 1.0e-5}} : {h}, {vector}, {vector}
  %l = resid.linear %n, %w : {h}, {weight} -> {y}
  return %l : {y}
}}
"""


PROGRAMS = {"linear + dropout + add + norm": post, "norm + linear": pre}


def compile_form(residc, folder, text, form, name, arguments):
    """The address of a function whose weights are packed ahead, as a layer of a model has them."""
    (folder / "in.mlir").write_text(text)
    object_file = folder / f"{form}.o"
    subprocess.run([residc, folder / "in.mlir", "-o", object_file,
                    f"--schedule=product-row-blocks={FORMS[form]}", *arguments], check=True)
    return native.address_of(compiled.link(object_file, ["cc"]), name)


def compare(side, residc, make, shape, threads, samples, arguments):
    rows, terms, columns = map(int, shape.split("x"))
    sizes = {"x": rows * columns, "h": rows * terms, "w": terms * columns, "g": max(terms, columns), "y": rows * columns,
             "expected": rows * columns}
    arrays = native.Memory(side, {name: SIZE * size for name, size in sizes.items()})
    for seed, name in enumerate(("x", "h", "w", "g")):
        side.functions.bench_fill(arrays[name], sizes[name], SIZE, seed + 1, 0.25)
    with tempfile.TemporaryDirectory() as folder:
        forms = [compile_form(residc, pathlib.Path(folder), make(terms, columns), form, make.__name__, arguments)
                 for form in FORMS]
    context = side.context(threads, lends_memory=True)
    ways = [native.Sequence(side, [native.make_call(form, [context, arrays["x"], rows, arrays["h"], rows, arrays["w"],
                                                           arrays["g"], arrays["y"]])], threads) for form in forms]
    ways[0].time(1)
    ctypes.memmove(arrays["expected"], arrays["y"], SIZE * sizes["y"])
    ctypes.memset(arrays["y"], 0xEE, SIZE * sizes["y"])
    ways[1].time(1)
    if side.functions.bench_compare(arrays["y"], arrays["expected"], sizes["y"], SIZE):
        raise SystemExit(f"row_blocks: expected the same bits by blocks, but {make.__name__} {shape} has others")
    times = [[measure.sample(way, 1) for way in ways] for _ in range(2 + samples)][2:]
    ratios = [whole / blocks for whole, blocks in times]
    whole, blocks = (statistics.median(taken) for taken in zip(*times))
    first, _, third = statistics.quantiles(ratios, n=4, method="inclusive")
    return f"{shape}: {whole / blocks:.3f} ({first:.3f} to {third:.3f}), {blocks / 1e6:.2f} ms by blocks"


def main():
    parser = argparse.ArgumentParser(description="Time of kernels one after the other over their time by blocks of rows.")
    parser.add_argument("build", type=pathlib.Path, help="the build folder")
    parser.add_argument("shapes", nargs="*", default=["512x3072x768", "4096x768x768", "16384x768x768"], help="rows x terms x columns")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--samples", type=int, default=21)
    parser.add_argument("--flag", action="append", default=[], help="a flag of residc for both forms")
    options = parser.parse_args()
    side = native.Native(options.build / "lib" / "libresid-benchmarks.so")
    for threads, (title, make), shape in itertools.product(map(int, options.threads.split(",")), PROGRAMS.items(),
                                                           options.shapes):
        line = compare(side, options.build / "bin" / "residc", make, shape, threads, options.samples, options.flag)
        print(f"threads {threads}, {title}, {line}", flush=True)


main()
