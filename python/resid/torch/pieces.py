# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A compiled piece of a graph, called on tensors of PyTorch. It packs the weights, once and again when they have changed.

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._sympy.printers import PythonPrinter

import resid

from .graphs import value_of
from .partition import Piece

_version = operator.attrgetter("_version")
_address = torch.Tensor.data_ptr


class CompiledPiece:
    """Takes the inputs of the piece and then its weights, and gives a tuple with its outputs."""

    def __init__(self, piece: Piece) -> None:
        assert piece.imported is not None
        self.name, self.text, self.function = piece.name, piece.imported.text, piece.imported.function
        self.inputs = len(piece.inputs)
        self.weights = {node.name: self.inputs + place for place, node in enumerate(piece.weights)}
        self.names = list(piece.imported.weights)  # of the program's weights, in its order
        self.constants = {name: torch.from_numpy(array) for name, array in piece.imported.weights.items() if name not in self.weights}
        self.shapes = _shapes(piece)
        self.dtypes = [value_of(node).dtype for node in piece.outputs]
        self._load()

    def _load(self) -> None:
        self.__name__, self.__module__ = self.name, __name__
        self.module = module = resid.compile(self.text, mode="inference", pack_weights=True, quiet=True)
        self.kernel = module[self.function]
        own = self.kernel.signature.arguments[self.inputs :]
        prepare = f"{self.function}_prepare"
        self.prepare = module[prepare] if prepare in dir(module) else None
        # Which of the program's weights are packed, in the order of their panels.
        self.panels: list[int] = []
        if self.prepare is not None:
            places = {value.name: place for place, value in enumerate(own)}
            self.panels = [places[value.name] for value in self.prepare.signature.arguments]
            if [own[place].type for place in self.panels] != [value.type for value in self.prepare.signature.results]:
                raise resid.InternalError(f"{prepare}: expected results that are the arguments of {self.function}")
        known = all(isinstance(size, (int, tuple)) for sizes in self.kernel.signature.result_sizes for size in sizes)
        # Results are made like an argument, where there is one.
        self.make_shapes = None if known and self.kernel.signature.arguments else eval(self.shapes, {"math": math})
        self.packed: "_Packed | None" = None

    def __reduce__(self) -> Any:
        kept = ("name", "text", "function", "inputs", "weights", "names", "constants", "shapes", "dtypes")
        return _again, ({name: getattr(self, name) for name in kept},)

    def __call__(self, *given: torch.Tensor) -> "tuple[torch.Tensor, ...]":
        packed = self.packed
        if packed is None or packed.state is None or packed.state != packed.find_state(given):
            packed = self.packed = self._pack(given)
        inputs = [value if value.is_contiguous() else value.contiguous() for value in given[: self.inputs]]
        if self.make_shapes is None:
            results = self.kernel(*inputs, *packed.weights, threads=torch.get_num_threads())
        else:
            shapes = self.make_shapes([value.shape for value in inputs])
            made = tuple(torch.empty(shape, dtype=dtype) for shape, dtype in zip(shapes, self.dtypes))
            results = self.kernel(*inputs, *packed.weights, out=made, threads=torch.get_num_threads())
        return results if isinstance(results, tuple) else (results,)

    def _pack(self, given: "tuple[torch.Tensor, ...]") -> "_Packed":
        """Panels of the weights that have some, and copies of those with gaps between elements. Others are read where they are."""
        # Found before the weights are read: what another thread writes meanwhile is seen in the next call.
        watched = [self.weights[name] for name in self.names if name in self.weights]
        copied = [place for place in watched if not given[place].is_contiguous()]
        versions = [self.weights[self.names[place]] for place in self.panels if self.names[place] in self.weights]
        packed = _Packed(watched, list(dict.fromkeys([*versions, *copied])), given)
        weights = [given[self.weights[name]].detach().contiguous() if name in self.weights else self.constants[name] for name in self.names]
        if self.prepare is not None:
            panels = self.prepare(*(weights[place] for place in self.panels), threads=torch.get_num_threads())
            for place, panel in zip(self.panels, panels if isinstance(panels, tuple) else (panels,)):
                weights[place] = panel
        packed.weights = weights
        return packed


class _Packed:
    """What is made of weights, for as long as all have the same address, and those of which something is made the same version.
    Their memory stays in use, so that no other weight can be there."""

    def __init__(self, watched: "list[int]", made_of: "list[int]", given: "tuple[torch.Tensor, ...]") -> None:
        self.watch, self.made_of = items(watched), items(made_of)
        self.memory = [weight.detach() for weight in self.watch(given)]
        self.weights: list[torch.Tensor] = []
        self.state = self.find_state(given)

    def find_state(self, given: "tuple[torch.Tensor, ...]") -> "tuple[list[int], list[int]] | None":
        """None of tensors that were made in inference mode, which have no version."""
        try:
            return list(map(_version, self.made_of(given))), list(map(_address, self.watch(given)))
        except RuntimeError:
            return None


def items(places: "list[int]") -> "Callable[[tuple[Any, ...]], tuple[Any, ...]]":
    """From a tuple to those of its items."""
    if len(places) < 2:
        return lambda values: tuple(values[place] for place in places)
    return operator.itemgetter(*places)


def _again(state: "dict[str, Any]") -> CompiledPiece:
    """From a pickle."""
    piece = CompiledPiece.__new__(CompiledPiece)
    piece.__dict__.update(state)
    piece._load()
    return piece


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
