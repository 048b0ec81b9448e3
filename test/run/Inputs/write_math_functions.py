# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints a program with one function per function of math and type: k_NAME_TYPE, on arrays of any length.
# Usage: write_math_functions.py TYPE … [-- NAME …]

import sys

UNARY = ("acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 expm1 log log10 log1p log2 rsqrt sin sinh sqrt "
         "tan tanh").split()
BINARY = ["atan2", "powf"]


def main():
    types, _, names = " ".join(sys.argv[1:]).partition("--")
    for element in types.split():
        tensor = f"tensor<?x{element}>"
        for name in names.split() or UNARY + BINARY:
            second = f", %z: {tensor}" if name in BINARY else ""
            operands = "%x, %z" if second else "%x"
            print(f"func.func @k_{name}_{element}(%x: {tensor}{second}) -> {tensor} {{\n"
                  f"  %y = math.{name} {operands} : {tensor}\n  return %y : {tensor}\n}}")


main()
