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


# The statuses of resid.h: the exception that stands for each, and what it says where a function tells nothing more.
BY_STATUS = {-1: (PointerError, "an array has no memory"),
             -2: (ShapeError, "sizes do not fit"),
             -3: (DTypeError, "element types do not fit"),
             -4: (RangeError, "a value is out of range"),
             -5: (AliasError, "a result overlaps another array"),
             -6: (UnsupportedError, "the processor, the device or the layout of an array is not supported"),
             -7: (OutOfMemoryError, "memory is short"),
             -8: (UnsupportedError, "there is no CUDA driver or device"),
             -9: (LaunchError, "the device refused to run a kernel"),
             -10: (UnsupportedError, "the driver is too old"),
             -11: (InternalError, "an internal error")}
