# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reductions over axes, and softmax. f16 and bf16 are summed in f32.

from __future__ import annotations

from collections.abc import Sequence

from . import elements
from .emit import Emitter, handles
from .emit_elementwise import absolute, binary, cast, elementwise, floats, unary
from .emit_shapes import reshape, transpose
from .errors import Unsupported
from .graph import Node
from .program import Program, Tensor
from .sizes import Dim, larger, product

def _start(kind: str, element: str) -> float | int:
    """What changes no element."""
    if kind in ("add", "mul"):
        return int(kind == "mul")
    if elements.is_float(element):
        return float("-inf" if kind == "maximum" else "inf")
    lowest = 0 if element == "i1" else -(1 << (elements.width(element) - 1))
    return lowest if kind == "maximum" else (1 if element == "i1" else -1 - lowest)


def _op(kind: str, element: str) -> str:
    if elements.is_float(element):
        return f"arith.{kind}f"
    named = {"maximum": "ori", "minimum": "andi"} if element == "i1" else {"maximum": "maxsi", "minimum": "minsi"}
    return f"arith.{named.get(kind, kind + 'i')}"


def reduce(p: Program, kind: str, tensor: Tensor, axes: Sequence[int]) -> Tensor:
    """Removes the axes. `kind`: add, mul, maximum or minimum. The result has the arithmetic type for f16 and bf16."""
    if elements.is_float(tensor.element):
        tensor = cast(p, tensor, elements.arithmetic(tensor.element))
    tensor = p.value(tensor)
    if not axes:
        return tensor
    kept = [i for i in range(tensor.rank) if i not in axes]
    dims = [tensor.dims[i] for i in kept]
    start = p.filled(_start(kind, tensor.element), tensor.element, dims)
    loops = ["reduction" if i in axes else "parallel" for i in range(tensor.rank)]
    op = _op(kind, tensor.element)
    inputs = [(tensor, range(tensor.rank))]
    return p.generic(
        inputs, tensor.element, dims, lambda a, b: p.inner(f"{op} {b}, {a} : {tensor.element}"), start, loops, kept
    )


def mean(p: Program, tensor: Tensor, axes: Sequence[int]) -> Tensor:
    total = reduce(p, "add", tensor, axes)
    count: Dim = product([tensor.dims[i] for i in axes])
    kind, floating = total.element, elements.is_float(total.element)
    if not floating and not isinstance(count, int):
        count = larger(count, 1)  # no division by 0
    if isinstance(count, int):
        number = p.scalar(count if floating else max(count, 1), kind)
    elif floating:
        number = p.fresh()
        p.line(f"{number} = arith.sitofp {p.scalar_of_size(count, 'i64')} : i64 to {kind}")
    else:
        number = p.scalar_of_size(count, kind)
    op = "arith.divf" if floating else "arith.divsi"
    return elementwise(p, [total], kind, lambda a: p.inner(f"{op} {a}, {number} : {kind}"))


def kept_dims(tensor: Tensor, axes: Sequence[int]) -> list[Dim]:
    return [1 if i in axes else dim for i, dim in enumerate(tensor.dims)]


_KINDS = {
    "ReduceSum": "add",
    "ReduceMean": "add",
    "ReduceProd": "mul",
    "ReduceMax": "maximum",
    "ReduceMin": "minimum",
    "ReduceL1": "add",
    "ReduceL2": "add",
    "ReduceSumSquare": "add",
    "ReduceLogSum": "add",
}


@handles(*_KINDS, attributes=("axes", "keepdims", "noop_with_empty_axes"))
def _reduce(e: Emitter, node: Node) -> Tensor:
    """Without axes all are removed, or none with noop_with_empty_axes: then only the function of the elements is left."""
    p, tensor = e.program, e.value(node, 0)
    given = {e.axis(axis, tensor.rank) for axis in e.integers(node, 1, "axes") or []}
    axes = [] if not given and node.flag("noop_with_empty_axes") else sorted(given or range(tensor.rank))
    source = floats(tensor) if node.op in ("ReduceL2", "ReduceLogSum") else tensor
    if node.op in ("ReduceL1", "ReduceL2", "ReduceSumSquare"):
        floating = elements.is_float(source.element)
        wide = cast(p, source, elements.arithmetic(source.element)) if floating else source
        multiply = "arith.mulf" if floating else "arith.muli"
        source = absolute(p, wide) if node.op == "ReduceL1" else binary(p, multiply, wide, wide)
    result = mean(p, source, axes) if node.op == "ReduceMean" else reduce(p, _KINDS[node.op], source, axes)
    if node.op in ("ReduceL2", "ReduceLogSum"):
        result = _root_of_squares(p, result) if node.op == "ReduceL2" else unary(p, "math.log", result)
    result = cast(p, result, tensor.element)
    return reshape(p, result, kept_dims(tensor, axes)) if node.flag("keepdims", True) else result


def _root_of_squares(p: Program, total: Tensor) -> Tensor:
    """The root, with 0 apart: the norm of zeros has a corner there, at which the gradient of the root would be infinite."""
    kind, zero, one = total.element, p.scalar(0, total.element), p.scalar(1, total.element)

    def body(a: str) -> str:
        is_zero = p.inner(f"arith.cmpf oeq, {a}, {zero} : {kind}")
        root = p.inner(f"math.sqrt {p.inner(f'arith.select {is_zero}, {one}, {a} : {kind}')} : {kind}")
        return p.inner(f"arith.select {is_zero}, {a}, {root} : {kind}")

    return elementwise(p, [total], kind, body)


def softmax(p: Program, tensor: Tensor, axis: int) -> Tensor:
    """Over one axis, which is brought to the end."""
    kind = tensor.element
    wide = p.value(cast(p, tensor, elements.arithmetic(kind)))
    order = [i for i in range(wide.rank) if i != axis] + [axis]
    wide = transpose(p, wide, order)
    empty = p.empty(wide.element, wide.dims)
    text = f"linalg.softmax dimension({wide.rank - 1}) ins({wide.ssa} : {wide.type}) outs({empty.ssa} : {empty.type}) -> {empty.type}"
    result = p.op(text, wide.element, wide.dims)
    result = transpose(p, result, [order.index(i) for i in range(wide.rank)])
    return cast(p, result, kind)


@handles("Softmax", "resid.FlatSoftmax", attributes=("axis",))
def _softmax(e: Emitter, node: Node) -> Tensor:
    """Over one axis; before opset 13 over all axes from there on."""
    tensor, flat = floats(e.value(node, 0)), node.op != "Softmax" or 0 < e.graph.opset < 13
    axis = e.axis(e.attribute(node, "axis", 1 if flat else -1), tensor.rank)
    if not flat or axis == tensor.rank - 1:
        return softmax(e.program, tensor, axis)
    rows = reshape(e.program, tensor, [product(tensor.dims[:axis]), product(tensor.dims[axis:])])
    return reshape(e.program, softmax(e.program, rows, 1), tensor.dims)


@handles("CumSum", attributes=("exclusive", "reverse"))
def _cumulative_sum(e: Emitter, node: Node) -> Tensor:
    """Sum over the places up to each one, as a reduction of a masked copy: for positions, which are short."""
    p, tensor = e.program, e.value(node, 0)
    if node.flag("exclusive") or node.flag("reverse"):
        raise Unsupported("exclusive or reverse")
    place = e.number(node, 1)
    if not isinstance(place, int):
        raise Unsupported(f"axis {place}: expected a number")
    axis, kind = e.axis(place, tensor.rank), tensor.element
    letter = "f" if elements.is_float(kind) else "i"
    zero, start = p.scalar(0, kind), p.filled(0, kind, tensor.dims)
    # Loops: those of the result, then the place that is added.
    reads = [tensor.rank if i == axis else i for i in range(tensor.rank)]
    loops = ["parallel"] * tensor.rank + ["reduction"]

    def body(element: str, total: str) -> str:
        here, there = p.inner(f"linalg.index {axis} : index"), p.inner(f"linalg.index {tensor.rank} : index")
        taken = p.inner(f"arith.cmpi sle, {there}, {here} : index")
        part = p.inner(f"arith.select {taken}, {element}, {zero} : {kind}")
        return p.inner(f"arith.add{letter} {total}, {part} : {kind}")

    return p.generic([(tensor, reads)], kind, tensor.dims, body, start, loops, range(tensor.rank))
