# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""resid in JAX: compiled functions as functions of JAX, with resid's own backward.

They run on the CPU, through the XLA FFI: nothing is copied, jit compiles around them, and tasks run on XLA's threads. The
first use builds a small handler with the system's C++ compiler.
"""

from __future__ import annotations

import ctypes
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax.custom_derivatives import SymbolicZero
from resid_runtime.kernel import check_number

from resid import gradients, signatures
from resid.signatures import Signature

from . import build

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i1": np.bool_,
          "u8": np.uint8, "i8": np.int8,
          "i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64}
# Numbers of 64 bits, which JAX does not have by default, and what the handler widens for them.
_WIDE = {"i64": "i", "index": "i", "f64": "f"}
_is_registered = False


def function(kernel: Any, *, forward: Any = None, backward: Any = None, wrt: Sequence[int] | None = None) -> Callable[..., Any]:
    """A function of JAX from a compiled function: arrays for arrays, numbers or arrays without dimensions for scalars.

    It may be used in jax.jit, and takes `[B, S, D]` where the function takes rows `[?, D]`. A 64-bit integer may be given as
    i32, since JAX has no others by default. Where the module was compiled with grad=, jax.grad and jax.vjp use resid's own
    backward; `forward`, `backward` and `wrt` are as in resid.torch.register. The gradient of an argument outside of `wrt` is an
    error, and so is jax.vmap.

    Raises TypeError and ValueError where types and shapes do not fit, when the function is called or traced.
    """
    types = _read(kernel)
    found = gradients.find(kernel, forward, backward, wrt)
    call = _caller(kernel, types)
    differentiable = call if found is None else _differentiable(kernel, call, found)

    def checked(*values: Any) -> Any:
        if len(values) != len(types.arguments):
            raise TypeError(f"{kernel.name}: expected {len(types.arguments)} arguments but got {len(values)}")
        # JAX makes arrays of what it differentiates, and narrow ones of wide numbers.
        return _one_or_all(differentiable(*map(_array, types.arguments, values)))

    return checked


def _read(kernel: Any) -> Signature:
    return signatures.read(kernel.signature)


def _one_or_all(values: tuple) -> Any:
    return values[0] if len(values) == 1 else values


def _name(kernel: Any) -> str:
    """Names the entry of a function for the handler. No other process has this name, so that a program of XLA that was kept
    on disk cannot call an address of a process that is gone."""
    global _is_registered
    library = build.handler()
    if not _is_registered:
        jax.ffi.register_ffi_target("resid_call", jax.ffi.pycapsule(library.resid_jax_call), platform="cpu")
        _is_registered = True
    name = f"{kernel.name}:{uuid.uuid4()}"
    library.resid_jax_add(name.encode(), ctypes.c_void_p(kernel.entry))
    return name


def _caller(kernel: Any, types: Signature) -> Callable[..., tuple]:
    """Calls a compiled function through the XLA FFI; its results are a tuple."""
    name = _name(kernel)
    wide = "".join(_WIDE.get(value.element, "0") if value.sizes is None else "0" for value in types.arguments)

    def call(*arrays: Any) -> tuple:
        shapes = types.shapes([array.shape if argument.sizes is not None else None
                               for argument, array in zip(types.arguments, arrays)])
        results = [jax.ShapeDtypeStruct(result.flat(shape), DTYPES[result.element])
                   for result, shape in zip(types.results, shapes)]
        flat = [array.reshape(argument.flat(array.shape)) if argument.sizes is not None else array
                for argument, array in zip(types.arguments, arrays)]
        # `kernel` is kept alive by this function, and with it the code.
        given = jax.ffi.ffi_call("resid_call", results)(*flat, name=name, wide=wide)
        return tuple(array.reshape(shape) for array, shape in zip(given, shapes))

    return call


def _array(argument: signatures.Value, value: Any) -> jax.Array:
    """An array of the argument's type; only numbers are converted."""
    where, dtype = f"argument '{argument.name}'", np.dtype(DTYPES[argument.element])
    if argument.sizes is not None:
        array = jnp.asarray(value)
        if array.dtype != dtype:
            raise TypeError(f"{where}: expected {dtype} but got {array.dtype}")
        return array
    if np.shape(value):
        raise ValueError(f"{where}: expected a number but its shape is {list(np.shape(value))}")
    if isinstance(value, jax.core.Tracer):
        return _traced(where, argument.element, value)
    if argument.element == "i1" and getattr(value, "dtype", None) == bool:
        value = bool(value)
    check_number(where, argument, value)
    exact = np.asarray(value if dtype.kind in "ib" else float(value)).astype(dtype)
    return jnp.asarray(exact.reshape(1).view(np.uint32) if argument.element in _WIDE else exact)


def _traced(where: str, element: str, value: Any) -> jax.Array:
    """A number whose value is not known yet: its type has to be one of which the argument's type has all values."""
    dtype = np.dtype(DTYPES[element])
    if not np.can_cast(value.dtype, dtype, "safe"):
        raise TypeError(f"{where}: expected a number of {dtype} but got {value.dtype}")
    if element not in _WIDE or value.dtype == dtype:
        return value.astype(dtype)
    if value.dtype == np.uint32:
        return jnp.stack([value, jnp.zeros_like(value)])
    return value.astype(np.float32 if element == "f64" else np.int32)


def _differentiable(kernel: Any, call: Callable, found: gradients.Gradients) -> Callable[..., Any]:
    types, count = _read(kernel), len(kernel.signature.results)
    forward, backward = (_caller(function, _read(function)) for function in (found.forward, found.backward))

    @jax.custom_vjp
    def differentiable(*values: Any) -> tuple:
        return call(*values)

    def run_forward(*values: Any) -> tuple:
        for place, value in enumerate(values):
            if value.perturbed and place not in found.wrt:
                raise TypeError(found.refuse(kernel, place))
        plain = tuple(value.value for value in values)
        given = forward(*plain)
        return given[:count], (plain, given[count:])

    def run_backward(kept: tuple, outer: Any) -> tuple:
        values, saved = kept
        floats = [jnp.zeros(gradient.shape, gradient.dtype) if isinstance(gradient, SymbolicZero) else gradient
                  for gradient, result in zip(outer, types.results) if result.is_float]
        inner = dict(zip(found.wrt, backward(*values, *saved, *floats)))
        return tuple(inner.get(place) for place in range(len(types.arguments)))

    # With symbolic zeros, JAX says which arguments have gradients that somebody asks for.
    differentiable.defvjp(run_forward, run_backward, symbolic_zeros=True)
    return differentiable
