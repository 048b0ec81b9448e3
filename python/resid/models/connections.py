# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How the sub-layers of published models are connected to several residual streams. Parameters have the names and
# shapes of the classes of transformers: mhc those of DeepSeek-V4, ihc those of Hy4, gated those of Qwen4; static ones
# are resid's own.

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from ..importer import elements
from ..importer.emit_elementwise import activation, elementwise
from ..importer.emit_linear import linear
from ..importer.emit_norms import norm
from ..importer.emit_shapes import extract, reshape, transpose
from ..importer.emit_streams import Connection, alternate, project, read, scaled, sinkhorn
from ..importer.program import Program, Tensor

KINDS = ("mhc", "ihc", "static", "gated")
# Of mhc, two versions of DeepSeek-V4 are in circulation. "softmax": write weights 2σ, and the mix by resid.sinkhorn.
# "sigmoid", the older one: write weights σ + e, the mix from σ + e by dividing rows, then columns, and to stream i
# from stream j.
VERSIONS = ("softmax", "sigmoid")


@dataclasses.dataclass(frozen=True)
class Kind:
    """What a connection is beside its parameters. `head` is the read after the last sub-layer, which writes nothing.

    `norm_epsilon` stands in the norm of the streams, `epsilon` beside coefficients and in the divisions of the mix.
    `magnitude` is the largest write weight of ihc, and `rank` the number of columns in the middle of gated.
    """

    name: str
    streams: int
    width: int
    head: bool = False
    version: str = "softmax"
    norm_epsilon: float = 1e-6
    epsilon: float = 1e-6
    iterations: int = 20
    magnitude: float = 2.0
    rank: int = 320

    def parts(self) -> list[int]:
        """How many coefficients of a row are weights of the read, of the write, and a mix."""
        n = self.streams
        return [n, *([] if self.head else [n]), *([n * n] if self.name == "mhc" and not self.head else [])]

    def parameters(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes."""
        n, wide = self.streams, self.streams * self.width
        if self.name == "static":
            return {"read_weight": (n, 1), **({} if self.head else {"write_weight": (n, 1)})}
        if self.name == "gated":
            inject = {} if self.head else {"block_inject_weight.weight": (n, wide)}
            mix = {"input_mix_weight_down.weight": (self.rank, wide), "input_mix_weight_up.weight": (wide, self.rank)}
            return {"hc_norm.weight": (wide,), **mix, **inject}
        rows, prefix = sum(self.parts()), "hc_" if self.head else ""
        return {f"{prefix}fn": (rows, wide), f"{prefix}base": (rows,), f"{prefix}scale": (len(self.parts()),)}

    def element(self, stream: str) -> str:
        """The type of the parameters beside this type of the stream."""
        return stream if self.name == "gated" else elements.arithmetic(stream)


def most_streams(name: str) -> int:
    """Ops take at most 16 streams, and resid.project makes at most 64 numbers of a row."""
    return max(n for n in range(1, 17) if name == "gated" or sum(Kind(name, n, 1).parts()) <= 64)


def connect(p: Program, kind: Kind, x: Tensor, w: Mapping[str, Tensor]) -> Connection:
    """Weights of the read and the write, and the mix; not of gated, which reads other streams than it writes."""
    if kind.name == "static":
        return Connection(w["read_weight"], w.get("write_weight"))
    fn, base, scale = (w[("hc_" if kind.head else "") + name] for name in ("fn", "base", "scale"))
    z, first, logits = project(p, x, fn, kind.norm_epsilon), 0, []
    for number, count in enumerate(kind.parts()):
        part = extract(p, z, [0] * (z.rank - 1) + [first], [*z.dims[:-1], count], [1] * z.rank)
        own = extract(p, scale, [number], [1], [1]), extract(p, base, [first], [count], [1])
        logits.append(reshape(p, _affine(p, part, *own), [*z.dims[:-1], kind.streams, count // kind.streams]))
        first += count
    weights = [_sigmoid(p, logits[0], 1.0, kind.epsilon)]
    if not kind.head:
        weights.append(_sigmoid(p, logits[1], *_range(kind)))
    return Connection(*weights, _mix(p, kind, logits[2]) if len(logits) > 2 else None)


def _affine(p: Program, z: Tensor, scale: Tensor, base: Tensor) -> Tensor:
    kind = z.element

    def body(value: str, factor: str, offset: str) -> str:
        return p.inner(f"arith.addf {p.inner(f'arith.mulf {value}, {factor} : {kind}')}, {offset} : {kind}")

    return elementwise(p, [z, scale, base], kind, body)


def _sigmoid(p: Program, x: Tensor, factor: float, offset: float) -> Tensor:
    return scaled(p, activation(p, "sigmoid", x), factor, offset)


def _range(kind: Kind) -> tuple[float, float]:
    """Factor and offset of a write weight."""
    if kind.name == "ihc":
        return kind.magnitude, kind.epsilon
    return (2.0, 0.0) if kind.version == "softmax" else (1.0, kind.epsilon)


def _mix(p: Program, kind: Kind, logits: Tensor) -> Tensor:
    if kind.version == "softmax":
        return sinkhorn(p, logits, kind.iterations, kind.epsilon)
    mix = alternate(p, _sigmoid(p, logits, 1.0, kind.epsilon), kind.iterations, kind.epsilon)
    return transpose(p, mix, [*range(mix.rank - 2), mix.rank - 1, mix.rank - 2])


def gate(p: Program, kind: Kind, x: Tensor, w: Mapping[str, Tensor]) -> tuple[Tensor, Tensor | None]:
    """The row that gated reads, and the weights of its write: each element of the normalised streams has a weight."""
    n, lead = kind.streams, x.dims[:-2]
    gamma = reshape(p, w["hc_norm.weight"], [n, kind.width])
    h = norm(p, "rms_norm", x, gamma, None, 1, kind.norm_epsilon, zero_centered=True)[0]
    flat = reshape(p, h, [*lead, n * kind.width])
    low = scaled(p, linear(p, flat, w["input_mix_weight_down.weight"]), 1 / n)
    weights = _sigmoid(p, linear(p, activation(p, "silu", low), w["input_mix_weight_up.weight"]), 1.0, 0.0)
    row = read(p, h, reshape(p, weights, x.dims), 1 / n)
    if kind.head:
        return row, None
    inject = scaled(p, linear(p, flat, w["block_inject_weight.weight"]), 1 / n)
    return row, reshape(p, _sigmoid(p, inject, 2.0, 0.0), [*lead, n, 1])
