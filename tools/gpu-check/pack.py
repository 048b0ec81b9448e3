#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles the blocks of gpu-check for GPUs and for the CPU, and puts them into a folder with all that a machine with a
# GPU needs to run them: the runtime's sources, the runner and the script gpu-check. `make gpu-check-pack` runs it.

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

import kinds
import whole_programs
from ptxas import split  # of test/gpu, where kinds looks too

SHAPES = {"matrix": "Array::Matrix", "column": "Array::PerColumn", "row": "Array::PerRow"}


def compile_block(residc, program, block, folder, flags):
    """The same program twice: the C names of the first begin with g_, those of the second with c_. Gives the report's lines
    of how GPUs run it, one for each kernel and chip."""
    plan = []
    schedule = [f"--schedule={block.schedule}"] if block.schedule else []
    cubin = ["--cubin"] if flags.cubin else []
    for prefix, more in (("g", ["--target=cuda", f"--chip={flags.chip}", "--report", *schedule, *cubin]), ("c", [f"--mcpu={flags.mcpu}"])):
        output = folder / f"{prefix}-{block.name}"
        command = [residc, program, "-o", f"{output}.o", f"--header={output}.h", f"--prefix={prefix}_{block.name}_", *more]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"{block.name}: residc ended with exit code {done.returncode}: {done.stderr}")
        plan += [line.strip() for line in done.stderr.splitlines() if line.strip().startswith("sm_")]
    return plan


def drop_repeated(blocks, plans, folder):
    """The blocks without those whose schedule gives the kernels of another block of the same program: keys that a row has no
    room for are not followed, and times of the default must not pass for those of another schedule."""
    kept, first = [], {}
    for block, plan in zip(blocks, plans):
        other = first.setdefault((block.group, *plan), block)
        if other is block:
            kept.append(block)
            continue
        print(f"{block.name} is left out: its kernels are those of {other.name}", file=sys.stderr)
        for file in (*folder.glob(f"{block.name}.*"), *folder.glob(f"[gc]-{block.name}.*")):
            file.unlink()
    return kept


def describe_arrays(block):
    """The initialisers of the block's arrays in the runner."""
    if block.program:
        arrays = [(name, "false", array) for name, array in zip(block.program.names, block.program.arguments)]
        arrays += [(f"out{number}", "true", array) for number, array in enumerate(block.program.results)]
        return ", ".join(f'{{"{name}", "{array.element}", Array::Fixed{"Plain" * array.is_plain}, {is_result}, -1, {{{", ".join(map(str, array.shape))}}}}}'
                         for name, is_result, array in arrays)
    kind, lines = kinds.KINDS[block.kind], []
    names = [word.split(":")[0] for word in kind.arguments.split()]
    for is_result, words in (("false", kind.arguments), ("true", kind.results)):
        for word in words.split():
            name, shape = word.split(":")
            shape, _, place = shape.partition("@")
            element = {"row": "f32", "column": kind.parameter}.get(shape) or block.element
            lines.append(f'{{"{name}", "{element}", {SHAPES[shape]}, {is_result}, {names.index(place) if place else -1}, {{}}}}')
    return ", ".join(lines)


def write_table(blocks, folder):
    lines = ["// Made by pack.py.", "", '#include "Block.h"', ""]
    lines += [f'#include "{prefix}-{block.name}.h"' for block in blocks for prefix in "gc"]
    lines += ["", "const std::vector<Block> blocks = {"]
    for block in blocks:
        kind = kinds.KINDS.get(block.kind, kinds.WHOLE)
        widths, timed = (", ".join(map(str, some)) for some in (block.widths, block.timed))
        lines.append(f'    {{"{block.name}", "{block.group}", {{{describe_arrays(block)}}}, {str(kind.has_scalars).lower()}, Reference::{kind.reference}, '
                     f"{{{widths}}}, {{{timed}}}, {block.program.flops if block.program else 0}, g_{block.name}_block_dl, c_{block.name}_block_dl, g_{block.name}_block_preload}},")
    (folder / "runner/blocks.cpp").write_text("\n".join(lines + ["};", ""]))


def read_sizes(text):
    """By kind."""
    sizes = {}
    for word in text.split(","):
        kind, _, one = word.partition(":")
        own = whole_programs.KINDS[kind].example.split("x") if kind in whole_programs.KINDS else []
        if len(one.split("x")) != len(own) or not all(size.isdigit() for size in one.split("x")):
            expected = ", ".join(f"{name}:{whole.example}" for name, whole in whole_programs.KINDS.items())
            raise argparse.ArgumentTypeError(f"expected KIND:SIZES as in {expected}, but got '{word}'")
        sizes.setdefault(kind, []).append(one)
    return sizes


def main():
    parser = argparse.ArgumentParser(description="Pack kernels for a machine with a GPU.")
    parser.add_argument("--build", type=pathlib.Path, default=kinds.ROOT / "build", help="the build folder with residc")
    parser.add_argument("--out", type=pathlib.Path, help="the folder that is made anew; default: gpu-check in the build folder")
    parser.add_argument("--chip", default="sm_80,sm_90", help="chips, as residc takes them")
    parser.add_argument("--mcpu", default="x86-64-v3", help="the CPU of the machine with the GPU")
    parser.add_argument("--cubin", action="store_true", help="machine code beside the PTX, so that the driver compiles nothing; needs ptxas")
    parser.add_argument("--kinds", type=split(str), help=f"of {', '.join([*kinds.KINDS, *whole_programs.KINDS])}, with commas between them; default: all")
    parser.add_argument("--widths", type=split(int), help="columns in place of each kind's own, with commas between them")
    parser.add_argument("--sizes", type=read_sizes, default={}, metavar="KIND:SIZES", help="of whole programs in place of a kind's own, such as product:512x768x3072, with commas between them")
    parser.add_argument("--types", type=split(str), help="of f32, bf16 and f16, with commas between them")
    parser.add_argument("--schedules", type=lambda text: text.split(), default=[], metavar="KEYS", help="more schedules of each block, with spaces between them: "
                        "'gpu-lanes=2 gpu-lanes=4,gpu-rows=8'. They are timed by turns with the default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many blocks are compiled at a time")
    flags = parser.parse_args()
    unknown = [name for name in flags.kinds or [] if name not in kinds.KINDS and name not in whole_programs.KINDS]
    if unknown:
        parser.error(f"--kinds: expected {', '.join([*kinds.KINDS, *whole_programs.KINDS])}, but got '{unknown[0]}'")
    for name in [*(flags.kinds or []), *flags.sizes]:
        types = whole_programs.KINDS[name].sizes if name in whole_programs.KINDS else {}
        if flags.types and types and not set(flags.types) & set(types):
            parser.error(f"--types: expected one of {name}'s, which are {', '.join(types)}, but got {', '.join(flags.types)}")
    for name in flags.sizes:
        if flags.kinds and name not in flags.kinds:
            parser.error(f"--sizes: expected sizes of what --kinds names, but got those of '{name}'")
    out = flags.out or flags.build / "gpu-check"
    shutil.rmtree(out, ignore_errors=True)
    kernels, here = out / "kernels", pathlib.Path(__file__).parent
    kernels.mkdir(parents=True)
    blocks = kinds.choose(flags.kinds, flags.widths, flags.types, flags.schedules, flags.sizes)

    def pack(block):
        program = kernels / f"{block.name}.mlir"
        program.write_text(block.write())
        return compile_block(flags.build / "bin/residc", program, block, kernels, flags)

    plans = []
    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        for plan in pool.map(pack, blocks):
            plans.append(plan)
            if sys.stderr.isatty():
                print(f"\r{len(plans)} of {len(blocks)} blocks ", end="", file=sys.stderr, flush=True)
    blocks = drop_repeated(blocks, plans, kernels)
    shutil.copytree(here / "runner", out / "runner")
    shutil.copytree(kinds.ROOT / "runtime", out / "runtime")
    for script in ("gpu-check", "drawing.py", "peers.py", "results.py", "servers.py", "summary.py", "whole_programs.py"):
        shutil.copy(here / script, out)
    write_table(blocks, out)
    print(f"{out}: {len(blocks)} blocks, {sum(f.stat().st_size for f in out.rglob('*') if f.is_file()) / 1e6:.1f} MB", file=sys.stderr)


main()
