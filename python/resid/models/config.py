# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A checkpoint's config.json: fields by their names, with messages that say which one is missing or not covered.

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..importer.errors import FileError, ModelError, Unsupported

_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}
_TYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64"}


class Config:
    """The fields of one file. `name` stands in messages."""

    def __init__(self, fields: dict[str, Any], name: str = "config") -> None:
        self.fields = fields
        self.name = name

    def size(self, field: str, default: int | None = None) -> int:
        """A positive integer. None in the file is as good as nothing there."""
        value = self.fields.get(field)
        value = default if value is None else value
        if value is None:
            raise ModelError(f"'{self.name}': expected the field '{field}', found none")
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ModelError(f"'{self.name}': field '{field}': expected a positive integer, found {value!r}")
        return value

    def number(self, field: str, default: float) -> float:
        value = self.fields.get(field, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ModelError(f"'{self.name}': field '{field}': expected a number, found {value!r}")
        return float(value)

    def flag(self, field: str, default: bool) -> bool:
        value = self.fields.get(field, default)
        if not isinstance(value, bool):
            raise ModelError(f"'{self.name}': field '{field}': expected true or false, found {value!r}")
        return value

    def activation(self, field: str, default: str) -> str:
        """The kind of resid.activation."""
        value = self.fields.get(field, default)
        if value not in _ACTIVATIONS:
            raise Unsupported(
                f"'{self.name}': field '{field}': expected one of {', '.join(_ACTIVATIONS)}, found {value!r}"
            )
        return _ACTIVATIONS[value]

    def element(self) -> str:
        """The element type of weights and stream."""
        value = self.fields.get("torch_dtype", self.fields.get("dtype")) or "float32"
        if value not in _TYPES:
            raise Unsupported(
                f"'{self.name}': field 'torch_dtype': expected one of {', '.join(_TYPES)}, found {value!r}"
            )
        return _TYPES[value]

    def expect(self, field: str, *values: Any) -> None:
        """Refuses what changes the model in a way that is not covered; the first value is what a missing field means."""
        found = self.fields.get(field, values[0])
        if found not in values:
            raise Unsupported(
                f"'{self.name}': field '{field}': expected {' or '.join(map(repr, values))}, found {found!r}"
            )

    def divides(self, whole: str, parts: str, quotient: "tuple[int, int]") -> None:
        if quotient[0] % quotient[1]:
            raise ModelError(
                f"'{self.name}': '{whole}' is {quotient[0]}, which '{parts}', {quotient[1]}, does not divide"
            )

    def is_headless(self) -> bool:
        """The checkpoint is of the bare model, without what reads its last layer; then names have no prefix."""
        (name,) = self.fields.get("architectures") or ["Model"]
        return name.endswith("Model") and not name.endswith("LMHeadModel")


def read_config(path: "str | Path") -> Config:
    """Raises FileError where it cannot be read, or is no object of JSON."""
    try:
        fields = json.loads(Path(path).read_text())
    except OSError as error:
        raise FileError(f"'{path}' cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise FileError(f"'{path}' is no JSON file: {error}") from error
    if not isinstance(fields, dict):
        raise FileError(f"'{path}': expected an object, found {type(fields).__name__}")
    return Config(fields, str(path))
