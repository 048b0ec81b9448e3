# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# optimize: takes a model's graph, by torch.export or by Dynamo, has its chains replaced, and reports. The replacing itself is
# in rewrite.py.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.fx import GraphModule

from resid.importer.torch_reader import export, refuse_repeated

from . import forms
from .modules import DropoutState
from .rewrite import Report, rewrite


def optimize(model: nn.Module | torch.export.ExportedProgram, args: Sequence[Any] | None = None,
             kwargs: Mapping[str, Any] | None = None, *, dynamic_shapes: Any = None, backend: str = "eager",
             seed: int | None = None, report: Callable[[Report], Any] | None = print, quantize: str | None = None) -> nn.Module:
    """The same model with its chains of dropout, residual add and norm as resid's kernels. Parameters are shared.

    With example arguments, or with an exported program, the graph is that of torch.export: it keeps the mode (training or
    evaluation) in which it was exported, and is changed and reported at once. `dynamic_shapes` is that of torch.export. The
    result is a module, has the report as `resid_report`, and can be exported and compiled further.

    Without them, graphs are those of Dynamo (torch.compile): they are changed and reported when the model is first called,
    again for each mode and where Dynamo breaks the graph. `backend` says what compiles the rest: "eager" (nothing),
    "inductor", or another one of torch.compile.

    Masks of dropout are resid's: they follow from `seed` (drawn from PyTorch's generator where it is None), from a counter of
    passes, and from the place of the dropout in the graph. `report` is called with each report; None: nobody is.

    `quantize="w8a8"` gives linear layers integers of 8 bits, for evaluation on a CPU; their results are others then, and have no
    gradient. It needs example arguments or an exported program. A layer whose result the model returns stays as it is, and so does
    one whose weight anything else reads. The floats of the others leave the module.

    Raises ValueError where `quantize` is another scheme, or the model is in training mode, or there are no example arguments.
    """
    if quantize is not None:
        _check_quantize(quantize, model, args is None and kwargs is None)
    if isinstance(model, torch.export.ExportedProgram):
        refuse_repeated(model)
        return _optimize_graph(model.module(), seed, report, quantize)
    if args is None and kwargs is None:
        return _compile(model, backend, seed, report)
    program = export(model, args or (), kwargs, dynamic_shapes)
    return _optimize_graph(program.module(), seed, report, quantize)


def _check_quantize(scheme: str, model: nn.Module | torch.export.ExportedProgram, is_lazy: bool) -> None:
    if scheme != "w8a8":
        raise ValueError(f"argument 'quantize': expected 'w8a8' but got {scheme!r}")
    if isinstance(model, torch.export.ExportedProgram):
        if any(forms.op(node) == "dropout" and forms.is_training(node) for node in model.graph.nodes):
            raise ValueError("argument 'quantize': expected a program that was exported in evaluation mode, but it has dropout; call "
                             "model.eval() first")
    elif model.training:
        raise ValueError("argument 'quantize': expected a model in evaluation mode, but it is in training mode; call model.eval() first")
    elif is_lazy:
        raise ValueError("argument 'quantize': expected example arguments or an exported program beside it, but got neither")


def _optimize_graph(module: GraphModule, seed: int | None, report: Callable[[Report], Any] | None,
                    quantize: str | None) -> GraphModule:
    module.resid_report = rewrite(module, DropoutState(seed), quantize=quantize)
    if report is not None:
        report(module.resid_report)
    return module


def _compile(model: nn.Module, backend: str, seed: int | None, report: Callable[[Report], Any] | None) -> nn.Module:
    state = DropoutState(seed)
    sites = 0

    def compile_graph(module: GraphModule, inputs: list[Any]) -> Any:
        nonlocal sites
        found = rewrite(module, state, sites)
        sites += sum(entry.site is not None for entry in found.replaced)
        if report is not None:
            report(found)
        if backend == "eager":
            return module
        # Dynamo's module names the source of each of its buffers. Only a plain one may have a further one, the seed and step.
        return torch._dynamo.lookup_backend(backend)(GraphModule(module, module.graph), inputs)

    return torch.compile(model, backend=compile_graph)
