# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sizes of dimensions that are known at run time only, as polynomials of named sizes. Sizes that are equal compare equal, so that
# reshapes can be taken apart and values of Shape nodes folded. How a size becomes MLIR is emit.py's.

from __future__ import annotations

from typing import Union

Dim = Union[int, "Size"]
# A name, or (op, left, right), which stands for itself. "floordiv" and "mod" round down, as Python does; "div" and "rem" cut
# towards zero, as C and ONNX do; the others are "min" and "max".
Atom = Union[str, "tuple[str, Dim, Dim]"]


class Size:
    """A sum of products of atoms with integer factors. Make one with `symbol`; arithmetic gives an int where it can."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[tuple[Atom, ...], int]) -> None:
        self.terms = {atoms: factor for atoms, factor in terms.items() if factor != 0}

    def simplified(self) -> Dim:
        """The number if this is one, else itself."""
        if not self.terms:
            return 0
        return self.terms[()] if set(self.terms) == {()} else self

    def __add__(self, other: Dim) -> Dim:
        terms = dict(self.terms)
        for atoms, factor in _terms(other).items():
            terms[atoms] = terms.get(atoms, 0) + factor
        return Size(terms).simplified()

    def __mul__(self, other: Dim) -> Dim:
        terms: dict[tuple[Atom, ...], int] = {}
        for left, left_factor in self.terms.items():
            for right, right_factor in _terms(other).items():
                atoms = tuple(sorted(left + right, key=repr))
                terms[atoms] = terms.get(atoms, 0) + left_factor * right_factor
        return Size(terms).simplified()

    def __neg__(self) -> Dim:
        return self * -1

    def __sub__(self, other: Dim) -> Dim:
        return self + (-other)

    def __rsub__(self, other: Dim) -> Dim:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__

    def __floordiv__(self, other: Dim) -> Dim:
        return _rounded_down("floordiv", self, other)

    def __rfloordiv__(self, other: int) -> Dim:
        return _rounded_down("floordiv", other, self)

    def __mod__(self, other: Dim) -> Dim:
        return _rounded_down("mod", self, other)

    def __rmod__(self, other: int) -> Dim:
        return _rounded_down("mod", other, self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __lt__(self, other: Dim) -> bool:
        """Known only where each symbol counts at least 0: a size is not less than 1 that it exceeds for all values."""
        difference = self - other
        if isinstance(difference, int):
            return difference < 0
        if nonnegative(difference):
            return False
        if nonnegative(-difference - 1):
            return True
        raise ValueError(f"whether {self} is less than {other} is not known before run time")

    def __gt__(self, other: Dim) -> bool:
        return -self < -other if isinstance(other, int) else other < self

    def __repr__(self) -> str:
        parts = []
        for atoms, factor in sorted(self.terms.items(), key=repr):
            names = [atom if isinstance(atom, str) else f"({atom[1]} {atom[0]} {atom[2]})" for atom in atoms]
            parts.append("*".join(([str(factor)] if factor != 1 or not names else []) + names))
        return " + ".join(parts)


def symbol(name: str) -> Size:
    return Size({(name,): 1})


def is_name(dim: Dim) -> bool:
    """Whether it is one symbol alone."""
    names = [atoms[0] for atoms in dim.terms if len(atoms) == 1] if isinstance(dim, Size) else []
    return len(names) == 1 and isinstance(names[0], str) and dim == symbol(names[0])


def product(dims: "list[Dim] | tuple[Dim, ...]") -> Dim:
    result: Dim = 1
    for dim in dims:
        result = result * dim
    return result


def smaller(left: Dim, right: Dim) -> Dim:
    return _bound("min", left, right)


def larger(left: Dim, right: Dim) -> Dim:
    return _bound("max", left, right)


def _bound(op: str, left: Dim, right: Dim) -> Dim:
    try:
        return left if (left < right) == (op == "min") else right
    except ValueError:
        return Size({((op, left, right),): 1})


def nonnegative(dim: Dim) -> bool:
    """Whether it is at least 0 for all values of the symbols, as far as its terms tell."""
    return all(factor >= 0 and all(_counts(atom) for atom in atoms) for atoms, factor in _terms(dim).items())


def _counts(atom: Atom) -> bool:
    """Whether an atom is at least 0. Divisors that a call may have are not 0."""
    if isinstance(atom, str):
        return True
    op, left, right = atom
    if op in ("mod", "rem"):
        return nonnegative(right if op == "mod" else left)
    return (any if op == "max" else all)(nonnegative(side) for side in (left, right))


def _rounded_down(op: str, left: Dim, right: Dim) -> Dim:
    """Python's quotient ("floordiv") or remainder ("mod")."""
    if isinstance(left, int) and isinstance(right, int):
        return left // right if op == "floordiv" else left % right
    if right == 0:
        raise ZeroDivisionError(f"{left} divided by 0")
    exact = quotient(left, right)
    if exact is not None:
        return exact if op == "floordiv" else 0
    return Size({((op, left, right),): 1})


def truncated(left: Dim, right: Dim) -> Dim:
    """The quotient cut towards zero."""
    return _towards_zero("floordiv", "div", left, right)


def remainder(left: Dim, right: Dim) -> Dim:
    """What the quotient that is cut towards zero leaves; it has the sign of `left`."""
    return _towards_zero("mod", "rem", left, right)


def _towards_zero(down: str, cut: str, left: Dim, right: Dim) -> Dim:
    if quotient(left, right) is not None or (nonnegative(left) and nonnegative(right)):
        return _rounded_down(down, left, right)
    if isinstance(left, int) and isinstance(right, int):
        times = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return times if cut == "div" else left - times * right
    return Size({((cut, left, right),): 1})


def quotient(dividend: Dim, divisor: Dim) -> Dim | None:
    """dividend/divisor if it is exact for all values of the symbols, else None. The divisor is a number or one product."""
    if divisor == 0:
        return None
    if dividend == divisor:
        return 1
    if isinstance(dividend, int) and isinstance(divisor, int):
        return dividend // divisor if dividend % divisor == 0 else None
    below = _terms(divisor)
    if len(below) != 1:
        return None
    ((atoms_below, factor_below),) = below.items()
    terms = {}
    for atoms, factor in _terms(dividend).items():
        left = list(atoms)
        for atom in atoms_below:
            if atom not in left:
                return None
            left.remove(atom)
        if factor % factor_below != 0:
            return None
        terms[tuple(left)] = factor // factor_below
    return Size(terms).simplified()


def _terms(dim: Dim) -> dict[tuple[Atom, ...], int]:
    return dim.terms if isinstance(dim, Size) else {(): int(dim)}
