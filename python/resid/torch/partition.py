# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Divides a graph of aten into pieces that resid computes and nodes that stay PyTorch's, with the reason of each, and imports the
# pieces. Compiling and calling them is pieces.py's.

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch.fx import Graph, Node

from resid.importer import Imported, from_graph
from resid.importer import elements
from resid.importer.errors import ImportFailure
from resid.importer.torch_reader import Stored, array_of, from_torch, operator_name, read_graph, writes

from .graphs import Captured, is_tensor, value_of


class Piece:
    """Nodes that become one program, with what they read and what others read of them. `lent` are arguments of the graph that
    only say what sizes are."""

    def __init__(self, name: str, nodes: "list[Node]", inputs: "list[Node]", outputs: "list[Node]", weights: "set[str]") -> None:
        self.name, self.nodes, self.outputs = name, nodes, outputs
        self.weights = [node for node in inputs if node.name in weights and _can_be_weight(value_of(node))]
        self.constants = [node for node in inputs if node.op == "get_attr"]
        self.inputs = [node for node in inputs if node not in self.weights and node not in self.constants]
        self.sizes = _unique(source for node in nodes for source in node.all_input_nodes if not is_tensor(source) and is_size(source))
        self.imported: "Imported | None" = None

    def lend(self, arguments: "list[Node]") -> None:
        """Adds arguments in whose shapes the names of sizes stand that no input has."""
        wanted = set().union(*(_symbols(value_of(node)) for node in [*self.nodes, *self.sizes, *self.inputs]))
        for node in [None, *arguments]:
            wanted -= {str(dim) for one in (self.inputs if node is None else [node]) for dim in value_of(one).shape} if wanted else set()
            if not wanted:
                return
            following = arguments[0 if node is None else arguments.index(node) + 1 :]
            extra = next((one for one in following if wanted & {str(dim) for dim in value_of(one).shape}), None)
            if extra is None:
                return
            self.inputs.append(extra)

    def read(self) -> Imported:
        """Raises ImportFailure."""
        graph, new = Graph(), {}
        self.named: dict[str, Node] = {}
        for node in [*self.inputs, *self.weights, *self.constants, *self.sizes]:
            new[node] = graph.placeholder(node.name)
        for node in self.nodes:
            new[node] = graph.node_copy(node, new.__getitem__)
        graph.output(tuple(new[node] for node in self.outputs))
        for node, copy in new.items():
            copy.meta = node.meta
            self.named[copy.name] = node
        stored = {new[node].name: Stored(node.name, _no_array(value_of(node)), True) for node in self.weights}
        for node in self.constants:
            tensor = getattr(node.graph.owning_module, str(node.target))
            stored[new[node].name] = Stored(node.name, array_of(tensor), False)
        self.imported = from_graph(read_graph(graph, self.name, stored))
        return self.imported


def _unique(nodes: "Iterable[Node]") -> "list[Node]":
    return list(dict.fromkeys(nodes))


def _can_be_weight(value: torch.Tensor) -> bool:
    return value.is_floating_point() and value.ndim > 0 and value.numel() > 1


def _no_array(value: torch.Tensor) -> np.ndarray:
    """The shape and type of a weight. Its elements become no part of a program: NaN would be seen in every result."""
    return np.broadcast_to(np.array(np.nan, elements.to_numpy(from_torch(value.dtype))), tuple(value.shape))


def _symbols(value: Any) -> "set[str]":
    parts = value if isinstance(value, (list, tuple)) else [value]
    numbers = [number for part in parts for number in (part.shape if isinstance(part, torch.Tensor) else [part])]
    return {str(name) for number in numbers if hasattr(number, "node") for name in number.node.expr.free_symbols}


def find_order(node: Node) -> "tuple[int, ...] | None":
    """The dimensions of a tensor in the order of its memory, as PyTorch has made it for the sizes of the first call; none where that
    is their own order. Raises ValueError where there are gaps between its elements, or one stands for several."""
    value = value_of(node)
    sizes, strides = ([size if isinstance(size, int) else size.node.hint for size in numbers] for numbers in (value.shape, value.stride()))
    if 0 in sizes:
        return None
    order = sorted(range(value.ndim), key=lambda dim: -strides[dim] if sizes[dim] > 1 else -math.inf)
    length = 1
    for dim in reversed(order):
        if sizes[dim] > 1 and strides[dim] != length:
            raise ValueError
        length *= sizes[dim]
    moved = [dim for dim in order if sizes[dim] > 1]
    return None if moved == sorted(moved) else tuple(order)


def is_size(node: Node) -> bool:
    return isinstance(value_of(node), (int, float, bool, torch.SymInt, torch.SymFloat, torch.SymBool))


class Partition:
    """`left` has the nodes that stay PyTorch's and why. Sizes belong to nobody: programs know them from shapes. With
    `narrows_weights`, what a weight is after a cast to a narrower type is a weight by itself: programs take it as it is then."""

    def __init__(self, captured: Captured, narrows_weights: bool = False) -> None:
        self.captured = captured
        self.graph = captured.module.graph
        self.nodes = [node for node in self.graph.nodes if node.op == "call_function"]
        self.narrowed: dict[Node, Node] = {node: node.args[0] for node in self.nodes if narrows_weights and self._is_narrowed(node)}
        self.weights = captured.weights | {node.name for node in self.narrowed}
        self.left: dict[Node, str] = {}
        self.pieces: dict[int, Piece] = {}
        self.stages: dict[Node, int] = {}
        self._leave_unknown()
        self.leave(captured.views, "a view of an argument or of another result")

    def _is_narrowed(self, node: Node) -> bool:
        source, kept = node.args[0] if node.args else None, value_of(node)
        return (operator_name(node) in ("to", "_to_copy") and isinstance(source, Node) and source.name in self.captured.weights
                and _can_be_weight(kept) and kept.dtype.itemsize < value_of(source).dtype.itemsize)

    def run(self) -> None:
        """Imports all pieces. Each round leaves at least one node more, or is the last."""
        while True:
            self._divide()
            if self._leave_gaps():
                continue
            if not any(self._refused(piece) for piece in list(self.pieces.values())):
                return

    def leave(self, nodes: "Iterable[Node]", reason: str) -> None:
        for node in nodes:
            self.left.setdefault(node, reason)
            source: Any = node.args[0] if node.target is operator.getitem else node
            for part in [source, *(user for user in source.users if user.target is operator.getitem)]:
                if not is_size(part):
                    self.left.setdefault(part, reason)

    def _leave_unknown(self) -> None:
        from resid.importer import torch_layers, torch_shapes  # noqa: F401  (join the table)
        from resid.importer.torch_ops import TABLE

        for node in self.nodes:
            if is_size(node) or node.target is operator.getitem:
                continue
            if operator_name(node) not in TABLE or writes(node):
                self.leave([node], "no such operator is covered")
        for node in self.graph.nodes:
            if node.op == "get_attr":
                self.left[node] = "a constant of the graph"

    def _divide(self) -> None:
        """Pieces of resid have odd stages, nodes of PyTorch even ones: a node follows all that it reads."""
        members: dict[int, list[Node]] = {}
        self.stages = {}
        for node in self.graph.nodes:
            own = int(node.op == "call_function" and node not in self.left and not is_size(node) and node not in self.narrowed)
            sources = [source for source in node.all_input_nodes if not own or not is_size(source)]
            last = max((self.stages[source] for source in sources), default=0)
            self.stages[node] = last if last % 2 == own else last + 1
            if own:
                members.setdefault(self.stages[node], []).append(node)
        arguments = [node for node in self.graph.nodes if node.op == "placeholder" and is_tensor(node)]
        arguments = [node for node in arguments if node.name not in self.captured.weights]
        needed = self.needed = self._find_needed()
        self.pieces = {}
        for stage, nodes in sorted(members.items()):
            inside = set(nodes)
            inputs = _unique(source for node in nodes for source in node.all_input_nodes if source not in inside and is_tensor(source))
            if self.captured.state is not None and any("dropout" in node.meta for node in nodes):
                inputs.append(self.captured.state)
            outputs = [node for node in nodes if is_tensor(node) and any(user in needed for user in node.users if user not in inside)]
            piece = Piece(f"piece_{len(self.pieces)}", nodes, inputs, outputs, self.weights)
            piece.lend(arguments)
            self.pieces[stage] = piece

    def _find_needed(self) -> "set[Node]":
        """Nodes but for the sizes that programs alone read."""
        needed: set[Node] = set()
        for node in reversed(self.graph.nodes):
            outside = (user for user in node.users if user in needed and (user in self.left or is_size(user) or user.op == "output"))
            if not is_size(node) or node.op != "call_function" or any(outside):
                needed.add(node)
        return needed

    def _leave_gaps(self) -> bool:
        """Whether there were results of a piece with gaps between their elements, which are views to PyTorch."""
        found = []
        for node in (node for piece in self.pieces.values() for node in piece.outputs):
            try:
                find_order(node)
            except ValueError:
                found.append(node)
        self.leave(found, "there are gaps between its elements")
        return bool(found)

    def _refused(self, piece: Piece) -> bool:
        """Whether something of the piece is left to PyTorch."""
        if not any(value_of(node).is_floating_point() for node in piece.nodes if is_tensor(node)):
            self.leave(piece.nodes, "integers alone, between nodes that are PyTorch's")
            return True
        try:
            piece.read()
            return False
        except ImportFailure as error:
            named = {piece.named[name]: reason for name, reason in error.nodes.items() if name in piece.named}
            inside = set(piece.nodes)
            for node, reason in named.items():
                self.leave([node] if node in inside else [user for user in node.users if user in inside], reason)
            if not named:
                self.leave(piece.nodes, str(error))
            return True
