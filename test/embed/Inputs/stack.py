# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# stack.py TYPE FOLDER: writes programs that use much stack, FOLDER/stack.mlir, and what stack.c needs in order to call
# them, FOLDER/calls.inc. Their temporaries fill what the stack has for those; their row kernels, of few and of many
# results, what it has for rows and registers.

import pathlib
import sys

SQUARE = "tensor<16x16xf32>"  # 1 KiB, which is the largest temporary on the stack
TEMPORARIES = 20  # more than it has room for
RESULTS = {"few": 2, "many": 40}


def norm(results, rows, vector):
    """Dropout, add and layer norm, and sums until there are so many results; their names."""
    lines = [f"%d = resid.dropout %f seed(%seed, %step) {{p = 0.1, site = 0}} : {rows}",
             f"%s = resid.add %x, %d : {rows}",
             f"%y = resid.layer_norm %s gamma(%g) beta(%b) {{epsilon = 1.0e-5}} : {rows}, {vector}, {vector}"]
    names = ["%y", "%s"]
    for number in range(2, results):
        lines.append(f"%r{number} = arith.addf %{'sy'[number % 2]}, {names[-1]} : {rows}")
        names.append(f"%r{number}")
    return lines, names


def squares():
    """Powers of a square: each is a temporary."""
    yield f"%zero = arith.constant dense<0.0> : {SQUARE}"
    for number in range(TEMPORARIES):
        yield (f"%q{number + 1} = linalg.matmul ins(%q{number}, %q0 : {SQUARE}, {SQUARE}) outs(%zero : {SQUARE}) "
               f"-> {SQUARE}")


def function(name, element):
    rows, vector = f"tensor<?x?x{element}>", f"tensor<?x{element}>"
    lines, names = norm(RESULTS[name], rows, vector)
    types = ", ".join([rows] * len(names) + [SQUARE])
    body = "".join(f"  {line}\n" for line in [*lines, *squares()])
    arguments = f"%x: {rows}, %f: {rows}, %g: {vector}, %b: {vector}, %q0: {SQUARE}, %seed: i64, %step: i64"
    return f"""func.func @{name}({arguments}) -> ({types}) {{
{body}  return {', '.join(names)}, %q{TEMPORARIES} : {types}
}}
"""


def call(name):
    results = "".join(f", result({number})" for number in range(RESULTS[name]))
    return f"""static resid_status call_{name}(const resid_ctx *ctx) {{
  return {name}(ctx, x, kRows, kWidth, f, kRows, kWidth, g, kWidth, b, kWidth, q, 1, 2{results}, square);
}}
static resid_status call_{name}_dl(const resid_ctx *ctx) {{
  return {name}_dl(ctx, tensors({RESULTS[name]}), {RESULTS[name] + 8});
}}
"""


def main():
    element, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stack.mlir").write_text("".join(function(name, element) for name in RESULTS))
    of_type = {"f32": "typedef float element;\n#define RESID_TYPE {kDLFloat, 32, 1}\n",
               "bf16": "typedef uint16_t element;\n#define RESID_TYPE {kDLBfloat, 16, 1}\n"}[element]
    (folder / "type.inc").write_text(of_type)
    (folder / "calls.inc").write_text("".join(map(call, RESULTS)))


main()
