# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A checkpoint's config.json: fields by their names, with messages that say which one is missing, wrong or not covered. It keeps
# which fields a preset has read, so that one that nobody reads is an error and not a model without it.

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ..importer.errors import FileError, FlagError, ImportFailure, ModelError, Unsupported

_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_accurate": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_python_tanh": "gelu_tanh",
    "relu": "relu",
    "relu2": "relu2",
    "silu": "silu",
    "swish": "silu",
}
_TYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64"}
_MOST = 2**31 - 1


def spell(value: Any) -> str:
    """A value as config.json has it, of at most 60 characters."""
    text = json.dumps(value, default=repr)
    return text if len(text) <= 60 else text[:57] + "..."


class Config:
    """The fields of one object. `name` stands in messages, and `path` before the fields of an object in the object."""

    def __init__(self, fields: Mapping[str, Any], name: str = "config", path: str = "") -> None:
        if not isinstance(fields, Mapping):
            raise ModelError(f"'{name}': expected an object, found {spell(fields)}")
        self.fields = fields
        self.name = name
        self.path = path
        self._read: set[str] = set()

    def get(self, field: str, default: Any = None) -> Any:
        """The value, as it is."""
        self._read.add(field)
        return self.fields.get(field, default)

    def wrong(self, field: str, expected: str, kind: type[ImportFailure] = ModelError) -> ImportFailure:
        found = spell(self.fields[field]) if field in self.fields else "none"
        return kind(f"'{self.name}': field '{self.path}{field}': expected {expected}, found {found}")

    def size(self, field: str, default: int | None = None) -> int:
        """A positive integer. With a default, null is as good as nothing there."""
        value = self.get(field, default)
        value = default if value is None else value
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST:
            raise self.wrong(field, f"an integer from 1 to {_MOST}")
        return value

    def number(self, field: str, default: float | None = None, *, above: float = -math.inf) -> float:
        """A finite number above another one."""
        value = self.get(field, default)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        # An integer may be too large for a double.
        if not is_number or not above < value < math.inf or abs(value) > 1.7e308:
            raise self.wrong(field, "a number" if above == -math.inf else f"a number above {above:g}")
        return float(value)

    def epsilon(self, field: str, default: float) -> float:
        value = self.number(field, default)
        if value < 0:
            raise self.wrong(field, "a number that is not negative")
        return value

    def flag(self, field: str, default: bool) -> bool:
        value = self.get(field, default)
        if not isinstance(value, bool):
            raise self.wrong(field, "true or false")
        return value

    def choice(self, field: str, choices: Mapping[str, str], default: str | None = None) -> str:
        """What a text stands for."""
        value = self.get(field, default)
        if not isinstance(value, str) or value not in choices:
            raise self.wrong(field, f"one of {', '.join(choices)}", Unsupported)
        return choices[value]

    def activation(self, field: str, default: str) -> str:
        """The kind of resid.activation."""
        return self.choice(field, _ACTIVATIONS, default)

    def element(self) -> str:
        """The element type of weights and stream."""
        found = [field for field in ("dtype", "torch_dtype") if self.get(field) is not None]
        elements = {field: self.choice(field, _TYPES) for field in found}
        if len(set(elements.values())) > 1:
            raise self.wrong("torch_dtype", f"that of 'dtype', {spell(self.fields['dtype'])}")
        return next(iter(elements.values()), "f32")

    def pair(self, field: str) -> tuple[int, int]:
        """Height and width: one number for both, or two."""
        value = self.get(field)
        if not isinstance(value, (list, tuple)):
            return (self.size(field),) * 2
        if len(value) != 2:
            raise self.wrong(field, "one number, or height and width")
        parts = Config(dict(zip(("0", "1"), value)), self.name, f"{self.path}{field}.")
        return parts.size("0"), parts.size("1")

    def part(self, field: str) -> Config | None:
        """An object in the object; None where it is null or not there."""
        value = self.get(field)
        if value is not None and not isinstance(value, Mapping):
            raise self.wrong(field, "an object")
        return None if value is None else Config(value, self.name, f"{self.path}{field}.")

    def expect(self, field: str, *values: Any) -> None:
        """Refuses what changes the model in a way that is not covered; the first value is what a missing field means."""
        if self.get(field, values[0]) not in values:
            raise self.wrong(field, " or ".join(map(spell, values)), Unsupported)

    def divides(self, whole: str, parts: str, quotient: "tuple[int, int]") -> None:
        if quotient[0] % quotient[1]:
            raise ModelError(
                f"'{self.name}': '{whole}' is {quotient[0]}, which '{parts}', {quotient[1]}, does not divide"
            )

    def architecture(self, family: str, bare: str) -> str:
        """The class that the checkpoint was saved from; without one, the bare model. `family` is how its classes begin."""
        value = self.get("architectures")
        names = [bare] if value is None or value == [] else value
        if not isinstance(names, list) or len(names) != 1 or not isinstance(names[0], str):
            raise self.wrong("architectures", "a list of one name")
        whole = [bare, *(f"{family}{rest}" for rest in ("LMHeadModel", "DoubleHeadsModel"))]
        if names[0] not in whole and not names[0].startswith(f"{family}For"):
            raise self.wrong("architectures", f"a class such as {bare} or {family}For…", Unsupported)
        return str(names[0])

    def finish(self, harmless: Collection[str] = (), ignored: Collection[str] = ()) -> None:
        """Refuses the fields that nobody has read, but for null, those that change nothing, and those to be ignored."""
        unknown = {
            field: value
            for field, value in self.fields.items()
            if value is not None and field not in self._read and field not in harmless
        }
        for field in ignored:
            if field not in unknown:
                reason = "is read" if field in self._read else "changes nothing" if field in self.fields else "is not there"
                raise FlagError(f"'{self.name}': field '{field}' cannot be ignored: it {reason}")
        left = [field for field in unknown if field not in ignored]
        if left:
            raise Unsupported(
                [f"'{self.name}': field '{self.path}{field}' is not covered; it is {spell(unknown[field])}" for field in left]
            )


def _unique(pairs: "list[tuple[str, Any]]") -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the field '{next(name for name in names if names.count(name) > 1)}' is there twice")
    return fields


def read_config(path: "str | Path") -> Config:
    """Raises FileError where it cannot be read, or is no object of JSON."""
    try:
        fields = json.loads(Path(path).read_text(encoding="utf-8"), object_pairs_hook=_unique)
    except OSError as error:
        raise FileError(f"'{path}' cannot be read: {error.strerror}") from error
    except RecursionError as error:
        raise FileError(f"'{path}' is no JSON file: values lie too deep in each other") from error
    except ValueError as error:
        raise FileError(f"'{path}' is no JSON file: {error}") from error
    if not isinstance(fields, dict):
        raise FileError(f"'{path}': expected an object, found {spell(fields)}")
    return Config(fields, str(path))
