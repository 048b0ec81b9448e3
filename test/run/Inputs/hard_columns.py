# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes columns on which batch norms go wrong elsewhere, and one program per element type that takes them.
# Usage: hard_columns.py <folder> <rows>... Writes there columns-<rows>.npy, finite-<rows>.npy, which has no NaN and no
# infinity, and <norm>-<type>.mlir.

import math
import pathlib
import random
import sys

import npy

TYPES = ["f16", "bf16", "f32", "f64"]
STATISTICS = "{A}, {A}, {A}, {A}"
FORWARD = "  %y, %m, %v, %c, %r = resid.batch_norm %s {{epsilon = {E}}} : {T} -> {T}, " + STATISTICS + "\n"
NORMS = {
    "batch": (FORWARD.replace("{E}", "1.0e-5") + "  return %y, %m, %v, %c, %r : {T}, " + STATISTICS, "({T}, " + STATISTICS + ")"),
    "batch_without_epsilon": (FORWARD.replace("{E}", "0.0") + "  return %y : {T}", "{T}"),
    "batch_backward": (
        FORWARD.replace("{E}", "1.0e-5") +
        "  %dx = resid.batch_norm_grad %y, %s statistics(%m, %c, %r) {{epsilon = 1.0e-5}} : {T}, {T}, {A}\n  return %dx : {T}",
        "{T}",
    ),
}  # fmt: skip


def make_columns(rows):
    rng = random.Random(rows)

    def normal(mean, deviation):
        return [rng.gauss(mean, deviation) for _ in range(rows)]

    def spoiled(value):
        return normal(0, 1)[:-1] + [value]

    finite = [
        normal(0, 1),
        normal(2e3, 1),
        normal(1e4, 1),
        normal(1e7, 4),
        [0.1] * rows,
        [0.0] * rows,
        normal(0, 1e30),
        [3e38 * (-1) ** row for row in range(rows)],
        [1e30] * rows,
        normal(0, 1e-41),
        normal(0, 1e-25),
        [1e30] + [0.0] * (rows - 1),
        # One element is off by one unit in the last place, and the mean by as much: its square and q cancel.
        *([value + 128] + [value] * (rows - 1) for value in (1234567936.0, 1357913600.0, 1999999872.0)),
    ]
    return finite, [spoiled(math.nan), spoiled(math.inf), spoiled(-math.inf), normal(0, 1)]


def write_program(norm, element):
    """x comes as f32 and is converted, so that one set of files serves all types."""
    body, results = NORMS[norm]
    types = dict(T=f"tensor<?x?x{element}>", A=f"tensor<?x{'f64' if element == 'f64' else 'f32'}>")
    name = "%s" if element == "f32" else "%x"
    text = f"func.func @main({name}: tensor<?x?xf32>) -> {results.format(**types)} {{\n"
    if element != "f32":
        text += f"  %s = arith.{'extf' if element == 'f64' else 'truncf'} %x : tensor<?x?xf32> to tensor<?x?x{element}>\n"
    return text + body.format(**types) + "\n}\n"


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for rows in map(int, sys.argv[2:]):
    finite, others = make_columns(rows)
    for name, columns in (("finite", finite), ("columns", finite + others)):
        values = [value for row in zip(*columns) for value in row]
        npy.write(folder / f"{name}-{rows}.npy", (rows, len(columns)), values)
for norm in NORMS:
    for element in TYPES:
        (folder / f"{norm}-{element}.mlir").write_text(write_program(norm, element))
