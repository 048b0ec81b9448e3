# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# transitions.py BUILD [--against=RESIDC] [--peers=FOLDER] [--connections=mhc,ihc,static] [--types=f32,bf16] [--threads=1,2]
# [--samples=N] [--flag=FLAG] [--schedule=ENTRY] [SHAPE…]: times of what stands between two sub-layers on four streams: the
# write of one, coefficients, the read of the next and its norm. A shape is rows x width. By turns in one process: the
# limit, which is a loop that reads and writes as many bytes, and then the product at the rate of fused multiplications
# and additions in registers; the transition; the same without blocks of rows, and with weights packed ahead; the
# projection alone, with weights as they are and packed ahead, beside a loop that reads the weights; forward and backward
# as --grad makes them; the same functions of another residc; and PyTorch's, where FOLDER has it. With `halves` or `pairs`
# among the connections: the norm of each head of queries, and their rotary embedding of halves or of neighbours, where
# rows are those of 32 heads.

import argparse
import ctypes
import itertools
import math
import pathlib
import re
import statistics
import subprocess
import tempfile

from harness import cases, commands, compiled, measure, native, peers
from harness.transitions import PEERS

STREAMS = 4
# A sample is as many calls as take about so long; the limit of reading works on so many bytes at a time.
SAMPLE_NANOSECONDS, READ_STEP = 1e6, 256
COEFFICIENTS = {"static": 0, "ihc": 2 * STREAMS, "mhc": STREAMS * (2 + STREAMS)}


class Transition:
    """The program of a transition, with the types of its arguments and results in order."""

    streams = STREAMS

    def __init__(self, connection, element, rows, width):
        self.title, self.element = f"{connection} {element} {rows}x{width}", element
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
        self.differentiated = list(self.inputs)

    @property
    def types(self):
        return self.inputs | self.results | ({"z": f"tensor<{self.rows}x{self.count}xf32>"} if self.count else {})

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
        weight = {"w": " {resid.weight}"}
        arguments = ", ".join(f"%{name}: {type}{weight.get(name, '')}" for name, type in inputs.items())
        text = f"""func.func @transition({arguments})
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

    def projection(self):
        """The program of the projection alone."""
        streams, weight, z = (self.types[name] for name in ("x", "w", "z"))
        return f"""func.func @project(%x: {streams}, %w: {weight} {{resid.weight}}) -> {z} {{
  %z = resid.project %x, %w {{epsilon = 1.0e-6}} : {streams}, {weight}
  return %z : {z}
}}
"""


class Heads(Transition):
    """The program of a norm of heads, and what turns them."""

    heads, count = 32, 0

    def __init__(self, kind, element, rows, width):
        self.title, self.element, self.is_interleaved = f"{kind} {element} {rows}x{width}", element, kind == "pairs"
        self.rows, self.width, positions = rows, width, rows // self.heads
        x, table = f"tensor<{self.heads}x{positions}x{width}x{element}>", f"tensor<{positions}x{width // 2}x{element}>"
        self.inputs = {"x": x, "gamma": f"tensor<{width}x{element}>", "cos": table, "sin": table}
        self.results, self.differentiated = {"y": x}, ["x", "gamma"]
        self.bytes = 2 * rows * width * cases.SIZES[element]

    def program(self):
        x, gamma, table, _ = self.inputs.values()
        arguments = ", ".join(f"%{name}: {type}" for name, type in self.inputs.items())
        return f"""func.func @transition({arguments}) -> {x} {{
  %n = resid.rms_norm %x gamma(%gamma) {{epsilon = 1.0e-6}} : {x}, {gamma}
  %y = resid.rotary %n cos(%cos) sin(%sin){" {interleaved}" * self.is_interleaved} : {x}, {table}, {table}
  return %y : {x}
}}
"""


def size_of(type):
    """Elements of a tensor of known sizes, and the bytes of one."""
    *sizes, element = re.fullmatch(r"tensor<(.*)>", type).group(1).split("x")
    return math.prod(map(int, sizes)), cases.SIZES[element]


def types_of(header, function):
    """The types of a function's arguments and results, from the line that a header has of them."""
    given, made = re.search(rf"^/\* {function}: \((.*)\) -> (.*)$", header, re.MULTILINE).groups()
    return [re.findall(r"tensor<[^>]*>", text) for text in (given, made)]


def compile_text(text, residc, flags=()):
    """The library of a program, and its header."""
    with tempfile.TemporaryDirectory() as folder:
        header = pathlib.Path(folder) / "f.h"
        library = compiled.compile_path(compiled.Path("f", "", ()), text, residc, ["cc"], pathlib.Path(folder),
                                        (f"--header={header}", *flags))
        return library, header.read_text()


class Functions:
    """What one residc makes of a transition: the functions, and the types of what forward saves for backward."""

    def __init__(self, residc, transition, flags):
        wanted = ",".join(str(list(transition.inputs).index(name)) for name in transition.differentiated)
        self.library, header = compile_text(transition.program(), residc, ("--grad=transition", f"--wrt={wanted}", *flags))
        made = types_of(header, "transition_forward")[1]
        self.saved = {f"saved{i}": type for i, type in enumerate(made[len(transition.results):])}


class PackedAhead:
    """The transition and its projection alone with weights in panels, with what makes these, and the latter without."""

    def __init__(self, residc, transition, flags):
        command = [residc.with_name("resid-opt"), "-", "--keep-argument-names", "--resid-pack-weights"]
        text = subprocess.run(command, input=transition.program() + transition.projection(), capture_output=True, text=True,
                              check=True).stdout
        self.library, header = compile_text(text, residc, flags)
        self.panels = types_of(header, "project_prepare")[1][0]
        self.plain, _ = compile_text(transition.projection(), residc, flags)

    def ways(self, machine, transition, arrays, sizes):
        """The transition, the projection with weights as they are and in panels, and a loop that reads the weights."""
        machine.compiled(self.library, arrays, "project_prepare", ["w", "panels"]).time(1)
        inputs = ["panels" if name == "w" else name for name in transition.inputs]
        projections = [machine.compiled(library, arrays, "project", ["x", weight, "z"])
                       for library, weight in ((self.plain, "w"), (self.library, "panels"))]
        found = []
        for projection in projections:
            projection.time(1)
            found.append(ctypes.string_at(arrays["z"], math.prod(sizes["z"])))
        if found[0] != found[1]:
            raise SystemExit(f"{transition.title}: expected the same bits from weights that are packed ahead")
        reading = [arrays["w"], math.prod(sizes["w"]) // READ_STEP * READ_STEP]
        return [machine.compiled(self.library, arrays, "transition", [*inputs, *transition.results]), *projections,
                machine.way(machine.side.by_hand("read"), reading)]


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


class Machine:
    """The native side, with so many threads."""

    def __init__(self, side, threads):
        self.side, self.threads, self.context = side, threads, side.context(threads, lends_memory=True)

    def way(self, function, arguments):
        return native.Sequence(self.side, [native.make_call(function, [self.context, *arguments])], self.threads)

    def compiled(self, library, arrays, function, names):
        return self.way(native.address_of(library, function), [arrays[name] for name in names])


def take_medians(ways, samples):
    """Microseconds of each way, by turns."""
    repeats = [max(1, int(SAMPLE_NANOSECONDS / measure.sample(way, 1))) for way in ways]
    times = [[measure.sample(way, count) for way, count in zip(ways, repeats)] for _ in range(2 + samples)][2:]
    return [statistics.median(taken) / 1e3 for taken in zip(*times)]


def compare(machine, residcs, transition, options, found_peers):
    def compile_by(kind, residc, *entries):
        chosen = ",".join((*options.schedule, *entries))
        return kind(residc, transition, (*options.flag, *([f"--schedule={chosen}"] if chosen else [])))

    functions = [compile_by(Functions, residc) for residc in residcs]
    without_blocks = compile_by(Functions, residcs[0], "product-row-blocks=0")
    packed = compile_by(PackedAhead, residcs[0]) if transition.count else None
    inputs, results = list(transition.inputs), list(transition.results)
    types = transition.types | functions[0].saved
    types |= {f"d_{name}": type for name, type in types.items() if name in inputs + results}
    types |= {f"limit{i}": f"tensor<{transition.bytes // 16}xf32>" for i in range(4)}
    types |= {"panels": packed.panels} if packed else {}
    sizes = {name: size_of(type) for name, type in types.items()}
    arrays = native.Memory(machine.side, {name: count * wide for name, (count, wide) in sizes.items()})
    fill(machine.side, transition, arrays, sizes)

    saved = list(functions[0].saved)
    limit = Limit(machine.side, transition, machine.context, arrays, machine.threads)
    backward = [*inputs, *saved, *(f"d_{name}" for name in (*results, *transition.differentiated))]
    calls = [("transition", [*inputs, *results]), ("transition_forward", [*inputs, *results, *saved]),
             ("transition_backward", backward)]
    ways = [*limit.ways, machine.compiled(without_blocks.library, arrays, *calls[0])]
    ways += [machine.compiled(made.library, arrays, *call) for made in functions for call in calls]
    for way in ways:
        way.time(1)
    own, others = len(ways), packed.ways(machine, transition, arrays, sizes) if packed else []
    of_peers = [ways for peer in found_peers for ways in peer.ways(transition, arrays, machine.threads)]
    medians = take_medians([*ways, *others, *(way for _, *both in of_peers for way in both)], options.samples)
    least, whole, rows = limit.time(*medians[:3]), medians[3], transition.rows
    head = f"{transition.title}, threads {machine.threads}"
    for residc, (one, forward, backward) in zip(residcs, zip(*[iter(medians[4:own])] * 3)):
        print(f"{head}, {residc}: {one / rows:.3g} us a row, "
              f"{one / least:.2f} of limit and product, {whole / one:.2f} of itself without blocks; forward "
              f"{forward / rows:.3g}, backward {backward / rows:.3g} us a row, {backward / forward:.2f}",
              flush=True)
    one, _, backward = medians[4:7]
    if packed:
        ahead, projected, projected_ahead, read = medians[own:own + len(others)]
        print(f"{head}, weights packed ahead: {ahead / rows:.2f} us a row; projection alone {projected:.1f} us, packed ahead "
              f"{projected_ahead:.1f}, {projected_ahead / read:.2f} of reading the weights once", flush=True)
    for (title, *_), forward, back in zip(of_peers, *[iter(medians[own + len(others):])] * 2):
        print(f"{head}, {title}: {forward / rows:.2f} us a row, {forward / one:.2f} times resid's; backward {back / rows:.2f}, "
              f"{back / backward:.2f} times resid's", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Times of what stands between two sub-layers on four streams.")
    parser.add_argument("build", type=pathlib.Path, help="the build folder")
    parser.add_argument("shapes", nargs="*", default=["2048x1024", "2048x4096"], help="rows x width")
    parser.add_argument("--against", type=pathlib.Path, help="another residc")
    parser.add_argument("--peers", type=pathlib.Path, help="a virtual environment with PyTorch")
    parser.add_argument("--connections", default="mhc")
    parser.add_argument("--types", default="f32,bf16")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--flag", action="append", default=[], help="a flag of residc for all forms")
    parser.add_argument("--schedule", action="append", default=[], help="an entry of a schedule for all forms")
    options = parser.parse_args()
    if options.peers:
        commands.enter_peers(options.peers)
    side = native.Native(options.build / "lib" / "libresid-benchmarks.so")
    found_peers = peers.find(side, options, PEERS, "harness") if options.peers else []
    residcs = [options.build / "bin" / "residc", *([options.against] if options.against else [])]
    for threads, connection, element, shape in itertools.product(options.threads.split(","), options.connections.split(","),
                                                                 options.types.split(","), options.shapes):
        kind = Heads if connection in ("halves", "pairs") else Transition
        transition = kind(connection, element, *map(int, shape.split("x")))
        compare(Machine(side, int(threads)), residcs, transition, options, found_peers)


main()
