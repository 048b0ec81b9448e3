# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The programs that the tests compile for GPUs, in one place: what ptxas has to take. Compiles nothing.

import pathlib
import subprocess
import sys

import cases
import ptxas
import streams
import tests

BENCHMARKS = ptxas.ROOT / "benchmarks/kernels"
EMBEDDED = [ptxas.ROOT / "test/embed/Inputs/cuda_calls.mlir"]


def name_programs(kind, chosen):
    """(name, file) of the programs of cases, each once."""
    return [(f"{kind} {pathlib.Path(name).name}", pathlib.Path(f"{name}.mlir")) for name in dict.fromkeys(case.name for case in chosen)]


def write_norm_grads(folder):
    """The backwards of the tests, those for rows in registers and the others."""
    return [program for kind, words in (("looped", []), ("registers", ["registers"]))
            for program in name_programs(f"grads {kind}", tests.make_pairs("grads", "write_norm_grads", folder, *words))]


def write_special(folder):
    place = folder / "special"
    subprocess.run([sys.executable, cases.INPUTS / "adversarial_rows.py", place], check=True)
    return [(f"special {file.stem}", file) for file in sorted(place.glob("*.mlir"))]


def write_grid(folder, few):
    """Of `make check-gpu`: each program once, without other schedules; with `few`, those of one width of each kind."""
    place = folder / "grid"
    place.mkdir()
    widths = [768, 2048] if few else [33, 250, 256, 768, 1000, 1024, 1100, 4096, 8192, 32768]
    kinds = ["forward", "backward"] + ["statistics"] * (not few)
    chosen = cases.choose_cases(widths, kinds)
    if few:
        chosen = [case for case in chosen if case.types == "f32-bf16-f32" or case.name.endswith("-sum")]
    cases.write_programs(chosen, place)
    return [(f"grid {file.stem}", file) for file in sorted(place.glob("*.mlir"))]


def write_streams(folder):
    """Ops on several streams, products, and what is no row program."""
    place = folder / "streams"
    place.mkdir()
    return name_programs("streams", streams.choose_ops(place))


def write_kinds(kinds, folder, residc):
    """Of cases of single tests."""
    return [program for kind in kinds for program in name_programs(kind, tests.choose_cases([kind], folder, residc))]


def write_all(folder, few=False):
    """(name, file) of each program; those that are written go to `folder`."""
    found = [(f"benchmarks {file.stem}", file) for file in sorted(BENCHMARKS.glob("*.mlir"))]
    found += [("open widths", cases.INPUTS / "open-widths.mlir")]
    found += [(f"embedded {file.stem}", file) for file in EMBEDDED]
    return found + write_norm_grads(folder) + write_special(folder) + write_streams(folder) + write_grid(folder, few)
