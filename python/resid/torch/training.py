# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Pieces of a graph with resid's own gradients: the forward saves what the backward reads, and nothing runs twice. Pieces without
# gradients are pieces.py's.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

import resid
from resid import gradients

from . import engine
from .graphs import Captured, value_of
from .partition import Piece
from .pieces import CompiledPiece


def find_refusal(module: GraphModule) -> str:
    """Why the gradients of a graph of Dynamo are not those of its operators alone, or an empty text: capture() drops what stops
    gradients, and custom functions have their own."""
    for node in module.graph.nodes:
        name = str(node.target if isinstance(node.target, str) else getattr(node.target, "__name__", node.target))
        if node.op not in ("placeholder", "output") and any(word in name for word in ("detach", "grad", "data")):
            return f"{node.name}: it changes which gradients flow"
    return ""


def find_differentiable(captured: Captured, inputs: "Sequence[Any]") -> "set[Node]":
    """The nodes through which gradients reach an input that requires one."""
    given = iter(inputs)
    found: set[Node] = set()
    for node in captured.module.graph.nodes:
        if node.op == "placeholder":
            wanted = getattr(next(given, None), "requires_grad", False)
        else:
            wanted = not found.isdisjoint(node.all_input_nodes)
        value = value_of(node)
        if wanted and not (isinstance(value, torch.Tensor) and not value.is_floating_point()):
            found.add(node)
    return found


class TrainedPiece:
    """Called as CompiledPiece is. Raises resid.CompileError where the compiler has no gradient for what the piece computes."""

    def __init__(self, piece: Piece, wrt: "list[int]") -> None:
        assert piece.imported is not None
        self.__name__, self.__module__ = piece.name, __name__
        own = {node.name: len(piece.inputs) + place for place, node in enumerate(piece.weights)}
        # Of the program's arguments, which of those given, or a constant.
        self.arguments: list[Any] = [*range(len(piece.inputs)),
                                     *(own.get(name, torch.from_numpy(array)) for name, array in piece.imported.weights.items())]
        places = [self.arguments.index(place) for place in wrt]
        self.wrt = wrt
        self.module = resid.compile(piece.imported.text, grad=piece.imported.function, wrt=places, quiet=True)
        kernel = self.module[piece.imported.function]
        found = gradients.find(kernel)
        assert found is not None
        self.forward, self.backward = found.forward, found.backward
        self.results = len(kernel.signature.results)
        for function in (self.forward, self.backward):
            if not all(isinstance(size, (int, tuple)) for sizes in function.signature.result_sizes for size in sizes):
                raise resid.CompileError(f"{function.name}: expected results whose sizes are those of arguments")

    def among(self, places: "list[int]") -> "Callable[..., tuple[torch.Tensor, ...]]":
        """The same for the values of a graph, of which those at `places` are the inputs and the weights."""
        return lambda *given: self(*(given[place] for place in places))

    def __call__(self, *given: torch.Tensor) -> "tuple[torch.Tensor, ...]":
        results: tuple[torch.Tensor, ...] = _Differentiated.apply(self, *given)
        return results


class _Differentiated(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, piece: TrainedPiece, *given: torch.Tensor) -> Any:
        values = [given[place].contiguous() if isinstance(place, int) else place for place in piece.arguments]
        made = piece.forward(*values, threads=torch.get_num_threads())
        made = made if isinstance(made, tuple) else (made,)
        results = made[: piece.results]
        ctx.mark_non_differentiable(*(result for result in results if not result.is_floating_point()))
        # `given` and not copies of it: a write between forward and backward is then an error, as in PyTorch.
        ctx.save_for_backward(*given, *made[piece.results :])
        ctx.piece, ctx.count = piece, len(given)
        return results

    @staticmethod
    def backward(ctx: Any, *outer: torch.Tensor) -> Any:
        engine.refuse_second_gradient("torch.compile(backend='resid')")
        piece, tensors = ctx.piece, ctx.saved_tensors
        values = [tensors[place].contiguous() if isinstance(place, int) else place for place in piece.arguments]
        incoming = [gradient.contiguous() for gradient in outer if gradient.is_floating_point()]
        found = piece.backward(*values, *tensors[ctx.count :], *incoming, threads=torch.get_num_threads())
        by_place = dict(zip(piece.wrt, found if isinstance(found, tuple) else (found,), strict=True))
        return None, *(by_place.get(place) if needed else None for place, needed in enumerate(ctx.needs_input_grad[1:]))


def make(piece: Piece, differentiable: "set[Node]") -> Any:
    """The piece with gradients for what asks for them; as CompiledPiece where nothing does."""
    wrt = [place for place, node in enumerate([*piece.inputs, *piece.weights]) if node in differentiable]
    if wrt and differentiable.isdisjoint(piece.outputs):
        wrt = []
    return TrainedPiece(piece, wrt) if wrt else CompiledPiece(piece)
