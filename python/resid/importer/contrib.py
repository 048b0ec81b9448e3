# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operators of ONNX Runtime's optimiser as the operators of ONNX that they stand for. Those of attention are emit_attention.py's.

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .errors import ModelError, Unsupported
from .graph import Graph, Node

Rule = Callable[[Graph, Node], list[Node]]
# Operator: (what it becomes, the attributes that are known)
RULES: dict[str, tuple[Rule, tuple[str, ...]]] = {}
# Inputs that must be given.
_REQUIRED = {"EmbedLayerNormalization": (0, 2, 3, 5, 6), "FastGelu": (0,), "QuickGelu": (0,), "BiasAdd": (0, 1, 2)}
_REQUIRED |= dict.fromkeys(("BiasGelu", "BiasSoftmax", "FusedMatMul"), (0, 1))
_REQUIRED |= dict.fromkeys(("SkipLayerNormalization", "SkipSimplifiedLayerNormalization"), (0, 1, 2))


def _rule(*ops: str, attributes: tuple[str, ...] = ()) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        for op in ops:
            RULES[op] = (rule, attributes)
        return rule

    return register


def take_apart(graph: Graph) -> None:
    nodes: list[Node] = []
    for node in graph.nodes:
        rule, attributes = RULES.get(node.op, (None, ()))
        if rule is None:
            nodes.append(node)
            continue
        for name in node.attributes:
            if name not in attributes:
                raise Unsupported(f"{node.describe()}: attribute {name}")
        for index in _REQUIRED[node.op]:
            if not node.input(index):
                raise ModelError(f"{node.describe()}: expected an input {index}")
        parts = rule(graph, node)
        for part in parts:
            part.origin = node.describe()
        nodes += parts
    graph.nodes = nodes
    graph.index()


def _add(graph: Graph, node: Node, left: str, right: str, output: str = "") -> tuple[Node, str]:
    output = output or graph.fresh(node.outputs[0])
    return Node("Add", [left, right], [output], {}, node.name), output


@_rule("BiasGelu", "FastGelu", attributes=())
def _bias_gelu(graph: Graph, node: Node) -> list[Node]:
    made, x = [], node.inputs[0]
    if node.input(1):
        add, x = _add(graph, node, x, node.inputs[1])
        made.append(add)
    approximate = "tanh" if node.op == "FastGelu" else "none"
    return [*made, Node("Gelu", [x], node.outputs, {"approximate": approximate}, node.name)]


@_rule("BiasAdd", "BiasSoftmax", attributes=("axis", "is_inner_broadcast"))
def _bias_add(graph: Graph, node: Node) -> list[Node]:
    """BiasAdd: x + bias + skip. BiasSoftmax: softmax(x + mask) over all axes from one on."""
    add, total = _add(
        graph, node, node.inputs[0], node.inputs[1], "" if node.op == "BiasSoftmax" else graph.fresh(node.outputs[0])
    )
    if node.op == "BiasAdd":
        return [add, _add(graph, node, node.inputs[2], total, node.outputs[0])[0]]
    return [add, Node("resid.FlatSoftmax", [total], node.outputs, {"axis": node.attributes.get("axis", 1)}, node.name)]


@_rule("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", attributes=("epsilon",))
def _skip_norm(graph: Graph, node: Node) -> list[Node]:
    """x + skip (+ bias), then the norm. The bias goes to the operand that a product makes, where it belongs."""
    simplified = node.op == "SkipSimplifiedLayerNormalization"
    beta, bias = ("", node.input(3)) if simplified else (node.input(3), node.input(4))
    stream, branch = node.inputs[0], node.inputs[1]
    if graph.maker(stream, "MatMul") and not graph.maker(branch, "MatMul"):
        stream, branch = branch, stream
    made = []
    if bias:
        add, branch = _add(graph, node, branch, bias)
        made.append(add)
    add, total = _add(graph, node, stream, branch, node.output(3))
    op = "SimplifiedLayerNormalization" if simplified else "LayerNormalization"
    outputs = [node.outputs[0]] + (
        [node.output(1)] if simplified and node.output(2) == "" else [node.output(1), node.output(2)]
    )
    inputs = [total, node.inputs[2]] + ([beta] if beta else [])
    while outputs and not outputs[-1]:
        outputs.pop()
    return [
        *made,
        add,
        Node(op, inputs, outputs, {"axis": -1, "epsilon": node.attributes.get("epsilon", 1e-12)}, node.name),
    ]


@_rule("EmbedLayerNormalization", attributes=("epsilon", "mask_index_type"))
def _embed(graph: Graph, node: Node) -> list[Node]:
    """Words, positions and kinds of tokens, summed and normalised."""
    ids, kinds, words, positions, types = (node.input(i) for i in range(5))
    gamma, beta = node.input(5), node.input(6)
    name = node.outputs[0]
    parts, total, made = [(words, ids)], "", []
    if node.input(8):
        parts.append((positions, node.input(8)))
    if node.output(1):
        # The number of tokens of each sentence, which attention takes for a mask.
        if not node.input(7):
            raise Unsupported(f"{node.describe()}: output mask_index without a mask")
        one, last = graph.constant("one", np.array(1, np.int32)), graph.constant("axes", np.array([1], np.int64))
        test, number = graph.fresh(name), graph.fresh(name)
        made.append(Node("Equal", [node.input(7), one], [test], {}, node.name))
        made.append(Node("Cast", [test], [number], {"to": "i32"}, node.name))
        made.append(Node("ReduceSum", [number, last], [node.output(1)], {"keepdims": 0}, node.name))
    if kinds and types:
        parts.append((types, kinds))
    for table, places in parts:
        looked_up = graph.fresh(name)
        made.append(Node("Gather", [table, places], [looked_up], {"axis": 0}, node.name))
        if total:
            add, looked_up = _add(graph, node, total, looked_up)
            made.append(add)
        total = looked_up
    if not node.input(8):
        rows = graph.fresh(name)
        made.append(Node("resid.FirstRows", [positions, ids], [rows], {}, node.name))
        add, total = _add(graph, node, total, rows)
        made.append(add)
    norm = {"axis": -1, "epsilon": node.attributes.get("epsilon", 1e-12)}
    if node.output(2):
        made.append(Node("Identity", [total], [node.output(2)], {}, node.name))
    return [*made, Node("LayerNormalization", [total, gamma, beta], [name], norm, node.name)]


@_rule("FusedMatMul", attributes=("alpha", "transA", "transB", "transBatchA", "transBatchB"))
def _fused_matmul(graph: Graph, node: Node) -> list[Node]:
    """A product with turned operands and a factor. Turning needs the rank, which a swap of the last two does not."""
    if node.attributes.get("transBatchA") or node.attributes.get("transBatchB"):
        raise Unsupported(f"{node.describe()}: attributes transBatchA and transBatchB")
    made, operands = [], list(node.inputs)
    for index, name in ((0, "transA"), (1, "transB")):
        if node.attributes.get(name):
            turned = graph.fresh(operands[index])
            made.append(Node("resid.Swap", [operands[index]], [turned], {}, node.name))
            operands[index] = turned
    alpha = node.attributes.get("alpha", 1.0)
    product = node.outputs[0] if alpha == 1 else graph.fresh(node.outputs[0])
    made.append(Node("MatMul", operands, [product], {}, node.name))
    if alpha != 1:
        factor = graph.constant("alpha", np.array(alpha, np.float32))
        made.append(Node("resid.Scale", [product, factor], node.outputs, {}, node.name))
    return made


@_rule("QuickGelu", attributes=("alpha",))
def _quick_gelu(graph: Graph, node: Node) -> list[Node]:
    if node.attributes.get("alpha", 1.702) == 1:
        return [Node("resid.Silu", node.inputs, node.outputs, {}, node.name)]
    if node.attributes.get("alpha", 1.702) <= 0:
        raise ModelError(f"{node.describe()}: expected a positive alpha, found {node.attributes['alpha']}")
    return [node]
