#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Assembles kernels for GPUs with NVIDIA's ptxas, and holds registers and spills against bounds. Counts instructions of
# the chip where nvdisasm is found. `make check-ptxas` runs it; docs/measurements/gpu-sass.md has its results.

import concurrent.futures
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

import ptxas as tools
from cases import NORMS
import yardstick

ROOT = tools.ROOT
WRITE_PROGRAM = ROOT / "test/run/Inputs/write_fixed_rows.py"
PAGE = ROOT / "docs/measurements/gpu-sass.md"
CHIPS = tools.CHIPS
WIDTHS = [256, 512, 768, 1024, 2048, 4096, 8192, 16384, 32768]
# The most registers of a thread with rows in registers. A processor of a chip has enough for 512 such threads, which have up to 128 KB of
# rows together.
MOST = 128
ELEMENTS = ["f32", "bf16"]
# What a processor of a chip with sm_90 has; each of its parts has registers for its own warps.
PARTS, PART_REGISTERS, WARPS, BLOCKS = 4, 16384, 64, 32


@dataclasses.dataclass
class Outcome:
    norm: str
    element: str
    width: int
    chip: str
    mistakes: list = dataclasses.field(default_factory=list)
    registers: int = 0
    rows: int = 0  # that a processor of the chip has room for
    instructions: float = 0  # of the chip, per element; 0: not counted


def count_rows(registers, row_threads, block_rows):
    """Rows that are at a processor at a time: registers are given to whole warps, by eights for each thread."""
    of_warp = -(-registers // 8) * 8 * 32
    warps = min(PARTS * (PART_REGISTERS // of_warp), WARPS)
    return min(warps // (row_threads * block_rows // 32), BLOCKS) * block_rows


def count_as_run(text, outcome, ptxas, nvdisasm, row_threads, cubin):
    """Instructions that a thread has on its usual way, on the average of a row's warps."""

    def count(text):
        path = cubin.with_suffix(".usual.ptx")
        path.write_text(text)
        tools.assemble(ptxas, path, outcome.chip, cubin)
        return tools.count_instructions(nvdisasm, cubin)

    of_all_warps = tools.skip_lone_warps(text)
    common, whole = count(of_all_warps), count(text)
    return common + (whole - common) * 32 / max(row_threads, 32)


def run(outcome, residc, ptxas, nvdisasm, folder):
    name = f"{outcome.norm}-{outcome.element}-{outcome.element}-{outcome.element}-{outcome.width}"
    ptx, cubin = folder / f"{name}-{outcome.chip}.ptx", folder / f"{name}-{outcome.chip}.cubin"
    try:
        kernels, report = tools.compile_and_assemble(residc, folder / f"{name}.mlir", outcome.chip, ptxas, ptx, "--report")
    except RuntimeError as error:
        outcome.mistakes.append(str(error))
        return outcome
    found = re.search(r"(\d+) threads per row, (\d+) rows? per block", report)
    row_threads, block_rows = int(found[1]), int(found[2])
    kept = next(kernel for kernel in kernels if "__registers_1" in kernel.name)
    outcome.registers, outcome.rows = kept.registers, count_rows(kept.registers, row_threads, block_rows)
    if kept.has_memory():
        outcome.mistakes.append(kept.describe())
    if kept.registers > MOST:
        outcome.mistakes.append(f"{kept.name} has {kept.registers} registers, expected at most {MOST}")
    if nvdisasm:
        usual = tools.drop_rare_branches(tools.take_kernel(ptx.read_text(), kept.name))
        outcome.instructions = count_as_run(usual, outcome, ptxas, nvdisasm, row_threads, cubin) / (outcome.width / row_threads)
    return outcome


def describe(outcomes, yardsticks):
    def get(norm, element, width, chip):
        return next(o for o in outcomes if (o.norm, o.element, o.width, o.chip) == (norm, element, width, chip))

    lines = ["| kernel | type | columns | registers on sm_80, sm_90, sm_100 | rows at a time | instructions per element | hand-written | ratio |", "|---|---|---|---|---|---|---|---|"]
    for norm, element, width in dict.fromkeys((o.norm, o.element, o.width) for o in outcomes):
        each = [get(norm, element, width, chip) for chip in CHIPS]
        own, by_hand = each[1].instructions, yardsticks.get((norm, element, width))
        beside = f"{by_hand:.1f} | {own / by_hand:.2f}" if by_hand and own else "|"
        counted = f"{own:.1f}" if own else ""
        lines.append(f"| {NORMS[norm]} | {element} | {width:,} | {', '.join(str(o.registers) for o in each)} | {each[1].rows} | {counted} | {beside} |")
    return "\n".join(lines)


def main():
    parser = tools.make_parser("Assemble kernels for GPUs, and hold registers and spills against bounds.", "kernels are assembled")
    parser.add_argument("--widths", type=tools.split(int), default=WIDTHS, help="other widths, with commas between them")
    parser.add_argument("--no-counts", action="store_true", help="no instructions, and no hand-written kernels")
    parser.add_argument("--update-docs", action="store_true", help="put the results into docs/measurements/gpu-sass.md")
    flags = parser.parse_args()
    ptxas, nvdisasm, nvcc = (tools.find_tool(name) for name in ("ptxas", "nvdisasm", "nvcc"))
    if not ptxas:
        print("skipped: no ptxas was found; RESID_PTXAS names one")
        return 0
    if flags.update_docs and not (nvdisasm and nvcc):
        parser.error("the page has counts of instructions: RESID_NVDISASM and RESID_NVCC name what was not found")
    if flags.no_counts:
        nvdisasm = nvcc = None
    elif not nvdisasm:
        print("no instructions are counted: no nvdisasm was found; RESID_NVDISASM names one", file=sys.stderr)
    elif not nvcc:
        print("no hand-written kernels: no nvcc was found; RESID_NVCC names one", file=sys.stderr)
    outcomes = [Outcome(norm, element, width, chip) for norm in NORMS for element in ELEMENTS for width in flags.widths for chip in CHIPS]
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        folder = pathlib.Path(name)
        names = sorted({f"{o.norm}-{o.element}-{o.element}-{o.element}-{o.width}" for o in outcomes})
        subprocess.run([sys.executable, WRITE_PROGRAM, folder, *names], check=True)
        jobs = pool.map(lambda o: run(o, flags.build / "bin/residc", ptxas, nvdisasm if o.chip == "sm_90" else None, folder), outcomes)
        for done, outcome in enumerate(jobs, 1):
            for mistake in outcome.mistakes:
                print(f"{outcome.norm} {outcome.element} {outcome.width} {outcome.chip}: {mistake}")
            if sys.stderr.isatty():
                print(f"\r{done} of {len(outcomes)} ", end="", file=sys.stderr, flush=True)
        yardsticks = yardstick.count(nvcc, nvdisasm, folder, flags.widths) if nvcc and nvdisasm else {}
    failed = sum(bool(outcome.mistakes) for outcome in outcomes)
    version = re.search(r"release ([\d.]+)", subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout)
    summary = f"{len(outcomes)} kernels assembled by ptxas {version[1] if version else 'of an unknown version'}: {failed} spill, or have more registers than their bound."
    table = describe(outcomes, yardsticks)
    print(f"\n{table}\n\n{summary}" if not flags.no_counts else summary)
    if flags.update_docs and not failed:
        tools.update_page(PAGE, f"{summary}\n\n{table}")
    return 1 if failed else 0


sys.exit(main())
