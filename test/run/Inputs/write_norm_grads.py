# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# write_norm_grads.py FOLDER [registers]: a program for each kind of norm, shape and mixture of types: widths of a tail, of more than a
# block of the ordered sum and of one column, several normalised dimensions, with and without gamma and the gradient of the
# sum; hard rows; or those that stay in registers on GPUs. Its function `forward` gives the statistics, `backward` is the backward op. The list of cases goes to standard output:
# number;arguments of forward;arguments of backward;results of backward;further numbers of threads.
import random as numbers
import sys

folder = sys.argv[1]
cases = [
    # kind, shape of x, rank of gamma (0: none), types of x, dy and gamma, gradient of the sum, attributes
    ("layer", "5x77", 1, "f32", "f32", "f32", True, ""),
    ("layer", "700x16", 1, "f32", "f32", "f32", False, ""),
    ("layer", "3x2500", 1, "f32", "f32", "f32", True, "zero_centered_gamma"),
    ("layer", "6x33", 1, "f64", "f64", "f32", True, ""),
    ("layer", "7x130", 1, "bf16", "bf16", "f32", True, ""),
    ("layer", "7x130", 1, "f32", "f16", "f16", True, ""),
    ("layer", "2x3x4x9", 2, "f32", "f32", "f32", False, ""),
    ("layer", "5x64", 0, "f32", "f32", "f32", True, ""),
    ("layer", "4x1", 1, "f32", "f32", "f32", True, ""),
    ("layer", "40", 1, "f32", "f32", "f32", True, ""),
    ("rms", "5x77", 1, "f32", "f32", "f32", True, ""),
    ("rms", "3x2500", 1, "f64", "f64", "f64", False, "zero_centered_gamma"),
    ("rms", "2x5x48", 1, "f16", "f16", "bf16", True, ""),
    ("rms", "2x5x48", 0, "bf16", "bf16", "f32", False, "norm_rank = 2"),
    ("layer", "6x77", 1, "f32", "f32", "f32", True, ""),
    ("layer", "6x77", 1, "bf16", "bf16", "bf16", True, ""),
    ("layer", "6x2", 1, "f32", "f32", "f32", False, ""),
    ("rms", "6x77", 1, "f32", "f32", "f32", True, ""),
    ("rms", "6x2", 1, "bf16", "bf16", "bf16", False, ""),
    ("l2", "5x77", 1, "f32", "f32", "f32", True, "zero_centered_gamma"),
    ("l2", "6x77", 1, "bf16", "bf16", "f32", False, ""),
    ("l2", "2x5x48", 0, "f64", "f64", "f64", True, "norm_rank = 2"),
]
# One group of rows and several, groups that are not whole, several rows in a block of threads, one span and several, a
# last span that is not whole, and eight spans, which one warp adds up.
cases_in_registers = [
    ("layer", "9x768", 1, "f32", "f32", "f32", True, ""),
    ("rms", "70x256", 1, "bf16", "bf16", "bf16", True, ""),
    ("rms", "601x64", 1, "f32", "f32", "f32", False, ""),
    ("layer", "17x2048", 1, "bf16", "bf16", "f32", True, ""),
    ("layer", "6x1100", 1, "f32", "f32", "f32", True, "zero_centered_gamma"),
    ("rms", "11x4096", 1, "f32", "f32", "f32", True, ""),
    ("layer", "9x8192", 1, "f32", "f32", "f32", True, ""),
    ("layer", "10x1024", 1, "f16", "f16", "f16", False, ""),
]
if sys.argv[2:] == ["registers"]:
    cases = cases_in_registers


def write_hard_rows(columns):
    """Six rows: around 1e6 and -3e5, constant, zero, tiny, and a common one."""
    numbers.seed(columns)
    rows = [(1.0, 1e6), (1.0, -3e5), (0.0, 3.25), (0.0, 0.0), (1e-20, 0.0), (1.0, 0.0)]
    return ",".join(f"{numbers.gauss(0, 1) * scale + mean:.9g}" for scale, mean in rows for _ in range(columns))


for index, (kind, shape, rank, x, dy, gamma, has_sum, attributes) in enumerate(cases):
    sizes = shape.split("x")
    columns = rank or (2 if "norm_rank" in attributes else 1)
    wide = "f64" if x == "f64" else "f32"
    rows = "x".join(sizes[:-columns] + [wide])
    names = ["mean", "corr", "rstd"] if kind == "layer" else ["rstd"]
    tx, tdy, ts = f"tensor<{shape}x{x}>", f"tensor<{shape}x{dy}>", f"tensor<{rows}>"
    width = "x".join(sizes[-columns:])
    tg = f"tensor<{width}x{gamma}>"
    clause, type_clause = ("gamma(%g)", f", {tg}") if rank else ("", "")
    statistics = ", ".join("%" + name for name in names)
    extra = f", {attributes}" if attributes else ""
    arguments = [f"%dy: {tdy}", f"%x: {tx}"] + [f"%{name}: {ts}" for name in names]
    arguments += [f"%g: {tg}"] if rank else []
    arguments += [f"%dsum: {tx}"] if has_sum else []
    results = [tx] + [tg, tg] if rank else [tx]
    values = ["%dx", "%dgamma", "%dbeta"][: len(results)]
    # The backward of this kind alone has an epsilon.
    of_backward = ", ".join(["epsilon = 1.0e-5"] * (kind == "l2") + [attributes] * bool(attributes))
    with open(f"{folder}/{index}.mlir", "w") as text:
        text.write(f"""
func.func @forward(%x: {tx}, %g: {tg}) -> ({", ".join([ts] * len(names))}) {{
  %y, {statistics} = resid.{kind}_norm %x {clause} {{epsilon = 1.0e-5{extra}}} : {tx}{type_clause} -> {tx}, {", ".join([ts] * len(names))}
  return {statistics} : {", ".join([ts] * len(names))}
}}
func.func @backward({", ".join(arguments)}) -> ({", ".join(results)}) {{
  {", ".join(values)} = resid.{kind}_norm_grad %dy, %x statistics({statistics}) {clause} {"sum(%dsum)" if has_sum else ""} {{{of_backward}}} : {tdy}, {tx}, {ts}{type_clause}
  return {", ".join(values)} : {", ".join(results)}
}}
""")
    random = lambda type, shape, seed: f"--arg={type}[{shape}]=random:{seed}"
    of_x = f"--arg={x}[{shape}]={write_hard_rows(int(width))}" if sizes[0] == "6" and sizes[1] != "33" else random(x, shape, 1)
    forward = [of_x, random(gamma, width, 2)] + [f"--out={folder}/{name}.npy" for name in names]
    backward = [random(dy, shape, 3), of_x] + [f"--arg={folder}/{name}.npy" for name in names]
    backward += [random(gamma, width, 2)] if rank else []
    backward += [random(x, shape, 4)] if has_sum else []
    print(f"{index};{' '.join(forward)};{' '.join(backward)};{'dx dgamma dbeta' if rank else 'dx'};{'2 5 64' if shape == '700x16' else ''}")
