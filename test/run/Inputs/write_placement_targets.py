# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# examples/placements/transformer.mlir, which is post-norm, in the other placements, by editing its text: what conversions are
# held against. New norm parameters are new arguments at the end, in the order of the stream, the final norm's last.
# Usage: write_placement_targets.py TRANSFORMER.mlir FOLDER; writes PLACEMENT-keep.mlir and PLACEMENT-shift.mlir there, and
# for each of their functions PLACEMENT-….FUNCTION.args, the flags of resid-run for all arguments: those of FUNCTION.args,
# and for new ones those of FOLDER/vectors (write_placement_arguments.py).

import os
import re
import sys

BLOCK = re.compile(r"resid\.block post (%\w+) (norm\(layer [^)]*\))")
FUNCTION = re.compile(r"func\.func @\w+\(.*?\n}\n", re.DOTALL)


class Arguments:
    """New arguments of one function."""

    def __init__(self):
        self.names = []

    def norm(self):
        self.names += [f"%new{len(self.names)}", f"%new{len(self.names) + 1}"]
        gamma, beta = self.names[-2:]
        return f"norm(layer gamma {gamma} : !vector beta {beta} : !vector epsilon = 1.0e-5)"


def with_final_norm(function, norm):
    gamma, beta = re.findall(r"(?:gamma|beta) (%\w+)", norm)
    end = f"%final = resid.layer_norm \\1 gamma({gamma}) beta({beta}) {{epsilon = 1.0e-5}} : !stream, !vector, !vector"
    return re.sub(r"return (%\w+) : !stream\n", end + "\n  return %final : !stream\n", function)


def keep(function, placement):
    new = Arguments()

    def norms(own):
        return "" if placement == "none" else f"{own} {new.norm()}" if placement == "peri" else own

    function = BLOCK.sub(lambda match: f"resid.block {placement} {match[1]} {norms(match[2])}", function)
    if placement != "none":
        function = with_final_norm(function, new.norm())
    return function.replace("%step: i64)", "%step: i64" + "".join(f", {name}: !vector" for name in new.names) + ")")


def shift(function, placement):
    norms = [match[2] for match in BLOCK.finditer(function)]
    moved = iter([None] + norms[:-1])

    def replace(match):
        norm = next(moved)
        return f"resid.block {placement} {match[1]} {norm}" if norm else f"resid.block none {match[1]}"

    return with_final_norm(BLOCK.sub(replace, function), norms[-1])


def write_arguments(name, text):
    function = re.match(r"func\.func @(\w+)", text)[1]
    with open(f"{folder}/{function}.args", encoding="utf-8") as file:
        flags = file.read()
    for number in range(len(set(re.findall(r"%new\d+:", text)))):
        flags += f"--arg={os.path.abspath(folder)}/vectors/{number:02}.npy\n"
    with open(f"{name}.{function}.args", "w", encoding="utf-8") as file:
        file.write(flags)


source, folder = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    text = file.read()
for rewrite, placements in (keep, ("pre", "branch_post", "peri", "post_shifted", "none")), (shift, ("pre", "post_shifted")):
    for placement in placements:
        result, count = FUNCTION.subn(lambda match: rewrite(match[0], placement), text)
        assert count == 2, "expected an encoder and a decoder layer"
        name = f"{folder}/{placement}-{rewrite.__name__}"
        with open(f"{name}.mlir", "w", encoding="utf-8") as file:
            file.write(result)
        for function in FUNCTION.findall(result):
            write_arguments(name, function)
