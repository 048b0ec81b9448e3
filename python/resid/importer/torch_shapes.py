# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operators of aten that move elements: views, transposes, slices, splits. Joins the table of torch_ops.py.

from __future__ import annotations

from typing import Any

from .errors import Unsupported
from .torch_ops import _name_of, _torch
from .torch_reader import Call, _Reader

_LARGEST = (1 << 63) - 1


def _rank(node: Any) -> int:
    return len(node.meta["val"].shape)


@_torch("sym_size")
def _sym_size(r: _Reader, call: Call) -> str:
    dim = call["dim"] % _rank(call["self"])
    sizes = r.add("Shape", [r.name(call["self"])], {"start": dim, "end": dim + 1})
    return r.add("Squeeze", [sizes, r.sizes([0])])


@_torch("view", "reshape", "_unsafe_view")
def _view(r: _Reader, call: Call) -> str:
    sizes = call["size"] if call["size"] is not None else call["shape"]
    return r.add("Reshape", [r.name(call["self"]), r.sizes(sizes)], {"allowzero": 1})


@_torch("flatten", "unflatten")
def _flatten(r: _Reader, call: Call) -> str:
    """To the shape of the result: what lies before, the joined or split dimension, what lies behind."""
    before, after = _rank(call["self"]), _rank(call.node)
    if _name_of(call) == "flatten":
        first, middle = call["start_dim"] % before, [-1]
    else:
        first, middle = call["dim"] % before, list(call["sizes"])
    shape = [r.add("Shape", [r.name(call["self"])], {"start": 0, "end": first})] if first else []
    behind = after - first - len(middle)
    shape.append(r.sizes(middle))
    if behind:
        shape.append(r.add("Shape", [r.name(call["self"])], {"start": before - behind, "end": before}))
    return r.add("Reshape", [r.name(call["self"]), r.add("Concat", shape, {"axis": 0})])


@_torch("transpose", "permute", "t", "numpy_T", "mT", "swapaxes")
def _transpose(r: _Reader, call: Call) -> str:
    rank = _rank(call["self"])
    order = list(range(rank))
    if _name_of(call) == "permute":
        order = [dim % rank for dim in call["dims"]]
    elif _name_of(call) in ("t", "numpy_T"):
        order.reverse()
    else:
        given = [call[name] for name in ("dim0", "dim1", "axis0", "axis1") if call[name] is not None]
        first, second = (dim % rank for dim in given or (-2, -1))
        order[first], order[second] = order[second], order[first]
    return r.add("Transpose", [r.name(call["self"])], {"perm": order})


@_torch("unsqueeze", "squeeze")
def _squeeze(r: _Reader, call: Call) -> str:
    dims = call["dim"]
    if dims is None:
        raise Unsupported("without dim")
    axes = r.sizes([dims] if isinstance(dims, int) else list(dims))
    return r.add("Unsqueeze" if _name_of(call) == "unsqueeze" else "Squeeze", [r.name(call["self"]), axes])


@_torch("expand", "broadcast_to")
def _expand(r: _Reader, call: Call) -> str:
    """-1 keeps a size: 1 says the same to Expand."""
    sizes = [1 if isinstance(size, int) and size == -1 else size for size in call["size"]]
    return r.add("Expand", [r.name(call["self"]), r.sizes(sizes)])


@_torch("expand_as")
def _expand_as(r: _Reader, call: Call) -> str:
    return r.add("Expand", [r.name(call["self"]), r.add("Shape", [r.name(call["other"])])])


@_torch("repeat")
def _repeat(r: _Reader, call: Call) -> str:
    if len(call["repeats"]) != _rank(call["self"]):
        raise Unsupported("repeats of more dimensions than there are")
    return r.add("Tile", [r.name(call["self"]), r.sizes(call["repeats"])])


@_torch("cat")
def _cat(r: _Reader, call: Call) -> str:
    return r.add("Concat", [r.operand(part, call.element) for part in call["tensors"]], {"axis": call["dim"]})


@_torch("stack")
def _stack(r: _Reader, call: Call) -> str:
    dim = call["dim"] % _rank(call.node)
    parts = [r.add("Unsqueeze", [r.operand(part, call.element), r.sizes([dim])]) for part in call["tensors"]]
    return r.add("Concat", parts, {"axis": dim})


@_torch("slice")
def _slice(r: _Reader, call: Call) -> str:
    start, end = call["start"] or 0, call["end"] if call["end"] is not None else _LARGEST
    numbers = [r.sizes([value]) for value in (start, end, call["dim"], call["step"] or 1)]
    return r.add("Slice", [r.name(call["self"]), *numbers])


@_torch("select")
def _select(r: _Reader, call: Call) -> str:
    return r.add("Gather", [r.name(call["self"]), r.scalar(call["index"], "i64")], {"axis": call["dim"]})


@_torch("split", "split_with_sizes", "chunk")
def _split(r: _Reader, call: Call) -> list[str]:
    dim = call["dim"]
    sizes = [part.shape[dim] for part in call.node.meta["val"]]
    if not all(isinstance(size, int) for size in sizes):
        raise Unsupported("parts of sizes that are known at run time only")
    names = r.add("Split", [r.name(call["self"]), r.sizes(sizes)], {"axis": dim}, outputs=len(sizes))
    return [names] if len(sizes) == 1 else names


@_torch("unbind")
def _unbind(r: _Reader, call: Call) -> list[str]:
    return [
        r.add("Gather", [r.name(call["self"]), r.scalar(i, "i64")], {"axis": call["dim"]})
        for i in range(len(call.node.meta["val"]))
    ]
