# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What can go wrong in a call, as exceptions. Each is also one of Python's own, so that programs need not know resid's.

from __future__ import annotations


class Error(Exception):
    """The base of all exceptions of resid."""


class ArgumentError(Error, TypeError):
    """Another number of arguments or results, or an object that is no array where one is expected."""


class DTypeError(Error, TypeError):
    """Elements of another type."""


class ShapeError(Error, ValueError):
    """Another number of dimensions, another size, or gaps between elements."""


class RangeError(Error, ValueError):
    """A value that the function does not take, such as a negative row of dropout's origin."""


class AliasError(Error, ValueError):
    """A result that overlaps an argument or another result, where it may not."""


class PointerError(Error, ValueError):
    """An array without memory."""


class UnsupportedError(Error, RuntimeError):
    """A processor, a device or a driver that cannot run the function, or that is not there."""


class OutOfMemoryError(Error, MemoryError):
    """Memory is short."""


class LaunchError(Error, RuntimeError):
    """A device refused to run a kernel."""


class LoadError(Error, OSError):
    """A file that is no library of compiled functions."""


class InternalError(Error, RuntimeError):
    """A mistake in resid itself."""


# The statuses of resid.h.
BY_STATUS = {-1: PointerError, -2: ShapeError, -3: DTypeError, -4: RangeError, -5: AliasError, -6: UnsupportedError,
             -7: OutOfMemoryError, -8: UnsupportedError, -9: LaunchError, -10: UnsupportedError, -11: InternalError}
TEXTS = {-1: "an array has no memory", -2: "sizes do not fit", -3: "element types do not fit",
         -4: "a value is out of range", -5: "a result overlaps another array",
         -6: "the processor, the device or the layout of an array is not supported", -7: "memory is short",
         -8: "there is no CUDA driver or device", -9: "the device refused to run a kernel",
         -10: "the driver is too old", -11: "an internal error"}
