# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What importing and presets answer to bad input: exceptions that carry the exit code of the command line.

from __future__ import annotations

from collections.abc import Mapping, Sequence

from resid_runtime.errors import Error


class ImportFailure(Error):
    """Something about a model or its files is wrong. `code` is the exit code: 1 the model, 2 a flag, 3 a file, 4 not available.
    `nodes` has the nodes that it is about, as far as they are known, and what is wrong with each."""

    code = 1

    def __init__(self, message: str, nodes: "Mapping[str, str] | None" = None) -> None:
        super().__init__(message)
        self.nodes = dict(nodes or {})


class FlagError(ImportFailure):
    """A value that a flag cannot have."""

    code = 2


class ModelError(ImportFailure):
    """The model contradicts itself or the format: a missing value, a wrong shape, a missing field of a configuration."""


class FileError(ImportFailure):
    """A file cannot be read or written, or is not of the format that it should be."""

    code = 3


class Unsupported(ImportFailure):
    """Valid, but not covered. `reasons` has one text for each node that is not."""

    code = 4

    def __init__(self, reasons: Sequence[str] | str, nodes: "Mapping[str, str] | None" = None) -> None:
        self.reasons = [reasons] if isinstance(reasons, str) else list(reasons)
        super().__init__("\n".join(self.reasons), nodes)
