# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# integer_weights.py BUILD [--mcpu=…] [--threads=N] [ROWS…]: a linear layer of few rows whose weight has 4 bits, over
# enough weights to exceed the last cache, beside two limits: the time to read them, and that of the same work on a tile
# which stays in the first level of the cache. All by turns.

import ctypes
import pathlib
import statistics
import subprocess
import sys
import tempfile

from harness import measure, native

OUT, IN, GROUP = 4096, 4096, 128
# Columns and terms of the tile: 24 KiB of integers.
TILE = 32, 1536
WEIGHTS, SAMPLES = 12, 41


def program(name, rows, out, terms):
    x, w, s = f"tensor<{rows}x{terms}xf32>", f"tensor<{out}x{terms}xi4>", f"tensor<{out}x{terms // GROUP}xf16>"
    return f"""func.func @{name}(%x: {x}, %w: {w}, %s: {s}) -> tensor<{rows}x{out}xf32> {{
  %y = resid.linear %x, %w weight_scale(%s) {{group = {GROUP}}} : {x}, {w}, {s}
  return %y : tensor<{rows}x{out}xf32>
}}
"""


def compile_programs(residc, folder, rows, cpu):
    (folder / "in.mlir").write_text(program("layer", rows, OUT, IN) + program("tile", rows, *TILE))
    subprocess.run([residc, folder / "in.mlir", "-o", folder / "k.o", *cpu], check=True)
    subprocess.run(["cc", "-shared", "-o", folder / "k.so", folder / "k.o"], check=True)
    return ctypes.CDLL(str(folder / "k.so"))


def compare(side, kernels, arrays, rows, threads):
    """The milliseconds of a layer, of reading its weight, and of as much work on tiles."""
    context = side.context(threads)
    layer, tile = (native.address_of(kernels, name) for name in ("layer", "tile"))
    sizes = OUT * IN // 2, OUT * IN // GROUP * 2
    places = [[arrays[name] + number * size for name, size in zip("ws", sizes)] for number in range(WEIGHTS)]
    tiles = OUT * IN // (TILE[0] * TILE[1])
    ways = [native.Sequence(side, [native.make_call(layer, [context, arrays["x"], w, s, arrays["y"]]) for w, s in places], threads),
            native.Sequence(side, [native.make_call(side.by_hand("read"), [context, place, size])
                                   for pair in places for place, size in zip(pair, sizes)], threads),
            native.Sequence(side, [native.make_call(tile, [0, arrays["x"], *places[0], arrays["y"]])] * tiles)]
    times = [[measure.sample(way, 1) for way in ways] for _ in range(3 + SAMPLES)][3:]
    whole, read, work = (statistics.median(taken) / 1e6 for taken in zip(*times))
    return whole / WEIGHTS, read / WEIGHTS, work * OUT * IN / (tiles * TILE[0] * TILE[1] * threads)


def main():
    build, *rest = sys.argv[1:]
    side = native.Native(pathlib.Path(build) / "lib" / "libresid-benchmarks.so")
    cpu = [word for word in rest if word.startswith("--mcpu=")]
    threads = next((int(word.removeprefix("--threads=")) for word in rest if word.startswith("--threads=")), 1)
    arrays = native.Memory(side, {"x": 8 * IN * 4, "y": 8 * OUT * 4, "w": WEIGHTS * OUT * IN // 2,
                                  "s": WEIGHTS * OUT * IN // GROUP * 2})
    for name, size in (("x", 8 * IN * 2), ("s", WEIGHTS * OUT * IN // GROUP), ("w", WEIGHTS * OUT * IN // 4)):
        side.functions.bench_fill(arrays[name], size, 2, 1, 0.25)
    for rows in [int(word) for word in rest if not word.startswith("--")] or [1]:
        with tempfile.TemporaryDirectory() as folder:
            kernels = compile_programs(pathlib.Path(build) / "bin" / "residc", pathlib.Path(folder), rows, cpu)
            whole, read, work = compare(side, kernels, arrays, rows, threads)
        print(f"{rows}x{IN}x{OUT}: {whole:.3f} ms; reading {read:.3f} ms, the same work on a tile {work:.3f} ms; "
              f"of the larger one {max(read, work) / whole:.2f}", flush=True)


main()
