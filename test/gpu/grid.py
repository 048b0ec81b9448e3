#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs kernels for GPUs over a grid of norms, types, widths and orders of threads, without a GPU: an interpreter executes
# their PTX. Compares all bits with the CPU, and counts instructions and bytes. `make check-gpu` runs it;
# docs/measurements/gpu-ptx.md has its results.

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRITE_PROGRAM = ROOT / "test/run/Inputs/write_fixed_rows.py"
PAGE = ROOT / "docs/measurements/gpu-ptx.md"
MARKS = "<!-- results -->", "<!-- end of results -->"

NORMS = {"add_layer": "add, layer norm", "add_rms": "add, RMS norm", "layer": "dropout, add, layer norm", "rms": "dropout, add, RMS norm"}
TYPES = ["f32-f32-f32", "bf16-bf16-bf16", "f16-f16-f16", "f64-f64-f64", "f32-bf16-f32", "bf16-bf16-f32"]
WIDTHS = [1, 2, 33, 63, 64, 66, 100, 250, 256, 258, 320, 500, 512, 768, 1000, 1023, 1024, 1030, 1088, 1536, 2048, 2560, 3072]
WIDTHS += [4096, 5120, 8192, 12288, 16384, 32768, 40000]
# Of these, the table has a line for each norm.
COUNTED_TYPES = ["f32-f32-f32", "bf16-bf16-bf16"]
COUNTED_WIDTHS = [256, 768, 1024, 2048, 4096, 8192, 16384, 32768]
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
MOST_ROWS, ELEMENTS = 300, 1 << 15


@dataclasses.dataclass(frozen=True)
class Case:
    norm: str
    types: str
    width: int
    order: str

    @property
    def name(self):
        return f"{self.norm}-{self.types}-{self.width}"

    @property
    def rows(self):
        return max(1, min(MOST_ROWS, ELEMENTS // self.width))


@dataclasses.dataclass
class Outcome:
    case: Case
    mistake: str = ""
    kernel: str = ""
    threads: int = 0
    instructions: float = 0
    load_share: float = 0
    store_share: float = 0


def arguments(case):
    stream, branch, parameter = case.types.split("-")
    tensors = [f"{stream}[{case.rows}x{case.width}]", f"{branch}[{case.rows}x{case.width}]"] + 2 * [f"{parameter}[{case.width}]"]
    return [f"--arg={tensor}=random:{i + 1}" for i, tensor in enumerate(tensors)] + ["--arg=7", "--arg=11"]


def count(outcome, line):
    """How many instructions an element costs, and sectors beside the bytes of the streams."""
    name, _, threads, instructions, _, load_sectors, _, store_sectors = line.split()
    case, elements = outcome.case, outcome.case.rows * outcome.case.width
    stream, branch, _ = (BYTES[element] for element in case.types.split("-"))
    outcome.kernel = "registers" if "__registers_" in name else "looped"
    outcome.threads = int(threads)
    outcome.instructions = int(instructions) / elements
    outcome.load_share = 32 * int(load_sectors) / (elements * (stream + branch))
    outcome.store_share = 32 * int(store_sectors) / (elements * 2 * stream)


def run(case, build, folder):
    outcome = Outcome(case)
    counts = folder / f"{case.name}-{case.order.replace('=', '')}.counts"
    settings = ",".join(word for word in (case.order, f"counts={counts}") if word)
    driver = build / "test/lib/libresid-fake-cuda.so"
    environment = dict(os.environ, RESID_CUDA_DRIVER=str(driver), RESID_FAKE_CUDA=settings)
    command = [build / "bin/resid-run", folder / f"{case.name}.mlir", "--backend=cuda", "--check", *arguments(case)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode or done.stdout.count("the bits of the CPU") != 2:
        outcome.mistake = (done.stdout + done.stderr).strip() or f"exit code {done.returncode}"
        return outcome
    count(outcome, counts.read_text().splitlines()[0])
    return outcome


def write_programs(cases, folder):
    names = sorted({case.name for case in cases})
    subprocess.run([sys.executable, WRITE_PROGRAM, folder, *names], check=True)


def choose_cases(flags):
    orders = ["", "backward", "random=1"]
    widths = flags.widths or WIDTHS
    # The other orders find races, for which one norm with all of its passes is enough.
    cases = [Case(norm, types, width, "") for norm in NORMS for types in TYPES for width in widths]
    cases += [Case("layer", types, width, order) for order in orders[1:] for types in COUNTED_TYPES for width in widths]
    return cases


def describe(outcomes):
    lines = ["| kernel | type | columns | emitter | threads of a block | instructions per element | sectors loaded / bytes of x and f | sectors stored / bytes of results |",
             "|---|---|---|---|---|---|---|---|"]
    for o in outcomes:
        case = o.case
        if case.order or case.types not in COUNTED_TYPES or case.width not in COUNTED_WIDTHS:
            continue
        lines.append(f"| {NORMS[case.norm]} | {case.types.split('-')[0]} | {case.width:,} | {o.kernel} | {o.threads} | {o.instructions:.1f} | "
                     f"{o.load_share:.2f} | {o.store_share:.2f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="Run kernels for GPUs on an interpreter and compare their bits with the CPU's.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many cases run at a time")
    parser.add_argument("--widths", type=lambda text: [int(width) for width in text.split(",")], help="other widths, with commas between them")
    parser.add_argument("--update-docs", action="store_true", help="put the results into docs/measurements/gpu-ptx.md")
    flags = parser.parse_args()
    cases, outcomes, start = choose_cases(flags), [], time.monotonic()
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        folder = pathlib.Path(name)
        write_programs(cases, folder)
        for outcome in pool.map(lambda case: run(case, flags.build, folder), cases):
            outcomes.append(outcome)
            if outcome.mistake:
                print(f"\r{outcome.case.name} {outcome.case.order}: {outcome.mistake}")
            if sys.stderr.isatty() or len(outcomes) % 50 == 0:
                print(f"\r{len(outcomes)} of {len(cases)} cases, {time.monotonic() - start:.0f} s ", end="", file=sys.stderr, flush=True)
    failed = sum(bool(outcome.mistake) for outcome in outcomes)
    kept = sum(outcome.kernel == "registers" for outcome in outcomes)
    summary = (f"{len(cases)} cases, {kept} of them with rows in registers: {len(cases) - failed} have the bits of the CPU, {failed} have not. "
               f"{time.monotonic() - start:.0f} s, {flags.jobs} at a time.")
    table = describe(outcomes)
    print(f"\n{table}\n\n{summary}" if not flags.widths else f"\n{summary}")
    if flags.update_docs and not failed:
        page = PAGE.read_text()
        before, rest = page.split(MARKS[0])
        PAGE.write_text(f"{before}{MARKS[0]}\n{summary}\n\n{table}\n{MARKS[1]}{rest.split(MARKS[1])[1]}")
    return 1 if failed else 0


sys.exit(main())
