# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Programs that tests of kernels for GPUs write for themselves: backwards of norms, and forwards that give their
# statistics and draw masks from an origin.

import re

STATISTICS = {"layer": ["mean", "correction", "rstd"], "rms": ["rstd"]}

BACKWARD = """func.func @block({arguments}) -> ({types}) {{
  %dx, %dgamma, %dbeta = resid.{norm}_norm_grad %dy, %x statistics({statistics}) gamma(%g) {total} : {X}, {X}, {S}, {G}
{dropout}  return {results} : {types}
}}
"""
DROPOUT = "  %df = resid.dropout %dx seed(%seed, %step) {{p = 0.1, site = 3}} : {X}\n"

FORWARD = """func.func @block(%x: {X}, %f: {F}, %g: {G}, %seed: i64, %step: i64, %row: i64, %site: i64) -> ({results}) {{
  %d = resid.dropout %f seed(%seed, %step) origin(%row, %site) {{p = 0.25, site = 2}} : {F}
{cast}  %s = resid.add %x, {branch} : {X}
  %y, {statistics} = resid.{norm}_norm %s gamma(%g) {{epsilon = 1.0e-5}} : {X}, {G} -> {results_of_norm}
  return %y, %s, {statistics} : {results}
}}
"""


ALONE = """func.func @f(%x: tensor<?x128xf32>) -> (tensor<?x128xf32>, tensor<?xf32>) {
  %y, %rstd = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<?x128xf32> -> tensor<?x128xf32>, tensor<?xf32>
  return %y, %rstd : tensor<?x128xf32>, tensor<?xf32>
}
"""
STRIDED = """func.func @f(%x: tensor<?xWIDTHxf32> {resid.strided}, %g: tensor<WIDTHxf32>) -> (tensor<?xWIDTHxf32> {resid.strided}) {
  %y = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-6} : tensor<?xWIDTHxf32>, tensor<WIDTHxf32>
  return %y : tensor<?xWIDTHxf32>
}
"""


def write_backward(norm, element, parameter, width, has_sum, has_dropout=False):
    """dx, dgamma and dbeta, with the gradient of the sum or without. With dropout, df too, the branch's gradient."""
    x, g, s = f"tensor<?x{width}x{element}>", f"tensor<{width}x{parameter}>", "tensor<?xf32>"
    names = STATISTICS[norm]
    arguments = [f"%dy: {x}", f"%x: {x}", *(f"%{name}: {s}" for name in names), f"%g: {g}"] + [f"%dsum: {x}"] * has_sum
    results = {"%dx": x, **({"%df": x} if has_dropout else {}), "%dgamma": g, "%dbeta": g}
    return BACKWARD.format(arguments=", ".join(arguments + ["%seed: i64", "%step: i64"] * has_dropout), norm=norm,
                           statistics=", ".join(f"%{name}" for name in names), total="sum(%dsum)" if has_sum else "",
                           dropout=DROPOUT.format(X=x) if has_dropout else "", results=", ".join(results),
                           types=", ".join(results.values()), X=x, G=g, S=s)


def write_forward(norm, stream, branch, parameter, width):
    """The norm, the sum and the statistics of dropout, add and a norm; the mask begins at a row and a site of the call."""
    x, f, g, s = f"tensor<?x{width}x{stream}>", f"tensor<?x{width}x{branch}>", f"tensor<{width}x{parameter}>", "tensor<?xf32>"
    names = STATISTICS[norm]
    statistics = [s] * len(names)
    cast = f"  %e = arith.extf %d : {f} to {x}\n" if stream != branch else ""
    return FORWARD.format(results=", ".join([x, x, *statistics]), results_of_norm=", ".join([x, *statistics]), norm=norm, cast=cast,
                          statistics=", ".join(f"%{name}" for name in names), branch="%e" if cast else "%d", X=x, F=f, G=g)


def get_backward_arguments(norm, element, parameter, rows, width, has_sum):
    statistics = {"mean": 0.1, "correction": 0.001, "rstd": 0.5}
    arrays = [f"{element}[{rows}x{width}]=random:{seed}" for seed in (1, 2)]
    arrays += [f"f32[{rows}]={statistics[name]}" for name in STATISTICS[norm]]
    return [*arrays, f"{parameter}[{width}]=random:3"] + [f"{element}[{rows}x{width}]=random:4"] * has_sum


def get_forward_arguments(stream, branch, parameter, rows, width):
    return name_arrays(f"{stream}[{rows}x{width}] {branch}[{rows}x{width}] {parameter}[{width}] 7 11 12345 2")


def name_arrays(words):
    """Arguments of resid-run: an array without values has random numbers, by its place."""
    return tuple(f"{word}=random:{i}" if word.endswith("]") else word for i, word in enumerate(words.split(), 1))


def read_arguments(text, rows):
    """Arguments of resid-run for the first function of a program, whose open sizes are numbers of rows."""
    head = next(line for line in text.splitlines() if "func.func" in line).split("->")[0]
    kinds = [re.sub(r"(.*)x(\w+)", r"\2[\1]", kind.replace("?", str(rows))) for kind in re.findall(r": (?:tensor<)?([^>, )]+)", head)]
    return [str(i) if kind == "i64" else f"{kind}=random:{i}" for i, kind in enumerate(kinds, 1)]
