# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiled libraries on disk, per user. An entry is one file with its own check sum, written under another name and renamed:
# several processes may write the same one, and a damaged one counts as absent.

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import platform
import stat
import time

_MARK = b"resid-cache-1\n"
# What the entries may take together where RESID_CACHE_BYTES does not say otherwise: some ten thousand kernels.
_MOST_BYTES = 256 << 20
# An entry counts as used on a day, so that reading it seldom writes to the disk.
_DAY = 24 * 60 * 60
# One in so many new entries looks at the size of the folder.
_TRIM_EVERY = 32


def folder() -> pathlib.Path:
    """Where entries are: RESID_CACHE, else resid/ in XDG_CACHE_HOME or ~/.cache. RuntimeError for users without a home."""
    chosen = os.environ.get("RESID_CACHE")
    if chosen:
        return pathlib.Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "resid"


@functools.cache
def _machine() -> str:
    """What code for `native` depends on, without asking LLVM: the kind of processor and what it can do."""
    wanted = ("vendor_id", "cpu family", "model\t", "model name", "stepping", "flags", "CPU implementer", "CPU part", "Features")
    lines = []
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if not line.strip():
                    break
                if line.startswith(wanted):
                    lines.append(line)
    except OSError:
        pass
    return platform.machine() + "".join(lines)


@functools.cache
def _compiler() -> str:
    """Which compiler this is: its module changes with each build."""
    from importlib.util import find_spec

    spec = find_spec("resid._compiler")
    if spec is None or spec.origin is None:
        return "none"
    about = os.stat(spec.origin)
    return f"{spec.origin} {about.st_size} {about.st_mtime_ns}"


def key(text: str, flags: list[str]) -> str:
    """The name of the entry for a program and its flags, on this machine and by this compiler."""
    digest = hashlib.sha256()
    for part in (_compiler(), _machine(), *flags, text):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part.encode())
    return digest.hexdigest()[:40]


def find(name: str) -> tuple[pathlib.Path, bytes] | None:
    """The file of an entry, and the library that it begins with; None where it is absent, damaged, or of somebody else."""
    try:
        path = folder() / f"{name}.so"
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            # Code of others does not run, wherever the folder is.
            if about.st_uid not in (0, os.geteuid()) or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return None
            contents = file.read()
            if time.time() - about.st_mtime > _DAY and about.st_uid == os.geteuid():
                os.utime(file.fileno())
    except (OSError, RuntimeError):
        return None
    end = len(contents) - len(_MARK) - 32
    if end <= 0 or not contents.endswith(_MARK) or hashlib.sha256(contents[:end]).digest() != contents[end : end + 32]:
        return None
    return path, contents[:end]


def _most_bytes() -> int:
    text = os.environ.get("RESID_CACHE_BYTES", "")
    if not text:
        return _MOST_BYTES
    if not text.isdecimal():
        from resid_runtime import Error

        raise Error(f"RESID_CACHE_BYTES: expected a number of bytes, but got '{text}'")
    return int(text)


def keep(name: str, library: bytes) -> pathlib.Path | None:
    """Writes an entry and gives its file; None where the folder cannot be written."""
    from resid_runtime.library import write_file

    most = _most_bytes()
    try:
        path = folder() / f"{name}.so"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(path, library + hashlib.sha256(library).digest() + _MARK)
        if int(name[:8], 16) % _TRIM_EVERY == 0:
            trim(most)
    except (OSError, RuntimeError):
        return None
    return path


def trim(most_bytes: int | None = None) -> int:
    """Removes the entries that were not used for longest until the rest takes at most `most_bytes`, and says how many it
    removed. Default: RESID_CACHE_BYTES, else 256 MiB. Libraries that are loaded stay usable. New entries call it, one in
    thirty-two."""
    most = _most_bytes() if most_bytes is None else most_bytes
    entries = []
    for path in folder().glob("*.so"):
        try:
            about = path.stat()
        except OSError:
            continue  # another process removed it
        entries.append((about.st_mtime_ns, about.st_size, path))
    total, removed = sum(size for _, size, _ in entries), 0
    for _, size, path in sorted(entries, key=lambda entry: entry[0]):
        if total <= most:
            break
        path.unlink(missing_ok=True)
        total, removed = total - size, removed + 1
    return removed


def clear() -> int:
    """Removes all entries, and says how many there were. Libraries that are loaded stay usable."""
    count = 0
    for path in folder().glob("*.so"):
        path.unlink(missing_ok=True)
        count += 1
    return count
