# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Modules on several residual streams: the connection of a sub-layer to them, and the head after the last one.
# Parameters have the names of the classes of transformers. The read, with all coefficients, and the write are
# compiled functions.

from __future__ import annotations

import dataclasses
import math
from typing import Any

import torch
from torch import Tensor, nn

from ..importer.emit_streams import read, write
from ..importer.program import Program
from ..models.connections import KINDS, VERSIONS, Kind, connect, gate, most_streams
from . import engine
from .register import DTYPES, op_of


# While PyTorch traces, these two are called and not traced, so they take and give what it holds for constants.
@torch.compiler.assume_constant_result
def _name_of_read(kind: tuple, stream: str) -> str:
    return op_of(_read_text(Kind(*kind), stream), "streams_read")


@torch.compiler.assume_constant_result
def _name_of_write(n: int, width: int, stream: str, weights: str, mix: str | None, has_rows: bool) -> str:
    return op_of(_write_text(n, width, stream, weights, mix, has_rows), "streams_write")


def _read_text(kind: Kind, stream: str) -> str:
    """@streams_read(x, parameters …) -> (row [, weights of the write] [, mix])."""
    p = Program("streams_read")
    x = p.argument("x", stream, ["rows", kind.streams, kind.width])
    w = {name: p.argument(name, kind.element(stream), shape) for name, shape in kind.parameters().items()}
    if kind.name == "gated":
        row, weights = gate(p, kind, x, w)
        return p.text([row] if weights is None else [row, weights])
    found = connect(p, kind, x, w)
    # Static weights of the write are a parameter, and no result.
    made = [] if kind.name == "static" else [part for part in (found.write, found.mix) if part is not None]
    return p.text([read(p, x, found.read), *made])


def _write_text(n: int, width: int, stream: str, weights: str, mix: str | None, has_rows: bool) -> str:
    """@streams_write(x, y, weights [, mix]) -> (x)."""
    p = Program("streams_write")
    x, y = p.argument("x", stream, ["rows", n, width]), p.argument("y", stream, ["rows", width])
    w = p.argument("weights", weights, [*(["rows"] if has_rows else []), n, 1])
    c = p.argument("mix", mix, ["rows", n, n]) if mix else None
    return p.text([write(p, x, y, w, c)])


def _check_kind(kind: Kind) -> None:
    if kind.name not in KINDS:
        raise ValueError(f"argument 'kind': expected one of {', '.join(KINDS)} but got {kind.name!r}")
    if kind.version not in VERSIONS:
        raise ValueError(f"argument 'version': expected one of {', '.join(VERSIONS)} but got {kind.version!r}")
    most = most_streams(kind.name)
    if type(kind.streams) is not int or not 1 <= kind.streams <= most:
        raise ValueError(f"argument 'n': expected 1 to {most} streams for {kind.name!r} but got {kind.streams!r}")
    if type(kind.width) is not int or kind.width < 1:
        raise ValueError(f"argument 'dim': expected a positive integer but got {kind.width!r}")


class _Streams(nn.Module):
    """The parameters of a connection, and its read."""

    def __init__(self, kind: Kind, device: Any, dtype: Any):
        super().__init__()
        _check_kind(kind)
        self.kind, self._key = kind, dataclasses.astuple(kind)
        for name, shape in kind.parameters().items():
            holder, _, last = name.rpartition(".")
            if holder:
                self.add_module(holder, nn.Module())
            target = getattr(self, holder) if holder else self
            target.register_parameter(last, nn.Parameter(torch.empty(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Coefficients are the same for all rows at first: the mean of the streams is read (of gated, half of that of
        the normalised ones), and each stream gets all of y."""
        n, kind = self.kind.streams, self.kind
        for name, parameter in self.named_parameters():
            nn.init.zeros_(parameter)
            if name.endswith("scale") or name == "write_weight":
                nn.init.ones_(parameter)
            elif name == "read_weight":
                nn.init.constant_(parameter, 1 / n)
            elif name == "input_mix_weight_down.weight":
                nn.init.normal_(parameter, std=0.02)
            elif name.endswith("base"):
                part = min(max(1 / n - kind.epsilon, 1e-6), 1 - 1e-6)
                parameter[:n] = math.log(part / (1 - part))

    def read(self, streams: Tensor) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """The row of the sub-layer, then the weights of its write and the mix, for `write`: mix[i, j] is from i to j."""
        kind = self.kind
        if streams.dim() < 2 or tuple(streams.shape[-2:]) != (kind.streams, kind.width):
            raise ValueError(f"argument 'streams': its shape is {list(streams.shape)}, expected "
                             f"{[kind.streams, kind.width]} in the last dimensions")
        _check_device(streams)
        stream = engine.element_of(streams, "streams")
        own = DTYPES[kind.element(stream)]
        given = [self.get_parameter(name).to(own) for name in kind.parameters()]
        lead, rows = streams.shape[:-2], math.prod(streams.shape[:-2])
        op = getattr(torch.ops.resid, _name_of_read(self._key, stream))
        found = op(streams.reshape(rows, kind.streams, kind.width), *given)
        row, *rest = (found,) if isinstance(found, Tensor) else found
        weights, mix = (*(part.view(*lead, *part.shape[1:]) for part in rest), None, None)[:2]
        weights = self.write_weight if kind.name == "static" and not kind.head else weights
        return row.view(*lead, kind.width), weights, mix

    def extra_repr(self) -> str:
        return f"{self.kind.name!r}, n={self.kind.streams}, dim={self.kind.width}"


def _check_device(streams: Tensor) -> None:
    if streams.device.type != "cpu":
        raise NotImplementedError(f"several streams: expected tensors on a CPU but got {streams.device}: GPUs have no "
                                  "kernels for resid.project and resid.sinkhorn")


class HyperConnection(_Streams):
    """How one sub-layer is connected to n residual streams, `[…, n, dim]`: forward(streams, branch) gives the new ones.

    A row is read from all streams, the branch makes y of it (its norm is a part of the branch), and y is written into
    all streams, which are mixed. `kind` is "mhc" (parameters of DeepSeek-V4's class of transformers), "ihc" (Hy4's),
    "gated" (Qwen4's, whose read normalises, so that the branch has no norm) or "static" (`read_weight` and
    `write_weight`). State dicts of those classes load. `version` is, for mhc, "softmax", or "sigmoid" for the older
    class of DeepSeek-V4.

    `norm_eps` stands in the norm of the streams, `eps` beside coefficients and in the divisions of the mix, of which
    there are `iterations`. `magnitude` is the largest weight of ihc's write, and `rank` the inner width of gated.
    """

    def __init__(self, kind: str, n: int, dim: int, *, version: str = "softmax", norm_eps: float = 1e-6,
                 eps: float = 1e-6, iterations: int = 20, magnitude: float = 2.0, rank: int = 320, device: Any = None,
                 dtype: Any = None):
        super().__init__(Kind(kind, n, dim, False, version, norm_eps, eps, iterations, magnitude, rank), device, dtype)

    def write(self, streams: Tensor, y: Tensor, weights: Tensor, mix: Tensor | None = None) -> Tensor:
        """The streams after y, with what `read` gave."""
        kind, lead = self.kind, streams.shape[:-2]
        if y.shape != (*lead, kind.width):
            raise ValueError(f"argument 'y': its shape is {list(y.shape)}, expected {[*lead, kind.width]}")
        if torch.promote_types(y.dtype, streams.dtype) != streams.dtype:
            raise TypeError(f"argument 'y': expected {streams.dtype}, that of the streams, or a narrower type but got "
                            f"{y.dtype}")
        _check_device(streams)
        stream, has_rows = engine.element_of(streams, "streams"), kind.name != "static"
        if not has_rows:
            weights = weights.to(DTYPES[kind.element(stream)])
        types = engine.element_of(weights, "weights"), None if mix is None else engine.element_of(mix, "mix")
        op = getattr(torch.ops.resid, _name_of_write(kind.streams, kind.width, stream, *types, has_rows))
        parts = [streams, y.to(streams.dtype), weights] + ([] if mix is None else [mix])
        ranks = (2, 1, 2, 2) if has_rows else (2, 1)  # of a row; static weights have no rows
        flat = [part.reshape(math.prod(lead), *part.shape[part.dim() - rank :]) for part, rank in zip(parts, ranks)]
        return op(*flat, *parts[len(flat) :]).view(streams.shape)

    def forward(self, streams: Tensor, branch: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Further arguments go to the branch."""
        row, weights, mix = self.read(streams)
        return self.write(streams, branch(row, *args, **kwargs), weights, mix)


class HyperHead(_Streams):
    """The row that n streams end in, before the final norm (of gated: normalised). Arguments are HyperConnection's.

    Parameters: `hc_fn`, `hc_base` and `hc_scale` of mhc and ihc; `read_weight` of static; of gated those of the
    connection without `block_inject_weight`, as Qwen4's class has them with use_combine=False.
    """

    def __init__(self, kind: str, n: int, dim: int, *, norm_eps: float = 1e-6, eps: float = 1e-6, rank: int = 320,
                 device: Any = None, dtype: Any = None):
        super().__init__(Kind(kind, n, dim, True, norm_epsilon=norm_eps, epsilon=eps, rank=rank), device, dtype)

    def forward(self, streams: Tensor) -> Tensor:
        return self.read(streams)[0]
