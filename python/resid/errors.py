# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What can go wrong before a call: in a program, in options, or in what this machine can do.

from __future__ import annotations

from resid_runtime import Error, InternalError, UnsupportedError


class CompileError(Error, ValueError):
    """A program or an option is wrong. The text is that of residc: `file:line:col: error: ...`, with the line."""


class UnavailableError(CompileError, UnsupportedError):
    """Valid, but not available for this target, combination of types, or layout."""


def raise_for(code: int, messages: str) -> None:
    """Raises what residc's exit code stands for; 0 is none."""
    text = messages.strip().replace("residc: error: ", "", 1)
    if code == 0:
        return
    if code == 4:
        raise UnavailableError(text)
    if code in (1, 2, 3):
        raise CompileError(text)
    raise InternalError(text or "a stage of the compiler broke its own rules")
