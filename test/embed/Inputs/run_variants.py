# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the random programs of each element type as compiled for several CPUs, with each of them chosen by fake_cpuid.c.
# Results must have the bits of the same programs compiled for one CPU; all CPUs from x86-64-v3 up have the same. CPUs
# that this machine is not able to run are left out, with a line that says so.
# Usage: run_variants.py <folder> <test folder> <include folder> <runtime library> <cc> <c++>, the last two with their flags

import pathlib
import shlex
import subprocess
import sys

from expect_processor import NEEDED, read_flags

folder, source, include, runtime = sys.argv[1:5]
cc, cxx = map(shlex.split, sys.argv[5:])
inputs = pathlib.Path(source) / "Inputs"


def run(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, env=environment or None, check=False)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def link(place, *codes):
    """A program that runs the programs of `place` from `codes`."""
    out = codes[0].with_suffix(".run")
    flags = ["-std=c++17", f"-I{place}", f"-I{include}", "-pthread"]
    run(*cxx, *flags, inputs / "run_programs.cpp", *codes, runtime, "-o", out)
    return out


fake = pathlib.Path(folder) / "fake_cpuid.o"
run(*cc, "-std=gnu11", "-c", inputs / "fake_cpuid.c", "-o", fake)
same = True
for element in ["f16", "bf16", "f32", "f64"]:
    place = pathlib.Path(folder) / element
    run(sys.executable, inputs / "fake_cpuid.py", place / "all.s", place / "fake.s")
    several = link(place, place / "fake.s", fake)
    fused = set()
    for cpu in ["x86-64-v2", "x86-64-v3", "x86-64-v4", "znver4"]:
        if not NEEDED[cpu] <= read_flags():
            print(f"{element}: this machine is not able to run {cpu}")
            continue
        chosen = run(several, FAKE_CPU=cpu if cpu != "znver4" else "this")
        if cpu != "x86-64-v2":
            fused.add(chosen)
        if cpu in ["x86-64-v2", "x86-64-v3"]:
            run("residc", place / "programs.mlir", "-o", place / f"{cpu}.o", f"--mcpu={cpu}")
            alone = run(link(place, place / f"{cpu}.o"))
            print(f"{element}: {'same' if alone == chosen else 'other'} bits for {cpu} alone")
            same &= alone == chosen
    same &= len(fused) <= 1
print("all of x86-64-v3 and above have the same bits" if same else "other bits")
