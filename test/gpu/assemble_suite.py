#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Assembles the PTX of all programs that the tests compile for GPUs (collection.py) with NVIDIA's ptxas. Kernels must
# spill no registers, and have no stack. `make check-ptxas` runs it.

import concurrent.futures
import pathlib
import re
import sys
import tempfile

import collection
import ptxas as tools


def take(program, chip, residc, assembler, folder, number):
    """(mistakes, kernels) of one program for one chip."""
    name, file = program
    ptx = folder / f"{number}.ptx"
    try:
        kernels, _ = tools.compile_and_assemble(residc, file, chip, assembler, ptx)
    except RuntimeError as error:
        return [f"{name} {chip}: {error}"], []
    finally:
        for file in (ptx, ptx.with_suffix(".cubin")):
            file.unlink(missing_ok=True)
    return [f"{name} {chip}: {kernel.describe()}" for kernel in kernels if kernel.has_memory()], kernels


def main():
    parser = tools.make_parser("Assemble the PTX of all programs that the tests compile for GPUs.", "programs are assembled")
    parser.add_argument("--few", action="store_true", help="fewer programs, and one chip of each, by turns")
    parser.add_argument("--every", type=int, default=1, help="every Nth program alone")
    parser.add_argument("--kinds", type=tools.split(str), help="programs of these kinds instead: those of tests (tests.py), examples, or pack; with commas between them")
    parser.add_argument("--chips", type=tools.split(str), default=tools.CHIPS, help="chips, with commas between them")
    parser.add_argument("--only", default="", help="programs whose names match this pattern")
    flags = parser.parse_args()
    assembler = tools.find_tool("ptxas")
    if not assembler:
        print("skipped: no ptxas was found; RESID_PTXAS names one")
        return 0
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        folder = pathlib.Path(name)
        residc = flags.build / "bin/residc"
        found = collection.write_kinds(flags.kinds, folder, residc) if flags.kinds else collection.write_all(folder, flags.few)
        programs = [program for program in found if re.search(flags.only, program[0])][:: flags.every]
        jobs = [(program, chip) for i, program in enumerate(programs) for chip in ([flags.chips[i % len(flags.chips)]] if flags.few else flags.chips)]
        outcomes = list(pool.map(lambda job: take(*job[1], residc, assembler, folder, job[0]), enumerate(jobs)))
    mistakes = [mistake for found, _ in outcomes for mistake in found]
    for mistake in mistakes:
        print(mistake)
    names = [kernel.name for _, kernels in outcomes for kernel in kernels]
    in_registers = sum("__registers_" in name for name in names)
    print(f"{len(programs)} programs, {len(jobs)} texts: {in_registers} kernels with rows in registers, {len(names) - in_registers} others; {len(mistakes)} mistakes.")
    return 1 if mistakes else 0


sys.exit(main())
