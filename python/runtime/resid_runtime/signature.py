# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a compiled function takes and gives: names, element types and sizes. Read from what the compiler says of it, or from
# the text of its type alone.

from __future__ import annotations

import dataclasses
import re
from typing import Any, Mapping, Sequence, Union

from . import errors

# DLPack's codes of types: integers, unsigned ones, floats, bfloats, bools.
INT, UINT, FLOAT, BFLOAT, BOOL = 0, 1, 2, 4, 6
ELEMENTS = {"f16": (FLOAT, 16), "bf16": (BFLOAT, 16), "f32": (FLOAT, 32), "f64": (FLOAT, 64), "i1": (BOOL, 8),
            "u8": (UINT, 8), "i8": (INT, 8), "i16": (INT, 16), "i32": (INT, 32), "i64": (INT, 64), "index": (INT, 64)}

# A size of a result: a number, (argument, dimension), an expression of sizes by their names, or None: not known.
Size = Union[int, "tuple[int, int]", str, None]


@dataclasses.dataclass(frozen=True)
class Value:
    """An argument or a result: an array with sizes (None: open) or, where `sizes` is None, a number.

    An array of i4 is one of bytes (u8), two elements in each, the first in the low half.
    """

    name: str
    type: str
    element: str
    sizes: tuple[int | None, ...] | None
    # Whether there may be gaps between its rows (resid.strided).
    is_strided: bool = False

    @staticmethod
    def read(name: str, type_: str, is_strided: bool = False) -> Value:
        if not type_.startswith("tensor<"):
            return Value(name, type_, type_, None)
        *texts, element = re.split(r"(?<=[\d?])x", type_.removeprefix("tensor<").rstrip(">"))
        sizes = tuple(None if size == "?" else int(size) for size in texts)
        if element == "i4":
            element, sizes = "u8", (*sizes[:-1], None if sizes[-1] is None else sizes[-1] // 2)
        return Value(name, type_, element, sizes, is_strided)

    @property
    def takes_rows(self) -> bool:
        """Whether leading dimensions become one: `[?, D]` takes `[B, S, D]`."""
        return self.sizes is not None and len(self.sizes) > 1 and self.sizes[0] is None

    def describe(self) -> str:
        """The element type and the sizes, such as `f32[?, 768]`."""
        if self.sizes is None:
            return self.element
        return f"{self.element}[{', '.join('?' if size is None else str(size) for size in self.sizes)}]"


def _split(text: str) -> list[list[tuple[str, bool]]]:
    """The types of arguments and of results in the text of a function's type, and whether they are strided."""
    parts = (re.findall(r"(tensor<[^>]*>|[a-z]+[0-9]*)(\s*\{[^}]*\})?", part) for part in text.split(" -> "))
    return [[(type_, "resid.strided" in attributes) for type_, attributes in part] for part in parts]


@dataclasses.dataclass(frozen=True)
class Signature:
    """Arguments and results of a compiled function. As text, it is the function's type in MLIR."""

    name: str
    text: str
    arguments: tuple[Value, ...]
    results: tuple[Value, ...]
    result_sizes: tuple[tuple[Size, ...], ...]
    # Names of open sizes, as (argument, dimension).
    sizes: Mapping[str, tuple[int, int]]
    # For each argument that takes rows the first argument that has the same number of them, and -1 for others.
    rows_like: tuple[int, ...] = ()

    @staticmethod
    def from_description(function: Mapping[str, Any]) -> Signature:
        """From what the compiler says."""
        arguments, results = (tuple(Value.read(value["name"], value["type"], is_strided)
                                    for value, (_, is_strided) in zip(values, types))
                              for values, types in zip((function["arguments"], function["results"]), _split(function["type"])))
        sizes = {size["name"]: (size["argument"], size["dimension"]) for size in function["sizes"]}
        result_sizes = tuple(tuple(sizes.get(size, size) for size in value["sizes"]) for value in function["results"])
        names = {(size["argument"], size["dimension"]): size.get("same_as") for size in function["sizes"]}
        rows = [names.get((place, 0)) if value.takes_rows else None for place, value in enumerate(arguments)]
        rows_like = tuple(-1 if name is None else rows.index(name) for name in rows)
        return Signature(function["symbol"], function["type"], arguments, results, result_sizes, sizes, rows_like)

    @staticmethod
    def from_type(name: str, text: str) -> Signature:
        """From the type in MLIR, which has no names. Sizes of results that are open are not known."""
        given, made = _split(text)
        arguments = tuple(Value.read(f"argument {place}", *value) for place, value in enumerate(given))
        results = tuple(Value.read(f"out{place}", *value) for place, value in enumerate(made))
        return Signature(name, text, arguments, results, tuple(value.sizes or () for value in results), {})

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        arguments = ", ".join(f"{value.name}: {value.describe()}" for value in self.arguments)
        return f"{self.name}({arguments}) -> {', '.join(value.describe() for value in self.results)}"


def check_rows(where: str, value: Value, shape: Sequence[int], other: Value, expected: Sequence[int]) -> None:
    """Raises ShapeError where an array has the rows of another one, but other leading dimensions: `[3, 2, D]` for `[2, 3, D]`."""
    found, wanted = (list(one[: len(one) - len(kind.sizes or ()) + 1]) for one, kind in ((shape, value), (expected, other)))
    if max(len(found), len(wanted)) > 1 and (len(found) != len(wanted) or any(a != b for a, b in zip(found, wanted))):
        raise errors.ShapeError(f"{where}: its rows are {found}, expected {wanted} (those of '{other.name}')")
