# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Attention as a function, with what models of today have in it: windows, sinks, capped scores, fewer heads of keys.

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from . import engine
from .register import op_of

_NAMES = ("q", "k", "v", "mask", "sink")


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, sink: Tensor | None = None, *, causal: bool = False,
              window: int | None = None, cap: float | None = None, scale: float | None = None) -> Tensor:
    """softmax(scale·q·kᵀ + mask)·v, head by head, on a CPU: `resid.attention`, with its bits and its gradients.

    `q` is `[batch, heads, queries, size]`, `k` `[batch, heads/g, keys, size]`, and `v` `[batch, heads/g, keys, value size]`, of f16,
    bf16, f32 or f64, with sizes of at most 576. The result is `[batch, heads, queries, value size]`, of the type of q. `scale` is
    1/sqrt(size) by default.

    `causal`: query i sees the keys up to i. `window`: with `causal` it sees itself and the window-1 keys before it, else window-1
    keys on both sides, too. A boolean mask says which keys take part, one of floats is added; both broadcast to `[batch, heads,
    queries, keys]`. `cap`: cap·tanh(scale·q·kᵀ/cap) stands for the scores. `sink` is `[heads]`: one more score of each head, which
    has no value. A query without a key gives zeros.

    Raises ValueError for shapes and numbers that do not fit, TypeError for types, NotImplementedError for other devices, and
    RuntimeError where a mask requires a gradient.
    """
    given = {name: tensor for name, tensor in zip(_NAMES, (q, k, v, mask, sink)) if tensor is not None}
    _check(given, window, cap, scale)
    words = ["causal"] if causal else []
    words += [f"window = {window}"] if window is not None else []
    words += [f"{key} = {float(value)!r} : f64" for key, value in (("cap", cap), ("scale", scale)) if value is not None]
    types = tuple(_type(name, tensor) for name, tensor in given.items())
    made = f"tensor<?x?x?x{v.shape[3]}x{engine.element_of(q, 'q')}>"
    result: Tensor = getattr(torch.ops.resid, _name(tuple(given), types, made, ", ".join(words)))(*given.values())
    return result


def _type(name: str, tensor: Tensor) -> str:
    """Sizes are open, but those that a kernel knows, and the 1 by which a mask broadcasts."""
    element = "i1" if tensor.dtype == torch.bool and name == "mask" else engine.element_of(tensor, name)
    sizes = [str(int(size)) if (size == 1 if name == "mask" else dim == 3) else "?" for dim, size in enumerate(tensor.shape)]
    return f"tensor<{'x'.join([*sizes, element])}>"


def _make_name(names: tuple[str, ...], types: tuple[str, ...], result: str, words: str) -> str:
    """The op of the arguments that are given, with their types and that of the result."""
    clauses = "".join(f" {name}(%{name})" for name in names[3:])
    text = (f"func.func @attention({', '.join(f'%{name}: {kind}' for name, kind in zip(names, types))}) -> {result} {{\n"
            f"  %y = resid.attention %q, %k, %v{clauses} {{{words}}} : {', '.join(types)} -> {result}\n"
            f"  return %y : {result}\n}}\n")
    return op_of(text, "attention", [place for place, name in enumerate(names) if name != "mask"])


# While PyTorch traces, it is called and not traced.
_name: Any = getattr(torch.compiler, "assume_constant_result")(_make_name)


def _check(given: dict[str, Tensor], window: int | None, cap: float | None, scale: float | None) -> None:
    for name, tensor in given.items():
        if tensor.device.type != "cpu":
            raise NotImplementedError(f"argument '{name}': expected a tensor on a CPU but got {tensor.device}")
        rank = {"mask": range(5), "sink": (1,)}.get(name, (4,))
        if tensor.dim() not in rank:
            raise ValueError(f"argument '{name}': its shape is {list(tensor.shape)}, expected {max(rank)} dimensions"
                             f"{' or fewer' if name == 'mask' else ''}")
    q, k, v = (given[name].shape for name in ("q", "k", "v"))
    wanted = {"k": [q[0], k[1], k[2], q[3]], "v": [q[0], k[1], k[2], v[3]], **({"sink": [q[1]]} if "sink" in given else {})}
    for name, shape in wanted.items():
        if list(given[name].shape) != shape:
            raise ValueError(f"argument '{name}': its shape is {list(given[name].shape)}, expected {shape}")
    if k[1] == 0 or q[1] % k[1]:
        raise ValueError(f"argument 'k': it has {k[1]} heads, expected a number that divides {q[1]}, those of q")
    if "mask" in given:
        for size, whole in zip(reversed(given["mask"].shape), (k[2], q[2], q[1], q[0])):
            if size not in (1, whole):
                raise ValueError(f"argument 'mask': its shape is {list(given['mask'].shape)}, expected one that broadcasts to "
                                 f"{[q[0], q[1], q[2], k[2]]}")
    if window is not None and (type(window) is not int or window < 1):
        raise ValueError(f"argument 'window': expected a positive integer but got {window!r}")
    if cap is not None and not (math.isfinite(cap) and cap > 0):
        raise ValueError(f"argument 'cap': expected a finite positive number but got {cap!r}")
    if scale is not None and not math.isfinite(scale):
        raise ValueError(f"argument 'scale': expected a finite number but got {scale!r}")
