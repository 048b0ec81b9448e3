# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The graph that the readers of ONNX and of torch.export make: nodes with the names and meanings of ONNX's operators, and ops of
# resid's own ("resid.Linear", ...) that the recognisers put in. Does not own what an operator means (emit_*.py).

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import ModelError
from .program import shortest
from .sizes import Dim, Size


@dataclasses.dataclass
class Node:
    """One operator. Inputs and outputs are names of values; "" is an input that was left out, or an output nobody wants."""

    op: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)
    name: str = ""
    # Of each input: the name of its type in the operator's definition, and the element types that this may be.
    types: list[tuple[str, frozenset[str]]] = dataclasses.field(default_factory=list)
    origin: str = ""  # the operator of the model that this is a part of, for messages

    def input(self, index: int) -> str:
        return self.inputs[index] if index < len(self.inputs) else ""

    def output(self, index: int) -> str:
        return self.outputs[index] if index < len(self.outputs) else ""

    def flag(self, name: str, default: bool = False) -> bool:
        """An attribute that is 0 or 1."""
        value = self.attributes.get(name, int(default))
        if value not in (0, 1):
            raise ModelError(f"attribute {name} = {value}: expected 0 or 1")
        return bool(value)

    def check_types(self, elements: Sequence[str]) -> None:
        """Compares the elements of the inputs ("" for one that was left out) with the operator's definition."""
        bound: dict[str, str] = {}
        for index, (element, (variable, allowed)) in enumerate(zip(elements, self.types)):
            if element and element not in allowed:
                expected = ", ".join(sorted(allowed)) or "none that is covered"
                raise ModelError(f"input {index} has elements of {element}: expected {expected}")
            if element and bound.setdefault(variable, element) != element:
                raise ModelError(f"input {index} has elements of {element}, another of its type has {bound[variable]}")

    def describe(self) -> str:
        """For messages: operator, node, and what it computes."""
        if self.origin:
            return self.origin
        wanted = next((output for output in self.outputs if output), "")
        return f"{self.op} '{self.name or wanted}'"


@dataclasses.dataclass
class Argument:
    """An input of the model. A dimension is a number, the name of a size that is known at run time, or computed from such names."""

    name: str
    element: str
    dims: Sequence["int | str | Size"]


class Graph:
    """Nodes in an order in which each value is made before it is read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.opset = 0
        self.arguments: list[Argument] = []
        self.constants: dict[str, np.ndarray] = {}
        self.parameters: set[str] = set()  # the constants that have a name in a checkpoint
        self.nodes: list[Node] = []
        self.results: list[str] = []
        # What the exporter says of values: element type ("" where it does not), and sizes (None where it does not, or for each
        # that it does not say). A text is the name of a size, or computed from such names.
        self.recorded: dict[str, tuple[str, tuple[Dim | str | None, ...] | None]] = {}
        self.conditions: list[str] = []  # of each call, on the sizes of arguments (conditions.py)
        self.types: dict[str, tuple[str, tuple[Dim, ...]]] = {}  # element type and dimensions, where the recognisers found them
        self._fresh = 0

    def index(self) -> None:
        """Finds the makers and readers of all values anew; after changes to `nodes`."""
        self.makers = {output: node for node in self.nodes for output in node.outputs if output}
        self.readers: dict[str, list[Node]] = {}
        for node in self.nodes:
            for name in node.inputs:
                self.readers.setdefault(name, []).append(node)

    def maker(self, name: str, *ops: str) -> Node | None:
        """The node that makes the value, if it is one of `ops` (any where none is given)."""
        node = self.makers.get(name)
        return node if node is not None and (not ops or node.op in ops) else None

    def is_weight(self, name: str) -> bool:
        """A constant that has a name in a checkpoint, and keeps it."""
        array = self.constants.get(name)
        if array is None or name not in self.parameters:
            return False
        return str(array.dtype) in ("float16", "bfloat16", "float32", "float64") and array.ndim > 0 and array.size > 1

    def elements(self, name: str) -> np.ndarray | None:
        """Those of a constant that has them for good; None of a weight, whose elements a program may not hang on."""
        return None if self.is_weight(name) else self.constants.get(name)

    def same_type(self, left: str, right: str) -> bool:
        """Whether two values are known to have one element type and one shape."""
        return left in self.types and self.types[left] == self.types.get(right)

    def read_once(self, name: str) -> bool:
        return len(self.readers.get(name, [])) == 1 and name not in self.results

    def scalar(self, name: str) -> float | None:
        """The value of a constant of one element, else None."""
        array = self.constants.get(name)
        if array is None or array.size != 1 or array.dtype == object:
            return None
        value = array.reshape(()).item()
        return shortest(value) if array.dtype == np.float32 else float(value)

    def fresh(self, stem: str) -> str:
        self._fresh += 1
        return f"{stem}.resid{self._fresh}"

    def constant(self, stem: str, array: np.ndarray) -> str:
        name = self.fresh(stem)
        self.constants[name] = array
        return name

    def remove_dead(self) -> None:
        """Removes nodes of which no result is needed."""
        needed = set(self.results)
        kept = []
        for node in reversed(self.nodes):
            if any(output in needed for output in node.outputs if output):
                needed.update(node.inputs)
                kept.append(node)
        self.nodes = kept[::-1]
        self.index()
