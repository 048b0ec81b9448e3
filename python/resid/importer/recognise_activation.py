# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds activations that are spread over several operators, by value: a group of elementwise nodes that reads one value and
# constants is evaluated in double at points of a grid, and taken for what it equals there. So no way of writing GELU is missed,
# and nothing that merely looks like it is taken.

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .graph import Graph, Node

_LARGEST = 16  # nodes of a group
_POINTS = np.concatenate([np.linspace(-9, 9, 289), [1e-3, -1e-3, 0.0]])
# Exporters write constants of f32, and 0.7978845608 for the root of 2/pi.
_TOLERANCE = 2e-6
_erf = np.vectorize(math.erf)

_KNOWN = {
    "gelu": 0.5 * _POINTS * (1 + _erf(_POINTS / math.sqrt(2))),
    "gelu_tanh": 0.5 * _POINTS * (1 + np.tanh(math.sqrt(2 / math.pi) * (_POINTS + 0.044715 * _POINTS**3))),
    "silu": _POINTS / (1 + np.exp(-_POINTS)),
}
_CALLS: dict[str, Callable[..., Any]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Pow": np.power,
    "Tanh": np.tanh,
    "Erf": _erf,
    "Exp": np.exp,
    "Neg": np.negative,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Reciprocal": lambda x: 1 / x,
}


def recognise_activations(graph: Graph) -> None:
    # From the last node on, so that a whole chain is seen before a part of it.
    for node in reversed(list(graph.nodes)):
        if node.op not in ("Mul", "Div"):
            continue
        found = _activation(graph, node)
        if found is not None:
            graph.nodes[graph.nodes.index(node)] = found
            graph.remove_dead()


def _activation(graph: Graph, node: Node) -> Node | None:
    group = _group(graph, node)
    if not {"Erf", "Tanh", "Sigmoid", "Exp"} & {member.op for member in group.values()}:
        return None
    # What the group reads, from the outside in: the input of the activation may be a sum or product itself.
    candidates = dict.fromkeys(
        name for member in group.values() for name in member.inputs if graph.scalar(name) is None
    )
    for name in candidates:
        values = _evaluate(graph, node.outputs[0], name, group, {})
        # A constant of one element may have more dimensions than x, and give them to the result.
        if values is None or not graph.same_type(name, node.outputs[0]):
            continue
        for kind, expected in _KNOWN.items():
            if np.all(np.abs(values - expected) <= _TOLERANCE * np.maximum(1, np.abs(_POINTS))):
                if kind == "silu":
                    return Node("resid.Silu", [name], node.outputs, {}, node.name)
                attributes = {"approximate": "tanh" if kind == "gelu_tanh" else "none"}
                return Node("Gelu", [name], node.outputs, attributes, node.name)
    return None


def _group(graph: Graph, root: Node) -> dict[str, Node]:
    """The nearest elementwise nodes from which the node is computed, by their outputs."""
    group: dict[str, Node] = {root.outputs[0]: root}
    waiting = [root]
    while waiting and len(group) < _LARGEST:
        for name in waiting.pop(0).inputs:
            maker = graph.maker(name, *_CALLS)
            if maker is not None and name not in group:
                group[name] = maker
                waiting.append(maker)
    return group


def _evaluate(graph: Graph, name: str, x: str, group: dict[str, Node], done: dict[str, Any]) -> Any:
    """The value at the points, as a function of x; None if it depends on something else."""
    if name == x:
        return _POINTS
    constant = graph.scalar(name)
    if constant is not None:
        return np.float64(constant)
    if name not in done:
        done[name] = None
        node = group.get(name)
        operands = None if node is None else [_evaluate(graph, operand, x, group, done) for operand in node.inputs]
        if node is not None and operands is not None and all(operand is not None for operand in operands):
            with np.errstate(all="ignore"):
                done[name] = _CALLS[node.op](*operands)
    return done[name]
