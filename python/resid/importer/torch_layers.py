# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operators of aten that are products or layers: linear layers, norms, softmax, embeddings, attention. Joins the table of torch_ops.py.

from __future__ import annotations

from typing import Any

from . import elements
from .errors import Unsupported
from .torch_ops import _torch
from .torch_reader import Call, _Reader


@_torch("linear")
def _linear(r: _Reader, call: Call) -> str:
    x, weight, bias = (r.name(call[name]) if call[name] is not None else "" for name in ("input", "weight", "bias"))
    rank = len(call["weight"].meta["val"].shape)
    if elements.is_float(call.element) and rank == 2:
        return r.add("resid.Linear", [x, weight, *([bias] if bias else [])], {"transposed": 0})
    product = r.add("MatMul", [x, r.add("Transpose", [weight], {"perm": [1, 0]}) if rank == 2 else weight])
    return r.add("Add", [product, bias]) if bias else product


@_torch("matmul", "mm", "bmm", "mv", "dot")
def _matmul(r: _Reader, call: Call) -> str:
    other = next(call[name] for name in ("mat2", "vec", "tensor", "other") if call[name] is not None)
    return r.add("MatMul", [r.name(call["self"]), r.name(other)])


@_torch("addmm")
def _addmm(r: _Reader, call: Call) -> str:
    kind, factors = call.element, {name: call[name] for name in ("alpha", "beta")}
    if any(hasattr(factor, "op") for factor in factors.values()):
        raise Unsupported(f"alpha = {call['alpha']}, beta = {call['beta']}: expected numbers")
    # With factors, the sum is rounded once.
    wide = elements.arithmetic(kind) if elements.is_float(kind) and set(factors.values()) != {1} else kind
    operands = [r.cast(r.name(call[name]), wide) if wide != kind else r.name(call[name]) for name in ("mat1", "mat2", "self")]
    settings = {name: float(factor) for name, factor in factors.items()}
    return r.cast(r.add("Gemm", operands, settings), kind)


@_torch("baddbmm")
def _baddbmm(r: _Reader, call: Call) -> str:
    """beta·self + alpha·product, rounded once; without beta, NaNs of self are not read."""
    kind, wide = call.element, elements.arithmetic(call.element)
    if not elements.is_float(kind) or any(hasattr(call[name], "op") for name in ("alpha", "beta")):
        raise Unsupported(f"alpha = {call['alpha']}, beta = {call['beta']} of {kind}")
    left, right, addend = (r.cast(r.name(call[name]), wide) for name in ("batch1", "batch2", "self"))
    result = r.add("MatMul", [left, right])
    result = r.add("Mul", [result, r.scalar(call["alpha"], wide)]) if call["alpha"] != 1 else result
    if call["beta"] != 0:
        addend = r.add("Mul", [addend, r.scalar(call["beta"], wide)]) if call["beta"] != 1 else addend
        result = r.add("Add", [addend, result])
    return r.cast(result, kind)


@_torch("layer_norm")
def _layer_norm(r: _Reader, call: Call) -> str:
    settings = {"axes": [-1 - i for i in range(len(call["normalized_shape"]))], "epsilon": float(call["eps"])}
    parameters = ["" if call[name] is None else r.name(call[name]) for name in ("weight", "bias")]
    return r.add("resid.LayerNorm", [r.name(call["input"]), *parameters], settings)


@_torch("rms_norm")
def _rms_norm(r: _Reader, call: Call) -> str:
    import torch

    # The machine epsilon of the type that computes.
    wide = torch.float64 if call.element == "f64" else torch.float32
    epsilon = call["eps"] if call["eps"] is not None else torch.finfo(wide).eps
    settings = {"axes": [-1 - i for i in range(len(call["normalized_shape"]))], "epsilon": float(epsilon)}
    return r.add(
        "resid.RmsNorm", [r.name(call["input"]), "" if call["weight"] is None else r.name(call["weight"])], settings
    )


@_torch("softmax", "_softmax")
def _softmax(r: _Reader, call: Call) -> str:
    if not call["self"].meta["val"].ndim:
        raise Unsupported("a softmax of rank 0")
    return r.add("Softmax", [r.operand(call["self"], call.element)], {"axis": call["dim"]})


@_torch("embedding")
def _embedding(r: _Reader, call: Call) -> str:
    return r.add("Gather", [r.name(call["weight"]), r.name(call["indices"])], {"axis": 0})


@_torch("conv2d")
def _convolution(r: _Reader, call: Call) -> str:
    padding = [0, 0] if call["padding"] == "valid" else call["padding"]
    if isinstance(padding, str):
        raise Unsupported(f"padding = {padding!r}")
    if call["input"].meta["val"].ndim != 4:
        raise Unsupported("one image: expected a batch of them")
    settings = {
        "strides": list(call["stride"]),
        "pads": list(padding) * 2,
        "dilations": list(call["dilation"]),
        "group": call["groups"],
    }
    operands = [r.name(call["input"]), r.name(call["weight"])] + (
        [r.name(call["bias"])] if call["bias"] is not None else []
    )
    return r.add("Conv", operands, settings)


@_torch("scaled_dot_product_attention")
def _attention(r: _Reader, call: Call) -> str:
    if call["dropout_p"]:
        raise Unsupported(f"dropout_p = {call['dropout_p']}: expected inference")
    q, k, v = (r.name(call[name]) for name in ("query", "key", "value"))
    rank = len(call["query"].meta["val"].shape)
    if rank != 4:
        raise Unsupported(f"operands of rank {rank}: expected 4")
    settings: dict[str, Any] = {"is_causal": int(call["is_causal"])}
    if call["scale"] is not None:
        settings["scale"] = float(call["scale"])
    mask = "" if call["attn_mask"] is None else r.name(call["attn_mask"])
    return r.add("Attention", [q, k, v, mask], settings)
