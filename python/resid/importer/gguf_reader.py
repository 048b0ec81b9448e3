# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads GGUF files: metadata, and tensors of floats and of the blocks Q8_0, Q4_0, Q4_K and Q6_K, whose values stay exactly what they are.
# Does not own which tensors a model has (models/gguf_names.py).

from __future__ import annotations

import math
import mmap
import struct
from pathlib import Path
from typing import Any

import numpy as np

from . import elements
from .errors import FileError, Unsupported
from .integers import Integers

# GGML's numbers of types of tensors: (name, elements of a block, bytes of a block)
_TYPES = {0: ("F32", 1, 4), 1: ("F16", 1, 2), 30: ("BF16", 1, 2)}
_TYPES |= {2: ("Q4_0", 32, 18), 8: ("Q8_0", 32, 34), 12: ("Q4_K", 256, 144), 14: ("Q6_K", 256, 210)}
_FLOATS = {"F32": "f32", "F16": "f16", "BF16": "bf16"}
_OTHERS = {3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K", 13: "Q5_K", 15: "Q8_K", 20: "IQ4_NL"}
_OTHERS |= {23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64", 39: "MXFP4"}
# Numbers of types of metadata, as struct has them; 8 is a text, 9 a list.
_NUMBERS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd"))
_TEXT, _LIST = 8, 9


class _Cursor:
    def __init__(self, data: "mmap.mmap | bytes", path: Path) -> None:
        self.data, self.path, self.at = data, path, 0

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise FileError(f"'{self.path}': it ends in its header, at byte {self.at}")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, letter: str) -> Any:
        return struct.unpack(f"<{letter}", self.take(struct.calcsize(f"<{letter}")))[0]

    def text(self) -> str:
        try:
            return self.take(self.number("Q")).decode()
        except UnicodeDecodeError as error:
            raise FileError(f"'{self.path}': a name is no UTF-8") from error

    def value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self.text()
        if kind == _LIST:
            kind, count = self.number("I"), self.number("Q")
            if kind in _NUMBERS:
                content = self.take(count * struct.calcsize(f"<{_NUMBERS[kind]}"))
                return list(struct.unpack(f"<{count}{_NUMBERS[kind]}", content))
            if kind == _TEXT:
                return [self.text() for _ in range(count)]
        if kind not in _NUMBERS:
            raise FileError(f"'{self.path}': metadata, or a list, of the unknown type {kind}")
        return self.number(_NUMBERS[kind])


def read_gguf(path: "str | Path") -> "tuple[dict[str, Any], dict[str, np.ndarray | Integers]]":
    """Metadata, and tensors by the names of the file. Raises FileError where it is no GGUF file of version 2 or 3, or ends too early;
    Unsupported with each tensor of another type than F32, F16, BF16, Q8_0, Q4_0, Q4_K and Q6_K."""
    path = Path(path)
    try:
        with open(path, "rb") as stream:
            data: "mmap.mmap | bytes" = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise FileError(f"'{path}' cannot be read: {error.strerror}") from error
    except ValueError:
        data = b""  # an empty file cannot be mapped
    cursor = _Cursor(data, path)
    if data[:4] != b"GGUF":
        raise FileError(f"'{path}' is no GGUF file: it begins with {data[:4]!r}")
    cursor.at = 4
    version = cursor.number("I")
    if version not in (2, 3):
        raise FileError(f"'{path}': expected version 2 or 3 of GGUF in the order of bytes of this machine, found {version}")
    count, entries = cursor.number("Q"), cursor.number("Q")
    metadata: dict[str, Any] = {}
    for _ in range(entries):
        name = cursor.text()
        metadata[name] = cursor.value(cursor.number("I"))
    found = []
    for _ in range(count):
        name, rank = cursor.text(), cursor.number("I")
        found.append((name, [cursor.number("Q") for _ in range(rank)][::-1], cursor.number("I"), cursor.number("Q")))
    names = [name for name, *_ in found]
    if len(set(names)) < count:
        raise FileError(f"'{path}': tensor '{next(name for name in names if names.count(name) > 1)}' is there twice")
    alignment = metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment < 1:
        raise FileError(f"'{path}': an alignment of {alignment}")
    begin = -(-cursor.at // alignment) * alignment
    refused = [f"'{path}': tensor '{name}' of {_OTHERS.get(kind, f'type {kind}')}" for name, _, kind, _ in found if kind not in _TYPES]
    if refused:
        covered = ", ".join(name for name, _, _ in _TYPES.values())
        raise Unsupported([f"{reason}: expected one of {covered}" for reason in refused[:8]])
    return metadata, {name: _tensor(path, data, name, shape, kind, begin + offset) for name, shape, kind, offset in found}


def _tensor(path: Path, data: "mmap.mmap | bytes", name: str, shape: list[int], kind: int, begin: int) -> "np.ndarray | Integers":
    what, block, size = _TYPES[kind]
    # NumPy has no array whose sizes, but for those of 0, are larger together; GGML has no more dimensions.
    if len(shape) > 4 or math.prod(max(dim, 1) for dim in shape) > 1 << 47:
        raise FileError(f"'{path}': tensor '{name}' has the sizes {shape}")
    elements_ = math.prod(shape)
    if block > 1 and (len(shape) != 2 or shape[1] % block or not elements_):
        raise FileError(f"'{path}': tensor '{name}' of {what}, {shape}: expected rows of whole blocks of {block}")
    end = begin + elements_ // block * size
    if begin > len(data) or end > len(data):
        raise FileError(f"'{path}': tensor '{name}' is said to lie at bytes {begin} to {end} of {len(data)}")
    stored = np.frombuffer(data, np.uint8, end - begin, begin)
    if what in _FLOATS:
        return stored.view(elements.to_numpy(_FLOATS[what])).reshape(shape)
    blocks = stored.reshape(shape[0], -1, size)
    return {"Q8_0": _q8_0, "Q4_0": _q4_0, "Q4_K": _q4_k, "Q6_K": _q6_k}[what](blocks)


def _halves(blocks: np.ndarray, at: int) -> np.ndarray:
    """The f16 at a byte of each block."""
    return np.ascontiguousarray(blocks[..., at : at + 2]).view(np.float16)[..., 0]


def _q8_0(blocks: np.ndarray) -> Integers:
    """Scale, then 32 bytes with signs."""
    return Integers(np.ascontiguousarray(blocks[..., 2:]).view(np.int8).reshape(len(blocks), -1), 8, _halves(blocks, 0))


def _q4_0(blocks: np.ndarray) -> Integers:
    """Scale, then 16 bytes: in the low halves the first 16 elements, in the high ones the others, each with 8 more."""
    q = np.concatenate([blocks[..., 2:] & 15, blocks[..., 2:] >> 4], -1).astype(np.int8) - np.int8(8)
    return Integers(q.reshape(len(blocks), -1), 4, _halves(blocks, 0))


def _q4_k(blocks: np.ndarray) -> Integers:
    """Two scales d and m; 8 scales s and 8 offsets o of 6 bits; for each of them 32 elements of 4 bits: (d·s)·q - m·o.

    q is 0 to 15 there. It becomes i4, with 8 less, where the offset with 8·(d·s) less is exact in f32, and i8 else."""
    packed = blocks[..., 4:16]
    low, middle, high = packed[..., :4], packed[..., 4:8], packed[..., 8:]
    scales = np.concatenate([low & 63, (high & 15) | (low >> 2 & 48)], -1).astype(np.float32)
    offsets = np.concatenate([middle & 63, (high >> 4) | (middle >> 2 & 48)], -1).astype(np.float32)
    rows = len(blocks)
    scale, offset = (
        (_halves(blocks, at).astype(np.float32)[..., None] * factors).reshape(rows, -1) for at, factors in ((0, scales), (2, offsets))
    )
    bytes_ = blocks[..., 16:].reshape(rows, -1, 4, 1, 32)
    q = np.concatenate([bytes_ & 15, bytes_ >> 4], -2).astype(np.int8).reshape(rows, -1)
    wide, moved = offset.astype(np.float64), offset.astype(np.float64) - 8 * scale.astype(np.float64)
    # Both differences are exact where each gives the other's operand again.
    exact = (moved + 8 * scale.astype(np.float64) == wide) & (wide - moved == 8 * scale.astype(np.float64))
    exact &= (moved.astype(np.float32) == moved) & ~np.signbit(scale)
    if not exact.all():
        return Integers(q, 8, scale, offset=offset)
    # An offset of -0 leaves +0 where 0·q is -0.
    return Integers(q - np.int8(8), 4, scale, offset=np.where(moved == 0, -0.0, moved).astype(np.float32))


def _q6_k(blocks: np.ndarray) -> Integers:
    """The lower 4 bits of 256 elements, each with 32 more, then the upper 2; 16 scales s with signs, and one, d: (d·s)·q."""
    rows = len(blocks)
    low, high = blocks[..., :128].reshape(rows, -1, 2, 64), blocks[..., 128:192].reshape(rows, -1, 2, 32)
    low, high = np.concatenate([low & 15, low >> 4], -1), np.concatenate([high >> shift & 3 for shift in (0, 2, 4, 6)], -1)
    factors = np.ascontiguousarray(blocks[..., 192:208]).view(np.int8).astype(np.float32)
    scale = _halves(blocks, 208).astype(np.float32)[..., None] * factors
    q = (low | high << 4).astype(np.int8) - np.int8(32)
    return Integers(q.reshape(rows, -1), 8, scale.reshape(rows, -1))
