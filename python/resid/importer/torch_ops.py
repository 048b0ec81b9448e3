# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operators of aten as the operators of ONNX that mean the same. Numbers take the type of the result, as torch has it.

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import Unsupported
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

_BINARY = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "minimum": "Min", "maximum": "Max", "pow": "Pow"}


@_torch(*_BINARY)
def _binary(r: _Reader, call: Call) -> str:
    if call["rounding_mode"] is not None:
        raise Unsupported(f"rounding_mode = {call['rounding_mode']!r}")
    if call["alpha"] not in (None, 1):
        raise Unsupported(f"alpha = {call['alpha']}")
    left, right = call["self"], call["exponent"] if _name_of(call) == "pow" else call["other"]
    return r.add(_BINARY[_name_of(call)], [r.operand(left, call.element), r.operand(right, call.element)])


@_torch("rsub")
def _rsub(r: _Reader, call: Call) -> str:
    return r.add("Sub", [r.operand(call["other"], call.element), r.operand(call["self"], call.element)])


_UNARY = {
    "neg": "Neg",
    "sqrt": "Sqrt",
    "rsqrt": "resid.Rsqrt",
    "exp": "Exp",
    "log": "Log",
    "tanh": "Tanh",
    "erf": "Erf",
    "cos": "Cos",
    "sin": "Sin",
    "abs": "Abs",
    "sigmoid": "Sigmoid",
    "relu": "Relu",
    "silu": "resid.Silu",
    "reciprocal": "Reciprocal",
    "logical_not": "Not",
    "bitwise_not": "Not",
    "isnan": "IsNaN",
}


@_torch(*_UNARY)
def _unary(r: _Reader, call: Call) -> str:
    name = _name_of(call)
    source = (
        "i1"
        if name in ("logical_not", "bitwise_not")
        else element_of(call["self"])
        if name == "isnan"
        else call.element
    )
    if name == "bitwise_not" and call.element != "i1":
        raise Unsupported(f"of {call.element}: expected i1")
    return r.add(_UNARY[name], [r.operand(call["self"], source)])


@_torch("square")
def _square(r: _Reader, call: Call) -> str:
    return r.add("Mul", [r.name(call["self"])] * 2)


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
    import torch

    left, right = call["self"], call["other"]
    kind = element_of(left)
    if hasattr(right, "op") and hasattr(right.meta["val"], "dtype"):
        kind = from_torch(torch.promote_types(left.meta["val"].dtype, right.meta["val"].dtype))
    elif (
        isinstance(right, float)
        and not kind.endswith(("16", "32", "64"))
        or isinstance(right, float)
        and kind.startswith("i")
    ):
        kind = "f32"
    result = r.add(_COMPARISONS[_name_of(call)], [r.operand(left, kind), r.operand(right, kind)])
    return r.add("Not", [result]) if _name_of(call) == "ne" else result


@_torch("logical_and", "bitwise_and", "logical_or", "bitwise_or", "__and__", "__or__")
def _logical(r: _Reader, call: Call) -> str:
    op = "And" if "and" in _name_of(call) else "Or"
    return r.add(op, [r.operand(call["self"], "i1"), r.operand(call["other"], "i1")])


@_torch("where")
def _where(r: _Reader, call: Call) -> str:
    return r.add(
        "Where",
        [r.name(call["condition"]), r.operand(call["self"], call.element), r.operand(call["other"], call.element)],
    )


@_torch("masked_fill")
def _masked_fill(r: _Reader, call: Call) -> str:
    """The mask is turned round, so that what is filled stands last, where the recogniser of attention looks for it."""
    kept = r.add("Not", [r.name(call["mask"])])
    return r.add("Where", [kept, r.name(call["self"]), r.operand(call["value"], call.element)])


@_torch("clamp")
def _clamp(r: _Reader, call: Call) -> str:
    bounds = ["" if call[name] is None else r.operand(call[name], call.element) for name in ("min", "max")]
    return r.add("Clip", [r.name(call["self"]), *bounds])


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
    "dropout",
    "float",
)
def _copy(r: _Reader, call: Call) -> str:
    """Casts, copies, and dropout of inference."""
    if call["train"]:
        raise Unsupported("train = True: expected inference")
    source = next(value for value in call.arguments.values() if hasattr(value, "op"))
    return r.operand(source, call.element)


# -- products and layers


@_torch("linear")
def _linear(r: _Reader, call: Call) -> str:
    operands = [r.name(call["input"]), r.name(call["weight"])] + (
        [r.name(call["bias"])] if call["bias"] is not None else []
    )
    return r.add("resid.Linear", operands, {"transposed": 0})


@_torch("matmul", "mm", "bmm")
def _matmul(r: _Reader, call: Call) -> str:
    return r.add("MatMul", [r.name(call["self"]), r.name(call["mat2"] if call["mat2"] is not None else call["other"])])


@_torch("addmm")
def _addmm(r: _Reader, call: Call) -> str:
    factors = {"alpha": float(call["alpha"]), "beta": float(call["beta"])}
    return r.add("Gemm", [r.name(call["mat1"]), r.name(call["mat2"]), r.name(call["self"])], factors)


@_torch("layer_norm")
def _layer_norm(r: _Reader, call: Call) -> str:
    settings = {"axes": [-1 - i for i in range(len(call["normalized_shape"]))], "epsilon": float(call["eps"])}
    parameters = ["" if call[name] is None else r.name(call[name]) for name in ("weight", "bias")]
    return r.add("resid.LayerNorm", [r.name(call["input"]), *parameters], settings)


@_torch("rms_norm")
def _rms_norm(r: _Reader, call: Call) -> str:
    import torch

    epsilon = call["eps"] if call["eps"] is not None else torch.finfo(call.node.meta["val"].dtype).eps
    settings = {"axes": [-1 - i for i in range(len(call["normalized_shape"]))], "epsilon": float(epsilon)}
    return r.add(
        "resid.RmsNorm", [r.name(call["input"]), "" if call["weight"] is None else r.name(call["weight"])], settings
    )


@_torch("softmax", "_softmax")
def _softmax(r: _Reader, call: Call) -> str:
    return r.add("Softmax", [r.operand(call["self"], call.element)], {"axis": call["dim"]})


@_torch("embedding")
def _embedding(r: _Reader, call: Call) -> str:
    return r.add("Gather", [r.name(call["weight"]), r.name(call["indices"])], {"axis": 0})


@_torch("conv2d")
def _convolution(r: _Reader, call: Call) -> str:
    if isinstance(call["padding"], str):
        raise Unsupported(f"padding = {call['padding']!r}")
    settings = {
        "strides": list(call["stride"]),
        "pads": list(call["padding"]) * 2,
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


# -- reductions


@_torch("mean", "sum", "amax", "amin")
def _reduce(r: _Reader, call: Call) -> str:
    op = {"mean": "ReduceMean", "sum": "ReduceSum", "amax": "ReduceMax", "amin": "ReduceMin"}[_name_of(call)]
    dims = call["dim"] if call["dim"] is not None else []
    dims = [dims] if isinstance(dims, int) else list(dims)
    axes = [r.sizes(dims)] if dims else []
    return r.add(op, [r.operand(call["self"], call.element), *axes], {"keepdims": int(bool(call["keepdim"]))})


@_torch("cumsum")
def _cumulative_sum(r: _Reader, call: Call) -> str:
    return r.add("CumSum", [r.operand(call["self"], call.element), r.scalar(call["dim"], "i64")])


# -- fillings


@_torch("arange")
def _arange(r: _Reader, call: Call) -> str:
    bounds = [
        call["start"] if call["start"] is not None else 0,
        call["end"],
        call["step"] if call["step"] is not None else 1,
    ]
    return r.cast(r.add("Range", [r.scalar(bound, "i64") for bound in bounds]), call.element)


@_torch("full", "zeros", "ones", "full_like", "zeros_like", "ones_like", "new_zeros", "new_ones", "new_full")
def _filled(r: _Reader, call: Call) -> str:
    value = call["fill_value"] if "full" in _name_of(call) else float("ones" in _name_of(call))
    filler = r.graph.constants[r.scalar(value, call.element)].reshape(1)
    size = r.add("Shape", [r.name(call["self"])]) if _name_of(call).endswith("like") else r.sizes(call["size"])
    return r.add("ConstantOfShape", [size], {"value": filler})


@_torch("scalar_tensor")
def _scalar_tensor(r: _Reader, call: Call) -> str:
    return r.scalar(call["s"], call.element)


@_torch("triu", "tril")
def _triangle(r: _Reader, call: Call) -> str:
    return r.add(
        "Trilu", [r.name(call["self"]), r.scalar(call["diagonal"], "i64")], {"upper": int(_name_of(call) == "triu")}
    )
