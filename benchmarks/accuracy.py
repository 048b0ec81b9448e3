#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures the largest error of compiled code against the evaluator, per op, type and width, on rows on which norms go
# wrong elsewhere (means to 1e6, constant rows, 1e30, 3e38, subnormals, NaN, infinities), and of functions of math
# against the C library; prints both as Markdown. With --every-f32 only the functions named, at all 2^32 numbers of f32.
# Usage: accuracy.py <folder of the tools> <scratch folder> [--every-f32=NAME,…]

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NORMS = ["layer", "layer_without_epsilon", "rms", "dyt", "layer_backward", "rms_backward"]
TYPES = ["f32", "f64", "bf16", "f16"]
WIDTHS = [1, 2, 120, 768, 65536]
EXACT = {
    "add": "%y = resid.add %x, %f gate(%g) {{skip_scale = 1.5, branch_scale = 0.3}} : tensor<64x770x{T}>, tensor<770x{T}>",
    "add_bias": "%y = resid.add_bias %f, %g : tensor<64x770x{T}>, tensor<770x{T}>",
    "dropout": "%y = resid.dropout %x seed(%s, %s) {{p = 0.1, site = 7}} : tensor<64x770x{T}>",
}
FUNCTION_TYPES = ["f32", "f64", "f16", "bf16"]
# Every how many bit patterns of f32 a function is called, and 2^32 by that is how many numbers of f64.
STEP = "1021"
PATTERN = re.compile(r"^out0: ok, (?:bit-equal|largest error (\S+) at .*, bound there (\S+))$", re.M)


def check(tool, program, arguments):
    """The only result's largest error (and the bound there), as text."""
    command = [tool, program, "--check"] + [f"--arg={argument}" for argument in arguments]
    run = subprocess.run(command, capture_output=True, text=True)
    found = PATTERN.search(run.stdout)
    if not found or run.returncode != 0:
        sys.exit(f"accuracy: {' '.join(map(str, command))} exited with {run.returncode}:\n{run.stdout}{run.stderr}")
    return f"{found[1]} of {found[2]}" if found[1] else "bit-equal"


def exact_program(folder, name, element):
    tensor, row = f"tensor<64x770x{element}>", f"tensor<770x{element}>"
    path = folder / f"{name}-{element}.mlir"
    path.write_text(f"func.func @main(%x: {tensor}, %f: {tensor}, %g: {row}, %s: i64) -> {tensor} {{\n"
                    f"  {EXACT[name].format(T=element)}\n  return %y : {tensor}\n}}\n")
    return path


def build_functions(tools, folder, types, names=()):
    """A program that measures them; see test/run/Inputs/math-functions.c."""
    inputs = ROOT / "test/run/Inputs"
    subprocess.run([sys.executable, inputs / "write_math_functions.py", folder, *types, "--", *names], check=True)
    subprocess.run([tools / "residc", "functions.mlir", "-o", "functions.o", "--header=math-functions.h"], cwd=folder,
                   check=True)
    subprocess.run(["cc", "-O2", "-I.", inputs / "math-functions.c", "functions.o", "-lm", "-o", "math-functions"],
                   cwd=folder, check=True)
    return folder / "math-functions"


def measure_functions(tools, folder):
    run = subprocess.run([build_functions(tools, folder, FUNCTION_TYPES), STEP], capture_output=True, text=True)
    errors = {}
    for function, element, error, bound in re.findall(r"^\| (\w+) \| (\w+) \| (\S+) at .* \| (\S+) \|$", run.stdout, re.M):
        errors.setdefault(function, {})[element] = f"{error} of {bound}"
    print("\n| function | " + " | ".join(FUNCTION_TYPES) + " |\n|" + "---|" * (1 + len(FUNCTION_TYPES)))
    for function, cells in errors.items():
        print(f"| {function} | " + " | ".join(cells[element] for element in FUNCTION_TYPES) + " |", flush=True)
    if run.returncode != 0:
        sys.exit(f"accuracy: math-functions exited with {run.returncode}:\n{run.stderr}")


def measure_every_f32(tools, folder, names):
    """All at once, since one takes minutes."""
    program = build_functions(tools, folder, ["f32", "f64"], names)
    runs = [subprocess.Popen([program, "1", name, "f32"], stderr=subprocess.DEVNULL) for name in names]
    print("| function | type | largest error in units of the last place, and where | bound |\n|---|---|---|---|", flush=True)
    sys.exit(max(run.wait() for run in runs))


def measure_ops(tools, folder):
    subprocess.run([sys.executable, ROOT / "test/run/Inputs/adversarial_rows.py", folder], check=True)
    tool = tools / "resid-run"
    print("| op | type | " + " | ".join(f"width {width}" for width in WIDTHS) + " |\n|" + "---|" * (2 + len(WIDTHS)))
    for norm in NORMS:
        for element in TYPES:
            cells = []
            for width in WIDTHS:
                cells.append(check(tool, folder / f"{norm}-{element}.mlir",
                                   [folder / f"rows-{width}.npy", folder / f"parameters-{width}.npy"]))
            print(f"| {norm} | {element} | " + " | ".join(cells) + " |", flush=True)
    for name in EXACT:
        for element in TYPES:
            shape = f"{element}[64x770]"
            result = check(tool, exact_program(folder, name, element),
                             [f"{shape}=random:1", f"{shape}=random:2", f"{element}[770]=random:3", "42"])
            print(f"| {name} | {element} | {result} (width 770) |" + " |" * (len(WIDTHS) - 1), flush=True)


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--every-f32", type=lambda text: text.split(","))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    tools, folder = options.tools.resolve(), options.folder.resolve()
    if options.every_f32:
        measure_every_f32(tools, folder, options.every_f32)
    measure_ops(tools, folder)
    measure_functions(tools, folder)


main()
