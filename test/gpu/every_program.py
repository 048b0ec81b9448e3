#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles every example and every program of the tests for GPUs that compiles for CPUs, and holds those that are refused
# to the table of docs/gpu.md. Values are compared elsewhere.

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
    programs = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.mlir"))]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(lambda job: compile_program(job[1], job[0], folder), enumerate(programs)))
    table, refused, mistakes, compiled = read_table(), set(), [], 0
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
    return 1 if mistakes or compiled < 100 else 0


sys.exit(main())
