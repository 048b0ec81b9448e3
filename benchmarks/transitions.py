# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# transitions.py BUILD [--against=RESIDC] [--connections=mhc,ihc,static] [--types=f32,bf16] [--threads=1,2] [--samples=N]
# [--flag=FLAG] [--schedule=ENTRY] [SHAPE…]: times of what stands between two sub-layers on four streams: the write of one, coefficients, the
# read of the next and its norm. A shape is rows x width. By turns in one process: the limit, which is a loop that reads
# and writes as many bytes, and then the product at the rate of fused multiplications and additions in registers; the
# transition; the same without blocks of rows; forward and backward as --grad makes them;
# and the same functions of another residc.

import argparse
import ctypes
import itertools
import pathlib
import re
import statistics
import tempfile

from harness import cases, compiled, measure, native

STREAMS = 4
COEFFICIENTS = {"static": 0, "ihc": 2 * STREAMS, "mhc": STREAMS * (2 + STREAMS)}


class Transition:
    """The program of a transition, with the types of its arguments and results in order."""

    def __init__(self, connection, element, rows, width):
        self.title = f"{connection} {element} {rows}x{width}"
        self.rows, self.width, self.count = rows, width, COEFFICIENTS[connection]
        self.has_mix = connection == "mhc"
        self.bytes = 2 * (STREAMS + 1) * rows * width * cases.SIZES[element]
        streams, row = f"tensor<{rows}x{STREAMS}x{width}x{element}>", f"tensor<{rows}x{width}x{element}>"
        weights = f"tensor<{f'{rows}x' if self.count else ''}{STREAMS}x1xf32>"
        self.inputs = {"x": streams, "y": row, "gamma": f"tensor<{width}x{element}>", "write": weights}
        self.results = {"streams": streams, "u": row}
        if self.count:
            self.inputs |= {"w": f"tensor<{self.count}x{STREAMS * width}xf32>", "scale": "tensor<3xf32>",
                            "base": f"tensor<{self.count}xf32>"}
            self.results["next_write"] = weights
        else:
            self.inputs["read"] = weights
        if self.has_mix:
            self.inputs["mix"] = self.results["next_mix"] = f"tensor<{rows}x{STREAMS}x{STREAMS}xf32>"

    def coefficients(self, name, first, scale, shape):
        """z·scale + base, of the numbers of each row from the first one on."""
        rows, count = self.rows, shape[0] * shape[1]
        numbers = f"tensor<{rows}x{count}xf32>"
        return f"""  %{name}_z = tensor.extract_slice %z[0, {first}] [{rows}, {count}] [1, 1] : tensor<{rows}x{self.count}xf32> to {numbers}
  %{name}_one = tensor.extract_slice %scale[{scale}] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %{name}_scale = tensor.collapse_shape %{name}_one [] : tensor<1xf32> into tensor<f32>
  %{name}_base = tensor.extract_slice %base[{first}] [{count}] [1] : tensor<{self.count}xf32> to tensor<{count}xf32>
  %{name}_empty = tensor.empty() : {numbers}
  %{name}_sums = linalg.generic {{
      indexing_maps = [affine_map<(r, i) -> (r, i)>, affine_map<(r, i) -> ()>, affine_map<(r, i) -> (i)>, affine_map<(r, i) -> (r, i)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%{name}_z, %{name}_scale, %{name}_base : {numbers}, tensor<f32>, tensor<{count}xf32>) outs(%{name}_empty : {numbers}) {{
    ^bb0(%in: f32, %by: f32, %to: f32, %out: f32):
      %p = arith.mulf %in, %by : f32
      %t = arith.addf %p, %to : f32
      linalg.yield %t : f32
  }} -> {numbers}
  %{name} = tensor.expand_shape %{name}_sums [[0], [1, 2]] output_shape [{rows}, {shape[0]}, {shape[1]}]
      : {numbers} into tensor<{rows}x{shape[0]}x{shape[1]}xf32>
"""

    def sigmoid(self, name, source, op, constant):
        """A sigmoid, and what one op makes of it and a constant."""
        weights = self.inputs["write"]
        return f"""  %{name}_sigmoid = resid.activation sigmoid %{source} : {weights}
  %{name}_constant = arith.constant {constant} : f32
  %{name}_empty = tensor.empty() : {weights}
  %{name} = linalg.map ins(%{name}_sigmoid : {weights}) outs(%{name}_empty : {weights}) (%in: f32, %out: f32) {{
    %t = {op} %in, %{name}_constant : f32
    linalg.yield %t : f32
  }}
"""

    def program(self):
        inputs, results = self.inputs, self.results
        mix, mix_type = (" mix(%mix)", f", {inputs['mix']}") if self.has_mix else ("", "")
        text = f"""func.func @transition({', '.join(f'%{name}: {type}' for name, type in inputs.items())})
    -> ({', '.join(results.values())}) {{
  %streams = resid.write %x, %y weights(%write){mix} : {inputs['x']}, {inputs['write']}{mix_type}
"""
        if self.count:
            text += f"  %z = resid.project %streams, %w {{epsilon = 1.0e-6}} : {inputs['x']}, {inputs['w']}\n"
            text += self.coefficients("pre", 0, 0, (STREAMS, 1)) + self.sigmoid("read", "pre", "arith.addf", "1.0e-6")
            text += self.coefficients("post", STREAMS, 1, (STREAMS, 1)) + self.sigmoid("next_write", "post", "arith.mulf", "2.0")
        if self.has_mix:
            text += self.coefficients("logits", 2 * STREAMS, 2, (STREAMS, STREAMS))
            text += f"  %next_mix = resid.sinkhorn %logits {{iterations = 20, epsilon = 1.0e-6}} : {results['next_mix']}\n"
        return text + f"""  %h = resid.read %streams weights(%read) : {inputs['x']}, {inputs['write']}
  %u = resid.rms_norm %h gamma(%gamma) {{epsilon = 1.0e-6}} : {results['u']}, {inputs['gamma']}
  return {', '.join(f'%{name}' for name in results)} : {', '.join(results.values())}
}}
"""


def size_of(type):
    """Elements of a tensor of known sizes, and the bytes of one."""
    *sizes, element = re.fullmatch(r"tensor<(.*)>", type).group(1).split("x")
    product = 1
    for size in sizes:
        product *= int(size)
    return product, cases.SIZES[element]


def types_of(header, function):
    """The types of a function's arguments and results, from the line that a header has of them."""
    given, made = re.search(rf"^/\* {function}: \((.*)\) -> \((.*)\)$", header, re.MULTILINE).groups()
    return [re.findall(r"tensor<[^>]*>", text) for text in (given, made)]


class Functions:
    """What one residc makes of a transition: the functions, and the types of what forward saves for backward."""

    def __init__(self, residc, transition, flags):
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder) / "f.h"
            flags = ("--grad=transition", f"--header={header}", *flags)
            self.library = compiled.compile_path(compiled.Path("f", "", ()), transition.program(), residc, ["cc"],
                                                 pathlib.Path(folder), flags)
            made = types_of(header.read_text(), "transition_forward")[1]
        self.saved = {f"saved{i}": type for i, type in enumerate(made[len(transition.results):])}



class Limit:
    """A loop that moves the bytes of a transition, by the faster kind of stores, and then its product in registers."""

    ROUNDS = 8

    def __init__(self, side, transition, context, arrays, threads):
        pointers = [arrays[f"limit{i}"] for i in (0, 1, 0, 2, 3)]
        calls = [native.make_call(side.by_hand(f"stream_2r2w_{stores}"), [context, *pointers, transition.bytes // 4 // 256 * 256])
                 for stores in ("plain", "streamed")]
        calls.append(native.make_call(side.by_hand("peak_fma"), [context, self.ROUNDS]))
        self.ways = [native.Sequence(side, [call], threads) for call in calls]
        operations = getattr(side.functions, f"{side.instructions}_peak_fma_operations")
        operations.restype = ctypes.c_int64
        product = 2 * transition.rows * transition.count * STREAMS * transition.width
        self.share = product / (self.ROUNDS * operations())

    def time(self, plain, streamed, peak):
        return min(plain, streamed) + self.share * peak


def fill(side, transition, arrays, sizes):
    for seed, name in enumerate(sizes):
        scale = (STREAMS * transition.width) ** -0.5 if name == "w" else 1.0
        side.functions.bench_fill(arrays[name], *sizes[name], seed + 1, scale)


def compare(side, residcs, transition, threads, samples, flags, schedule):
    context = side.context(threads, lends_memory=True)

    def compile_by(residc, *entries):
        chosen = ",".join((*schedule, *entries))
        return Functions(residc, transition, (*flags, *([f"--schedule={chosen}"] if chosen else [])))

    functions = [compile_by(residc) for residc in residcs]
    without_blocks = compile_by(residcs[0], "product-row-blocks=0")
    inputs, results = list(transition.inputs), list(transition.results)
    types = transition.inputs | transition.results | functions[0].saved
    types |= {f"d_{name}": type for name, type in types.items() if name in inputs + results}
    types |= {f"limit{i}": f"tensor<{transition.bytes // 16}xf32>" for i in range(4)}
    sizes = {name: size_of(type) for name, type in types.items()}
    arrays = native.Memory(side, {name: count * wide for name, (count, wide) in sizes.items()})
    fill(side, transition, arrays, sizes)

    def way(made, function, names):
        call = native.make_call(native.address_of(made.library, function), [context, *(arrays[name] for name in names)])
        return native.Sequence(side, [call], threads)

    saved = list(functions[0].saved)
    limit = Limit(side, transition, context, arrays, threads)
    backward = [*inputs, *saved, *(f"d_{name}" for name in (*results, *inputs))]
    calls = [("transition", [*inputs, *results]), ("transition_forward", [*inputs, *results, *saved]),
             ("transition_backward", backward)]
    ways = [*limit.ways, way(without_blocks, *calls[0])] + [way(made, *call) for made in functions for call in calls]
    times = [[measure.sample(way, 1) for way in ways] for _ in range(2 + samples)][2:]
    medians = [statistics.median(taken) / 1e3 for taken in zip(*times)]
    least, whole = limit.time(*medians[:3]), medians[3]
    for residc, (one, forward, backward) in zip(residcs, zip(*[iter(medians[4:])] * 3)):
        print(f"{transition.title}, threads {threads}, {residc}: {one / transition.rows:.2f} us a row, "
              f"{one / least:.2f} of limit and product, {whole / one:.2f} of itself without blocks; forward "
              f"{forward / transition.rows:.2f}, backward {backward / transition.rows:.2f} us a row, {backward / forward:.2f}",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description="Times of what stands between two sub-layers on four streams.")
    parser.add_argument("build", type=pathlib.Path, help="the build folder")
    parser.add_argument("shapes", nargs="*", default=["2048x1024", "2048x4096"], help="rows x width")
    parser.add_argument("--against", type=pathlib.Path, help="another residc")
    parser.add_argument("--connections", default="mhc")
    parser.add_argument("--types", default="f32,bf16")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--flag", action="append", default=[], help="a flag of residc for all forms")
    parser.add_argument("--schedule", action="append", default=[], help="an entry of a schedule for all forms")
    options = parser.parse_args()
    side = native.Native(options.build / "lib" / "libresid-benchmarks.so")
    residcs = [options.build / "bin" / "residc", *([options.against] if options.against else [])]
    for threads, connection, element, shape in itertools.product(options.threads.split(","), options.connections.split(","),
                                                                 options.types.split(","), options.shapes):
        transition = Transition(connection, element, *map(int, shape.split("x")))
        compare(side, residcs, transition, int(threads), options.samples, options.flag, options.schedule)


main()
