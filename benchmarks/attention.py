#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures attention as residc compiles it beside the installed peers, all in this process and by turns. Writes attention.csv and
# attention.md. `make bench-attention` runs it; docs/measurements/attention.md says how to read what it writes.

import argparse
import dataclasses
import itertools
import sys
import time

from harness import bars, commands, compiled, machine, measure, native, pages, peers, report
from harness.attention import cases, tables, ways

PAGE = commands.DOCS / "measurements" / "attention.md"
PLANS = {
    "full": (measure.Plan(sample_nanoseconds=1e7), cases.SHAPES, "1,2"),
    "quick": (measure.Plan(tries=1, samples=9, sample_nanoseconds=1e7), cases.QUICK_SHAPES, "1"),
    "smoke": (measure.Plan(tries=1, samples=1, sample_nanoseconds=1e3), cases.SMOKE_SHAPES, "1,2"),
}


def parse_shapes(text):
    words = text.split(",")
    if any(cases.parse(word) is None for word in words):
        raise argparse.ArgumentTypeError(f"expected HEADS[/KEYHEADS]xQUERIESxSIZE[:causal|:KEYS],… but got '{text}'")
    return words


def parse_arguments():
    parser = commands.make_parser("Measures attention beside peers.")
    parser.add_argument("--shapes", type=parse_shapes, help="other shapes, such as 12x128x32,32x2048x128:causal,32/8x1x128:4096")
    parser.add_argument("--types", default="f32,bf16", help="(default: f32,bf16)")
    parser.add_argument("--threads", help="how many threads, such as 1 or 1,2 (default: 1,2)")
    commands.add_modes(parser, PAGE, "fewer shapes and samples, one thread")
    return commands.finish(parser.parse_args())


def main():
    options = parse_arguments()
    if options.update_docs:
        return pages.put_section(PAGE, options.update_docs, options.out / "attention.md", [options.out / "attention.csv"])
    commands.enter_peers(options.peers)
    start = time.monotonic()
    plan, shapes, threads = PLANS[options.mode]
    plan = dataclasses.replace(plan, tries=options.tries or plan.tries)
    chosen = [cases.Attention(element, *cases.parse(shape), count) for element, count, shape in itertools.product(
        options.types.split(","), map(int, (options.threads or threads).split(",")), options.shapes or shapes)]
    side = native.Native(options.build / "lib" / "libresid-benchmarks.so")
    libraries = commands.compile_libraries(options, compiled.PATHS[:1], lambda _: cases.program(chosen),
                                           options.out / "kernels" / "attention")
    found = peers.find(side, options, ways.PEERS, "harness.attention")
    found_ways = ways.Ways(side, cases.AttentionArrays(side, chosen), libraries, found)
    machine_line = machine.describe(side.functions.bench_clock())
    results = report.Results(measure.measure_cases(found_ways, plan, chosen))
    tables.write_csv(results, options.out / "attention.csv")
    head = commands.head("bench-attention", machine_line, results, found)
    text = "\n\n".join((head, bars.markdown(results, 0, tables.BARS), tables.markdown(results)))
    (options.out / "attention.md").write_text(f"{text}\n")
    print(text)
    print(f"\nwrote attention.csv and attention.md into {options.out} after {time.monotonic() - start:.0f} s")
    return None


if __name__ == "__main__":
    sys.exit(main())
