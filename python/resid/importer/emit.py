# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Walks a graph and writes its program: a table from operators to handlers, what the handlers share (inputs, attributes, axes,
# messages), and the driver. The handlers stand in emit_*.py, by family.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, Union

import numpy as np

from . import elements
from .conditions import require
from .errors import ImportFailure, ModelError, Unsupported
from .fold import element_of, fold
from .graph import Graph, Node
from .program import MOST_ELEMENTS_IN_TEXT, Program, Tensor, is_splat, tensor_type
from .sizes import Dim, Size

Result = Union[Tensor, Sequence["Tensor | None"]]
Handler = Callable[["Emitter", Node], Result]
Registered = TypeVar("Registered", bound=Handler)

# Operator: (handler, the attributes that it knows)
HANDLERS: dict[str, tuple[Handler, tuple[str, ...]]] = {}
# Those that take u8, which stand in the text as i8 (elements.stored).
_TAKE_BYTES: set[str] = set()


def handles(*ops: str, attributes: Sequence[str] = (), takes_bytes: bool = False) -> Callable[[Registered], Registered]:
    """Registers a handler. A node with another attribute is refused, with its name; so is one of u8, unless it takes bytes."""

    def register(handler: Registered) -> Registered:
        for op in ops:
            HANDLERS[op] = (handler, tuple(attributes))
        _TAKE_BYTES.update(ops if takes_bytes else ())
        return handler

    return register


class Emitter:
    """The values of a graph while its nodes are written one after the other."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.program = Program(graph.name)
        self.values: dict[str, Tensor] = {}
        self._poisoned: set[str] = set()
        self._asked: set[str] = set()  # the values that the handler of a node has asked for
        self._marks: list[tuple[int, str]] = []  # which node begins at which line of the body
        for argument in graph.arguments:
            given = self.program.argument(argument.name, argument.element, argument.dims)
            self.values[argument.name] = flipped(self.program, given) if given.element == "u8" else given
        shapes = {argument.name: self.values[argument.name].dims for argument in graph.arguments}
        for condition in graph.conditions:
            require(self.program, condition, shapes)

    # -- what handlers ask for

    def known(self, name: str) -> Tensor:
        """A value that may be known without standing in the text yet."""
        self._asked.add(name)
        if name not in self.values:
            array = self.graph.constants.get(name)
            if array is None:
                raise ModelError(f"value '{name}' is made by no node")
            self.values[name] = self.constant(name, array)
        return self.values[name]

    def input(self, node: Node, index: int) -> Tensor:
        """An input that must be given."""
        if not node.input(index):
            raise ModelError(f"expected at least {index + 1} inputs, found {len(node.inputs)}")
        return self.known(node.input(index))

    def value(self, node: Node, index: int) -> Tensor:
        """The same, with a name in the text."""
        return self.program.value(self.input(node, index))

    def optional(self, node: Node, index: int) -> Tensor | None:
        return self.value(node, index) if node.input(index) else None

    def numbers(self, node: Node, index: int, attribute: str = "") -> list[Dim] | None:
        """A list of sizes or numbers, from an input or, in older versions of ONNX, an attribute; None where neither is given."""
        if attribute and attribute in node.attributes:
            return list(node.attributes[attribute])
        if not node.input(index):
            return None
        known = self.input(node, index).known
        if known is None:
            raise Unsupported(f"input {index} ('{node.input(index)}') is known at run time only")
        return [item if isinstance(item, Size) else int(item) for item in known.reshape(-1)]

    def sizes(self, node: Node, index: int) -> list[Dim]:
        """A list of sizes, which may not be negative."""
        found = self.numbers(node, index) or []
        if any(isinstance(item, int) and item < 0 for item in found):
            raise ModelError(f"expected sizes, found {show(found)}")
        return found

    def integers(self, node: Node, index: int, attribute: str = "") -> list[int] | None:
        found = self.numbers(node, index, attribute)
        if found is None:
            return None
        numbers = [item for item in found if isinstance(item, int)]
        if len(numbers) < len(found):
            raise Unsupported(f"input {index} ('{node.input(index)}'): expected numbers, found {found}")
        return numbers

    def number(self, node: Node, index: int, default: int = 0) -> Dim:
        """One number."""
        found = self.numbers(node, index)
        if found is not None and len(found) != 1:
            raise ModelError(f"input {index}: expected one number, found {len(found)}")
        return default if found is None else found[0]

    def axis(self, value: int, rank: int) -> int:
        if not -rank <= value < rank:
            raise ModelError(f"expected an axis from {-rank} to {rank - 1}, found {value}")
        return value % rank if rank else 0

    def ranked(self, tensor: Tensor, *ranks: int) -> Tensor:
        """The same, if it has one of these numbers of dimensions."""
        if tensor.rank not in ranks:
            raise ModelError(f"expected a rank of {' or '.join(map(str, ranks))}, found {tensor.type}")
        return tensor

    def attribute(self, node: Node, name: str, default: Any) -> Any:
        return node.attributes.get(name, default)

    # -- the driver

    def run(self) -> None:
        """Writes all nodes. Raises Unsupported with every node that is not covered."""
        unknown = [node for node in self.graph.nodes if node.op not in HANDLERS]
        reasons = [f"{node.describe()}: no such operator is covered" for node in unknown]
        nodes = {node.name: f"{node.op} is not covered" for node in unknown}
        for node in self.graph.nodes:
            if any(name in self._poisoned for name in node.inputs) or node.op not in HANDLERS:
                self._poisoned.update(node.outputs)
                continue
            try:
                self._node(node)
            except Unsupported as error:
                reasons += [f"{node.describe()}: {reason}" for reason in error.reasons]
                nodes[node.name] = str(error)
                self._poisoned.update(node.outputs)
            except ModelError as error:
                raise ModelError(f"{node.describe()}: {error}", {node.name: str(error)}) from error
            except ImportFailure:
                raise
            except Exception as error:  # the node is named, whatever is wrong with it
                says = f"{type(error).__name__}: {error}"
                raise ModelError(f"{node.describe()}: {says}", {node.name: says}) from error
        if reasons:
            raise Unsupported(reasons, nodes)

    def results(self) -> list[Tensor]:
        """Those of the model, which are what the exporter has recorded, or the call is refused."""
        for name in self.graph.results:
            self._compare(name, self.known(name))
            _, recorded = self.graph.recorded.get(name, ("", None))
            for index, (dim, wanted) in enumerate(zip(self.known(name).dims, recorded or ())):
                assert not isinstance(wanted, str)  # names of sizes were replaced by sizes
                if wanted is not None:
                    self.program.require_same(dim, wanted, f"expected {wanted} as size {index} of result '{name}'")
        values = [self.known(name) for name in self.graph.results]
        return [flipped(self.program, value) if value.element == "u8" else value for value in values]

    def _compare(self, name: str, value: Tensor) -> None:
        """Raises ModelError where a value has another type or shape than the exporter has recorded for it."""
        if name not in self.graph.recorded:
            return
        element, dims = self.graph.recorded[name]
        dims = value.dims if dims is None else dims
        same = len(dims) == value.rank and element in ("", value.element)
        pairs = list(zip(dims, value.dims))
        if not same or any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs):
            wanted = tensor_type(element or value.element, dims)
            raise ModelError(f"expected {wanted} for '{name}', as the exporter recorded it, but got {value.type}")

    def call(self, node: Node) -> list[Tensor | None]:
        """What a node computes, also for a node that a handler has made up."""
        handler, attributes = HANDLERS[node.op]
        if node.op not in _TAKE_BYTES and any(name and self.known(name).element == "u8" for name in node.inputs):
            raise Unsupported("elements of u8")
        for name in node.attributes:
            if name not in attributes:
                raise Unsupported(f"attribute {name}")
        before, self._asked = self._asked, set()
        result = handler(self, node)
        for index, name in enumerate(node.inputs):
            if name and name not in self._asked:  # another function would be written
                raise Unsupported(f"input {index} ('{name}'), which no rule reads")
        self._asked |= before
        return [result] if isinstance(result, Tensor) else list(result)

    def at(self, line: int) -> str:
        """The node that has written this line of the body, for messages."""
        return next((what for begin, what in reversed(self._marks) if begin <= line), "")

    def _node(self, node: Node) -> None:
        self._marks.append((len(self.program.lines), node.describe()))
        inputs = [self.known(name) for name in node.inputs if name]
        node.check_types([self.known(name).element if name else "" for name in node.inputs])
        known = inputs and all(tensor.known is not None for tensor in inputs) and all(node.inputs)
        if known and not any(self.graph.is_weight(tensor.weight) for tensor in inputs):
            folded = fold(node, [tensor.array for tensor in inputs])
            if folded is not None:
                self.values[node.outputs[0]] = self.constant(node.outputs[0], folded, self._of_sizes(node, inputs))
                self._compare(node.outputs[0], self.values[node.outputs[0]])
                return
        results = self.call(node)
        for index, name in enumerate(node.outputs):
            if not name:
                continue
            result = results[index] if index < len(results) else None
            if result is None:
                raise Unsupported(f"output {index} ('{name}')")
            self._compare(name, result)
            self.values[name] = result

    def _of_sizes(self, node: Node, inputs: Sequence[Tensor]) -> str:
        """The element type of a result that is made of sizes, which its array does not say; "" where none takes part."""
        if not any(tensor.array.dtype == object for tensor in inputs):
            return ""
        return element_of(node.attributes["to"]) if node.op == "Cast" else inputs[node.op == "Where"].element

    def constant(self, name: str, array: np.ndarray, of_sizes: str = "") -> Tensor:
        """A value whose elements are numbers or sizes: a weight, if it is one of the model or has many elements."""
        if array.dtype == object:
            return Tensor(of_sizes or "i64", array.shape, known=array)
        if of_sizes and array.dtype == np.int64:
            array = array.astype(elements.to_numpy(of_sizes))
        element = elements.from_numpy(array.dtype)
        weight = self.graph.is_weight(name) or (array.size > MOST_ELEMENTS_IN_TEXT and not is_splat(array))
        return Tensor(element, array.shape, known=array, weight=name if weight else "")


def broadcast(left: Sequence[Dim], right: Sequence[Dim]) -> tuple[Dim, ...]:
    """The shape of both together, by NumPy's rules. A size known at run time is taken to be the same as what it meets,
    unless that is 1; resid checks this in each call."""
    rank = max(len(left), len(right))
    left = (1,) * (rank - len(left)) + tuple(left)
    right = (1,) * (rank - len(right)) + tuple(right)
    dims: list[Dim] = []
    for a, b in zip(left, right):
        if a == 1 or b == 1:
            dims.append(b if a == 1 else a)
        elif isinstance(a, int) and isinstance(b, int) and a != b:
            raise ModelError(f"shapes {show(left)} and {show(right)} do not broadcast")
        else:
            dims.append(b if isinstance(b, int) else a)
    return tuple(dims)


def flipped(p: Program, tensor: Tensor) -> Tensor:
    """Bytes less 128, or with 128 more: what is u8 at the borders of a program is less 128 inside."""
    tensor, high = p.value(tensor), p.scalar(-128, "i8")
    inputs = [(tensor, range(tensor.rank))]
    return p.generic(inputs, tensor.element, tensor.dims, lambda a, _: p.inner(f"arith.xori {a}, {high} : i8"))


def show(dims: Sequence[Dim]) -> str:
    return "[" + ", ".join(str(dim) for dim in dims) + "]"
