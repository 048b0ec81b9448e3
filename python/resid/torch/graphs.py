# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# From a graph of Dynamo to one of aten that the importer reads: operators stay whole (linear, layer_norm, attention), and writes
# in place are gone. It does not decide what resid computes (partition.py).

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from torch._guards import TracingContext, tracing
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx

from resid.importer.torch_reader import writes


class Refused(Exception):
    """A graph that stays PyTorch's as a whole; the text says why."""


@dataclasses.dataclass
class Captured:
    """`module` has the placeholders of Dynamo's graph, in their order. The first results are what the graph writes into the
    placeholders `written`; the others are its own."""

    module: GraphModule
    weights: set[str]
    written: list[str]


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
    if torch.is_autocast_enabled("cpu") or any("autocast" in str(node.target) for node in module.graph.nodes):
        raise Refused("autocast: convert the model with .to(torch.bfloat16) in its place")
    try:
        with tracing(TracingContext(mode)), mode, torch.no_grad():
            whole = make_fx(module, pre_dispatch=True, tracing_mode="real")(*fakes)
            written: list[str] = []
            _drop(whole, _DETACHING)
            if any(writes(node) for node in whole.graph.nodes):
                whole, written = _without_writes(whole, fakes)
            _drop(whole, _FRESH)
            for node in whole.graph.find_nodes(op="get_attr"):
                node.meta["val"] = mode.from_tensor(getattr(whole, node.target))
    except Refused:
        raise
    except Exception as error:  # PyTorch's own tracing: what it cannot do is no mistake of the user
        raise Refused(f"tracing: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}") from error
    for node in whole.graph.nodes:
        if is_random(node):
            raise Refused(f"{node.target}: random numbers are PyTorch's")
        if node.op == "call_function" and not _is_plain(node):
            raise Refused(f"{node.target}: it changes more than its results")
    weights = {new.name for old, new in zip(given, whole.graph.find_nodes(op="placeholder"), strict=True) if _is_weight(old)}
    return Captured(whole, weights, written)


# Their results are their arguments, as far as no autograd listens; the second ones' only where nothing is written.
_DETACHING = (torch.ops.aten.detach.default, torch.ops.aten.detach_.default)
_FRESH = (torch.ops.aten.lift_fresh.default, torch.ops.aten.lift_fresh_copy.default)


def _drop(module: GraphModule, targets: "tuple[Any, ...]") -> None:
    for node in list(module.graph.nodes):
        if node.target in targets:
            node.replace_all_uses_with(node.args[0])
            module.graph.erase_node(node)


def _without_writes(module: GraphModule, fakes: "list[Any]") -> "tuple[GraphModule, list[str]]":
    """The graph with results in place of writes, and which of its arguments the first results are written to."""
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
