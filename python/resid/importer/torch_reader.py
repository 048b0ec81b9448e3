# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads a graph of torch.export into a Graph, operator by operator as torch.export leaves it, without decomposing. What an operator
# of aten becomes is torch_ops.py's.

from __future__ import annotations

import dataclasses
import operator
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import elements
from .errors import ModelError, Unsupported
from .graph import Argument, Graph, Node
from .sizes import Dim, Size
from .torch_guards import conditions, size_of

if TYPE_CHECKING:
    import torch

# Calls that check what resid checks itself, and calls on nothing. What they say of sizes stands in ranges and guards.
_IGNORED = (
    "sym_constrain_range",
    "sym_constrain_range_for_size",
    "_assert_tensor_metadata",
    "_assert_async",
)


@dataclasses.dataclass(frozen=True)
class Stored:
    """What a placeholder stands for that is no argument: its name, and its elements. A parameter keeps its name."""

    name: str
    array: np.ndarray
    is_parameter: bool


def export(model: "torch.nn.Module", args: "Sequence[Any]", kwargs: "Mapping[str, Any] | None" = None,
           dynamic_shapes: Any = None) -> "torch.export.ExportedProgram":
    """torch.export of a model. That takes one tensor which is given for two arguments for one argument, so copies are given."""
    import torch
    from torch.utils._pytree import tree_map

    seen: set[int] = set()

    def part(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or id(value) not in seen:
            seen.add(id(value))
            return value
        return value.detach().clone().requires_grad_(value.requires_grad)

    given, named = tree_map(part, (tuple(args), dict(kwargs or {})))
    return torch.export.export(model, given, named, dynamic_shapes=dynamic_shapes)


def lent_constants(program: "torch.export.ExportedProgram") -> list[str]:
    """The constants of a program that were there before its function was called: those that it makes itself are lifted."""
    names = program.graph_signature.inputs_to_lifted_tensor_constants
    made = ("lift_fresh", "lift_fresh_copy")
    nodes = [node for node in program.graph.nodes if node.op == "placeholder" and node.name in names]
    return [names[node.name] for node in nodes if not all(operator_name(user) in made for user in node.users)]


def refuse_repeated(program: "torch.export.ExportedProgram") -> None:
    """Raises ModelError where one tensor was given to torch.export for two arguments."""
    import torch
    from torch.utils._pytree import tree_leaves

    given = [value for value in tree_leaves(program.example_inputs) if isinstance(value, torch.Tensor)]
    if len({id(value) for value in given}) != len(given):
        raise ModelError("one tensor was given to torch.export for two arguments, of which the graph reads one: export with two tensors")


def read_exported(program: "torch.export.ExportedProgram", name: str = "model") -> Graph:
    """Raises Unsupported with every operator that is not covered, and its node. Raises ModelError where one tensor was given to
    torch.export for two arguments."""
    refuse_repeated(program)
    guarded = program
    if any(writes(node) for node in program.graph.nodes):
        program = program.run_decompositions({})  # of writes in place only; operators stay whole
    signature = program.graph_signature
    names = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    names.update(getattr(signature, "inputs_to_lifted_tensor_constants", {}))
    stored = {}
    for place, own in names.items():
        tensor = program.state_dict.get(own, program.constants.get(own))
        stored[place] = Stored(own, array_of(tensor), place in signature.inputs_to_parameters)
    reader = _Reader(program.graph, name, stored, signature.output_specs)
    graph = reader.read()
    graph.conditions += conditions(guarded, reader.arguments)
    return graph


def read_graph(graph: "torch.fx.Graph", name: str, stored: "Mapping[str, Stored]") -> Graph:
    """A graph of aten without writes in place, whose nodes have the fakes of torch in meta["val"], and whose results are a flat
    tuple of tensors. `stored` has the placeholders that are weights. Calls are not checked for the guards of the graph."""
    return _Reader(graph, name, stored).read()


def operator_name(node: Any) -> str:
    """Of an operator of aten without overload, such as `add`; others have the name of their library in front."""
    parts = str(node.target).split(".")
    return parts[1] if parts[0] == "aten" and len(parts) > 1 else ".".join(parts[:2])


def writes(node: Any) -> bool:
    """Whether an operator changes what it is given."""
    return getattr(getattr(node.target, "_schema", None), "is_mutable", False) is True


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
    if name == "uint8":  # bytes of graphs of torch.export are masks or images, of which no operator is tried
        raise Unsupported(f"element type {name}")
    return elements.from_numpy(name)


class _Reader:
    def __init__(self, source: "torch.fx.Graph", name: str, stored: "Mapping[str, Stored]", specs: "Sequence[Any]" = ()) -> None:
        self.source, self.stored, self.specs = source, stored, specs  # specs: what the results are, where an exporter says so
        self.graph = Graph(name)
        self.names: dict[Any, Any] = {}  # a node of torch: a name, or a list of names
        self.arguments: dict[str, Any] = {}  # the nodes of the arguments
        self.symbols: set[str] = set()  # the names of their sizes
        self.current = ""

    def read(self) -> Graph:
        reasons: list[str] = []
        nodes: dict[str, str] = {}
        for node in self.source.nodes:
            self.current = node.name
            try:
                if node.op == "output":
                    self._results(node, known=not reasons)
                else:
                    self._node(node)
            except Unsupported as error:
                what = f"{node.target} '{node.name}'" if node.op == "call_function" else f"{node.op} '{node.name}'"
                reasons += [f"{what}: {reason}" for reason in error.reasons]
                nodes[node.name] = str(error)
                self.names[node] = None
        if reasons:
            raise Unsupported(reasons, nodes)
        self.graph.index()
        return self.graph

    def _node(self, node: Any) -> None:
        if node.op == "placeholder":
            self._placeholder(node)
        elif node.op == "call_function":
            self.names[node] = self._call(node)
            self._record(self.names[node], node.meta.get("val"))
        else:
            raise Unsupported("expected a graph of torch.export")

    def _results(self, node: Any, known: bool) -> None:
        """Those of the user. What the model writes into buffers and arguments is computed where a result needs it, not kept."""
        for index, result in enumerate(node.args[0]):
            kind = self.specs[index].kind.name if self.specs else "USER_OUTPUT"
            if kind.endswith("MUTATION"):
                target = self.specs[index].target
                warnings.warn(
                    f"the model writes '{target}': a program of resid has results only, so '{target}' stays as it is", stacklevel=6
                )
            elif kind != "USER_OUTPUT":
                raise Unsupported(f"a result of kind {kind}")
            elif hasattr(result, "op") and known:
                name = self.name(result)
                self.graph.results.append(name)
                self._record(name, result.meta.get("val"))
            elif result is not None and not hasattr(result, "op"):
                raise Unsupported(f"expected tensors as results, found {result!r}")

    def _record(self, name: Any, value: Any) -> None:
        """What torch says of the values of a node."""
        if isinstance(name, list):
            for part, own in zip(name, value):
                self._record(part, own)
        elif name is not None and hasattr(value, "dtype"):
            self.graph.recorded[name] = (from_torch(value.dtype), tuple(size_of(dim) for dim in value.shape))

    def _placeholder(self, node: Any) -> None:
        if node.name in self.stored:
            own = self.stored[node.name]
            self.graph.constants[own.name] = own.array
            if own.is_parameter:
                self.graph.parameters.add(own.name)
            self.names[node] = own.name
            return
        value = node.meta["val"]
        if hasattr(value, "node"):
            self.names[node] = self.computed(value)
            return
        if value is None or isinstance(value, (bool, int, float, str)):
            # A call is of the value that the model was exported with: torch.export has no other.
            self.names[node] = self.computed(value) if isinstance(value, (bool, int, float)) and node.users else None
            return
        if not hasattr(value, "dtype"):
            raise Unsupported(f"input '{node.name}': expected a tensor, found {type(value).__name__}")
        dims = [dim for dim in map(size_of, value.shape) if dim is not None]
        if len(dims) < len(value.shape):
            raise Unsupported(f"of shape {list(value.shape)}: expected sizes that are numbers, names, or computed from names")
        self.symbols |= {str(name) for dim in value.shape if not isinstance(dim, int) for name in dim.node.expr.free_symbols}
        self.graph.arguments.append(Argument(node.name, from_torch(value.dtype), dims))
        self.arguments[node.name] = node
        self.names[node] = node.name

    def _call(self, node: Any) -> Any:
        from . import torch_layers, torch_shapes  # noqa: F401  (join the table)
        from .torch_ops import TABLE

        if node.target is operator.getitem:
            source = self.names[node.args[0]]
            return None if source is None else source[node.args[1]]
        name = operator_name(node)
        if name in _IGNORED:
            return None
        if name == "_assert_scalar":
            return self._asserted(node.args[0])
        if any(source.op != "placeholder" and self.names.get(source) is None for source in node.all_input_nodes):
            return None  # what it reads is not covered, and reported already
        if hasattr(node.meta.get("val"), "node") or isinstance(node.meta.get("val"), (bool, int, float)):
            return self.computed(node.meta["val"])
        if name not in TABLE or not hasattr(node.target, "_schema") or node.target._schema.is_mutable:
            raise Unsupported("no such operator is covered")
        return TABLE[name](self, Call(node))

    def _asserted(self, condition: Any) -> None:
        value = condition.meta["val"] if hasattr(condition, "op") else condition
        if not isinstance(value, (bool, int)):
            self.graph.conditions.append(self.expression(value))

    # -- what the operators ask for

    def add(self, op: str, inputs: Sequence[str], attributes: "dict[str, Any] | None" = None) -> str:
        """Adds a node of one result; returns its name."""
        return self.add_several(op, inputs, attributes or {}, 1)[0]

    def add_several(self, op: str, inputs: Sequence[str], attributes: "dict[str, Any]", count: int) -> list[str]:
        """Adds a node; returns the names of its results."""
        names = [self.graph.fresh(self.current) for _ in range(count)]
        self.graph.nodes.append(Node(op, list(inputs), names, attributes, self.current))
        return names

    def name(self, value: Any) -> str:
        """The name of a tensor."""
        if not hasattr(value, "op"):
            raise Unsupported(f"expected a tensor, found {value!r}")
        name: str = self.names[value]
        return name

    def expression(self, value: Any) -> str:
        """What torch writes for a number that is computed from sizes of the arguments."""
        unknown = {str(name) for name in value.node.expr.free_symbols} - self.symbols
        if unknown:
            raise Unsupported(f"a number that is known at run time only ({value.node.expr})")
        return str(value.node.expr)

    def computed(self, value: Any) -> str:
        """A number, or what is computed from sizes, as a tensor of rank 0."""
        if isinstance(value, (bool, int, float)):
            return self.graph.constant(self.current, np.array(value))
        size = size_of(value) if set(map(str, value.node.expr.free_symbols)) <= self.symbols else None
        if size is not None and value.node.pytype is int:
            return self.numbers([size], ())
        return self.add("resid.Computed", [], {"expression": self.expression(value)})

    def dropout(self, call: Call, p: str) -> "tuple[str, dict[str, Any]]":
        """Of dropout in training: the name of the tensor with seed and step, and the attributes. The node says them."""
        if "dropout" not in call.node.meta:
            raise Unsupported(f"{p} = {call[p]} in training: expected inference")
        state, site = call.node.meta["dropout"]
        return state, {"p": float(call[p]), "site": site}

    def scalar(self, value: Any, element: str) -> str:
        """A number or a size, as a tensor of rank 0."""
        if hasattr(value, "op"):
            name: str = self.names[value]
            return name
        return self.graph.constant(self.current, np.array(value).astype(elements.to_numpy(element)))

    def size(self, value: Any) -> Dim:
        """A number or a node that is a size."""
        found = size_of(value.meta.get("val") if hasattr(value, "op") else value)
        if found is None:
            raise Unsupported(f"a size that is known at run time only ({value})")
        return found

    def sizes(self, values: Sequence[Any]) -> str:
        """A list of numbers and sizes, as a tensor of rank 1."""
        return self.numbers([self.size(value) for value in values], (len(values),))

    def numbers(self, values: "Sequence[Dim]", shape: tuple[int, ...]) -> str:
        array = np.empty(len(values), object)
        array[:] = values
        if not any(isinstance(value, Size) for value in values):
            array = array.astype(np.int64)
        return self.graph.constant(self.current, array.reshape(shape))

    def shape(self, node: Any) -> str:
        """The shape that torch has recorded."""
        return self.sizes(list(node.meta["val"].shape))

    def operand(self, value: Any, element: str) -> str:
        """A tensor in this type, or a number."""
        if not hasattr(value, "op"):
            return self.scalar(value, element)
        if not hasattr(value.meta["val"], "dtype"):
            return self.cast(self.names[value], element)
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


def tensor_of(array: np.ndarray) -> "torch.Tensor":
    """Shares memory."""
    import torch

    return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16) if array.dtype.name == "bfloat16" else torch.from_numpy(array)
