# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operators that compute each element from the elements at the same place: arithmetic, comparisons, choices, casts, activations.

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from . import elements
from .emit import Emitter, broadcast, flipped, handles
from .emit_shapes import broadcast_operand, reshape
from .errors import ModelError, Unsupported
from .fold import element_of
from .graph import Node
from .program import Program, Tensor

Body = Callable[..., str]


def elementwise(p: Program, operands: Sequence[Tensor], element: str, body: Body) -> Tensor:
    """Broadcasts the operands. `body` gets the names of their elements and returns that of the result's. Constants of one
    element are not read from a tensor."""
    dims = operands[0].dims
    for operand in operands[1:]:
        dims = broadcast(dims, operand.dims)
    scalars = [
        None if (scalar := operand.scalar()) is None else p.scalar(scalar, operand.element) for operand in operands
    ]
    inputs = [broadcast_operand(p, operand, dims) for operand, scalar in zip(operands, scalars) if scalar is None]

    def whole_body(*names: str) -> str:
        rest = iter(names)
        return body(*[scalar or next(rest) for scalar in scalars])

    return p.generic(inputs, element, dims, whole_body)


def one_type(left: Tensor, right: Tensor) -> None:
    if left.element != right.element:
        raise ModelError(f"expected elements of one type, found {left.element} and {right.element}")


def binary(p: Program, op: str, left: Tensor, right: Tensor, element: str = "") -> Tensor:
    """An op of arith or math that has one type. Of two tensors of one shape it is written on tensors."""
    one_type(left, right)
    element = element or left.element
    if left.dims == right.dims and element == left.element and left.scalar() is None and right.scalar() is None:
        left, right = p.value(left), p.value(right)
        return p.op(f"{op} {left.ssa}, {right.ssa} : {left.type}", element, left.dims)
    return elementwise(p, [left, right], element, lambda a, b: p.inner(f"{op} {a}, {b} : {left.element}"))


def floats(tensor: Tensor) -> Tensor:
    """The same, where ONNX or resid defines an operator for floats only."""
    if not elements.is_float(tensor.element):
        raise Unsupported(f"elements of {tensor.element}: expected floats")
    return tensor


def unary(p: Program, op: str, tensor: Tensor) -> Tensor:
    tensor = p.value(tensor)
    return p.op(f"{op} {tensor.ssa} : {tensor.type}", tensor.element, tensor.dims)


def cast(p: Program, tensor: Tensor, element: str) -> Tensor:
    """To another element type, as ONNX says: floats are cut to integers, and what is not 0 is true."""
    if tensor.element == element:
        return tensor
    if tensor.is_constant() and not tensor.weight:
        return Tensor(element, tensor.dims, known=tensor.array.astype(elements.to_numpy(element)))
    if tensor.element == "u8":
        # Of the bytes: without a sign to i32, which has all of them.
        tensor = flipped(p, tensor)
        wide = Tensor("i32", tensor.dims)
        return cast(p, p.op(f"arith.extui {tensor.ssa} : {tensor.type} to {wide.type}", "i32", tensor.dims), element)
    if element == "u8":
        return flipped(p, dataclasses.replace(cast(p, cast(p, tensor, "i32"), "i8"), element="u8"))
    tensor = p.value(tensor)
    if element == "i1":
        zero = p.scalar(0, tensor.element)
        test = "arith.cmpf une," if elements.is_float(tensor.element) else "arith.cmpi ne,"
        return elementwise(p, [tensor], "i1", lambda a: p.inner(f"{test} {a}, {zero} : {tensor.element}"))
    op = _cast_op(tensor.element, element)
    if op == "both":  # f16 and bf16 have no common direction
        return cast(p, cast(p, tensor, "f32"), element)
    to = Tensor(element, tensor.dims).type
    return p.op(f"arith.{op} {tensor.ssa} : {tensor.type} to {to}", element, tensor.dims)


def _cast_op(source: str, target: str) -> str:
    from_float, to_float = elements.is_float(source), elements.is_float(target)
    if from_float and to_float:
        if elements.width(source) == elements.width(target):
            return "both"
        return "extf" if elements.width(source) < elements.width(target) else "truncf"
    if from_float:
        return "fptosi"
    if to_float:
        return "uitofp" if source == "i1" else "sitofp"
    if elements.width(source) < elements.width(target):
        return "extui" if source == "i1" else "extsi"
    return "trunci"


_ARITHMETIC = {
    "Add": ("arith.addf", "arith.addi"),
    "Sub": ("arith.subf", "arith.subi"),
    "Mul": ("arith.mulf", "arith.muli"),
    "Div": ("arith.divf", ""),  # of integers: emit_division.py
    "Min": ("arith.minimumf", "arith.minsi"),
    "Max": ("arith.maximumf", "arith.maxsi"),
    "And": ("", "arith.andi"),
    "Or": ("", "arith.ori"),
    "Xor": ("", "arith.xori"),
}


@handles(*(op for op in _ARITHMETIC if op != "Div"))
def arithmetic(e: Emitter, node: Node) -> Tensor:
    result = e.input(node, 0)
    for index in range(1, len(node.inputs)):
        other = e.input(node, index)
        op = _ARITHMETIC[node.op][0 if elements.is_float(result.element) else 1]
        mixed = elements.is_float(result.element) and elements.is_float(other.element) and result.element != other.element
        result = (_beside_wide if mixed else binary)(e.program, op, result, other)
    return result


def _beside_wide(p: Program, op: str, left: Tensor, right: Tensor) -> Tensor:
    """Narrow floats beside one number of the arithmetic type, as PyTorch has them: the number is not rounded to theirs."""
    kind, wide = sorted({left.element, right.element}, key=elements.width)
    if wide != elements.arithmetic(kind) or next(side for side in (left, right) if side.element == wide).rank:
        raise ModelError(f"expected elements of one type, found {left.element} and {right.element}")

    def body(a: str, b: str) -> str:
        a, b = (
            name if tensor.element == wide else p.inner(f"arith.extf {name} : {kind} to {wide}")
            for name, tensor in ((a, left), (b, right))
        )
        return p.inner(f"arith.truncf {p.inner(f'{op} {a}, {b} : {wide}')} : {wide} to {kind}")

    return elementwise(p, [left, right], kind, body)


@handles("Sum", "Mean")
def _sum(e: Emitter, node: Node) -> Tensor:
    result = floats(e.input(node, 0))
    for index in range(1, len(node.inputs)):
        result = binary(e.program, "arith.addf", result, e.input(node, index))
    if node.op == "Mean":
        count = e.program.scalar(len(node.inputs), result.element)
        return elementwise(
            e.program,
            [result],
            result.element,
            lambda a: e.program.inner(f"arith.divf {a}, {count} : {result.element}"),
        )
    return result


@handles("Pow")
def _pow(e: Emitter, node: Node) -> Tensor:
    p, base, power = e.program, e.input(node, 0), e.input(node, 1)
    kind, exponent = base.element, power.scalar()
    if elements.is_float(kind) and exponent not in (2, 3, 0.5, -0.5):
        wide = kind if exponent is not None else wider(kind, power.element)
        return cast(p, binary(p, "math.powf", cast(p, base, wide), cast(p, power, wide)), kind)
    if not elements.is_float(kind) and (exponent is None or exponent not in range(64)):
        raise Unsupported(f"a power of {kind}: expected a constant exponent from 0 to 63")
    assert exponent is not None
    body = _whole_power if isinstance(exponent, int) or exponent.is_integer() else _root
    result = elementwise(p, [base], kind, lambda a: body(p, a, exponent, kind))
    return reshape(p, result, broadcast(base.dims, power.dims))


def wider(kind: str, other: str) -> str:
    """A float type that has the elements of both."""
    if kind == other:
        return kind
    return "f64" if "f64" in (kind, other) or not elements.is_float(other) else "f32"


def _whole_power(p: Program, base: str, exponent: float, kind: str) -> str:
    multiply = "arith.mulf" if elements.is_float(kind) else "arith.muli"
    result = base if exponent else p.scalar(1, kind)
    for _ in range(int(exponent) - 1):
        result = p.inner(f"{multiply} {result}, {base} : {kind}")
    return result


def _root(p: Program, base: str, exponent: float, kind: str) -> str:
    """Powers of -0.0 and of -Inf are those of their absolute values, which roots are not."""
    lowest, zero = p.scalar(float("-inf"), kind), p.scalar(0, kind)
    op, of_lowest = ("math.sqrt", p.scalar(float("inf"), kind)) if exponent > 0 else ("math.rsqrt", zero)
    root = p.inner(f"{op} {p.inner(f'arith.addf {base}, {zero} : {kind}')} : {kind}")
    test = p.inner(f"arith.cmpf oeq, {base}, {lowest} : {kind}")
    return p.inner(f"arith.select {test}, {of_lowest}, {root} : {kind}")


_UNARY = {
    "Sqrt": "math.sqrt",
    "Exp": "math.exp",
    "Log": "math.log",
    "Tanh": "math.tanh",
    "Erf": "math.erf",
    "Cos": "math.cos",
    "Sin": "math.sin",
    "Floor": "math.floor",
    "Ceil": "math.ceil",
    "Round": "math.roundeven",
    "resid.Rsqrt": "math.rsqrt",
}


@handles(*_UNARY)
def _unary(e: Emitter, node: Node) -> Tensor:
    return unary(e.program, _UNARY[node.op], floats(e.input(node, 0)))


def absolute(p: Program, tensor: Tensor) -> Tensor:
    return unary(p, "math.absf" if elements.is_float(tensor.element) else "math.absi", tensor)


@handles("Abs")
def _abs(e: Emitter, node: Node) -> Tensor:
    return absolute(e.program, e.input(node, 0))


@handles("Neg")
def _neg(e: Emitter, node: Node) -> Tensor:
    p, tensor = e.program, e.input(node, 0)
    if elements.is_float(tensor.element):
        return unary(p, "arith.negf", tensor)
    zero = p.scalar(0, tensor.element)
    return elementwise(p, [tensor], tensor.element, lambda a: p.inner(f"arith.subi {zero}, {a} : {tensor.element}"))


@handles("Reciprocal")
def _reciprocal(e: Emitter, node: Node) -> Tensor:
    p, tensor = e.program, e.input(node, 0)
    one = p.scalar(1, tensor.element)
    return elementwise(p, [tensor], tensor.element, lambda a: p.inner(f"arith.divf {one}, {a} : {tensor.element}"))


@handles("Not")
def _not(e: Emitter, node: Node) -> Tensor:
    p = e.program
    true = p.scalar(1, "i1")
    return elementwise(p, [e.input(node, 0)], "i1", lambda a: p.inner(f"arith.xori {a}, {true} : i1"))


@handles("IsNaN")
def _is_nan(e: Emitter, node: Node) -> Tensor:
    p, tensor = e.program, e.input(node, 0)
    return elementwise(p, [tensor], "i1", lambda a: p.inner(f"arith.cmpf uno, {a}, {a} : {tensor.element}"))


_COMPARISONS = {"Equal": "eq", "Greater": "gt", "Less": "lt", "GreaterOrEqual": "ge", "LessOrEqual": "le"}


@handles(*_COMPARISONS)
def _compare(e: Emitter, node: Node) -> Tensor:
    p, left, right = e.program, e.input(node, 0), e.input(node, 1)
    one_type(left, right)
    kind, name = left.element, _COMPARISONS[node.op]
    signed = name if name == "eq" else "s" + name
    test = f"arith.cmpf o{name}," if elements.is_float(kind) else f"arith.cmpi {signed},"
    return elementwise(p, [left, right], "i1", lambda a, b: p.inner(f"{test} {a}, {b} : {kind}"))


@handles("Where")
def _where(e: Emitter, node: Node) -> Tensor:
    p, operands = e.program, [e.input(node, i) for i in range(3)]
    one_type(*operands[1:])
    kind = operands[1].element
    return elementwise(p, operands, kind, lambda c, a, b: p.inner(f"arith.select {c}, {a}, {b} : {kind}"))


@handles("Cast", attributes=("to", "saturate", "round_mode"), takes_bytes=True)
def _cast(e: Emitter, node: Node) -> Tensor:
    try:
        element = element_of(node.attributes["to"])
    except ValueError as error:
        raise Unsupported(f"a cast to {error}") from error
    tensor = e.input(node, 0)
    if tensor.known is not None and tensor.known.dtype == object and element in ("i64", "i32"):
        return Tensor(element, tensor.dims, known=tensor.known)
    return cast(e.program, tensor, element)


@handles("CastLike", attributes=("saturate", "round_mode"), takes_bytes=True)
def _cast_like(e: Emitter, node: Node) -> Tensor:
    return cast(e.program, e.input(node, 0), e.input(node, 1).element)


@handles("Clip", attributes=("min", "max"))
def _clip(e: Emitter, node: Node) -> Tensor:
    p, result = e.program, e.input(node, 0)
    kind = result.element
    for index, name, op in ((1, "min", "max"), (2, "max", "min")):
        if node.input(index):
            bound = reshape(p, e.ranked(e.input(node, index), 0, 1), [])
        elif name in node.attributes:
            bound = Tensor(kind, (), known=np.array(node.attributes[name], elements.to_numpy(kind)))
        else:
            continue
        result = binary(p, f"arith.{op}{'imumf' if elements.is_float(kind) else 'si'}", result, bound)
    return result


# -- activations


def activation(p: Program, kind: str, tensor: Tensor) -> Tensor:
    if tensor.rank == 0:
        return reshape(p, activation(p, kind, reshape(p, tensor, [1])), [])
    tensor = p.value(floats(tensor))
    return p.op(f"resid.activation {kind} {tensor.ssa} : {tensor.type}", tensor.element, tensor.dims)


@handles("Relu", "resid.Silu", "Swish")
def _relu(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    if node.op == "Relu" and not elements.is_float(tensor.element):
        zero = Tensor(tensor.element, (), known=np.zeros((), elements.to_numpy(tensor.element)))
        return binary(e.program, "arith.maxsi", tensor, zero)
    return activation(e.program, "relu" if node.op == "Relu" else "silu", tensor)


@handles("Gelu", attributes=("approximate",))
def _gelu(e: Emitter, node: Node) -> Tensor:
    approximate = e.attribute(node, "approximate", "none")
    if approximate not in ("none", "tanh"):
        raise Unsupported(f"attribute approximate = {approximate!r}: expected 'none' or 'tanh'")
    return activation(e.program, "gelu_tanh" if approximate == "tanh" else "gelu", e.input(node, 0))


@handles("Sigmoid")
def _sigmoid(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    return elementwise(e.program, [tensor], tensor.element, lambda a: sigmoid(e.program, a, tensor.element))


@handles("QuickGelu", attributes=("alpha",))
def _quick_gelu(e: Emitter, node: Node) -> Tensor:
    """x·sigmoid(alpha·x), which resid has no name for."""
    p, tensor = e.program, floats(e.input(node, 0))
    kind, alpha = tensor.element, e.attribute(node, "alpha", 1.702)
    factor = p.scalar(alpha, kind)

    def body(a: str) -> str:
        scaled = p.inner(f"arith.mulf {a}, {factor} : {kind}")
        return p.inner(f"arith.mulf {a}, {sigmoid(p, scaled, kind)} : {kind}")

    return elementwise(p, [tensor], kind, body)


def sigmoid(p: Program, name: str, kind: str) -> str:
    one = p.scalar(1, kind)
    negative = p.inner(f"arith.negf {name} : {kind}")
    power = p.inner(f"math.exp {negative} : {kind}")
    below = p.inner(f"arith.addf {one}, {power} : {kind}")
    return p.inner(f"arith.divf {one}, {below} : {kind}")
