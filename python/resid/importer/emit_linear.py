# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Products: linear layers, and matrix products of any ranks.

from __future__ import annotations

import math

from . import elements
from .emit import Emitter, broadcast, handles, show
from .emit_elementwise import binary, elementwise
from .emit_shapes import broadcast_operand, reshape, transpose
from .errors import ModelError, Unsupported
from .graph import Node
from .program import Program, Tensor
from .sizes import Dim


def _same(left: Dim, right: Dim) -> None:
    if isinstance(left, int) and isinstance(right, int) and left != right:
        raise ModelError(f"a product of rows of {left} elements and columns of {right}")


def linear(p: Program, x: Tensor, weight: Tensor, bias: Tensor | None = None, transposed: bool = False) -> Tensor:
    """resid.linear; with `transposed` the weight is [in, out]."""
    x, weight = p.value(x), p.value(weight)
    if weight.rank != 2 or x.rank == 0 or x.element != weight.element or not elements.is_float(x.element):
        raise ModelError(f"expected rows and a matrix, found {x.type} and {weight.type}")
    _same(x.dims[-1], weight.dims[0 if transposed else 1])
    dims = (*x.dims[:-1], weight.dims[1 if transposed else 0])
    types = f"{x.type}, {weight.type}"
    text = f"resid.linear {x.ssa}, {weight.ssa}"
    if bias is not None:
        if bias.rank != 1 or bias.element != x.element or (isinstance(bias.dims[0], int) and isinstance(dims[-1], int) and bias.dims != dims[-1:]):
            raise ModelError(f"expected a bias of {dims[-1]} elements, found {bias.type}")
        bias = p.value(bias)
        text, types = f"{text} bias({bias.ssa})", f"{types}, {bias.type}"
    return p.op(f"{text}{' {transposed}' if transposed else ''} : {types}", x.element, dims)


@handles("resid.Linear", attributes=("transposed",))
def _linear(e: Emitter, node: Node) -> Tensor:
    x, weight, bias = e.value(node, 0), e.value(node, 1), e.optional(node, 2)
    transposed = bool(e.attribute(node, "transposed", 0))
    return linear(e.program, x, weight, bias, transposed)


def linear_of_integers(
    p: Program,
    x: Tensor,
    weight: Tensor,
    scale: Tensor,
    group: int,
    zero: Tensor | None = None,
    offset: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    """resid.linear of floats by a weight of i8 or i4 [out, in]. `scale`, and `zero` or `offset`, are [out, in / group]."""
    if x.rank == 0 or not elements.is_float(x.element) or x.element == "f64":
        raise Unsupported(f"rows of {x.type} with a weight of {weight.element}: expected f16, bf16 or f32")
    _same(x.dims[-1], weight.dims[1])
    given = [("", x), ("", weight), ("weight_scale", scale), ("weight_zero", zero), ("weight_offset", offset), ("bias", bias)]
    named = [(clause, p.value(tensor)) for clause, tensor in given if tensor is not None]
    operands = ", ".join(tensor.ssa for clause, tensor in named if not clause)
    clauses = " ".join(f"{clause}({tensor.ssa})" for clause, tensor in named if clause)
    text = f"resid.linear {operands} {clauses} {{group = {group}}} : {', '.join(tensor.type for _, tensor in named)}"
    return p.op(text, x.element, (*x.dims[:-1], weight.dims[0]))


def linear_of_bytes(p: Program, q: Tensor, rows: Tensor, weight: Tensor, scale: Tensor, bias: Tensor | None, element: str) -> Tensor:
    """resid.linear of i8 with a scale for each row, by a weight of i8 [out, in] with one for each output."""
    given = [("x_scale", rows), ("weight_scale", scale), ("bias", bias)]
    named = [(clause, p.value(tensor)) for clause, tensor in given if tensor is not None]
    dims = (*q.dims[:-1], weight.dims[0])
    clauses = " ".join(f"{clause}({tensor.ssa})" for clause, tensor in named)
    types = ", ".join(tensor.type for tensor in (q, weight, *(tensor for _, tensor in named)))
    result = "" if element == "f32" else f" -> {Tensor(element, dims).type}"
    return p.op(f"resid.linear {q.ssa}, {weight.ssa} {clauses} : {types}{result}", element, dims)


def matmul(p: Program, left: Tensor, right: Tensor, sums: str = "") -> Tensor:
    """NumPy's matmul. Rows by one matrix are resid.linear; other products are a contraction of linalg. `sums`: the type in which
    integers are added up, theirs unless it is given."""
    left, right = p.value(left), p.value(right)
    if left.rank == 0 or right.rank == 0:
        raise ModelError(f"expected operands of rank 1 or more, found {left.type} and {right.type}")
    if left.element != right.element:
        raise ModelError(f"expected elements of one type, found {left.element} and {right.element}")
    if right.rank == 2 and elements.is_float(left.element):
        return linear(p, left, right, transposed=True)
    if left.rank == 1:
        result = matmul(p, reshape(p, left, [1, *left.dims]), right, sums)
        return reshape(p, result, (*result.dims[:-2], result.dims[-1]) if right.rank > 1 else ())
    if right.rank == 1:
        result = matmul(p, left, reshape(p, right, [*right.dims, 1]), sums)
        return reshape(p, result, result.dims[:-1])
    _same(left.dims[-1], right.dims[-2])
    batch = broadcast(left.dims[:-2], right.dims[:-2])
    rank = len(batch)
    dims = (*batch, left.dims[-2], right.dims[-1])
    # Loops: batch, rows, columns, and the sum.
    operands = []
    for tensor, last in ((left, (rank, rank + 2)), (right, (rank + 2, rank + 1))):
        short, loops = broadcast_operand(p, tensor, (*batch, *tensor.dims[-2:]))
        operands.append((short, [{rank: last[0], rank + 1: last[1]}.get(loop, loop) for loop in loops]))
    kind = sums or left.element
    multiply, add = ("arith.mulf", "arith.addf") if elements.is_float(kind) else ("arith.muli", "arith.addi")

    def body(a: str, b: str, total: str) -> str:
        if kind != left.element:
            a, b = (p.inner(f"arith.extsi {factor} : {left.element} to {kind}") for factor in (a, b))
        return p.inner(f"{add} {total}, {p.inner(f'{multiply} {a}, {b} : {kind}')} : {kind}")

    kinds = ["parallel"] * (rank + 2) + ["reduction"]
    return p.generic(operands, kind, dims, body, p.filled(0, kind, dims), kinds, range(rank + 2))


@handles("MatMul")
def _matmul(e: Emitter, node: Node) -> Tensor:
    return matmul(e.program, e.value(node, 0), e.value(node, 1))


@handles("Gemm", attributes=("alpha", "beta", "transA", "transB"))
def _gemm(e: Emitter, node: Node) -> Tensor:
    p, left, right, addend = e.program, e.value(node, 0), e.value(node, 1), e.optional(node, 2)
    alpha, beta = e.attribute(node, "alpha", 1.0), e.attribute(node, "beta", 1.0)
    addend = addend if beta != 0 else None
    if left.rank != 2 or right.rank != 2:
        raise ModelError(f"expected matrices, found {left.type} and {right.type}")
    if not elements.is_float(left.element) and (alpha != 1 or beta not in (0, 1)):
        raise Unsupported(f"factors {alpha} and {beta} of {left.element}: expected 1")
    if node.flag("transA"):
        left = transpose(p, left, [1, 0])
    transposed = not node.flag("transB")
    columns = right.dims[1 if transposed else 0]
    dims = (left.dims[0], columns)
    if addend is not None and (addend.rank > 2 or any(a != 1 and d == 1 for a, d in zip(addend.dims[::-1], dims[::-1]))):
        raise ModelError(f"an addend {show(addend.dims)} of a product {show(dims)}")
    if not elements.is_float(left.element):
        result = matmul(p, left, right if transposed else transpose(p, right, [1, 0]))
        return result if addend is None else binary(p, "arith.addi", result, addend)
    if alpha == 1 and beta == 1 and addend is not None and addend.dims == (columns,):
        return linear(p, left, right, addend, transposed)
    result = scaled(p, linear(p, left, right, None, transposed), alpha)
    return result if addend is None else binary(p, "arith.addf", result, scaled(p, addend, beta))


def scaled(p: Program, tensor: Tensor, factor: float) -> Tensor:
    if factor == 1:
        return tensor
    kind, number = tensor.element, p.scalar(factor, tensor.element)
    return elementwise(p, [tensor], kind, lambda a: p.inner(f"arith.mulf {a}, {number} : {kind}"))


@handles("resid.Scale")
def _scale(e: Emitter, node: Node) -> Tensor:
    """A product with a constant of any float type."""
    tensor, factor = e.value(node, 0), e.input(node, 1).scalar()
    assert factor is not None
    return scaled(e.program, tensor, factor)
