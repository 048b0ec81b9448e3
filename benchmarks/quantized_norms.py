# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# quantized_norms.py BUILD [--threads=N] [FLAG OF RESIDC…] [ROWSxCOLUMNS…]: add, RMS norm and quantize in one function, beside the norm and
# then the integers in two, and beside streams at whose rate as many bytes would move, all by turns; with the sum as a
# result, which the next layer reads, and without. Prints medians; what is above 1
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


def program(element, width, has_sum):
    rows, vector = f"tensor<?x{width}x{element}>", f"tensor<{width}xf32>"
    integers, scales = f"tensor<?x{width}xi8>", "tensor<?xf32>"
    norm = f"""  %s = resid.add %x, %f : {rows}
  %y = resid.rms_norm %s gamma(%g) {{epsilon = 1.0e-5}} : {rows}, {vector}"""
    integer = f"  %q, %r = resid.quantize %y {{granularity = row}} : {rows}"
    also, its_type = (", %s", f", {rows}") if has_sum else ("", "")
    return f"""func.func @one(%x: {rows}, %f: {rows}, %g: {vector}) -> ({integers}, {scales}{its_type}) {{
{norm}
{integer}
  return %q, %r{also} : {integers}, {scales}{its_type}
}}
func.func @norm(%x: {rows}, %f: {rows}, %g: {vector}) -> ({rows}{its_type}) {{
{norm}
  return %y{also} : {rows}{its_type}
}}
func.func @integers(%y: {rows}) -> ({integers}, {scales}) {{
{integer}
  return %q, %r : {integers}, {scales}
}}
"""


def compile_program(residc, folder, text, flags):
    (folder / "in.mlir").write_text(text)
    subprocess.run([residc, folder / "in.mlir", "-o", folder / "out.o", *flags], check=True)
    subprocess.run(["cc", "-shared", "-o", folder / "out.so", folder / "out.o"], check=True)
    return ctypes.CDLL(str(folder / "out.so"))


def measure_shape(side, library, element, shape, threads, has_sum):
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
    writes = 2 if has_sum else 1
    moved, of_streams = (2 + writes - 1) * whole + rows * width + 4 * rows, (2 + writes) * whole
    kept = ("s",) if has_sum else ()
    ways = {"one": [call("one", ("x", "f", "gamma"), ("t", "rstd", *kept))],
            "apart": [call("norm", ("x", "f", "gamma"), ("y", *kept)), call("integers", ("y",), ("t", "rstd"))],
            **{stores: [native.make_call(side.by_hand(f"stream_2r{writes}w_{stores}"),
                                         [context, *(arrays[name] for name in ("x", "f", "t", "y", "s")), streamed])]
               for stores in ("plain", "streamed")}}
    sequences = {name: native.Sequence(side, calls, threads) for name, calls in ways.items()}
    times = {name: [] for name in ways}
    for turn in range(3 + SAMPLES):
        for name, sequence in sequences.items():
            taken = measure.sample(sequence, 1)
            if turn >= 3:
                times[name].append(taken)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    limit = min(medians["plain"], medians["streamed"]) / of_streams * moved
    print(f"{element} {shape}, {'sum kept, ' if has_sum else ''}{threads} thread(s): one {medians['one'] / 1e6:.2f} ms, "
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
                for has_sum in (False, True):
                    place = pathlib.Path(folder) / f"{element}-{shape}-{has_sum}"
                    place.mkdir()
                    text = program(element, shape.split("x")[1], has_sum)
                    library = compile_program(pathlib.Path(build) / "bin" / "residc", place, text, flags)
                    for count in threads:
                        measure_shape(side, library, element, shape, count, has_sum)


main()
