# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds layer norms and RMS norms that are spread over several operators: mean, difference, squares, mean, epsilon, root, factor.
# Gamma and beta after it join the norm. Casts to f32 and back around it, which exporters of f16 models write, are taken in.

from __future__ import annotations

from .graph import Graph, Node


def recognise_norms(graph: Graph) -> None:
    for node in list(graph.nodes):
        found = _norm(graph, node)
        if found is not None:
            graph.nodes[graph.nodes.index(node)] = found
            graph.index()
    for node in list(graph.nodes):
        if node.op in ("resid.LayerNorm", "resid.RmsNorm"):
            _take_casts(graph, node)
            _take_affine(graph, node)
    graph.remove_dead()


def _norm(graph: Graph, node: Node) -> Node | None:
    """The norm without gamma and beta that this node, the last of it, computes."""
    for numerator, variance, epsilon in _quotients(graph, node):
        if not graph.same_type(numerator, node.outputs[0]):
            continue  # a constant of one element may have more dimensions than x, and give them to the result
        average = graph.maker(variance, "ReduceMean")
        axes = None if average is None else _axes(graph, average)
        if average is None or axes is None or _square(graph, average.input(0)) != numerator:
            continue
        difference = graph.maker(numerator, "Sub")
        settings = {"axes": axes, "epsilon": epsilon}
        if difference is not None:
            mean = graph.maker(difference.input(1), "ReduceMean")
            if mean is not None and mean.input(0) == difference.input(0) and _axes(graph, mean) == axes:
                return Node("resid.LayerNorm", [difference.input(0)], node.outputs, settings, node.name)
        return Node("resid.RmsNorm", [numerator], node.outputs, settings, node.name)
    return None


def _quotients(graph: Graph, node: Node) -> list[tuple[str, str, float]]:
    """(d, v, epsilon) for each way to read the node as d/sqrt(v + epsilon)."""
    found = []
    if node.op == "Div":
        found = [(node.input(0), _under_root(graph, node.input(1)))]
    elif node.op == "Mul":
        found = [(node.input(i), _inverse_root(graph, node.input(1 - i))) for i in (0, 1)]
    results = []
    for numerator, inside in found:
        add = graph.maker(inside, "Add") if inside else None
        for i in (0, 1):
            epsilon = graph.scalar(add.input(i)) if add is not None else None
            if add is not None and epsilon is not None and epsilon >= 0:
                results.append((numerator, add.input(1 - i), epsilon))
    return results


def _under_root(graph: Graph, name: str) -> str:
    root = graph.maker(name, "Sqrt", "Pow")
    if root is None or (root.op == "Pow" and graph.scalar(root.input(1)) != 0.5):
        return ""
    return root.input(0)


def _inverse_root(graph: Graph, name: str) -> str:
    node = graph.maker(name, "Reciprocal", "Div", "Pow", "resid.Rsqrt")
    if node is None:
        return ""
    if node.op == "Reciprocal":
        return _under_root(graph, node.input(0))
    if node.op == "Div":
        return _under_root(graph, node.input(1)) if graph.scalar(node.input(0)) == 1 else ""
    return node.input(0) if node.op == "resid.Rsqrt" or graph.scalar(node.input(1)) == -0.5 else ""


def _square(graph: Graph, name: str) -> str:
    """x if the value is x², else ""."""
    node = graph.maker(name, "Pow", "Mul")
    if node is None:
        return ""
    squared = graph.scalar(node.input(1)) == 2 if node.op == "Pow" else node.input(0) == node.input(1)
    return node.input(0) if squared else ""


def _axes(graph: Graph, node: Node) -> list[int] | None:
    if not node.attributes.get("keepdims", 1):
        return None
    given = node.attributes.get("axes")
    if given is None:
        array = graph.constants.get(node.input(1))
        given = None if array is None else array.reshape(-1).tolist()
    return None if not given else sorted(int(axis) for axis in given)


def _take_casts(graph: Graph, norm: Node) -> None:
    """A norm of f16 or bf16 that is computed in f32, as resid's is. Gamma then follows in the narrow type."""
    widened = graph.maker(norm.input(0), "Cast")
    readers = graph.readers.get(norm.outputs[0], [])
    if widened is None or len(readers) != 1 or readers[0].op != "Cast" or norm.outputs[0] in graph.results:
        return
    narrow, wide, result = (graph.types.get(name) for name in (widened.input(0), norm.input(0), readers[0].outputs[0]))
    if narrow and wide and result and narrow[0] in ("f16", "bf16") and wide[0] == "f32" and result[0] == narrow[0]:
        norm.inputs[0], norm.attributes["narrow_affine"] = widened.input(0), int(not _has_affine(norm))
        _move(graph, norm, readers[0])


def _take_affine(graph: Graph, norm: Node) -> None:
    """norm(x)·gamma + beta, with constants of the rank of the normalised dimensions. A cast may come before gamma."""
    if _has_affine(norm):
        return
    rank = len(norm.attributes["axes"])
    gamma, after = _only_reader(graph, norm.outputs[0], "Mul", rank)
    if after is None or after.outputs[0] == "":
        return
    norm.inputs = [norm.inputs[0], gamma]
    _move(graph, norm, after)
    beta, after = _only_reader(graph, norm.outputs[0], "Add", rank)
    if after is not None:
        norm.inputs.append(beta)
        _move(graph, norm, after)


def _has_affine(norm: Node) -> bool:
    """Whether gamma or beta was the reader's. What stands after the norm comes after these."""
    return any(norm.inputs[1:])


def _only_reader(graph: Graph, name: str, op: str, rank: int) -> tuple[str, Node | None]:
    readers = graph.readers.get(name, [])
    if len(readers) != 1 or name in graph.results or readers[0].op != op:
        return "", None
    reader = readers[0]
    others = [other for other in reader.inputs if other != name]
    if len(others) != 1 or others[0] not in graph.constants or graph.constants[others[0]].ndim != rank:
        return "", None
    return others[0], reader


def _move(graph: Graph, norm: Node, after: Node) -> None:
    """The norm takes the place of the node after it."""
    graph.nodes.remove(norm)
    graph.nodes[graph.nodes.index(after)] = norm
    norm.outputs = [after.outputs[0]]
    graph.index()
