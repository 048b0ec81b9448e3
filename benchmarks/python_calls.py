#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a call from Python costs, and compiling: of the package resid, beside PyTorch where that is there. `make bench-python`
# runs it; docs/measurements/python.md has its results. All ways take turns in one process; medians of samples.

import argparse
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


def measure(ways, samples, calls):
    """The median time of a call of each way, in seconds."""
    times = {name: [] for name in ways}
    for _ in range(samples):
        for name, way in ways.items():
            begin = time.perf_counter()
            for _ in range(calls):
                way()
            times[name].append((time.perf_counter() - begin) / calls)
    return {name: statistics.median(found) for name, found in times.items()}


def measure_calls(samples):
    kernels, empty = resid.compile(ADD_RMS), resid.compile(EMPTY).empty
    x, f = numpy.random.default_rng(1).standard_normal((2, 1, COLUMNS)).astype("float32")
    gamma, out = numpy.ones(COLUMNS, "float32"), (numpy.empty_like(x), numpy.empty_like(x))
    small, one = numpy.ones((1, 1), "float32"), numpy.ones(1, "float32")
    small_out = (numpy.empty_like(small), numpy.empty_like(small))
    # The kernel alone: what four more rows in one call take, by rows. They lie in the same cache as one row does.
    many_x, many_f = numpy.repeat(x, 5, 0), numpy.repeat(f, 5, 0)
    many_out = (numpy.empty_like(many_x), numpy.empty_like(many_x))
    ways = {
        "out": lambda: kernels.add_rms(x, f, gamma, out=out, threads=1),
        "new": lambda: kernels.add_rms(x, f, gamma, threads=1),
        "empty": lambda: empty(small, small, one, out=small_out, threads=1),
        "5 rows": lambda: kernels.add_rms(many_x, many_f, gamma, out=many_out, threads=1),
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
    times = measure(ways, samples, 500)
    times["kernel"] = (times["5 rows"] - times["out"]) / 4
    return times


def measure_compiling(samples):
    resid.compile(ADD_RMS, use_cache=False)
    with tempfile.TemporaryDirectory() as folder:
        import os

        os.environ["RESID_CACHE"] = folder
        resid.compile(ADD_RMS)
        return measure({"cold": lambda: resid.compile(ADD_RMS, use_cache=False), "warm": lambda: resid.compile(ADD_RMS)}, samples, 1)


def describe(calls, compiling):
    allowed = calls["empty"] + calls["kernel"]
    rows = [("call on NumPy's arrays, `out=`", calls["out"]), ("call on NumPy's arrays, new results", calls["new"]),
            ("an empty function of as many arrays, `out=`", calls["empty"]), ("the kernel alone, of one row", calls["kernel"])]
    if "eager" in calls:
        rows += [("call on PyTorch's tensors, `out=`", calls["tensors, out"]), ("call on PyTorch's tensors, new results", calls["tensors, new"]),
                 ("PyTorch, eager", calls["eager"])]
    lines = ["| add + RMS norm, 1 x 4096, f32, one thread | time |", "|---|---:|"]
    lines += [f"| {name} | {1e6 * seconds:.2f} µs |" for name, seconds in rows]
    lines += [f"| compiling one kernel | {1e3 * compiling['cold']:.0f} ms |", f"| the same, answered from the cache | {1e3 * compiling['warm']:.2f} ms |", ""]
    lines.append(f"A call takes {calls['out'] / allowed:.2f} of the empty function and the kernel together.")
    if "eager" in calls:
        lines.append(f"It takes {calls['tensors, new'] / calls['eager']:.2f} of PyTorch's time with new results, and {calls['tensors, out'] / calls['eager']:.2f} with `out=`.")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="Measure calls of compiled functions from Python, and compiling.")
    parser.add_argument("--samples", type=int, default=41, help="samples of each way (default: 41)")
    parser.add_argument("--update-docs", action="store_true", help="put the results into docs/measurements/python.md")
    flags = parser.parse_args()
    table = describe(measure_calls(flags.samples), measure_compiling(flags.samples))
    print(table)
    if flags.update_docs:
        before, rest = PAGE.read_text().split(MARKS[0])
        PAGE.write_text(f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{rest.split(MARKS[1])[1]}")


sys.exit(main())
