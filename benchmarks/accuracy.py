#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures the largest error of compiled code against the evaluator, per op, type and width, on rows on which norms go
# wrong elsewhere (means to 1e6, constant rows, 1e30, 3e38, subnormals, NaN, infinities), and of functions of math
# against the C library; prints both as Markdown.
# Usage: accuracy.py <folder of the tools> <scratch folder> [<every how many bit patterns of f32>]

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NORMS = ["layer", "layer_without_epsilon", "rms", "dyt"]
TYPES = ["f32", "f64", "bf16", "f16"]
WIDTHS = [1, 2, 120, 768, 65536]
EXACT = {
    "add": "%y = resid.add %x, %f gate(%g) {{skip_scale = 1.5, branch_scale = 0.3}} : tensor<64x770x{T}>, tensor<770x{T}>",
    "add_bias": "%y = resid.add_bias %f, %g : tensor<64x770x{T}>, tensor<770x{T}>",
    "dropout": "%y = resid.dropout %x seed(%s, %s) {{p = 0.1, site = 7}} : tensor<64x770x{T}>",
}
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


def measure_functions(tools, folder, step):
    inputs = ROOT / "test/run/Inputs"
    types = ["f32", "f64"]
    program = subprocess.run([sys.executable, inputs / "write_math_functions.py", *types], check=True, capture_output=True)
    (folder / "math-functions.mlir").write_bytes(program.stdout)
    subprocess.run([tools / "residc", "math-functions.mlir", "-o", "math-functions.o", "--header=math-functions.h"],
                   cwd=folder, check=True)
    subprocess.run(["cc", "-O1", "-I.", inputs / "math-functions.c", "math-functions.o", "-lm", "-o", "math-functions"],
                   cwd=folder, check=True)
    print("\n| function | type | largest error (ulp) and where | bound |\n|---|---|---|---|", flush=True)
    subprocess.run([folder / "math-functions", step], check=True, stderr=subprocess.DEVNULL)


def main():
    tools, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
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
    measure_functions(tools.resolve(), folder.resolve(), sys.argv[3] if len(sys.argv) > 3 else "4093")


main()
