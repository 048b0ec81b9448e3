#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles every example and every program of the tests for GPUs that compiles for CPUs, and holds those that are refused
# to the table of docs/gpu.md. Values are compared elsewhere. A number N takes every Nth program alone.

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["examples", "benchmarks", "test/run", "test/embed", "test/tools", "test/passes", "test/dialect"]
UNAVAILABLE = 4


def read_table():
    """The programs that the page names as refused."""
    lines = (ROOT / "docs/gpu.md").read_text().split("## What is refused")[1].split("\n## ")[0].splitlines()
    return {name for line in lines if line.startswith("| `") for name in re.findall(r"`([^`]+\.mlir)`", line)}


def compile_program(program, number, folder):
    """(exit code, messages) of a program for GPUs; None where CPUs refuse it too."""
    run = lambda *flags: subprocess.run(["residc", program, *flags], capture_output=True, text=True, cwd=folder, timeout=120)
    if run("-o", f"{number}.h").returncode:
        return None
    done = run("--target=cuda", "-o", f"{number}.o")
    if done.returncode and run("-o", f"{number}.o").returncode:
        return None
    return done.returncode, done.stderr


def main():
    programs = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.mlir"))][:: int(sys.argv[1]) if sys.argv[1:] else 1]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(lambda job: compile_program(job[1], job[0], folder), enumerate(programs)))
    refused, mistakes, compiled = set(), [], 0
    taken = {str(program.relative_to(ROOT)) for program in programs}
    # Of a sample, the names that are in it, and those of no program.
    table = {name for name in read_table() if name in taken or not (ROOT / name).exists() or len(sys.argv) == 1}
    for program, outcome in zip(programs, outcomes):
        if outcome is None:
            continue
        compiled += outcome[0] == 0
        name = str(program.relative_to(ROOT))
        if outcome[0] == UNAVAILABLE:
            refused.add(name)
        if outcome[0] not in (0, UNAVAILABLE) or (outcome[0] == UNAVAILABLE and name not in table):
            mistakes.append(f"{name}: exit code {outcome[0]}: {outcome[1].strip()}")
    mistakes += [f"{name}: docs/gpu.md says that it is refused, but it compiles, or is no program" for name in sorted(table - refused)]
    for mistake in mistakes:
        print(mistake)
    print(f"{compiled} programs compile for GPUs, {len(refused)} are refused; {len(mistakes)} mistakes")
    return 1 if mistakes or compiled < len(programs) // 4 else 0


sys.exit(main())
