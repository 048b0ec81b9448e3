# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds attention that is spread over several operators: product of queries and keys, scale, mask, softmax over the keys, product
# with the values. The scale may stand at the queries, at the keys and at the scores.

from __future__ import annotations

from typing import Any

import numpy as np

from .graph import Graph, Node
from .sizes import Dim

# A score of this or less in place of a masked one has weight 0 beside a key that is not masked.
_MASKED = -1e4


def recognise_attention(graph: Graph) -> None:
    for node in list(graph.nodes):
        found = _attention(graph, node) if node.op == "MatMul" else None
        if found is not None:
            graph.nodes[graph.nodes.index(node)] = found
            graph.index()
    graph.remove_dead()


def _attention(graph: Graph, node: Node) -> Node | None:
    weights, guarded = _through(graph, node.input(0))
    softmax = graph.maker(weights, "Softmax", "resid.FlatSoftmax")
    if softmax is None or not _over_keys(graph, softmax):
        return None
    mask, choice, filler, scores = _masks(graph, softmax.input(0))
    inner, scale = _scaled(graph, scores)
    product = graph.maker(inner, "MatMul")
    if product is None or product is node or not _fits(graph, product, node, mask or choice):
        return None
    if not graph.same_type(softmax.input(0), product.outputs[0]):
        return None
    q, q_scale = _scaled(graph, product.input(0))
    k, k_scale = _scaled(graph, product.input(1))
    settings: dict[str, Any] = {"scale": scale * q_scale * k_scale, "transposed_keys": 1}
    if (mask or choice) and not (guarded and filler == -np.inf) and not _sees_a_key(graph, mask or choice):
        settings["without_keys"] = "nan" if filler == -np.inf else "mean"
    turned = graph.maker(k, "Transpose")
    order = None if turned is None else turned.attributes.get("perm")
    if turned is not None and order and len(order) >= 3:
        # Undo the last two of the turn: what is left turns [batch, positions, heads, size] as the values are turned.
        order = [*order[:-2], order[-1], order[-2]]
        k = turned.input(0)
        if order != list(range(len(order))):
            k = graph.fresh(k)
            undone = Node("Transpose", [turned.input(0)], [k], {"perm": order}, turned.name)
            graph.nodes.insert(graph.nodes.index(node), undone)
        settings["transposed_keys"] = 0
    v = node.input(1)
    if not settings["transposed_keys"]:
        k, v = _without_repeats(graph, k, v)
    return Node("resid.Attention", [q, k, v, mask, choice], node.outputs, settings, node.name)


def _dims(graph: Graph, name: str) -> tuple[Dim, ...] | None:
    return graph.types[name][1] if name in graph.types else None


def _over_keys(graph: Graph, softmax: Node) -> bool:
    dims = _dims(graph, softmax.input(0))
    axis = softmax.attributes.get("axis", -1 if graph.opset >= 13 or not graph.opset else 1)
    return dims is not None and axis in (-1, len(dims) - 1)


def _fits(graph: Graph, product: Node, node: Node, mask: str) -> bool:
    """Whether batch and heads are the same everywhere, and the mask broadcasts to the scores: products and sums of ONNX may
    broadcast in more ways than attention does."""
    q, k, v, scores = (_dims(graph, name) for name in (product.input(0), product.input(1), node.input(1), product.outputs[0]))
    if q is None or k is None or v is None or scores is None or len(q) not in (3, 4):
        return False
    if not len(q) == len(k) == len(v) or not q[:-2] == k[:-2] == v[:-2]:
        return False
    if not mask:
        return True
    own = _dims(graph, mask)
    return own is not None and len(own) <= len(scores) and all(m == 1 or s != 1 for m, s in zip(own[::-1], scores[::-1]))


def _through(graph: Graph, name: str) -> tuple[str, bool]:
    """What is in front of nodes that change no weight: dropout of inference, and PyTorch's zeros in place of NaNs; and whether
    these zeros are there."""
    node = graph.maker(name, "Dropout", "Identity", "Where")
    if node is None:
        return name, False
    if node.op != "Where":
        return _through(graph, node.input(0)) if node.output(0) == name else (name, False)
    test = graph.maker(node.input(0), "IsNaN")
    zeros = graph.elements(node.input(1))
    if test is None or test.input(0) != node.input(2) or zeros is None or np.any(zeros):
        return name, False
    return (_through(graph, node.input(2))[0], True) if graph.same_type(name, node.input(2)) else (name, False)


def _masks(graph: Graph, name: str) -> tuple[str, str, float, str]:
    """(mask that is added, mask that chooses, what masked scores are, scores without them); "" for none."""
    choose = graph.maker(name, "Where")
    if choose is not None:
        filler = graph.scalar(choose.input(2))
        if filler is not None and filler <= _MASKED:
            return "", choose.input(0), filler, choose.input(1)
        return "", "", 0, name
    add = graph.maker(name, "Add")
    if add is None:
        return "", "", 0, name
    for i in (0, 1):
        inner, _ = _scaled(graph, add.input(i))
        if graph.maker(inner, "MatMul") is not None:
            return add.input(1 - i), "", -np.inf, add.input(i)
    return "", "", 0, name


def _sees_a_key(graph: Graph, mask: str) -> bool:
    """Whether each query is known to have a key that is not masked: by a constant mask, or by rows of one that begin at its
    first key, which no row of it masks."""
    array, cut = graph.elements(mask), graph.maker(mask, "Slice")
    if array is None and cut is not None:
        array = graph.elements(cut.input(0))
        starts, axes = (graph.constants.get(cut.input(i)) for i in (1, 3))
        if array is None or starts is None or axes is None or len(cut.inputs) > 4:
            return False
        begins = dict(zip((axes % array.ndim).tolist(), starts.tolist()))
        array = array[..., :1] if begins.get(array.ndim - 1, 0) == 0 else None
    if array is None or array.ndim == 0:
        return False
    visible = array if array.dtype == bool else np.isfinite(array.astype(np.float64))
    return bool(np.all(np.any(visible, axis=-1)))


def _scaled(graph: Graph, name: str) -> tuple[str, float]:
    """The value without a constant factor, and the factor."""
    node = graph.maker(name, "Mul", "Div", "resid.Scale")
    if node is None:
        return name, 1.0
    for i in (0, 1) if node.op != "Div" else (1,):
        factor = graph.scalar(node.input(i))
        if factor and graph.same_type(name, node.input(1 - i)):
            inner, rest = _scaled(graph, node.input(1 - i))
            return inner, rest * (1 / factor if node.op == "Div" else factor)
    return name, 1.0


def _without_repeats(graph: Graph, k: str, v: str) -> tuple[str, str]:
    """Keys and values before each head of them was repeated for a group of heads of queries."""
    keys, values = _repeated(graph, k), _repeated(graph, v)
    if keys and values and graph.types[keys][1][1] == graph.types[values][1][1]:
        return keys, values
    return k, v


def _repeated(graph: Graph, name: str) -> str:
    """x where the value is [batch, groups, positions, size] x, expanded to [batch, groups, times, positions, size] and reshaped."""
    join = graph.maker(name, "Reshape")
    wide = None if join is None else graph.maker(join.input(0), "Expand")
    unsqueezed = None if wide is None else graph.maker(wide.input(0), "Unsqueeze", "Reshape")
    if join is None or wide is None or unsqueezed is None:
        return ""
    x = unsqueezed.input(0)
    shapes = [_dims(graph, value) for value in (x, wide.input(0), join.input(0), name)]
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes):
        return ""
    before, single, many, after = known
    if len(before) != 4 or len(many) != 5 or len(after) != 4:
        return ""
    batch, groups, positions, size = before
    fits = single == (batch, groups, 1, positions, size) and many[:2] + many[3:] == before
    return x if fits and after == (batch, groups * many[2], positions, size) else ""
