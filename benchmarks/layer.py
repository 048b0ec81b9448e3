#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures whole Transformer layers as residc compiles them beside the installed peers, all in this process and by turns; the
# parts of a layer; errors, scratch memory and compile times. Writes layer.csv and layer.md. `make bench-layer` runs it;
# docs/measurements/layer.md says how to read what it writes.

import ctypes
import dataclasses
import itertools
import pathlib
import sys
import time

from harness import bars, commands, compiled, machine, measure, native, pages, peers, report
from harness.layers import model, tables, ways
from harness.layers.peers import PEERS

PAGE = commands.DOCS / "measurements" / "layer.md"
PLANS = {
    "full": (measure.Plan(sample_nanoseconds=1e7, runs_of_compiler=3), model.Sizes(), 128, "1,6", "1,2", "1,2,6,12,24"),
    "quick": (measure.Plan(tries=1, samples=9, sample_nanoseconds=1e7, runs_of_compiler=1), model.Sizes(), 128, "1", "1", "1,6"),
    "smoke": (measure.Plan(tries=1, samples=1, sample_nanoseconds=1e3, runs_of_compiler=1), model.Sizes(32, 2, 48), 7, "1,2",
              "1,2", "1"),
}


@dataclasses.dataclass(frozen=True)
class Compiled:
    """What so many layers cost where they are compiled."""
    layers: int
    scratch: int
    seconds: float
    object_bytes: int


def parse_arguments():
    parser = commands.make_parser("Measures whole Transformer layers beside peers, and the parts of a layer.")
    parser.add_argument("--layers", help="how many layers are timed, such as 1 or 1,6 (default: 1,6)")
    parser.add_argument("--tokens", type=int, help="(default: 128)")
    parser.add_argument("--threads", help="how many threads, such as 1 or 1,2 (default: 1,2)")
    parser.add_argument("--compile", help="how many layers are compiled alone, such as 1,6; 'none' (default: 1,2,6,12,24)")
    commands.add_modes(parser, PAGE, "one layer, fewer samples, one thread")
    return commands.finish(parser.parse_args())


def numbers(text):
    return [] if text == "none" else [int(word) for word in text.split(",")]


def compile_all(options, sizes, layers, tokens, folder):
    """Form of the weights, attention and number of layers -> libraries with a function `model`."""
    found = {}
    kinds = [*((form, "op") for form, _ in model.FORMS), ("prepared", "linalg")]
    for (form, attention), count in itertools.product(kinds, layers):
        has_parts = count == 1 and (form, attention) == ("prepared", "op")
        program = model.make_program(sizes, count, tokens, form, has_parts, attention)
        found[form, attention, count] = commands.compile_libraries(
            options, compiled.PATHS[:1], lambda _: program.text(), folder / f"{form}-{attention}-{count}", ("--weights-struct",))
    return found


def compile_alone(options, sizes, tokens, count, runs, folder):
    """One number of layers, with packed weights: the processor time of residc and what it made."""
    source, target = folder / f"alone-{count}.mlir", folder / f"alone-{count}.o"
    source.write_text(model.make_program(sizes, count, tokens, "prepared").text())
    command = [options.build / "bin" / "residc", source, "-o", target, "--weights-struct"]
    seconds = compiled.median_seconds(command, runs)
    library = compiled.link(target, options.cc.split())
    library.model_scratch_bytes.restype = ctypes.c_int64
    print(f"compiled {count} layers", flush=True)
    return Compiled(count, library.model_scratch_bytes(), seconds, target.stat().st_size)


def find_errors(found_ways, errors):
    """Notes the error of each way of a case, where PyTorch can say what is exact."""
    exact = next((peer for peer in found_ways.peers if hasattr(peer, "exact")), None)

    def note(found, case):
        if exact is None or case.threads > 1:
            return
        expected = exact.exact(case, found_ways.arrays)
        y = exact.tensor(found_ways.arrays["y"], *expected.shape)
        for variant in found:
            if variant.is_exact or variant.is_close:
                variant.time(1)
                if variant.fetch:
                    variant.fetch()
                errors[case, variant.name] = float((y.double() - expected).abs().max())
    return note


def write_results(options, results, head, found_ways, errors, alone):
    tables.write_csv(results, errors, options.out / "layer.csv")
    one = [case for case in results.cases if case.layers == 1]
    skipped = "\n".join(f"- {what}: {reason}" for what, reason in found_ways.reasons)
    parts = [head, bars.markdown(results, 0, tables.BARS), f"### Whole layers\n\n{tables.whole_table(results)}"]
    parts += [f"### Parts, {tables.heading(case)}\n\n{tables.parts_table(results, case)}" for case in one]
    if errors:
        parts.append(f"### Errors\n\n{tables.errors_table(results, errors)}")
    if alone:
        parts.append(f"### Memory and compile time\n\n{tables.compiler_table(alone)}")
    if skipped:
        parts.append(f"Not measured:\n\n{skipped}")
    text = "\n\n".join(parts)
    (options.out / "layer.md").write_text(f"{text}\n")
    print(text)


def main():
    options = parse_arguments()
    if options.update_docs:
        return pages.put_section(PAGE, options.update_docs, options.out / "layer.md", [options.out / "layer.csv"])
    commands.enter_peers(options.peers)
    start = time.monotonic()
    plan, sizes, tokens, layers, threads, alone = PLANS[options.mode]
    plan, tokens = dataclasses.replace(plan, tries=options.tries or plan.tries), options.tokens or tokens
    layers, threads = numbers(options.layers or layers), numbers(options.threads or threads)
    folder = pathlib.Path(options.out) / "kernels" / "layers"
    folder.mkdir(parents=True, exist_ok=True)
    # Before arrays and peers fill the memory, which makes processes start slowly.
    alone = [compile_alone(options, sizes, tokens, count, plan.runs_of_compiler, folder)
             for count in numbers(options.compile or alone)]
    libraries = compile_all(options, sizes, layers, tokens, folder)
    weights, reason = model.find_weights(sizes)
    if reason:
        print(f"{weights.title}: {reason}", flush=True)
    side = native.Native(options.build / "lib" / "libresid-benchmarks.so")
    arrays = model.LayerArrays(side, sizes, max(layers), tokens, weights)
    found_ways = ways.Ways(side, arrays, libraries, peers.find(side, options, PEERS, "harness.layers"))
    machine_line = machine.describe(side.functions.bench_clock())
    chosen = [model.LayerCase(sizes, count, tokens, thread) for thread in threads for count in layers]
    errors = {}
    results = report.Results(measure.measure_cases(found_ways, plan, chosen, find_errors(found_ways, errors)))
    layer = (f"Layers of {sizes.hidden} columns, {sizes.heads} heads and {sizes.inner} columns in the feed-forward, {tokens} "
             f"tokens, f32, with {weights.title}")
    head = commands.head("bench-layer", machine_line, results, found_ways.peers, layer)
    write_results(options, results, head, found_ways, errors, alone)
    print(f"\nwrote layer.csv and layer.md into {options.out} after {time.monotonic() - start:.0f} s")
    return None


if __name__ == "__main__":
    sys.exit(main())
