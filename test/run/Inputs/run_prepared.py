# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs a function F whose arguments have names: each is NAME=FILE of the command line, else FOLDER/NAME.npy, else, where
# F_prepare makes it, what that makes of arguments found in the same way. A file must not be given for nothing.
# Usage: run_prepared.py PROGRAM.mlir FUNCTION BACKEND FOLDER RESULT.npy [NAME=FILE …]

import re
import subprocess
import sys


def signature(program, function):
    """Of each argument its name and which result of F_prepare it is; nothing where there is no such function."""
    found = re.search(rf"func\.func @{function}\((.*?)\)(?: ->| \{{| attributes)", program, re.DOTALL)
    arguments = re.findall(r"%\w+: [^{]*\{([^}]*)\}", found.group(1)) if found else []
    names = [re.search(r'resid\.name = "(\w+)"', attributes).group(1) for attributes in arguments]
    made = [re.search(r"resid\.prepared = (\d+)", attributes) for attributes in arguments]
    return [(name, int(result.group(1)) if result else None) for name, result in zip(names, made)]


def run(path, function, backend, arguments, results):
    command = ["resid-run", path, f"--entry={function}", f"--backend={backend}"]
    subprocess.run(command + [f"--arg={a}" for a in arguments] + [f"--out={r}" for r in results], check=True)


path, function, backend, folder, result, *given = sys.argv[1:]
files = dict(pair.split("=", 1) for pair in given)
with open(path, encoding="utf-8") as file:
    program = file.read()
arguments = signature(program, function)
prepared = [f"{result}.{k}.npy" for k in range(sum(k is not None for _, k in arguments))]
if prepared:
    inputs = [f"{folder}/{name}.npy" for name, _ in signature(program, function + "_prepare")]
    run(path, function + "_prepare", backend, inputs, prepared)
paths = [files.pop(name, f"{folder}/{name}.npy") if k is None else prepared[k] for name, k in arguments]
if files:
    raise SystemExit(f"expected arguments called {', '.join(files)}")
run(path, function, backend, paths, [result])
print(f"{len(prepared)} of {len(paths)} arguments prepared")
