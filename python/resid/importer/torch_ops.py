# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operators of aten as the operators of ONNX that mean the same. Numbers take the type of the result, as torch has it.

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from . import (
    elements,
    emit_torch,  # noqa: F401  (joins the handlers)
)
from .errors import Unsupported
from .sizes import Dim
from .torch_guards import size_of
from .torch_reader import Call, _Reader, element_of, from_torch

Rule = Callable[[_Reader, Call], Any]
TABLE: dict[str, Rule] = {}


def _torch(*names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        for name in names:
            TABLE[name] = rule
        return rule

    return register


def _name_of(call: Call) -> str:
    return str(call.node.target).split(".")[1]


# -- arithmetic

_BINARY = {
    "add": "Add",
    "sub": "Sub",
    "mul": "Mul",
    "multiply": "Mul",
    "div": "Div",
    "minimum": "Min",
    "maximum": "Max",
    "pow": "Pow",
}
# Of booleans; PyTorch has no difference of them.
_TRUTHS = {"add": "Or", "mul": "And", "multiply": "And", "minimum": "And", "maximum": "Or"}


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "op") and hasattr(value.meta["val"], "dtype")


def _factor(r: _Reader, value: Any, element: str) -> str:
    """An operand of a product or quotient. PyTorch does not round numbers, and tensors of rank 0, to the narrow type of the other."""
    wide = not _is_tensor(value) or (value.meta["val"].ndim == 0 and element_of(value) in ("f32", "f64"))
    return r.operand(value, elements.arithmetic(element) if wide and elements.is_float(element) else element)


@_torch(*_BINARY)
def _binary(r: _Reader, call: Call) -> str:
    name, kind = _name_of(call), call.element
    left, right = call["self"], call["exponent"] if name == "pow" else call["other"]
    if call["rounding_mode"] is not None:
        return _rounded_quotient(r, call, call["rounding_mode"])
    if call["alpha"] not in (None, 1):
        return _with_alpha(r, name, left, right, call)
    if kind == "i1":
        if name not in _TRUTHS:
            raise Unsupported(f"{name} of i1")
        return r.add(_TRUTHS[name], [r.operand(left, kind), r.operand(right, kind)])
    if name == "pow" and right in (0.5, -0.5) and kind != "f16":  # which PyTorch takes to f32, and to the general power there
        return r.add("Sqrt" if right > 0 else "resid.Rsqrt", [r.operand(left, kind)])
    tensors = sum(_is_tensor(value) and value.meta["val"].ndim > 0 for value in (left, right))
    take = _factor if name in ("mul", "multiply", "div") and tensors == 1 else _Reader.operand
    return r.add(_BINARY[name], [take(r, left, kind), take(r, right, kind)])


@_torch("min", "max")
def _of_two(r: _Reader, call: Call) -> Any:
    """Of two tensors, of all elements, or along an axis with the place of the first."""
    op = _name_of(call).capitalize()
    if call["dim"] is not None:
        return _with_place(r, op, call["self"], call["dim"], call["keepdim"])
    if call["other"] is None:
        return r.add(f"Reduce{op}", [r.name(call["self"])], {"keepdims": 0})
    op = {"Min": "And", "Max": "Or"}[op] if call.element == "i1" else op
    return r.add(op, [r.operand(call["self"], call.element), r.operand(call["other"], call.element)])


def _with_place(r: _Reader, op: str, tensor: Any, dim: int, keepdim: bool) -> list[str]:
    """The largest or least along an axis, and where the first such number stands; NaN where there is one."""
    name, rank, kind = r.name(tensor), tensor.meta["val"].ndim, element_of(tensor)
    if rank == 0 or kind == "i1":
        raise Unsupported(f"of rank {rank} and type {kind}")
    axis = r.sizes([dim % rank])
    found = r.add(f"Reduce{op}", [name, axis], {"keepdims": 1})
    place = r.add("resid.FirstPlace", [name, found], {"axis": dim % rank})
    if keepdim:
        return [found, r.add("Unsqueeze", [place, axis])]
    return [r.add("Squeeze", [found, axis]), place]


@_torch("argmax", "argmin")
def _place_of_extreme(r: _Reader, call: Call) -> str:
    tensor, op = call["self"], "Max" if _name_of(call) == "argmax" else "Min"
    if call["dim"] is None:
        raise Unsupported("a place among all elements: expected dim")
    return _with_place(r, op, tensor, call["dim"], call["keepdim"])[1]


@_torch("topk", "sort", "argsort")
def _ordered(r: _Reader, call: Call) -> Any:
    """By size. Of equal numbers the first comes first, which PyTorch leaves open."""
    tensor, name = call["self"], _name_of(call)
    rank, kind = tensor.meta["val"].ndim, element_of(tensor)
    if rank == 0 or kind == "i1" or hasattr(call["k"], "op"):
        raise Unsupported(f"of rank {rank} and type {kind}")
    dim, descending = call["dim"] % rank, call["largest"] if name == "topk" else call["descending"]
    count = call["k"] if name == "topk" else tensor.meta["val"].shape[dim]
    if not isinstance(count, int):
        raise Unsupported(f"{count} numbers, which are known at run time only")
    results = r.add_several("resid.Ordered", [r.name(tensor)], {"axis": dim, "count": count, "descending": int(descending)}, 2)
    return results[1] if name == "argsort" else results


@_torch("logsumexp")
def _log_of_sum(r: _Reader, call: Call) -> str:
    dims = [call["dim"]] if isinstance(call["dim"], int) else list(call["dim"])
    if len(dims) != 1 or not call["self"].meta["val"].ndim or not elements.is_float(element_of(call["self"])):
        raise Unsupported(f"along {dims} of {element_of(call['self'])}: expected one axis of floats")
    wide, axes = elements.arithmetic(call.element), r.sizes(dims)
    x = r.cast(r.name(call["self"]), wide)
    most = r.add("ReduceMax", [x, axes], {"keepdims": 1})
    # Where the largest is infinite it is the sum, and Inf - Inf is not.
    is_infinite = r.add("Equal", [r.add("Abs", [most]), r.scalar(math.inf, wide)])
    bound = r.add("Where", [is_infinite, r.scalar(0.0, wide), most])
    total = r.add("ReduceSum", [r.add("Exp", [r.add("Sub", [x, bound])]), axes], {"keepdims": 1})
    result = r.add("Add", [r.add("Log", [total]), bound])
    return r.cast(result if call["keepdim"] else r.add("Squeeze", [result, axes]), call.element)


@_torch("hardtanh", "relu6")
def _bounded(r: _Reader, call: Call) -> str:
    low, high = (0.0, 6.0) if _name_of(call) == "relu6" else (call["min_val"], call["max_val"])
    return r.add("Clip", [r.name(call["self"]), r.scalar(low, call.element), r.scalar(high, call.element)])


@_torch("softplus")
def _softplus(r: _Reader, call: Call) -> str:
    wide = elements.arithmetic(call.element)
    settings = {"beta": float(call["beta"]), "threshold": float(call["threshold"])}
    return r.cast(r.add("resid.Softplus", [r.cast(r.name(call["self"]), wide)], settings), call.element)


@_torch("log_sigmoid")
def _log_sigmoid(r: _Reader, call: Call) -> str:
    """-log(1 + exp(-x))."""
    wide = elements.arithmetic(call.element)
    away = r.add("Neg", [r.cast(r.name(call["self"]), wide)])
    # Without a threshold: log(1 + exp) of a large number is infinite.
    return r.cast(r.add("Neg", [r.add("resid.Softplus", [away], {"beta": 1.0, "threshold": 30.0})]), call.element)


@_torch("rsub")
def _rsub(r: _Reader, call: Call) -> str:
    return _with_alpha(r, "sub", call["other"], call["self"], call)


def _with_alpha(r: _Reader, name: str, left: Any, right: Any, call: Call) -> str:
    """left ± alpha·right, rounded once: alpha has the type of the result, and the arithmetic type computes."""
    kind, alpha = call.element, call["alpha"]
    if hasattr(alpha, "op") or kind == "i1":
        raise Unsupported(f"alpha = {alpha} of {kind}")
    if alpha == 1:
        return r.add(_BINARY[name], [r.operand(left, kind), r.operand(right, kind)])
    wide = elements.arithmetic(kind) if elements.is_float(kind) else kind
    left, right, factor = (r.cast(r.operand(value, kind), wide) for value in (left, right, alpha))
    return r.cast(r.add(_BINARY[name], [left, r.add("Mul", [right, factor])]), kind)


def _rounded_quotient(r: _Reader, call: Call, mode: str) -> str:
    """Integers only: of floats, PyTorch defines a quotient that is rounded down by a remainder."""
    kind = call.element
    if elements.is_float(kind) or kind == "i1" or mode not in ("floor", "trunc"):
        raise Unsupported(f"rounding_mode = {mode!r} of {kind}")
    return r.add("resid.FloorDiv" if mode == "floor" else "Div", [r.operand(call["self"], kind), r.operand(call["other"], kind)])


@_torch("floor_divide")
def _floor_divide(r: _Reader, call: Call) -> str:
    return _rounded_quotient(r, call, "floor")


@_torch("remainder", "fmod")
def _remainder(r: _Reader, call: Call) -> str:
    operands = [r.operand(call["self"], call.element), r.operand(call["other"], call.element)]
    return r.add("resid.Remainder", operands) if _name_of(call) == "remainder" else r.add("Mod", operands, {"fmod": 1})


_UNARY = {
    "neg": "Neg",
    "sqrt": "Sqrt",
    "rsqrt": "resid.Rsqrt",
    "exp": "Exp",
    "expm1": "resid.Expm1",
    "log": "Log",
    "tanh": "Tanh",
    "erf": "Erf",
    "cos": "Cos",
    "sin": "Sin",
    "abs": "Abs",
    "sigmoid": "Sigmoid",
    "silu": "resid.Silu",
    "reciprocal": "Reciprocal",
    "floor": "Floor",
    "ceil": "Ceil",
    "round": "Round",
}


@_torch(*_UNARY)
def _unary(r: _Reader, call: Call) -> str:
    name, kind = _name_of(call), call.element
    if name in ("floor", "ceil", "round") and (not elements.is_float(kind) or call["decimals"]):
        raise Unsupported(f"{name} of {kind}" + (f", decimals = {call['decimals']}" if call["decimals"] else ""))
    return r.add(_UNARY[name], [r.operand(call["self"], kind)])


@_torch("relu")
def _relu(r: _Reader, call: Call) -> str:
    kind, x = call.element, r.name(call["self"])
    return r.add("Relu", [x]) if elements.is_float(kind) else r.add("Max", [x, r.scalar(0, kind)])


@_torch("logical_not", "bitwise_not")
def _not(r: _Reader, call: Call) -> str:
    if call.element == "i1":
        return r.add("Not", [r.operand(call["self"], "i1")])
    return r.add("resid.BitXor", [r.name(call["self"]), r.scalar(-1, call.element)])


@_torch("isnan")
def _is_nan(r: _Reader, call: Call) -> str:
    return r.add("IsNaN", [r.operand(call["self"], _float_of(element_of(call["self"])))])


def _float_of(element: str) -> str:
    return element if elements.is_float(element) else "f32"


@_torch("square")
def _square(r: _Reader, call: Call) -> str:
    return r.add("Mul", [r.operand(call["self"], call.element)] * 2)


@_torch("gelu")
def _gelu(r: _Reader, call: Call) -> str:
    return r.add("Gelu", [r.name(call["self"])], {"approximate": call["approximate"]})


_COMPARISONS = {
    "eq": "Equal",
    "gt": "Greater",
    "lt": "Less",
    "ge": "GreaterOrEqual",
    "le": "LessOrEqual",
    "ne": "Equal",
}


@_torch(*_COMPARISONS)
def _compare(r: _Reader, call: Call) -> str:
    """In the type that both have together, to which numbers are rounded."""
    import torch

    left, right = call["self"], call["other"]
    given = [value.meta["val"] if hasattr(value, "op") else value for value in (left, right)]
    kind = from_torch(torch.result_type(*given))
    kind = "i32" if kind == "i1" else kind  # the 1 of i1 is its sign
    result = r.add(_COMPARISONS[_name_of(call)], [r.operand(left, kind), r.operand(right, kind)])
    return r.add("Not", [result]) if _name_of(call) == "ne" else result


@_torch("logical_and", "logical_or", "logical_xor")
def _logical(r: _Reader, call: Call) -> str:
    op = {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}[_name_of(call)]
    return r.add(op, [r.operand(call["self"], "i1"), r.operand(call["other"], "i1")])


@_torch("bitwise_and", "bitwise_or", "bitwise_xor", "__and__", "__or__", "__xor__")
def _bitwise(r: _Reader, call: Call) -> str:
    name, kind = _name_of(call).strip("_").removeprefix("bitwise_").capitalize(), call.element
    return r.add(name if kind == "i1" else f"resid.Bit{name}", [r.operand(call["self"], kind), r.operand(call["other"], kind)])


@_torch("bitwise_left_shift", "bitwise_right_shift", "__lshift__", "__rshift__")
def _shift(r: _Reader, call: Call) -> str:
    kind = call.element
    if kind not in elements.INTEGERS:
        raise Unsupported(f"a shift of {kind}: expected integers")
    op = "resid.ShiftLeft" if "left" in _name_of(call) or "lshift" in _name_of(call) else "resid.ShiftRight"
    return r.add(op, [r.operand(call["self"], kind), r.operand(call["other"], kind)])


@_torch("where")
def _where(r: _Reader, call: Call) -> str:
    if call["self"] is None:
        raise Unsupported("the places of what is true, of which the number is known at run time only")
    operands = [r.operand(call["self"], call.element), r.operand(call["other"], call.element)]
    return r.add("Where", [r.operand(call["condition"], "i1"), *operands])


@_torch("masked_fill")
def _masked_fill(r: _Reader, call: Call) -> str:
    """The mask is turned round, so that what is filled stands last, where the recogniser of attention looks for it."""
    kept = r.add("Not", [r.name(call["mask"])])
    return r.add("Where", [kept, r.name(call["self"]), r.operand(call["value"], call.element)])


@_torch("clamp", "clamp_min", "clamp_max")
def _clamp(r: _Reader, call: Call) -> str:
    result = r.operand(call["self"], call.element)
    for name, op in (("min", "Max"), ("max", "Min")):
        if call[name] is not None:
            result = r.add(op, [result, r.operand(call[name], call.element)])
    return result


@_torch(
    "to",
    "_to_copy",
    "type_as",
    "clone",
    "contiguous",
    "detach",
    "detach_",
    "alias",
    "lift_fresh_copy",
    "float",
)
def _copy(r: _Reader, call: Call) -> str:
    """Casts and copies."""
    source = next(value for value in call.arguments.values() if hasattr(value, "op"))
    return r.operand(source, call.element)


@_torch("dropout")
def _dropout(r: _Reader, call: Call) -> str:
    source = r.operand(call["input"], call.element)
    if not call["train"]:
        return source
    state, attributes = r.dropout(call, "p")
    return r.add("resid.Dropout", [source, state], attributes)


# -- reductions


@_torch("mean", "sum", "amax", "amin", "prod")
def _reduce(r: _Reader, call: Call) -> str:
    ops = {"mean": "ReduceMean", "sum": "ReduceSum", "amax": "ReduceMax", "amin": "ReduceMin", "prod": "ReduceProd"}
    source = r.operand(call["self"], call.element)
    if not call["self"].meta["val"].ndim:
        return r.add("Identity", [source])
    dims = call["dim"] if call["dim"] is not None else []
    dims = [dims] if isinstance(dims, int) else list(dims)
    axes = [r.sizes(dims)] if dims else []
    return r.add(ops[_name_of(call)], [source, *axes], {"keepdims": int(bool(call["keepdim"]))})


@_torch("cumsum")
def _cumulative_sum(r: _Reader, call: Call) -> str:
    """Of narrow floats in the arithmetic type, each sum rounded once."""
    kind, source = call.element, r.operand(call["self"], call.element)
    if not call["self"].meta["val"].ndim:
        return r.add("Identity", [source])
    wide = elements.arithmetic(kind) if elements.is_float(kind) else kind
    return r.cast(r.add("CumSum", [r.cast(source, wide), r.scalar(call["dim"], "i64")]), kind)


@_torch("histc")
def _histogram(r: _Reader, call: Call) -> str:
    """How many numbers lie in each of some parts of one length. PyTorch computes a number's part in its own type."""
    kind, bins, low, high = element_of(call["self"]), call["bins"], call["min"], call["max"]
    if kind not in ("f32", "f64") or any(hasattr(value, "op") for value in (bins, low, high)) or low >= high and (low > high or bins > 1):
        raise Unsupported(f"{bins} parts from {low} to {high} of {kind}: expected numbers of f32 or f64, and more than one number from the first to the last part")
    x = r.add("Reshape", [r.name(call["self"]), r.sizes([-1])])
    if low == high:  # from the least number to the largest, in one part
        return r.cast(r.add("Shape", [x]), kind)
    first, last = (r.scalar(bound, kind) for bound in (low, high))
    inside = r.add("And", [r.add("GreaterOrEqual", [x, first]), r.add("LessOrEqual", [x, last])])
    far = r.add("Mul", [r.add("Sub", [r.add("Where", [inside, x, first]), first]), r.scalar(bins, kind)])
    part = r.cast(r.add("Div", [far, r.add("Sub", [last, first])]), "i64")
    part = r.add("Unsqueeze", [r.add("Where", [inside, r.add("Min", [part, r.scalar(bins - 1, "i64")]), r.scalar(-1, "i64")]), r.sizes([1])])
    is_there = r.cast(r.add("Equal", [part, r.sizes(range(bins))]), kind)
    return r.add("ReduceSum", [is_there, r.sizes([0])], {"keepdims": 0})


# -- fillings


@_torch("arange")
def _arange(r: _Reader, call: Call) -> str:
    """Of integers a range; of floats start + i·step in f64, each rounded once."""
    start: Any = call["start"] if call["start"] is not None else 0
    step: Any = call["step"] if call["step"] is not None else 1
    bounds = [bound.meta["val"] if hasattr(bound, "op") else bound for bound in (start, call["end"], step)]
    fractions = [bound for bound in bounds if isinstance(bound, float) and not bound.is_integer()]
    if step == 1 and not fractions:
        names = [r.sizes([int(value) if isinstance(value, float) else value]) for value in (start, call["end"], step)]
        return r.cast(r.add("Range", [r.add("Reshape", [name, r.sizes([])]) for name in names]), call.element)
    if hasattr(start, "op") or hasattr(step, "op"):
        raise Unsupported(f"from {start} by {step}: expected numbers, or a step of 1 between integers")
    if fractions and not elements.is_float(call.element):
        raise Unsupported(f"from {start} to {call['end']} by {step} in {call.element}")
    if not elements.is_float(call.element) and max(abs(start), abs(step)) >= 1 << 52:
        raise Unsupported(f"from {start} by {step}: expected numbers below 2^52")
    count = _count(r, call, start, step)
    return r.cast(r.add("resid.Steps", [r.numbers([count], (1,))], {"start": start, "step": step}), call.element)


def _count(r: _Reader, call: Call, start: float, step: float) -> Dim:
    """How many there are. Where the end is open, it is a whole number."""
    recorded = size_of(call.node.meta["val"].shape[0])
    if recorded is not None:
        return recorded
    end, first, by = r.size(call["end"]), Fraction(start), Fraction(step)
    scale = math.lcm(first.denominator, by.denominator)
    if scale > 1 << 16:
        raise Unsupported(f"from {start} by {step} to an open end: expected fractions of small denominators")
    length, stride = end * scale - int(first * scale), int(by * scale)
    length, stride = (length, stride) if stride > 0 else (-length, -stride)
    return (length + (stride - 1)) // stride


@_torch("eye")
def _identity(r: _Reader, call: Call) -> str:
    rows, columns = call["n"], call["m"] if call["m"] is not None else call["n"]
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise Unsupported(f"an identity of {rows} rows and {columns} columns, which are known at run time only")
    return r.cast(r.graph.constant(r.current, np.eye(rows, columns, dtype=np.float32)), call.element)


@_torch("linalg_vector_norm")
def _vector_norm(r: _Reader, call: Call) -> str:
    dims, kind = call["dim"], call.element
    if call["ord"] != 2 or not call["self"].meta["val"].ndim or not elements.is_float(kind):
        raise Unsupported(f"ord = {call['ord']} of {kind}: expected 2 of floats")
    axes = [] if dims is None else [r.sizes([dims] if isinstance(dims, int) else list(dims))]
    return r.add("ReduceL2", [r.operand(call["self"], kind), *axes], {"keepdims": int(bool(call["keepdim"]))})


@_torch("full", "zeros", "ones", "empty", "full_like", "zeros_like", "ones_like", "empty_like", "new_zeros", "new_ones", "new_full", "new_empty", "fill")
def _filled(r: _Reader, call: Call) -> str:
    """Elements of `empty`, which PyTorch leaves open, are 0."""
    name = _name_of(call)
    value = call["value"] if name == "fill" else call["fill_value"] if "full" in name else float("ones" in name)
    size = r.sizes(call["size"]) if call["self"] is None or name.startswith("new") else r.add("Shape", [r.name(call["self"])])
    if hasattr(value, "op"):
        return r.add("Expand", [r.operand(value, call.element), size])
    filler = r.graph.constants[r.scalar(value, call.element)].reshape(1)
    return r.add("ConstantOfShape", [size], {"value": filler})


@_torch("scalar_tensor")
def _scalar_tensor(r: _Reader, call: Call) -> str:
    return r.operand(call["s"], call.element)


@_torch("triu", "tril")
def _triangle(r: _Reader, call: Call) -> str:
    return r.add(
        "Trilu", [r.name(call["self"]), r.scalar(call["diagonal"], "i64")], {"upper": int(_name_of(call) == "triu")}
    )
