# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads an ONNX file into a Graph. The package onnx parses it; what is checked here is where external data lies. Does not own which
# operators are covered (emit.py).

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import elements
from .errors import FileError, ImportFailure, ModelError, Unsupported
from .graph import Argument, Graph, Node
from .program import shortest

if TYPE_CHECKING:
    import onnx

_DOMAINS = ("", "ai.onnx", "com.microsoft")


def read_onnx(path: "str | Path") -> Graph:
    """The graph of an .onnx file. Errors: FileError, ModelError, Unsupported; ImportFailure where the package onnx is missing."""
    onnx = _package()
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError(f"'{path}' cannot be read: {error.strerror}") from error
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except Exception as error:  # protobuf's own class differs between its implementations
        raise FileError(f"'{path}' is no ONNX file: {error}") from error
    if not model.HasField("graph"):
        raise FileError(f"'{path}' is no ONNX file: it has no graph")
    return from_model(model, path.parent, path.stem)


def from_model(model: "onnx.ModelProto", folder: "str | Path" = ".", name: str = "model") -> Graph:
    """The same for a model that is in memory; `folder` is where its external data lies."""
    onnx = _package()
    if model.functions:
        import onnx.inliner

        model = onnx.inliner.inline_local_functions(model)
    graph = Graph(name)
    graph.opset = max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=1)
    for tensor in model.graph.initializer:
        graph.constants[tensor.name] = _array(tensor, Path(folder))
        graph.parameters.add(tensor.name)
    if model.graph.sparse_initializer:
        raise Unsupported(f"sparse initializer '{model.graph.sparse_initializer[0].values.name}'")
    for value in model.graph.input:
        if value.name not in graph.constants:
            graph.arguments.append(_argument(value))
    for node in model.graph.node:
        if node.op_type == "Constant" and node.domain in ("", "ai.onnx"):
            graph.constants[node.output[0]] = _constant(node, Path(folder))
        else:
            graph.nodes.append(_node(node, Path(folder)))
    graph.results = [value.name for value in model.graph.output]
    _check(graph)
    graph.index()
    return graph


def _package() -> Any:
    try:
        import onnx
    except ImportError as error:
        raise ImportFailure("reading ONNX files needs the Python package onnx (python -m pip install onnx)") from error
    return onnx


def _argument(value: "onnx.ValueInfoProto") -> Argument:
    from onnx import helper

    if not value.type.HasField("tensor_type"):
        raise Unsupported(f"input '{value.name}': expected a tensor, found {value.type.WhichOneof('value')}")
    kind = value.type.tensor_type
    if not kind.HasField("shape"):
        raise Unsupported(f"input '{value.name}': expected a known rank, found none")
    element = elements.from_numpy(helper.tensor_dtype_to_np_dtype(kind.elem_type))
    dims: list[int | str] = []
    for index, dim in enumerate(kind.shape.dim):
        dims.append(dim.dim_value if dim.HasField("dim_value") else dim.dim_param or f"{value.name}_dim{index}")
    return Argument(value.name, element, dims)


def _node(node: "onnx.NodeProto", folder: Path) -> Node:
    from onnx import AttributeProto, helper

    attributes: dict[str, Any] = {}
    for attribute in node.attribute:
        if attribute.type == AttributeProto.TENSOR:
            attributes[attribute.name] = _array(attribute.t, folder)
        elif attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
            attributes[attribute.name] = None  # no operator with a body is covered
        else:
            found = helper.get_attribute_value(attribute)
            if attribute.type == AttributeProto.FLOAT:
                found = shortest(found)
            attributes[attribute.name] = found.decode() if isinstance(found, bytes) else found
    op = node.op_type
    if node.domain == "com.microsoft" and op in ("Attention", "RotaryEmbedding"):
        op = "com.microsoft." + op  # of the same name as another operator of ONNX
    elif node.domain not in _DOMAINS:
        op = f"{node.domain}.{op}"
    return Node(op, list(node.input), list(node.output), attributes, node.name)


def _constant(node: "onnx.NodeProto", folder: Path) -> np.ndarray:
    from onnx import helper

    (attribute,) = node.attribute
    found = helper.get_attribute_value(attribute)
    if attribute.name == "value":
        return _array(found, folder)
    if attribute.name in ("value_int", "value_ints"):
        return np.array(found, np.int64)
    if attribute.name in ("value_float", "value_floats"):
        return np.array(found, np.float32)
    raise Unsupported(f"Constant '{node.name or node.output[0]}': attribute {attribute.name}")


def _array(tensor: "onnx.TensorProto", folder: Path) -> np.ndarray:
    from onnx import TensorProto, helper, numpy_helper

    if tensor.data_location != TensorProto.EXTERNAL:
        return numpy_helper.to_array(tensor)
    entries = {entry.key: entry.value for entry in tensor.external_data}
    path = _inside(folder, entries.get("location", ""), tensor.name)
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
    wanted = int(np.prod(tensor.dims, dtype=np.int64)) * dtype.itemsize
    offset = int(entries.get("offset", "0"))
    try:
        size = path.stat().st_size
        if offset < 0 or offset + wanted > size:
            raise FileError(
                f"'{path}': tensor '{tensor.name}' is said to lie at bytes {offset} to {offset + wanted} of {size}"
            )
        if wanted == 0:
            return np.zeros(list(tensor.dims), dtype)
        return np.memmap(path, np.uint8, "r", offset, wanted).view(dtype).reshape(list(tensor.dims))
    except OSError as error:
        raise FileError(f"'{path}' cannot be read: {error.strerror}") from error


def _inside(folder: Path, location: str, name: str) -> Path:
    """External data may not lie outside of the model's folder, by its name or by a link."""
    path = folder / location
    if not location or Path(location).is_absolute() or not path.resolve().is_relative_to(folder.resolve()):
        raise FileError(f"tensor '{name}': expected external data inside of '{folder}', found location '{location}'")
    return path


def _check(graph: Graph) -> None:
    """Each value is made once, before it is read."""
    made = set(graph.constants) | {argument.name for argument in graph.arguments} | {""}
    for node in graph.nodes:
        for name in node.inputs:
            if name not in made:
                raise ModelError(f"{node.describe()}: input '{name}' is made by no node before it")
        for name in node.outputs:
            if name and name in made:
                raise ModelError(f"{node.describe()}: output '{name}' is made twice")
            made.add(name)
    for name in graph.results:
        if name not in made:
            raise ModelError(f"output '{name}' of the model is made by no node")
