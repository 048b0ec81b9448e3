# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Files of weights: safetensors and .npz, read by mapping them and written tensor by tensor. A file is written under another
# name and then renamed, so that a failed run leaves the old one as it was.

from __future__ import annotations

import json
import math
import os
import reprlib
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from . import elements
from .errors import FileError, FlagError

_ALIGNMENT = 64


def write(path: "str | Path", weights: Mapping[str, np.ndarray]) -> None:
    """Writes all arrays under their names, in the format that the suffix says (.safetensors or .npz)."""
    path = check_suffix(path)
    writer = _write_safetensors if path.suffix == ".safetensors" else _write_npz
    replace(path, lambda stream: writer(stream, weights))


def check_suffix(path: "str | Path") -> Path:
    """The path, if its suffix is one of a file of weights."""
    path = Path(path)
    if path.suffix not in (".safetensors", ".npz"):
        raise FlagError(f"'{path}': expected a file of weights that ends in .safetensors or .npz")
    return path


def replace(path: "str | Path", writer: Callable[[IO[bytes]], None]) -> None:
    """Calls `writer` with a stream of its own, which takes the place of `path` once all is written."""
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=path.name + ".", dir=path.parent or Path("."))
    except OSError as error:
        raise FileError(f"'{path}' cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as stream:
            writer(stream)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as error:
        raise FileError(f"'{path}' cannot be written: {error.strerror}") from error
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def _write_safetensors(stream: IO[bytes], weights: Mapping[str, np.ndarray]) -> None:
    header: dict[str, object] = {}
    offset = 0
    # Larger elements first, so that each tensor lies at a multiple of its elements' size; the format has no gaps.
    names = sorted(weights, key=lambda name: (-weights[name].dtype.itemsize, name))
    for name in names:
        array = weights[name]
        # Two integers of 4 bits are a byte; programs have no arrays of bytes.
        dtype = "U8" if array.dtype == np.uint8 else elements.to_safetensors(elements.from_numpy(array.dtype))
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    stream.write(struct.pack("<Q", len(text)) + text)
    for name in names:
        stream.write(np.ascontiguousarray(weights[name]).tobytes())


def _write_npz(stream: IO[bytes], weights: Mapping[str, np.ndarray]) -> None:
    """Stored and not compressed, so that the file can be mapped; bf16 as <u2, like resid-run."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(weights):
            array = np.ascontiguousarray(weights[name])
            if array.dtype.name == "bfloat16":
                array = array.view(np.uint16)
            with archive.open(zipfile.ZipInfo(name + ".npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def nibbles(integers: np.ndarray) -> np.ndarray:
    """Integers from -8 to 7 as an array of i4 is stored: bytes, element 2i in the low half."""
    return (integers[..., ::2] & 15 | integers[..., 1::2] << 4).astype(np.uint8)


def read(path: "str | Path") -> dict[str, np.ndarray]:
    """All tensors of a file. Those of a safetensors file are mapped: what is not read does not leave the disk."""
    path = Path(path)
    if path.suffix == ".npz":
        return read_npz(path)
    header, begin = _open_safetensors(path)
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=0)[begin:]
    return {name: data[first:last].view(dtype).reshape(shape) for name, (dtype, shape, first, last) in header.items()}


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an .npz file."""
    try:
        with open(path, "rb") as stream, np.lib.npyio.NpzFile(stream, allow_pickle=False) as arrays:
            return dict(arrays)
    except OSError as error:
        raise FileError(f"'{path}' cannot be read: {error.strerror or error}") from error
    except (ValueError, EOFError, RuntimeError, OverflowError, struct.error, zipfile.BadZipFile, zlib.error) as error:
        raise FileError(f"'{path}' is no .npz file: {error}") from error


_Header = dict[str, "tuple[np.dtype[Any], list[int], int, int]"]


def _open_safetensors(path: Path) -> tuple[_Header, int]:
    """For each tensor its type, its shape and the bytes from which and to which it lies; and the place of byte 0 in the file."""
    try:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            (length,) = struct.unpack("<Q", stream.read(8).ljust(8, b"\xff"))
            if length > size - 8:
                raise ValueError(f"its header would have {length} bytes, the file has {size}")
            return _check_header(json.loads(stream.read(length)), size - 8 - length), 8 + length
    except OSError as error:
        raise FileError(f"'{path}' cannot be read: {error.strerror}") from error
    except RecursionError:
        raise FileError(f"'{path}' is no safetensors file: expected a header of tensors, but got brackets within brackets") from None
    except ValueError as error:
        raise FileError(f"'{path}' is no safetensors file: {error}") from error


def _check_header(header: object, size: int) -> _Header:
    """Of a file with `size` bytes of numbers. Raises ValueError where the header is wrong."""

    def expect(is_right: bool, what: str, expected: str, got: object) -> None:
        if not is_right:
            raise ValueError(f"{what}: expected {expected}, but got {reprlib.repr(got)}")

    def are_sizes(value: object) -> bool:
        return isinstance(value, list) and all(type(one) is int and 0 <= one < 2**63 for one in value)

    expect(isinstance(header, dict), "header", "an object", header)
    checked: _Header = {}
    for name, entry in header.items() if isinstance(header, dict) else ():
        if name == "__metadata__":
            continue
        what = f"tensor '{name}'"
        expect(isinstance(entry, dict), what, "an object", entry)
        element, shape, offsets = (entry.get(field) for field in ("dtype", "shape", "data_offsets"))
        expect(isinstance(element, str), f"{what}, dtype", "the name of a type", element)
        dtype = elements.to_numpy(elements.from_safetensors(element))
        # NumPy multiplies the sizes that are not 0, too.
        is_shape = are_sizes(shape) and len(shape) <= 32 and math.prod(filter(None, shape)) * dtype.itemsize < 2**63
        expect(is_shape, f"{what}, shape", "a list of sizes", shape)
        is_within = are_sizes(offsets) and len(offsets) == 2 and offsets[0] <= offsets[1] <= size
        expect(is_within, f"{what}, data_offsets", f"two places in {size} bytes", offsets)
        wanted = math.prod(shape) * dtype.itemsize
        expect(offsets[1] - offsets[0] == wanted, f"{what}, data_offsets", f"{wanted} bytes for its shape", offsets)
        checked[name] = (dtype, shape, *offsets)
    return checked
