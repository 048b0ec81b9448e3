# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reductions over axes, and softmax. f16 and bf16 are summed in f32.

from __future__ import annotations

from collections.abc import Sequence

from . import elements
from .emit import Emitter, handles
from .emit_elementwise import cast, elementwise
from .emit_shapes import reshape, transpose
from .errors import Unsupported
from .graph import Node
from .program import Program, Tensor
from .sizes import Dim, product

_STARTS = {"add": 0.0, "mul": 1.0, "maximum": float("-inf"), "minimum": float("inf")}


def reduce(p: Program, kind: str, tensor: Tensor, axes: Sequence[int]) -> Tensor:
    """Removes the axes. `kind`: add, mul, maximum or minimum. The result has the arithmetic type for f16 and bf16."""
    tensor = p.value(tensor)
    if not elements.is_float(tensor.element) and kind not in ("add", "mul"):
        raise Unsupported(f"the {kind} of {tensor.element}: expected floats")
    if elements.is_float(tensor.element):
        tensor = cast(p, tensor, elements.arithmetic(tensor.element))
    letter = "f" if elements.is_float(tensor.element) else "i"
    kept = [i for i in range(tensor.rank) if i not in axes]
    dims = [tensor.dims[i] for i in kept]
    start = p.filled(_STARTS[kind], tensor.element, dims)
    loops = ["reduction" if i in axes else "parallel" for i in range(tensor.rank)]
    op = f"arith.{kind}{letter}"
    inputs = [(tensor, range(tensor.rank))]
    return p.generic(
        inputs, tensor.element, dims, lambda a, b: p.inner(f"{op} {b}, {a} : {tensor.element}"), start, loops, kept
    )


def mean(p: Program, tensor: Tensor, axes: Sequence[int]) -> Tensor:
    total = reduce(p, "add", tensor, axes)
    count: Dim = product([tensor.dims[i] for i in axes])
    kind = total.element
    if isinstance(count, int):
        number = p.scalar(count, kind)
    else:
        number = p.fresh()
        p.line(f"{number} = arith.sitofp {p.scalar_of_size(count, 'i64')} : i64 to {kind}")
    return elementwise(p, [total], kind, lambda a: p.inner(f"arith.divf {a}, {number} : {kind}"))


def kept_dims(tensor: Tensor, axes: Sequence[int]) -> list[Dim]:
    return [1 if i in axes else dim for i, dim in enumerate(tensor.dims)]


_KINDS = {
    "ReduceSum": "add",
    "ReduceMean": "add",
    "ReduceProd": "mul",
    "ReduceMax": "maximum",
    "ReduceMin": "minimum",
    "ReduceL2": "add",
    "ReduceSumSquare": "add",
}


@handles(*_KINDS, attributes=("axes", "keepdims", "noop_with_empty_axes"))
def _reduce(e: Emitter, node: Node) -> Tensor:
    p, tensor = e.program, e.value(node, 0)
    given = e.integers(node, 1, "axes") or []
    if not given and e.attribute(node, "noop_with_empty_axes", 0):
        return tensor
    axes = sorted({e.axis(axis, tensor.rank) for axis in given}) or list(range(tensor.rank))
    if node.op in ("ReduceL2", "ReduceSumSquare"):
        wide = cast(p, tensor, elements.arithmetic(tensor.element))
        source = elementwise(p, [wide], wide.element, lambda a: p.inner(f"arith.mulf {a}, {a} : {wide.element}"))
    else:
        source = tensor
    result = mean(p, source, axes) if node.op == "ReduceMean" else reduce(p, _KINDS[node.op], source, axes)
    if node.op == "ReduceL2":
        result = p.op(f"math.sqrt {result.ssa} : {result.type}", result.element, result.dims)
    result = cast(p, result, tensor.element)
    return reshape(p, result, kept_dims(tensor, axes)) if e.attribute(node, "keepdims", 1) else result


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


@handles("Softmax", attributes=("axis",))
def _softmax(e: Emitter, node: Node) -> Tensor:
    tensor = e.value(node, 0)
    axis = e.axis(e.attribute(node, "axis", -1 if e.graph.opset >= 13 or not e.graph.opset else 1), tensor.rank)
    if 0 < e.graph.opset < 13 and axis != tensor.rank - 1:
        raise Unsupported(f"axis {axis} of {tensor.rank} before opset 13, which flattens all axes from there")
    return softmax(e.program, tensor, axis)


@handles("CumSum", attributes=("exclusive", "reverse"))
def _cumulative_sum(e: Emitter, node: Node) -> Tensor:
    """Sum over the places up to each one, as a reduction of a masked copy: for positions, which are short."""
    p, tensor = e.program, e.value(node, 0)
    if e.attribute(node, "exclusive", 0) or e.attribute(node, "reverse", 0):
        raise Unsupported("exclusive or reverse")
    (given,) = e.integers(node, 1) or [0]
    axis, kind = e.axis(given, tensor.rank), tensor.element
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
