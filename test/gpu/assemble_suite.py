#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Assembles the PTX of all programs that the tests compile for GPUs (collection.py) with NVIDIA's ptxas. Kernels must
# spill no registers, and have no stack. `make check-ptxas` runs it.

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import collection
import ptxas as tools

CHIPS = ["sm_80", "sm_90", "sm_100"]


def describe(kernel):
    return f"{kernel.name} spills {kernel.spilled} bytes and has {kernel.stack} bytes of stack, with {kernel.registers} registers"


def take(program, chip, residc, assembler, folder, number):
    """(mistakes, kernels) of one program for one chip."""
    name, file = program
    ptx, cubin = folder / f"{number}.ptx", folder / f"{number}.cubin"
    done = subprocess.run([residc, file, "--target=cuda", f"--chip={chip}", "-o", ptx], capture_output=True, text=True, cwd=folder)
    if done.returncode:
        return [f"{name} {chip}: residc ended with exit code {done.returncode}: {done.stderr.strip()}"], []
    try:
        kernels = tools.assemble(assembler, ptx, chip, cubin)
    except RuntimeError as error:
        return [f"{name} {chip}: {error}"], []
    finally:
        ptx.unlink()
        cubin.unlink(missing_ok=True)
    mistakes = [f"{name} {chip}: {describe(kernel)}" for kernel in kernels if kernel.spilled or kernel.stack]
    if not kernels:
        mistakes.append(f"{name} {chip}: expected kernels, but ptxas names none")
    return mistakes, kernels


def main():
    parser = argparse.ArgumentParser(description="Assemble the PTX of all programs that the tests compile for GPUs.")
    parser.add_argument("--build", type=pathlib.Path, default=tools.ROOT / "build", help="the build folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many programs are assembled at a time")
    parser.add_argument("--few", action="store_true", help="fewer programs, and one chip of each, by turns")
    parser.add_argument("--only", default="", help="programs whose names match this pattern")
    flags = parser.parse_args()
    assembler = tools.find_tool("ptxas")
    if not assembler:
        print("skipped: no ptxas was found; RESID_PTXAS names one")
        return 0
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        folder = pathlib.Path(name)
        programs = [program for program in collection.write_all(folder, flags.few) if re.search(flags.only, program[0])]
        jobs = [(program, chip) for i, program in enumerate(programs) for chip in (CHIPS[i % 3 : i % 3 + 1] if flags.few else CHIPS)]
        residc = flags.build.resolve() / "bin/residc"
        outcomes = list(pool.map(lambda job: take(*job[1], residc, assembler, folder, job[0]), enumerate(jobs)))
    mistakes = [mistake for found, _ in outcomes for mistake in found]
    for mistake in mistakes:
        print(mistake)
    names = [kernel.name for _, kernels in outcomes for kernel in kernels]
    in_registers = sum("__registers_" in name for name in names)
    print(f"{len(programs)} programs, {len(jobs)} texts: {in_registers} kernels with rows in registers, {len(names) - in_registers} others; {len(mistakes)} mistakes.")
    return 1 if mistakes else 0


sys.exit(main())
