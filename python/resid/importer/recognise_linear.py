# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds linear layers: a product with a constant matrix, turned or not, and the bias after it.

from __future__ import annotations

from .graph import Graph, Node


def recognise_linear(graph: Graph) -> None:
    for node in list(graph.nodes):
        if node.op == "MatMul":
            _weight(graph, node)
    graph.index()
    for node in list(graph.nodes):
        if node.op == "resid.Linear":
            _bias(graph, node)
    graph.remove_dead()


def _weight(graph: Graph, node: Node) -> None:
    """MatMul(x, W) and MatMul(x, Transpose(W))."""
    name = node.input(1)
    turned = graph.maker(name, "Transpose")
    transposed = 1
    if turned is not None and list(turned.attributes.get("perm", [1, 0])) == [1, 0]:
        name, transposed = turned.input(0), 0
    array = graph.constants.get(name)
    if array is not None and array.ndim == 2 and array.dtype.kind not in "iub":
        node.op, node.inputs, node.attributes = "resid.Linear", [node.input(0), name], {"transposed": transposed}


def _bias(graph: Graph, node: Node) -> None:
    """A constant that is added to each row, if nothing else reads the product."""
    output = node.outputs[0]
    if len(node.inputs) > 2 or not graph.read_once(output) or node.input(1) not in graph.constants:
        return
    (add,) = graph.readers[output]
    others = [name for name in add.inputs if name != output]
    columns = graph.constants[node.input(1)].shape[1 if node.attributes["transposed"] else 0]
    bias = graph.constants.get(others[0]) if add.op == "Add" and len(others) == 1 else None
    if bias is None or bias.shape != (columns,):
        return
    node.inputs.append(others[0])
    graph.nodes.remove(node)
    graph.nodes[graph.nodes.index(add)] = node
    node.outputs = [add.outputs[0]]
    graph.index()
