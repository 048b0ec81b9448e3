# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Has the compiler read a program that the importer has written, so that nobody gets one that is refused. What the compiler says of
# a line is said of the node that the line is from.

from __future__ import annotations

import re
from typing import Any

from .emit import Emitter
from .errors import ImportFailure, ModelError


def compiler() -> Any:
    """Raises ImportFailure where the compiler is not installed."""
    try:
        from .. import _compiler
    except ImportError as error:
        raise ImportFailure("checking the program needs the compiler, which this installation of resid lacks") from error
    return _compiler


def verify(text: str, emitter: Emitter) -> None:
    """Raises ModelError, with the node, where the compiler refuses the program. Without a compiler nothing is checked."""
    try:
        compile_text = compiler().compile
    except ImportFailure:
        return
    code, messages, *_ = compile_text(text, "<program>", ["--emit=mlir", "--raise=off", "-o", "program.mlir"])
    if code == 0:
        return
    said = messages.decode(errors="replace").strip()
    found = re.match(r"<program>:(\d+):\d+: (?:error: )?(.*)", said)
    body = text.split("\n").index(emitter.program.lines[0]) + 1 if emitter.program.lines else 0
    node = emitter.at(int(found.group(1)) - body) if found and int(found.group(1)) >= body else ""
    reason = found.group(2) if found else said
    raise ModelError(f"{node + ': ' if node else ''}the compiler refuses what was imported: {reason}")
