# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Which functions give the gradients of a compiled function, and of which arguments in which order. It knows no framework.

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from resid import signatures


@dataclasses.dataclass(frozen=True)
class Gradients:
    """`wrt` are the arguments, counted from 0, whose gradients are the results of `backward`, in their order."""

    forward: Any
    backward: Any
    wrt: tuple[int, ...]

    def refuse(self, kernel: Any, place: int) -> str:
        """What to say where the gradient of another argument is asked for."""
        name = kernel.signature.arguments[place].name
        return f"{kernel.name}: the gradient of argument '{name}' is asked for, but it was compiled with wrt={list(self.wrt)}"


def find(kernel: Any, forward: Any = None, backward: Any = None, wrt: Sequence[int] | None = None) -> Gradients | None:
    """Those of `kernel`; by default the functions of its module that the compiler made with grad=. None where there are none.

    Raises ValueError where they do not fit, and where nothing says of which arguments the gradients are.
    """
    forward, backward = forward or _sibling(kernel, "forward"), backward or _sibling(kernel, "backward")
    if (forward is None) != (backward is None):
        raise ValueError("arguments 'forward' and 'backward': expected both or neither")
    if forward is None:
        if wrt is not None:
            raise ValueError(f"argument 'wrt': {kernel.name} was compiled without grad=")
        return None
    compiled = _compiled(kernel, backward)
    if wrt is None and compiled is None:
        raise ValueError(f"argument 'wrt': expected the arguments whose gradients {backward.name} gives, since its library does "
                         "not say which")
    places = tuple(compiled if wrt is None else wrt)
    if compiled is not None and places != compiled:
        raise ValueError(f"argument 'wrt': expected {list(compiled)}, for which {backward.name} was compiled, but got "
                         f"{list(places)}")
    _check(kernel, forward, backward, places)
    return Gradients(forward, backward, places)


def _sibling(kernel: Any, suffix: str) -> Any:
    """The function of the same module that the compiler made for the gradients of `kernel`, or None."""
    return getattr(kernel.module, f"{kernel.name}_{suffix}", None)


def _compiled(kernel: Any, backward: Any) -> tuple[int, ...] | None:
    """The arguments that the compiler was told, or all float tensors, also of a backward that is in the program. None where
    the library has no description."""
    flags = backward.module.compile_flags()
    if flags is None:
        return None
    options = dict(flag.removeprefix("--").split("=", 1) for flag in flags if "=" in flag)
    is_made = backward.name == f"{options.get('prefix', '')}{options.get('grad')}_backward"
    if is_made and "wrt" in options:
        return tuple(int(place) for place in options["wrt"].split(","))
    return tuple(place for place, argument in enumerate(signatures.read(kernel.signature).arguments) if argument.is_float)


def _check(kernel: Any, forward: Any, backward: Any, wrt: tuple[int, ...]) -> None:
    """Types of arguments and results, and so that each gradient has the type of its argument."""
    given, made = kernel.signature.arguments, signatures.read(kernel.signature).results
    if len(set(wrt)) < len(wrt) or not all(type(place) is int and 0 <= place < len(given) for place in wrt):
        raise ValueError(f"argument 'wrt': expected places from 0 to {len(given) - 1}, each once, but got {list(wrt)}")
    outer = [result for result in made if result.is_float]
    saved = forward.signature.results[len(made) :]
    expected = ((forward.signature.arguments, given), (forward.signature.results[: len(made)], made),
                (backward.signature.arguments, (*given, *saved, *outer)),
                (backward.signature.results, [given[place] for place in wrt]))
    if any([value.type for value in found] != [value.type for value in wanted] for found, wanted in expected):
        raise ValueError(f"arguments 'forward', 'backward' and 'wrt': they do not fit {kernel.name}: {forward.signature} and "
                         f"{backward.signature}, gradients of the arguments {list(wrt)}")
