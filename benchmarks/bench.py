#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures compiled kernels beside the machine's limit, hand-written code, the scalar path, unfused ops and the
# installed peers, all in this process and by turns. Writes results.csv, results.md and one SVG per kernel.
# `make bench` runs it; docs/benchmarks.md says how to read what it writes.

import argparse
import dataclasses
import itertools
import os
import pathlib
import shutil
import sys
import time

from harness import bars, cases, compiled, machine, measure, native, peers, plots, report, singles, summary, variants

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKERS = ("<!-- results: written by make bench-docs -->", "<!-- end of results -->")
PLANS = {
    "full": (measure.Plan(), cases.SHAPES, (1, 2)),
    "quick": (measure.Plan(tries=1, samples=9, runs_of_compiler=3), cases.QUICK_SHAPES, (1,)),
    "smoke": (measure.Plan(tries=1, samples=1, sample_nanoseconds=1e3, runs_of_compiler=1), cases.SMOKE_SHAPES, (1, 2)),
}


def parse_shapes(text):
    try:
        shapes = [tuple(int(size) for size in shape.split("x")) for shape in text.split(",")]
    except ValueError:
        shapes = []
    if not shapes or any(len(shape) != 2 or min(shape) < 1 for shape in shapes):
        raise argparse.ArgumentTypeError(f"expected ROWSxWIDTH,… but got '{text}'")
    return shapes


def parse_arguments():
    parser = argparse.ArgumentParser(description="Measures resid's kernels beside limits, hand-written code and peers.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build folder")
    parser.add_argument("--out", type=pathlib.Path, help="where results go (default: BUILD/benchmarks)")
    parser.add_argument("--cc", default="cc", help="the compiler driver that links objects into a library")
    parser.add_argument("--cxx", default="c++", help="the compiler of the wrapper around oneDNN")
    parser.add_argument("--peers", type=pathlib.Path, help="a virtual environment with peers (default: BUILD/peers)")
    parser.add_argument("--only", default="", help="measure only kernels whose name contains this")
    parser.add_argument("--shapes", type=parse_shapes, help="other shapes than those of the bars: 4096x768,65536x64")
    parser.add_argument("--also", action="append", default=[], metavar="FLAG",
                        help="measure also what residc makes with this flag, e.g. --also=--schedule=prefetch=off or "
                             "--also=--mcpu=x86-64-v4; several times for several variants")
    parser.add_argument("--row-orders", action="store_true",
                        help="measure also hand-written add + norms with rows pipelined, in pairs, or kept in f32")
    parser.add_argument("--tries", type=int, help="how often everything is measured (default: 3)")
    mode = parser.add_mutually_exclusive_group()
    for name, text in (("quick", "fewer shapes and samples, one thread"), ("smoke", "see that everything runs"),
                       ("prepare-peers", "let peers compile what they will run, and stop"),
                       ("update-docs", "measure nothing; put the last results into docs/benchmarks.md")):
        mode.add_argument(f"--{name}", dest="mode", action="store_const", const=name, default="full", help=text)
    options = parser.parse_args()
    options.out = options.out or options.build / "benchmarks"
    options.peers = options.peers or options.build / "peers"
    return options


def enter_peers(folder):
    """Peers live in an environment of their own: go on with its interpreter, in this process."""
    os.environ.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")  # large pages for what peers allocate
    python = folder / "bin" / "python"
    if python.exists() and pathlib.Path(sys.prefix).resolve() != folder.resolve():
        os.execv(python, [str(python), *sys.argv])


def compile_kernels(options, shapes, folder):
    """All paths that this residc has: (path, library). The first is the one that is judged."""
    widths, libraries = [width for _, width in shapes] + [singles.PHILOX_SHAPE[1], singles.CALL_SHAPE[1]], []
    for path in [*compiled.PATHS, *map(compiled.with_flag, options.also)]:
        try:
            libraries.append((path, compiled.compile_path(path, widths, options.build / "bin" / "residc",
                                                          options.cc.split(), folder)))
        except compiled.Unavailable as reason:
            print(f"skipped: {path.title}: {reason}", flush=True)
    return libraries


def make_providers(options, shapes, threads):
    side = native.Native(options.build / "lib" / "libresid-benchmarks.so")
    shapes = [*shapes, singles.PHILOX_SHAPE]
    arrays = native.Arrays(side, max(rows * width for rows, width in shapes) * 4, max(width for _, width in shapes) * 4)
    folder = options.out / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    libraries = compile_kernels(options, shapes, folder)
    return variants.Providers(side, arrays, libraries, peers.find(side, options), options.row_orders)


def measure_cases(providers, plan, chosen):
    """Tries are the outer loop, so that a bad minute of the machine falls into one try of a case only."""
    records, filled = {}, None
    for attempt, case in itertools.product(range(plan.tries), chosen):
        if filled != (case.type, case.shape):
            providers.arrays.fill(case, cases.SIZES[case.type])
            filled = case.type, case.shape
        found = providers.variants(case)
        if attempt == 0:
            measure.check(found, case, providers.arrays)
        measure.measure(found, case, plan, records)
        print(f"try {attempt + 1} of {plan.tries}: {case.kernel.title}, {case.type} {case.shape}, "
              f"threads: {case.threads}", flush=True)
    return report.Results(records)


def choose_cases(options, shapes, threads):
    return [cases.Case(kernel, element, rows, width, count) for count in threads for element in cases.SIZES
            for rows, width in shapes for kernel in cases.KERNELS if options.only in kernel.name]


def remove_pictures(folder):
    """Those of an earlier run, which may have had other cases."""
    for path in folder.glob("*.svg"):
        path.unlink()


def write_results(options, results, numbers, machine_line, reasons):
    report.write_csv(results, options.out / "results.csv")
    cache = machine.last_level_bytes()
    remove_pictures(options.out)
    # A run of small shapes only (--smoke) still gets its pictures.
    beyond = [case for case in results.cases if case.bytes > cache / 2 and case.rows > 32]
    pictures = plots.write_plots(results, options.out, lambda case: case in beyond or not beyond)
    command = "make bench" + (f"-{options.mode}" if options.mode != "full" else "")
    skipped = "\n".join(f"- {what}: {reason}" for what, reason in reasons)
    amount = f"tries: {results.tries}, samples in each: {results.samples_per_try}"
    text = "\n\n".join([
        f"Measured on: {machine_line}. Command: `{command}`; {amount}.",
        "### Bars", bars.markdown(results, cache), "### Calls, random numbers, compiling", singles.markdown(numbers),
        "### Pictures", "\n".join(f"![{path.stem}](benchmarks/{path.name})" for path in pictures),
        report.markdown(results) + (f"\nNot measured:\n\n{skipped}" if skipped else "")])
    (options.out / "results.md").write_text(text.rstrip() + "\n")


def put_between_markers(page, text):
    before, rest = page.read_text().split(MARKERS[0])
    after = rest.split(MARKERS[1])[1]
    page.write_text(f"{before}{MARKERS[0]}\n\n{text}\n{MARKERS[1]}{after}")


def update_docs(options):
    """Puts the last results into docs/benchmarks.md, its pictures beside it, and a few lines into README.md."""
    docs = ROOT / "docs"
    put_between_markers(docs / "benchmarks.md", (options.out / "results.md").read_text())
    few = summary.markdown(options.out / "results.csv")
    if few:
        put_between_markers(ROOT / "README.md", few + "\n")
    folder = docs / "benchmarks"
    folder.mkdir(exist_ok=True)
    remove_pictures(folder)
    for path in sorted(options.out.glob("*.svg")) + [options.out / "results.csv"]:
        shutil.copy(path, folder)


def measure_compiler(options, plan):
    if options.mode == "prepare-peers":
        return []
    folder = options.out / "kernels"
    folder.mkdir(exist_ok=True)
    return singles.compile_times(options.build / "bin" / "residc", folder, plan)


def main():
    options = parse_arguments()
    if options.mode == "update-docs":
        return update_docs(options)
    enter_peers(options.peers)
    start = time.monotonic()
    plan, shapes, threads = PLANS.get(options.mode, PLANS["full"])
    plan, shapes = dataclasses.replace(plan, tries=options.tries or plan.tries), options.shapes or shapes
    options.out.mkdir(parents=True, exist_ok=True)
    # Before arrays and peers fill the memory, which makes processes start slowly.
    compiling = measure_compiler(options, plan)
    providers = make_providers(options, shapes, threads)
    chosen = choose_cases(options, shapes, threads)
    if options.mode == "prepare-peers":
        for number, case in enumerate(chosen):
            print(f"preparing {number + 1} of {len(chosen)}", flush=True)
            providers.variants(case)
        return None
    machine_line = machine.describe(providers.native.functions.bench_clock())
    results = measure_cases(providers, plan, chosen)
    numbers = singles.call_overhead(providers, plan) + singles.philox(providers, plan) + compiling
    write_results(options, results, numbers, machine_line, providers.reasons)
    print(f"wrote {options.out}/results.csv, results.md and pictures after {time.monotonic() - start:.0f} s")
    return None


if __name__ == "__main__":
    sys.exit(main())
