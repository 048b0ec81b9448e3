#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures whole Transformer layers as residc compiles them beside the installed peers, all in this process and by turns; the
# parts of a layer; errors, scratch memory and compile times; and the generation of tokens. Writes layer.csv and layer.md. `make bench-layer` runs it;
# docs/measurements/layer.md says how to read what it writes.

import ctypes
import dataclasses
import itertools
import pathlib
import sys
import time

from harness import bars, commands, compiled, generation, machine, measure, native, pages, peers, report
from harness.layers import model, tables, ways
from harness.layers.peers import PEERS

PAGE = commands.DOCS / "measurements" / "layer.md"
SMALL = model.Network("small", model.Sizes(32, 2, 48), 7, (1, 2))
# How much is measured, which networks, on how many threads, how many layers are compiled alone, and which decoder generates a
# token after how many others.
PLANS = {
    "full": (measure.Plan(tries=3, sample_nanoseconds=1e7, runs_of_compiler=3), tuple(model.NETWORKS.values()), "1,2", "1,2,6,12,24",
             generation.Decoder(), "127,510"),
    "quick": (measure.Plan(tries=1, samples=9, sample_nanoseconds=1e7, runs_of_compiler=1),
              (dataclasses.replace(model.NETWORKS["MiniLM"], layers=(1,)),), "1", "1,6", generation.Decoder(), "127"),
    "smoke": (measure.Plan(tries=1, samples=1, sample_nanoseconds=1e3, runs_of_compiler=1), (SMALL,), "1,2", "1",
              generation.Decoder(2, 32, 2, 48, 16, 40), "5,15"),
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
    parser.add_argument("--networks", help=f"which ones, such as {','.join(model.NETWORKS)} (default: all); 'none'")
    parser.add_argument("--layers", help="how many layers are timed, such as 1 or 1,6 (default: 1,6 of MiniLM, else 1)")
    parser.add_argument("--tokens", type=int, help="(default: 128 of MiniLM, else 512)")
    parser.add_argument("--threads", help="how many threads, such as 1 or 1,2 (default: 1,2)")
    parser.add_argument("--compile", help="how many layers are compiled alone, such as 1,6; 'none' (default: 1,2,6,12,24)")
    parser.add_argument("--past", help="after how many tokens a further one is generated, such as 127,510; 'none' (default: 127,510)")
    commands.add_modes(parser, PAGE, "one layer, fewer samples, one thread")
    return commands.finish(parser.parse_args())


def numbers(text):
    return [] if text == "none" else [int(word) for word in text.split(",")]


def choose_networks(options, networks):
    """What the flags leave of them, or make of them."""
    if options.networks:
        names = [] if options.networks == "none" else options.networks.split(",")
        unknown = [name for name in names if name not in model.NETWORKS]
        if unknown:
            raise SystemExit(f"bench: expected networks among {', '.join(model.NETWORKS)}, but got '{unknown[0]}'")
        networks = [model.NETWORKS[name] for name in names]
    return [dataclasses.replace(network, tokens=options.tokens or network.tokens,
                                layers=tuple(numbers(options.layers)) if options.layers else network.layers)
            for network in networks]


def compile_all(options, network, folder):
    """Form of the weights, attention and number of layers -> libraries with a function `model`."""
    found, sizes, tokens, layers = {}, network.sizes, network.tokens, network.layers
    kinds = [*((form, "op") for form, _ in model.FORMS), ("prepared", "linalg")]
    for (form, attention), count in itertools.product(kinds, layers):
        has_parts = count == 1 and (form, attention) == ("prepared", "op")
        program = model.make_program(sizes, count, tokens, form, has_parts, attention)
        found[form, attention, count] = commands.compile_libraries(
            options, compiled.PATHS[:1], lambda _: program.text(), folder / f"{network.name}-{form}-{attention}-{count}",
            ("--weights-struct",))
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


def measure_network(options, side, network, plan, threads, folder, errors, found_ways):
    """The records of one network; notes its errors, and its ways."""
    libraries = compile_all(options, network, folder)
    weights, reason = model.find_weights(network.sizes)
    if reason:
        print(f"{network.name}: {weights.title}: {reason}", flush=True)
    arrays = model.LayerArrays(side, network.sizes, max(network.layers), network.tokens, weights)
    mine = ways.Ways(side, arrays, libraries, peers.find(side, options, PEERS, "harness.layers"))
    found_ways.append(mine)
    cases = [model.LayerCase(network, count, thread) for thread in threads for count in network.layers]
    records = measure.measure_cases(mine, plan, cases, find_errors(mine, errors))
    return records, f"{network.description}, with {weights.title}"


def write_results(options, results, head, found_ways, errors, alone, steps):
    tables.write_csv(results, errors, options.out / "layer.csv")
    one = [case for case in results.cases if case.layers == 1]
    reasons = dict.fromkeys(reason for each in found_ways for reason in each.reasons)
    skipped = "\n".join(f"- {what}: {reason}" for what, reason in reasons)
    parts = [head, bars.markdown(results, 0, tables.BARS)] if results.cases else [head]
    parts += [f"### Whole layers of {network.name}\n\n{tables.whole_table(results, network)}"
              for network in dict.fromkeys(case.network for case in results.cases)]
    parts += [f"### Parts of {tables.heading(case)}\n\n{tables.parts_table(results, case)}" for case in one]
    if errors:
        parts.append(f"### Errors\n\n{tables.errors_table(results, errors)}")
    if alone:
        parts.append(f"### Memory and compile time\n\n{tables.compiler_table(alone)}")
    if steps.cases:
        parts.append(generation.write(options, steps))
    if skipped:
        parts.append(f"Not measured:\n\n{skipped}")
    text = "\n\n".join(parts)
    (options.out / "layer.md").write_text(f"{text}\n")
    print(text)


def main():
    options = parse_arguments()
    files = [options.out / name for name in ("layer.csv", "generation.csv")]
    if options.update_docs:
        return pages.put_section(PAGE, options.update_docs, options.out / "layer.md", [file for file in files if file.exists()])
    commands.enter_peers(options.peers)
    start = time.monotonic()
    plan, networks, threads, alone, decoder, past = PLANS[options.mode]
    plan, networks = dataclasses.replace(plan, tries=options.tries or plan.tries), choose_networks(options, networks)
    threads, folder = numbers(options.threads or threads), pathlib.Path(options.out) / "kernels" / "layers"
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        file.unlink(missing_ok=True)  # of an earlier run, which may have measured more
    # Before arrays and peers fill the memory, which makes processes start slowly.
    alone = [compile_alone(options, networks[0].sizes, networks[0].tokens, count, plan.runs_of_compiler, folder)
             for count in (numbers(options.compile or alone) if networks else [])]
    side = native.Native(options.build / "lib" / "libresid-benchmarks.so")
    errors, found_ways, records, lines = {}, [], {}, []
    for network in networks:
        found, line = measure_network(options, side, network, plan, threads, folder, errors, found_ways)
        records.update(found)
        lines.append(line)
    steps, step_ways = generation.measure_steps(options, side, decoder, numbers(options.past or past), threads, plan, folder)
    if steps.cases:
        lines.append(decoder.description)
    found_ways += step_ways
    results = report.Results(records)
    head = commands.head("bench-layer", machine.describe(side.functions.bench_clock()), results if networks else steps,
                         found_ways[0].peers if found_ways else (), *lines)
    write_results(options, results, head, found_ways, errors, alone, steps)
    print(f"\nwrote layer.csv and layer.md into {options.out} after {time.monotonic() - start:.0f} s")
    return None


if __name__ == "__main__":
    sys.exit(main())
