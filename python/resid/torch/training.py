# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Pieces of a graph with resid's own gradients: the forward saves what the backward reads, and nothing runs twice. Pieces without
# gradients are pieces.py's.

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
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


@functools.cache
def _clamps_strictly() -> bool:
    """Whether a number at a bound of clamp has no gradient in this PyTorch, as in resid and in 2.15. Older ones give it the gradient."""
    with torch.enable_grad():
        bound = torch.zeros((), requires_grad=True)
        return not torch.autograd.grad(bound.clamp(min=0.0), bound)[0]


def find_unknown(pieces: "Iterable[Piece]", differentiable: "set[Node]") -> str:
    """Which node of a program has another gradient than PyTorch's somewhere, and an empty text where none has."""
    for node in (node for piece in pieces for node in piece.nodes if node in differentiable):
        reason = _find_difference(node, differentiable)
        if reason:
            return f"{node.name}: {reason}"
    return ""


def _find_difference(node: Node, differentiable: "set[Node]") -> str:
    """Where the gradient of a node is another one than PyTorch's, or an empty text."""
    name, _, overload = str(getattr(node.target, "__name__", node.target)).partition(".")
    operands: Any = node.args
    if name in ("max", "min") and overload == "dim" or name.startswith("max_pool"):
        return f"of equal numbers, PyTorch's {name} gives the first one all of the gradient"
    if name in ("maximum", "minimum") or name in ("max", "min") and overload == "other":
        if not differentiable.issuperset(node.all_input_nodes):
            return f"of equal operands of {name}, PyTorch gives one that has no gradient a half of it"
    if name in ("clamp", "clamp_min", "clamp_max"):
        if len(node.all_input_nodes) > 1 or not _clamps_strictly():
            return f"PyTorch's {name} has another gradient at the bounds"
    if name in ("fmod", "remainder") and operands[1] in differentiable:
        return f"the gradient of {name} by a divisor that is 0"
    if name == "pow" and operands[1] == -0.5:
        return "the gradient of pow by -0.5 at -0"
    if name == "embedding" and _find_padding(operands[0]) is None:
        return "the weight has a row of padding and other readers, or gradients by frequency"
    return ""


def _find_padding(weight: Any) -> "int | None":
    """The row of a weight that has no gradient, since embeddings take it for padding; -1 where each row has one. None where its
    readers differ."""
    found = set()
    for user in weight.users:
        is_embedding = str(user.target) == "aten.embedding.default"
        found.add(user.args[2] if is_embedding and len(user.args) == 3 and user.args[0] is weight and user.args[1] is not weight else -1)
        if is_embedding and (len(user.args) > 3 or user.kwargs):
            return None
    return found.pop() if len(found) == 1 and (found == {-1} or weight.op == "placeholder") else None


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


class TrainedPiece(CompiledPiece):
    """Called as CompiledPiece is. Its weights are not packed. Raises resid.CompileError where the compiler has no gradient for what the
    piece computes."""

    def __init__(self, piece: Piece, wrt: "list[int]", has_gradient: "list[bool]", padding: "Mapping[int, int]") -> None:
        self.wrt, self.has_gradient, self.padding = wrt, has_gradient, padding
        super().__init__(piece)

    def _compile(self) -> "tuple[resid.Module, Any]":
        # Of the program's arguments, which of those given, or a constant.
        self.arguments: list[Any] = [*self.inputs, *(self.weights.get(name, self.constants.get(name)) for name in self.names)]
        at = {place: index for index, place in enumerate(self.arguments) if isinstance(place, int)}
        self.wrt = [place for place in self.wrt if place in at]  # no result needs the others
        module = resid.compile(self.text, grad=self.function, wrt=[at[place] for place in self.wrt], quiet=True)
        found = gradients.find(module[self.function])
        assert found is not None
        self.prepare, self.sources, self.scales = None, [], {}
        self.backward, self.results = found.backward, len(self.dtypes)
        for function in (found.forward, found.backward):
            if not all(isinstance(size, (int, tuple)) for sizes in function.signature.result_sizes for size in sizes):
                raise resid.CompileError(f"{function.name}: expected results whose sizes are those of arguments")
        return module, found.forward

    def among(self, places: "list[int]") -> "Callable[..., tuple[torch.Tensor, ...]]":
        return lambda *given: self(*(given[place] for place in places))

    def __call__(self, *given: torch.Tensor) -> "tuple[torch.Tensor, ...]":
        results: tuple[torch.Tensor, ...] = _Differentiated.apply(self, *given)
        return results


class _Differentiated(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, piece: TrainedPiece, *given: torch.Tensor) -> Any:
        made = CompiledPiece.__call__(piece, *given)
        results = made[: piece.results]
        ctx.mark_non_differentiable(*(result for result, has_gradient in zip(results, piece.has_gradient) if not has_gradient))
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
        for place, row in piece.padding.items():
            by_place[place][row] = 0
        return None, *(by_place.get(place) if needed else None for place, needed in enumerate(ctx.needs_input_grad[1:]))


def make(piece: Piece, differentiable: "set[Node]") -> Any:
    """The piece with gradients for what asks for them; as CompiledPiece where nothing does."""
    read = [*piece.inputs, *piece.weights]
    wrt = [place for place, node in enumerate(read) if node in differentiable]
    if wrt and differentiable.isdisjoint(piece.outputs):
        wrt = []
    if not wrt:
        return CompiledPiece(piece)
    padding = {place: row for place in wrt if (row := _find_padding(read[place])) is not None and row >= 0}
    return TrainedPiece(piece, wrt, [node in differentiable for node in piece.outputs], padding)
