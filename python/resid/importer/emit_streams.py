# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Several residual streams, [..., n, D]: what reads one row of them, writes a row into them, and makes their
# coefficients; and the clause that says it of a block.

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from . import elements
from .emit_elementwise import elementwise
from .emit_reduce import reduce
from .emit_shapes import reshape
from .program import Program, Tensor, literal
from .sizes import Dim


@dataclasses.dataclass(frozen=True)
class Connection:
    """How a sub-layer is connected to streams: weights of its read and write, and the mix. Each may be absent."""

    read: Tensor | None = None
    write: Tensor | None = None
    mix: Tensor | None = None

    def clause(self) -> str:
        """The clause of resid.block."""
        parts = [(name, getattr(self, name)) for name in ("read", "write", "mix")]
        return f"streams({', '.join(f'{name} {part.ssa} : {part.type}' for name, part in parts if part is not None)})"


def _row(x: Tensor) -> tuple[Dim, ...]:
    return (*x.dims[:-2], x.dims[-1])


def _operands(parts: Sequence[tuple[str, Tensor | None]]) -> tuple[str, str]:
    """The clauses of the operands that are there, and their types."""
    given = [(name, part) for name, part in parts if part is not None]
    return "".join(f" {name}({part.ssa})" for name, part in given), "".join(f", {part.type}" for _, part in given)


def repeat(p: Program, x: Tensor, streams: int) -> Tensor:
    """The same row in each of n streams."""
    dims = (*x.dims[:-1], streams, x.dims[-1])
    places = [*range(x.rank - 1), x.rank]
    return p.generic([(x, places)], x.element, dims, lambda element, _: element)


def read(p: Program, x: Tensor, weights: Tensor | None = None, scale: float = 1.0) -> Tensor:
    clauses, types = _operands([("weights", weights)])
    attributes = f" {{scale = {literal(scale, 'f64')}}}" if scale != 1 else ""
    return p.op(f"resid.read {x.ssa}{clauses}{attributes} : {x.type}{types}", x.element, _row(x))


def write(p: Program, x: Tensor, y: Tensor, weights: Tensor | None = None, mix: Tensor | None = None) -> Tensor:
    clauses, types = _operands([("weights", weights), ("mix", mix)])
    return p.op(f"resid.write {x.ssa}, {y.ssa}{clauses} : {x.type}{types}", x.element, x.dims)


def project(p: Program, x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """z, of the arithmetic type."""
    element = "f64" if "f64" in (x.element, weight.element) else "f32"
    z = Tensor(element, (*x.dims[:-2], weight.dims[0]))
    text = f"resid.project {x.ssa}, {weight.ssa} {{epsilon = {literal(epsilon, 'f64')}}}"
    return p.op(f"{text} : {x.type}, {weight.type}", element, z.dims)


def sinkhorn(p: Program, logits: Tensor, iterations: int, epsilon: float) -> Tensor:
    attributes = f"iterations = {iterations} : i64, epsilon = {literal(epsilon, 'f64')}"
    return p.op(f"resid.sinkhorn {logits.ssa} {{{attributes}}} : {logits.type}", logits.element, logits.dims)


def alternate(p: Program, c: Tensor, iterations: int, epsilon: float) -> Tensor:
    """Rows, then columns, divided by their sums plus epsilon, so many times. resid.sinkhorn begins with a softmax."""
    bounds = [p.index(value) for value in (0, iterations, 1)]
    result, place, carried = p.fresh(), p.fresh(), p.fresh()
    p.line(
        f"{result} = scf.for {place} = {bounds[0]} to {bounds[1]} step {bounds[2]} "
        f"iter_args({carried} = {c.ssa}) -> ({c.type}) {{"
    )
    start, x = len(p.lines), Tensor(c.element, c.dims, carried)
    number = p.scalar(epsilon, c.element)

    def divide(element: str, total: str) -> str:
        return p.inner(f"arith.divf {element}, {p.inner(f'arith.addf {total}, {number} : {c.element}')} : {c.element}")

    for axis in (c.rank - 1, c.rank - 2):
        total = reduce(p, "add", x, [axis])
        x = elementwise(
            p, [x, reshape(p, total, [1 if i == axis else dim for i, dim in enumerate(c.dims)])], c.element, divide
        )
    p.lines[start:] = ["  " + line for line in p.lines[start:]]
    p.line(f"  scf.yield {x.ssa} : {x.type}")
    p.line("}")
    return Tensor(c.element, c.dims, result)


def scaled(p: Program, x: Tensor, factor: float, offset: float = 0.0) -> Tensor:
    """factor·x + offset in the arithmetic type, rounded once to that of x."""
    if factor == 1 and offset == 0:
        return x
    kind, wide = x.element, elements.arithmetic(x.element)

    def body(element: str) -> str:
        value = element if kind == wide else p.inner(f"arith.extf {element} : {kind} to {wide}")
        if factor != 1:
            value = p.inner(f"arith.mulf {value}, {p.scalar(factor, wide)} : {wide}")
        if offset != 0:
            value = p.inner(f"arith.addf {value}, {p.scalar(offset, wide)} : {wide}")
        return value if kind == wide else p.inner(f"arith.truncf {value} : {wide} to {kind}")

    return elementwise(p, [x], kind, body)
