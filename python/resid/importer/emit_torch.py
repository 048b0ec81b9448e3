# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operators of PyTorch that ONNX has no name for: numbers that are computed from sizes, quotients and remainders that round down,
# bits of integers, ranges of floats.

from __future__ import annotations

import numpy as np

from . import elements
from .conditions import number
from .emit import Emitter, broadcast, handles
from .emit_elementwise import binary, cast, elementwise
from .emit_lookup import _read, _wrapped
from .emit_shapes import broadcast_operand
from .graph import Node
from .program import Tensor
from .sizes import Dim


@handles("resid.Computed", attributes=("expression",))
def _computed(e: Emitter, node: Node) -> Tensor:
    """An expression of sizes, as a tensor of rank 0."""
    value = number(e.program, node.attributes["expression"])
    if isinstance(value, tuple):
        name, kind = value
        return e.program.op(f"tensor.from_elements {name} : tensor<{kind}>", kind, ())
    return Tensor(elements.from_numpy(np.array(value).dtype), (), known=np.array(value))


@handles("resid.FloorDiv")
def _floor_quotient(e: Emitter, node: Node) -> Tensor:
    """Of integers, rounded down."""
    return binary(e.program, "arith.floordivsi", e.input(node, 0), e.input(node, 1))


@handles("resid.Remainder")
def _remainder(e: Emitter, node: Node) -> Tensor:
    """Of integers or floats, with the sign of the divisor."""
    p, left, right = e.program, e.input(node, 0), e.input(node, 1)
    kind, zero = left.element, p.scalar(0, left.element)
    floating = elements.is_float(kind)
    rest, add = ("arith.remf", "arith.addf") if floating else ("arith.remsi", "arith.addi")
    less, differs = ("arith.cmpf olt,", "arith.cmpf une,") if floating else ("arith.cmpi slt,", "arith.cmpi ne,")

    def body(a: str, b: str) -> str:
        cut = p.inner(f"{rest} {a}, {b} : {kind}")
        signs = [p.inner(f"{less} {name}, {zero} : {kind}") for name in (cut, b)]
        wrong = p.inner(f"arith.xori {signs[0]}, {signs[1]} : i1")
        some = p.inner(f"{differs} {cut}, {zero} : {kind}")
        moved = p.inner(f"{add} {cut}, {b} : {kind}")
        return p.inner(f"arith.select {p.inner(f'arith.andi {wrong}, {some} : i1')}, {moved}, {cut} : {kind}")

    return elementwise(p, [left, right], kind, body)


_BITS = {"resid.BitAnd": "arith.andi", "resid.BitOr": "arith.ori", "resid.BitXor": "arith.xori"}


@handles(*_BITS)
def _bits(e: Emitter, node: Node) -> Tensor:
    return binary(e.program, _BITS[node.op], e.input(node, 0), e.input(node, 1))


@handles("resid.ShiftLeft", "resid.ShiftRight")
def _shift(e: Emitter, node: Node) -> Tensor:
    """Of integers. By a number of bits that the type does not have nothing is left, or only the sign."""
    p, left, right = e.program, e.input(node, 0), e.input(node, 1)
    kind = left.element
    last, zero = p.scalar(elements.width(kind) - 1, kind), p.scalar(0, kind)

    def body(a: str, b: str) -> str:
        inside = p.inner(f"arith.cmpi ule, {b}, {last} : {kind}")
        bits = p.inner(f"arith.select {inside}, {b}, {last} : {kind}")
        if node.op == "resid.ShiftRight":
            return p.inner(f"arith.shrsi {a}, {bits} : {kind}")
        return p.inner(f"arith.select {inside}, {p.inner(f'arith.shli {a}, {bits} : {kind}')}, {zero} : {kind}")

    return elementwise(p, [left, right], kind, body)


@handles("resid.Index", attributes=("axes",))
def _index(e: Emitter, node: Node) -> Tensor:
    """Of some axes the places that tensors say, which broadcast together. Their dimensions stand where the axes stood, or, where
    these are not neighbours, at the front."""
    p, tensor, axes = e.program, e.value(node, 0), node.attributes["axes"]
    places = [e.value(node, 1 + i) for i in range(len(axes))]
    shape: tuple[Dim, ...] = ()
    for place in places:
        shape = broadcast(shape, place.dims)
    first = axes[0] if axes == list(range(axes[0], axes[0] + len(axes))) else 0
    rest = [i for i in range(tensor.rank) if i not in axes]
    dims = (*(tensor.dims[i] for i in rest[:first]), *shape, *(tensor.dims[i] for i in rest[first:]))
    loops = {axis: i if i < first else i + len(shape) for i, axis in enumerate(rest)}

    def body(*names: str) -> str:
        chosen = {axis: _wrapped(p, name, "i64", tensor.dims[axis]) for axis, name in zip(axes, names)}
        kept = {axis: p.inner(f"linalg.index {loop} : index") for axis, loop in loops.items()}
        return _read(p, tensor, [{**chosen, **kept}[axis] for axis in range(tensor.rank)])

    operands = [broadcast_operand(p, cast(p, place, "i64"), shape) for place in places]
    return p.generic([(place, [first + loop for loop in own]) for place, own in operands], tensor.element, dims, body)


@handles("resid.Steps", attributes=("start", "step"))
def _steps(e: Emitter, node: Node) -> Tensor:
    """start + i·step in f64, as many as the input says."""
    p = e.program
    (count,) = e.numbers(node, 0) or [0]
    dims: tuple[Dim, ...] = (count,)
    start, step = (p.scalar(float(node.attributes[name]), "f64") for name in ("start", "step"))

    def body(_: str) -> str:
        place = p.inner(f"arith.index_cast {p.inner('linalg.index 0 : index')} : index to i64")
        far = p.inner(f"arith.mulf {p.inner(f'arith.sitofp {place} : i64 to f64')}, {step} : f64")
        return p.inner(f"arith.addf {start}, {far} : f64")

    return p.generic([], "f64", dims, body)
