# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes rows on which norms go wrong elsewhere, and one program per element type and norm that takes them.
# Usage: adversarial_rows.py <folder> [<width> ...]. Writes there rows-<width>.npy, parameters-<width>.npy and
# <norm>-<type>.mlir; with widths, programs of layer, RMS and L2 norm and DyT for each as well, <norm>-<type>-<width>.mlir.

import math
import pathlib
import random
import re
import sys

import npy

WIDTHS = [1, 2, 120, 768, 65536]
TYPES = ["f16", "bf16", "f32", "f64"]
NORMS = {
    "layer": "resid.layer_norm %s gamma(%gt) beta(%gt) {{epsilon = 1.0e-5}} : {T}, {G}, {G}",
    "layer_without_epsilon": "resid.layer_norm %s {{epsilon = 0.0}} : {T}",
    "rms": "resid.rms_norm %s gamma(%gt) {{epsilon = 1.0e-6}} : {T}, {G}",
    "l2": "resid.l2_norm %s gamma(%gt) {{epsilon = 1.0e-20}} : {T}, {G}",
    "layer_backward": "resid.layer_norm_grad %t, %s statistics(%m, %c, %r) gamma(%gt) : {T}, {T}, tensor<?x{A}>, {G}",
    "rms_backward": "resid.rms_norm_grad %t, %s statistics(%r) gamma(%gt) : {T}, {T}, tensor<?x{A}>, {G}",
    "l2_backward": "resid.l2_norm_grad %t, %s statistics(%r) gamma(%gt) {{epsilon = 1.0e-12}} : {T}, {T}, tensor<?x{A}>, {G}",
    "dyt": "resid.dyt %s alpha(%alpha) gamma(%gt) beta(%gt) : {T}, tensor<{A}>, {G}, {G}",
}

# What comes in front: statistics of the rows, and a gradient of their results as large as these.
FORWARD = {
    "layer_backward": "%t, %m, %c, %r = resid.layer_norm %s {{epsilon = 1.0e-5}} : {T} -> {T}, tensor<?x{A}>, tensor<?x{A}>, tensor<?x{A}>",
    "rms_backward": "%t, %r = resid.rms_norm %s {{epsilon = 1.0e-6}} : {T} -> {T}, tensor<?x{A}>",
    "l2_backward": "%t, %r = resid.l2_norm %s {{epsilon = 1.0e-12}} : {T} -> {T}, tensor<?x{A}>",
}


def rows(width):
    rng = random.Random(width)
    normal = lambda mean, deviation: [rng.gauss(mean, deviation) for _ in range(width)]
    spoiled = lambda value: normal(0, 1)[:-1] + [value]
    found = [
        normal(0, 1),
        normal(2e3, 1),
        normal(1e4, 1),
        normal(1e6, 1),
        [0.1] * width,
        [0.0] * width,
        normal(0, 1e30),
        [3e38 * (-1) ** i for i in range(width)],
        normal(0, 1e-41),
        normal(0, 1e-25),
        spoiled(math.nan),
        spoiled(math.inf),
        spoiled(-math.inf),
        normal(0, 1),
    ]
    # The longest rows cost the evaluator most: the ordinary one, the large means and the one of large numbers stand for all.
    return found if width < 10000 else found[:4] + found[6:7]


def conversion(name, operand, element, shape):
    op = "extf" if element == "f64" else "truncf"
    return f"  {name} = arith.{op} {operand} : tensor<{shape}xf32> to tensor<{shape}x{element}>\n"


def program(norm, element):
    """x (as rows) and parameters come as f32 and are converted, so that one set of files serves all types."""
    tensor, parameter, arithmetic = f"tensor<?x?x{element}>", f"tensor<?x{element}>", "f64" if element == "f64" else "f32"
    names = ("%s", "%gt") if element == "f32" else ("%x", "%g")
    text = f"func.func @main({names[0]}: tensor<?x?xf32>, {names[1]}: tensor<?xf32>) -> {tensor} {{\n"
    if element != "f32":
        text += conversion("%s", "%x", element, "?x?") + conversion("%gt", "%g", element, "?")
    text += f"  %alpha = arith.constant dense<0.5> : tensor<{arithmetic}>\n" if norm == "dyt" else ""
    types = dict(T=tensor, G=parameter, A=arithmetic)
    text += f"  {FORWARD[norm].format(**types)}\n" if norm in FORWARD else ""
    op = NORMS[norm].format(**types)
    results = "%y, %dgamma, %dbeta" if norm in FORWARD else "%y"
    return text + f"  {results} = {op}\n  return %y : {tensor}\n}}\n"


def with_width(text, width):
    """Of a program without statistics, whose tensors of one dimension are parameters."""
    text = text.replace("tensor<?x?x", f"tensor<?x{width}x")
    return re.sub(r"tensor<\?x([a-z]+\d+)>", rf"tensor<{width}x\1>", text)


def main():
    folder = pathlib.Path(sys.argv[1])
    widths = [int(width) for width in sys.argv[2:]]
    folder.mkdir(parents=True, exist_ok=True)
    for width in widths or WIDTHS:
        table = rows(width)
        npy.write(folder / f"rows-{width}.npy", (len(table), width), [value for row in table for value in row])
        rng = random.Random(-width)
        npy.write(folder / f"parameters-{width}.npy", (width,), [rng.gauss(1, 0.5) for _ in range(width)])
    npy.write(folder / "rows-none.npy", (0, 16), [])
    npy.write(folder / "parameters-none.npy", (16,), [1.0] * 16)
    for norm in NORMS:
        for element in TYPES:
            text = program(norm, element)
            (folder / f"{norm}-{element}.mlir").write_text(text)
            for width in widths if norm not in FORWARD else []:
                (folder / f"{norm}-{element}-{width}.mlir").write_text(with_width(text, width))


main()
