#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# count_instructions.py BUILD: instructions per element that compiled kernels execute, beside those of
# hand-written ones with registers of the same width. x86-64 is counted by callgrind, and aarch64 by QEMU, which needs clang,
# lld and a C library for it. Prints the table of docs/measurements/instructions.md. Does not own: times.

import argparse
import pathlib
import re
import subprocess
import tempfile

from harness import cases

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARRAYS = ("x", "f", "gamma", "beta", "y", "s", cases.COLUMN_SUMS)
# The ways of the harness that keep rows in the cache, where these few stay.
BY_HAND = "avx2_hand_{kernel}_{type}_{stores}"

CALLER = """#include "runtime/resid.h"
#include <stdlib.h>
#include <string.h>
int32_t FUNCTION(TYPES);
static _Alignas(4096) char ARRAYS;
static _Alignas(4096) char scratch[1 << 24];
static void *lend(void *user, size_t bytes, size_t alignment) {
  (void)user, (void)alignment;
  return bytes <= sizeof(scratch) ? scratch : NULL;
}
static void giveBack(void *user, void *memory) { (void)user, (void)memory; }
/* A row of numbers between -1 and 1, again and again. */
static void fill(char *array, size_t bytes) {
  for (size_t i = 0; i < ROW / sizeof(ELEMENT); ++i) {
    float value = (float)(i * 7919 % 2003) / 1001.5f - 1.0f;
    uint32_t bits;
    memcpy(&bits, &value, 4);
    bits >>= 32 - 8 * sizeof(ELEMENT);
    memcpy(array + i * sizeof(ELEMENT), &bits, sizeof(ELEMENT));
  }
  for (size_t at = ROW; at < bytes; at += ROW)
    memcpy(array + at, array, ROW);
}
int main(int count, char **arguments) {
  resid_ctx context = RESID_CTX_INIT;
  context.alloc = lend;
  context.free = giveBack;
  FILLS
  for (int i = count > 1 ? atoi(arguments[1]) : 1; i > 0; --i)
    if (FUNCTION(VALUES))
      return 1;
  return 0;
}
"""


def caller(function, values, case):
    """The text of a program that calls a function of so many pointers and 64-bit integers as often as it is told."""
    arrays = ", ".join(f"{name}[{case.bytes_of(name)}]" for name in ARRAYS)
    fills = " ".join(f"fill({name}, sizeof({name}));" for name in ("x", "f", "gamma", "beta"))
    given = ", ".join(f"(int64_t){value}" for value in values)
    element = {"f32": "uint32_t", "bf16": "uint16_t"}[case.type]
    row = f"((size_t){case.bytes_of('gamma')})"
    return (CALLER.replace("FUNCTION", function).replace("TYPES", ", ".join(["int64_t"] * len(values)))
            .replace("ARRAYS", arrays).replace("FILLS", fills).replace("VALUES", given).replace("ELEMENT", element)
            .replace("ROW", row))


def call_compiled(case):
    """Function and arguments of a compiled kernel of this width."""
    values = ["&context"]
    for name in case.kernel.arguments:
        values += [cases.SCALARS[name]] if name in cases.SCALARS else [name]
        values += [case.rows] if name in cases.ROW_ARRAYS else []
    return cases.function_name(case.kernel.name, case.type, case.width), [*values, *case.kernel.results]


def call_by_hand(case):
    """Function and arguments of a hand-written kernel (handwritten/Kernels.cpp)."""
    stores = "cascade" if case.kernel.name == "column_sums" else "plain"
    values = ["&context", "x", "f", "gamma", "beta", *(*case.kernel.results, "s")[:2], case.rows, case.width,
              *cases.SCALARS.values()]
    return BY_HAND.format(kernel=case.kernel.name, type=case.type, stores=stores), values


class X86:
    """Programs of this machine, counted by callgrind. It knows no AVX-512."""
    def __init__(self, build):
        self.build = build

    def link(self, source, inputs, program):
        library = self.build / "lib"
        subprocess.run(["cc", "-O1", f"-I{ROOT}", source, *inputs, f"-L{library}", f"-Wl,-rpath,{library}",
                        "-lresid-benchmarks", "-o", program], check=True)

    def run(self, program, calls):
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, str(calls)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        return int(re.search(r"Collected *: *(\d+)", text).group(1))


class AArch64:
    """Programs for aarch64, counted by QEMU: a line per instruction."""
    def __init__(self, clang):
        self.clang = clang

    def link(self, source, inputs, program):
        subprocess.run([self.clang, "--target=aarch64-linux-gnu", "-fuse-ld=lld", "-static", "-O1", f"-I{ROOT}", source,
                        *inputs, "-o", program], check=True)

    def run(self, program, calls):
        command = ["qemu-aarch64", "-singlestep", "-d", "exec,nochain", "-D", "/dev/stdout", program, str(calls)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            count = sum(line.startswith(b"Trace") for line in process.stdout)
        assert process.returncode == 0, command
        return count


def count(machine, case, call, inputs, folder):
    """Instructions per element: what a second call adds, so that loading and filling do not count."""
    function, values = call
    source, program = folder / "caller.c", folder / "caller"
    source.write_text(caller(function, values, case))
    machine.link(source, inputs, program)
    return (machine.run(program, 2) - machine.run(program, 1)) / case.elements


def compile_kernel(build, case, flags, folder):
    source, target = folder / "kernel.mlir", folder / "kernel.o"
    source.write_text(cases.specialize(case.kernel.name, case.type, case.width))
    subprocess.run([build / "bin" / "residc", source, "-o", target, *flags], check=True)
    return target


def rows_of_table(build, clang, chosen, folder):
    x86, aarch64 = X86(build), AArch64(clang)
    for case in chosen:
        by_hand = count(x86, case, call_by_hand(case), [], folder)
        found = [count(machine, case, call_compiled(case), [compile_kernel(build, case, flags, folder)], folder)
                 for machine, flags in ((x86, ["--mcpu=x86-64-v3"]), (x86, ["--mcpu=x86-64-v2"]),
                                        (aarch64, ["--mtriple=aarch64-linux-gnu", "--mcpu=generic"]))]
        yield (f"| {case.kernel.title}, {case.type} | {by_hand:.2f} | {found[0]:.2f} | {found[0] / by_hand:.2f} | "
               f"{found[1]:.2f} | {found[2]:.2f} | {found[2] / found[1]:.2f} |")


def main():
    parser = argparse.ArgumentParser(description="Counts the instructions of compiled and hand-written kernels.")
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve(), help="the build folder")
    parser.add_argument("--shape", default="32x768", metavar="ROWSxWIDTH")
    parser.add_argument("--only", default="", metavar="PART", help="only kernels whose name contains this")
    parser.add_argument("--clang", default="clang-22", help="the compiler for aarch64")
    options = parser.parse_args()
    shape = map(int, options.shape.split("x"))
    chosen = [cases.Case(kernel, element, rows, width, 1) for rows, width in [shape] for kernel in cases.KERNELS
              for element in cases.SIZES if options.only in kernel.name]
    print("| kernel | hand-written, AVX2 | resid, x86-64-v3 | of hand-written | resid, x86-64-v2 | resid, aarch64 | of x86-64-v2 |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for row in rows_of_table(options.build, options.clang, chosen, pathlib.Path(folder)):
            print(row, flush=True)


main()
