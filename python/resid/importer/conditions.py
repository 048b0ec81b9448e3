# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Expressions of sizes and conditions on them, as exporters write them in Python and sympy: read into a Size, or written into a
# program as what each call must fulfil. Does not own where conditions come from (torch_guards.py).

from __future__ import annotations

import ast
import dataclasses
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeGuard, Union

from .errors import ModelError, Unsupported
from .program import Program
from .sizes import Dim, Size, larger, product, smaller, symbol

_COMPARISONS: dict[type, tuple[str, str]] = {
    ast.Eq: ("eq", "oeq"),
    ast.NotEq: ("ne", "une"),
    ast.Lt: ("slt", "olt"),
    ast.LtE: ("sle", "ole"),
    ast.Gt: ("sgt", "ogt"),
    ast.GtE: ("sge", "oge"),
}
_RELATIONS = {"Eq": ast.Eq, "Ne": ast.NotEq, "Lt": ast.Lt, "Le": ast.LtE, "Gt": ast.Gt, "Ge": ast.GtE}
_INTEGERS: dict[str, Callable[[Dim, Dim], Dim]] = {
    "min": smaller,
    "max": larger,
    "mod": lambda a, b: a % b,
    "pythonmod": lambda a, b: a % b,
    "floordiv": lambda a, b: a // b,
    "cleandiv": lambda a, b: a // b,
}
_WHOLE: dict[type, Callable[[Any, Any], Dim]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FLOATS: dict[type, str] = {ast.Add: "addf", ast.Sub: "subf", ast.Mult: "mulf", ast.Div: "divf"}


@dataclasses.dataclass(frozen=True)
class _Computed:
    """What is computed in each call: a truth (i1) or a float (f64)."""

    ssa: str
    kind: str


_Value = Union[int, Size, float, bool, _Computed]


def read_size(text: str) -> Dim:
    """The size that an expression of named sizes is. Raises Unsupported where it is none that can be said."""
    value = _Reading(text, None, {}).value(_parsed(text))
    if isinstance(value, (bool, float, _Computed)):
        raise Unsupported(f"'{text}': expected a size")
    return value


def recorded_size(text: str, names: Collection[str], fixed: Mapping[str, int]) -> "Dim | None":
    """What an exporter writes for an open size; None where that is not computed from the sizes of arguments alone."""
    if text in names:
        return fixed.get(text, symbol(text))
    try:
        part = _parsed(text)
        if not {name.id for name in ast.walk(part) if isinstance(name, ast.Name)} <= set(names):
            return None
        value = _Reading(text, None, {}, fixed).value(part)
    except (Unsupported, ZeroDivisionError):
        return None
    return value if _is_size(value) else None


def require(p: Program, text: str, shapes: "Mapping[str, Sequence[Dim]]") -> None:
    """Each call is refused for which the condition does not hold. `name.shape[i]` in it is a size of an argument, and other
    names are those of sizes."""
    holds = _Reading(text, p, shapes).truth(_parsed(text))
    if holds is False:
        raise ModelError(f"the condition '{text}' of the exported program holds for no size")
    if isinstance(holds, _Computed):
        p.require(holds.ssa, f"expected sizes for which {text}")


def number(p: Program, text: str) -> "int | float | bool | tuple[str, str]":
    """What an expression of named sizes is: a number, or the name and the type of what the program computes at its head."""
    value = _Reading(text, p, {}).value(_parsed(text))
    if isinstance(value, Size):
        return p.head(f"arith.index_cast {p.index(value)} : index to i64"), "i64"
    return (value.ssa, value.kind) if isinstance(value, _Computed) else value


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(" ".join(text.split()), mode="eval").body
    except SyntaxError as error:
        raise Unsupported(f"the condition '{text}' of the exported program: {error.msg}") from error


class _Reading:
    def __init__(
        self,
        text: str,
        program: "Program | None",
        shapes: "Mapping[str, Sequence[Dim]]",
        fixed: "Mapping[str, int] | None" = None,
    ) -> None:
        self.text = text
        self.fixed = fixed or {}
        self.program = program
        self.shapes = shapes

    def unknown(self, part: ast.AST) -> Unsupported:
        return Unsupported(f"the condition '{self.text}' of the exported program: '{ast.unparse(part)}' is not covered")

    def value(self, part: ast.expr) -> _Value:
        if isinstance(part, ast.Constant) and isinstance(part.value, (bool, int, float)):
            return part.value
        if isinstance(part, ast.Name):
            return self.fixed.get(part.id, symbol(part.id))
        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Attribute) and part.value.attr == "shape":
            return self._shape(part, part.value.value)
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub):
            inner = self.value(part.operand)
            return -inner if isinstance(inner, (int, float, Size)) else self._float(ast.Sub, 0.0, inner, part)
        if isinstance(part, ast.BinOp) and not isinstance(part.op, (ast.BitAnd, ast.BitOr)):
            return self._arithmetic(part.op, self.value(part.left), self.value(part.right), part)
        if isinstance(part, ast.Call):
            return self._call(part)
        return self._logic(part)

    def truth(self, part: ast.expr) -> "bool | _Computed":
        value = self.value(part)
        if isinstance(value, bool) or (isinstance(value, _Computed) and value.kind == "i1"):
            return value
        raise self.unknown(part)

    def _shape(self, part: ast.Subscript, owner: ast.expr) -> Dim:
        index = part.slice
        if not isinstance(owner, ast.Name) or owner.id not in self.shapes or not isinstance(index, ast.Constant):
            raise self.unknown(part)
        if not isinstance(index.value, int):
            raise self.unknown(part)
        return self.shapes[owner.id][index.value]

    # -- arithmetic

    def _arithmetic(self, op: ast.operator, left: _Value, right: _Value, part: ast.AST) -> _Value:
        if _is_size(left) and _is_size(right):
            if type(op) in _WHOLE and (right != 0 or isinstance(op, (ast.Add, ast.Sub, ast.Mult))):
                return _WHOLE[type(op)](left, right)
            if isinstance(op, ast.Pow) and isinstance(right, int) and 0 <= right < 8:
                return product([left] * right)
        if isinstance(op, ast.Pow) and right == 0.5:
            return self._new(f"math.sqrt {self._as_float(left, part)} : f64", "f64")
        return self._float(type(op), left, right, part)

    def _float(self, op: type, left: _Value, right: _Value, part: ast.AST) -> _Value:
        if op not in _FLOATS:
            raise self.unknown(part)
        return self._new(f"arith.{_FLOATS[op]} {self._as_float(left, part)}, {self._as_float(right, part)} : f64", "f64")

    def _as_float(self, value: _Value, part: ast.AST) -> str:
        if self.program is None or isinstance(value, bool) or (isinstance(value, _Computed) and value.kind != "f64"):
            raise self.unknown(part)
        if isinstance(value, _Computed):
            return value.ssa
        if isinstance(value, (int, float)):
            return self.program.scalar(float(value), "f64")
        whole = self._new(f"arith.index_cast {self.program.index(value)} : index to i64", "i64")
        return self._new(f"arith.sitofp {whole.ssa} : i64 to f64", "f64").ssa

    def _new(self, text: str, kind: str) -> _Computed:
        assert self.program is not None
        return _Computed(self.program.head(text), kind)

    def _call(self, part: ast.Call) -> _Value:
        name = (part.func.attr if isinstance(part.func, ast.Attribute) else ast.unparse(part.func)).removeprefix("sym_")
        if name in _RELATIONS:
            return self._relation(_RELATIONS[name], *(self.value(argument) for argument in part.args), part=part)
        if name in ("And", "Or", "Not", "not"):
            return self._joined(name, part.args)
        values = [self.value(argument) for argument in part.args]
        sizes = [value for value in values if _is_size(value)]
        if name.lower() in _INTEGERS and len(values) > 1 and len(sizes) == len(values):
            first, *rest = sizes
            for other in rest:
                first = _INTEGERS[name.lower()](first, other)
            return first
        if name in ("float", "ToFloat", "IntTrueDiv", "FloatTrueDiv", "FloatPow", "sqrt"):
            return self._of_floats(name, values, part)
        rounding = {"trunc": 0, "TruncToInt": 0, "int": 0, "floor": -1, "FloorToInt": -1, "ceil": 1, "CeilToInt": 1}
        if name in rounding and len(values) == 1:
            return values[0] if _is_size(values[0]) else self._rounded(values[0], rounding[name], part)
        raise self.unknown(part)

    def _of_floats(self, name: str, values: "list[_Value]", part: ast.Call) -> _Value:
        if name in ("float", "ToFloat"):
            return _Computed(self._as_float(values[0], part), "f64")
        if name.endswith("TrueDiv"):
            return self._float(ast.Div, values[0], values[1], part)
        if name == "FloatPow" and values[1] != 0.5:
            raise self.unknown(part)
        return self._arithmetic(ast.Pow(), values[0], 0.5, part)

    def _rounded(self, value: _Value, direction: int, part: ast.AST) -> _Computed:
        """A float that has no fraction: cut, and moved by one where that went the wrong way."""
        given = self._as_float(value, part)
        whole = self._new(f"arith.fptosi {given} : f64 to i64", "i64").ssa
        cut = self._new(f"arith.sitofp {whole} : i64 to f64", "f64")
        if direction == 0:
            return cut
        test = "ogt" if direction < 0 else "olt"
        is_wrong = self._new(f"arith.cmpf {test}, {cut.ssa}, {given} : f64", "i1").ssa
        assert self.program is not None
        moved = self._new(f"arith.addf {cut.ssa}, {self.program.scalar(float(direction), 'f64')} : f64", "f64").ssa
        return self._new(f"arith.select {is_wrong}, {moved}, {cut.ssa} : f64", "f64")

    # -- truths

    def _logic(self, part: ast.expr) -> _Value:
        if isinstance(part, ast.Compare):
            operands = [self.value(operand) for operand in (part.left, *part.comparators)]
            truths = [
                self._relation(type(op), operands[i], operands[i + 1], part=part) for i, op in enumerate(part.ops)
            ]
            return self._combined("andi", truths)
        if isinstance(part, ast.BoolOp):
            return self._joined("And" if isinstance(part.op, ast.And) else "Or", part.values)
        if isinstance(part, ast.BinOp):
            return self._joined("And" if isinstance(part.op, ast.BitAnd) else "Or", [part.left, part.right])
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, (ast.Not, ast.Invert)):
            return self._joined("Not", [part.operand])
        raise self.unknown(part)

    def _joined(self, name: str, parts: Sequence[ast.expr]) -> "bool | _Computed":
        truths = [self.truth(part) for part in parts]
        if name.lower() != "not":
            return self._combined("andi" if name == "And" else "ori", truths)
        (truth,) = truths
        if isinstance(truth, bool):
            return not truth
        assert self.program is not None
        return self._new(f"arith.xori {truth.ssa}, {self.program.scalar(True, 'i1')} : i1", "i1")

    def _combined(self, op: str, truths: "Sequence[bool | _Computed]") -> "bool | _Computed":
        deciding = op == "ori"  # what is true of one alone decides a disjunction
        result: "bool | _Computed" = not deciding
        for truth in truths:
            if isinstance(truth, bool) or isinstance(result, bool):
                known, other = (truth, result) if isinstance(truth, bool) else (result, truth)
                result = deciding if known == deciding else other
            else:
                result = self._new(f"arith.{op} {result.ssa}, {truth.ssa} : i1", "i1")
        return result

    def _relation(self, op: type, left: _Value, right: _Value, *, part: ast.AST) -> "bool | _Computed":
        if op not in _COMPARISONS:
            raise self.unknown(part)
        of_sizes, of_floats = _COMPARISONS[op]
        if not (_is_size(left) and _is_size(right)):
            return self._new(
                f"arith.cmpf {of_floats}, {self._as_float(left, part)}, {self._as_float(right, part)} : f64", "i1"
            )
        difference = left - right
        if isinstance(difference, int):
            tests = {"eq": difference == 0, "ne": difference != 0, "slt": difference < 0, "sle": difference <= 0}
            return {**tests, "sgt": difference > 0, "sge": difference >= 0}[of_sizes]
        if self.program is None:
            raise self.unknown(part)
        names = (self.program.index(side) for side in (left, right))
        return self._new(f"arith.cmpi {of_sizes}, {', '.join(names)} : index", "i1")


def _is_size(value: _Value | None) -> TypeGuard[Dim]:
    return isinstance(value, (int, Size)) and not isinstance(value, bool)
