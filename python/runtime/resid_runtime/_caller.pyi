# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The types of the compiled module _caller (src/Module.cpp, src/Bound.cpp).

from typing import Any

class Function:
    def __init__(self, entry: int, library: object, arguments: tuple[Any, ...], results: tuple[Any, ...], empty: object,
                 is_for_device: bool, /) -> None: ...
    def __call__(self, *arguments: Any, out: Any = None, threads: int | None = None, stream: int | None = None) -> Any: ...

class Bound:
    """A function with its last arguments, `weights`. Of the tuples that are given, its other arguments are the tensors at
    `inputs`, without gaps or copied. `watched` has (place, tensor, memory, version) for each given tensor that `weights` are made
    of: as long as that at the place has the address of `memory` and, unless -1, this version, they hold. `tensor` is the one that
    was there, whose address is found faster. None: they do not hold."""

    def __init__(self, function: Function, inputs: tuple[int, ...], weights: tuple[Any, ...],
                 watched: tuple[tuple[int, Any, Any, int], ...] | None, /) -> None: ...
    def holds(self, given: tuple[Any, ...], /) -> bool: ...
    def __call__(self, given: tuple[Any, ...], /, *, out: Any = None, threads: int | None = None,
                 stream: int | None = None) -> tuple[Any, ...]: ...

def set_threads(number: int, /) -> None: ...
def get_threads() -> int: ...
