# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads and calls functions that resid compiled. It has no compiler; the package resid has one."""

from ._caller import get_threads, set_threads
from .errors import (AliasError, ArgumentError, DTypeError, Error, InternalError, LaunchError, LoadError,
                     OutOfMemoryError, PointerError, RangeError, ShapeError, UnsupportedError)
from .kernel import Kernel, Timing
from .library import Module, load
from .signature import Signature, Value

__all__ = ["AliasError", "ArgumentError", "DTypeError", "Error", "InternalError", "Kernel", "LaunchError", "LoadError",
           "Module", "OutOfMemoryError", "PointerError", "RangeError", "ShapeError", "Signature", "UnsupportedError",
           "Timing", "Value", "get_threads", "load", "set_threads"]
