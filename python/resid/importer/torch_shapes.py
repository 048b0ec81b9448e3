# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operators of aten that move elements: views, transposes, slices, splits. Joins the table of torch_ops.py.

from __future__ import annotations

from typing import Any

from .errors import Unsupported
from .sizes import Dim
from .torch_ops import _name_of, _torch
from .torch_reader import Call, _Reader, element_of

_LARGEST = (1 << 63) - 1


def _rank(node: Any) -> int:
    return len(node.meta["val"].shape)


@_torch("view", "reshape", "_unsafe_view")
def _view(r: _Reader, call: Call) -> str:
    sizes = call["size"] if call["size"] is not None else call["shape"]
    if sizes is None:
        raise Unsupported(f"a view as {call['dtype']}")
    return r.add("Reshape", [r.name(call["self"]), r.sizes(sizes)], {"allowzero": 1})


@_torch("flatten", "unflatten", "unsqueeze", "view_as", "reshape_as")
def _flatten(r: _Reader, call: Call) -> str:
    """To the shape that torch has found."""
    return r.add("Reshape", [r.name(call["self"]), r.shape(call.node)], {"allowzero": 1})


@_torch("transpose", "permute", "t", "numpy_T", "mT", "swapaxes")
def _transpose(r: _Reader, call: Call) -> str:
    rank = _rank(call["self"])
    order = list(range(rank))
    if rank == 0:
        return r.add("Identity", [r.name(call["self"])])
    if _name_of(call) == "permute":
        order = [dim % rank for dim in call["dims"]]
    elif _name_of(call) in ("t", "numpy_T"):
        order.reverse()
    else:
        given = [call[name] for name in ("dim0", "dim1", "axis0", "axis1") if call[name] is not None]
        first, second = (dim % rank for dim in given or (-2, -1))
        order[first], order[second] = order[second], order[first]
    return r.add("Transpose", [r.name(call["self"])], {"perm": order})


@_torch("squeeze")
def _squeeze(r: _Reader, call: Call) -> str:
    """Dimensions that are not 1 stay. Torch takes an open size for none that is 1, which each call then has to fulfil."""
    sizes, rank = call["self"].meta["val"].shape, _rank(call["self"])
    given = range(rank) if call["dim"] is None else [call["dim"]] if isinstance(call["dim"], int) else call["dim"]
    for dim in given:
        if rank and not isinstance(sizes[dim], int):
            r.graph.conditions.append(f"{r.expression(sizes[dim])} != 1")
    return r.add("Reshape", [r.name(call["self"]), r.shape(call.node)], {"allowzero": 1})


@_torch("expand", "broadcast_to")
def _expand(r: _Reader, call: Call) -> str:
    """-1 keeps a size: 1 says the same to Expand."""
    sizes = [1 if isinstance(size, int) and size == -1 else size for size in call["size"]]
    return r.add("Expand", [r.name(call["self"]), r.sizes(sizes)])


@_torch("expand_as")
def _expand_as(r: _Reader, call: Call) -> str:
    return r.add("Expand", [r.name(call["self"]), r.add("Shape", [r.name(call["other"])])])


@_torch("repeat_interleave")
def _repeat_interleave(r: _Reader, call: Call) -> str:
    """Each element so many times, one after the other."""
    times, dim = call["repeats"], call["dim"]
    if dim is None or not isinstance(times, int):
        raise Unsupported(f"repeats = {times}, dim = {dim}: expected one number, and an axis")
    rank = _rank(call["self"])
    single = r.add("Unsqueeze", [r.name(call["self"]), r.sizes([dim % rank + 1])])
    wide = r.add("Expand", [single, r.sizes([times if i == dim % rank + 1 else 1 for i in range(rank + 1)])])
    return r.add("Reshape", [wide, r.shape(call.node)], {"allowzero": 1})


@_torch("meshgrid")
def _meshgrid(r: _Reader, call: Call) -> list[str]:
    if call["indexing"] not in (None, "ij") or any(_rank(tensor) != 1 for tensor in call["tensors"]):
        raise Unsupported(f"indexing = {call['indexing']!r}: expected 'ij' of vectors")
    count, results = len(call["tensors"]), []
    for i, tensor in enumerate(call["tensors"]):
        column = r.add("Unsqueeze", [r.name(tensor), r.sizes([j for j in range(count) if j != i])])
        results.append(r.add("Expand", [column, r.sizes(list(call.node.meta["val"][i].shape))]))
    return results


@_torch("diff")
def _differences(r: _Reader, call: Call) -> str:
    """Of neighbours along one axis, after what is put before and after it."""
    kind, rank = call.element, _rank(call["self"])
    if call["n"] != 1 or kind == "i1":
        raise Unsupported(f"n = {call['n']} of {kind}: expected 1 of numbers")
    parts = [r.operand(part, kind) for part in (call["prepend"], call["self"], call["append"]) if part is not None]
    whole, axis = r.add("Concat", parts, {"axis": call["dim"]}), call["dim"] % rank
    later, earlier = (
        r.add("Slice", [whole, *(r.sizes([number]) for number in (*ends, axis))]) for ends in ((1, _LARGEST), (0, -1))
    )
    return r.add("Sub", [later, earlier])


@_torch("pad", "constant_pad_nd")
def _pad(r: _Reader, call: Call) -> str:
    """Pairs of numbers before and after, from the last dimension on."""
    if call["mode"] not in (None, "constant") or hasattr(call["value"], "op"):
        raise Unsupported(f"mode = {call['mode']!r}, value = {call['value']}: expected a constant")
    pairs = [call["pad"][i : i + 2] for i in range(0, len(call["pad"]), 2)][::-1]
    around = [[0, 0]] * (_rank(call["self"]) - len(pairs)) + pairs
    numbers = r.sizes([before for before, _ in around] + [after for _, after in around])
    return r.add("Pad", [r.name(call["self"]), numbers, r.scalar(call["value"] or 0, call.element)])


@_torch("copy")
def _copied(r: _Reader, call: Call) -> str:
    """What a write into a part of a tensor became: the source, in the type and shape of what it is written to."""
    return r.add("Expand", [r.operand(call["src"], call.element), r.shape(call.node)])


@_torch("repeat", "tile")
def _repeat(r: _Reader, call: Call) -> str:
    repeats = list(call["repeats"] if call["repeats"] is not None else call["dims"])
    tensor, more = r.name(call["self"]), len(repeats) - _rank(call["self"])
    if more > 0:
        tensor = r.add("Unsqueeze", [tensor, r.sizes(range(more))])
    return r.add("Tile", [tensor, r.sizes([1] * -more + repeats)])


@_torch("cat", "concat")
def _cat(r: _Reader, call: Call) -> str:
    """A vector without elements is skipped, beside tensors of any rank."""
    parts = [part for part in call["tensors"] if tuple(part.meta["val"].shape) != (0,)] or call["tensors"][:1]
    return r.add("Concat", [r.operand(part, call.element) for part in parts], {"axis": call["dim"]})


@_torch("stack")
def _stack(r: _Reader, call: Call) -> str:
    dim = call["dim"] % _rank(call.node)
    parts = [r.add("Unsqueeze", [r.operand(part, call.element), r.sizes([dim])]) for part in call["tensors"]]
    return r.add("Concat", parts, {"axis": dim})


@_torch("slice")
def _slice(r: _Reader, call: Call) -> str:
    """Where the last places of an open axis are taken, or as many as there are, torch knows whether there are as many."""
    start, end = call["start"] or 0, call["end"] if call["end"] is not None else _LARGEST
    numbers = [r.sizes([value]) for value in (start, end, call["dim"], call["step"] or 1)]
    whole, taken = (node.meta["val"].shape[call["dim"]] for node in (call["self"], call.node))
    if isinstance(start, int) and start < 0 and end == _LARGEST and call["step"] in (None, 1) and not isinstance(whole, int):
        numbers[0] = r.numbers([r.size(whole) - r.size(taken)], (1,))
    if isinstance(end, int) and not isinstance(taken, int) and call["step"] in (None, 1) and r.size(whole) - r.size(taken) == start:
        numbers[1] = r.sizes([_LARGEST])
    return r.add("Slice", [r.name(call["self"]), *numbers])


def _written(r: _Reader, call: Call, source: str, start: int, end: int) -> str:
    """What a write into the places from start to end of an axis became: what stands before, the source, and what stands after."""
    name, dim, parts = r.name(call["self"]), call["dim"], [source]
    if start:
        parts.insert(0, r.add("Slice", [name, *(r.sizes([number]) for number in (0, start, dim))]))
    if end < _LARGEST:
        parts.append(r.add("Slice", [name, *(r.sizes([number]) for number in (end, _LARGEST, dim))]))
    return r.add("Concat", parts, {"axis": dim})


@_torch("slice_scatter")
def _slice_scatter(r: _Reader, call: Call) -> str:
    start, end, step = call["start"] or 0, call["end"] if call["end"] is not None else _LARGEST, call["step"] or 1
    source, size = r.operand(call["src"], call.element), call["self"].meta["val"].shape[call["dim"]]
    if any(hasattr(bound, "op") or bound < 0 for bound in (start, end)) or (step != 1 and not isinstance(size, int)):
        raise Unsupported(f"a slice of {size} from {start} to {end} by steps of {step}: expected numbers from 0 on, and steps of 1 of an open size")
    if step == 1:
        return _written(r, call, source, start, end)
    places = list(range(size))
    for place, number in enumerate(range(size)[start:end:step]):
        places[number] = size + place
    both = r.add("Concat", [r.name(call["self"]), source], {"axis": call["dim"]})
    return r.add("Gather", [both, r.sizes(places)], {"axis": call["dim"]})


@_torch("select_scatter")
def _select_scatter(r: _Reader, call: Call) -> str:
    place, size = call["index"], call["self"].meta["val"].shape[call["dim"]]
    if not isinstance(place, int) or (place < 0 and not isinstance(size, int)):
        raise Unsupported(f"place {place} of {size}, which is known at run time only")
    place += size if place < 0 else 0
    source = r.add("Unsqueeze", [r.operand(call["src"], call.element), r.sizes([call["dim"] % _rank(call["self"])])])
    return _written(r, call, source, place, place + 1)


def _last_places(r: _Reader, places: str, rank: int, axis: int, counts: "tuple[Any, Any]") -> str:
    """Of each place of an axis where in `places` along it its number stands last, or -1. `counts` is how many places the axis and
    `places` have."""
    size, count = (r.size(number) for number in counts)

    def along(number: Dim, dim: int) -> str:
        numbers = r.add("Range", [r.scalar(0, "i64"), r.numbers([number], ()), r.scalar(1, "i64")])
        return r.add("Unsqueeze", [numbers, r.sizes([i for i in range(rank + 1) if i != dim])])

    negative = r.add("Less", [places, r.scalar(0, "i64")])
    counted = r.add("Where", [negative, r.add("Add", [places, r.numbers([size], ())]), places])
    is_it = r.add("Equal", [r.add("Unsqueeze", [counted, r.sizes([axis])]), along(size, axis)])
    found = r.add("Where", [is_it, along(count, axis + 1), r.scalar(-1, "i64")])
    return r.add("ReduceMax", [found, r.sizes([axis + 1])], {"keepdims": 0})


@_torch("scatter")
def _scatter(r: _Reader, call: Call) -> str:
    """The last of several numbers for one place, where PyTorch leaves open which."""
    rank, given, own = _rank(call["self"]), call["index"].meta["val"].shape, call["self"].meta["val"].shape
    axis, kind = call["dim"] % max(rank, 1), call.element
    if call["reduce"] is not None or not rank or any(i != axis and a != b for i, (a, b) in enumerate(zip(given, own))):
        raise Unsupported(f"places {list(given)} of {list(own)}: expected the same sizes beside axis {call['dim']}, and no sums or products")
    if given[axis] == 0:
        return r.add("Identity", [r.name(call["self"])])
    last = _last_places(r, r.name(call["index"]), rank, axis, (own[axis], given[axis]))
    source = r.operand(call["value"], kind) if call["src"] is None else r.name(call["src"])
    if call["src"] is not None:
        if call["src"].meta["val"].shape != given:
            raise Unsupported(f"numbers {list(call['src'].meta['val'].shape)} for places {list(given)}: expected the same sizes")
        source = r.add("GatherElements", [source, r.add("Max", [last, r.scalar(0, "i64")])], {"axis": axis})
    return r.add("Where", [r.add("GreaterOrEqual", [last, r.scalar(0, "i64")]), source, r.name(call["self"])])


@_torch("index_put")
def _index_put(r: _Reader, call: Call) -> str:
    """Numbers at places of one axis, of which the last of several for one place stays; or one number, or row, where a mask is true."""
    indices, tensor, values = call["indices"], call["self"], call["values"]
    given = [(axis, index) for axis, index in enumerate(indices) if index is not None]
    if call["accumulate"] or len(given) != 1:
        raise Unsupported(f"places along {len(given)} axes{' that are added to' if call['accumulate'] else ''}: expected one, without sums")
    ((axis, index),) = given
    rank, after, source = _rank(tensor), _rank(tensor) - axis - _rank(index), r.operand(values, call.element)
    if element_of(index) == "i1":
        if axis or _rank(values) > after:
            raise Unsupported("numbers for the places of what is true, of which the number is known at run time only")
        mask = r.add("Unsqueeze", [r.name(index), r.sizes(range(_rank(index), rank))]) if after else r.name(index)
        return r.add("Where", [mask, source, r.name(tensor)])
    if _rank(index) != 1:
        raise Unsupported(f"places of rank {_rank(index)}: expected 1")
    sizes, count = list(tensor.meta["val"].shape), index.meta["val"].shape[0]
    if count == 0:
        return r.add("Identity", [r.name(tensor)])
    last = _last_places(r, r.cast(r.name(index), "i64"), 1, 0, (sizes[axis], count))
    whole = r.add("Expand", [source, r.sizes([*sizes[:axis], count, *sizes[axis + 1 :]])])
    found = r.add("Gather", [whole, r.add("Max", [last, r.scalar(0, "i64")])], {"axis": axis})
    is_written = r.add("GreaterOrEqual", [last, r.scalar(0, "i64")])
    if axis + 1 < rank:
        is_written = r.add("Unsqueeze", [is_written, r.sizes(range(1, rank - axis))])
    return r.add("Where", [is_written, found, r.name(tensor)])


@_torch("select")
def _select(r: _Reader, call: Call) -> str:
    return r.add("Gather", [r.name(call["self"]), r.numbers([r.size(call["index"])], ())], {"axis": call["dim"]})


@_torch("index")
def _index(r: _Reader, call: Call) -> str:
    given = {axis: place for axis, place in enumerate(call["indices"]) if place is not None}
    if any(element_of(place) not in ("i64", "i32") for place in given.values()):
        raise Unsupported("the places of what is true, of which the number is known at run time only")
    return r.add("resid.Index", [r.name(call["self"]), *map(r.name, given.values())], {"axes": list(given)})


@_torch("index_select")
def _index_select(r: _Reader, call: Call) -> str:
    if not _rank(call["self"]) or _rank(call["index"]) != 1:
        raise Unsupported("of rank 0")
    return r.add("Gather", [r.name(call["self"]), r.name(call["index"])], {"axis": call["dim"]})


@_torch("roll")
def _roll(r: _Reader, call: Call) -> str:
    """Moves what leaves at one end of an axis to the other."""
    name, sizes = r.name(call["self"]), call["self"].meta["val"].shape
    if not call["dims"]:
        raise Unsupported("of all elements: expected dims")
    for shift, dim in zip(call["shifts"], call["dims"]):
        if not isinstance(sizes[dim], int) or not isinstance(shift, int):
            raise Unsupported(f"by {shift} of {sizes[dim]}, which are known at run time only")
        begin = -shift % sizes[dim] if sizes[dim] else 0
        if begin:
            ends = ((begin, _LARGEST), (0, begin))
            parts = [r.add("Slice", [name, *(r.sizes([number]) for number in (*pair, dim))]) for pair in ends]
            name = r.add("Concat", parts, {"axis": dim})
    return name


@_torch("gather")
def _gather(r: _Reader, call: Call) -> str:
    if not _rank(call["self"]):
        raise Unsupported("of rank 0")
    return r.add("GatherElements", [r.name(call["self"]), r.name(call["index"])], {"axis": call["dim"]})


@_torch("split", "split_with_sizes", "chunk")
def _split(r: _Reader, call: Call) -> list[str]:
    dim = call["dim"]
    sizes = [part.shape[dim] for part in call.node.meta["val"]]
    return r.add_several("Split", [r.name(call["self"]), r.sizes(sizes)], {"axis": dim}, len(sizes))


@_torch("unbind")
def _unbind(r: _Reader, call: Call) -> list[str]:
    return [
        r.add("Gather", [r.name(call["self"]), r.scalar(i, "i64")], {"axis": call["dim"]})
        for i in range(len(call.node.meta["val"]))
    ]
