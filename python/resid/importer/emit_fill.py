# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operators that fill places with a value: padding, triangles of matrices, constants of a shape.

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import elements
from .emit import Emitter, handles, show
from .emit_shapes import ENDLESS
from .errors import ModelError, Unsupported
from .graph import Node
from .program import Program, Tensor, tensor_type
from .sizes import Dim, Size


def pad(p: Program, tensor: Tensor, low: Sequence[Dim], high: Sequence[Dim], value: "float | int") -> Tensor:
    """More places before and after each dimension, which hold a value."""
    tensor = p.value(tensor)
    dims = [before + dim + after for before, dim, after in zip(low, tensor.dims, high)]
    filler = p.scalar(value, tensor.element)
    before, behind = (
        ", ".join(str(n) if isinstance(n, int) else p.index(n) for n in numbers) for numbers in (low, high)
    )
    places = ", ".join(f"{p.fresh()}: index" for _ in dims)
    ssa = p.fresh()
    p.line(f"{ssa} = tensor.pad {tensor.ssa} low[{before}] high[{behind}] {{")
    p.line(f"^bb0({places}):")
    p.line(f"  tensor.yield {filler} : {tensor.element}")
    p.line(f"}} : {tensor.type} to {tensor_type(tensor.element, dims)}")
    return Tensor(tensor.element, tuple(dims), ssa)


@handles("Pad", attributes=("mode", "pads", "value"))
def _pad(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    if e.attribute(node, "mode", "constant") != "constant":
        raise Unsupported(f"attribute mode = {node.attributes['mode']!r}: expected 'constant'")
    given = e.numbers(node, 1, "pads") or []
    axes = e.integers(node, 3) or list(range(tensor.rank))
    if len(given) != 2 * len(axes):
        raise ModelError(f"expected {2 * len(axes)} numbers of pads, found {len(given)}")
    low: list[Dim] = [0] * tensor.rank
    high: list[Dim] = [0] * tensor.rank
    for axis, before, after in zip(axes, given[: len(axes)], given[len(axes) :]):
        low[e.axis(axis, tensor.rank)], high[e.axis(axis, tensor.rank)] = before, after
    if any(isinstance(number, int) and number < 0 for number in [*low, *high]):
        raise Unsupported(f"padding by {show(given)}: expected no negative numbers")
    value = e.input(node, 2).scalar() if node.input(2) else e.attribute(node, "value", 0)
    if value is None:
        raise Unsupported("a value that is known at run time only")
    return pad(e.program, tensor, low, high, value)


@handles("Trilu", attributes=("upper",))
def _trilu(e: Emitter, node: Node) -> Tensor:
    """Zeros above or below a diagonal, by comparing the places."""
    p, tensor = e.program, e.value(node, 0)
    if tensor.rank < 2:
        raise ModelError(f"expected a matrix, found {tensor.type}")
    k = e.number(node, 1)
    if isinstance(k, Size):
        raise Unsupported(f"k = {k}, which is known at run time only")
    k = max(min(k, ENDLESS), -ENDLESS)  # a place after it is still a number
    upper = node.flag("upper", True)
    zero, shift = p.scalar(0, tensor.element), p.index(k)

    def body(element: str, _: str) -> str:
        row = p.inner(f"linalg.index {tensor.rank - 2} : index")
        column = p.inner(f"linalg.index {tensor.rank - 1} : index")
        diagonal = p.inner(f"arith.addi {row}, {shift} : index")
        kept = p.inner(f"arith.cmpi {'sge' if upper else 'sle'}, {column}, {diagonal} : index")
        return p.inner(f"arith.select {kept}, {element}, {zero} : {tensor.element}")

    return p.generic([(tensor, range(tensor.rank))], tensor.element, tensor.dims, body)


@handles("ConstantOfShape", attributes=("value",))
def _constant_of_shape(e: Emitter, node: Node) -> Tensor:
    value = e.attribute(node, "value", np.zeros(1, np.float32)).reshape(-1)[0]
    return e.program.filled(value.item(), elements.from_numpy(value.dtype), e.sizes(node, 0))
