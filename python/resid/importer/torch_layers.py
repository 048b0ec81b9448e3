# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operators of aten that are products or layers: linear layers, norms, softmax, embeddings, attention. Joins the table of torch_ops.py.

from __future__ import annotations

import math
from typing import Any

from . import elements
from .errors import Unsupported
from .torch_ops import _torch
from .torch_reader import Call, _Reader, element_of


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


@_torch("transformers.grouped_mm_fallback")
def _grouped(r: _Reader, call: Call) -> str:
    """Rows sorted by experts times the matrix of each; rows after the last expert's are 0. Of one expert."""
    experts, rows = call["weight"].meta["val"].shape[0], call["input"].meta["val"].shape[0]
    if experts != 1:
        raise Unsupported(f"of {experts} experts: expected 1")
    product = r.add("MatMul", [r.name(call["input"]), r.add("Squeeze", [r.name(call["weight"]), r.sizes([0])])])
    places = r.add("Range", [r.scalar(0, "i64"), r.numbers([rows if isinstance(rows, int) else r.size(rows)], ()), r.scalar(1, "i64")])
    inside = r.add("Less", [places, r.cast(r.name(call["offs"]), "i64")])
    return r.add("Where", [r.add("Unsqueeze", [inside, r.sizes([1])]), product, r.scalar(0.0, call.element)])


@_torch("einsum")
def _einsum(r: _Reader, call: Call) -> str:
    """One or two tensors whose axes have letters, each of which stands once in a tensor."""
    equation, tensors = call["equation"].replace(" ", ""), list(call["tensors"])
    given, arrow, wanted = equation.partition("->")
    names = given.split(",")
    letters = "".join(names)
    if not arrow:
        wanted = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    once = all(len(set(name)) == len(name) for name in (*names, wanted)) and set(wanted) <= set(letters)
    lone = [letter for letter in letters if letters.count(letter) == 1 and letter not in wanted]
    if "." in equation or not once or lone or len(tensors) not in (1, 2) or call["path"] is not None:
        raise Unsupported(f"'{equation}': expected one or two tensors, each letter once in a tensor, and no sum along one of them")
    if len(tensors) == 1:
        return r.add("Transpose", [r.name(tensors[0])], {"perm": [names[0].index(letter) for letter in wanted]})
    return _einsum_of_two(r, tensors, names, wanted)


def _einsum_of_two(r: _Reader, tensors: "list[Any]", names: "list[str]", wanted: str) -> str:
    """A product of matrices [batch, own, summed] and [batch, summed, own]."""
    left, right = names
    sizes = {letter: size for name, tensor in zip(names, tensors) for letter, size in zip(name, tensor.meta["val"].shape)}
    batch = [letter for letter in left if letter in right and letter in wanted]
    summed = [letter for letter in left if letter in right and letter not in wanted]
    own = [[letter for letter in name if letter not in batch + summed] for name in names]

    def matrix(tensor: Any, name: str, groups: "list[list[str]]") -> str:
        order = [name.index(letter) for letter in sum(groups, batch)]
        turned = r.add("Transpose", [r.name(tensor)], {"perm": order})
        return r.add("Reshape", [turned, r.sizes([sizes[letter] for letter in batch] + [math.prod(sizes[letter] for letter in group) for group in groups])])

    product = r.add("MatMul", [matrix(tensors[0], left, [own[0], summed]), matrix(tensors[1], right, [summed, own[1]])])
    made = batch + own[0] + own[1]
    whole = r.add("Reshape", [product, r.sizes([sizes[letter] for letter in made])], {"allowzero": 1})
    return r.add("Transpose", [whole], {"perm": [made.index(letter) for letter in wanted]})


@_torch("batch_norm", "_native_batch_norm_legit_no_training", "_batch_norm_no_update")
def _batch_norm(r: _Reader, call: Call) -> Any:
    """Of inference, along the channels, which are dimension 1."""
    statistics = [call["running_mean"], call["running_var"]]
    if call["training"] or any(value is None for value in statistics):
        raise Unsupported("statistics of the batch: expected running ones, and inference")
    several = isinstance(call.node.meta["val"], (list, tuple))
    if several and any(user.args[1] != 0 and user.users for user in call.node.users):
        raise Unsupported("saved statistics as results")
    x = call["input"]
    kind, rank = element_of(x), x.meta["val"].ndim
    wide = elements.arithmetic(kind)

    def channels(value: Any) -> str:
        return r.add("Reshape", [r.cast(r.name(value), wide), r.sizes([-1, *[1] * (rank - 2)])])

    mean, variance = (channels(value) for value in statistics)
    rate = r.add("resid.Rsqrt", [r.add("Add", [variance, r.scalar(float(call["eps"]), wide)])])
    result = r.add("Mul", [r.add("Sub", [r.cast(r.name(x), wide), mean]), rate])
    result = r.add("Mul", [result, channels(call["weight"])]) if call["weight"] is not None else result
    result = r.add("Add", [result, channels(call["bias"])]) if call["bias"] is not None else result
    result = r.cast(result, kind)
    return [result] + [None] * (len(call.node.meta["val"]) - 1) if several else result


@_torch("group_norm")
def _group_norm(r: _Reader, call: Call) -> str:
    """A layer norm of each group of channels, which are dimension 1, with all places."""
    x, kind = call["input"], call.element
    rank, groups = x.meta["val"].ndim, call["num_groups"]
    wide, channels = elements.arithmetic(kind), r.sizes([-1, *[1] * (rank - 2)])
    rows = r.add("Reshape", [r.cast(r.name(x), wide), r.sizes([*x.meta["val"].shape[:1], groups, -1])])
    result = r.add("resid.LayerNorm", [rows, "", ""], {"axes": [-1], "epsilon": float(call["eps"])})
    result = r.add("Reshape", [result, r.shape(x)], {"allowzero": 1})
    for name, op in (("weight", "Mul"), ("bias", "Add")):
        if call[name] is not None:
            result = r.add(op, [result, r.add("Reshape", [r.cast(r.name(call[name]), wide), channels])])
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


def _by_dimension(given: Any, rank: int) -> list[int]:
    """A number for each dimension of space, of which one may stand for all."""
    numbers = list(given) if isinstance(given, (list, tuple)) else [given]
    return numbers * rank if len(numbers) == 1 else numbers


@_torch("conv1d", "conv2d", "conv3d")
def _convolution(r: _Reader, call: Call) -> str:
    rank = call["weight"].meta["val"].ndim - 2
    if call["input"].meta["val"].ndim != rank + 2:
        raise Unsupported("one image: expected a batch of them")

    settings: dict[str, Any] = {"group": call["groups"]}
    settings |= {"strides": _by_dimension(call["stride"], rank), "dilations": _by_dimension(call["dilation"], rank)}
    if isinstance(call["padding"], str):
        settings["auto_pad"] = {"same": "SAME_UPPER", "valid": "VALID"}[call["padding"]]
    else:
        settings["pads"] = _by_dimension(call["padding"], rank) * 2
    bias = [r.name(call["bias"])] if call["bias"] is not None else []
    return r.add("Conv", [r.name(call["input"]), r.name(call["weight"]), *bias], settings)


@_torch("max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d")
def _pool(r: _Reader, call: Call) -> str:
    rank, name = call["self"].meta["val"].ndim - 2, str(call.node.target).split(".")[1]
    if rank != int(name[-2]):
        raise Unsupported("one image: expected a batch of them")
    kernel, padding = _by_dimension(call["kernel_size"], rank), _by_dimension(call["padding"], rank) * 2
    settings: dict[str, Any] = {"kernel_shape": kernel, "strides": _by_dimension(call["stride"] or kernel, rank), "pads": padding}
    settings["ceil_mode"] = int(call["ceil_mode"])
    if name.startswith("max"):
        return r.add("MaxPool", [r.name(call["self"])], {**settings, "dilations": _by_dimension(call["dilation"], rank)})
    if call["divisor_override"] is not None:
        raise Unsupported(f"divisor_override = {call['divisor_override']}")
    return r.add("AveragePool", [r.name(call["self"])], {**settings, "count_include_pad": int(call["count_include_pad"])})


@_torch("adaptive_avg_pool1d", "adaptive_avg_pool2d")
def _average(r: _Reader, call: Call) -> str:
    """Of all places."""
    sizes = list(call["output_size"])
    if set(sizes) != {1}:
        raise Unsupported(f"output_size = {sizes}: expected 1")
    return r.add("ReduceMean", [r.name(call["self"]), r.sizes([-1 - i for i in range(len(sizes))])], {"keepdims": 1})


@_torch("scaled_dot_product_attention")
def _attention(r: _Reader, call: Call) -> str:
    dropout = r.dropout(call, "dropout_p") if call["dropout_p"] else None
    q, k, v = (r.name(call[name]) for name in ("query", "key", "value"))
    rank = len(call["query"].meta["val"].shape)
    if rank != 4:
        raise Unsupported(f"operands of rank {rank}: expected 4")
    settings: dict[str, Any] = {"is_causal": int(call["is_causal"])}
    if call["scale"] is not None:
        settings["scale"] = float(call["scale"])
    mask = "" if call["attn_mask"] is None else r.name(call["attn_mask"])
    if dropout is None:
        return r.add("Attention", [q, k, v, mask], settings)
    return r.add("Attention", [q, k, v, mask, "", "", "", dropout[0]], settings | dropout[1])
