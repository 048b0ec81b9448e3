# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A compiled piece of a graph, called on tensors of PyTorch. It packs the weights, once and again when they have changed.

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils._sympy.printers import PythonPrinter

import resid
from resid.importer.torch_reader import tensor_of
from resid.quantizing import Request
from resid_runtime._caller import Bound

from .graphs import value_of
from .partition import Piece, find_order


# How many steps optimizers have taken: fused ones write weights and do not count that as a new version.
_steps = [0]


def _count_step(*_: Any) -> None:
    _steps[0] += 1


register_optimizer_step_post_hook(_count_step)


class CompiledPiece:
    """Takes the inputs of the piece and then its weights, and gives a tuple with its outputs. A call does nothing in Python for
    each weight: `Bound` looks whether they are as they were. With a `scheme` of resid.quantize, linear layers have integers."""

    def __init__(self, piece: Piece, scheme: "str | None" = None) -> None:
        assert piece.imported is not None
        self.name, self.text, self.function = piece.name, piece.imported.text, piece.imported.function
        self.floats: dict[str, str] = {}  # matrices without integers, and why
        if scheme:
            request = Request(self.text, self.name, scheme, {}, keep_heads=True)
            self.floats = {entry["weight"]: entry["kept"] for entry in request.run("GIVEN")[1] if "kept" in entry and len(entry["shape"]) == 2}
            self.text, _ = request.run("PREPARED")
        self.inputs = list(range(len(piece.inputs)))  # where they are in what is given
        self.weights = {node.name: len(self.inputs) + place for place, node in enumerate(piece.weights)}
        self.types = {node.name: value_of(node).dtype for node in piece.weights}  # that the program takes them in
        self.names = list(piece.imported.weights)  # of the program's weights, in its order
        self.constants = {name: tensor_of(array) for name, array in piece.imported.weights.items() if name not in self.weights}
        self.shapes = _shapes(piece)
        self.dtypes = [value_of(node).dtype for node in piece.outputs]
        # Where a result lies otherwise in memory than its dimensions are ordered.
        self.orders = {place: order for place, node in enumerate(piece.outputs) if (order := find_order(node))}
        # Inference would drop what drops.
        self.mode = "training" if any("dropout" in node.meta for node in piece.nodes) else "inference"
        self.kept = list(vars(self))  # in copies and pickles; the rest is made anew
        self._load()

    def __getstate__(self) -> "dict[str, Any]":
        return {name: getattr(self, name) for name in [*self.kept, "kept"]}

    def __setstate__(self, state: "dict[str, Any]") -> None:
        vars(self).update(state)
        self._load()

    def _load(self) -> None:
        self.__name__, self.__module__ = self.name, __name__
        self.module, self.kernel = self._compile()
        known = all(isinstance(size, (int, tuple)) for sizes in self.kernel.signature.result_sizes for size in sizes)
        # Results are made like an argument, where there is one.
        self.make_shapes = None if known and self.kernel.signature.arguments else eval(self.shapes, {"math": math})
        self.bound: "Bound | None" = None
        self.steps = 0

    def _compile(self) -> "tuple[resid.Module, Any]":
        """The module and the function that a call calls."""
        module = resid.compile(self.text, mode=self.mode, pack_weights=True, quiet=True)
        kernel = module[self.function]
        own = kernel.signature.arguments[len(self.inputs) :]
        prepare = f"{self.function}_prepare"
        self.prepare = module[prepare] if prepare in dir(module) else None
        # Scales of integers come after the program's weights.
        self.scales = {value.name: place for place, value in enumerate(own) if place >= len(self.names)}
        # The weights that something is made of, and the places of what is made: panels, and scales after those with integers.
        self.sources: list[int] = []
        self.made: list[int] = []
        if self.prepare is not None:
            places = {value.name: place for place, value in enumerate(own)}
            for value in self.prepare.signature.arguments:
                self.sources.append(places[value.name])
                self.made.append(places[value.name])
                self.made += [place for name, place in self.scales.items() if name == f"{value.name}_scale"]
            if [own[place].type for place in self.made] != [value.type for value in self.prepare.signature.results]:
                raise resid.InternalError(f"{prepare}: expected results that are the arguments of {self.function}")
        return module, kernel

    def among(self, places: "list[int]") -> "Callable[..., tuple[torch.Tensor, ...]]":
        """The same for the values of a graph, of which those at `places` are the inputs and the weights."""
        self.inputs = [places[place] for place in self.inputs]
        self.weights = {name: places[place] for name, place in self.weights.items()}
        return self.__call__

    def __call__(self, *given: Any) -> "tuple[torch.Tensor, ...]":
        bound = self.bound
        steps = _steps[0]
        if bound is None or (self.copies and steps != self.steps) or not bound.holds(given):
            bound = self.bound = self._bind(given)
            self.steps = steps
        if self.make_shapes is None and not self.orders:
            return bound(given, threads=torch.get_num_threads())
        made = None
        if self.make_shapes is not None:
            shapes = self.make_shapes([given[place].shape for place in self.inputs])
            made = tuple(torch.empty(shape, dtype=dtype) for shape, dtype in zip(shapes, self.dtypes))
        results = bound(given, out=made, threads=torch.get_num_threads())
        return tuple(_lay_out(result, self.orders.get(place)) for place, result in enumerate(results)) if self.orders else results

    def _bind(self, given: "tuple[Any, ...]") -> Bound:
        """With panels of the weights that have some, and copies of those of another type or with gaps between elements. Others are
        read where they are. Holds for as long as all have the same address, and those of which something is made the same version. Their memory
        stays in use, so that no other weight can be there."""
        own = [self.weights.get(name, -1) for name in self.names]
        copied = [place for name, place in self.weights.items() if given[place].dtype != self.types[name] or not given[place].is_contiguous()]
        made_of = {*(own[place] for place in self.sources), *copied}
        self.copies = bool(made_of)
        # Found before the weights are read: what another thread writes meanwhile is seen in the next call.
        versions = {place: _find_version(given[place]) if place in made_of else -1 for place in own if place >= 0}
        memory = {place: given[place].detach() for place in versions}
        watched = [(place, given[place], memory[place], version) for place, version in versions.items() if version is not None]
        weights: list[Any] = [memory[place].to(self.types[name]).contiguous() if place >= 0 else self.constants[name]
                              for name, place in zip(self.names, own)]
        weights += [None] * len(self.scales)
        if self.prepare is not None:
            made = self.prepare(*(weights[place] for place in self.sources), threads=torch.get_num_threads())
            for place, array in zip(self.made, made if isinstance(made, tuple) else (made,)):
                weights[place] = array
        return Bound(self.kernel, tuple(self.inputs), tuple(weights), tuple(watched) if len(watched) == len(versions) else None)


def _lay_out(result: torch.Tensor, order: "tuple[int, ...] | None") -> torch.Tensor:
    """The same elements, with the dimensions in this order in memory."""
    if order is None:
        return result
    return result.permute(order).contiguous().permute([order.index(dim) for dim in range(len(order))])


def _find_version(weight: torch.Tensor) -> "int | None":
    """None of one that was made in inference mode, which has no version: what is made of it holds for one call."""
    return None if weight.is_inference() else weight._version


def _shapes(piece: Piece) -> str:
    """A function in Python from the shapes of the inputs to those of the outputs."""
    printer = PythonPrinter()
    names: dict[str, str] = {}
    for place, node in enumerate(piece.inputs):
        for index, dim in enumerate(value_of(node).shape):
            if not isinstance(dim, int) and dim.node.expr.is_Symbol:
                names.setdefault(str(dim.node.expr), f"shapes[{place}][{index}]")
    sizes = [[dim if isinstance(dim, int) else printer.doprint(dim.node.expr) for dim in value_of(node).shape] for node in piece.outputs]
    texts = ["[" + ", ".join(re.sub(r"\b[a-z]+\d+\b", lambda found: names.get(found.group(), found.group()), str(size)) for size in row) + "]"
             for row in sizes]
    return f"lambda shapes: [{', '.join(texts)}]"
