# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How many bytes the forward saves for the backward: what residc says, and what PyTorch's hooks see.

import dataclasses
import re
import subprocess

from . import model

SAVE = ("default", "min", "all")


def ask_residc(options, case, save, folder):
    """The bytes that model_forward saves, all sequences together."""
    source = folder / f"saved-{case.layers}.mlir"
    source.write_text(model.make_program(case.dropout, case.layers))
    command = [options.build / "bin" / "residc", source, "--grad=model", f"--save={save}", f"--placement={case.placement}",
               "--emit=mlir", "-o", folder / "saved.out.mlir"]
    run = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"saves \d+ values for 'model_backward': (\d+)(·\?)? bytes", run.stderr)
    if run.returncode != 0 or not found:
        raise SystemExit(f"bench: {' '.join(map(str, command))} exited with {run.returncode}:\n{run.stderr}")
    return int(found[1]) * (case.rows if found[2] else 1)


def measure_saved(options, case, ways, folder):
    """(title, bytes of all layers, bytes of one layer); one is what the last layer adds."""
    fewer = dataclasses.replace(case, layers=case.layers - 1)
    rows = []
    for save in SAVE:
        whole, less = (ask_residc(options, each, save, folder) for each in (case, fewer))
        rows.append((f"resid, `--save={save}`", whole, whole - less))
    for peer in ways.peers:
        whole, less = (trainer.saved_bytes() for trainer in (peer.trainer(each, ways.arrays) for each in (case, fewer)))
        rows.append((peer.way, whole, whole - less))
    return rows


def table(rows):
    lines = ["| saved for the backward, KB | the whole model | one layer |", "|---|---:|---:|"]
    return "\n".join(lines + [f"| {title} | {whole / 1024:.0f} | {layer / 1024:.0f} |" for title, whole, layer in rows])
