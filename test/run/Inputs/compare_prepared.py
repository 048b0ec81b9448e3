# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares every function of a program before and after passes that are exact in real arithmetic, by value: before on its
# arguments, after on what F_prepare makes of them. Arguments are random, each another.
# Usage: compare_prepared.py <program> <pass flags> <f64|f32> <cpu|reference> <largest relative difference> <folder>
# The program is written in f64, which f32 replaces, and names its arguments plainly (%gamma: tensor<8xf64>).
# Prints for each function how many prepared arguments it has, and ends with exit code 1 where the values differ.

import math
import pathlib
import re
import subprocess
import sys

import npy

DYNAMIC = 5
ARGUMENT = re.compile(r"%\w+: ([^,{)]+)(?:\s*\{([^}]*)\})?")
FUNCTION = re.compile(r"func\.func @(\w+)\((.*?)\)\s*(?:->|\{|attributes)", re.DOTALL)


def signatures(text):
    """For each function, its arguments: type, name, and which result of F_prepare they are."""
    found = {}
    for name, arguments in FUNCTION.findall(text):
        found[name] = []
        for kind, attributes in ARGUMENT.findall(arguments):
            label = re.search(r'resid\.name = "(\w+)"', attributes)
            prepared = re.search(r"resid\.prepared = (\d+)", attributes)
            found[name].append((kind.strip(), label.group(1), int(prepared.group(1)) if prepared else None))
    return found


def value(kind, name):
    """What resid-run gets for an argument: random numbers that depend on its name alone."""
    if kind == "i64":
        return str(len(name))
    sizes, element = re.fullmatch(r"tensor<((?:[\d?]+x)*)(\w+)>", kind).groups()
    seed = sum(ord(letter) * (31 ** place) for place, letter in enumerate(name)) % 100003
    return f"{element}[{sizes.rstrip('x').replace('?', str(DYNAMIC))}]=random:{seed}"


def run(program, entry, backend, arguments, results):
    command = ["resid-run", str(program), f"--backend={backend}", f"--entry={entry}"]
    subprocess.run(command + [f"--arg={a}" for a in arguments] + [f"--out={r}" for r in results], check=True)


def difference(before, after):
    """The largest difference of two results, relative to the largest number before."""
    (shape, old), (other, new) = npy.read(before), npy.read(after)
    if shape != other or not all(map(math.isfinite, old)) or not all(map(math.isfinite, new)):
        return math.inf
    scale = max(map(abs, old), default=0.0)
    return max((abs(a - b) for a, b in zip(old, new)), default=0.0) / scale if scale else math.inf


def main():
    source, passes, element, backend, bound, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    text = pathlib.Path(source).read_text(encoding="utf-8").replace("f64", element)

    def label(match):
        arguments = re.sub(r"%(\w+): ([^,{)]+)", r'%\1: \2 {resid.name = "\1"}', match.group(2))
        return match.group(0).replace(match.group(2), arguments)

    before, after = folder / "before.mlir", folder / "after.mlir"
    before.write_text(FUNCTION.sub(label, text), encoding="utf-8")
    subprocess.run(["resid-opt", str(before), "-o", str(after)] + passes.split(), check=True)
    old, new = (signatures(path.read_text(encoding="utf-8")) for path in (before, after))
    worst = 0.0
    for function, arguments in old.items():
        prepared = new.get(function + "_prepare", [])
        made = sorted(k for _, _, k in new[function] if k is not None)
        paths = [folder / f"{function}_{k}.npy" for k in made]
        if made != list(range(len(made))):
            raise SystemExit(f"{function}: expected each result of its F_prepare once but got {made}")
        if made:
            run(after, function + "_prepare", backend, [value(kind, name) for kind, name, _ in prepared], paths)
        results = folder / f"{function}_before.npy", folder / f"{function}_after.npy"
        run(before, function, backend, [value(kind, name) for kind, name, _ in arguments], results[:1])
        given = [paths[k] if k is not None else value(kind, name) for kind, name, k in new[function]]
        run(after, function, backend, given, results[1:])
        found = difference(*results)
        worst = max(worst, found)
        names = ", ".join(name for _, name, _ in new[function])
        print(f"{function}({names}): {len(made)} prepared, difference {found:.1e}" + ("" if found <= float(bound) else ", too large"))
    return worst > float(bound)


sys.exit(main())
