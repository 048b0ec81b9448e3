# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# resid.torch in several processes: where a shard stands in the whole, so that its masks are the whole's; sharding rules for
# DTensor; and the sum of partial branches with residual add and norm. The processes are those of torch.distributed.

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset
from torch.distributed.tensor.experimental import register_sharding

from . import functional
from .modules import DropoutState

__all__ = ["dropout_add_norm", "origin_of", "place", "reduce_scatter_add_norm"]


def origin_of(local: Sequence[int], offset: Sequence[int], whole: Sequence[int]) -> tuple[int, int, int, int]:
    """(row, column, local extent, global extent) of a shard of shape `local` at `offset` of a tensor of shape `whole`.

    The last dimension is the features, the others are rows. Shards may be of the first dimension, of one other dimension of
    the rows, and of the features in steps of 8, each with the others. Raises ValueError where a shard is none of these.
    """
    if not len(local) == len(offset) == len(whole) or not local:
        raise ValueError(f"expected shapes and an offset of one rank but got {list(local)}, {list(offset)} and {list(whole)}")
    if offset[-1] % 8:
        raise ValueError(f"expected features that are split at multiples of 8 but got a shard that begins at {offset[-1]}")
    rows, all_rows = local[:-1], whole[:-1]
    split = [place for place in range(1, len(rows)) if rows[place] != all_rows[place]]
    if len(split) > 1:
        raise ValueError(f"expected at most one split dimension beside the first and the last but got {list(local)} of "
                         f"{list(whole)}")
    row = sum(start * math.prod(all_rows[place + 1 :]) for place, start in enumerate(offset[:-1]))
    first = split[0] if split else len(rows)
    return row, offset[-1], max(1, math.prod(rows[first:])), max(1, math.prod(all_rows[first:]))


def place(module: nn.Module, local: Sequence[int], offset: Sequence[int], whole: Sequence[int]) -> None:
    """Says to all dropouts in `module` which shard they work on: its shape, where it begins, and the shape of the whole.

    The processes then draw their parts of one mask, if their seeds and steps are equal. Seeds are entries of state dicts; DDP
    sends those of rank 0 to the others.
    """
    origin = origin_of(local, offset, whole)
    for part in module.modules():
        if isinstance(part, DropoutState):
            part.shard = origin


# ------------------------------------------------- DTensor ------------------------------------------------------------


def _rows_only(spec: Any, features: int) -> list[Placement]:
    """The placements that split rows and keep them whole; the last `features` dimensions are no rows."""
    return [Replicate(), *(Shard(dim) for dim in range(spec.ndim - features))]


@register_sharding(torch.ops.resid.add_norm.default)
def _shard_add_norm(x, f, branch_bias, weight, bias, state, norm, epsilon, p, row, site, skip_scale, branch_scale, keep_sum):
    """Rows shard freely. A mask belongs to the whole, so with dropout the op wants the whole: see dropout_add_norm below."""
    rules = []
    for rows in _rows_only(x, 1 if weight is None else weight.ndim) if not p else [Replicate()]:
        def of(value: Any, placement: Placement) -> Placement | None:
            return None if value is None else placement

        whole = Replicate()
        count = {"layer": 3, "rms": 1, "none": 0}[norm]
        statistics = [rows if count > index else whole for index in (1, 2, 0)]
        outputs = [rows if norm != "none" else whole, rows if f is not None and keep_sum else whole, *statistics]
        inputs = [rows, of(f, rows), of(branch_bias, whole), of(weight, whole), of(bias, whole), of(state, whole)]
        rules.append((outputs, inputs + [None] * 8))
    return rules


@register_sharding(torch.ops.resid.add_norm_backward.default)
def _shard_add_norm_backward(dy, dsum, s, mean, correction, rstd, weight, state, norm, epsilon, p, row, site, skip_scale,
                             branch_scale, branch, branch_bias, bias, needs):
    """As the forward; the gradients of parameters are sums over rows, so each shard has a part of them."""
    rules = []
    x = s if dy is not None else dsum
    for rows in _rows_only(x, 1 if weight is None else weight.ndim) if not p else [Replicate()]:
        total = Partial() if isinstance(rows, Shard) else Replicate()
        outputs = [(rows if index < 2 else total) if need else Replicate() for index, need in enumerate(needs)]
        count = {"layer": 3, "rms": 1, "none": 0}[norm] if dy is not None else 0
        statistics = [rows if count > index else Replicate() for index in (1, 2, 0)]
        given = [(dy, rows), (dsum, rows), (s, rows), *zip((mean, correction, rstd), statistics), (weight, Replicate()),
                 (state, Replicate())]
        rules.append((outputs, [None if value is None else placement for value, placement in given] + [None] * 11))
    return rules


def _local_parameter(parameter: Tensor | None, mesh: Any, rows: Sequence[Placement]) -> Tensor | None:
    """A parameter, whole in each process; its gradient is the sum over the shards of rows."""
    if parameter is None:
        return None
    if not isinstance(parameter, DTensor):
        raise TypeError("expected parameters that are DTensor beside a stream that is one (distribute_module)")
    whole = parameter.redistribute(mesh, [Replicate()] * mesh.ndim)
    return whole.to_local(grad_placements=[Partial() if isinstance(rows_, Shard) else Replicate() for rows_ in rows])


def dropout_add_norm(x: DTensor, f: DTensor, weight: DTensor | None = None, bias: DTensor | None = None, *,
                     state: Tensor | None = None, norm: str = "layer", branch_bias: DTensor | None = None,
                     **options: Any) -> tuple[DTensor, DTensor]:
    """resid.torch.dropout_add_norm of DTensors: (norm(s), s), both placed as `x`. The masks are those of one process.

    `x` is split by rows: by the first dimension, one other, or both, or not at all. `f` is brought to where x is; one that is
    partial is summed and split in one reduce-scatter (sequence parallelism). `state` is int64[2], equal in all processes. Without a norm ("none"), x may be split by features too, at multiples of 8. Other options are those of
    resid.torch.dropout_add_norm. Raises ValueError for a stream that is partial, or whose features a norm needs whole.
    """
    mesh, rows = x.device_mesh, x.placements
    for placement in rows:
        if isinstance(placement, Partial):
            raise ValueError("argument 'x': expected a stream that is split or whole but got one that is partial")
        if norm != "none" and isinstance(placement, Shard) and placement.dim % x.ndim == x.ndim - 1:
            raise ValueError("argument 'x': expected whole features, which the norm needs, but got them split")
    if state is not None:
        state = state.to_local() if isinstance(state, DTensor) else state
        shape, offset = compute_local_shape_and_global_offset(x.shape, mesh, rows)
        state = torch.cat([state, torch.tensor(origin_of(shape, offset, x.shape), dtype=torch.int64)])
    results = functional.dropout_add_norm(
        x.to_local(), f.redistribute(mesh, rows).to_local(), _local_parameter(weight, mesh, rows),
        _local_parameter(bias, mesh, rows), state=state, norm=norm, branch_bias=_local_parameter(branch_bias, mesh, rows),
        **options)
    y, total = (DTensor.from_local(value, mesh, rows, shape=x.shape, stride=x.stride()) if value.numel() else value
                for value in results)
    return y, total


# --------------------------------------------- reduce-scatter, add and norm -------------------------------------------


class _ReduceScatter(torch.autograd.Function):
    """The sum over the group in pieces of the first dimension; each rank keeps its part along `dim` of each.

    The sums are under way when it returns: `works` gets what to wait for, piece by piece. The backward gathers the gradients
    of the parts.
    """

    @staticmethod
    def forward(ctx: Any, partial: Tensor, group: Any, dim: int, pieces: int, works: list[Any]) -> tuple[Tensor, ...]:
        ctx.group, ctx.dim = group, dim
        owns = []
        for piece in partial.tensor_split(pieces):
            parts = [part.contiguous() for part in piece.chunk(dist.get_world_size(group), dim)]
            owns.append(torch.empty_like(parts[0]))
            works.append((dist.reduce_scatter(owns[-1], parts, group=group, async_op=True), parts))
        return tuple(owns)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        gathered = []
        for gradient in gradients:
            parts = [torch.empty_like(gradient) for _ in range(dist.get_world_size(ctx.group))]
            gathered.append((dist.all_gather(parts, gradient.contiguous(), group=ctx.group, async_op=True), parts))
        for work, _ in gathered:
            work.wait()
        return torch.cat([torch.cat(parts, ctx.dim) for _, parts in gathered]), None, None, None, None


def reduce_scatter_add_norm(x: Tensor, partial: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, *,
                            state: Tensor | None = None, group: Any = None, dim: int = 1, pieces: int = 1,
                            **options: Any) -> tuple[Tensor, Tensor]:
    """(norm(s), s) with s = x + dropout(the sum of `partial` over the group), for this rank's part of dimension `dim`.

    `partial` is this rank's term of the branch, `[B, S, D]`; `x` is its part of the stream, `[B, S / ranks, D]`, and so are
    the results. S is a multiple of the number of ranks. `state` is int64[2], equal on all ranks: the mask is that of one
    process. The batch goes in `pieces`: while one is added and normalised, the sums of those after it are under way, where
    the backend works on its own. Other options are those of resid.torch.dropout_add_norm. Gradients of weight, bias and
    branch_bias are those of this rank's rows: sum them over the group. Raises ValueError where sizes do not fit.
    """
    ranks, rank = dist.get_world_size(group), dist.get_rank(group)
    if not 0 <= dim < partial.ndim - 1 or partial.shape[dim] % ranks:
        raise ValueError(f"argument 'partial': expected a dimension of rows of a multiple of {ranks} to split but got "
                         f"dimension {dim} of {list(partial.shape)}")
    if not 1 <= pieces <= max(1, partial.shape[0]) or (dim == 0 and pieces > 1):
        raise ValueError(f"argument 'pieces': expected 1 to {partial.shape[0] if dim else 1} but got {pieces}")
    own_shape = [size // ranks if place == dim else size for place, size in enumerate(partial.shape)]
    if list(x.shape) != own_shape:
        raise ValueError(f"argument 'x': its shape is {list(x.shape)}, expected this rank's part of 'partial', {own_shape}")
    works: list[Any] = []
    owns = _ReduceScatter.apply(partial, group, dim, pieces, works)
    results, offset = [], [rank * size if place == dim else 0 for place, size in enumerate(own_shape)]
    for (work, _), own, stream in zip(works, owns, x.tensor_split(pieces)):
        work.wait()
        words = state
        if state is not None:
            words = torch.cat([state, torch.tensor(origin_of(own.shape, offset, partial.shape), dtype=torch.int64)])
        results.append(functional.dropout_add_norm(stream, own, weight, bias, state=words, **options))
        offset[0] += own.shape[0] if dim else 0
    y, total = results[0] if pieces == 1 else (torch.cat(parts) for parts in zip(*results))
    return y, total
