# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# quantized_norms.py BUILD [--threads=N] [FLAG OF RESIDC…] [ROWSxCOLUMNS…]: add, RMS norm and quantize in one function, beside the norm and
# then the integers in two, and beside streams that move as many bytes, all by turns. Prints medians; what is above 1
# in a ratio is the speed of one function.

import pathlib
import statistics
import subprocess
import sys
import tempfile
import ctypes

from harness import cases, measure, native

SHAPES = ["16384x1024", "4096x4096"]
SAMPLES = 41


def program(element, width):
    rows, vector = f"tensor<?x{width}x{element}>", f"tensor<{width}xf32>"
    integers, scales = f"tensor<?x{width}xi8>", "tensor<?xf32>"
    norm = f"""  %s = resid.add %x, %f : {rows}
  %y = resid.rms_norm %s gamma(%g) {{epsilon = 1.0e-5}} : {rows}, {vector}"""
    integer = f"  %q, %r = resid.quantize %y {{granularity = row}} : {rows}\n  return %q, %r : {integers}, {scales}"
    return f"""func.func @one(%x: {rows}, %f: {rows}, %g: {vector}) -> ({integers}, {scales}) {{
{norm}
{integer}
}}
func.func @norm(%x: {rows}, %f: {rows}, %g: {vector}) -> {rows} {{
{norm}
  return %y : {rows}
}}
func.func @integers(%y: {rows}) -> ({integers}, {scales}) {{
{integer}
}}
"""


def compile_program(residc, folder, text, flags):
    (folder / "in.mlir").write_text(text)
    subprocess.run([residc, folder / "in.mlir", "-o", folder / "out.o", *flags], check=True)
    subprocess.run(["cc", "-shared", "-o", folder / "out.so", folder / "out.o"], check=True)
    return ctypes.CDLL(str(folder / "out.so"))


def measure_shape(side, library, element, shape, threads):
    rows, width = map(int, shape.split("x"))
    arrays = native.Arrays(side, [(rows, width)])
    size = cases.SIZES[element]
    for seed, (name, count, bytes_each) in enumerate((("x", rows * width, size), ("f", rows * width, size), ("gamma", width, 4))):
        side.functions.bench_fill(arrays[name], count, bytes_each, seed + 1, 0.25)
    context = side.context(threads)

    def call(name, inputs, results):
        pointers = [part for array in inputs for part in ([arrays[array]] if array == "gamma" else [arrays[array], rows])]
        return native.make_call(native.address_of(library, name), [context, *pointers, *(arrays[result] for result in results)])

    whole = rows * width * size
    streamed = whole // 256 * 256
    streams = {f"streams, {stores} stores": (
        native.make_call(side.by_hand(f"stream_2r1w_{stores}"), [context, *(arrays[name] for name in ("x", "f", "t", "y", "s")), streamed]), 3 * whole)
        for stores in ("plain", "streamed")}
    moved = 2 * whole + rows * width + 4 * rows
    ways = {"one": [call("one", ("x", "f", "gamma"), ("t", "s"))],
            "apart": [call("norm", ("x", "f", "gamma"), ("y",)), call("integers", ("y",), ("t", "s"))],
            **{name: [made] for name, (made, _) in streams.items()}}
    sequences = {name: native.Sequence(side, calls, threads) for name, calls in ways.items()}
    times = {name: [] for name in ways}
    for turn in range(3 + SAMPLES):
        for name, sequence in sequences.items():
            taken = measure.sample(sequence, 1)
            if turn >= 3:
                times[name].append(taken)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    limit = min(medians[name] / total * moved for name, (_, total) in streams.items())
    print(f"{element} {shape}, {threads} thread(s): one {medians['one'] / 1e6:.2f} ms, "
          f"{medians['apart'] / medians['one']:.2f} of apart, {limit / medians['one']:.2f} of the streams' rate", flush=True)


def main():
    build, *rest = sys.argv[1:]
    side = native.Native(pathlib.Path(build) / "lib" / "libresid-benchmarks.so")
    threads = [int(word.removeprefix("--threads=")) for word in rest if word.startswith("--threads=")] or [1]
    flags = [word for word in rest if word.startswith("--") and not word.startswith("--threads=")]
    shapes = [word for word in rest if not word.startswith("--")] or SHAPES
    with tempfile.TemporaryDirectory() as folder:
        for element in ("f32", "bf16"):
            for shape in shapes:
                place = pathlib.Path(folder) / f"{element}-{shape}"
                place.mkdir()
                library = compile_program(pathlib.Path(build) / "bin" / "residc", place, program(element, shape.split("x")[1]), flags)
                for count in threads:
                    measure_shape(side, library, element, shape, count)


main()
