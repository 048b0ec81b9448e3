#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures products of matrices as residc compiles them beside the processor's peak, hand-written code and the installed peers,
# all in this process and by turns. Writes products.csv and products.md. `make bench-products` runs it;
# docs/measurements/products.md says how to read what it writes.

import argparse
import dataclasses
import itertools
import sys
import time

from harness import bars, commands, compiled, machine, measure, native, pages, peers, report
from harness.products import cases, tables, ways
from harness.products.peers import PEERS

PAGE = commands.DOCS / "measurements" / "products.md"
PLANS = {
    "full": (measure.Plan(), cases.SHAPES, cases.DECODING, "1,2"),
    "quick": (measure.Plan(tries=1, samples=9), cases.QUICK_SHAPES, cases.DECODING[:1], "1"),
    "smoke": (measure.Plan(tries=1, samples=1, sample_nanoseconds=1e3), cases.SMOKE_SHAPES, cases.SMOKE_DECODING, "1,2"),
}
SMOKE_COPIES = 3


def parse_shapes(text):
    try:
        shapes = [tuple(int(size) for size in shape.split("x")) for shape in text.split(",")] if text != "none" else []
    except ValueError:
        shapes = [()]
    if any(len(shape) != 3 or min(shape) < 1 for shape in shapes):
        raise argparse.ArgumentTypeError(f"expected ROWSxTERMSxCOLUMNS,… but got '{text}'")
    return shapes


def parse_arguments():
    parser = commands.make_parser("Measures products of matrices beside limits, hand-written code and peers.")
    parser.add_argument("--shapes", type=parse_shapes, help="other shapes, such as 128x384x384,64x64x64; 'none': decoding alone")
    parser.add_argument("--decoding", type=parse_shapes, metavar="SHAPES",
                        help="other shapes whose weights come from memory; 'none': none")
    parser.add_argument("--types", default="f32,bf16", help="(default: f32,bf16)")
    parser.add_argument("--threads", help="how many threads, such as 1 or 1,2 (default: 1,2)")
    commands.add_modes(parser, PAGE, "fewer shapes and samples, one thread")
    return commands.finish(parser.parse_args())


def choose_cases(options):
    """The cases of the mode, or those that were asked for."""
    plan, shapes, decoding, threads = PLANS[options.mode]
    shapes = shapes if options.shapes is None else options.shapes
    decoding = decoding if options.decoding is None else options.decoding
    last_level, chosen = machine.last_level_bytes(), []
    for element, count in itertools.product(options.types.split(","), map(int, (options.threads or threads).split(","))):
        chosen += [cases.Product(element, *shape, count) for shape in shapes]
        for shape in decoding:
            copies = SMOKE_COPIES if options.mode == "smoke" else cases.copies_beyond(shape, element, last_level)
            chosen.append(cases.Product(element, *shape, count, copies))
    return dataclasses.replace(plan, tries=options.tries or plan.tries), chosen


def make_ways(options, chosen):
    side = native.Native(options.build / "lib" / "libresid-benchmarks.so")
    libraries = commands.compile_libraries(options, compiled.PATHS[:1], lambda _: cases.program(chosen),
                                           options.out / "kernels" / "products")
    found = peers.find(side, options, PEERS, "harness.products")
    return ways.Ways(side, cases.ProductArrays(side, chosen), libraries, found)


def write_results(options, results, machine_line, found_ways):
    tables.write_csv(results, options.out / "products.csv")
    head = commands.head("bench-products", machine_line, results, found_ways.peers)
    skipped = "\n".join(f"- {what}: {reason}" for what, reason in found_ways.reasons)
    parts = [head, bars.markdown(results, 0, tables.BARS), tables.order_sentence(results),
             tables.markdown(results, tables.summary_table)]
    if skipped:
        parts.append(f"Not measured:\n\n{skipped}")
    # What goes to the docs, then everything.
    short = "\n\n".join(part for part in parts if part)
    (options.out / "products.md").write_text(f"{short}\n")
    (options.out / "products-all.md").write_text(f"{tables.markdown(results, tables.all_ways_table)}\n")
    print(short)


def main():
    options = parse_arguments()
    if options.update_docs:
        return pages.put_section(PAGE, options.update_docs, options.out / "products.md", [options.out / "products.csv"])
    commands.enter_peers(options.peers)
    start = time.monotonic()
    plan, chosen = choose_cases(options)
    found_ways = make_ways(options, chosen)
    machine_line = machine.describe(found_ways.native.functions.bench_clock())
    results = report.Results(measure.measure_cases(found_ways, plan, chosen))
    write_results(options, results, machine_line, found_ways)
    print(f"\nwrote products.csv, products.md and products-all.md into {options.out} after {time.monotonic() - start:.0f} s")
    return None


if __name__ == "__main__":
    sys.exit(main())
