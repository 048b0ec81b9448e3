# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Element types, by their names in MLIR, NumPy and safetensors.

from __future__ import annotations

import numpy as np

from .errors import ImportFailure, Unsupported

# MLIR: (NumPy, safetensors)
_TYPES = {
    "f16": ("float16", "F16"),
    "bf16": ("bfloat16", "BF16"),
    "f32": ("float32", "F32"),
    "f64": ("float64", "F64"),
    "i1": ("bool", "BOOL"),
    "i8": ("int8", "I8"),
    "u8": ("uint8", "U8"),
    "i16": ("int16", "I16"),
    "i32": ("int32", "I32"),
    "i64": ("int64", "I64"),
}
_BY_NUMPY = {names[0]: mlir for mlir, names in _TYPES.items()}
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64")


def from_numpy(dtype: "np.dtype | str") -> str:
    name = str(dtype)
    if name not in _BY_NUMPY:
        raise Unsupported(f"element type {name}: expected one of {', '.join(_BY_NUMPY)}")
    return _BY_NUMPY[name]


def to_numpy(element: str) -> np.dtype:
    if element == "bf16":
        try:
            import ml_dtypes  # only where a model has bf16
        except ImportError as error:
            raise ImportFailure("bf16 needs the Python package ml_dtypes (python -m pip install ml_dtypes)") from error
        kind: np.dtype = np.dtype(ml_dtypes.bfloat16)
        return kind
    return np.dtype(_TYPES[element][0])


def to_safetensors(element: str) -> str:
    return _TYPES[element][1]


def from_safetensors(name: str) -> str:
    for mlir, names in _TYPES.items():
        if names[1] == name:
            return mlir
    raise Unsupported(
        f"element type {name} of a safetensors file: expected one of {', '.join(n[1] for n in _TYPES.values())}"
    )


def stored(element: str) -> str:
    """The type in the text of a program, where u8 is i8: each element less 128, so that comparisons, differences and products with
    signs are right."""
    return "i8" if element == "u8" else element


def is_float(element: str) -> bool:
    return element in FLOATS


def is_narrow(dtype: np.dtype) -> bool:
    """Floats that are summed in f32."""
    return str(dtype) in ("float16", "bfloat16")


def arithmetic(element: str) -> str:
    """The type in which resid computes: f64 for f64, else f32."""
    return "f64" if element == "f64" else "f32"


def width(element: str) -> int:
    """Bits."""
    return 16 if element == "bf16" else int(element[1:])
