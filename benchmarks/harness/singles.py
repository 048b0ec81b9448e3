# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Numbers that are no table of shapes: what a call costs, what the random numbers cost, how long compiling takes.

import ctypes
import dataclasses
import statistics

from . import cases, compiled
from .measure import sample
from .native import Sequence, address_of, make_call
from .variants import Variant

CALL_SHAPE, PHILOX_SHAPE = (1, 64), (32, 768)
KERNELS = ("layer_norm", "dropout")  # what is called for these numbers
NOMINAL_GHZ = 3.6  # the clock for which the bar of the random numbers is stated


@dataclasses.dataclass(frozen=True)
class Single:
    name: str
    title: str
    value: float
    unit: str
    bar: float = None  # the most it may be


def medians(variants, plan, calls):
    """Name -> median nanoseconds of one call, by turns, best of the tries."""
    best = {variant.name: float("inf") for variant in variants}
    for variant in variants:
        variant.time(calls)
    for _ in range(plan.tries):
        samples = {variant.name: [] for variant in variants}
        for _ in range(plan.samples):
            for variant in variants:
                samples[variant.name].append(sample(variant, calls))
        for name, values in samples.items():
            best[name] = min(best[name], statistics.median(values))
    return best


def call_overhead(providers, plan):
    """Layer norm of one row of 64 columns, from a loop in C and (peers) from Python; and what of it is not the row."""
    native, arrays = providers.native, providers.arrays
    kernel = next(kernel for kernel in cases.KERNELS if kernel.name == "layer_norm")
    case = cases.Case(kernel, "f32", *CALL_SHAPE, 1)
    arrays.fill(case)
    nothing = make_call(address_of(native.functions, "bench_nothing"), [0] * 8)
    found = [Variant("nothing", "an empty function", "", Sequence(native, [nothing]).time)]
    found += [variant for variant in providers.variants(case) if variant.group in ("hand", "resid", "peer")]
    empty = next(providers.compiled(dataclasses.replace(case, rows=0)))
    found.append(dataclasses.replace(empty, name="resid-no-row", title="resid, without the row (0x64)"))
    times = medians(found, plan, max(1, int(plan.sample_nanoseconds / 500)))
    return [Single(f"call-{variant.name}", f"one call, layer norm f32 1x64: {variant.title}", times[variant.name], "ns")
            for variant in found if not variant.name.startswith("hand-streamed")]


def philox(providers, plan):
    """Nanoseconds per element: the numbers alone, by hand, and compiled dropout in cache with its loads and stores."""
    native, arrays = providers.native, providers.arrays
    (rows, width), scalars = PHILOX_SHAPE, [cases.SCALARS[name] for name in ("seed", "step")]
    sink = (ctypes.c_uint64 * 8)()
    found = []
    if native.instructions:
        call = make_call(native.by_hand("hand_philox"), [rows, width, *scalars, ctypes.addressof(sink)])
        time = Sequence(native, [call]).time
        found.append(Variant("philox-hand", "random numbers alone, hand-written", "hand", time))
    case = cases.Case(cases.KERNELS[0], "f32", rows, width, 1)
    arrays.fill(case)
    for path, library in providers.libraries:
        part = [("dropout", ("x", "seed", "step"), ("y",))]
        found.append(Variant(f"dropout-{path.name}", f"dropout alone in cache, {path.title}", "resid",
                             providers.sequence(case, path, library, part)))
    times = medians(found, plan, max(1, int(plan.sample_nanoseconds / (0.5 * rows * width))))
    clock = native.functions.bench_clock()
    return [Single(variant.name, f"{variant.title}, at {NOMINAL_GHZ} GHz",
                   times[variant.name] / (rows * width) * clock / NOMINAL_GHZ, "ns per element",
                   0.28 if variant.name == "dropout-resid" else None) for variant in found]


def compile_times(residc, folder, plan):
    (one, seconds), (layers, layers_seconds) = compiled.compile_times(residc, folder, plan.tries, plan.runs_of_compiler)
    return [Single("compile-kernel", f"residc, {one}", seconds * 1e3, "ms", 100),
            Single("compile-layers", f"residc, {layers}", layers_seconds * 1e3, "ms", 2000)]


def markdown(singles):
    lines = ["| what | measured | at most |", "|---|---:|---:|"]
    for single in singles:
        bar = "" if single.bar is None else f"{single.bar:g}"
        lines.append(f"| {single.title} | {single.value:.3g} {single.unit} | {bar} |")
    return "\n".join(lines)
