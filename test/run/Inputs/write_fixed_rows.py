# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes the residual add with dropout and a norm for rows of a fixed width, as GPUs keep them in registers.
# Usage: write_fixed_rows.py <folder> <norm>-<type of the stream>-<type of the branch>-<type of the parameters>-<width> ...
# Writes there one program for each case. All have two results, the norm's and the sum. The norms add_layer and add_rms
# stand for the same without dropout.

import pathlib
import sys

NORMS = {
    "layer": "resid.layer_norm %s gamma(%g) beta(%b) {{epsilon = 1.0e-5}} : {X}, {V}, {V}",
    "rms": "resid.rms_norm %s gamma(%g) {{epsilon = 1.0e-6}} : {X}, {V}",
}
DROPOUT = "  %d = resid.dropout %f seed(%seed, %step) {{p = 0.1, site = 3}} : {F}\n"
CAST = "  %e = arith.extf {branch} : {F} to {X}\n"
PROGRAM = """func.func @block(%x: {X}, %f: {F}, %g: {V}, %b: {V}, %seed: i64, %step: i64) -> ({X}, {X}) {{
{dropout}{cast}  %s = resid.add %x, {branch} : {X}
  %y = {norm}
  return %y, %s : {X}, {X}
}}
"""


def program(norm, stream, branch_type, parameter, width):
    """The text of a case. The width may be `?`."""
    types = dict(X=f"tensor<?x{width}x{stream}>", F=f"tensor<?x{width}x{branch_type}>", V=f"tensor<{width}x{parameter}>")
    without_dropout = norm.startswith("add_")
    branch = "%f" if without_dropout else "%d"
    cast = CAST.format(branch=branch, **types) if stream != branch_type else ""
    return PROGRAM.format(
        norm=NORMS[norm.removeprefix("add_")].format(**types),
        dropout="" if without_dropout else DROPOUT.format(**types),
        cast=cast,
        branch="%e" if cast else branch,
        **types,
    )


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for case in sys.argv[2:]:
        (folder / f"{case}.mlir").write_text(program(*case.split("-")))


if __name__ == "__main__":
    main()
