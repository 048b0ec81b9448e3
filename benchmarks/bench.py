#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures compiled kernels beside the machine's limit, hand-written code, the scalar path, unfused ops and the
# installed peers, all in this process and by turns. Writes results.csv, results.md and one SVG per kernel.
# `make bench` runs it; docs/benchmarks.md says how to read what it writes.

import argparse
import dataclasses
import shutil
import sys
import time

from harness import (bars, cases, commands, compiled, curve, machine, measure, native, peers, plots, processors, report,
                     singles, summary, variants)

ROOT, TARGET = commands.ROOT, "make bench-docs"
PLANS = {
    "full": (measure.Plan(), cases.SHAPES, cases.READ_SHAPES, (1, 2)),
    "quick": (measure.Plan(tries=1, samples=9, runs_of_compiler=3), cases.QUICK_SHAPES, cases.QUICK_READ_SHAPES, (1,)),
    "smoke": (measure.Plan(tries=1, samples=1, sample_nanoseconds=1e3, runs_of_compiler=1), cases.SMOKE_SHAPES,
              cases.SMOKE_SHAPES[:1], (1, 2)),
}


def parse_shapes(text):
    if text == "none":
        return []
    try:
        shapes = [tuple(int(size) for size in shape.split("x")) for shape in text.split(",")]
    except ValueError:
        shapes = []
    if not shapes or any(len(shape) != 2 or min(shape) < 1 for shape in shapes):
        raise argparse.ArgumentTypeError(f"expected ROWSxWIDTH,… but got '{text}'")
    return shapes


def parse_arguments():
    parser = commands.make_parser("Measures resid's kernels beside limits, hand-written code and peers.")
    parser.add_argument("--only", default="", metavar="PART,…",
                        help="measure only kernels whose name contains one of these")
    parser.add_argument("--shapes", type=parse_shapes,
                        help="other shapes than those of the bars: 4096x768,65536x64; 'none': only those with a reader")
    parser.add_argument("--readers", type=parse_shapes, metavar="SHAPES",
                        help="other shapes at which a reader of the results is timed, too; 'none': no reader")
    parser.add_argument("--row-orders", action="store_true",
                        help="measure also hand-written add + norms with rows pipelined, in pairs, or kept in f32, and column "
                             "sums in other orders, with their errors")
    parser.add_argument("--processor", metavar="NAME", help="with --update-docs: make a column of "
                                                           "docs/measurements/processors.md of them, and no more")
    mode = parser.add_mutually_exclusive_group()
    for name, text in (("quick", "fewer shapes and samples, one thread"), ("smoke", "see that everything runs"),
                       ("prepare-peers", "let peers compile what they will run, and stop"),
                       ("update-docs", "measure nothing; put the last results into docs/benchmarks.md"),
                       ("processors", "measure nothing; print docs/measurements/processors.md from docs/measurements/processors.json")):
        mode.add_argument(f"--{name}", dest="mode", action="store_const", const=name, default="full", help=text)
    return commands.finish(parser.parse_args())


def make_providers(options, shapes):
    side = native.Native(options.build / "lib" / "libresid-benchmarks.so")
    arrays = native.Arrays(side, [*shapes, singles.PHILOX_SHAPE])
    folder = options.out / "kernels"
    resid_opt = options.build / "bin" / "resid-opt"
    widths = {kernel: [width for _, width in shapes] for kernel in compiled.names_of(choose_kernels(options), singles.KERNELS)}
    for kernel in singles.KERNELS:
        widths[kernel] = [*widths[kernel], singles.CALL_SHAPE[1], singles.PHILOX_SHAPE[1]]
    libraries = commands.compile_libraries(options, compiled.PATHS,
                                           lambda path: compiled.program(path, widths, resid_opt), folder)
    return variants.Providers(side, arrays, libraries, peers.find(side, options), options.row_orders)


def choose_kernels(options):
    return [kernel for kernel in cases.ALL_KERNELS if any(part in kernel.name for part in options.only.split(","))]


def choose_cases(options, shapes, readers, threads):
    return [cases.Case(kernel, element, rows, width, count, is_read) for is_read in (False, True) for count in threads
            for element in cases.SIZES for rows, width in (readers if is_read else shapes)
            for kernel in choose_kernels(options) if kernel.has_reader or not is_read]


def remove_pictures(folder):
    """Those of an earlier run, which may have had other cases."""
    for path in folder.glob("*.svg"):
        path.unlink()


def write_results(options, results, numbers, points, machine_line, providers):
    report.write_csv(results, options.out / "results.csv")
    beyond = curve.beyond_bytes(points, machine.last_level_bytes())
    remove_pictures(options.out)
    pictures = plots.write_plots(results, points, beyond, options.out)
    target = "bench-quick" if options.mode == "quick" else "bench"
    command = commands.command_line(target, [word for word in sys.argv[1:] if word != "--quick"])
    skipped = "\n".join(f"- {what}: {reason}" for what, reason in providers.reasons)
    titles = ", ".join(peer.title for peer in providers.peers) or "none"
    amount = f"tries: {results.tries}, samples in each: {results.samples_per_try}"
    text = "\n\n".join([
        f"Measured on: {machine_line}. Command: `{command}`; {amount}. Beyond the caches, by the limit: from "
        f"{beyond / 1e6:.1f} MB of all arrays on. Peers: {titles}.",
        "### Bars", bars.markdown(results, beyond), "### Calls, random numbers, compiling", singles.markdown(numbers),
        "### Pictures", "\n".join(f"![{path.stem}](benchmarks/{path.name})" for path in pictures) or plots.MISSING,
        "### The limit over sizes, GB/s", curve.markdown(points),
        report.markdown(results) + (f"\nNot measured:\n\n{skipped}" if skipped else "")])
    (options.out / "results.md").write_text(text.rstrip() + "\n")


def update_docs(options):
    """Puts the last results into docs/benchmarks.md, its pictures beside it, and a few lines into README.md."""
    docs = ROOT / "docs"
    commands.put_between_marks(docs / "benchmarks.md", TARGET, (options.out / "results.md").read_text())
    few = summary.markdown(options.out / "results.csv")
    if few:
        commands.put_between_marks(ROOT / "README.md", TARGET, few + "\n")
        (ROOT / "docs/pictures/speed.svg").write_text(summary.drawing(options.out / "results.csv"))
    folder = docs / "benchmarks"
    folder.mkdir(exist_ok=True)
    remove_pictures(folder)
    for path in sorted(options.out.glob("*.svg")) + [options.out / "results.csv"]:
        shutil.copy(path, folder)


def add_column(options):
    """The last results as a column of docs/measurements/processors.md."""
    docs = ROOT / "docs"
    processors.take(docs, options.processor, options.out)
    (docs / "measurements" / "processors.md").write_text(processors.markdown(docs))


def measure_compiler(options, plan):
    if options.mode == "prepare-peers":
        return []
    folder = options.out / "kernels"
    folder.mkdir(exist_ok=True)
    return singles.compile_times(options.build / "bin" / "residc", folder, plan)


def main():
    options = parse_arguments()
    if options.mode == "processors":
        return print(processors.markdown(ROOT / "docs"), end="")
    if options.mode == "update-docs":
        return add_column(options) if options.processor else update_docs(options)
    commands.enter_peers(options.peers)
    start = time.monotonic()
    plan, shapes, readers, threads = PLANS.get(options.mode, PLANS["full"])
    plan = dataclasses.replace(plan, tries=options.tries or plan.tries)
    shapes = shapes if options.shapes is None else options.shapes
    readers = readers if options.readers is None else options.readers
    options.out.mkdir(parents=True, exist_ok=True)
    # Before arrays and peers fill the memory, which makes processes start slowly.
    compiling = measure_compiler(options, plan)
    providers = make_providers(options, [*shapes, *readers])
    chosen = choose_cases(options, shapes, readers, threads)
    if options.mode == "prepare-peers":
        for number, case in enumerate(chosen):
            print(f"preparing {number + 1} of {len(chosen)}", flush=True)
            providers.variants(case)
        return None
    machine_line = machine.describe(providers.native.functions.bench_clock())
    points = curve.measure(providers.native, providers.arrays, plan)
    results = report.Results(measure.measure_cases(
        providers, plan, chosen, lambda found, case: variants.print_sum_errors(found, case, providers)))
    numbers = singles.call_overhead(providers, plan) + singles.philox(providers, plan) + compiling
    write_results(options, results, numbers, points, machine_line, providers)
    print(f"wrote {options.out}/results.csv, results.md and pictures after {time.monotonic() - start:.0f} s")
    return None


if __name__ == "__main__":
    sys.exit(main())
