# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Which arrays of a call share memory, for the text of AliasError.

from __future__ import annotations

from typing import Any, Sequence


def _bounds(object_: Any) -> tuple[int, int] | None:
    """The addresses of the first byte of an array and after its last one; None where they are not known."""
    if hasattr(object_, "data_ptr"):
        begin, bytes_ = object_.data_ptr(), object_.element_size()
        strides = [stride * bytes_ for stride in object_.stride()]
    elif hasattr(object_, "__array_interface__"):
        begin, bytes_ = object_.__array_interface__["data"][0], object_.dtype.itemsize
        strides = list(object_.strides)
    else:
        return None
    if 0 in object_.shape:
        return None
    return begin, begin + bytes_ + sum((size - 1) * stride for size, stride in zip(object_.shape, strides))


def describe(arguments: Sequence[tuple[str, Any]], results: Sequence[tuple[str, Any]]) -> str:
    """Names each result that shares memory with an array before it. Both are pairs of what to call an array, and the array."""
    found = []
    before = [(where, _bounds(object_)) for where, object_ in arguments]
    for where, object_ in results:
        here = _bounds(object_)
        for other, there in before:
            if here and there and here[0] < there[1] and there[0] < here[1]:
                found.append(f"{where} overlaps {other}" if here != there else f"{where} has the memory of {other}")
        before.append((where, here))
    return "; ".join(found)
