# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operators of PyTorch that ONNX has no name for: numbers that are computed from sizes, quotients and remainders that round down,
# bits of integers, ranges of floats, places of the largest, order by size.

from __future__ import annotations

import numpy as np

from . import elements
from .conditions import number
from .emit import Emitter, broadcast, handles
from .emit_elementwise import binary, cast, elementwise, unary
from .emit_lookup import _read, _wrapped
from .emit_reduce import reduce
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


@handles("resid.Expm1")
def _expm1(e: Emitter, node: Node) -> Tensor:
    return unary(e.program, "math.expm1", e.input(node, 0))


@handles("resid.Softplus", attributes=("beta", "threshold"))
def _softplus(e: Emitter, node: Node) -> Tensor:
    """log(1 + exp(beta·x))/beta; x itself where beta·x is above the threshold."""
    p, x = e.program, e.input(node, 0)
    kind = x.element
    beta, most = (p.scalar(float(node.attributes[name]), kind) for name in ("beta", "threshold"))

    def body(a: str) -> str:
        scaled = p.inner(f"arith.mulf {a}, {beta} : {kind}")
        power = p.inner(f"math.log1p {p.inner(f'math.exp {scaled} : {kind}')} : {kind}")
        is_large = p.inner(f"arith.cmpf ogt, {scaled}, {most} : {kind}")
        return p.inner(f"arith.select {is_large}, {a}, {p.inner(f'arith.divf {power}, {beta} : {kind}')} : {kind}")

    return elementwise(p, [x], kind, body)


@handles("resid.FirstPlace", attributes=("axis",))
def _first_place(e: Emitter, node: Node) -> Tensor:
    """Where along an axis the numbers of the first input first are that of the second, which has 1 element there, i64. NaN is NaN."""
    p, x, wanted = e.program, e.value(node, 0), e.value(node, 1)
    kind, axis, floating = x.element, node.attributes["axis"], elements.is_float(x.element)
    operand, loops = broadcast_operand(p, wanted, x.dims)
    largest = p.scalar((1 << 63) - 1, "i64")

    def body(a: str, b: str, _: str) -> str:
        is_one = p.inner(f"arith.cmpf oeq, {a}, {b} : {kind}" if floating else f"arith.cmpi eq, {a}, {b} : {kind}")
        if floating:
            are_none = [p.inner(f"arith.cmpf uno, {name}, {name} : {kind}") for name in (a, b)]
            is_one = p.inner(f"arith.ori {is_one}, {p.inner(f'arith.andi {are_none[0]}, {are_none[1]} : i1')} : i1")
        place = p.inner(f"arith.index_cast {p.inner(f'linalg.index {axis} : index')} : index to i64")
        return p.inner(f"arith.select {is_one}, {place}, {largest} : i64")

    places = p.generic([(x, range(x.rank)), (operand, loops)], "i64", x.dims, body)
    return reduce(p, "minimum", places, [axis])


@handles("resid.Ordered", attributes=("axis", "count", "descending"))
def _ordered(e: Emitter, node: Node) -> list[Tensor]:
    """The first numbers along an axis in order of size, and where they stood, i64. Of equal ones the earlier is first, and NaN is
    the largest. A number's place is how many others come before it."""
    p, x = e.program, e.value(node, 0)
    kind, axis, rank, count = x.element, node.attributes["axis"], x.rank, node.attributes["count"]
    floating, descending = elements.is_float(kind), bool(node.attributes["descending"])
    one, zero = p.scalar(1, "i64"), p.scalar(0, "i64")

    def above(a: str, b: str) -> str:
        if not floating:
            return p.inner(f"arith.cmpi sgt, {a}, {b} : {kind}")
        is_more, is_nan, is_number = (
            p.inner(f"arith.cmpf {test} : {kind}") for test in (f"ogt, {a}, {b}", f"uno, {a}, {a}", f"ord, {b}, {b}")
        )
        return p.inner(f"arith.ori {is_more}, {p.inner(f'arith.andi {is_nan}, {is_number} : i1')} : i1")

    def before(own: str, other: str, sum_: str) -> str:
        more, less = above(other, own), above(own, other)
        first, last = (more, less) if descending else (less, more)
        places = [p.inner(f"linalg.index {loop} : index") for loop in (axis, rank)]
        is_earlier = p.inner(f"arith.cmpi slt, {places[1]}, {places[0]} : index")
        same = p.inner(f"arith.xori {p.inner(f'arith.ori {first}, {last} : i1')}, {p.scalar(1, 'i1')} : i1")
        counts = p.inner(f"arith.ori {first}, {p.inner(f'arith.andi {same}, {is_earlier} : i1')} : i1")
        return p.inner(f"arith.addi {sum_}, {p.inner(f'arith.select {counts}, {one}, {zero} : i64')} : i64")

    others = [*range(axis), rank, *range(axis + 1, rank)]
    places = p.generic(
        [(x, range(rank)), (x, others)], "i64", x.dims, before, p.filled(0, "i64", x.dims),
        ["parallel"] * rank + ["reduction"], range(rank),
    )  # fmt: skip
    dims = (*x.dims[:axis], count, *x.dims[axis + 1 :])
    loops = [*range(axis), rank, *range(axis + 1, rank)]

    def found(place: str, so_far: str) -> str:
        wanted = p.inner(f"arith.index_cast {p.inner(f'linalg.index {axis} : index')} : index to i64")
        is_it = p.inner(f"arith.cmpi eq, {place}, {wanted} : i64")
        own = p.inner(f"arith.index_cast {p.inner(f'linalg.index {rank} : index')} : index to i64")
        return p.inner(f"arith.select {is_it}, {own}, {so_far} : i64")

    kinds = ["parallel"] * rank + ["reduction"]
    sources = p.generic([(places, loops)], "i64", dims, found, p.filled(0, "i64", dims), kinds, range(rank))

    def read(source: str, _: str) -> str:
        indices = [p.inner(f"linalg.index {i} : index") for i in range(rank)]
        indices[axis] = p.inner(f"arith.index_cast {source} : i64 to index")
        return _read(p, x, indices)

    return [p.generic([(sources, range(rank))], kind, dims, read), sources]
