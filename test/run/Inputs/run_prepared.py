# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs a function F whose arguments have names: each is NAME=FILE of the command line, else FOLDER/NAME.npy, else, where
# F_prepare makes it, what that makes of arguments found in the same way. In place of FOLDER, a file of weights (.safetensors)
# gives those that are marked as weights. A file must not be given for nothing.
# Usage: run_prepared.py PROGRAM.mlir FUNCTION BACKEND FOLDER|WEIGHTS RESULT.npy [NAME=FILE …]

import re
import subprocess
import sys


def signature(program, function):
    """Of each argument its name, which result of F_prepare it is, and whether it is a weight; nothing where there is no such function."""
    found = re.search(rf"func\.func @{function}\((.*?)\)(?: ->| \{{| attributes)", program, re.DOTALL)
    arguments = re.findall(r"%\w+: [^{]*\{([^}]*)\}", found.group(1)) if found else []
    names = [re.search(r'resid\.name = "(\w+)"', attributes).group(1) for attributes in arguments]
    made = [re.search(r"resid\.prepared = (\d+)", attributes) for attributes in arguments]
    return [(name, int(result.group(1)) if result else None, "resid.weight" in attributes)
            for name, result, attributes in zip(names, made, arguments)]


def run(path, function, backend, arguments, results):
    """A None among the arguments comes from the file of weights."""
    command = ["resid-run", path, f"--entry={function}", f"--backend={backend}"]
    command += [f"--weights={folder}"] * (None in arguments)
    subprocess.run(command + [f"--arg={a}" for a in arguments if a] + [f"--out={r}" for r in results], check=True)


def find(name, is_weight):
    if is_weight and folder.endswith(".safetensors"):
        return None
    return files.pop(name, f"{folder}/{name}.npy")


path, function, backend, folder, result, *given = sys.argv[1:]
files = dict(pair.split("=", 1) for pair in given)
with open(path, encoding="utf-8") as file:
    program = file.read()
arguments = signature(program, function)
prepared = [f"{result}.{k}.npy" for k in range(sum(k is not None for _, k, _ in arguments))]
if prepared:
    inputs = [find(name, is_weight) for name, _, is_weight in signature(program, function + "_prepare")]
    run(path, function + "_prepare", backend, inputs, prepared)
paths = [find(name, is_weight) if k is None else prepared[k] for name, k, is_weight in arguments]
if files:
    raise SystemExit(f"expected arguments called {', '.join(files)}")
run(path, function, backend, paths, [result])
print(f"{len(prepared)} of {len(paths)} arguments prepared")
