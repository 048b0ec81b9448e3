# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# torch.compile(model, backend="resid"): whole graphs as programs of resid. What is not covered stays PyTorch's, and the report
# says what and why.

from __future__ import annotations

import collections
import dataclasses
import functools
import operator
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.fx import Graph, GraphModule, Node
from torch.utils.flop_counter import FlopCounterMode

import resid
from resid.importer.torch_reader import operator_name

from . import engine, training
from .graphs import Refused, capture, value_of
from .modules import DropoutState
from .partition import Partition, is_size
from .pieces import CompiledPiece


@dataclasses.dataclass
class Placed:
    """Where one node of a graph runs. `reason` says why it is PyTorch's, and is empty where it is resid's. `flops` are
    floating-point operations, as torch.utils.flop_counter counts them, for the sizes of the first call."""

    node: str
    operator: str
    reason: str
    flops: int


@dataclasses.dataclass
class GraphReport:
    """What became of one graph of Dynamo. `refused` says why all of it is PyTorch's; `gradients` where its gradients are from.
    `kernels` are the programs that were compiled, which have their pictures in svg() and what was fused in report(). `integers`
    says how many weights became integers, and of each other matrix why not."""

    count: "Callable[[], list[Placed]]" = list
    kernels: "list[resid.Module]" = dataclasses.field(default_factory=list)
    programs: int = 0
    refused: str = ""
    gradients: str = ""
    integers: "list[str]" = dataclasses.field(default_factory=list)

    @functools.cached_property
    def nodes(self) -> "list[Placed]":
        """Counted when they are first asked for."""
        return self.count()

    @property
    def share(self) -> float:
        """Of all floating-point operations, those that run in resid; of a graph without any, of its nodes."""
        weights = [(node.flops, not node.reason) for node in self.nodes]
        if not any(flops for flops, _ in weights):
            weights = [(1, own) for _, own in weights]
        total = sum(flops for flops, _ in weights)
        return sum(flops for flops, own in weights if own) / total if total else 0.0

    def __str__(self) -> str:
        own = sum(not node.reason for node in self.nodes)
        lines = [f"resid: {own} of {len(self.nodes)} nodes, {self.share:.1%} of the floating-point operations, in {self.programs} programs"]
        if self.refused:
            lines.append(f"  all of it is PyTorch's: {self.refused}")
        lines += [f"  {line}" for line in (self.gradients, *self.integers) if line]
        lines += [f"  PyTorch's  {node.node:28} {node.operator:36} {node.reason}" for node in self.nodes if node.reason and not self.refused]
        return "\n".join(lines)


# Of graphs that were compiled last, with their weights.
_reports: "collections.deque[tuple[list[weakref.ref[torch.Tensor]], GraphReport]]" = collections.deque(maxlen=256)


def report(model: "nn.Module | None" = None) -> "list[GraphReport]":
    """Of each graph that was compiled and has weights of `model`, in their order; of all graphs without it. The last 256 graphs of
    the process are known."""
    own = None if model is None else {id(tensor) for tensor in (*model.parameters(), *model.buffers())}
    return [found for weights, found in _reports if own is None or any(id(weight()) in own for weight in weights)]


def explain(model: Any, args: "Sequence[Any]" = (), kwargs: "Mapping[str, Any] | None" = None) -> str:
    """What `compile` would do, as one table: for each operator how many of its nodes resid takes, their part of the floating-point
    operations, and why others stay PyTorch's. Calls the model once, without gradients, and compiles nothing."""
    found: list[GraphReport] = []

    def look(module: GraphModule, inputs: "list[Any]") -> "Callable[..., Any]":
        found.append(GraphReport())
        try:
            partition = Partition(capture(module), narrows_weights=True)
            partition.run()
            _record(partition, found[-1])
        except Refused as refused:
            _refuse(module, found[-1], str(refused))
        return module.forward

    looking: Any = torch.compile(model, backend=look)
    with torch.no_grad():
        looking(*args, **dict(kwargs or {}))
    return _table(found)


def _table(reports: "Sequence[GraphReport]") -> str:
    nodes = [node for found in reports for node in found.nodes]
    total = sum(node.flops for node in nodes) or 1
    rows = [("operator", "resid", "PyTorch", "of operations", "why PyTorch")]
    by_flops = sorted({node.operator for node in nodes}, key=lambda name: (-sum(n.flops for n in nodes if n.operator == name), name))
    for name in by_flops:
        own = [node for node in nodes if node.operator == name]
        reasons = "; ".join(dict.fromkeys(node.reason for node in own if node.reason))
        left = sum(bool(node.reason) for node in own)
        rows.append((name, str(len(own) - left), str(left), f"{sum(node.flops for node in own) / total:.1%}", reasons))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)) + "  " + row[4] for row in rows]
    heads = [str(found).splitlines()[0] for found in reports]
    return "\n".join([*heads, *(line.rstrip() for line in lines)])


def compile(model: Any, args: "Sequence[Any]" = (), kwargs: "Mapping[str, Any] | None" = None, *, dynamic: "bool | None" = None,
            quantize: "str | None" = None) -> Any:
    """torch.compile(model, backend="resid"), and with inputs one call of it without gradients, so that it is compiled for these.
    `dynamic` is that of torch.compile. What is not covered stays PyTorch's: `report(model)` says what and why.

    `quantize="w8a8"` gives linear layers integers of 8 bits, as resid.quantize does without examples, for evaluation: their results
    are others then, and have no gradient. Those that a program returns stay as they are. Raises ValueError for another scheme, and
    a call where gradients are asked for does, too."""
    options: Any = None if quantize is None else {"quantize": quantize}
    _find_scheme(options)
    compiled: Any = torch.compile(model, backend=resid_backend, dynamic=dynamic, options=options)
    if args or kwargs:
        with torch.no_grad():
            compiled(*args, **dict(kwargs or {}))
    return compiled


def _find_scheme(options: "Mapping[str, Any] | None") -> "str | None":
    options = dict(options or {})
    scheme: "str | None" = options.pop("quantize", None)
    if options:
        raise TypeError(f"the backend 'resid' has the option 'quantize', but got {', '.join(map(repr, options))}")
    if scheme not in (None, "w8a8"):
        raise ValueError(f"option 'quantize': expected 'w8a8' but got {scheme!r}")
    return scheme


def resid_backend(module: GraphModule, inputs: "Sequence[Any]", *, options: "Mapping[str, Any] | None" = None, **others: Any) -> "Callable[..., Any]":
    """The backend "resid" of torch.compile. `options` may have "quantize", which is that of `compile`."""
    if others:
        raise TypeError(f"the backend 'resid' takes no {', '.join(map(repr, others))}")
    scheme = _find_scheme(options)
    if scheme and _asks_for_gradients(inputs):
        raise ValueError("option 'quantize': integers have no gradient; call the model under torch.no_grad()")
    found = GraphReport()
    weights = [weakref.ref(value) for value in inputs if isinstance(value, torch.Tensor)]
    _reports.append((weights, found))
    return _build(module, inputs, found, make=functools.partial(CompiledPiece, scheme=scheme), scheme=scheme)


def _asks_for_gradients(inputs: "Sequence[Any]") -> bool:
    return torch.is_grad_enabled() and any(isinstance(value, torch.Tensor) and value.requires_grad for value in inputs)


def _build(module: GraphModule, inputs: "Sequence[Any]", found: GraphReport, make: "Callable[..., Any]",
           scheme: "str | None" = None) -> "Callable[..., Any]":
    try:
        captured = capture(module)
    except Refused as refused:
        return _refuse(module, found, str(refused))
    asked = _asks_for_gradients(inputs)
    partition = Partition(captured, narrows_weights=not asked)
    if asked and captured.written:
        return _refuse(module, found, "it writes what it is given, and gradients are asked for")
    pieces, second_run = _make_with_gradients(partition, module, inputs) if asked else (None, "")
    if second_run and captured.state is not None:
        return _refuse(module, found, f"random numbers, which a second run of the graph for its gradients would draw anew: {second_run}")
    pieces = _make(partition, make) if pieces is None else pieces
    _record(partition, found)
    found.kernels = [piece.module for piece in pieces.values()]
    if scheme:
        kept = [f"floats     {name}: {reason}" for piece in pieces.values() for name, reason in piece.floats.items()]
        found.integers = [f"integers of 8 bits for {sum(len(piece.scales) for piece in pieces.values())} weights", *kept]
    if not pieces:
        return module.forward
    forward = _assemble(partition, pieces)
    if captured.state is not None:
        forward = _Masked(forward)
    if not asked:
        return forward
    if second_run:
        found.gradients = f"gradients are PyTorch's, of a second run of the graph: {second_run}"
        return _with_gradients(forward, module)
    found.gradients = "gradients are resid's"
    return forward


def _make_with_gradients(partition: Partition, module: GraphModule, inputs: "Sequence[Any]") -> "tuple[dict[int, Any] | None, str]":
    """The compiled pieces with gradients of their own, or None and the reason why the compiler has none."""
    reason = training.find_refusal(module)
    if reason:
        return None, reason
    partition.run()
    differentiable = training.find_differentiable(partition.captured, inputs)
    reason = training.find_unknown(partition.pieces.values(), differentiable)
    if reason:
        return None, reason
    try:
        return {stage: training.make(piece, differentiable) for stage, piece in partition.pieces.items()}, ""
    except resid.CompileError as error:
        return None, str(error).splitlines()[0]


def _refuse(module: GraphModule, found: GraphReport, reason: str) -> "Callable[..., Any]":
    """All of the graph as it is."""
    found.refused, found.programs = reason, 0
    found.count = lambda: [Placed(node.name, str(node.target), reason, 0) for node in module.graph.nodes if node.op.startswith("call")]
    return module.forward


def _make(partition: Partition, make: "Callable[..., Any]") -> "dict[int, Any]":
    """The compiled pieces, by stage. What the compiler refuses is left to PyTorch, and the graph is divided again."""
    while True:
        partition.run()
        pieces = {}
        try:
            for stage, piece in partition.pieces.items():
                pieces[stage] = make(piece)
            return pieces
        except resid.CompileError as error:
            partition.leave(piece.nodes, f"the compiler: {str(error).splitlines()[0]}")


def _record(partition: Partition, found: GraphReport) -> None:
    found.programs = len(partition.pieces)
    found.count = lambda: [Placed(node.name, str(node.target), partition.left.get(node, ""), _flops(node))
                           for node in partition.nodes if not is_size(node)]


def _flops(node: Node) -> int:
    """What PyTorch counts for one node, on tensors without elements."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return 0
    args: Any
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda source: _as_first_called(value_of(source)))
    if operator_name(node) in ("transformers.grouped_mm_fallback", "_grouped_mm"):
        return int(2 * args[0].numel() * args[1].shape[-1])
    counter = FlopCounterMode(display=False)
    try:
        with torch.no_grad(), counter:
            node.target(*args, **kwargs)
    except RuntimeError:  # its sizes hang on elements: no product is like that
        return 0
    return int(counter.get_total_flops())


def _as_first_called(value: Any) -> Any:
    """A tensor or size as numbers, which adds no condition on the graph's sizes."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(_as_first_called, value))
    if isinstance(value, torch.Tensor):
        return torch.empty([_as_first_called(size) for size in value.shape], dtype=value.dtype, device="meta")
    return value.node.hint if hasattr(value, "node") else value


def _assemble(partition: Partition, pieces: "Mapping[int, Any]") -> "Callable[..., Any]":
    """A function of the graph's placeholders: stage by stage, nodes of PyTorch as they are, and each piece as one call."""
    old, new = partition.graph, Graph()
    made: dict[Node, Node] = {}
    sources = {node: partition.narrowed.get(node, node) for piece in partition.pieces.values() for node in piece.weights}
    output = old.output_node()
    results: Any = output.args[0]
    if len(pieces) == 1 and not partition.captured.written:
        (compiled,), (piece,) = pieces.values(), partition.pieces.values()
        read = [*piece.inputs, *(sources[node] for node in piece.weights)]
        if list(results) == piece.outputs and all(node.op == "placeholder" for node in read):
            # A graph of PyTorch around it would take as long as a small kernel.
            places = {node: place for place, node in enumerate(old.find_nodes(op="placeholder"))}
            alone: Callable[..., Any] = compiled.among([places[node] for node in read])
            return alone
    for node in old.find_nodes(op="placeholder"):
        made[node] = new.node_copy(node)
    stages = partition.stages
    outside = {node for node in partition.narrowed if any(user in partition.left or user.op == "output" for user in node.users)}
    for stage in range(max(stages.values()) + 1):
        if stage % 2:
            piece = partition.pieces[stage]
            call = new.call_function(pieces[stage], tuple(made[sources.get(node, node)] for node in [*piece.inputs, *piece.weights]))
            for place, node in enumerate(piece.outputs):
                made[node] = new.call_function(operator.getitem, (call, place))
            continue
        for node in partition.graph.nodes:
            is_own = node in partition.left or is_size(node) or node.op == "get_attr" or node in outside
            if stages[node] == stage and node not in made and is_own and node in partition.needed:
                made[node] = new.node_copy(node, made.__getitem__)
    written = partition.captured.written
    for name, result in zip(written, results):
        target = next(node for node in made if node.op == "placeholder" and node.name == name)
        new.call_function(torch.ops.aten.copy_.default, (made[target], made[result]))
    new.output(torch.fx.node.map_arg(tuple(results[len(written) :]), made.__getitem__))
    whole: Callable[..., Any] = GraphModule(partition.captured.module, new).forward
    # Casts are nodes of the graph, and PyTorch's nodes are to cast nothing more.
    return _with_autocast(whole, False) if partition.captured.casts else whole


def _with_autocast(function: "Callable[..., Any]", enabled: bool) -> "Callable[..., Any]":
    dtype = torch.get_autocast_dtype("cpu")

    def call(*values: Any) -> Any:
        with torch.autocast("cpu", dtype, enabled):
            return function(*values)

    return call


class _Masked:
    """Gives each call the seed and its step. The first call draws the seed, and not the compilation: Dynamo sets PyTorch's generator
    back to where it was, and graphs that are compiled one after the other would have the same masks."""

    def __init__(self, forward: "Callable[..., Any]") -> None:
        self.forward = forward
        self.state: "DropoutState | None" = None

    def __call__(self, *values: Any) -> Any:
        if self.state is None:
            with torch.inference_mode(False):
                self.state = DropoutState()
        return self.forward(*values, self.state())


class _SecondRun(torch.autograd.Function):
    """Results from resid. Gradients from PyTorch's graph, which runs once more in the backward."""

    @staticmethod
    def forward(ctx: Any, forward: "Callable[..., Any]", again: "Callable[..., Any]", have: "list[bool]", *values: Any) -> Any:
        results = forward(*values)
        ctx.again = again
        ctx.others = [None if isinstance(value, torch.Tensor) else value for value in values]
        ctx.save_for_backward(*(value if isinstance(value, torch.Tensor) else None for value in values))
        tensors = [(result, has) for result, has in zip(results, have, strict=True) if isinstance(result, torch.Tensor)]
        ctx.mark_non_differentiable(*(result for result, has in tensors if not has or not result.is_floating_point()))
        return results

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        engine.refuse_second_gradient("torch.compile(backend='resid')")
        needed = ctx.needs_input_grad[3:]
        values = [other if tensor is None else tensor.detach().requires_grad_(wanted)
                  for other, tensor, wanted in zip(ctx.others, ctx.saved_tensors, needed)]
        with torch.enable_grad():
            results = ctx.again(*values)
        pairs = [(result, gradient) for result, gradient in zip(results, gradients)
                 if isinstance(result, torch.Tensor) and result.requires_grad and gradient is not None]
        wanted = [value for value, is_needed in zip(values, needed) if is_needed]
        found = iter(torch.autograd.grad([result for result, _ in pairs], wanted, [gradient for _, gradient in pairs], allow_unused=True))
        return None, None, None, *(next(found) if is_needed else None for is_needed in needed)


def _with_gradients(forward: "Callable[..., Any]", module: GraphModule) -> "Callable[..., Any]":
    """As Dynamo has found by tracing, some results have a gradient."""
    results: Any = module.graph.output_node().args[0]
    have = [isinstance(result, Node) and bool(getattr(result.meta.get("example_value"), "requires_grad", True)) for result in results]

    again = _with_autocast(module.forward, torch.is_autocast_enabled("cpu"))

    def call(*values: Any) -> Any:
        return _SecondRun.apply(forward, again, have, *values)

    return call


def register() -> None:
    """Makes the name known to torch.compile. The wheel's metadata do so too, without an import."""
    if "resid" not in torch._dynamo.list_backends(exclude_tags=()):
        torch._dynamo.register_backend(resid_backend, name="resid")
