#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs kernels for GPUs over a grid of norms, types, widths, schedules and orders of threads, without a GPU: an interpreter executes
# their PTX. Compares all bits with the CPU, and counts instructions and bytes. `make check-gpu` runs it;
# docs/measurements/gpu-ptx.md has its results.

import concurrent.futures
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import beside_cpu
import cases as grid
import ptxas
import tests

PAGE = ptxas.ROOT / "docs/measurements/gpu-ptx.md"
# Of these, the table has a line for each norm.
COUNTED_WIDTHS = [256, 768, 1024, 2048, 4096, 8192, 16384, 32768]
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}


@dataclasses.dataclass
class Outcome:
    case: grid.Case
    mistake: str = ""
    kernel: str = ""
    threads: int = 0
    instructions: float = 0
    load_share: float = 0
    store_share: float = 0


def count(outcome, line):
    """How many instructions an element costs, and sectors beside the bytes of the streams."""
    name, _, threads, instructions, _, load_sectors, _, store_sectors = line.split()
    case, elements = outcome.case, outcome.case.rows * outcome.case.width
    outcome.kernel = "registers" if "__registers_" in name else "looped"
    outcome.threads = int(threads)
    if not case.types:
        return
    stream, branch, _ = (BYTES[element] for element in case.types.split("-"))
    outcome.instructions = int(instructions) / elements
    outcome.load_share = 32 * int(load_sectors) / (elements * (stream + branch))
    outcome.store_share = 32 * int(store_sectors) / (elements * 2 * stream)


def find_scattered(lines, most):
    """What is wrong with kernels that touch more than so many times their bytes."""
    for line in lines:
        name, _, _, _, *numbers = line.split()
        for what, size, sectors in zip(("loads", "stores"), map(int, numbers[::2]), map(int, numbers[1::2])):
            if 32 * sectors > most * size:
                return f"{name} {what} {size} bytes in {sectors} sectors"
    return "" if lines else "expected kernels, but got none"


def run(case, number, build, folder):
    outcome = Outcome(case)
    counts = folder / f"{number}.counts"
    settings = ",".join(word for word in (case.order, f"counts={counts}") if word)
    driver = build / "test/lib/libresid-fake-cuda.so"
    environment = dict(os.environ, RESID_CUDA_DRIVER=str(driver), RESID_FAKE_CUDA=settings)
    arguments = [argument.replace("FOLDER", str(folder)) for argument in case.arguments]
    entry = [f"--entry={case.entry}"] if case.entry else []
    program, resid_run = folder / f"{case.name}.mlir", build / "bin/resid-run"
    try:
        if case.before:
            beside_cpu.run([resid_run, program, *case.before], dict(environment, RESID_FAKE_CUDA=case.order))
        results = beside_cpu.count_equal(program, arguments, *entry, *case.flags, resid_run=resid_run, environment=environment)
    except RuntimeError as error:
        outcome.mistake = str(error)
        return outcome
    if results != case.results:
        outcome.mistake = f"expected {case.results} results with the bits of the CPU, but got {results}"
        return outcome
    lines = counts.read_text().splitlines() if counts.exists() else []
    if case.kernel and not any(f"__{case.kernel}" in line for line in lines[:1]):
        outcome.mistake = f"expected a kernel {case.kernel}, but got {lines[:1]}"
    elif case.most_sectors:
        outcome.mistake = find_scattered(lines, case.most_sectors)
    elif lines:
        count(outcome, lines[0])
    return outcome


def describe(outcomes):
    lines = ["| kernel | type | columns | emitter | threads of a block | instructions per element | sectors loaded / bytes of x and f | sectors stored / bytes of results |",
             "|---|---|---|---|---|---|---|---|"]
    for o in outcomes:
        case = o.case
        if case.kind != "forward" or case.types not in grid.COUNTED_TYPES or case.width not in COUNTED_WIDTHS:
            continue
        lines.append(f"| {grid.NORMS[case.norm]} | {case.types.split('-')[0]} | {case.width:,} | {o.kernel} | {o.threads} | {o.instructions:.1f} | "
                     f"{o.load_share:.2f} | {o.store_share:.2f} |")
    return "\n".join(lines)


def summarize(outcomes):
    """How many cases there are of each kind, and how many of them keep rows in registers."""
    lines = ["| kind | cases | rows in registers | other bits |", "|---|---|---|---|"]
    for kind in dict.fromkeys(outcome.case.kind for outcome in outcomes):
        of_kind = [outcome for outcome in outcomes if outcome.case.kind == kind]
        lines.append(f"| {kind} | {len(of_kind)} | {sum(o.kernel == 'registers' for o in of_kind)} | {sum(bool(o.mistake) for o in of_kind)} |")
    return "\n".join(lines)


def main():
    parser = ptxas.make_parser("Run kernels for GPUs on an interpreter and compare their bits with the CPU's.", "cases run")
    parser.add_argument("--widths", type=ptxas.split(int), help="other widths, with commas between them")
    parser.add_argument("--rows", type=int, default=grid.MOST_ROWS, help="how many rows a case has at most, where its kind leaves that open")
    parser.add_argument("--kinds", type=ptxas.split(str), help="only these kinds of cases, or those of tests, with commas between them")
    parser.add_argument("--update-docs", action="store_true", help="put the results into docs/measurements/gpu-ptx.md")
    flags = parser.parse_args()
    grid.MOST_ROWS = flags.rows
    outcomes, start = [], time.monotonic()
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        folder = pathlib.Path(name)
        cases = grid.choose_cases(flags.widths, flags.kinds) + tests.choose_cases(flags.kinds or [], folder, flags.build / "bin/residc")
        grid.write_programs(cases, folder)
        for outcome in pool.map(lambda numbered: run(numbered[1], numbered[0], flags.build, folder), enumerate(cases)):
            outcomes.append(outcome)
            if outcome.mistake:
                print(f"\r{outcome.case.describe()}: {outcome.mistake}")
            if sys.stderr.isatty() or len(outcomes) % 50 == 0:
                print(f"\r{len(outcomes)} of {len(cases)} cases, {time.monotonic() - start:.0f} s ", end="", file=sys.stderr, flush=True)
    failed = sum(bool(outcome.mistake) for outcome in outcomes)
    kept = sum(outcome.kernel == "registers" for outcome in outcomes)
    summary = (f"{len(cases)} cases, {kept} of them with rows in registers: {len(cases) - failed} are right, {failed} are not. "
               f"{time.monotonic() - start:.0f} s, {flags.jobs} at a time.")
    table, kinds = describe(outcomes), summarize(outcomes)
    print(f"\n{table}\n\n{kinds}\n\n{summary}" if not flags.widths else f"\n{kinds}\n\n{summary}")
    if flags.update_docs and not failed:
        ptxas.update_page(PAGE, f"{summary}\n\n{kinds}\n\n{table}")
    return 1 if failed else 0


sys.exit(main())
