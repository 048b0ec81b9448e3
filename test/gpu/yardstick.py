# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles the hand-written kernels for GPUs with nvcc, and counts their instructions of the chip.

import re
import subprocess

import ptxas as tools

SOURCE = tools.ROOT / "benchmarks/handwritten/cuda/add_norm.cu"
ELEMENTS = {"f32": "float", "bf16": "__nv_bfloat16"}
# Columns that a thread has at most. 16 are usual; with 32, the fixed work of a thread is shared by more.
MOST_COLUMNS = [16, 32]


def compile_and_count(nvcc, nvdisasm, folder, norm, element, width, columns):
    """Instructions per element, or nothing where the mapping has no whole warps, or spills."""
    threads = max(32, width // columns)
    if threads % 32 or width % threads or threads > 1024:
        return None
    cubin = folder / f"by-hand-{norm}-{element}-{width}-{columns}.cubin"
    flags = [f"-DELEMENT={ELEMENTS[element]}", f"-DIS_LAYER={int(norm == 'add_layer')}", f"-DWIDTH={width}", f"-DTHREADS={threads}"]
    command = [nvcc, "-O3", "-std=c++17", "-arch=sm_90", "-fmad=false", "-cubin", "-Xptxas", "-v", *flags, "-o", cubin, SOURCE]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        if "whole accesses" in done.stderr:
            return None
        raise RuntimeError(done.stderr)
    if int(re.search(r"(\d+) bytes spill stores", done.stderr)[1]):
        return None
    return tools.count_instructions(nvdisasm, cubin) / (width // threads)


def count(nvcc, nvdisasm, folder, widths):
    """The fewest instructions per element, by norm, type and width, for sm_90."""
    counts = {}
    for norm in ("add_layer", "add_rms"):
        for element in ELEMENTS:
            for width in widths:
                found = [compile_and_count(nvcc, nvdisasm, folder, norm, element, width, columns) for columns in MOST_COLUMNS]
                if any(found):
                    counts[norm, element, width] = min(number for number in found if number)
    return counts
