# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs turned-heads.mlir and its gradients beside the evaluator, and compares the bits of all ways to run a function: rows
# on vectors and on scalars, other processors, two threads, stores past the cache, and a rotary embedding that reads its
# norm from memory. Usage: turned_heads.py PROGRAM TYPE DIRECTORY PROCESSOR…

import pathlib
import re
import subprocess
import sys

# The arguments of each function, with T for the type.
ARGUMENTS = {
    "halves": "T[2x3x5x128] T[128] f32[5x64] f32[5x64]",
    "pairs": "T[2x3x5x128] T[128] T[128] f32[5x64] f32[5x64]",
    "some_halves": "T[3x7x80] T[80] f32[7x12] f32[7x12]",
    "some_pairs": "T[3x7x77] f32[7x38] f32[7x38]",
    "wide": "T[3x1100] f32[3x550] f32[3x550]",
    "summed": "T[7x64] T[7x64] f32[7x32] f32[7x32]",
    "split": "T[3x5x80] T[20] f32[5x10] f32[5x10]",
}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}{done.stdout}")


def fill(text, element, first=1):
    return [f"--arg={word.replace('T[', element + '[')}=random:{seed}" for seed, word in enumerate(text.split(), first)]


def compute(program, entry, words, paths):
    run("resid-run", program, "--entry=" + entry, *words, *(f"--out={path}" for path in paths))
    return [path.read_bytes() for path in paths]


def count_results(program, entry):
    found = re.search(rf"@{entry}\(.*-> (\(.*\)|\S+) {{$", program.read_text(), re.MULTILINE).group(1)
    return found.count("tensor<")


def compare_ways(program, entry, element, folder, processors):
    words = fill(ARGUMENTS[entry], element)
    run("resid-run", program, "--entry=" + entry, *words, "--check")
    paths = [folder / f"{entry}{i}.npy" for i in range(2 if entry in ("pairs", "wide", "summed") else 1)]
    expected = compute(program, entry, words, paths)
    for way in (["--schedule=path=scalar"], ["--schedule=stores=nontemporal,rows=single", "--threads=2"],
                *(["--mcpu=" + name] for name in processors)):
        if compute(program, entry, [*words, *way], [folder / f"way{i}.npy" for i in range(len(paths))]) != expected:
            sys.exit(f"{entry} of {program}: expected the same bits with {' '.join(way)}")
    return expected


def check_gradient(program, entry, element, folder):
    made = folder / "grad.mlir"
    run("resid-opt", program, "--keep-argument-names", f"--resid-grad=function={entry} wrt=0,1", "-o", made)
    words = fill(ARGUMENTS[entry], element)
    paths = [folder / f"forward{i}.npy" for i in range(count_results(made, entry + "_forward"))]
    compute(made, entry + "_forward", words, paths)
    results = 2 if entry == "pairs" else 1
    dy = fill(" ".join(ARGUMENTS[entry].split()[:1] * results), element, first=7)
    saved = [f"--arg={path}" for path in paths[results:]]
    run("resid-run", made, f"--entry={entry}_backward", *words, *saved, *dy, "--check")


def main():
    program, element, folder, *processors = sys.argv[1:]
    program, folder = pathlib.Path(program), pathlib.Path(folder)
    for entry in ARGUMENTS:
        found = compare_ways(program, entry, element, folder, processors)
        if entry != "pairs":
            continue
        words = [f"--arg={folder / 'pairs1.npy'}", *fill(ARGUMENTS[entry], element)[3:]]
        if compute(program, "turn", words, [folder / "turned.npy"]) != found[:1]:
            sys.exit(f"{program}: expected the bits of a norm that is read from memory")
    for entry in ("halves", "pairs", "some_halves"):
        check_gradient(program, entry, element, folder)


main()
