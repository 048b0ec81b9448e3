# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Importing models: from ONNX files and from graphs of torch.export to the text of a program and its weights. Needs no compiler.

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import emit_attention, emit_convolution, emit_division, emit_elementwise, emit_fill, emit_linear  # noqa: F401
from . import emit_grouped, emit_lookup, emit_norms, emit_quantised, emit_reduce, emit_rotary, emit_shapes  # noqa: F401
from .conditions import recorded_size
from .emit import Emitter
from .errors import FileError, FlagError, ImportFailure, ModelError, Unsupported
from .fold import fold_constants
from .graph import Graph
from .recognise import recognise
from .verify import verify
from .weights import write as write_weights

if TYPE_CHECKING:
    import onnx
    import torch

__all__ = [
    "FileError",
    "FlagError",
    "ImportFailure",
    "Imported",
    "ModelError",
    "Unsupported",
    "from_exported",
    "from_function",
    "from_graph",
    "from_onnx",
    "write_weights",
]


@dataclasses.dataclass(frozen=True)
class Imported:
    """A program and the arrays that its arguments marked `resid.weight` stand for, by their names."""

    text: str
    weights: dict[str, np.ndarray]
    function: str


def from_onnx(
    model: "str | Path | onnx.ModelProto", *, sizes: "dict[str, int] | None" = None, recognised: bool = True
) -> Imported:
    """Imports an ONNX file, or a model in memory.

    `sizes` fixes sizes that the model leaves open, by their names. With `recognised=False` operators are written one by one:
    norms, activations and attention that are spread over several operators stay as they are.
    Raises FileError, ModelError, and Unsupported with every node that is not covered."""
    from .onnx_reader import from_model, read_onnx

    graph = read_onnx(model) if isinstance(model, (str, Path)) else from_model(model)
    return from_graph(graph, sizes=sizes, recognised=recognised)


def from_exported(program: "torch.export.ExportedProgram", *, name: str = "model", recognised: bool = True) -> Imported:
    """Imports a graph of torch.export, without ONNX. Raises ModelError and Unsupported."""
    from .torch_reader import read_exported

    return from_graph(read_exported(program, name), recognised=recognised)


def from_function(function: "Callable[..., Any]", inputs: "Sequence[Any]", dynamic_shapes: Any = None) -> Imported:
    """Imports a function of tensors of PyTorch, as torch.export traces it on `inputs`, under its name. `dynamic_shapes` is torch.export's.

    Raises TypeError where an input is no tensor, or the function is a module or reads tensors beside its arguments, which would be
    weights; and what torch.export, ModelError and Unsupported say."""
    try:
        import torch
    except ImportError:
        raise TypeError("argument 'source': expected text or a path, since functions need PyTorch, which is not installed") from None
    if isinstance(function, torch.nn.Module):
        raise TypeError("argument 'source': expected a function but got a module, which has weights: see resid.torch.compile and from_exported")
    for place, value in enumerate(inputs):
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"argument 'inputs': expected tensors of PyTorch but got {type(value).__name__} at {place}")
    if not (inspect.isfunction(function) or inspect.ismethod(function)):
        raise TypeError("argument 'source': expected a function whose arguments have names; write lambda x: f(x) around it")
    from .torch_reader import export, lent_constants

    module = torch.nn.Module()
    module.forward = function  # the names of its arguments are the program's
    name = re.sub(r"\W", "_", getattr(function, "__name__", "function")).strip("_") or "function"
    with torch.no_grad():
        program = export(module, inputs, dynamic_shapes=dynamic_shapes)
        imported = from_exported(program, name=name)
    read = {*imported.weights, *lent_constants(program)}
    if read:
        raise TypeError(f"argument 'source': expected a function of its arguments alone, but it reads the tensor '{min(read)}'; "
                        "give it as an argument")
    return imported


def from_graph(graph: Graph, *, sizes: "dict[str, int] | None" = None, recognised: bool = True) -> Imported:
    """Writes the program of a graph that a reader has made. Changes the graph."""
    _fix_sizes(graph, sizes or {})
    recognise(graph, recognised)
    if not graph.results:
        raise ModelError("expected results that are tensors, but there is none")
    emitter = Emitter(graph)
    emitter.run()
    text = emitter.program.text(emitter.results())
    verify(text, emitter)
    return Imported(text, emitter.program.weights, emitter.program.name)


def _fix_sizes(graph: Graph, sizes: dict[str, int]) -> None:
    names = {dim for argument in graph.arguments for dim in argument.dims if isinstance(dim, str)}
    for name in sizes:
        if name not in names:
            raise ModelError(f"no size is called '{name}': expected one of {', '.join(sorted(names)) or 'none'}")
    for argument in graph.arguments:
        argument.dims = [sizes.get(dim, dim) if isinstance(dim, str) else dim for dim in argument.dims]
    for name, (element, dims) in graph.recorded.items():
        if dims is not None:
            known = [recorded_size(dim, names, sizes) if isinstance(dim, str) else dim for dim in dims]
            graph.recorded[name] = element, tuple(known)
    fold_constants(graph)
