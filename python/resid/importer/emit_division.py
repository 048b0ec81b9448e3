# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Quotients and remainders. Integers are divided so that no operand ends the process.

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import elements
from .emit import Emitter, handles
from .emit_elementwise import Body, arithmetic, binary, elementwise, one_type
from .errors import ModelError
from .graph import Node
from .program import Program, Tensor


def _divided(p: Program, left: Tensor, right: Tensor, body: Body) -> Tensor:
    """Integers. `body` gets what writes arith.divsi or arith.remsi, and both elements. A divisor of 0 is an error of the model or of
    the call: a place after the end of an array is read. The lowest number divided by -1, which has no quotient, is itself."""
    one_type(left, right)
    kind, known = left.element, right.is_constant()
    if known and not right.array.all():
        raise ModelError(f"a division of {kind} by 0")
    zero, one, minus = (p.scalar(number, kind) for number in (0, 1, -1))
    pair = None if known else p.value(Tensor(kind, (2,), known=np.arange(2, dtype=elements.to_numpy(kind))))
    inside, behind = (p.index(0), p.index(2)) if pair else ("", "")

    def divide(op: str, a: str, b: str) -> str:
        if pair:
            none = p.inner(f"arith.cmpi eq, {b}, {zero} : {kind}")
            place = p.inner(f"arith.select {none}, {behind}, {inside} : index")
            b = p.inner(f"arith.addi {b}, {p.inner(f'tensor.extract {pair.ssa}[{place}] : {pair.type}')} : {kind}")
            b = p.inner(f"arith.select {none}, {one}, {b} : {kind}")
        elif not np.any(right.known == -1):
            return p.inner(f"{op} {a}, {b} : {kind}")
        turned = p.inner(f"arith.cmpi eq, {b}, {minus} : {kind}")
        result = p.inner(f"{op} {a}, {p.inner(f'arith.select {turned}, {one}, {b} : {kind}')} : {kind}")
        if op == "arith.remsi":
            return result
        return p.inner(f"arith.select {turned}, {p.inner(f'arith.subi {zero}, {a} : {kind}')}, {result} : {kind}")

    return elementwise(p, [left, right], kind, lambda a, b: body(divide, a, b))


@handles("Div")
def _div(e: Emitter, node: Node) -> Tensor:
    if elements.is_float(e.input(node, 0).element):
        return arithmetic(e, node)
    return _divided(e.program, e.input(node, 0), e.input(node, 1), lambda divide, a, b: divide("arith.divsi", a, b))


@handles("Mod", attributes=("fmod",))
def _mod(e: Emitter, node: Node) -> Tensor:
    p, left, right = e.program, e.input(node, 0), e.input(node, 1)
    kind = left.element
    if not node.flag("fmod"):
        return _remainder_of(p, left, right, signs_zero=True)
    if elements.is_float(kind):
        return binary(p, "arith.remf", left, right)
    return _divided(p, left, right, lambda divide, a, b: divide("arith.remsi", a, b))


@handles("resid.FloorDiv")
def _floor_quotient(e: Emitter, node: Node) -> Tensor:
    """Of integers, rounded down."""
    p, left, right = e.program, e.input(node, 0), e.input(node, 1)
    kind = left.element
    zero, minus = p.scalar(0, kind), p.scalar(-1, kind)

    def whole(divide: Callable[..., str], a: str, b: str) -> str:
        cut = divide("arith.divsi", a, b)
        rest = p.inner(f"arith.subi {a}, {p.inner(f'arith.muli {cut}, {b} : {kind}')} : {kind}")
        below = p.inner(f"arith.addi {cut}, {minus} : {kind}")
        return p.inner(f"arith.select {_has_other_sign(p, kind, rest, b, zero)}, {below}, {cut} : {kind}")

    return _divided(p, left, right, whole)


@handles("resid.Remainder")
def _remainder(e: Emitter, node: Node) -> Tensor:
    """Of integers or floats, with the sign of the divisor. A zero of floats has that of the dividend."""
    return _remainder_of(e.program, e.input(node, 0), e.input(node, 1), signs_zero=False)


def _remainder_of(p: Program, left: Tensor, right: Tensor, signs_zero: bool) -> Tensor:
    """With the sign of the divisor; with `signs_zero` also where it is a zero of floats."""
    one_type(left, right)
    kind, zero = left.element, p.scalar(0, left.element)
    floating = elements.is_float(kind)

    def moved(rest: str, b: str) -> str:
        total = p.inner(f"arith.{'addf' if floating else 'addi'} {rest}, {b} : {kind}")
        return p.inner(f"arith.select {_has_other_sign(p, kind, rest, b, zero)}, {total}, {rest} : {kind}")

    def of_floats(a: str, b: str) -> str:
        rest = p.inner(f"arith.remf {a}, {b} : {kind}")
        if not signs_zero:
            return moved(rest, b)
        is_zero = p.inner(f"arith.cmpf oeq, {rest}, {zero} : {kind}")
        return p.inner(f"arith.select {is_zero}, {p.inner(f'math.copysign {zero}, {b} : {kind}')}, {moved(rest, b)} : {kind}")

    if floating:
        return elementwise(p, [left, right], kind, of_floats)
    return _divided(p, left, right, lambda divide, a, b: moved(divide("arith.remsi", a, b), b))


def _has_other_sign(p: Program, kind: str, rest: str, b: str, zero: str) -> str:
    """Whether the rest is not 0 and has another sign than b: the quotient was rounded up then."""
    less, differs = ("arith.cmpf olt,", "arith.cmpf une,") if elements.is_float(kind) else ("arith.cmpi slt,", "arith.cmpi ne,")
    signs = [p.inner(f"{less} {name}, {zero} : {kind}") for name in (rest, b)]
    return p.inner(f"arith.andi {p.inner(f'arith.xori {signs[0]}, {signs[1]} : i1')}, {p.inner(f'{differs} {rest}, {zero} : {kind}')} : i1")
