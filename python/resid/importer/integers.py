# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Weights of files that are stored as integers, in the form that resid.linear takes. What a file means by them is its reader's.

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from . import elements
from .errors import ModelError, Unsupported
from .program import tensor_type
from .weights import nibbles


@dataclasses.dataclass(frozen=True)
class Integers:
    """A matrix [out, in]: scale·(q - zero), or scale·q - offset, for groups of neighbours along `in`.

    `q` is of i8, from -8 to 7 where `bits` is 4. `scale` is [out, in / group], of f16, bf16 or f32, and so are `zero`, of i8, and
    `offset`, of f32, of which one at most is given. With `of_rows`, what is multiplied by it becomes bytes, row by row; then it has
    8 bits, one scale for each output, and neither `zero` nor `offset`."""

    q: np.ndarray
    bits: int
    scale: np.ndarray
    zero: np.ndarray | None = None
    offset: np.ndarray | None = None
    of_rows: bool = False

    @property
    def group(self) -> int:
        return int(self.q.shape[1] // self.scale.shape[1])

    def parts(self) -> "dict[str, tuple[tuple[str, tuple[int, ...]], np.ndarray]]":
        """Element type and shape in a program, and the array of a file, by what stands after the name of the matrix."""
        scale = self.scale.reshape(-1).astype(np.float32) if self.of_rows else self.scale
        given = {"_scale": scale, "_zero": self.zero, "_offset": self.offset}
        kinds = {suffix: ((elements.from_numpy(a.dtype), a.shape), a) for suffix, a in given.items() if a is not None}
        return {"": ((f"i{self.bits}", self.q.shape), nibbles(self.q) if self.bits == 4 else self.q), **kinds}

    def rows(self, order: np.ndarray) -> Integers:
        """The same with its rows in another order."""
        parts = {name: getattr(self, name) for name in ("q", "scale", "zero", "offset")}
        return dataclasses.replace(self, **{name: part[order] for name, part in parts.items() if part is not None})

    def floats(self) -> np.ndarray:
        """In f32, each rounded once, as resid.linear computes them; where there are offsets, scale·q has to be exact."""

        def spread(part: np.ndarray) -> np.ndarray:
            return np.repeat(part.astype(np.float32), self.group, 1)

        q = self.q if self.zero is None else self.q - spread(self.zero)
        product: np.ndarray = spread(self.scale) * q.astype(np.float32)
        return product if self.offset is None else product - spread(self.offset)


def fit(tensors: "Mapping[str, np.ndarray | Integers]", wanted: Mapping[str, str], where: str) -> dict[str, np.ndarray]:
    """The arrays for the weights of a program, whose types are `wanted`. Integers become floats where the program has floats. Floats
    take another type where they have the same values in it. Raises ModelError for weights that are missing, of other sizes or
    left over, Unsupported for values that the type does not have."""
    arrays: dict[str, np.ndarray] = {}
    used = set()
    for name, kind in wanted.items():
        owner = next((name.removesuffix(s) for s in ("_scale", "_zero", "_offset") if name not in tensors and name.endswith(s)), name)
        found = tensors.get(owner)
        if found is None:
            raise ModelError(f"'{where}': expected a tensor for the weight '{name}' of the program, found none")
        used.add(owner)
        if isinstance(found, Integers):
            part = found.parts().get(name[len(owner) :])
            if part is not None and tensor_type(*part[0]) == kind:
                arrays[name] = part[1]
                continue
            found = found.floats()
        element = kind.rstrip(">").split("x")[-1]
        if tensor_type(element, found.shape) != kind or owner != name:
            raise ModelError(f"'{where}': expected {kind} for the weight '{name}', found {found.dtype} {list(found.shape)}")
        with np.errstate(over="ignore"):
            array = found.astype(elements.to_numpy(element), copy=False)
        if array is not found and not np.array_equal(array.astype(found.dtype), found, equal_nan=True):
            raise Unsupported(f"'{where}': '{name}' has values of {found.dtype} that {element} does not have: give 'dtype' as float32")
        arrays[name] = array
    left = sorted(set(tensors) - used)
    if left:
        raise ModelError(f"'{where}': the program has no weight for {', '.join(repr(name) for name in left[:8])}")
    return arrays
