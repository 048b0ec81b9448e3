# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The types of a compiled function, read for frameworks that trace: the schema of an op, the shapes of its results, and the
# checks of shapes that it is called with. It knows no framework and calls nothing.

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence

_NUMBERS = {"f16": "float", "bf16": "float", "f32": "float", "f64": "float", "i1": "bool"}


@dataclasses.dataclass(frozen=True)
class Value:
    """One argument or result: a tensor of sizes (None: dynamic) or, where `sizes` is None, a number."""

    name: str
    element: str
    sizes: tuple[int | None, ...] | None

    @property
    def is_float(self) -> bool:
        return self.sizes is not None and self.element in ("f16", "bf16", "f32", "f64")

    @property
    def takes_rows(self) -> bool:
        """Whether leading dimensions become one: `[?, D]` takes `[B, S, D]`."""
        return self.sizes is not None and len(self.sizes) > 1 and self.sizes[0] is None

    def schema(self) -> str:
        return f"{'Tensor' if self.sizes is not None else _NUMBERS.get(self.element, 'int')} {self.name}"

    def check(self, shape: Sequence[int]) -> int:
        """How many leading dimensions of `shape` stand for the first one. Raises ValueError."""
        extra = len(shape) - len(self.sizes)
        if extra < 0 or (extra > 0 and not self.takes_rows):
            raise ValueError(f"argument '{self.name}': expected {len(self.sizes)} dimensions but its shape is {list(shape)}")
        for place, size in enumerate(self.sizes):
            given = shape[place + extra]
            if size is not None and given != size:
                raise ValueError(f"argument '{self.name}': dimension {place + extra} is {given}, expected {size}")
        return extra + 1

    def flat(self, shape: Sequence[int]) -> tuple[int, ...]:
        """`shape` with its leading dimensions as one, where the function takes rows."""
        extra = len(shape) - len(self.sizes)
        return (math.prod(shape[: extra + 1]), *shape[extra + 1 :]) if extra else tuple(shape)


@dataclasses.dataclass(frozen=True)
class Signature:
    """Arguments and results of a compiled function."""

    arguments: tuple[Value, ...]
    results: tuple[Value, ...]

    def schema(self, name: str) -> str:
        results = ", ".join("Tensor" for _ in self.results)
        results = results if len(self.results) == 1 else f"({results})"
        return f"{name}({', '.join(argument.schema() for argument in self.arguments)}) -> {results}"

    def shapes(self, given: Sequence[Sequence[int] | None]) -> list[list]:
        """The shapes of the results of a call with arguments of the shapes `given` (None for numbers).

        A result has the shape of the first argument with its sizes; otherwise each `?` is that of the first argument with a
        `?` in the same place. Where that is not what the function gives, the function refuses the call.
        """
        leads, sizes = [], []
        for argument, shape in zip(self.arguments, given):
            if argument.sizes is not None:
                count = argument.check(shape)
                leads.append((argument, list(shape[:count]), list(shape[count:])))
        for result in self.results:
            sizes.append(self._shape(result, leads))
        return sizes

    def _shape(self, result: Value, given: list[tuple[Value, list, list]]) -> list:
        for argument, lead, rest in given:
            if argument.sizes == result.sizes and result.sizes:
                return lead + rest
        shape: list = []
        for place, size in enumerate(result.sizes):
            if size is not None:
                shape.append(size)
                continue
            found = next((parts for parts in given if len(parts[0].sizes) > place and parts[0].sizes[place] is None), None)
            if found is None:
                raise ValueError(f"result '{result.name}': no argument says what dimension {place} is")
            _, lead, rest = found
            if place > 0:
                shape.append(rest[place - 1])
            else:
                shape += lead if result.takes_rows else [math.prod(lead)]
        return shape


def parse(text: str, names: Sequence[str] | None = None) -> Signature:
    """Reads a type of MLIR such as `(tensor<?x8xf32>, i64) -> tensor<?x8xf32>`."""
    arguments, results = (re.findall(r"tensor<[^>]*>|[a-z]+[0-9]*", re.sub(r"\{.*?\}", "", part))
                          for part in text.split(" -> "))
    names = names or [f"arg{place}" for place in range(len(arguments))]
    return Signature(tuple(_value(*pair) for pair in zip(names, arguments)),
                     tuple(_value(f"out{place}", type_) for place, type_ in enumerate(results)))


def _value(name: str, type_: str) -> Value:
    if not type_.startswith("tensor<"):
        return Value(name, type_, None)
    *sizes, element = re.split(r"(?<=[\d?])x", type_.removeprefix("tensor<").rstrip(">"))
    return Value(name, element, tuple(None if size == "?" else int(size) for size in sizes))
