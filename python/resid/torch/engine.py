# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles the programs of resid.torch, once per process and program, and calls them on tensors of PyTorch.

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Protocol

import torch

import resid

ELEMENTS = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64"}


def element_of(tensor: torch.Tensor, name: str) -> str:
    """The element type of `tensor` in MLIR. Raises TypeError where resid has no kernels for it."""
    if tensor.dtype not in ELEMENTS:
        raise TypeError(f"argument '{name}': expected float16, bfloat16, float32 or float64 but got {tensor.dtype}")
    return ELEMENTS[tensor.dtype]


def refuse_second_gradient(name: str) -> None:
    """For a backward without a gradient of its own: with create_graph=True, what comes of it would seem constant."""
    if torch.is_grad_enabled():
        raise RuntimeError(f"{name}: gradients of gradients are not there (create_graph=True)")


class Program(Protocol):
    """What is compiled: equal programs are compiled once. `function` is the name of the function in the text."""

    function: str

    def text(self) -> str: ...


@functools.cache
def _chip(index: int) -> str:
    major, minor = torch.cuda.get_device_capability(index)
    return f"sm_{major}{minor}"


@functools.cache
def _kernel(program: Program, chip: str | None) -> Any:
    """The compiled function, for this machine's CPU or for a chip such as "sm_90"."""
    options = {"target": "cuda", "chip": chip} if chip else {}
    return getattr(resid.compile(program.text(), **options), program.function)


def call(program: Program, arguments: Sequence[Any], results: Sequence[torch.Tensor]) -> None:
    """Calls the program on contiguous tensors and numbers, and writes the results.

    The device is that of the first result. Work on a CUDA device goes to PyTorch's current stream and is not waited for.
    """
    device = results[0].device
    if device.type == "cpu":
        _kernel(program, None)(*arguments, out=tuple(results), threads=torch.get_num_threads())
    elif device.type == "cuda":
        kernel = _kernel(program, _chip(device.index))
        kernel(*arguments, out=tuple(results), stream=torch.cuda.current_stream(device).cuda_stream)
    else:
        raise NotImplementedError(f"{program.function}: expected tensors on a CPU or CUDA device but got {device}")


def make(program: Program, arguments: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """The results of the program on tensors of a CPU, as new ones."""
    return tuple(_kernel(program, None)(*arguments, threads=torch.get_num_threads()))
