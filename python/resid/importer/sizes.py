# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sizes of dimensions that are known at run time only, as polynomials of named sizes. Sizes that are equal compare equal, so that
# reshapes can be taken apart and values of Shape nodes folded. How a size becomes MLIR is emit.py's.

from __future__ import annotations

from typing import Union

Dim = Union[int, "Size"]
# A name, or ("floordiv" | "mod" | "min" | "max", left, right), which stands for itself.
Atom = Union[str, tuple]


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
        exact = quotient(self, other)
        return Size({(("floordiv", self, other),): 1}) if exact is None else exact

    def __rfloordiv__(self, other: int) -> Dim:
        return Size({(("floordiv", other, self),): 1})

    def __mod__(self, other: Dim) -> Dim:
        return 0 if quotient(self, other) is not None else Size({(("mod", self, other),): 1})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __lt__(self, other: Dim) -> bool:
        """Known only where each symbol counts at least 0: a size is not less than 1 that it exceeds for all values."""
        difference = self - other
        if isinstance(difference, int):
            return difference < 0
        if all(factor >= 0 for factor in difference.terms.values()):
            return False
        if all(factor <= 0 for factor in difference.terms.values()):
            return difference.terms.get((), 0) < 0
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


def quotient(dividend: Dim, divisor: Dim) -> Dim | None:
    """dividend/divisor if it is exact for all values of the symbols, else None. The divisor is a number or one product."""
    if dividend == divisor:
        return 1
    if isinstance(dividend, int) and isinstance(divisor, int):
        return dividend // divisor if divisor != 0 and dividend % divisor == 0 else None
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
