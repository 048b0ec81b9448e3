# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds handler.cpp against the headers of the jaxlib that is installed, once, into a cache of the user, and loads it.

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import jax
import jaxlib

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ("-std=c++17", "-O2", "-DNDEBUG", "-shared", "-fPIC")


def _include() -> pathlib.Path:
    """The folder of resid.h: in the package, or in the source tree."""
    for folder in (HERE.parent / "include", HERE.parents[2] / "runtime"):
        if (folder / "resid.h").exists():
            return folder
    raise FileNotFoundError("resid.jax: expected resid.h beside the package")


def _cache() -> pathlib.Path:
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "resid"


@functools.cache
def handler() -> ctypes.CDLL:
    """The library of the handler. Raises RuntimeError where no C++ compiler is found, or where it refuses the source."""
    source, header = HERE / "handler.cpp", _include() / "resid.h"
    parts = (source.read_bytes(), header.read_bytes(), jaxlib.__version__.encode(), repr(FLAGS).encode())
    key = hashlib.sha256(b"".join(parts)).hexdigest()[:20]
    library = _cache() / f"jax-handler-{key}.so"
    if not library.exists():
        _build(source, header.parent, library)
    return ctypes.CDLL(str(library))


def _build(source: pathlib.Path, include: pathlib.Path, library: pathlib.Path) -> None:
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise RuntimeError("resid.jax: expected a C++ compiler (CXX, c++, g++ or clang++) to build its handler but found none")
    library.parent.mkdir(parents=True, exist_ok=True)
    # A name of its own, renamed when it is whole: several processes may build at a time.
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        made = pathlib.Path(folder) / library.name
        command = [compiler, *FLAGS, "-I", jax.ffi.include_dir(), "-I", str(include), str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"resid.jax: {' '.join(command)}\n{done.stderr}")
        made.replace(library)
