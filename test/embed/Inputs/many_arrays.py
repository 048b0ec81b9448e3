#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes functions of many arrays, and how many_arrays.c calls them: caches that grow in place, strided columns, and a deep
stack of blocks. Usage: many_arrays.py <folder>; many_arrays.py --stack=<blocks>, --copies=<number> or
--open-copies=<number> prints a program alone."""
import sys

CACHES, COLUMNS = 26, 30


def write_function(name, arguments, lines, results):
    types = ", ".join(kind for _, kind in results)
    return (f"func.func @{name}({', '.join(arguments)}) -> ({types}) {{\n" + "".join(f"  {line}\n" for line in lines) +
            f"  return {', '.join(value for value, _ in results)} : {types.replace(' {resid.strided}', '')}\n}}\n")


def write_caches():
    cache, new = "tensor<1x1x4x2xf32>", "tensor<1x1x1x2xf32>"
    arguments = [f"%c{i}: {cache}, %x{i}: {new}" for i in range(CACHES)] + ["%past: i64"]
    lines = [f"%y{i} = resid.append %c{i}, %x{i} past(%past) : {cache}, {new}" for i in range(CACHES)]
    return write_function("caches", arguments, lines, [(f"%y{i}", cache) for i in range(CACHES)])


def write_columns():
    kind = "tensor<?x2xf32>"
    arguments = [f"%x{i}: {kind} {{resid.strided}}" for i in range(COLUMNS)]
    lines = [f"%y{i} = resid.add %x{i}, %x{i} : {kind}" for i in range(COLUMNS)]
    return write_function("columns", arguments, lines, [(f"%y{i}", kind + " {resid.strided}") for i in range(COLUMNS)])


def write_stack(blocks):
    matrix, row, x = "tensor<64x64xf32>", "tensor<64xf32>", "%x"
    arguments, lines = [f"%x: {matrix}"], []
    for i in range(blocks):
        arguments += [f"%w{i}: {matrix}, %b{i}: {row}, %g{i}: {row}, %e{i}: {row}"]
        lines += [f"%l{i} = resid.linear {x}, %w{i} bias(%b{i}) : {matrix}, {matrix}, {row}",
                  f"%a{i} = resid.activation gelu %l{i} : {matrix}",
                  f"%s{i} = resid.add {x}, %a{i} : {matrix}",
                  f"%n{i} = resid.layer_norm %s{i} gamma(%g{i}) beta(%e{i}) {{epsilon = 1.0e-5}} : {matrix}, {row}, {row}"]
        x = f"%n{i}"
    return write_function("stack", arguments, lines, [(x, matrix)])


def write_copies(number, kind):
    return write_function("copies", [f"%a{i}: {kind}" for i in range(number)], [], [(f"%a{i}", kind) for i in range(number)])


def write_calls():
    caches = ", ".join(f"a[{2 * i}], a[{2 * i + 1}]" for i in range(CACHES))
    grown = ", ".join(f"a[{2 * CACHES + i}]" for i in range(CACHES))
    columns = ", ".join(f"a[{i}], rows[{i}], strides[{i}]" for i in range(COLUMNS))
    results = ", ".join(f"a[{COLUMNS + i}], strides[{COLUMNS + i}]" for i in range(COLUMNS))
    return (f"enum {{ CACHES = {CACHES}, COLUMNS = {COLUMNS} }};\n"
            f"#define CALL_CACHES(ctx, a) caches(ctx, {caches}, 1, {grown})\n"
            f"#define CALL_COLUMNS(ctx, a, rows, strides) columns(ctx, {columns}, {results})\n")


def main(argument):
    if argument.startswith("--stack="):
        print(write_stack(int(argument.split("=")[1])))
    elif argument.startswith("--copies="):
        print(write_copies(int(argument.split("=")[1]), "tensor<4xf32>"))
    elif argument.startswith("--open-copies="):
        print(write_copies(int(argument.split("=")[1]), f"tensor<{'?x' * 8}f32>"))
    else:
        with open(f"{argument}/many.mlir", "w", encoding="utf-8") as file:
            file.write(write_caches() + write_columns())
        with open(f"{argument}/calls.h", "w", encoding="utf-8") as file:
            file.write(write_calls())


main(sys.argv[1])
