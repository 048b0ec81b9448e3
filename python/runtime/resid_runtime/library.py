# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shared libraries of compiled functions: what the compiler says of them stands after the library in the same file, where
# the system's loader does not look. Libraries of `residc --emit=shared` have none of that, and are read by their symbols.

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import struct
import tempfile
import zlib
from typing import Any, Iterator

from . import _caller, errors
from .kernel import Kernel
from .signature import Signature

# A description ends with its compressed bytes, their number, and this.
_MARK = b"resid-description-1"
_COUNT = struct.Struct("<Q")


def append_description(library: bytes, description: dict[str, Any]) -> bytes:
    """The bytes of a file with both."""
    packed = zlib.compress(json.dumps(description, sort_keys=True).encode())
    return library + packed + _COUNT.pack(len(packed)) + _MARK


def read_description(contents: bytes) -> dict[str, Any] | None:
    """The description at the end of a file; None where there is none. Raises LoadError where it is damaged."""
    if not contents.endswith(_MARK):
        return None
    end = len(contents) - len(_MARK) - _COUNT.size
    try:
        (count,) = _COUNT.unpack_from(contents, end)
        description: dict[str, Any] = json.loads(zlib.decompress(contents[end - count : end]))
        return description
    except (struct.error, zlib.error, ValueError) as error:
        raise errors.LoadError(f"expected the description of a library of resid, but it is damaged: {error}") from None


class _Info(ctypes.Structure):
    """resid_info of resid.h."""

    _fields_ = [("abi_version", ctypes.c_uint32), ("target", ctypes.c_char_p), ("cpu", ctypes.c_char_p),
                ("signature", ctypes.c_char_p)]


def _list_symbols(contents: bytes) -> list[str]:
    """The exported names of a 64-bit ELF file in this machine's byte order."""
    if contents[:6] != b"\x7fELF\x02\x01":
        raise errors.LoadError("expected a shared library (64-bit ELF), but it is another file")
    try:
        (offset,) = struct.unpack_from("<Q", contents, 40)
        size, count = struct.unpack_from("<HH", contents, 58)
        sections = [struct.unpack_from("<IIQQQQIIQQ", contents, offset + i * size) for i in range(count)]
        names = []
        for section in sections:
            if section[1] != 11:  # SHT_DYNSYM
                continue
            strings = sections[section[6]][4]
            for at in range(section[4], section[4] + section[5], 24):
                name, _, _, index = struct.unpack_from("<IBBH", contents, at)
                if index:
                    names.append(contents[strings + name : contents.index(0, strings + name)].decode())
        return names
    except (struct.error, IndexError, ValueError):
        raise errors.LoadError("expected a shared library, but it is damaged") from None


class Module:
    """Compiled functions, as attributes: `module.name(...)`, or `module["name"](...)` where a method has that name.
    Iterating gives the functions."""

    def __init__(self, path: str | os.PathLike[str], contents: bytes | None = None) -> None:
        self._path = pathlib.Path(path).resolve()
        self._contents = self._path.read_bytes() if contents is None else contents
        self._description = read_description(self._contents) or {}
        symbols = _list_symbols(self._contents) if not self._description else []
        _lend_runtime()
        try:
            self._library = _open(self._path, self._contents)
        except OSError as error:
            raise errors.LoadError(f"{self._path}: {error}") from None
        described = {function["symbol"]: Signature.from_description(function)
                     for function in self._description.get("functions", [])}
        names = described or [name.removesuffix("_info") for name in symbols if name.endswith("_info")]
        self._functions = {name: self._make(name, described.get(name)) for name in names}
        if not self._functions:
            raise errors.LoadError(f"{self._path}: expected functions of resid, but it has none")
        # Python finds these without calling __getattr__, which takes as long as a small kernel.
        self.__dict__.update({name: function for name, function in self._functions.items()
                              if name not in self.__dict__ and not hasattr(type(self), name)})

    def _make(self, name: str, signature: Signature | None) -> Kernel:
        info = self._get_info(name)
        if info.abi_version != 1:
            raise errors.LoadError(f"{self._path}: expected version 1 of the C interface but got {info.abi_version}")
        entry = ctypes.cast(self._library[f"{name}_dl"], ctypes.c_void_p).value or 0
        signature = signature or Signature.from_type(name, info.signature.decode())
        return Kernel(self, signature, entry, info.target.decode().startswith(("cuda", "nvptx")))

    def _get_info(self, name: str) -> Any:
        function = self._library[f"{name}_info"]
        function.restype = ctypes.POINTER(_Info)
        return function().contents

    def __reduce__(self) -> Any:
        raise TypeError(f"{self._path}: expected a module that resid.compile made, whose pickle is its program; load the library in "
                        "each process")

    def describe(self, name: str) -> dict[str, Any]:
        """What the compiler says of a function; empty for libraries of `residc --emit=shared`."""
        return next((one for one in self._description.get("functions", []) if one["symbol"] == name), {})

    def compile_flags(self) -> list[str] | None:
        """The options that the module was compiled with, as flags of residc; None where its library does not say."""
        source = self._description.get("source")
        return None if source is None else list(source["flags"])

    def __getattr__(self, name: str) -> Kernel:
        functions = self.__dict__.get("_functions", {})
        raise AttributeError(f"expected one of the functions {', '.join(functions)}, but got '{name}'")

    def __getitem__(self, name: str) -> Kernel:
        return self._functions[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._functions]

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self._functions.values())

    def __repr__(self) -> str:
        return "<resid module\n  " + "\n  ".join(repr(function.signature) for function in self) + ">"

    def report(self) -> str:
        """What was fused, the schedules, and the bytes that are read and written."""
        if "report" not in self._description:
            raise errors.LoadError(f"{self._path}: expected a library that resid.compile made, which has a report")
        return str(self._description["report"])

    def save(self, path: str | os.PathLike[str], header: str | os.PathLike[str] | None = None) -> None:
        """Writes the shared library, and the C header where its path is given. Files are replaced whole."""
        if header is not None and "header" not in self._description:
            raise errors.LoadError(f"{self._path}: expected a library that resid.compile made, which has a header")
        write_file(path, self._contents)
        if header is not None:
            write_file(header, self._description["header"].encode())


def write_file(path: str | os.PathLike[str], contents: bytes) -> None:
    """Writes a temporary file beside `path` and renames it, so that nobody sees a part."""
    target = pathlib.Path(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


# What is loaded, by path: a hash of its contents. Libraries stay loaded until the process ends.
_loaded: dict[pathlib.Path, int] = {}


def _open(path: pathlib.Path, contents: bytes) -> ctypes.CDLL:
    """Loads a library. The system's loader goes by paths: where another file was there when it loaded one from this path, it
    would give the library of then, so a copy is loaded."""
    digest = hash(contents)
    if _loaded.get(path, digest) == digest:
        library = ctypes.CDLL(str(path))
        _loaded[path] = digest
        return library
    with tempfile.NamedTemporaryFile(suffix=".so") as copy:
        copy.write(contents)
        copy.flush()
        return ctypes.CDLL(copy.name)


_lent: list[Any] = []


def _lend_runtime() -> None:
    """Functions for GPUs import those of the runtime, which the caller's module has."""
    if not _lent:
        _lent.append(ctypes.CDLL(_caller.__file__, ctypes.RTLD_GLOBAL))


def load(path: str | os.PathLike[str]) -> Module:
    """Loads a shared library that `Module.save` or `residc --emit=shared` wrote. Raises LoadError and OSError.

    Names of arguments, the report and the header are known of the former alone.
    """
    return Module(path)
