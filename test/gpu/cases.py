# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What `make check-gpu` runs: norms, types, widths, rows, schedules and orders of threads, each as a program and the
# arguments of resid-run. Runs nothing. Cases of single tests are in tests.py.

import dataclasses
import pathlib
import subprocess
import sys

import programs
import ptxas

INPUTS = ptxas.ROOT / "test/run/Inputs"
TYPES = ["f32-f32-f32", "bf16-bf16-bf16", "f16-f16-f16", "f64-f64-f64", "f32-bf16-f32", "bf16-bf16-f32"]
COUNTED_TYPES = ["f32-f32-f32", "bf16-bf16-bf16"]
# By their names in write_fixed_rows.py.
NORMS = {"add_layer": "add, layer norm", "add_rms": "add, RMS norm", "layer": "dropout, add, layer norm", "rms": "dropout, add, RMS norm"}
WIDTHS = [1, 2, 33, 63, 64, 66, 100, 250, 256, 258, 320, 500, 512, 768, 1000, 1023, 1024, 1030, 1088, 1536, 2048, 2560, 3072]
WIDTHS += [4096, 5120, 8192, 12288, 16384, 32768, 40000]
# Of one span and several, in several threads and in one block, whole and not, for the cases below that vary something else.
SOME_WIDTHS = [33, 64, 250, 256, 768, 1000, 1024, 1100, 2048, 4096, 8192, 16384]
MOST_ROWS, ELEMENTS = 300, 1 << 15
# Launches of these have few rows, which have a kernel of their own.
MANY = ("--schedule=gpu-rows=many",)
SCHEDULES = ["gpu-lanes=2", "gpu-lanes=4", "gpu-lanes=8", "gpu-weights=registers", "gpu-lanes=2,gpu-rows=1,gpu-weights=registers"]


@dataclasses.dataclass(frozen=True)
class Case:
    kind: str
    name: str  # of the program's file, without .mlir; of one of the repository's, its path
    rows: int
    arguments: tuple
    results: int
    width: int = 0
    order: str = ""  # in which threads run
    flags: tuple = ()
    entry: str = ""
    # Of the forward: what its counts are divided by.
    norm: str = ""
    types: str = ""
    kernel: str = ""  # what its first kernel is called after the function
    most_sectors: float = 0  # how many times the bytes of its accesses the sectors of each of its kernels have at most
    before: tuple = ()  # words of resid-run for what comes first, such as the function that gives this one its arrays

    def describe(self):
        return " ".join([self.kind, pathlib.Path(self.name).name, self.entry, f"{self.rows} rows", self.order, *self.flags]).replace("  ", " ")


def choose_rows(width):
    return max(1, min(MOST_ROWS, ELEMENTS // width))


def make_forward(kind, norm, types, width, order="", rows=None, flags=(), kernel=""):
    stream, branch, parameter = types.split("-")
    rows = rows or choose_rows(width)
    arguments = programs.name_arrays(f"{stream}[{rows}x{width}] {branch}[{rows}x{width}] {parameter}[{width}] {parameter}[{width}] 7 11")
    return Case(kind, f"{norm}-{types}-{width}", rows, arguments, 2, width, order, flags, norm=norm, types=types, kernel=kernel)


def make_backward(kind, norm, element, width, has_sum, rows=None, flags=(), order=""):
    rows = rows or choose_rows(width)
    arguments = programs.get_backward_arguments(norm, element, element, rows, width, has_sum)
    name = f"backward-{norm}-{element}-{width}-{'sum' if has_sum else 'alone'}"
    return Case(kind, name, rows, tuple(arguments), 3, width, order, flags)


def make_statistics(norm, types, width):
    stream, branch, parameter = types.split("-")
    rows = choose_rows(width)
    arguments = programs.get_forward_arguments(stream, branch, parameter, rows, width)
    return Case("statistics", f"statistics-{norm}-{types}-{width}", rows, tuple(arguments), 2 + len(programs.STATISTICS[norm]), width)


def make_open(entry, width, kind="open", rows=None, **more):
    rows = rows or choose_rows(width)
    element = "bf16" if entry == "dropout_rms" else "f32"
    x, g, row = f"{element}[{rows}x{width}]", f"f32[{width}]", f"f32[{rows}]"
    words = {"layer": f"{g} {g}", "dropout_rms": f"{g} 7 11", "backward": f"{row}=0.1 {row}=0.001 {row}=0.5 {g}"}[entry]
    arguments = programs.name_arrays(f"{x} {x} {words}")
    return Case(kind, str(INPUTS / "open-widths"), rows, arguments, 3 if entry == "backward" else 2, width, entry=entry, **more)


def make_special(norm, element, width, is_open, kind="special", order=""):
    """Rows with large means, constants, overflow, subnormals, NaN and infinity."""
    name = f"{norm}-{element}" if is_open else f"{norm}-{element}-{width}"
    return Case(kind, name, 14, (f"FOLDER/rows-{width}.npy", f"FOLDER/parameters-{width}.npy"), 1, width, order)


def choose_cases(widths=None, kinds=None):
    """All cases, or those of some widths and some kinds."""
    orders = ["backward", "random=1"]
    some = SOME_WIDTHS if widths is None else widths
    cases = [make_forward("forward", norm, types, width, flags=MANY) for norm in NORMS for types in TYPES for width in widths or WIDTHS]
    # The other orders find races, for which one norm with all of its passes is enough.
    cases += [make_forward("orders", "layer", types, width, order, flags=MANY) for order in orders for types in COUNTED_TYPES for width in widths or WIDTHS]
    cases += [make_backward("orders", "layer", element, width, True, order=order) for order in orders for element in ("f32", "bf16") for width in some if 64 <= width <= 8192]
    cases += [make_forward("in-place", norm, types, width, flags=("--in-place",))
              for norm in NORMS for types in ("f32-f32-f32", "bf16-bf16-bf16", "f32-bf16-f32") for width in some]
    cases += [make_backward("backward", norm, element, width, has_sum)
              for norm in ("layer", "rms") for element in ("f32", "bf16", "f16") for has_sum in (True, False) for width in some]
    few = [width for width in some if 64 <= width <= 512]
    cases += [make_forward("rows", norm, types, width, rows=rows) for norm in ("layer", "add_rms") for types in COUNTED_TYPES for width in few for rows in (1, 33, 1000)]
    cases += [make_backward("rows", norm, element, width, True, rows) for norm in ("layer", "rms") for element in ("f32", "bf16") for width in few for rows in (1, 33, 1000)]
    scheduled = [width for width in some if 64 <= width <= 4096]
    cases += [make_forward("schedules", "layer", types, width, flags=(f"--schedule={keys}",)) for keys in SCHEDULES for types in COUNTED_TYPES for width in scheduled]
    cases += [make_backward("schedules", "layer", element, width, True, flags=(f"--schedule={keys}",)) for keys in SCHEDULES for element in ("f32", "bf16") for width in scheduled]
    cases += [make_open(entry, width) for entry in ("layer", "dropout_rms", "backward") for width in [*some, *([63, 66, 1088, 1536, 3072, 15360] if widths is None else [])]]
    special = [width for width in some if width in (64, 256, 768, 1024, 1100, 2048, 8192)]
    forward, backward = ["layer", "layer_without_epsilon", "rms", "dyt"], ["layer_backward", "rms_backward"]
    cases += [make_special(norm, element, width, is_open) for element in ("f16", "bf16", "f32", "f64") for width in special
              for norm, is_open in [(norm, False) for norm in forward] + [(norm, True) for norm in [*forward, *backward]]]
    cases += [make_statistics(norm, types, width) for norm in ("layer", "rms") for types in ("f32-f32-f32", "bf16-bf16-bf16", "f32-bf16-f32") for width in some]
    return [case for case in cases if not kinds or case.kind in kinds]


def write_programs(cases, folder):
    """The programs of all cases, and the arrays that some of them take."""
    fixed = sorted({case.name for case in cases if case.norm})
    if fixed:
        subprocess.run([sys.executable, INPUTS / "write_fixed_rows.py", folder, *fixed], check=True)
    special = {case.width for case in cases if case.arguments[0].startswith("FOLDER/rows-")}
    if special:
        subprocess.run([sys.executable, INPUTS / "adversarial_rows.py", folder, *map(str, sorted(special - {"none"}))], check=True)
    for name in {case.name for case in cases}:
        kind, *words = name.split("-")
        if kind == "backward":
            norm, element, width, total = words
            text = programs.write_backward(norm, element, element, width, total == "sum")
        elif kind == "statistics":
            text = programs.write_forward(*words)
        elif kind == "strided":
            text = programs.STRIDED.replace("WIDTH", words[0])
        elif name == "alone":
            text = programs.ALONE
        else:
            continue
        (folder / f"{name}.mlir").write_text(text)
