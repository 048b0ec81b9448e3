# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# register: makes an op of PyTorch from a compiled function, with shapes for tracing and with resid's own backward.

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import torch
from resid_runtime.kernel import check_number
from torch import Tensor

import resid
from resid import gradients, signatures
from resid.gradients import Gradients
from resid.signatures import Signature

from . import engine

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "i1": torch.bool,
          "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "index": torch.int64}
_libraries: dict[str, torch.library.Library] = {}


def register(kernel: Any, name: str, *, forward: Any = None, backward: Any = None,
             wrt: Sequence[int] | None = None) -> torch._ops.OpOverload:
    """Makes the op `name` ("namespace::name") from a compiled function, and returns it (torch.ops.namespace.name).

    The op takes tensors for arrays and numbers for scalars, makes non-contiguous tensors contiguous, takes `[B, S, D]` where
    the function takes rows `[?, D]`, and gives new tensors. It traces with torch.compile and torch.export, for open sizes too.

    `forward` and `backward` are the functions that the compiler makes with grad=: by default those of the module that the
    function is from, if it has them. `wrt` are the arguments that backward gives gradients of, counted from 0, in the order
    of its results; by default those that the compiler was told. Another argument that requires a gradient is an error when
    the op is called.

    Raises ValueError where the name is not "namespace::name" or is taken, or where forward and backward do not fit.
    """
    namespace, separator, base = name.partition("::")
    if not (separator and namespace.isidentifier() and base.isidentifier()):
        raise ValueError(f"argument 'name': expected 'namespace::name' but got {name!r}")
    if hasattr(getattr(torch.ops, namespace), base):
        raise ValueError(f"argument 'name': the op {name} is registered already")
    found = gradients.find(kernel, forward, backward, wrt)
    library = _libraries.setdefault(namespace, torch.library.Library(namespace, "FRAGMENT"))
    op = _define(library, name, kernel, _read(kernel))
    ops = [] if found is None else [_define(library, f"{name}_{suffix}", function, _read(function))
                                    for suffix, function in (("forward", found.forward), ("backward", found.backward))]
    library.impl(base, _autograd(op, kernel, found, *ops), "Autograd")
    return op


_names: dict[str, str] = {}


def op_of(text: str, function: str, wrt: Sequence[int] | None = None) -> str:
    """The name of the op of torch.ops.resid of a program, with gradients. It is compiled once in a process."""
    if text not in _names:
        name = f"{function}_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
        register(getattr(resid.compile(text, grad=function, wrt=wrt, quiet=True), function), f"resid::{name}")
        _names[text] = name
    return _names[text]


def _read(kernel: Any) -> Signature:
    return signatures.read(kernel.signature)


def _flat(value: signatures.Value, tensor: Tensor) -> Tensor:
    """A contiguous tensor with its leading dimensions as one, where the function takes rows."""
    return tensor.contiguous().view(value.flat(tensor.shape))


def _check_number(argument: signatures.Value, value: Any) -> None:
    """A number while tracing has no value, but it has a kind."""
    if isinstance(value, torch.SymFloat) and argument.element not in ("f16", "bf16", "f32", "f64"):
        raise TypeError(f"argument '{argument.name}': expected a number of {argument.element} but got a float")
    if not isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        check_number(f"argument '{argument.name}'", argument, value)


def _define(library: torch.library.Library, name: str, kernel: Any, types: Signature) -> torch._ops.OpOverload:
    """The op of one compiled function, without gradients."""
    namespace, base = name.split("::")
    library.define(types.schema(base))

    def make_results(values: Sequence[Any]) -> list[Tensor]:
        for argument, value in zip(types.arguments, values):
            if argument.sizes is None:
                _check_number(argument, value)
            elif value.dtype != DTYPES[argument.element]:
                raise TypeError(f"argument '{argument.name}': expected {DTYPES[argument.element]} but got {value.dtype}")
        shapes = types.shapes([value.shape if isinstance(value, Tensor) else None for value in values])
        device = next((value.device for value in values if isinstance(value, Tensor) and value.dim()), "cpu")
        return [torch.empty(shape, dtype=DTYPES[result.element], device=device)
                for result, shape in zip(types.results, shapes)]

    def call(*values: Any) -> Any:
        results = make_results(values)
        arguments = [value if argument.sizes is None else _flat(argument, value)
                     for argument, value in zip(types.arguments, values)]
        written = tuple(_flat(result, tensor) for result, tensor in zip(types.results, results))
        options = {"threads": torch.get_num_threads()}
        if results[0].is_cuda:
            options = {"stream": torch.cuda.current_stream(results[0].device).cuda_stream}
        kernel(*arguments, out=written, **options)
        return results[0] if len(results) == 1 else tuple(results)

    def fake(*values: Any) -> Any:
        results = make_results(values)
        return results[0] if len(results) == 1 else tuple(results)

    def refuse_vmap(info: Any, in_dims: Any, *values: Any) -> Any:
        raise NotImplementedError(f"{name} is not mapped by vmap; call it on the batch where it takes rows")

    for device in ("CPU", "CUDA"):
        library.impl(base, call, device)
    torch.library.register_fake(name, fake, lib=library)
    torch.library.register_vmap(name, refuse_vmap, lib=library)
    return getattr(getattr(torch.ops, namespace), base).default


def _autograd(op: torch._ops.OpOverload, kernel: Any, found: Gradients | None, *ops: torch._ops.OpOverload) -> Any:
    """What the op does where autograd listens: the op of forward with what it saves, or the op alone."""
    types = _read(kernel)

    class Differentiated(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *values: Any) -> Any:
            with torch._C._AutoDispatchBelowAutograd():
                given = ops[0](*values)
            given = (given,) if isinstance(given, Tensor) else given
            results, saved = given[: len(types.results)], given[len(types.results) :]
            ctx.mark_non_differentiable(*(result for result, type_ in zip(results, types.results) if not type_.is_float))
            tensors = [value if isinstance(value, Tensor) else None for value in values]
            ctx.numbers = [None if isinstance(value, Tensor) else value for value in values]
            ctx.save_for_backward(*tensors, *saved)
            return results[0] if len(results) == 1 else results

        @staticmethod
        def backward(ctx: Any, *outer: Any) -> Any:
            engine.refuse_second_gradient(op.name())
            tensors, count = ctx.saved_tensors, len(types.arguments)
            values = [number if tensor is None else tensor for tensor, number in zip(tensors[:count], ctx.numbers)]
            outer = [gradient for gradient, type_ in zip(outer, types.results) if type_.is_float]
            inner = ops[1](*values, *tensors[count:], *outer)
            inner = dict(zip(found.wrt, (inner,) if isinstance(inner, Tensor) else inner))
            return tuple(inner.get(place) if needed else None for place, needed in enumerate(ctx.needs_input_grad))

    def call(*values: Any) -> Any:
        needed = [place for place, value in enumerate(values) if isinstance(value, Tensor) and value.requires_grad]
        if torch.is_grad_enabled() and needed:
            if found is None:
                raise RuntimeError(f"{op.name()}: an argument requires a gradient, but the function was compiled without grad=")
            for place in needed:
                if place not in found.wrt:
                    raise RuntimeError(found.refuse(kernel, place))
            return Differentiated.apply(*values)
        with torch._C._AutoDispatchBelowAutograd():
            return op(*values)

    return call
