# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The types of a compiled function, read for frameworks that trace: the schema of an op, the shapes of its results, and the
# checks of shapes that it is called with. It knows no framework and calls nothing.

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import resid_runtime
from resid_runtime.signature import check_rows


@dataclasses.dataclass(frozen=True)
class Value(resid_runtime.Value):
    """One argument or result, as a framework that traces sees it."""

    @property
    def is_float(self) -> bool:
        return self.sizes is not None and self.element in ("f16", "bf16", "f32", "f64")

    def schema(self) -> str:
        # PyTorch would make an int of 3.7 and of a tensor, and a bool of everything.
        return f"{'Tensor' if self.sizes is not None else 'Scalar'} {self.name}"

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
    # For each result its sizes: a number, (argument, dimension), or something else where neither says it.
    result_sizes: tuple[tuple[Any, ...], ...]
    rows_like: tuple[int, ...]

    def schema(self, name: str) -> str:
        results = ", ".join("Tensor" for _ in self.results)
        results = results if len(self.results) == 1 else f"({results})"
        return f"{name}({', '.join(argument.schema() for argument in self.arguments)}) -> {results}"

    def shapes(self, given: Sequence[Sequence[int] | None]) -> list[list]:
        """The shapes of the results of a call with arguments of the shapes `given` (None for numbers).

        Raises ValueError where they do not fit the arguments, or where a size does not follow from those of arguments.
        """
        leads = [None if argument.sizes is None else argument.check(shape)
                 for argument, shape in zip(self.arguments, given)]
        for argument, shape, like in zip(self.arguments, given, self.rows_like):
            if like >= 0:
                check_rows(f"argument '{argument.name}'", argument, shape, self.arguments[like], given[like])
        return [self._shape(result, sizes, given, leads) for result, sizes in zip(self.results, self.result_sizes)]

    def _shape(self, result: Value, sizes: Sequence[Any], given: Sequence, leads: Sequence[int | None]) -> list:
        shape: list = []
        for place, size in enumerate(sizes):
            if isinstance(size, int):
                shape.append(size)
                continue
            if not isinstance(size, tuple):
                raise ValueError(f"result '{result.name}': dimension {place} does not follow from a size of an argument")
            argument, dimension = size
            if dimension > 0:
                shape.append(given[argument][dimension + leads[argument] - 1])
            elif result.takes_rows and place == 0:
                shape += given[argument][: leads[argument]]
            else:
                shape.append(math.prod(given[argument][: leads[argument]]))
        return shape


def read(signature: Any) -> Signature:
    """From the signature of a compiled function, as resid_runtime has it."""
    arguments, results = (tuple(Value(**vars(value)) for value in values) for values in (signature.arguments, signature.results))
    return Signature(arguments, results, tuple(signature.result_sizes), signature.rows_like)
