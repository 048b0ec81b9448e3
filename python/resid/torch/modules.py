# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Modules of PyTorch on resid's kernels: LayerNorm and RMSNorm with the parameters of torch.nn's, DropoutAddNorm and
# ResidualBlock. They hold parameters and the state of dropouts; the arithmetic is in functional.py.

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from .._compiler import PLACEMENTS
from . import functional, ops


class LayerNorm(nn.LayerNorm):
    """torch.nn.LayerNorm on resid's kernel: same arguments, parameters and names in state dicts."""

    def forward(self, input: Tensor) -> Tensor:
        x = _check_shape(input, self.normalized_shape)
        if self.weight is None and len(self.normalized_shape) > 1:
            return functional.layer_norm(x.flatten(-len(self.normalized_shape)), epsilon=self.eps).view(x.shape)
        return functional.layer_norm(x, self.weight, self.bias, self.eps)


class RMSNorm(nn.RMSNorm):
    """torch.nn.RMSNorm on resid's kernel: same arguments, parameters and names in state dicts.

    Without `eps`, epsilon is that of torch.nn.RMSNorm: the machine epsilon of f32 (of f64 for f64).
    """

    def forward(self, x: Tensor) -> Tensor:
        x = _check_shape(x, self.normalized_shape)
        epsilon = self.eps
        if epsilon is None:
            epsilon = torch.finfo(torch.float64 if x.dtype == torch.float64 else torch.float32).eps
        if self.weight is None and len(self.normalized_shape) > 1:
            return functional.rms_norm(x.flatten(-len(self.normalized_shape)), epsilon=epsilon).view(x.shape)
        return functional.rms_norm(x, self.weight, epsilon)


def _check_shape(x: Tensor, normalized_shape: tuple[int, ...]) -> Tensor:
    if x.shape[-len(normalized_shape) :] != tuple(normalized_shape):
        raise ValueError(f"argument 'input': its shape is {list(x.shape)}, expected {list(normalized_shape)} in the last "
                         f"dimensions (normalized_shape)")
    return x


class QuantizedLinear(nn.Module):
    """A linear layer with integers of 8 bits, for evaluation on a CPU: those of `resid.quantize` and of its results.

    State dicts have the names of its files: `weight` `[out, in]` of i8, `weight_scale` `[out]` of f32, and `bias` as it was. The
    panels that kernels read are made of these, for this processor, and are in no state dict.

    forward(x): x is `[…, in]` of f16, bf16 or f32, and the result `[…, out]` of the same type, without a gradient.
    """

    panels: Tensor
    weight: Tensor
    weight_scale: Tensor

    def __init__(self, in_features: int, out_features: int, bias: bool = True, scheme: str = "w8a8", *, dtype: Any = None):
        super().__init__()
        if scheme != "w8a8":
            raise ValueError(f"argument 'scheme': expected 'w8a8' but got {scheme!r}")
        self.in_features, self.out_features, self.scheme = in_features, out_features, scheme
        self.register_buffer("weight", torch.zeros(out_features, in_features, dtype=torch.int8))
        self.register_buffer("weight_scale", torch.zeros(out_features))
        self.register_buffer("bias", torch.zeros(out_features, dtype=dtype) if bias else None)
        self.register_buffer("panels", ops.pack_linear(self.weight, scheme), persistent=False)

    @classmethod
    def from_linear(cls, linear: nn.Linear, scheme: str = "w8a8") -> QuantizedLinear:
        """The integers and scales of a layer. Raises ValueError where the scheme is another one, or the layer is not on a CPU, and
        ModelError where its weight has NaN or an infinity."""
        from ..quantizing import to_integers

        if linear.weight.device.type != "cpu":
            raise ValueError(f"argument 'linear': expected a layer on a CPU but got one on {linear.weight.device}")
        bias = None if linear.bias is None else linear.bias.detach().clone()
        made = cls(linear.in_features, linear.out_features, bias is not None, scheme)
        found = to_integers(linear.weight.detach().float().numpy(), 8, [linear.out_features], "argument 'linear': its weight")
        made.weight, made.weight_scale, made.bias = *map(torch.from_numpy, found), bias
        made._pack()
        return made

    def _pack(self) -> None:
        self.panels = ops.pack_linear(self.weight, self.scheme)

    def _load_from_state_dict(self, *arguments: Any) -> None:
        super()._load_from_state_dict(*arguments)
        self._pack()

    def __setstate__(self, state: Any) -> None:
        """Of a pickle, which may come from another processor."""
        super().__setstate__(state)
        self._pack()

    def _apply(self, function: Any, recurse: bool = True) -> Any:
        """A conversion to another type leaves integers and scales."""
        scale = self.weight_scale
        super()._apply(function, recurse)
        self.weight_scale = scale.to(self.weight_scale.device)
        return self

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-1:] != (self.in_features,):
            raise ValueError(f"argument 'x': its shape is {list(x.shape)}, expected {self.in_features} in the last dimension")
        if torch.float64 in (x.dtype, None if self.bias is None else self.bias.dtype):
            raise TypeError("QuantizedLinear: expected rows and a bias of float16, bfloat16 or float32 but got torch.float64")
        return torch.ops.resid.quantized_linear(x, self.panels, self.weight_scale, self.bias, torch.float32, self.scheme)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}, scheme={self.scheme!r}"


class DropoutState(nn.Module):
    """Seed and step of dropouts. Each call in training takes the step and counts it up.

    The seed is drawn from PyTorch's generator where none is given, so torch.manual_seed fixes it. A copy draws a seed of its
    own: copies of a layer have masks of their own. Seed and step are the entry `seed_and_step` of state dicts; a state dict
    without it (one of torch.nn's) leaves them as they are. They stay on the CPU, where kernels for all devices read them.
    """

    seed_and_step: Tensor

    def __init__(self, seed: int | None = None):
        super().__init__()
        self.register_buffer("seed_and_step", torch.tensor([_draw_seed() if seed is None else seed, 0]))
        self.shard: tuple[int, int, int, int] | None = None

    def forward(self) -> Tensor:
        """int64[2], seed and step, of one pass. The backward of this pass uses them again.

        int64[6] where `shard` is set (resid.torch.distributed.place): then row, column and extent of the shard follow.
        """
        if not torch.compiler.is_compiling() and torch._C._current_graph_task_id() != -1:
            raise RuntimeError("a forward with dropout ran inside of a backward, as activation checkpointing does; it would "
                               "have another mask than the first time. Keep this module out of the checkpoint")
        state = self.seed_and_step.clone()
        self.seed_and_step[1:] += 1
        return state if self.shard is None else torch.cat([state, torch.tensor(self.shard)])

    def __deepcopy__(self, memo: dict) -> DropoutState:
        copy = DropoutState()
        copy.train(self.training)
        memo[id(self)] = copy
        return copy

    def _apply(self, fn: Any, recurse: bool = True) -> DropoutState:
        return self  # Neither .to(device) nor .half() touches the numbers.

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing, unexpected, errors) -> None:
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, missing, unexpected, errors)


def _draw_seed() -> int:
    return int(torch.randint(2**63 - 1, ()))


class DropoutAddNorm(nn.Module):
    """norm(skip_scale·x + branch_scale·dropout(f + branch_bias)): what follows each branch of a Transformer, as one kernel.

    Arguments: `dim`, the last dimension of x and f; `p`, the probability of dropout in training; `norm`, "layer" or "rms";
    `eps`; `affine` and `bias`, which parameters the norm has; `branch_bias`, whether f gets a bias; `return_sum`, whether
    the sum is returned beside the normalised value, as pre-norm layers need it; `seed` and `site` of the dropout.

    forward(x, f): both `[…, dim]`, of f16, bf16, f32 or f64; f may be narrower than x. Returns y, or (y, sum).
    Parameters: `weight` and `bias`, named as in torch.nn.LayerNorm, and `branch_bias`.
    """

    def __init__(self, dim: int, p: float = 0.1, *, norm: str = "layer", eps: float = 1e-5, affine: bool = True,
                 bias: bool = True, branch_bias: bool = False, skip_scale: float = 1.0, branch_scale: float = 1.0,
                 return_sum: bool = False, seed: int | None = None, site: int = 0, device: Any = None, dtype: Any = None):
        super().__init__()
        if norm not in ("layer", "rms"):
            raise ValueError(f"argument 'norm': expected 'layer' or 'rms' but got {norm!r}")
        if not 0 <= p <= 1:
            raise ValueError(f"argument 'p': expected a probability from 0 to 1 but got {p}")
        self.dim, self.p, self.norm, self.eps, self.site, self.return_sum = dim, p, norm, eps, site, return_sum
        self.skip_scale, self.branch_scale = skip_scale, branch_scale
        options = {"device": device, "dtype": dtype}
        self.weight = nn.Parameter(torch.ones(dim, **options)) if affine else None
        has_bias = affine and bias and norm == "layer"
        self.bias = nn.Parameter(torch.zeros(dim, **options)) if has_bias else None
        self.branch_bias = nn.Parameter(torch.zeros(dim, **options)) if branch_bias else None
        self.dropout = DropoutState(seed)

    def forward(self, x: Tensor, f: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        p = self.p if self.training else 0.0
        keep_sum = self.return_sum or torch.is_grad_enabled()
        y, total = functional.dropout_add_norm(
            x, f, self.weight, self.bias, state=self.dropout() if p else None, p=p, norm=self.norm,
            epsilon=self.eps, branch_bias=self.branch_bias, skip_scale=self.skip_scale, branch_scale=self.branch_scale,
            site=self.site, keep_sum=keep_sum)
        return (y, total) if self.return_sum else y

    def extra_repr(self) -> str:
        return f"{self.dim}, p={self.p}, norm={self.norm!r}, eps={self.eps}"


class ResidualBlock(nn.Module):
    """One residual sub-layer around `branch`, with the norm where `placement` says (docs/placement.md).

    post: N(a·x + B(f(x))); pre: a·x + B(f(N(x))); branch_post: a·x + B(N(f(x))); peri: a·x + B(N₂(f(N₁(x))));
    post_shifted: h = N(x), a·h + B(f(h)); none: a·x + B(f(x)). Here a is `skip_scale`, and B is dropout, then
    `branch_scale`. Parameters: `norm.weight` and `norm.bias` as in torch.nn, and those of `norm2` for peri.

    forward(x, *args, **kwargs): x is `[…, dim]`; further arguments go to the branch.
    """

    def __init__(self, branch: nn.Module, dim: int, placement: str = "pre", p: float = 0.1, *, norm: str = "layer",
                 eps: float = 1e-5, skip_scale: float = 1.0, branch_scale: float = 1.0, seed: int | None = None,
                 device: Any = None, dtype: Any = None):
        super().__init__()
        if placement not in PLACEMENTS:
            raise ValueError(f"argument 'placement': expected one of {', '.join(PLACEMENTS)} but got {placement!r}")
        if norm not in ("layer", "rms"):
            raise ValueError(f"argument 'norm': expected 'layer' or 'rms' but got {norm!r}")
        self.branch, self.placement, self.p = branch, placement, p
        self.skip_scale, self.branch_scale = skip_scale, branch_scale
        make = LayerNorm if norm == "layer" else RMSNorm
        options = {"eps": eps, "device": device, "dtype": dtype}
        norms, _ = PLACEMENTS[placement]
        self.norm = make(dim, **options) if norms else None
        self.norm2 = make(dim, **options) if norms == 2 else None
        self.dropout = DropoutState(seed)

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if self.placement == "post_shifted":
            x = self.norm(x)
        h = self.norm(x) if self.placement in ("pre", "peri") else x
        f = self.branch(h, *args, **kwargs)
        if self.placement in ("branch_post", "peri"):
            f = (self.norm2 or self.norm)(f)
        p = self.p if self.training else 0.0
        options = {"state": self.dropout() if p else None, "p": p, "skip_scale": self.skip_scale,
                   "branch_scale": self.branch_scale}
        if self.placement != "post":
            return functional.dropout_add(x, f, **options)
        kind = "layer" if isinstance(self.norm, nn.LayerNorm) else "rms"
        return functional.dropout_add_norm(x, f, self.norm.weight, getattr(self.norm, "bias", None), norm=kind,
                                           epsilon=self.norm.eps, keep_sum=torch.is_grad_enabled(), **options)[0]

    def extra_repr(self) -> str:
        return f"placement={self.placement!r}, p={self.p}"
