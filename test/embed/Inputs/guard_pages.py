# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes the programs of guard_pages.cpp: for one element type every op of the residual stream alone, chained and fused, for every
# number of rows and every width. Usage: guard_pages.py <element type> <folder> <prefix>…, where each prefix is that of one
# compiled object. Writes there: programs.mlir, and programs.inc, the table of calls.

import pathlib
import sys

from random_programs import BYTES, Program, Tensor, call, function, pieces

# Norm, shape of the gate, and how parameters and sums are stored.
CHAINS = [("layer", "feature", "f32"), ("rms", "row", "own"), ("dyt", "full", "own"), ("layer", "scalar", "wide")]


class Chain(Program):
    """A program of random_programs.py with everything in it, rows and width left to the caller."""

    def __init__(self, element, kind, gate, storage):
        self.name, self.element, self.kind = f"{kind}_{gate}", element, kind
        wide, narrow = storage == "wide", BYTES[element] == 2
        own = element if storage == "own" or element == "f64" else "f32"
        self.dims, self.dynamic = ["rows", "width"], [True, True]
        self.normalized_rank, self.dropout, self.origin = 1, 0.25, kind == "rms"
        self.sum_element = "f32" if wide and narrow else element
        self.result_element = element if wide and narrow else self.sum_element
        self.narrow_affine = wide and narrow
        parameter = lambda name: Tensor(name, own, ["width"], [True])
        self.x, self.f = (Tensor(name, element, self.dims, self.dynamic) for name in ("x", "f"))
        self.bias, self.gamma, self.beta = parameter("bias"), parameter("gamma"), parameter("beta")
        self.alpha = Tensor("alpha", self.parameter_f32(), [], []) if kind == "dyt" else None
        self.gate = {
            "feature": parameter("gate"),
            "row": Tensor("gate", own, ["rows", 1], [True, False]),
            "full": Tensor("gate", own, self.dims, self.dynamic),
            "scalar": Tensor("gate", own, [], []),
        }[gate]
        self.skip, self.branch, self.zero_centered = 1.25, 0.3, False
        self.statistics = {"layer": 3, "rms": 1, "dyt": 0}[kind]


def arrays(tensors):
    spec = lambda tensor: f"{{Element::{tensor.element}, {int('rows' in tensor.dims)}, {int('width' in tensor.dims)}}}"
    return "{" + ", ".join(map(spec, tensors)) + "}"


def wrapper(prefix, name, inputs, scalars, outputs):
    sources = [f"in[{i}]" for i in range(len(inputs))]
    targets = [(tensor, f"out[{i}]") for i, tensor in enumerate(outputs)]
    return (
        f"static resid_status call_{prefix}{name}(const resid_ctx *ctx, int64_t rows, int64_t width, void *const *in,\n"
        f"    void *const *out) {{\n  (void)rows, (void)width;\n"
        f"  return {call(prefix + name, inputs, sources, scalars, targets)};\n}}\n"
    )


def main():
    element, folder, prefixes = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    found = [piece for chain in CHAINS for piece in pieces(Chain(element, *chain))]
    (folder / "programs.mlir").write_text("\n".join(function(*piece) for piece in found))
    text, table = "", ""
    for name, inputs, scalars, _, outputs in found:
        text += "".join(wrapper(prefix, name, inputs, scalars, outputs) for prefix in prefixes)
        calls = ", ".join(f'{{"{prefix}", call_{prefix}{name}}}' for prefix in prefixes)
        table += f'  {{"{name}", {arrays(inputs)}, {arrays(outputs)}, {{{calls}}}}},\n'
    text += "static const std::vector<Program> programs = {\n" + table + "};\n"
    headers = "".join(f'#include "{prefix}programs.h"\n' for prefix in prefixes)
    (folder / "headers.inc").write_text(headers)
    (folder / "programs.inc").write_text(text)


main()
