# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operators that compute each element from the elements at the same place: arithmetic, comparisons, choices, casts, activations.

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import elements
from .emit import Emitter, broadcast, handles
from .emit_shapes import broadcast_operand
from .errors import Unsupported
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
        None if operand.scalar() is None else p.scalar(operand.scalar(), operand.element) for operand in operands
    ]
    inputs = [broadcast_operand(p, operand, dims) for operand, scalar in zip(operands, scalars) if scalar is None]

    def whole_body(*names: str) -> str:
        rest = iter(names)
        return body(*[scalar or next(rest) for scalar in scalars])

    return p.generic(inputs, element, dims, whole_body)


def binary(p: Program, op: str, left: Tensor, right: Tensor, element: str = "") -> Tensor:
    """An op of arith or math that has one type. Of two tensors of one shape it is written on tensors."""
    element = element or left.element
    if left.dims == right.dims and element == left.element and left.scalar() is None and right.scalar() is None:
        left, right = p.value(left), p.value(right)
        return p.op(f"{op} {left.ssa}, {right.ssa} : {left.type}", element, left.dims)
    return elementwise(p, [left, right], element, lambda a, b: p.inner(f"{op} {a}, {b} : {left.element}"))


def unary(p: Program, op: str, tensor: Tensor) -> Tensor:
    tensor = p.value(tensor)
    return p.op(f"{op} {tensor.ssa} : {tensor.type}", tensor.element, tensor.dims)


def cast(p: Program, tensor: Tensor, element: str) -> Tensor:
    """To another element type, as ONNX says: floats are cut to integers, and what is not 0 is true."""
    if tensor.element == element:
        return tensor
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
    "Div": ("arith.divf", "arith.divsi"),
    "Min": ("arith.minimumf", "arith.minsi"),
    "Max": ("arith.maximumf", "arith.maxsi"),
    "And": ("", "arith.andi"),
    "Or": ("", "arith.ori"),
    "Xor": ("", "arith.xori"),
}


@handles(*_ARITHMETIC)
def _arithmetic(e: Emitter, node: Node) -> Tensor:
    result = e.input(node, 0)
    for index in range(1, len(node.inputs)):
        op = _ARITHMETIC[node.op][0 if elements.is_float(result.element) else 1]
        result = binary(e.program, op, result, e.input(node, index))
    return result


@handles("Sum", "Mean")
def _sum(e: Emitter, node: Node) -> Tensor:
    result = e.input(node, 0)
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
    if not elements.is_float(kind):
        raise Unsupported(f"a power of {kind}: expected floats")
    if exponent in (2, 3):

        def product(a: str) -> str:
            square = p.inner(f"arith.mulf {a}, {a} : {kind}")
            return square if exponent == 2 else p.inner(f"arith.mulf {square}, {a} : {kind}")

        return elementwise(p, [base], kind, product)
    if exponent in (0.5, -0.5):
        return unary(p, "math.sqrt" if exponent == 0.5 else "math.rsqrt", base)
    return elementwise(p, [base, cast(p, power, kind)], kind, lambda a, b: p.inner(f"math.powf {a}, {b} : {kind}"))


@handles("Mod", attributes=("fmod",))
def _mod(e: Emitter, node: Node) -> Tensor:
    left, right = e.input(node, 0), e.input(node, 1)
    if elements.is_float(left.element):
        return binary(e.program, "arith.remf", left, right)
    if e.attribute(node, "fmod", 0):
        return binary(e.program, "arith.remsi", left, right)
    if right.scalar() is None or right.scalar() <= 0:
        raise Unsupported("a remainder of integers by a divisor that is not a positive constant")
    p, kind = e.program, left.element

    def body(a: str, b: str) -> str:
        cut = p.inner(f"arith.remsi {a}, {b} : {kind}")
        moved = p.inner(f"arith.addi {cut}, {b} : {kind}")
        return p.inner(f"arith.remsi {moved}, {b} : {kind}")

    return elementwise(p, [left, right], kind, body)


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
    return unary(e.program, _UNARY[node.op], e.input(node, 0))


@handles("Abs", "Neg")
def _sign(e: Emitter, node: Node) -> Tensor:
    p, tensor = e.program, e.input(node, 0)
    if elements.is_float(tensor.element):
        return unary(p, {"Abs": "math.absf", "Neg": "arith.negf"}[node.op], tensor)
    if node.op == "Abs":
        return unary(p, "math.absi", tensor)
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
    kind, name = left.element, _COMPARISONS[node.op]
    signed = name if name == "eq" else "s" + name
    test = f"arith.cmpf o{name}," if elements.is_float(kind) else f"arith.cmpi {signed},"
    return elementwise(p, [left, right], "i1", lambda a, b: p.inner(f"{test} {a}, {b} : {kind}"))


@handles("Where")
def _where(e: Emitter, node: Node) -> Tensor:
    p, operands = e.program, [e.input(node, i) for i in range(3)]
    kind = operands[1].element
    return elementwise(p, operands, kind, lambda c, a, b: p.inner(f"arith.select {c}, {a}, {b} : {kind}"))


@handles("Cast", attributes=("to", "saturate", "round_mode"))
def _cast(e: Emitter, node: Node) -> Tensor:
    try:
        element = element_of(node.attributes["to"])
    except ValueError as error:
        raise Unsupported(f"a cast to {error}") from error
    tensor = e.input(node, 0)
    if tensor.known is not None and tensor.known.dtype == object and element in ("i64", "i32"):
        return Tensor(element, tensor.dims, known=tensor.known)
    return cast(e.program, tensor, element)


@handles("CastLike", attributes=("saturate", "round_mode"))
def _cast_like(e: Emitter, node: Node) -> Tensor:
    tensor, element = e.input(node, 0), e.input(node, 1).element
    if tensor.is_constant() and not tensor.weight:
        return Tensor(element, tensor.dims, known=tensor.known.astype(elements.to_numpy(element)))
    return cast(e.program, tensor, element)


@handles("Clip", attributes=("min", "max"))
def _clip(e: Emitter, node: Node) -> Tensor:
    p, result = e.program, e.input(node, 0)
    suffix = "imumf" if elements.is_float(result.element) else "si"
    for index, name in ((1, "min"), (2, "max")):
        bound = e.input(node, index) if node.input(index) else None
        if bound is None and name in node.attributes:
            number = p.scalar(node.attributes[name], result.element)
            kind, op = result.element, "arith.max" if name == "min" else "arith.min"
            result = elementwise(
                p, [result], kind, lambda a, o=op, n=number, k=kind: p.inner(f"{o}{suffix} {a}, {n} : {k}")
            )
        elif bound is not None:
            result = binary(p, f"arith.{'max' if name == 'min' else 'min'}{suffix}", result, bound)
    return result


# -- activations


def activation(p: Program, kind: str, tensor: Tensor) -> Tensor:
    tensor = p.value(tensor)
    if tensor.rank == 0:
        raise Unsupported("an activation of a tensor of rank 0")
    return p.op(f"resid.activation {kind} {tensor.ssa} : {tensor.type}", tensor.element, tensor.dims)


@handles("Relu", "resid.Silu", "Swish")
def _relu(e: Emitter, node: Node) -> Tensor:
    return activation(e.program, "relu" if node.op == "Relu" else "silu", e.input(node, 0))


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
    p, tensor = e.program, e.input(node, 0)
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
