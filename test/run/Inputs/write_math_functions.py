# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes functions.mlir, a program with one function k_NAME_TYPE per function of math and type, on arrays of any length,
# and functions.h, which lists them for math-functions.c.
# Usage: write_math_functions.py FOLDER TYPE … [-- NAME …]

import pathlib
import sys

UNARY = ("acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 expm1 log log10 log1p log2 rsqrt sin sinh sqrt "
         "tan tanh").split()
BINARY = {"atan2": "atan2", "powf": "pow"}


def function(name, element):
    tensor = f"tensor<?x{element}>"
    parameters, operands = (f"%x: {tensor}, %z: {tensor}", "%x, %z") if name in BINARY else (f"%x: {tensor}", "%x")
    return (f"func.func @k_{name}_{element}({parameters}) -> {tensor} {{\n"
            f"  %y = math.{name} {operands} : {tensor}\n  return %y : {tensor}\n}}\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    types, _, names = " ".join(sys.argv[2:]).partition("--")
    types, names = types.split(), names.split() or UNARY + list(BINARY)
    (folder / "functions.mlir").write_text("".join(function(name, element) for element in types for name in names))
    (folder / "functions.h").write_text(
        "#define UNARIES(F) " + " ".join(f"F({name}, {name})" for name in names if name in UNARY) + "\n"
        "#define BINARIES(F) " + " ".join(f"F({name}, {BINARY[name]})" for name in names if name in BINARY) + "\n" +
        ("#define NARROW\n" if "f16" in types else ""))


main()
