#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures the training step of a small GPT (losses, gradients, AdamW) as residc compiles it beside PyTorch, in this process and by turns, and
# the bytes that are saved for the backward. Writes training.csv and training.md. `make bench-training` runs it; docs/measurements/training.md
# says how to read what it writes.

import argparse
import dataclasses
import itertools
import sys
import time

from harness import bars, commands, compiled, machine, measure, native, pages, peers, report
from harness.training import model, saved, tables, ways
from harness.training.peers import PEERS

PAGE = commands.DOCS / "measurements" / "training.md"
# How much is measured, which networks, on how many threads, how many sequences and layers.
PLANS = {
    "full": (measure.Plan(tries=3, samples=9, sample_nanoseconds=1e8), "pre:0.1,pre:0,post:0.1,post:0", "1,2", 16, 4),
    "quick": (measure.Plan(tries=1, samples=7, sample_nanoseconds=1e8), "pre:0.1,pre:0", "1", 16, 4),
    "smoke": (measure.Plan(tries=1, samples=1, sample_nanoseconds=1e3), "pre:0", "1,2", 2, 2),
}
GRADIENTS = ("--weights-struct", "--grad=model", "--grad-mode=value-and-grad")


def parse_networks(text):
    """PLACEMENT:DROPOUT,…"""
    try:
        found = [(placement, float(dropout)) for placement, dropout in (word.split(":") for word in text.split(","))]
    except ValueError:
        found = [("", 0)]
    if any(placement not in ("pre", "post") or not 0 <= dropout < 1 for placement, dropout in found):
        raise argparse.ArgumentTypeError(f"expected pre:DROPOUT or post:DROPOUT,… but got '{text}'")
    return found


def parse_arguments():
    parser = commands.make_parser("Measures the training step of a small GPT beside PyTorch.")
    parser.add_argument("--networks", type=parse_networks, help="placement and dropout, such as pre:0.1,post:0")
    parser.add_argument("--threads", help="how many threads, such as 1 or 1,2 (default: 1,2)")
    parser.add_argument("--rows", type=int, help=f"how many sequences of {model.TOKENS} bytes (default: 16)")
    parser.add_argument("--layers", type=int, choices=range(2, 5), help="how many layers (default: 4)")
    commands.add_modes(parser, PAGE, "pre-norm alone, fewer samples, one thread")
    return commands.finish(parser.parse_args())


def choose_cases(options):
    plan, networks, threads, rows, layers = PLANS[options.mode]
    chosen = [model.Training(placement, dropout, options.rows or rows, options.layers or layers, count)
              for count, (placement, dropout) in itertools.product(map(int, (options.threads or threads).split(",")),
                                                                   options.networks or parse_networks(networks))]
    return dataclasses.replace(plan, tries=options.tries or plan.tries), chosen


def compile_all(options, chosen):
    """(Placement, dropout) -> libraries of the model; and the library of AdamW."""
    folder, found = options.out / "kernels" / "training", {}
    for case in chosen:
        key = case.placement, case.dropout
        if key not in found:
            found[key] = commands.compile_libraries(
                options, compiled.PATHS[:1], lambda _: model.make_program(case.dropout, case.layers),
                folder / case.network.replace(", dropout ", "-"), (*GRADIENTS, f"--placement={case.placement}"))
            print(f"compiled: {case.network}", flush=True)
    adamw = compiled.compile_path(compiled.PATHS[0], (model.EXAMPLE / "adamw.mlir").read_text(), options.build / "bin" / "residc",
                                  options.cc.split(), folder)
    return found, adamw


def write_results(options, results, machine_line, found_ways, saved_bytes):
    tables.write_csv(results, options.out / "training.csv")
    case = results.cases[0]
    network = f"A GPT of {case.layers} layers, 128 columns, {model.HEADS} heads; {case.rows} sequences of {model.TOKENS} bytes, f32"
    parts = [commands.head("bench-training", machine_line, results, found_ways.peers, network),
             bars.markdown(results, 0, tables.BARS), tables.markdown(results)]
    parts += [f"### Saved for the backward: {each.network}\n\n{saved.table(rows)}" for each, rows in saved_bytes]
    if found_ways.reasons:
        parts.append("Not measured:\n\n" + "\n".join(f"- {what}: {reason}" for what, reason in found_ways.reasons))
    text = "\n\n".join(parts)
    (options.out / "training.md").write_text(f"{text}\n")
    print(text)


def main():
    options = parse_arguments()
    if options.update_docs:
        return pages.put_section(PAGE, options.update_docs, options.out / "training.md", [options.out / "training.csv"])
    commands.enter_peers(options.peers)
    start = time.monotonic()
    plan, chosen = choose_cases(options)
    libraries, adamw = compile_all(options, chosen)
    side = native.Native(options.build / "lib" / "libresid-benchmarks.so")
    found_ways = ways.Ways(side, model.Arrays(side, chosen[0].rows), libraries, adamw,
                           peers.find(side, options, PEERS, "harness.training"))
    machine_line = machine.describe(side.functions.bench_clock())
    results = report.Results(measure.measure_cases(found_ways, plan, chosen, found_ways.compare))
    networks = {case.network: case for case in chosen if case.threads == chosen[0].threads}
    saved_bytes = [(case, saved.measure_saved(options, case, found_ways, options.out / "kernels" / "training"))
                   for case in networks.values()]
    write_results(options, results, machine_line, found_ways, saved_bytes)
    print(f"\nwrote training.csv and training.md into {options.out} after {time.monotonic() - start:.0f} s")
    return None


if __name__ == "__main__":
    sys.exit(main())
