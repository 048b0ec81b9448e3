#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a call from Python costs, and compiling: of the package resid, beside PyTorch where that is there. `make bench-python`
# runs it; docs/measurements/python.md has its results. All ways take turns in one process; medians of samples.

import argparse
import ctypes
import functools
import pathlib
import statistics
import sys
import tempfile
import time

import numpy

import resid

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/measurements/python.md"
MARKS = "<!-- results -->", "<!-- end of results -->"
COLUMNS = 4096
ADD_RMS = f"""
func.func @add_rms(%x: tensor<?x{COLUMNS}xf32>, %f: tensor<?x{COLUMNS}xf32>, %gamma: tensor<{COLUMNS}xf32>)
    -> (tensor<?x{COLUMNS}xf32>, tensor<?x{COLUMNS}xf32>) {{
  %s = resid.add %x, %f : tensor<?x{COLUMNS}xf32>
  %y = resid.rms_norm %s gamma(%gamma) {{epsilon = 1.0e-6}} : tensor<?x{COLUMNS}xf32>, tensor<{COLUMNS}xf32>
  return %y, %s : tensor<?x{COLUMNS}xf32>, tensor<?x{COLUMNS}xf32>
}}
"""
# As many arrays, and next to no work: one column.
EMPTY = """
func.func @empty(%x: tensor<?x1xf32>, %f: tensor<?x1xf32>, %gamma: tensor<1xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
  return %x, %f : tensor<?x1xf32>, tensor<?x1xf32>
}
"""


def measure(ways, samples, calls, clock=time.perf_counter):
    """The median time of a call of each way, in seconds."""
    times = {name: [] for name in ways}
    for _ in range(samples):
        for name, way in ways.items():
            begin = clock()
            for _ in range(calls):
                way()
            times[name].append((clock() - begin) / calls)
    return {name: statistics.median(found) for name, found in times.items()}


class Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


def make_direct(kernel, arrays):
    """A call of the compiled function with tensors of f32 that are made before, so that nothing else is measured."""
    shapes = [(ctypes.c_int64 * array.ndim)(*array.shape) for array in arrays]
    tensors = [Tensor(array.ctypes.data, 1, 0, array.ndim, 2, 32, 1, shape) for array, shape in zip(arrays, shapes)]
    pointers = (ctypes.c_void_p * len(tensors))(*map(ctypes.addressof, tensors))
    function = kernel.module._library[f"{kernel.name}_dl"]
    function.restype, function.argtypes = ctypes.c_int32, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32]
    call = functools.partial(function, None, ctypes.cast(pointers, ctypes.c_void_p), len(tensors))
    call.kept = tensors, shapes, pointers, arrays
    if call() != 0:
        sys.exit(f"{kernel.name}: expected status 0")
    return call


def measure_calls(samples):
    kernels, empty = resid.compile(ADD_RMS), resid.compile(EMPTY).empty
    x, f = numpy.random.default_rng(1).standard_normal((2, 1, COLUMNS)).astype("float32")
    gamma, out = numpy.ones(COLUMNS, "float32"), (numpy.empty_like(x), numpy.empty_like(x))
    small, one = numpy.ones((1, 1), "float32"), numpy.ones(1, "float32")
    small_out = (numpy.empty_like(small), numpy.empty_like(small))
    ways = {
        "out": lambda: kernels.add_rms(x, f, gamma, out=out, threads=1),
        "new": lambda: kernels.add_rms(x, f, gamma, threads=1),
        "empty": lambda: empty(small, small, one, out=small_out, threads=1),
        "direct": make_direct(kernels.add_rms, [x, f, gamma, *out]),
        "direct empty": make_direct(empty, [small, small, one, *small_out]),
    }
    try:
        import torch
    except ImportError:
        torch = None
    if torch:
        torch.set_num_threads(1)
        a, b, weight = (torch.from_numpy(array.copy()) for array in (x, f, gamma))
        made = (torch.empty_like(a), torch.empty_like(a))
        ways["tensors, out"] = lambda: kernels.add_rms(a, b, weight, out=made, threads=1)
        ways["tensors, new"] = lambda: kernels.add_rms(a, b, weight, threads=1)

        def eager():
            total = a + b
            return torch.nn.functional.rms_norm(total, (COLUMNS,), weight, 1e-6), total

        ways["eager"] = eager
    # Short samples, many of which fit between what other programs do.
    times = measure(ways, 10 * samples, 50)
    # Both go through ctypes, which takes the same time for both.
    times["kernel"] = times["direct"] - times["direct empty"]
    return times


def measure_compiling(samples):
    resid.compile(ADD_RMS, use_cache=False)
    with tempfile.TemporaryDirectory() as folder:
        import os

        os.environ["RESID_CACHE"] = folder
        resid.compile(ADD_RMS)
        ways = {"cold": lambda: resid.compile(ADD_RMS, use_cache=False), "warm": lambda: resid.compile(ADD_RMS)}
        # Beside each other: a machine that others use too makes the first longer.
        return measure(ways, samples, 1), measure({"cold": ways["cold"]}, samples, 1, time.process_time)


def describe(calls, compiling, working):
    allowed = calls["empty"] + calls["kernel"]
    rows = [("call on NumPy's arrays, `out=`", calls["out"]), ("call on NumPy's arrays, new results", calls["new"]),
            ("an empty function of as many arrays, `out=`", calls["empty"]), ("what the kernel takes longer than the empty function, by ctypes", calls["kernel"])]
    if "eager" in calls:
        rows += [("call on PyTorch's tensors, `out=`", calls["tensors, out"]), ("call on PyTorch's tensors, new results", calls["tensors, new"]),
                 ("PyTorch, eager", calls["eager"])]
    lines = ["| add + RMS norm, 1 x 4096, f32, one thread | time |", "|---|---:|"]
    lines += [f"| {name} | {1e6 * seconds:.2f} µs |" for name, seconds in rows]
    lines += [f"| compiling one kernel | {1e3 * compiling['cold']:.0f} ms |", f"| time of the processor for that | {1e3 * working['cold']:.0f} ms |",
              f"| the same, answered from the cache | {1e3 * compiling['warm']:.2f} ms |", ""]
    lines.append(f"A call takes {calls['out'] / allowed:.2f} of the empty function and the kernel together.")
    if "eager" in calls:
        lines.append(f"It takes {calls['tensors, new'] / calls['eager']:.2f} of PyTorch's time with new results, and {calls['tensors, out'] / calls['eager']:.2f} with `out=`.")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="Measure calls of compiled functions from Python, and compiling.")
    parser.add_argument("--samples", type=int, default=41, help="samples of compiling; ten times as many of calls (default: 41)")
    parser.add_argument("--update-docs", action="store_true", help="put the results into docs/measurements/python.md")
    flags = parser.parse_args()
    table = describe(measure_calls(flags.samples), *measure_compiling(flags.samples))
    print(table)
    if flags.update_docs:
        before, rest = PAGE.read_text().split(MARKS[0])
        PAGE.write_text(f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{rest.split(MARKS[1])[1]}")


sys.exit(main())
