# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A compiled function as users call it. The call itself is compiled (_caller); here is what surrounds it: attributes, new
# arrays of kinds that it does not make, and what to say where a call does not fit.

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import statistics
import time
from typing import TYPE_CHECKING, Any, Sequence

from . import errors, overlaps
from ._caller import Function
from .signature import ELEMENTS, Signature, Value, check_rows

if TYPE_CHECKING:
    from .library import Module

# From which magnitude on a number is infinite, once it is rounded to a type.
_LIMITS = {"f16": 65520.0, "bf16": 2.0**128 * (1 - 2.0**-9), "f32": 2.0**128 * (1 - 2.0**-25), "f64": math.inf}


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def _dtype(element: str) -> Any:
    """The element type as NumPy has it, or None. bf16 is uint16, where no argument has the type of ml_dtypes."""
    numpy = _numpy()
    if numpy is None:
        return None
    if element == "bf16":
        return numpy.dtype("uint16")
    names = {"f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool", "index": "int64"}
    return numpy.dtype(names.get(element, element.replace("i", "int")))


def _describe_value(value: Value, rows_like: int = -1) -> tuple[int, int, tuple[int, ...] | None, int]:
    sizes = None if value.sizes is None else tuple(-1 if size is None else size for size in value.sizes)
    return (*ELEMENTS[value.element], sizes, rows_like)


def _rows_of(value: Value, sizes: Sequence[Any], signature: Signature) -> int:
    """The argument whose rows a result has, or -1."""
    source = sizes[0] if value.takes_rows else None
    return source[0] if isinstance(source, tuple) and source[1] == 0 and signature.arguments[source[0]].takes_rows else -1


def _find_sources(sizes: Sequence[Any]) -> tuple[Any, ...] | None:
    """What the compiled caller needs for the shape of a new array; None where that is for Python."""
    return tuple(sizes) if all(isinstance(size, (int, tuple)) for size in sizes) else None


@dataclasses.dataclass(frozen=True)
class Timing:
    """Seconds of one call: the median of `calls`, and the lower and the upper quartile."""

    median: float
    lower: float
    upper: float
    calls: int

    def __str__(self) -> str:
        return f"{self.median * 1e6:.1f} us ({self.lower * 1e6:.1f} to {self.upper * 1e6:.1f} in half of {self.calls} calls)"


class _CallSignature:
    """What inspect.signature and notebooks show of a compiled function; the class itself has none."""

    def __get__(self, kernel: Kernel | None, owner: type) -> inspect.Signature:
        if kernel is None:
            raise AttributeError("__signature__")
        names = [re.sub(r"\W", "_", value.name) for value in kernel.signature.arguments]
        given = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
        options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in ("out", "threads", "stream")]
        return inspect.Signature([*given, *options])


class Kernel(Function):
    """A compiled function.

    Call it with one object per argument: arrays of NumPy, PyTorch, JAX or anything with `__dlpack__`, and numbers. Nothing
    is copied. It returns the results: one, or a tuple. They are new arrays of the library that the first array is from (of
    NumPy where that makes none), or those of `out`.

    Keyword arguments:
      out: an array, or a tuple or list with one for each result, to write to. It may be exactly an argument where the header of the
        function says so.
      threads: how many threads run the call; 0: one for each processor. By default `get_threads()`.
      stream: for functions on GPUs, the address of the stream (`torch.cuda.current_stream().cuda_stream`).

    Rows `[?, D]` may come with more leading dimensions, such as `[B, S, D]`; results have them too. bf16 comes from
    PyTorch, from ml_dtypes, or as uint16, and results of it are like the arguments.

    Raises: ArgumentError, DTypeError, ShapeError, RangeError, AliasError, which name the argument and both sides;
    UnsupportedError, OutOfMemoryError, LaunchError.
    """

    __signature__ = _CallSignature()

    def __new__(cls, module: Module, signature: Signature, entry: int, is_for_device: bool) -> Kernel:
        return super().__new__(cls)

    def __init__(self, module: Module, signature: Signature, entry: int, is_for_device: bool) -> None:
        numpy = _numpy()
        results = tuple((_describe_value(value, _rows_of(value, sizes, signature)), _find_sources(sizes), _dtype(value.element))
                        for value, sizes in zip(signature.results, signature.result_sizes))
        rows_like = signature.rows_like or (-1,) * len(signature.arguments)
        super().__init__(entry, module._library, tuple(map(_describe_value, signature.arguments, rows_like)), results,
                         numpy.empty if numpy else None, is_for_device)
        self.module = module
        self.is_for_device = is_for_device
        self.signature = signature
        self.name = signature.name
        self.entry = entry  # The address of its DLPack entry, for callers in other languages.

    def __repr__(self) -> str:
        return f"<resid function {self.signature!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles are those of the module, with the name."""
        return _find, (self.module, self.name)

    def benchmark(self, *arguments: Any, seconds: float = 0.5, threads: int | None = None) -> Timing:
        """Times calls with these arguments for so many seconds, and at least five calls, after one that makes the results. What
        the calls write are these. Raises what a call raises, and UnsupportedError for functions on GPUs."""
        if self.is_for_device:
            raise errors.UnsupportedError(f"{self.name}: benchmark times functions on CPUs; one on a GPU only enqueues work")
        if not 0 < seconds < math.inf:
            raise errors.RangeError(f"argument 'seconds': expected a number above 0 but got {seconds}")
        out, times = self(*arguments, threads=threads), list[float]()
        end = time.perf_counter() + seconds
        while len(times) < 5 or time.perf_counter() < end:
            start = time.perf_counter()
            self(*arguments, out=out, threads=threads)
            times.append(time.perf_counter() - start)
        lower, median, upper = statistics.quantiles(times, n=4)
        return Timing(median, lower, upper, len(times))

    # Called by the compiled caller.

    def _make(self, number: int) -> Any:
        value = self.signature.results[number]
        raise errors.ShapeError(f"result '{value.name}': expected out=, since its sizes are not known from those of the "
                                f"arguments ({value.describe()})")

    def _explain(self, status: int, given: tuple[Any, ...], out: Any, cause: BaseException | None) -> None:
        """Raises what says best why a call did not run."""
        if isinstance(cause, (errors.Error, MemoryError)):
            raise cause
        arguments, results = self.signature.arguments, self.signature.results
        if len(given) != len(arguments):
            names = ", ".join(value.name for value in arguments)
            raise errors.ArgumentError(f"{self.name}: expected {len(arguments)} arguments ({names}) but got {len(given)}")
        written = () if out is None else tuple(out) if isinstance(out, (tuple, list)) else (out,)
        if out is not None and len(written) != len(results):
            raise errors.ArgumentError(f"{self.name}: argument 'out': expected {len(results)} arrays but got {len(written)}")
        known: dict[str, tuple[int, str]] = {}
        for place, (value, object_) in enumerate(zip(arguments, given)):
            self._check(f"argument '{value.name}'", value, object_, place, known)
        for value, object_, like in zip(arguments, given, self.signature.rows_like):
            if like >= 0:
                check_rows(f"argument '{value.name}'", value, object_.shape, arguments[like], given[like].shape)
        for value, object_, sizes in zip(results, written, self.signature.result_sizes):
            self._check_result(f"result '{value.name}'", value, object_, sizes, given)
        if cause is not None:
            # PyTorch's own texts go on with the stack of its functions.
            text = str(cause).partition("\nException raised from")[0]
            raise errors.ArgumentError(f"{self.name}: {text}") from cause
        error, text = errors.BY_STATUS.get(status, (errors.InternalError, f"status {status}"))
        raise error(f"{self.name}: {text}{self._describe_values(error, given, written)}; expected {self.signature!r}")

    def _describe_values(self, error: type[errors.Error], given: Sequence[Any], written: Sequence[Any]) -> str:
        """What was given, as far as it may be what the function refused."""
        arguments, results = self.signature.arguments, self.signature.results
        if error is errors.RangeError:
            numbers = [f"{value.name} is {object_}" for value, object_ in zip(arguments, given) if value.sizes is None]
            return f" ({', '.join(numbers)})" if numbers else ""
        if error is errors.AliasError:
            found = overlaps.describe([(f"argument '{value.name}'", object_) for value, object_ in zip(arguments, given)],
                                      [(f"result '{value.name}'", object_) for value, object_ in zip(results, written)])
            return f" ({found})" if found else ""
        return ""

    def _check(self, where: str, value: Value, object_: Any, place: int, known: dict[str, tuple[int, str]]) -> None:
        if value.sizes is None:
            return check_number(where, value, object_)
        shape = _check_array(where, value, object_)
        extra = len(shape) - len(value.sizes)
        for dimension, size in enumerate(value.sizes):
            got = math.prod(shape[: extra + 1]) if dimension == 0 and extra else shape[dimension + extra]
            at = dimension + extra if dimension else 0
            if size is not None and got != size:
                raise errors.ShapeError(f"{where}: dimension {at} is {got}, expected {size}")
            if size is None:
                self._check_open(where, value, place, dimension, at, got, known)

    def _check_open(self, where: str, value: Value, place: int, dimension: int, at: int, got: int,
                    known: dict[str, tuple[int, str]]) -> None:
        """An open size that has to be that of an argument before."""
        expected = self._shared.get((place, dimension))
        if expected is None:
            return
        if expected[0] == "fixed" and got != expected[1]:
            raise errors.ShapeError(f"{where}: dimension {at} is {got}, expected {expected[1]}")
        if expected[0] == "same":
            before = known.get(expected[1])
            if before and before[0] != got:
                raise errors.ShapeError(f"{where}: dimension {at} is {got}, expected {before[0]} (that of '{before[1]}')")
            known.setdefault(expected[1], (got, value.name))

    @property
    def _shared(self) -> dict[tuple[int, int], tuple[str, Any]]:
        found: dict[tuple[int, int], tuple[str, Any]] = {}
        for size in self.module.describe(self.name).get("sizes", []):
            fixed = size.get("fixed")
            found[size["argument"], size["dimension"]] = ("same", size["same_as"]) if fixed is None else ("fixed", fixed)
        return found

    def _check_result(self, where: str, value: Value, object_: Any, sizes: Sequence[Any], given: tuple[Any, ...]) -> None:
        shape = _check_array(where, value, object_)
        if _is_read_only(object_):
            raise errors.ArgumentError(f"{where}: expected an array that can be written, but it is read-only")
        if getattr(object_, "requires_grad", False):
            raise errors.ArgumentError(f"{where}: expected a tensor that requires no gradient to write to; hand over .detach()")
        extra = len(shape) - len(value.sizes or ())
        for dimension, size in enumerate(sizes):
            got = math.prod(shape[: extra + 1]) if dimension == 0 and extra else shape[dimension + extra]
            expected, whose = size, ""
            if isinstance(size, tuple):
                source = self.signature.arguments[size[0]]
                full = tuple(given[size[0]].shape)
                more = len(full) - len(source.sizes or ())
                expected = math.prod(full[: more + 1]) if size[1] == 0 else full[size[1] + more]
                whose = f" (that of '{source.name}')"
            if isinstance(expected, int) and got != expected:
                raise errors.ShapeError(f"{where}: dimension {dimension + extra if dimension else 0} is {got}, expected {expected}{whose}")
        like = _rows_of(value, sizes, self.signature)
        if like >= 0:
            check_rows(where, value, shape, self.signature.arguments[like], given[like].shape)


def _find(module: Module, name: str) -> Kernel:
    return module[name]


def check_number(where: str, value: Value, object_: Any) -> None:
    """Raises ArgumentError where an object is no number of the value's kind, and RangeError where it does not fit."""
    is_float = value.element in ("f16", "bf16", "f32", "f64")
    if getattr(object_, "ndim", 0):
        raise errors.ArgumentError(f"{where}: expected a number of {value.element} but its shape is {list(object_.shape)}")
    try:
        # float() reads texts too.
        number = (object_.__float__() if hasattr(object_, "__float__") else object_.__index__()) if is_float else object_.__index__()
    except OverflowError:
        raise errors.RangeError(f"{where}: expected a number of {value.element} but got {object_}") from None
    except (TypeError, ValueError, AttributeError):
        raise errors.ArgumentError(f"{where}: expected a number of {value.element} but got {type(object_).__name__}") from None
    if is_float and math.isfinite(number) and abs(number) >= _LIMITS[value.element]:
        raise errors.RangeError(f"{where}: expected a number of {value.element} but got {number}")
    bits = ELEMENTS[value.element][1]
    low, high = (0, 1) if value.element == "i1" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not is_float and not low <= number <= high:
        raise errors.RangeError(f"{where}: expected a number of {value.element} but got {number}")


def _element_of(object_: Any) -> str:
    """The element type of an array in the words of MLIR, as far as it has one."""
    text = str(object_.dtype).rpartition(".")[2]
    text = {"bool": "i1", "bfloat16": "bf16"}.get(text, text)
    return re.sub(r"^(float|int|uint)(?=\d)", lambda kind: {"float": "f", "int": "i", "uint": "u"}[kind[1]], text)


def _check_array(where: str, value: Value, object_: Any) -> tuple[int, ...]:
    """The shape of an array whose elements and number of dimensions fit."""
    if not hasattr(object_, "shape") or not hasattr(object_, "dtype"):
        raise errors.ArgumentError(f"{where}: expected an array of {value.describe()} but got {type(object_).__name__}")
    shape, element = tuple(object_.shape), _element_of(object_)
    expected = {"index": "i64"}.get(value.element, value.element)
    if element != expected and (expected, element) not in (("bf16", "u16"), ("bf16", "V2")):
        raise errors.DTypeError(f"{where}: expected elements of {expected} but got {element}")
    rank = len(value.sizes or ())
    if len(shape) < rank or (len(shape) > rank and not value.takes_rows):
        raise errors.ShapeError(f"{where}: expected {rank} dimensions ({value.describe()}) but its shape is {shape}")
    if not _is_contiguous(object_[(0,) * (len(shape) - 1)] if value.is_strided and 0 not in shape else object_):
        raise errors.ShapeError(f"{where}: expected an array without gaps between elements; make a contiguous copy")
    return shape


def _is_contiguous(object_: Any) -> bool:
    if hasattr(object_, "is_contiguous"):
        return bool(object_.is_contiguous())
    flags = getattr(object_, "flags", None)
    return True if flags is None else bool(flags["C_CONTIGUOUS"])


def _is_read_only(object_: Any) -> bool:
    flags = getattr(object_, "flags", None)
    return flags is not None and not flags["WRITEABLE"]
