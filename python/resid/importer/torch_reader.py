# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads a graph of torch.export into a Graph, operator by operator as torch.export leaves it, without decomposing. What an operator
# of aten becomes is torch_ops.py's.

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import elements
from .errors import ModelError, Unsupported
from .graph import Argument, Graph, Node

if TYPE_CHECKING:
    import torch

# Calls that check sizes, which resid does itself, and calls on nothing.
_IGNORED = (
    "sym_constrain_range",
    "sym_constrain_range_for_size",
    "_assert_scalar",
    "_assert_tensor_metadata",
    "_assert_async",
)
_SIZES = {operator.mul: "Mul", operator.add: "Add", operator.sub: "Sub", operator.floordiv: "Div", operator.mod: "Mod"}


def read_exported(program: "torch.export.ExportedProgram", name: str = "model") -> Graph:
    """Raises Unsupported with every operator that is not covered, and its node."""
    if any(getattr(getattr(node.target, "_schema", None), "is_mutable", False) for node in program.graph.nodes):
        program = program.run_decompositions({})  # of writes in place only; operators stay whole
    return _Reader(program, name).read()


class Call:
    """One call of an operator: its arguments by the names that its schema has."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.arguments: dict[str, Any] = {}
        for index, argument in enumerate(node.target._schema.arguments):
            default = argument.default_value if argument.has_default_value() else None
            given = node.args[index] if index < len(node.args) else node.kwargs.get(argument.name, default)
            self.arguments[argument.name] = given

    def __getitem__(self, name: str) -> Any:
        return self.arguments.get(name)

    @property
    def element(self) -> str:
        return element_of(self.node)


def element_of(node: Any) -> str:
    """The element type of what a node computes."""
    return from_torch(node.meta["val"].dtype)


def from_torch(dtype: "torch.dtype") -> str:
    name = str(dtype).removeprefix("torch.")
    return elements.from_numpy(name)


class _Reader:
    def __init__(self, program: "torch.export.ExportedProgram", name: str) -> None:
        self.program = program
        self.graph = Graph(name)
        self.names: dict[Any, Any] = {}  # a node of torch: a name, or a list of names
        self.current = ""

    def read(self) -> Graph:
        reasons = []
        for node in self.program.graph.nodes:
            self.current = node.name
            if node.op == "placeholder":
                self._placeholder(node)
            elif node.op == "call_function":
                try:
                    self.names[node] = self._call(node)
                except Unsupported as error:
                    reasons += [f"{node.target} '{node.name}': {reason}" for reason in error.reasons]
                    self.names[node] = None
            elif node.op == "output":
                self.graph.results = (
                    [self.name(result) for result in node.args[0] if result is not None] if not reasons else []
                )
            else:
                raise Unsupported(f"{node.op} '{node.name}': expected a graph of torch.export")
        if reasons:
            raise Unsupported(reasons)
        self.graph.index()
        return self.graph

    def _placeholder(self, node: Any) -> None:
        signature = self.program.graph_signature
        stored = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
        stored.update(getattr(signature, "inputs_to_lifted_tensor_constants", {}))
        if node.name in stored:
            name = stored[node.name]
            tensor = self.program.state_dict.get(name, self.program.constants.get(name))
            self.graph.constants[name] = array_of(tensor)
            if node.name in signature.inputs_to_parameters:
                self.graph.parameters.add(name)
            self.names[node] = name
            return
        value = node.meta["val"]
        if not hasattr(value, "dtype"):
            raise Unsupported(f"input '{node.name}': expected a tensor, found {type(value).__name__}")
        dims = [dim if isinstance(dim, int) else str(dim) for dim in value.shape]
        if any(isinstance(dim, str) and not dim.isidentifier() for dim in dims):
            raise Unsupported(f"input '{node.name}' of shape {dims}: expected sizes that are numbers or names")
        self.graph.arguments.append(Argument(node.name, from_torch(value.dtype), dims))
        self.names[node] = node.name

    def _call(self, node: Any) -> Any:
        from . import torch_shapes  # noqa: F401  (joins the table)
        from .torch_ops import TABLE

        if node.target is operator.getitem:
            return self.names[node.args[0]][node.args[1]]
        if node.target in _SIZES:
            return self.add(_SIZES[node.target], [self.scalar(argument, "i64") for argument in node.args])
        name = str(node.target).split(".")[1] if "." in str(node.target) else str(node.target)
        if name in _IGNORED:
            return None
        if name not in TABLE or not hasattr(node.target, "_schema") or node.target._schema.is_mutable:
            raise Unsupported("no such operator is covered")
        if any(self.names.get(source) is None for source in node.all_input_nodes):
            return None  # what it reads is not covered, and reported already
        return TABLE[name](self, Call(node))

    # -- what the operators ask for

    def add(self, op: str, inputs: Sequence[str], attributes: "dict[str, Any] | None" = None, outputs: int = 1) -> Any:
        """Adds a node; returns the name of its result, or a list where there are several."""
        names = [self.graph.fresh(self.current) for _ in range(outputs)]
        self.graph.nodes.append(Node(op, list(inputs), names, attributes or {}, self.current))
        return names[0] if outputs == 1 else names

    def name(self, value: Any) -> str:
        """The name of a tensor."""
        if not hasattr(value, "op"):
            raise ModelError(f"'{self.current}': expected a tensor, found {value!r}")
        return self.names[value]

    def scalar(self, value: Any, element: str) -> str:
        """A number or a size, as a tensor of rank 0."""
        if hasattr(value, "op"):
            return self.names[value]
        return self.graph.constant(self.current, np.array(value).astype(elements.to_numpy(element)))

    def sizes(self, values: Sequence[Any]) -> str:
        """A list of numbers and sizes, as a tensor of rank 1."""
        if all(isinstance(value, int) for value in values):
            return self.graph.constant(self.current, np.array(list(values), np.int64))
        axis = self.graph.constant(self.current, np.array([0], np.int64))
        parts = [self.add("Unsqueeze", [self.scalar(value, "i64"), axis]) for value in values]
        return self.add("Concat", parts, {"axis": 0})

    def operand(self, value: Any, element: str) -> str:
        """A tensor in this type, or a number."""
        if not hasattr(value, "op") or not hasattr(value.meta["val"], "dtype"):
            name = self.scalar(value, element)
            return self.cast(name, element) if hasattr(value, "op") else name
        return self.names[value] if element_of(value) == element else self.cast(self.names[value], element)

    def cast(self, name: str, element: str) -> str:
        return self.add("Cast", [name], {"to": element})


def array_of(tensor: "torch.Tensor") -> np.ndarray:
    """Shares memory where it can."""
    tensor = tensor.detach().cpu().contiguous()
    if from_torch(tensor.dtype) != "bf16":
        return tensor.numpy()
    import torch

    return tensor.view(torch.int16).numpy().view(elements.to_numpy("bf16"))
