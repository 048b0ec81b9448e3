# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds products with constant integers that DequantizeLinear makes floats of: products of integers, and linear layers of integers.

from __future__ import annotations

import numpy as np

from .graph import Graph, Node

_SIGNED = {"int8": 0, "uint8": 128, "int4": 0, "uint4": 8}  # what is taken from elements, so that they are i8 or i4
# A sum of so many products of two differences of bytes is less than 2³¹.
_MOST_TERMS = 33024


def widen_nibbles(graph: Graph) -> None:
    """Constants of 4 bits of DequantizeLinear become bytes of the same values."""
    for node in graph.nodes:
        for index in (0, 2) if node.op == "DequantizeLinear" else ():
            array = graph.constants.get(node.input(index))
            if array is not None and str(array.dtype) in ("int4", "uint4"):
                node.inputs[index] = graph.constant(node.input(index), array.astype(str(array.dtype).replace("4", "8")))
                node.attributes["resid.bits"] = 4


def recognise_quantised(graph: Graph) -> None:
    for node in list(graph.nodes):
        if node.op == "MatMul" or (node.op == "Gemm" and _is_plain(node)):
            _product(graph, node)
    graph.remove_dead()


def _is_plain(node: Node) -> bool:
    return node.attributes.get("alpha", 1) == node.attributes.get("beta", 1) == 1 and not node.attributes.get("transA")


def _product(graph: Graph, node: Node) -> None:
    weight = graph.maker(node.input(1), "DequantizeLinear")
    found = None if weight is None else _parameters(graph, weight, bool(node.attributes.get("transB")))
    if weight is None or found is None:
        return
    q, scale, zero, group = found
    rows = graph.maker(node.input(0), "DequantizeLinear")
    output, addend = node.outputs[0], node.input(2)
    product = graph.fresh(output) if addend else output
    stem = weight.input(0)
    if rows is not None and scale.shape[1] == 1 and q.shape[1] <= _MOST_TERMS and _is_of_whole(graph, rows):
        of_rows = [rows.input(index) for index in range(3)]
        parts = [graph.constant(stem, part) for part in (np.ascontiguousarray(q.T), scale[:, 0], zero[:, 0])]
        made = Node("resid.IntegerProduct", [*of_rows, *parts], [product], {}, node.name)
    elif group % 2 == 0:
        parts = [graph.constant(stem, part) for part in (q, scale, *([zero] if zero.any() else []))]
        attributes = {"group": group, "bits": weight.attributes.get("resid.bits", 8)}
        made = Node("resid.IntegerLinear", [node.input(0), *parts], [product], attributes, node.name)
    else:
        return
    made.origin = node.describe()
    add = [Node("Add", [product, addend], [output], {}, node.name, origin=node.describe())] if addend else []
    place = graph.nodes.index(node)
    graph.nodes[place : place + 1] = [made, *add]
    graph.index()


def _is_of_whole(graph: Graph, node: Node) -> bool:
    """Bytes with one constant f32 as their scale, and rows of which each is multiplied."""
    scale = graph.constants.get(node.input(1))
    kind, dims = graph.types.get(node.input(0), ("", ()))
    is_plain = scale is not None and scale.size == 1 and scale.dtype == np.float32 and not node.attributes.get("output_dtype")
    return is_plain and kind in ("i8", "u8") and len(dims) > 1


def _parameters(graph: Graph, node: Node, is_turned: bool) -> "tuple[np.ndarray, np.ndarray, np.ndarray, int] | None":
    """Integers with signs [out, in], scales and zero points [out, in / group], and the size of a group, of a constant matrix [in, out],
    or [out, in] if `is_turned`. None where it has others."""
    q, scale = graph.constants.get(node.input(0)), graph.constants.get(node.input(1))
    if q is None or scale is None or q.ndim != 2 or str(q.dtype) not in ("int8", "uint8"):
        return None
    zero = graph.constants.get(node.input(2)) if node.input(2) else np.zeros((), q.dtype)
    if zero is None or scale.dtype != np.float32 or node.attributes.get("output_dtype", 1) not in (0, 1):
        return None
    bits = node.attributes.get("resid.bits", 8)
    low = _SIGNED[str(q.dtype).replace("8", str(bits))]
    axis, block = node.attributes.get("axis", 1) % 2, node.attributes.get("block_size", 0)
    outputs = 0 if is_turned else 1
    rows, columns = q.shape[outputs], q.shape[1 - outputs]
    group = block if block and axis != outputs else columns
    if not columns or columns % group or (block and group == columns != block):
        return None
    wanted = (rows, columns // group) if is_turned else (columns // group, rows)
    of_outputs = scale.shape == (rows,) and axis == outputs
    if not (scale.shape == wanted if block else scale.size == 1 or of_outputs) or zero.shape not in (scale.shape, ()):
        return None

    def laid(array: np.ndarray) -> np.ndarray:
        if array.size == 1 or not block:
            return np.ascontiguousarray(np.broadcast_to(array.reshape(-1, 1), (rows, columns // group)))
        return np.ascontiguousarray(array if is_turned else array.T)

    moved = (q if is_turned else q.T).astype(np.int16) - low
    return np.ascontiguousarray(moved.astype(np.int8)), laid(scale), (laid(zero).astype(np.int16) - low).astype(np.int8), group
