# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the rewrites of a graph in their order: what ONNX Runtime has fused is taken apart, then what exporters have spread over
# several operators is put together. Each family of rewrites has a file.

from __future__ import annotations

from .contrib import take_apart
from .emit import Emitter
from .errors import ImportFailure
from .fold import fold_constants
from .graph import Graph, Node
from .recognise_activation import recognise_activations
from .recognise_attention import recognise_attention
from .recognise_linear import recognise_linear
from .recognise_norm import recognise_norms
from .recognise_quantised import recognise_quantised, widen_nibbles


def recognise(graph: Graph, recognised: bool = True) -> None:
    """Rewrites the graph. With `recognised=False` only what is needed to know the operators."""
    fold_constants(graph)
    take_apart(graph)
    widen_nibbles(graph)
    if recognised:
        _analyse(graph)
        recognise_norms(graph)
        recognise_activations(graph)
        recognise_quantised(graph)
        recognise_linear(graph)
        recognise_attention(graph)
    graph.remove_dead()


def _analyse(graph: Graph) -> None:
    """Finds types of values. What follows from static shapes becomes a constant, such as a scale that is computed from the size of
    a head; what changes neither type nor elements is taken out. A program is written for this and thrown away."""
    emitter = Emitter(graph)
    try:
        emitter.run()
    except ImportFailure:
        pass  # what is not covered is reported when the program is written in earnest
    graph.types = {name: (value.element, value.dims) for name, value in emitter.values.items()}

    def known(node: Node) -> bool:
        values = [emitter.values.get(name) for name in node.outputs if name]
        return all(value is not None and value.is_constant() and not graph.is_weight(value.weight) for value in values)

    same: dict[str, str] = {}
    kept = []
    for node in graph.nodes:
        node.inputs = [same.get(name, name) for name in node.inputs]
        if known(node):
            graph.constants.update({name: emitter.values[name].array for name in node.outputs if name})
        elif _changes_nothing(graph, node):
            same[node.outputs[0]] = node.inputs[0]
        else:
            kept.append(node)
    graph.nodes = kept
    graph.index()


def _changes_nothing(graph: Graph, node: Node) -> bool:
    if node.outputs[0] in graph.results or any(node.outputs[1:]):
        return False
    if node.op in ("Identity", "Dropout"):
        return True
    before, after = graph.types.get(node.input(0)), graph.types.get(node.outputs[0])
    return node.op in ("Cast", "CastLike", "Expand", "Reshape", "Tile") and before is not None and before == after
