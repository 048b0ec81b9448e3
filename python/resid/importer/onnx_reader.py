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
_ELEMENTS = {"tensor(float)": "f32", "tensor(double)": "f64", "tensor(float16)": "f16", "tensor(bfloat16)": "bf16"}
_ELEMENTS |= {"tensor(bool)": "i1", "tensor(uint8)": "u8", **{f"tensor(int{bits})": f"i{bits}" for bits in (8, 16, 32, 64)}}


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

        try:
            model = onnx.inliner.inline_local_functions(model)
        except Exception as error:  # onnx has no class of its own for functions that call themselves
            raise ModelError(f"functions of the model cannot be inlined: {error}") from error
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
            graph.nodes.append(_node(node, Path(folder), graph.opset))
    graph.results = [value.name for value in model.graph.output]
    graph.recorded = {value.name: _recorded(value) for value in model.graph.output}
    _check(graph)
    graph.index()
    return graph


def _package() -> Any:
    try:
        import onnx
    except ImportError as error:
        raise ImportFailure("reading ONNX files needs the Python package onnx (python -m pip install onnx)") from error
    return onnx


def _text(name: "str | bytes", what: str) -> str:
    """A name, which is bytes where these are no UTF-8."""
    if isinstance(name, bytes):
        raise ModelError(f"the name of {what}: expected UTF-8, but got {name!r}")
    return name


def _argument(value: "onnx.ValueInfoProto") -> Argument:
    from onnx import helper

    if not value.type.HasField("tensor_type"):
        raise Unsupported(f"input '{value.name}': expected a tensor, found {value.type.WhichOneof('value')}")
    kind = value.type.tensor_type
    if not kind.HasField("shape"):
        raise Unsupported(f"input '{value.name}': expected a known rank, found none")
    try:
        element = elements.from_numpy(helper.tensor_dtype_to_np_dtype(kind.elem_type))
    except KeyError as error:
        raise ModelError(f"input '{value.name}': no element type has the number {kind.elem_type}") from error
    except Unsupported as error:
        raise Unsupported(f"input '{value.name}': {error}") from error
    dims: list[int | str] = []
    for index, dim in enumerate(kind.shape.dim):
        # Older exporters write -1 for an open size, or a name without letters for several that differ.
        known = dim.HasField("dim_value") and dim.dim_value >= 0
        size = _text(dim.dim_param, f"a size of input '{value.name}'")
        named = size if any(letter.isalnum() for letter in size) else ""
        dims.append(dim.dim_value if known else named or f"{value.name}_dim{index}")
    return Argument(value.name, element, dims)


def _recorded(value: "onnx.ValueInfoProto") -> "tuple[str, tuple[int | str | None, ...] | None]":
    """What the file says of an output; exporters may leave out all of it."""
    from onnx import helper

    kind = value.type.tensor_type
    try:
        element = elements.from_numpy(helper.tensor_dtype_to_np_dtype(kind.elem_type)) if kind.elem_type else ""
    except (KeyError, Unsupported):
        element = ""
    if not kind.HasField("shape"):
        return element, None
    return element, tuple(
        dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else dim.dim_param or None for dim in kind.shape.dim
    )


def _node(node: "onnx.NodeProto", folder: Path, opset: int) -> Node:
    from onnx import AttributeProto, defs, helper

    attributes: dict[str, Any] = {}
    for attribute in node.attribute:
        if attribute.type == AttributeProto.TENSOR:
            attributes[attribute.name] = _array(attribute.t, folder)
        elif attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
            attributes[attribute.name] = None  # no operator with a body is covered
        else:
            try:
                found = helper.get_attribute_value(attribute)
            except ValueError as error:
                raise ModelError(f"{node.op_type} '{node.name}': attribute {attribute.name}: {error}") from error
            if attribute.type == AttributeProto.FLOAT:
                found = shortest(found)
            attributes[attribute.name] = found.decode() if isinstance(found, bytes) else found
    op = _text(node.op_type, "an operator")
    if node.domain == "com.microsoft" and op in ("Attention", "RotaryEmbedding"):
        op = "com.microsoft." + op  # of the same name as another operator of ONNX
    elif node.domain not in _DOMAINS or op.startswith("resid."):
        op = f"{node.domain}.{op}"
    if op.startswith("resid."):
        op = f"'{op}'"  # the importer's own operators have such names
    made = Node(op, list(node.input), list(node.output), attributes, node.name)
    if node.domain in _DOMAINS[:2] and defs.has(node.op_type, opset, ""):
        _define(made, node, defs.get_schema(node.op_type, opset, ""))
    return made


def _define(node: Node, proto: "onnx.NodeProto", schema: "onnx.defs.OpSchema") -> None:
    """Compares a node with the definition of its operator, which gives it the types of its inputs."""
    if not schema.min_input <= len(node.inputs) <= schema.max_input:
        expected = f"{schema.min_input} to {schema.max_input}" if schema.min_input < schema.max_input else schema.min_input
        raise ModelError(f"{node.describe()}: expected {expected} inputs, found {len(node.inputs)}")
    types = {attribute.name: attribute.type for attribute in proto.attribute}
    known: Any  # the stubs of onnx lack what its enumerations have
    for name, known in schema.attributes.items():
        if name not in types and known.required:
            raise ModelError(f"{node.describe()}: expected an attribute {name}")
        if types.get(name, known.type.value) != known.type.value:
            raise ModelError(f"{node.describe()}: expected an attribute {name} of type {known.type.name}")
    for index in range(len(node.inputs)):
        formal: Any = schema.inputs[min(index, len(schema.inputs) - 1)]
        if formal.option.name == "Single" and not node.inputs[index]:
            raise ModelError(f"{node.describe()}: expected an input {formal.name}")
        allowed = frozenset(_ELEMENTS[kind] for kind in formal.types if kind in _ELEMENTS)
        node.types.append((formal.type_str if formal.is_homogeneous else str(index), allowed))


def _constant(node: "onnx.NodeProto", folder: Path) -> np.ndarray:
    from onnx import helper

    if len(node.attribute) != 1:
        raise ModelError(f"Constant '{node.name or node.output[0]}': expected one attribute, found {len(node.attribute)}")
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
        try:
            return numpy_helper.to_array(tensor)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"tensor '{tensor.name}' has other elements than its type and sizes say: {error}") from error
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
