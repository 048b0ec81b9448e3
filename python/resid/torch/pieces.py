# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A compiled piece of a graph, called on tensors of PyTorch. It packs the weights, once and again when they have changed.

from __future__ import annotations

import math
import operator
import re
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
        self.__name__, self.__module__ = piece.name, __name__
        self.text, self.function = piece.imported.text, piece.imported.function
        known = {node.name: place for place, node in enumerate(piece.weights)}
        # Where each weight of the program comes from: a place among the weights that are given, or a constant.
        self.sources = [known.get(name, torch.from_numpy(array.copy())) if name not in known else known[name]
                        for name, array in piece.imported.weights.items()]
        self.inputs = len(piece.inputs)
        self.shapes = _shapes(piece)
        self.dtypes = [value_of(node).dtype for node in piece.outputs]
        self._load()

    def _load(self) -> None:
        module = resid.compile(self.text, mode="inference", pack_weights=True, quiet=True)
        self.kernel = module[self.function]
        prepare = f"{self.function}_prepare"
        self.prepare = module[prepare] if prepare in dir(module) else None
        self.packed: "tuple[Any, list[torch.Tensor]] | None" = None
        # Of the program's weights, those that are packed, in the order of their panels.
        self.places: list[int] = []
        if self.prepare is not None:
            names = [value.name for value in self.kernel.signature.arguments[self.inputs :]]
            self.places = [names.index(value.name) for value in self.prepare.signature.arguments]
            panels = [self.kernel.signature.arguments[self.inputs + place].type for place in self.places]
            if panels != [value.type for value in self.prepare.signature.results]:
                raise resid.InternalError(f"{prepare}: expected results that are the arguments of {self.function}")
        known = all(isinstance(size, (int, tuple)) for sizes in self.kernel.signature.result_sizes for size in sizes)
        self.make_shapes = None if known else eval(self.shapes, {"math": math})

    def __reduce__(self) -> Any:
        state = {name: value for name, value in vars(self).items() if name not in ("kernel", "prepare", "packed", "places", "make_shapes", "kept")}
        return _again, (state,)

    def __call__(self, *values: torch.Tensor) -> "tuple[torch.Tensor, ...]":
        inputs = [value if value.is_contiguous() else value.contiguous() for value in values[: self.inputs]]
        weights = self._weights(values[self.inputs :])
        options: dict[str, Any] = {"threads": torch.get_num_threads()}
        if self.make_shapes is not None:
            shapes = self.make_shapes([value.shape for value in inputs])
            options["out"] = tuple(torch.empty(shape, dtype=dtype) for shape, dtype in zip(shapes, self.dtypes))
        results = self.kernel(*inputs, *weights, **options)
        return results if isinstance(results, tuple) else (results,)

    def _weights(self, given: "tuple[torch.Tensor, ...]") -> "list[torch.Tensor]":
        """Those of the program. Panels are those of the last call where no weight has changed: version and address are the same,
        and the memory is still in use, so no other weight can be there."""
        try:
            state = list(map(_version, given)), list(map(_address, given))
        except RuntimeError:  # tensors that were made in inference mode have no version
            state = None
        packed = self.packed
        if packed is not None and state is not None and packed[0] == state:
            return packed[1]
        own = [given[source] if isinstance(source, int) else source for source in self.sources]
        own = [tensor.detach() if tensor.is_contiguous() else tensor.detach().contiguous() for tensor in own]
        self.kept = list(map(torch.Tensor.detach, given))
        if self.prepare is not None:
            panels = self.prepare(*(own[place] for place in self.places), threads=torch.get_num_threads())
            for place, panel in zip(self.places, panels if isinstance(panels, tuple) else (panels,)):
                own[place] = panel
        self.packed = state, own
        return own


def _again(state: "dict[str, Any]") -> CompiledPiece:
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
