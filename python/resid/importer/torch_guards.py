# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For which sizes a graph of torch.export stands: the ranges of its sizes and the guards that tracing has left, as conditions on
# the shapes of arguments (conditions.py).

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .conditions import read_size
from .errors import Unsupported
from .sizes import Dim

if TYPE_CHECKING:
    import torch

_SIZE = re.compile(r"L((?:\[[^\]]*\])+)\.size\(\)\[(\d+)\]")


def size_of(value: Any) -> "Dim | None":
    """The size that torch writes as a number or an expression; None where it is none that can be said."""
    if isinstance(value, int):
        return value
    try:
        return read_size(str(value.node.expr))
    except (Unsupported, AttributeError):
        return None


def conditions(program: "torch.export.ExportedProgram", arguments: Mapping[str, Any]) -> list[str]:
    """`arguments` are the nodes of the arguments, by name. Raises Unsupported where guards are not known."""
    sources: dict[str, str] = {}  # an expression of torch for a size: where it is found
    for name, node in arguments.items():
        for index, dim in enumerate(node.meta["val"].shape):
            if not isinstance(dim, int):
                sources.setdefault(str(dim.node.expr), f"{name}.shape[{index}]")
    if not sources:
        return []
    if not hasattr(program, "_guards_code"):
        raise Unsupported("sizes that are open, of a PyTorch without guards in exported programs: expected 2.9 or newer")
    found = []
    for expression, bounds in program.range_constraints.items():
        source = sources.get(str(expression), f"({expression})")
        if set(map(str, expression.free_symbols)) <= _symbols(arguments):
            found += [f"{source} {op} {bound}" for op, bound in _bounds(bounds)]
    return [*found, *(_of_arguments(guard, arguments) for guard in program._guards_code)]


def _symbols(arguments: Mapping[str, Any]) -> set[str]:
    dims = [dim for node in arguments.values() for dim in node.meta["val"].shape if not isinstance(dim, int)]
    return {str(symbol) for dim in dims for symbol in dim.node.expr.free_symbols}


def _bounds(bounds: Any) -> list[tuple[str, int]]:
    """Those that say something of a size, which is at least 0. Infinities of torch are no whole numbers."""
    lower = [(">=", int(bounds.lower))] if bounds.lower.is_Integer and bounds.lower > 0 else []
    return lower + ([("<=", int(bounds.upper))] if bounds.upper.is_Integer else [])


def _of_arguments(guard: str, arguments: Mapping[str, Any]) -> str:
    """A guard names inputs by their paths, `L['x'][0]['k']`; torch makes the names of arguments from these."""

    def named(found: "re.Match[str]") -> str:
        steps = [step.strip("'\"") for step in re.findall(r"\[([^\]]*)\]", found.group(1))]
        if steps[0] == "flat_args" and len(steps) == 2 and steps[1].isdecimal():
            name = list(arguments)[int(steps[1])] if int(steps[1]) < len(arguments) else ""
        else:
            name = re.sub(r"[^a-zA-Z0-9]", "_", "_".join(steps).lower())
        others = [other for other in arguments if re.fullmatch(rf"{re.escape(name)}_\d+", other)]
        if name not in arguments or (others and steps[0] != "flat_args"):
            raise Unsupported(f"the guard '{guard}': which argument {found.group(0)} is, is not known")
        return f"{name}.shape[{found.group(2)}]"

    return _SIZE.sub(named, guard)
