# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The ops of resid.torch as functions: norms, dropout, and the chain of dropout, residual add and norm. Modules keep their
# parameters and count their steps; these functions keep nothing.

from __future__ import annotations

import torch
from torch import Tensor

from . import ops  # noqa: F401  (registers torch.ops.resid)


def _chain(x, f, branch_bias, weight, bias, state, norm, epsilon, p, row, site, skip_scale, branch_scale, keep_sum):
    if f is not None and f.dtype != x.dtype and torch.promote_types(f.dtype, x.dtype) != x.dtype:
        x = x.to(torch.promote_types(f.dtype, x.dtype))
    if f is not None and f.shape != x.shape:
        x, f = torch.broadcast_tensors(x, f)
    return torch.ops.resid.add_norm(x, f, branch_bias, weight, bias, state, norm, epsilon, float(p), row, site,
                                    float(skip_scale), float(branch_scale), keep_sum)


def layer_norm(x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, epsilon: float = 1e-5) -> Tensor:
    """Layer norm over the last dimensions of `x`, those of `weight`, or over the last one without a weight.

    The result has the type of `x`; statistics are in f32 (f64). Raises ValueError where the shapes do not fit.
    """
    return _chain(x, None, None, weight, bias, None, "layer", epsilon, 0.0, 0, 0, 1.0, 1.0, False)[0]


def rms_norm(x: Tensor, weight: Tensor | None = None, epsilon: float = 1e-6) -> Tensor:
    """RMS norm over the last dimensions of `x`, as layer_norm."""
    return _chain(x, None, None, weight, None, None, "rms", epsilon, 0.0, 0, 0, 1.0, 1.0, False)[0]


def dropout(x: Tensor, state: Tensor, p: float, *, row: int = 0, site: int = 0) -> Tensor:
    """Dropout whose mask depends on seed, step, site and position alone. `state` is int64[2]: seed and step."""
    return torch.ops.resid.dropout(x, state, float(p), row, site) if p else x


def dropout_add_norm(x: Tensor, f: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, *,
                     state: Tensor | None = None, p: float = 0.0, norm: str = "layer", epsilon: float = 1e-5,
                     branch_bias: Tensor | None = None, skip_scale: float = 1.0, branch_scale: float = 1.0, row: int = 0,
                     site: int = 0, keep_sum: bool = True) -> tuple[Tensor, Tensor]:
    """(norm(s), s) with s = skip_scale·x + branch_scale·dropout(f + branch_bias): one kernel, and one for its backward.

    `x` is the stream and `f` the branch, both `[…, D]`; f may have a narrower type than x. weight, bias and branch_bias are
    `[D]`. `norm` is "layer", "rms" or "none"; with "none", the first result has no elements. Where p is not 0, `state` holds
    seed and step (int64[2] on the CPU). `row` and `site` are added to the position by which the mask is drawn. Without
    `keep_sum`, s has no elements, and no gradient can be asked for. Raises ValueError and TypeError for what does not fit.
    """
    y, total, *_ = _chain(x, f, branch_bias, weight, bias, state, norm, epsilon, p, row, site, skip_scale, branch_scale,
                          keep_sum)
    return y, total


def dropout_add(x: Tensor, f: Tensor, *, state: Tensor | None = None, p: float = 0.0, branch_bias: Tensor | None = None,
                skip_scale: float = 1.0, branch_scale: float = 1.0, row: int = 0, site: int = 0) -> Tensor:
    """skip_scale·x + branch_scale·dropout(f + branch_bias), as in dropout_add_norm."""
    return dropout_add_norm(x, f, state=state, p=p, norm="none", branch_bias=branch_bias, skip_scale=skip_scale,
                            branch_scale=branch_scale, row=row, site=site)[1]
