#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles the blocks of gpu-check for GPUs and for the CPU, and puts them into a folder with all that a machine with a
# GPU needs to run them: the runtime's sources, the runner and the script gpu-check. `make gpu-check-pack` runs it.

import argparse
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/run/Inputs"))
KINDS = {"add_layer": (False, True), "add_rms": (False, False), "layer": (True, True)}
TYPES = ["f32", "bf16"]
WIDTHS = [256, 512, 768, 1024, 2048, 4096, 8192, 16384, 32768]


def compile_block(residc, program, name, folder, chips, cpu):
    """The same program twice: the C names of the first begin with g_, those of the second with c_."""
    for prefix, flags in (("g", ["--target=cuda", f"--chip={chips}"]), ("c", [f"--mcpu={cpu}"])):
        output = folder / f"{prefix}-{name}"
        subprocess.run([residc, program, "-o", f"{output}.o", f"--header={output}.h", f"--prefix={prefix}_{name}_", *flags], check=True)


def write_table(blocks, folder):
    lines = ["// Made by pack.py.", "", '#include "Block.h"', ""]
    lines += [f'#include "{prefix}-{name}.h"' for name, *_ in blocks for prefix in "gc"]
    lines += ["", "const std::vector<Block> blocks = {"]
    for name, kind, element, width in blocks:
        dropout, layer = (str(value).lower() for value in KINDS[kind])
        lines.append(f'    {{"{name}", "{element}", {width}, {dropout}, {layer}, g_{name}_block_dl, c_{name}_block_dl}},')
    (folder / "runner/blocks.cpp").write_text("\n".join(lines + ["};", ""]))


def main():
    parser = argparse.ArgumentParser(description="Pack kernels for a machine with a GPU.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build folder with residc")
    parser.add_argument("--out", type=pathlib.Path, help="the folder that is made anew; default: gpu-check in the build folder")
    parser.add_argument("--chip", default="sm_80,sm_90", help="chips, as residc takes them")
    parser.add_argument("--mcpu", default="x86-64-v3", help="the CPU of the machine with the GPU")
    parser.add_argument("--widths", type=lambda text: [int(width) for width in text.split(",")], default=WIDTHS, help="columns, with commas between them")
    parser.add_argument("--types", type=lambda text: text.split(","), default=TYPES, help="of f32 and bf16, with commas between them")
    flags = parser.parse_args()
    out = flags.out or flags.build / "gpu-check"
    shutil.rmtree(out, ignore_errors=True)
    kernels, here = out / "kernels", pathlib.Path(__file__).parent
    kernels.mkdir(parents=True)
    cases = [(kind, element, width) for kind in KINDS for element in flags.types for width in flags.widths]
    written = [f"{kind}-{element}-{element}-{element}-{width}" for kind, element, width in cases]
    subprocess.run([sys.executable, ROOT / "test/run/Inputs/write_fixed_rows.py", kernels, *written], check=True)
    blocks = []
    for (kind, element, width), program in zip(cases, written):
        name = f"{kind}_{element}_{width}"
        compile_block(flags.build / "bin/residc", kernels / f"{program}.mlir", name, kernels, flags.chip, flags.mcpu)
        blocks.append((name, kind, element, width))
        if sys.stderr.isatty():
            print(f"\r{len(blocks)} of {len(cases)} blocks ", end="", file=sys.stderr, flush=True)
    shutil.copytree(here / "runner", out / "runner")
    shutil.copytree(ROOT / "runtime", out / "runtime")
    for script in ("gpu-check", "drawing.py", "peers.py"):
        shutil.copy(here / script, out)
    write_table(blocks, out)
    print(f"{out}: {sum(f.stat().st_size for f in out.rglob('*') if f.is_file()) / 1e6:.1f} MB", file=sys.stderr)


main()
