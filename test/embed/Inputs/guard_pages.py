# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes the programs of guard_pages.cpp: for one element type every op of the residual stream alone, chained and fused, for every
# number of rows and every width; then chains in further forms. Usage: guard_pages.py <element type> <folder> <prefix>…, where each prefix is that of one compiled object. Writes there: programs.mlir, and programs.inc, the table of calls.
# With --widths=W,… before them: add and norm of these widths, known to the compiler, and no other program.

import pathlib
import sys

from random_programs import BYTES, Program, Tensor, call, flat_piece, function, pieces

# Norm, shape of the gate, and how parameters and sums are stored.
CHAINS = [("layer", "feature", "f32"), ("rms", "row", "own"), ("dyt", "full", "own"), ("layer", "scalar", "wide")]

# Name, norm, sizes, how many dimensions are normalised, whether there is all that may stand in a chain (else add and norm alone), and
# whether rows lie apart, with pages in between that may not be touched.
FORMS = [
    ("bare", "rms", ["rows", "width"], 1, False, False),
    ("static_5", "rms", ["rows", 5], 1, True, False),
    ("static_770", "layer", [2, 770], 1, False, False),
    ("two_axes", "layer", ["rows", 3, "width"], 2, True, False),
    ("strided", "layer", ["rows", "width"], 1, True, True),
    ("strided_two_axes", "rms", ["rows", 3, 13], 2, False, True),
]
FORMS_OF = {"f16": FORMS[1:2] + FORMS[4:5], "bf16": FORMS, "f32": FORMS, "f64": []}


class Chain(Program):
    """A program of random_programs.py with all that its form allows in it; rows and width are left to the caller where they are
    names. In `wide` storage of a narrow type, the sum is f32."""

    def __init__(self, name, element, kind, storage, dims, normalized_rank=1, whole=True, strided=False):
        self.name, self.element, self.kind, self.normalized_rank = name, element, kind, normalized_rank
        self.whole, self.strided = whole, strided
        wide, narrow = storage == "wide", BYTES[element] == 2
        self.own = element if storage == "own" or element == "f64" else "f32"
        self.dims, self.dynamic = dims, [isinstance(size, str) for size in dims]
        self.dropout, self.origin = 0.25 if whole and normalized_rank == 1 else None, kind == "rms"
        self.sum_element = "f32" if wide and narrow else element
        self.result_element = element if wide and narrow else self.sum_element
        self.narrow_affine = whole and wide and narrow
        self.x, self.f = (self.tensor(name, element, dims) for name in ("x", "f"))
        self.bias = self.parameter("bias", 1)
        self.gamma, self.beta = (self.parameter(name, normalized_rank) for name in ("gamma", "beta"))
        self.alpha = Tensor("alpha", self.parameter_f32(), [], []) if kind == "dyt" else None
        self.gate, self.skip, self.also, self.also_scale = None, None, None, None
        self.skip_scale, self.branch, self.zero_centered = 1.25, 0.3, False
        self.statistics = {"layer": 3, "rms": 1, "dyt": 0}[kind] if whole else 0

    def tensor(self, name, element, dims):
        stride = f"kRowDistance / {BYTES[element]}" if self.strided and len(dims) > 1 else None
        return Tensor(name, element, dims, [isinstance(size, str) for size in dims], stride)

    def parameter(self, name, rank):
        if not self.whole:
            return None
        dims = self.dims[-rank:]
        return Tensor(name, self.own, dims, [isinstance(size, str) for size in dims])

    def with_gate(self, gate):
        """A gate, and the other factors of the add in the same shape."""
        dims = {"feature": self.dims[-1:], "row": self.dims[:-1] + [1], "full": self.dims, "scalar": []}[gate]
        self.gate, self.skip, self.also_scale = (self.tensor(name, self.own, dims) for name in ("gate", "skip", "l"))
        self.also, self.skip_scale = self.tensor("also", self.element, self.dims), 1.0
        return self

    def sum(self):
        return self.tensor("sum", self.sum_element, self.dims)

    def results(self):
        found = super().results()
        return [self.tensor("normalized", self.result_element, self.dims)] + found[1:]


class Streams:
    """A transition between two sub-layers on four streams of a fixed width, whose rows lie apart where it is said so."""

    def __init__(self, element, width, strided):
        self.element, self.dims, self.strided = element, ["rows", 4, width], strided
        self.wide = "f64" if element == "f64" else "f32"
        self.name = f"streams_{width}"

    def tensor(self, name, dims, element=None):
        own = element is None and len(dims) > 1
        stride = f"kRowDistance / {BYTES[self.element]}" if self.strided and own else None
        return Tensor(name, element or self.element, dims, [isinstance(size, str) for size in dims], stride)

    def piece(self):
        width, wide = self.dims[-1], self.wide
        x, y = self.tensor("x", self.dims), self.tensor("y", ["rows", width])
        b, c = self.tensor("b", ["rows", 4, 1], wide), self.tensor("c", ["rows", 4, 4], wide)
        w, gamma = self.tensor("w", [24, 4 * width], wide), self.tensor("gamma", [width])
        streams, u = self.tensor("streams", self.dims), self.tensor("u", ["rows", width])
        mix = self.tensor("mix", ["rows", 4, 4], wide)
        part = {count: f"tensor<?x{count}x{wide}>" for count in (4, 16, 24)}
        body = [f"%streams = resid.write %x, %y weights(%b) mix(%c) : {x.text()}, {b.text()}, {c.text()}",
                f"%z = resid.project %streams, %w {{epsilon = 1.0e-6}} : {x.text()}, {w.text()}",
                "%zero = arith.constant 0 : index", f"%rows = tensor.dim %x, %zero : {x.text()}",
                f"%first = tensor.extract_slice %z[0, 0] [%rows, 4] [1, 1] : {part[24]} to {part[4]}",
                f"%gates = resid.activation sigmoid %first : {part[4]}",
                f"%read = tensor.expand_shape %gates [[0], [1, 2]] output_shape [%rows, 4, 1] : {part[4]} into {b.text()}",
                f"%last = tensor.extract_slice %z[0, 8] [%rows, 16] [1, 1] : {part[24]} to {part[16]}",
                f"%logits = tensor.expand_shape %last [[0], [1, 2]] output_shape [%rows, 4, 4] : {part[16]} into {c.text()}",
                f"%mix = resid.sinkhorn %logits {{iterations = 3, epsilon = 1.0e-6}} : {c.text()}",
                f"%h = resid.read %streams weights(%read) : {x.text()}, {b.text()}",
                f"%u = resid.rms_norm %h gamma(%gamma) {{epsilon = 1.0e-6}} : {u.text()}, {gamma.text()}"]
        return self.name, [x, y, b, c, w, gamma], [], body, [streams, u, mix]


class Heads:
    """A norm and the rotary embedding after it, whose rows lie apart where it is said so."""

    def __init__(self, element, width, pairs, strided):
        self.element, self.dims, self.pairs, self.strided = element, ["rows", width], pairs, strided
        self.name = f"heads_{width}"

    def piece(self):
        stride = f"kRowDistance / {BYTES[self.element]}" if self.strided else None
        x, y = (Tensor(name, self.element, self.dims, [True, False], stride) for name in ("x", "y"))
        gamma = Tensor("gamma", self.element, self.dims[1:], [False])
        cos, sin = (Tensor(name, "f32", ["rows", self.pairs], [True, False]) for name in ("cos", "sin"))
        body = [f"%n = resid.rms_norm %x gamma(%gamma) {{epsilon = 1.0e-6}} : {x.text()}, {gamma.text()}"]
        body += [f"%{name} = resid.rotary %n cos(%cos) sin(%sin){form} : {x.text()}, {cos.text()}, {sin.text()}"
                 for name, form in (("y", ""), ("z", " {interleaved}"))]
        z = Tensor("z", self.element, self.dims, [True, False], stride)
        return self.name, [x, gamma, cos, sin], [], body, [y, z]


def array(tensor):
    dims = [{"rows": "Rows", "width": "Width"}.get(size, str(size)) for size in tensor.dims]
    return f"{{Element::{tensor.element}, {{{', '.join(dims)}}}, {int(tensor.stride is not None)}}}"


def arrays(tensors):
    return "{" + ", ".join(map(array, tensors)) + "}"


def known_widths(element, widths):
    """Add and layer norm, which keeps its sum; every fifth time an RMS norm with all that may stand in a chain."""
    for i, width in enumerate(widths):
        whole = i % 5 == 4
        chain = Chain(f"known_{width}_{i}", element, "rms" if whole else "layer", "own", ["rows", width], whole=whole)
        yield chain, flat_piece(chain)


def functions(element):
    """All functions, as the arguments of function(), each with its chain."""
    for kind, gate, storage in CHAINS:
        chain = Chain(f"{kind}_{gate}", element, kind, storage, ["rows", "width"]).with_gate(gate)
        for piece in pieces(chain):
            yield chain, piece
    for name, kind, dims, *form in FORMS_OF[element]:
        chain = Chain(name, element, kind, "own", dims, *form)
        yield chain, flat_piece(chain)
    # One chain of the projection, and two.
    for streams in (Streams(element, 33, strided=False), Streams(element, 300, strided=True)):
        yield streams, streams.piece()
    # Columns of a step that is not whole, pairs across vectors, and columns without a pair.
    for heads in (Heads(element, 80, 40, strided=True), Heads(element, 19, 4, strided=False), Heads(element, 77, 38, strided=False)):
        yield heads, heads.piece()


def wrapper(prefix, name, inputs, scalars, outputs):
    sources = [f"in[{i}]" for i in range(len(inputs))]
    targets = [(tensor, f"out[{i}]") for i, tensor in enumerate(outputs)]
    return (
        f"static resid_status call_{prefix}{name}(const resid_ctx *ctx, int64_t rows, int64_t width, void *const *in,\n"
        f"    void *const *out) {{\n  (void)rows, (void)width;\n"
        f"  return {call(prefix + name, inputs, sources, scalars, targets)};\n}}\n"
    )


def main():
    arguments, widths = sys.argv[1:], []
    if arguments[0].startswith("--widths="):
        widths = [int(width) for width in arguments.pop(0).split("=")[1].split(",")]
    element, folder, prefixes = arguments[0], pathlib.Path(arguments[1]), arguments[2:]
    folder.mkdir(parents=True, exist_ok=True)
    found = list(known_widths(element, widths) if widths else functions(element))
    (folder / "programs.mlir").write_text("\n".join(function(*piece) for _, piece in found))
    text, table = "", ""
    for chain, (name, inputs, scalars, _, outputs) in found:
        text += "".join(wrapper(prefix, name, inputs, scalars, outputs) for prefix in prefixes)
        calls = ", ".join(f'{{"{prefix}", call_{prefix}{name}}}' for prefix in prefixes)
        fixed = [size if isinstance(size, int) else -1 for size in (chain.dims[0], chain.dims[-1])]
        table += f'  {{"{name}", {fixed[0]}, {fixed[1]}, {arrays(inputs)}, {arrays(outputs)}, {{{calls}}}}},\n'
    text += "static const std::vector<Program> programs = {\n" + table + "};\n"
    headers = "".join(f'#include "{prefix}programs.h"\n' for prefix in prefixes)
    (folder / "headers.inc").write_text(headers)
    (folder / "programs.inc").write_text(text)


main()
