# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# From a graph of Dynamo to one of aten that the importer reads: operators stay whole (linear, layer_norm, attention), and writes
# in place are gone. It does not decide what resid computes (partition.py).

from __future__ import annotations

import collections
import copy
import dataclasses
import re
from typing import Any, TypeAlias

import torch
from torch._guards import TracingContext, tracing
from torch._subclasses.fake_tensor import FakeTensor
from torch.amp.autocast_mode import _enter_autocast, _exit_autocast
from torch.fx import Graph, GraphModule, Interpreter, Node
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing, make_fx
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from resid.importer.torch_reader import writes


class Refused(Exception):
    """A graph that stays PyTorch's as a whole; the text says why."""


@dataclasses.dataclass
class Captured:
    """`module` has the placeholders of Dynamo's graph, in their order. The first results are what the graph writes into the
    placeholders `written`; the others are its own. `views` make results that share memory with an argument or another result.
    Where a dropout drops, `state` is a last placeholder: int64[2], seed and step. Each such node has the name of it and a site of its
    own in meta["dropout"]. Where `casts` is set, the casts of autocast are nodes, and autocast is off where the graph runs."""

    module: GraphModule
    weights: set[str]
    written: list[str]
    views: list[Node]
    state: "Node | None" = None
    casts: bool = False


def capture(module: GraphModule) -> Captured:
    """Raises Refused."""
    given = [node for node in module.graph.nodes if node.op == "placeholder"]
    fakes = [node.meta.get("example_value") for node in given]
    mode = next((fake.fake_mode for fake in fakes if isinstance(fake, FakeTensor)), None)
    if mode is None:
        raise Refused("it takes no tensors")
    for fake in fakes:
        if isinstance(fake, FakeTensor) and (fake.device.type != "cpu" or fake.layout != torch.strided):
            raise Refused(f"a tensor on {fake.device} of layout {fake.layout}: expected dense ones on the CPU")
    if any(getattr(node.target, "__name__", "") == "_jvp_increment_nesting" for node in module.graph.nodes):
        raise Refused("torch.func.jvp")
    module = _with_detach(module)
    casts = torch.is_autocast_enabled("cpu") or any(node.target is _enter_autocast for node in module.graph.nodes)
    try:
        with tracing(TracingContext(mode)), mode, torch.no_grad():
            whole = _with_casts(module, fakes) if casts else make_fx(module, pre_dispatch=True, tracing_mode="real")(*fakes)
        with tracing(TracingContext(mode)), mode, torch.no_grad(), torch.autocast("cpu", enabled=False):
            written: list[str] = []
            _drop(whole, _DETACHING)
            _drop_idle_dropout(whole)
            shared = _find_shared(whole.graph)
            views = [node for _, chain in shared.values() for node in chain]
            if any(writes(node) for node in whole.graph.nodes):
                whole, written, views = _without_writes(whole, fakes, shared)
            for result in filter(is_tensor, whole.graph.output_node().all_input_nodes):
                start, chain = _find_chain(result)
                for node in [start, *chain]:
                    if node.target in _FRESH:  # a new tensor in each call
                        node.target = torch.ops.aten.clone.default
            _drop(whole, _FRESH)
            for node in whole.graph.find_nodes(op="get_attr"):
                if torch._C._functorch.is_functorch_wrapped_tensor(getattr(whole, node.target)):
                    raise Refused("a transform of torch.func")
                node.meta["val"] = mode.from_tensor(getattr(whole, node.target))
    except Refused:
        raise
    except Exception as error:  # PyTorch's own tracing: what it cannot do is no mistake of the user
        raise Refused(f"tracing: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}") from error
    dropouts = [node for node in whole.graph.nodes if _is_dropout(node)]
    for node in whole.graph.nodes:
        if is_random(node) and node not in dropouts:
            raise Refused(f"{node.target}: random numbers are PyTorch's")
        if node.op == "call_function" and not _is_plain(node):
            raise Refused(f"{node.target}: it changes more than its results")
    names = {}
    for old, new in zip(given, whole.graph.find_nodes(op="placeholder"), strict=True):
        before = new.name
        new._rename(_shorten(old.name))
        names[before] = new.name
    written = [names[name] for name in written]
    weights = {new.name for old, new in zip(given, whole.graph.find_nodes(op="placeholder"), strict=True) if _is_weight(old)}
    return Captured(whole, weights, written, views, _number_dropouts(whole.graph, dropouts, mode) if dropouts else None, casts)


def _shorten(name: str) -> str:
    """What Dynamo calls an argument or a weight, as users do: of `self._modules['norm']._parameters['weight']`, norm_weight."""
    words = re.sub(r"^[lL]_(self_)?|_$", "", name)
    return re.sub(r"(^|_)(modules|parameters|buffers)(?=_)", "", words).strip("_") or name


def _with_detach(module: GraphModule) -> GraphModule:
    """The graph with detach in place of `.data`, which tracing does not see: it differs in what autograd notices of writes alone."""
    graph = copy.deepcopy(module.graph)
    for node in graph.find_nodes(op="call_function", target=getattr(torch._C._autograd, "_get_data_attr")):
        node.target = torch.detach
    return GraphModule(module, graph)


def _with_casts(module: GraphModule, fakes: "list[Any]") -> GraphModule:
    """The graph with what autocast does as nodes: first operators in its regions, then operators with casts. No cast is kept from an
    earlier one, since it would be no node."""
    with torch.autocast("cpu", torch.get_autocast_dtype("cpu"), torch.is_autocast_enabled("cpu"), cache_enabled=False):
        for keeps_regions in (True, False):
            module = make_fx(_Casting(module, keeps_regions).run, pre_dispatch=True, tracing_mode="real")(*fakes)
    return module


class _Casting(Interpreter):
    """Calls each operator for which autocast has a rule by this rule: the casts are seen, and autocast is off in it. An operator
    that calls such ones, like einsum, is taken apart."""

    def __init__(self, module: GraphModule, keeps_regions: bool = False) -> None:
        super().__init__(module)
        self.keeps_regions = keeps_regions
        self.entered: list[Any] = []

    def call_function(self, target: Any, args: "tuple[Any, ...]", kwargs: "dict[str, Any]") -> Any:
        with torch._C.DisableTorchFunction():  # the mode of make_fx would enter no region, and call operators without their rules
            if target is _enter_autocast:
                self.entered.append(_enter_autocast(*args[:3], False))
            elif target is _exit_autocast:
                _exit_autocast(self.entered.pop())
            elif torch.is_autocast_enabled("cpu") and isinstance(target, torch._ops.OpOverload):
                if _has_kernel(target, "AutocastCPU"):
                    return target._op_dk(torch._C.DispatchKey.AutocastCPU, *args, **kwargs)
                if _has_kernel(target, "CompositeImplicitAutograd"):
                    flat, spec = pytree.tree_flatten((args, kwargs))
                    with disable_proxy_modes_tracing():
                        apart = _take_apart(target, flat, spec)
                    if apart is not None:
                        return _Casting(apart).run(*flat)
        if target in (_enter_autocast, _exit_autocast) and not self.keeps_regions:
            return None
        return super().call_function(target, args, kwargs)


def _has_kernel(target: Any, key: str) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(target.name(), key))


def _take_apart(target: Any, flat: "list[Any]", spec: Any) -> "GraphModule | None":
    """What an operator calls, where autocast gives its result a narrower type than an argument has by a rule for something in it."""

    def call(function: Any, *flat: Any) -> Any:
        args, kwargs = pytree.tree_unflatten(flat, spec)
        return function(*args, **kwargs)

    narrow = torch.get_autocast_dtype("cpu")
    if not any(isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype != narrow for value in flat):
        return None
    if all(getattr(result, "dtype", None) != narrow for result in pytree.tree_leaves(call(target, *flat))):
        return None
    apart: GraphModule = make_fx(lambda *flat: call(target.decompose, *flat), pre_dispatch=True)(*flat)
    calls = (node.target for node in apart.graph.nodes if isinstance(node.target, torch._ops.OpOverload))
    return apart if any(_has_kernel(called, "AutocastCPU") for called in calls) else None


def _is_dropout(node: Node) -> bool:
    """Whether resid has a mask for it."""
    return node.target in (torch.ops.aten.dropout.default, torch.ops.aten.scaled_dot_product_attention.default) and is_random(node)


def _number_dropouts(graph: Graph, dropouts: "list[Node]", mode: Any) -> Node:
    with graph.inserting_after(graph.find_nodes(op="placeholder")[-1]):
        state: Node = graph.placeholder("resid_dropout")
    state.meta["val"] = mode.from_tensor(torch.zeros(2, dtype=torch.int64))
    for site, node in enumerate(dropouts):
        node.meta["dropout"] = state.name, site
    return state


# Their results are their arguments, as far as no autograd listens; the second ones' only where nothing is written.
_DETACHING = (torch.ops.aten.detach.default, torch.ops.aten.detach_.default)
_FRESH = (torch.ops.aten.lift_fresh.default, torch.ops.aten.lift_fresh_copy.default)


def _drop(module: GraphModule, targets: "tuple[Any, ...]") -> None:
    for node in list(module.graph.nodes):
        if node.target in targets:
            node.replace_all_uses_with(node.args[0])
            module.graph.erase_node(node)


def _drop_idle_dropout(module: GraphModule) -> None:
    """With p = 0, dropout gives its argument, in training too."""
    for node in module.graph.find_nodes(op="call_function", target=torch.ops.aten.dropout.default):
        if node.args[1] == 0:
            node.replace_all_uses_with(node.args[0])
            module.graph.erase_node(node)


# The node in whose memory another is, and the nodes from there to the other: views, and writes in place.
_Chain: TypeAlias = "tuple[Node, list[Node]]"


def _find_shared(graph: Graph) -> "dict[Node, _Chain]":
    """The results that share memory with an argument or another result. Raises Refused where a view of what resid computes, whose
    elements are in the order of its indices, would be none."""
    chains = {result: _find_chain(result) for result in graph.output_node().all_input_nodes if is_tensor(result)}
    count = collections.Counter(start for start, _ in chains.values())
    shared = {result: (start, chain) for result, (start, chain) in chains.items() if start.op == "placeholder" or count[start] > 1}
    for result, (start, chain) in shared.items():
        if any(torch.Tag.inplace_view in getattr(node.target, "tags", ()) for node in chain):
            raise Refused(f"{result.name}: it shares memory with another tensor, whose shape is written")
        if start.op != "placeholder" and not value_of(start).is_contiguous() and not _stay_views(start, chain):
            raise Refused(f"{result.name}: it shares memory with {start.name}, and hangs on the order of its elements")
    return shared


def _find_chain(result: Node) -> "_Chain":
    memory, node = _memory_of(result), result
    chain: list[Node] = []
    while (source := next((source for source in node.all_input_nodes if memory & _memory_of(source)), None)) is not None:
        chain.insert(0, node)
        node = source
    if chain and not is_tensor(node):  # one of several results of an operator
        node = chain.pop(0)
    return node, chain


def _memory_of(node: Node) -> "set[int]":
    value = value_of(node)
    parts = value if isinstance(value, (list, tuple)) else [value]
    return {part.untyped_storage()._cdata for part in parts if isinstance(part, torch.Tensor)}


def _stay_views(start: Node, chain: "list[Node]") -> bool:
    """Whether the chain makes views of a tensor that has the shape of `start` and no gaps."""
    first = value = torch.empty(value_of(start).shape, dtype=value_of(start).dtype)
    for source, node in zip([start, *chain], chain):
        if writes(node):
            continue
        args, kwargs = map_arg((node.args, node.kwargs), lambda arg: value if arg is source else value_of(arg))
        target: Any = node.target
        try:
            value = target(*args, **kwargs)
        except (RuntimeError, ValueError):
            return False
    return bool(first.untyped_storage()._cdata == value.untyped_storage()._cdata)


def _without_writes(module: GraphModule, fakes: "list[Any]", shared: "dict[Node, _Chain]") -> "tuple[GraphModule, list[str], list[Node]]":
    """The graph with results in place of writes, which of its arguments the first results are written to, and the views that make
    those of `shared`: of the arguments themselves, or of what other results are in when all is written."""
    results: Any = module.graph.output_node().args[0]
    kept = [result for result in results if isinstance(result, Node) and result not in shared]
    for start, chain in shared.values():
        kept.append(start)
        for source, node in zip([start, *chain], chain):
            others = [] if writes(node) else [other for other in node.all_input_nodes if other is not source]
            if any(_memory_of(other) for other in others):
                raise Refused(f"{node.name}: a view of what is written, whose shape is another tensor's")
            kept += others
    kept = [node for node in dict.fromkeys(kept) if node.op != "placeholder"]
    module.graph.output_node().args = (tuple(kept),)
    module.recompile()
    whole, written = _export(module, fakes)
    new: Graph = whole.graph
    output = new.output_node()
    own: Any = output.args[0]
    made = dict(zip(module.graph.find_nodes(op="placeholder"), new.find_nodes(op="placeholder"), strict=True))
    made.update(zip(kept, own[len(written) :], strict=True))
    views: list[Node] = []
    with new.inserting_before(output):
        for start, chain in shared.values():
            for source, node in zip([start, *chain], chain):
                if writes(node):
                    made[node] = made[source]
                elif node not in made:
                    made[node] = new.node_copy(node, made.__getitem__)
                    views.append(made[node])
    output.args = (tuple([*own[: len(written)], *map_arg(tuple(results), made.__getitem__)]),)
    whole.recompile()
    return whole, written, views


def _export(module: GraphModule, fakes: "list[Any]") -> "tuple[GraphModule, list[str]]":
    """The graph without writes; its first results are what is to be written to the arguments of the names."""
    from torch._functorch.aot_autograd import aot_export_module

    whole: Any
    whole, signature = aot_export_module(module, fakes, trace_joint=False, pre_dispatch=True)
    constants = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    if signature.buffers_to_mutate:
        raise Refused("it writes a constant of the graph")
    for node in whole.graph.find_nodes(op="placeholder"):
        if node.name in constants:  # one of the graph, and no argument
            name = node.name + "_constant"
            setattr(whole, name, module.get_buffer(constants[node.name]))
            with whole.graph.inserting_before(node):
                node.replace_all_uses_with(whole.graph.get_attr(name))
            whole.graph.erase_node(node)
    return whole, list(signature.user_inputs_to_mutate.values())


def _is_plain(node: Node) -> bool:
    """Whether a node only computes its result."""
    if isinstance(node.target, torch._ops.OpOverload):
        return not writes(node)
    return getattr(node.target, "__module__", "") in ("_operator", "operator", "math", "torch", "builtins")


def is_random(node: Node) -> bool:
    """Whether it draws from a generator, and so hangs on the order of nodes."""
    name = str(node.target)
    if name.startswith("aten.dropout."):
        return bool(node.args[1] and node.args[2])
    if name.startswith("aten.scaled_dot_product_attention."):
        return bool(node.args[4] if len(node.args) > 4 else node.kwargs.get("dropout_p", 0.0))
    return isinstance(node.target, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded in node.target.tags


def _is_weight(placeholder: Node) -> bool:
    """Whether it is a parameter or a buffer of a module."""
    return placeholder.meta.get("tensor_dict", {}).get("_dynamo_static_input_type") is not None


def value_of(node: Node) -> Any:
    """What tracing has found a node to be: a fake tensor, a size, a tuple."""
    return node.meta.get("val")


def is_tensor(node: Node) -> bool:
    return isinstance(value_of(node), torch.Tensor)
