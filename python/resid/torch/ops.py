# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The ops of PyTorch after the modules and after optimize: resid::add_norm and resid::dropout, with shapes for tracing and
# with their gradients. Each is one compiled kernel, and so is its backward.

from __future__ import annotations

import functools
import math
from typing import Any

import torch
from torch import Tensor

import resid

from . import engine, programs

_library = torch.library.Library("resid", "FRAGMENT")
_CHAIN = "str norm, float epsilon, float p, int row, int site, float skip_scale, float branch_scale"

_library.define(
    "add_norm(Tensor x, Tensor? f, Tensor? branch_bias, Tensor? weight, Tensor? bias, Tensor? state, "
    f"{_CHAIN}, bool keep_sum) -> (Tensor y, Tensor sum, Tensor mean, Tensor correction, Tensor rstd)")
_library.define(
    "add_norm_backward(Tensor? dy, Tensor? dsum, Tensor? s, Tensor? mean, Tensor? correction, Tensor? rstd, "
    f"Tensor? weight, Tensor? state, {_CHAIN}, ScalarType? branch, ScalarType? branch_bias, ScalarType? bias, "
    "bool[] needs) -> (Tensor dx, Tensor df, Tensor dbranch_bias, Tensor dweight, Tensor dbias)")
_library.define("quantized_linear(Tensor x, Tensor panels, Tensor scale, Tensor? bias, ScalarType weight, str scheme) -> Tensor")
_library.define("dropout(Tensor x, Tensor state, float p, int row, int site) -> Tensor")


def _rows(tensor: Tensor, width: int) -> Tensor:
    """The rows of a contiguous tensor, its leading dimensions flattened."""
    return tensor.contiguous().view(tensor.numel() // width if width else 0, width)


def _width(x: Tensor, weight: Tensor | None) -> int:
    """The elements of a row: those of the last dimension, or of all that the weight has."""
    rank = weight.dim() if weight is not None else 1
    if rank > x.dim() or (weight is not None and x.shape[x.dim() - rank :] != weight.shape):
        raise ValueError(f"argument 'weight': its shape is {list(weight.shape)}, expected that of the last dimensions of "
                         f"'x', which is {list(x.shape)}")
    width = math.prod(x.shape[x.dim() - rank :])
    if width == 0:
        raise ValueError(f"argument 'x': expected rows of at least one element but its shape is {list(x.shape)}")
    return width


def _place(state: Tensor | None, p: float, row: int, site: int) -> list[int]:
    """The numbers of a dropout: seed and step, the origin of rows and sites; of a shard its column and extent too."""
    if not p:
        return []
    if state is None or state.shape not in ((2,), (6,)):
        raise ValueError("argument 'state': expected int64[2] on the CPU, seed and step, or int64[6], of a shard, where p is "
                         f"not 0 but got {None if state is None else list(state.shape)}")
    seed, step, *shard = state.tolist()
    return [seed, step, row + shard[0], site, *shard[1:]] if shard else [seed, step, row, site]


def _is_sharded(state: Tensor | None, p: float) -> bool:
    return bool(p) and state is not None and state.numel() == 6


def _element(tensor: Tensor | None, name: str) -> str | None:
    return None if tensor is None else engine.element_of(tensor, name)


def _chain(x, f, branch_bias, weight, bias, state, norm, epsilon, p, skip_scale, branch_scale, keep_sum) -> programs.Chain:
    return programs.Chain(norm, _width(x, weight), engine.element_of(x, "x"), _element(f, "f"),
                          _element(branch_bias, "branch_bias"), _element(weight, "weight"), _element(bias, "bias"),
                          epsilon, p if f is not None else 0.0, skip_scale, branch_scale, keep_sum,
                          f is not None and _is_sharded(state, p))


def _empty_results(x: Tensor, f, weight, norm: str, keep_sum: bool) -> tuple[Tensor, ...]:
    """y, sum and the statistics of a chain; those that it does not give have no elements."""
    shape = x.shape[: x.dim() - (weight.dim() if weight is not None else 1)]
    statistics = [{"layer": 3, "rms": 1, "none": 0}[norm] > place for place in (1, 2, 0)]
    type_ = torch.float64 if x.dtype == torch.float64 else torch.float32
    return (x.new_empty(x.shape if norm != "none" else (0,)),
            x.new_empty(x.shape if f is not None and keep_sum else (0,)),
            *(x.new_empty(shape if is_there else (0,), dtype=type_) for is_there in statistics))


def _add_norm(x, f, branch_bias, weight, bias, state, norm, epsilon, p, row, site, skip_scale, branch_scale, keep_sum):
    if f is not None and f.shape != x.shape:
        raise ValueError(f"argument 'f': its shape is {list(f.shape)}, expected that of 'x', which is {list(x.shape)}")
    chain = _chain(x, f, branch_bias, weight, bias, state, norm, epsilon, p, skip_scale, branch_scale, keep_sum)
    results = _empty_results(x, f, weight, norm, keep_sum)
    y, total, mean, correction, rstd = results
    arguments: list[Any] = [_rows(tensor, chain.width) for tensor in (x, f) if tensor is not None]
    arguments += [tensor.contiguous().view(-1) for tensor in (branch_bias, weight, bias) if tensor is not None]
    arguments += _place(state, chain.p, row, site)
    statistics = {"layer": (mean, correction, rstd), "rms": (rstd,), "none": ()}[norm]
    written = [] if norm == "none" else [_rows(y, chain.width), *(tensor.view(-1) for tensor in statistics)]
    if f is not None and keep_sum:
        written.append(_rows(total, chain.width))
    engine.call(chain, arguments, written)
    return results


def _add_norm_fake(x, f, branch_bias, weight, bias, state, norm, epsilon, p, row, site, skip_scale, branch_scale, keep_sum):
    return _empty_results(x, f, weight, norm, keep_sum)


def _gradients(dy, dsum, s, weight, branch, branch_bias, bias, needs) -> list[Tensor]:
    """New tensors for the gradients that are asked for, in the order of the op; the others have no elements."""
    x = s if dy is not None else dsum
    width = x.shape[-1]
    shapes = (x.shape, x.shape, (width,), None if weight is None else weight.shape, None if weight is None else weight.shape)
    types = (x.dtype, branch, branch_bias, None if weight is None else weight.dtype, bias)
    return [x.new_empty(shape if need else (0,), dtype=type_ if need else x.dtype)
            for shape, type_, need in zip(shapes, types, needs)]


def _add_norm_backward(dy, dsum, s, mean, correction, rstd, weight, state, norm, epsilon, p, row, site, skip_scale,
                       branch_scale, branch, branch_bias, bias, needs):
    results = _gradients(dy, dsum, s, weight, branch, branch_bias, bias, needs)
    x = s if dy is not None else dsum
    width = _width(x, weight)
    names = [None if type_ is None else engine.ELEMENTS[type_] for type_ in (branch, branch_bias, bias)]
    chain = programs.Chain(norm, width, engine.element_of(x, "x"), names[0], names[1], _element(weight, "weight"),
                           names[2], 0.0, p if names[0] else 0.0, skip_scale, branch_scale,
                           sharded=names[0] is not None and _is_sharded(state, p))
    program = programs.Backward(chain, dy is not None, dsum is not None, *needs)
    arguments: list[Any] = []
    if dy is not None:
        statistics = (mean, correction, rstd) if norm == "layer" else (rstd,)
        arguments += [_rows(dy, width), _rows(s, width), *(tensor.contiguous().view(-1) for tensor in statistics)]
        arguments += [weight.contiguous().view(-1)] if weight is not None else []
    arguments += [_rows(dsum, width)] if dsum is not None else []
    arguments += _place(state, chain.p, row, site)
    written = [result.view(-1, width) if place < 2 else result.view(-1)
               for place, (result, need) in enumerate(zip(results, needs)) if need]
    engine.call(program, arguments, written)
    return tuple(results)


def _add_norm_backward_fake(dy, dsum, s, mean, correction, rstd, weight, state, norm, epsilon, p, row, site, skip_scale,
                            branch_scale, branch, branch_bias, bias, needs):
    return tuple(_gradients(dy, dsum, s, weight, branch, branch_bias, bias, needs))


def _save(ctx, inputs, output) -> None:
    x, f, branch_bias, weight, bias, state, *numbers, keep_sum = inputs
    y, total, mean, correction, rstd = output
    ctx.mark_non_differentiable(mean, correction, rstd)
    ctx.set_materialize_grads(False)
    ctx.numbers, ctx.has_sum = numbers, f is None or keep_sum or numbers[0] == "none"
    ctx.types = [None if tensor is None else tensor.dtype for tensor in (f, branch_bias, bias)]
    has_norm = numbers[0] != "none"
    saved = (x if f is None else total, mean, correction, rstd, weight) if has_norm else (None,) * 5
    ctx.save_for_backward(*saved, state)


def _differentiate(ctx, dy, dsum, *_):
    engine.refuse_second_gradient("resid::add_norm")
    if not ctx.has_sum:
        raise RuntimeError("resid::add_norm: expected keep_sum=True where gradients are asked for")
    s, mean, correction, rstd, weight, state = ctx.saved_tensors
    norm, epsilon, p, row, site, skip_scale, branch_scale = ctx.numbers
    branch, branch_bias, bias = ctx.types
    if dy is not None and dy.numel() == 0 and norm == "none":
        dy = None
    if dsum is not None and branch is None:
        dsum = None
    if dy is None and dsum is None:
        return (None,) * len(ctx.needs_input_grad)
    needs_x, needs_f, needs_branch_bias, needs_weight, needs_bias = ctx.needs_input_grad[:5]
    is_same = not p and skip_scale == branch_scale == 1.0 and branch == (s if dy is not None else dsum).dtype
    needs = [needs_x or (needs_f and is_same), needs_f and not is_same, needs_branch_bias,
             needs_weight and dy is not None, needs_bias and dy is not None]
    gradients = (None,) * 5
    if any(needs):
        gradients = torch.ops.resid.add_norm_backward(dy, dsum, s, mean, correction, rstd, weight, state, *ctx.numbers,
                                                      branch, branch_bias, bias, needs)
    dx, df, dbranch_bias, dweight, dbias = (value if need else None for value, need in zip(gradients, needs))
    if needs_f and is_same:
        df = dx
    return (dx if needs_x else None, df, dbranch_bias, dweight, dbias) + (None,) * 9


def _dropout(x, state, p, row, site):
    if x.dim() == 0 or x.shape[-1] == 0:
        raise ValueError(f"argument 'x': expected rows of at least one element but its shape is {list(x.shape)}")
    width = x.shape[-1]
    y = x.new_empty(x.shape)
    program = programs.Dropout(width, engine.element_of(x, "x"), p, _is_sharded(state, p))
    engine.call(program, [_rows(x, width), *_place(state, p, row, site)], [y.view(-1, width)])
    return y


def _save_dropout(ctx, inputs, output) -> None:
    _, state, *ctx.numbers = inputs
    ctx.save_for_backward(state)


def _differentiate_dropout(ctx, dy):
    return torch.ops.resid.dropout(dy, ctx.saved_tensors[0], *ctx.numbers), None, None, None, None


def prepare_linear(weight: Tensor, scheme: str) -> tuple[Tensor, Tensor]:
    """The panels of a weight `[out, in]` on a CPU, of integers, and its scales: what resid::quantized_linear takes."""
    outputs, inputs = weight.shape
    element = engine.element_of(weight, "weight")
    return engine.make(programs.Linear(inputs, outputs, "f32", element, None, scheme, "linear_prepare"), [weight.detach().contiguous()])


def pack_linear(weight: Tensor, scheme: str) -> Tensor:
    """The panels of integers `[out, in]` of i8 on a CPU, as prepare_linear makes them of floats. Small weights are their own."""
    outputs, inputs = weight.shape
    return _packer(programs.Linear(inputs, outputs, "f32", "f32", None, scheme, mode="GIVEN"))(weight.contiguous())


@functools.cache
def _packer(program: programs.Linear) -> Any:
    return getattr(resid.compile(program.text(), pack_weights=True, quiet=True), "linear_prepare", lambda weight: weight)


def _quantized_linear(x, panels, scale, bias, weight, scheme):
    y = _quantized_linear_fake(x, panels, scale, bias, weight, scheme)
    program = programs.Linear(x.shape[-1], scale.shape[0], engine.element_of(x, "x"), engine.ELEMENTS[weight], _element(bias, "bias"), scheme)
    arguments = [_rows(x, x.shape[-1]), panels, *([] if bias is None else [bias.contiguous()]), scale]
    engine.call(program, arguments, [y.view(-1, scale.shape[0])])
    return y


def _quantized_linear_fake(x, panels, scale, bias, weight, scheme):
    return x.new_empty((*x.shape[:-1], scale.shape[0]))


def _refuse_gradient(ctx, dy):
    raise RuntimeError("resid::quantized_linear: a layer with integers has no gradient")


def _refuse_vmap(name: str):
    def refuse(info, in_dims, *args):
        raise NotImplementedError(f"resid::{name} is not mapped by vmap; leading dimensions are rows, so call it on the batch")

    return refuse


for _name, _function, _fake in (("add_norm", _add_norm, _add_norm_fake),
                                ("add_norm_backward", _add_norm_backward, _add_norm_backward_fake),
                                ("quantized_linear", _quantized_linear, _quantized_linear_fake),
                                ("dropout", _dropout, lambda x, state, p, row, site: x.new_empty(x.shape))):
    for _device in ("CPU", "CUDA"):
        _library.impl(_name, _function, _device)
    torch.library.register_fake(f"resid::{_name}", _fake, lib=_library)
    torch.library.register_vmap(f"resid::{_name}", _refuse_vmap(_name), lib=_library)
torch.library.register_autograd("resid::add_norm", _differentiate, setup_context=_save, lib=_library)
torch.library.register_autograd("resid::quantized_linear", _refuse_gradient, setup_context=lambda ctx, inputs, output: None, lib=_library)
torch.library.register_autograd("resid::dropout", _differentiate_dropout, setup_context=_save_dropout, lib=_library)
