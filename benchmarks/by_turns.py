# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# by_turns.py [--only=KERNEL,…] [--types=TYPE,…] [--shapes=SHAPE,…] COMMAND COMMAND…: compiles kernels of the table by
# several commands, such as "residc --mcpu=x86-64-v3 --schedule=rows=single", and prints the time of the first one's code
# over the time of each other's: the median over calls by turns in one process. Fails where results differ in a bit. For
# questions about a few kernels; bench.py compares with peers and limits too.

import argparse
import array
import ctypes
import pathlib
import random
import shlex
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from harness import cases

LINE = 64
# A turn is as many calls as take about this long.
TURN_SECONDS = 1e-4
SIZES = {"f32": 4, "bf16": 2, "f16": 2}
# Calls have no context, so none that asks for memory.
KERNELS = (*(kernel for kernel in cases.KERNELS if not kernel.needs_memory), cases.Kernel("add", "add", ("x", "f"), ("s",)),
           cases.Kernel("dropout", "dropout", ("f", "seed", "step"), ("t",)))


def make_numbers(kind, count):
    """Normal values, a few thousand of them again and again."""
    period = [random.gauss(0, 1) for _ in range(4099)]
    if kind == "f16":
        data = b"".join(struct.pack("e", value) for value in period)
    else:
        data = array.array("f", period).tobytes()
    if kind == "bf16":
        data = b"".join(data[place + 2:place + 4] for place in range(0, len(data), 4))
    return (data * (count * SIZES[kind] // len(data) + 1))[:count * SIZES[kind]]


class Array:
    """Memory that begins at a cache line."""

    def __init__(self, data):
        self.size, self.memory = len(data), ctypes.create_string_buffer(len(data) + LINE)
        address = ctypes.addressof(self.memory)
        self.place = ctypes.c_void_p(address + -address % LINE)
        ctypes.memmove(self.place, data, len(data))

    def take(self):
        """What stands in it; zeros afterwards."""
        data = ctypes.string_at(self.place, self.size)
        ctypes.memset(self.place, 0, self.size)
        return data


def compile_library(command, folder, number, text):
    (folder / "in.mlir").write_text(text)
    name = folder / f"{number}"
    subprocess.run([*shlex.split(command), folder / "in.mlir", "-o", f"{name}.o"], check=True)
    subprocess.run(["cc", "-shared", "-o", f"{name}.so", f"{name}.o"], check=True)
    return ctypes.CDLL(f"{name}.so")


def list_arguments(kernel, arrays, rows):
    arguments = [None]
    for name in kernel.arguments:
        if name in cases.SCALARS:
            arguments.append(ctypes.c_int64(cases.SCALARS[name]))
        else:
            arguments.append(arrays[name].place)
            arguments += [ctypes.c_int64(rows)] * (name in cases.ROW_ARRAYS)
    return arguments + [arrays[name].place for name in kernel.results]


def measure(functions, arguments, turns):
    """The first one's time over each one's."""
    begin = time.perf_counter()
    functions[0](*arguments)
    calls = max(1, int(TURN_SECONDS / (time.perf_counter() - begin)))
    ratios = [[] for _ in functions]
    for turn in range(-3, turns):
        seconds = []
        for function in functions:
            begin = time.perf_counter()
            for _ in range(calls):
                function(*arguments)
            seconds.append(time.perf_counter() - begin)
        for taken, of_one in zip(seconds, ratios):
            of_one += [seconds[0] / taken] if turn >= 0 else []
    return [statistics.median(of_one) for of_one in ratios]


def compare(kernel, libraries, arrays, element, rows, width, turns):
    functions = [getattr(library, cases.function_name(kernel.name, element, width)) for library in libraries]
    arguments = list_arguments(kernel, arrays, rows)
    results = []
    for function in functions:
        assert function(*arguments) == 0
        results.append([arrays[name].take() for name in kernel.results])
    if any(result != results[0] for result in results):
        sys.exit(f"{kernel.name} {element} {rows}x{width}: results differ")
    return measure(functions, arguments, turns)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(kernel.name for kernel in KERNELS))
    parser.add_argument("--types", default="f32,bf16")
    parser.add_argument("--shapes", default="32x768")
    parser.add_argument("--turns", type=int, default=41)
    parser.add_argument("commands", nargs="+")
    options = parser.parse_args()
    kernels = [kernel for kernel in KERNELS if kernel.name in options.only.split(",")]
    for element in options.types.split(","):
        for shape in options.shapes.split(","):
            rows, width = map(int, shape.split("x"))
            text = "".join(cases.specialize(kernel.name, element, width) for kernel in kernels)
            arrays = {name: Array(make_numbers(element, rows * width)) for name in ("x", "f")}
            arrays |= {name: Array(make_numbers(element, width)) for name in ("gamma", "beta")}
            arrays |= {name: Array(bytes(rows * width * SIZES[element])) for name in ("y", "s", "t")}
            with tempfile.TemporaryDirectory() as folder:
                libraries = [compile_library(command, pathlib.Path(folder), number, text)
                             for number, command in enumerate(options.commands)]
            for kernel in kernels:
                ratios = compare(kernel, libraries, arrays, element, rows, width, options.turns)
                print(f"{kernel.name} {element} {shape}: {', '.join(f'{ratio:.2f}' for ratio in ratios[1:])}", flush=True)


main()
