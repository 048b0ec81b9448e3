# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The programs that the tests compile for GPUs, in one place: what ptxas has to take.

import pathlib
import re
import subprocess
import sys

import cases
import ptxas
import streams
import tests

BENCHMARKS = ptxas.ROOT / "benchmarks/kernels"
EXAMPLES, MIXED = ptxas.ROOT / "examples", cases.INPUTS / "mixed-open.mlir"
# Folders of programs that are trained, and what there has no gradients.
TRAINED, UPDATES = (EXAMPLES / "depth_study", EXAMPLES / "train_c"), "adamw.mlir"
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


def write_examples(folder, residc):
    """Examples and a norm of mixed types, and the gradients of what is trained. What residc does not take has ops of other tools."""
    place = folder / "examples"
    place.mkdir()
    run = lambda *words: subprocess.run([residc, *words], capture_output=True).returncode
    found = []
    for file in [*sorted(EXAMPLES.rglob("*.mlir")), MIXED]:
        name = f"example {file.relative_to(EXAMPLES.parent)}"
        if run(file, "-o", place / "one.h"):
            continue
        found.append((name, file))
        if file == MIXED or (file.name != UPDATES and any(folder in file.parents for folder in TRAINED)):
            gradients, function = place / f"{len(found)}.mlir", re.search(r"func\.func @(\w+)", file.read_text())[1]
            run(file, f"--grad={function}", "--grad-mode=value-and-grad", "-o", gradients)
            found.append((f"gradients of {name}", gradients))
    return found


def write_pack(folder, _residc):
    """The blocks of gpu-check."""
    sys.path.append(str(ptxas.ROOT / "tools/gpu-check"))
    import kinds
    place = folder / "pack"
    place.mkdir()
    for block in kinds.choose():
        (place / f"{block.name}.mlir").write_text(block.write())
    return [(f"pack {file.stem}", file) for file in sorted(place.glob("*.mlir"))]


def write_kinds(kinds, folder, residc):
    """Of cases of single tests, or `examples` or `pack`."""
    own = {"examples": write_examples, "pack": write_pack}
    write_cases = lambda kind: name_programs(kind, tests.choose_cases([kind], folder, residc))
    return [program for kind in kinds for program in (own[kind](folder, residc) if kind in own else write_cases(kind))]


def write_all(folder, few=False):
    """(name, file) of each program; those that are written go to `folder`."""
    found = [(f"benchmarks {file.stem}", file) for file in sorted(BENCHMARKS.glob("*.mlir"))]
    found += [("open widths", cases.INPUTS / "open-widths.mlir")]
    found += [(f"embedded {file.stem}", file) for file in EMBEDDED]
    return found + write_norm_grads(folder) + write_special(folder) + write_streams(folder) + write_grid(folder, few)
