# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An ahead-of-time compiler for the residual stream of Transformers, in this process.

    import resid
    kernels = resid.compile("block.mlir")
    y, s = kernels.add_rms(x, f, gamma)
"""

from typing import TYPE_CHECKING, Any

from resid_runtime import (AliasError, ArgumentError, DTypeError, Error, InternalError, Kernel, LaunchError, LoadError,
                           OutOfMemoryError, PointerError, RangeError, ShapeError, Signature, UnsupportedError,
                           get_threads, set_threads)

from . import cache
from .compiling import Module, compile, load, versions
from .errors import CompileError, UnavailableError

if TYPE_CHECKING:
    from .quantizing import Quantized, quantize

__all__ = ["AliasError", "ArgumentError", "CompileError", "DTypeError", "Error", "InternalError", "Kernel", "LaunchError",
           "LoadError", "Module", "OutOfMemoryError", "PointerError", "Quantized", "RangeError", "ShapeError", "Signature",
           "UnavailableError", "UnsupportedError", "cache", "compile", "get_threads", "load", "quantize", "set_threads", "versions"]


def __getattr__(name: str) -> Any:
    """What needs NumPy, which the rest does without."""
    if name in ("Quantized", "quantize"):
        from . import quantizing

        return getattr(quantizing, name)
    raise AttributeError(f"module 'resid' has no attribute '{name}'")
