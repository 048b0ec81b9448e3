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

from resid import signatures
from resid.signatures import Signature

from . import build

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i1": np.bool_, "i8": np.int8,
          "i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64}
_is_registered = False


def function(kernel: Any, *, forward: Any = None, backward: Any = None, wrt: Sequence[int] | None = None) -> Callable[..., Any]:
    """A function of JAX from a compiled function: arrays for arrays, numbers or arrays without dimensions for scalars.

    It may be used in jax.jit, and takes `[B, S, D]` where the function takes rows `[?, D]`. A 64-bit integer may be given as
    i32, since JAX has no others by default. Where the module was compiled with grad=, jax.grad and jax.vjp use resid's own
    backward; `forward`, `backward` and `wrt` are as in resid.torch.register. jax.vmap is an error of JAX.

    Raises TypeError and ValueError where types and shapes do not fit, when the function is called or traced.
    """
    types = _read(kernel)
    forward, backward = forward or _sibling(kernel, "forward"), backward or _sibling(kernel, "backward")
    call = _caller(kernel, types)
    if forward is None:
        return lambda *values: _one_or_all(call(*values))
    return _differentiable(types, call, _caller(forward, _read(forward)), _caller(backward, _read(backward)), wrt)


def _sibling(kernel: Any, suffix: str) -> Any:
    return getattr(kernel.module, f"{kernel.name}_{suffix}", None)


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
    wide = "".join("1" if value.element in ("i64", "index") and not value.sizes else "0" for value in types.arguments)

    def call(*values: Any) -> tuple:
        if len(values) != len(types.arguments):
            raise TypeError(f"{kernel.name}: expected {len(types.arguments)} arguments but got {len(values)}")
        arrays = [_array(argument, value) for argument, value in zip(types.arguments, values)]
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
    if argument.sizes is not None:
        array = jnp.asarray(value)
        if array.dtype != DTYPES[argument.element]:
            raise TypeError(f"argument '{argument.name}': expected {np.dtype(DTYPES[argument.element])} but got {array.dtype}")
        return array
    if argument.element in ("i64", "index"):
        array = jnp.asarray(value)
        if array.dtype not in (np.int32, np.int64):
            raise TypeError(f"argument '{argument.name}': expected an integer but got {array.dtype}")
    else:
        array = jnp.asarray(value, DTYPES[argument.element])
    if array.shape:
        raise ValueError(f"argument '{argument.name}': expected a number but its shape is {list(array.shape)}")
    return array


def _differentiable(types: Signature, call: Callable, forward: Callable, backward: Callable,
                    wrt: Sequence[int] | None) -> Callable[..., Any]:
    places = list(wrt) if wrt is not None else [place for place, value in enumerate(types.arguments) if value.is_float]
    count = len(types.results)

    @jax.custom_vjp
    def differentiable(*values: Any) -> Any:
        return _one_or_all(call(*values))

    def run_forward(*values: Any) -> tuple:
        given = forward(*values)
        return _one_or_all(given[:count]), (values, given[count:])

    def run_backward(kept: tuple, outer: Any) -> tuple:
        values, saved = kept
        outer = (outer,) if count == 1 else outer
        floats = [gradient for gradient, result in zip(outer, types.results) if result.is_float]
        inner = dict(zip(places, backward(*values, *saved, *floats)))
        return tuple(inner.get(place) for place in range(len(types.arguments)))

    differentiable.defvjp(run_forward, run_backward)
    return differentiable
