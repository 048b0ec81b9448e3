# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operators that move elements and compute nothing: reshapes, transposes, slices, concatenations. Also what other families need of
# them: reshape, transpose, cast of types.

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .emit import Emitter, broadcast, handles, show
from .errors import ModelError, Unsupported
from .graph import Node
from .program import Program, Tensor, tensor_type, whole
from .sizes import Dim, Size, product, quotient

_ENDLESS = 1 << 31  # exporters write the largest number of some type for "to the end"


def reshape(p: Program, tensor: Tensor, dims: Sequence[Dim]) -> Tensor:
    """The same elements in another shape, in the same order."""
    tensor, dims = p.value(tensor), tuple(dims)
    if tensor.dims == dims:
        return tensor
    groups = _groups(tensor.dims, dims)
    if groups is None:
        groups = [(list(range(tensor.rank)), list(range(len(dims))))]
    if tensor.rank == 0 or not dims:
        return _reshape_scalar(p, tensor, dims)
    if any(len(old) > 1 for old, _ in groups):
        text = f"tensor.collapse_shape {tensor.ssa} {_indices([old for old, _ in groups])}"
        merged = [product([tensor.dims[i] for i in old]) for old, _ in groups]
        tensor = p.op(f"{text} : {tensor.type} into {tensor_type(tensor.element, merged)}", tensor.element, merged)
    tensor = cast_sizes(p, tensor, [product([dims[i] for i in new]) for _, new in groups])
    if any(len(new) > 1 for _, new in groups):
        sizes = ", ".join(str(dim) if isinstance(dim, int) else p.index(dim) for dim in dims)
        text = f"tensor.expand_shape {tensor.ssa} {_indices([new for _, new in groups])} output_shape [{sizes}]"
        tensor = p.op(f"{text} : {tensor.type} into {tensor_type(tensor.element, dims)}", tensor.element, dims)
    return cast_sizes(p, tensor, dims)


def cast_sizes(p: Program, tensor: Tensor, dims: Sequence[Dim]) -> Tensor:
    """The same tensor under a type of these sizes; a size known at run time is checked there."""
    if tensor_type(tensor.element, dims) == tensor.type:
        return Tensor(tensor.element, tuple(dims), tensor.ssa)
    to = tensor_type(tensor.element, dims)
    return p.op(f"tensor.cast {tensor.ssa} : {tensor.type} to {to}", tensor.element, dims)


def _reshape_scalar(p: Program, tensor: Tensor, dims: tuple[Dim, ...]) -> Tensor:
    to = tensor_type(tensor.element, dims)
    if tensor.rank == 0:
        text = f"tensor.expand_shape {tensor.ssa} [] output_shape [{', '.join(map(str, dims))}]"
    else:
        text = f"tensor.collapse_shape {tensor.ssa} []"
    return p.op(f"{text} : {tensor.type} into {to}", tensor.element, dims)


def _groups(old: Sequence[Dim], new: Sequence[Dim]) -> list[tuple[list[int], list[int]]] | None:
    """Runs of old and of new dimensions with equal products, None where they cannot be told apart."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        first, second = [i], [j]
        left, right = old[i], new[j]
        i, j = i + 1, j + 1
        while left != right:
            if i < len(old) and quotient(right, left) is not None:
                left, first, i = left * old[i], first + [i], i + 1
            elif j < len(new) and quotient(left, right) is not None:
                right, second, j = right * new[j], second + [j], j + 1
            else:
                return None
        groups.append((first, second))
    if not groups or any(dim != 1 for dim in [*old[i:], *new[j:]]):
        return None
    groups[-1][0].extend(range(i, len(old)))
    groups[-1][1].extend(range(j, len(new)))
    return groups


def _indices(groups: Sequence[Sequence[int]]) -> str:
    return "[" + ", ".join("[" + ", ".join(map(str, group)) + "]" for group in groups) + "]"


def transpose(p: Program, tensor: Tensor, order: Sequence[int]) -> Tensor:
    tensor = p.value(tensor)
    if list(order) == list(range(tensor.rank)):
        return tensor
    dims = [tensor.dims[i] for i in order]
    empty = p.empty(tensor.element, dims)
    text = f"linalg.transpose ins({tensor.ssa} : {tensor.type}) outs({empty.ssa} : {empty.type}) permutation = {list(order)}"
    return p.op(text, tensor.element, dims)


def extract(p: Program, tensor: Tensor, offsets: Sequence[Dim], sizes: Sequence[Dim], steps: Sequence[int]) -> Tensor:
    tensor = p.value(tensor)

    def listed(dims: Sequence[Dim]) -> str:
        return "[" + ", ".join(str(dim) if isinstance(dim, int) else p.index(dim) for dim in dims) + "]"

    to = tensor_type(tensor.element, sizes)
    text = f"tensor.extract_slice {tensor.ssa}{listed(offsets)} {listed(sizes)} {listed(steps)} : {tensor.type} to {to}"
    return p.op(text, tensor.element, sizes)


def pad(p: Program, tensor: Tensor, low: Sequence[Dim], high: Sequence[Dim], value: "float | int") -> Tensor:
    """More places before and behind each dimension, which hold a value."""
    tensor = p.value(tensor)
    dims = [before + dim + behind for before, dim, behind in zip(low, tensor.dims, high)]
    filler = p.scalar(value, tensor.element)
    before, behind = (
        ", ".join(str(n) if isinstance(n, int) else p.index(n) for n in numbers) for numbers in (low, high)
    )
    places = ", ".join(f"{p.fresh()}: index" for _ in dims)
    ssa = p.fresh()
    p.line(f"{ssa} = tensor.pad {tensor.ssa} low[{before}] high[{behind}] {{")
    p.line(f"^bb0({places}):")
    p.line(f"  tensor.yield {filler} : {tensor.element}")
    p.line(f"}} : {tensor.type} to {tensor_type(tensor.element, dims)}")
    return Tensor(tensor.element, tuple(dims), ssa)


def expand(p: Program, tensor: Tensor, dims: Sequence[Dim]) -> Tensor:
    """Repeats along the dimensions that are 1 or missing."""
    tensor = p.value(tensor)
    if tensor.dims == tuple(dims):
        return tensor
    operand, loops = broadcast_operand(p, tensor, dims)
    return p.generic([(operand, loops)], tensor.element, dims, lambda element, _: element)


def broadcast_operand(p: Program, tensor: Tensor, dims: Sequence[Dim]) -> tuple[Tensor, list[int]]:
    """The tensor without the dimensions that repeat in `dims`, and the loop of each that is left."""
    tensor = p.value(tensor)
    first = len(dims) - tensor.rank
    kept = [i for i, dim in enumerate(tensor.dims) if dim != 1 or dims[first + i] == 1]
    return reshape(p, tensor, [tensor.dims[i] for i in kept]), [first + i for i in kept]


@handles("Identity")
def _identity(e: Emitter, node: Node) -> Tensor:
    return e.input(node, 0)


@handles("Shape", attributes=("start", "end"))
def _shape(e: Emitter, node: Node) -> Tensor:
    dims = e.input(node, 0).dims
    chosen = list(dims)[slice(e.attribute(node, "start", 0), e.attribute(node, "end", None))]
    known = np.empty(len(chosen), object)
    known[:] = chosen
    if not any(isinstance(dim, Size) for dim in chosen):
        known = known.astype(np.int64)
    return Tensor("i64", (len(chosen),), known=known)


@handles("Reshape", attributes=("allowzero",))
def _reshape(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    wanted = e.numbers(node, 1, "shape")
    if wanted is None:
        raise ModelError("expected a shape")
    if not e.attribute(node, "allowzero", 0):
        wanted = [tensor.dims[i] if isinstance(dim, int) and dim == 0 else dim for i, dim in enumerate(wanted)]
    open_at = [i for i, dim in enumerate(wanted) if isinstance(dim, int) and dim == -1]
    if len(open_at) > 1:
        raise ModelError(f"expected at most one -1 in a shape, found {show(wanted)}")
    if open_at:
        rest = product([dim for i, dim in enumerate(wanted) if i not in open_at])
        wanted[open_at[0]] = product(tensor.dims) // rest if rest != 0 else 0
    before, after = whole(tensor.dims), whole(wanted)
    if before is not None and after is not None and before != after:
        raise ModelError(f"shape {show(tensor.dims)} has other elements than {show(wanted)}")
    return reshape(e.program, tensor, wanted)


@handles("Flatten", attributes=("axis",))
def _flatten(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    axis = e.attribute(node, "axis", 1)
    axis = axis + tensor.rank if axis < 0 else axis
    return reshape(e.program, tensor, [product(tensor.dims[:axis]), product(tensor.dims[axis:])])


@handles("Unsqueeze", attributes=("axes",))
def _unsqueeze(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    given = e.integers(node, 1, "axes") or []
    rank = tensor.rank + len(given)
    axes = {e.axis(axis, rank) for axis in given}
    rest = iter(tensor.dims)
    return reshape(e.program, tensor, [1 if i in axes else next(rest) for i in range(rank)])


@handles("Squeeze", attributes=("axes",))
def _squeeze(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    given = e.integers(node, 1, "axes")
    axes = (
        {i for i, dim in enumerate(tensor.dims) if dim == 1}
        if given is None
        else {e.axis(a, tensor.rank) for a in given}
    )
    return reshape(e.program, tensor, [dim for i, dim in enumerate(tensor.dims) if i not in axes])


@handles("Transpose", attributes=("perm",))
def _transpose(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    return transpose(e.program, tensor, e.attribute(node, "perm", None) or range(tensor.rank)[::-1])


@handles("resid.Swap")
def _swap(e: Emitter, node: Node) -> Tensor:
    """Turns the last two dimensions."""
    tensor = e.input(node, 0)
    return transpose(e.program, tensor, [*range(tensor.rank - 2), tensor.rank - 1, tensor.rank - 2])


@handles("Expand")
def _expand(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    return expand(e.program, tensor, broadcast(tensor.dims, e.numbers(node, 1) or []))


@handles("Tile")
def _tile(e: Emitter, node: Node) -> Tensor:
    tensor, repeats = e.input(node, 0), e.numbers(node, 1) or []
    if len(repeats) != tensor.rank:
        raise ModelError(f"expected {tensor.rank} repeats, found {len(repeats)}")
    single = [part for dim in tensor.dims for part in (1, dim)]
    many = [part for times, dim in zip(repeats, tensor.dims) for part in (times, dim)]
    wide = expand(e.program, reshape(e.program, tensor, single), many)
    return reshape(e.program, wide, [times * dim for times, dim in zip(repeats, tensor.dims)])


@handles("Concat", attributes=("axis",))
def _concat(e: Emitter, node: Node) -> Tensor:
    parts = [e.value(node, i) for i in range(len(node.inputs))]
    axis = e.axis(e.attribute(node, "axis", 0), parts[0].rank)
    parts = [part for part in parts if part.dims[axis] != 0] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    dims = list(parts[0].dims)
    for part in parts[1:]:
        dims = [b if isinstance(b, int) else a for a, b in zip(dims, part.dims)]
    parts = [cast_sizes(e.program, part, [*dims[:axis], part.dims[axis], *dims[axis + 1 :]]) for part in parts]
    dims[axis] = sum((part.dims[axis] for part in parts[1:]), parts[0].dims[axis])
    types = ", ".join(part.type for part in parts)
    to = tensor_type(parts[0].element, dims)
    names = ", ".join(part.ssa for part in parts)
    return e.program.op(f"tensor.concat dim({axis}) {names} : ({types}) -> {to}", parts[0].element, dims)


@handles("Split", attributes=("axis", "split", "num_outputs"))
def _split(e: Emitter, node: Node) -> list[Tensor]:
    tensor = e.input(node, 0)
    axis = e.axis(e.attribute(node, "axis", 0), tensor.rank)
    sizes = e.numbers(node, 1, "split")
    if sizes is None:
        count = e.attribute(node, "num_outputs", len(node.outputs))
        if not isinstance(tensor.dims[axis], int):
            raise Unsupported(f"a split of {tensor.dims[axis]} elements, which are known at run time only")
        each = -(-tensor.dims[axis] // count)
        sizes = [min(each, tensor.dims[axis] - i * each) for i in range(count)]
    if tensor.known is not None and not tensor.weight:
        parts = np.split(tensor.known, np.cumsum(sizes)[:-1].astype(int), axis)
        return [Tensor(tensor.element, part.shape, known=part) for part in parts]
    results, begin = [], 0
    for size in sizes:
        offsets, dims = [0] * tensor.rank, list(tensor.dims)
        offsets[axis], dims[axis] = begin, size
        results.append(extract(e.program, tensor, offsets, dims, [1] * tensor.rank))
        begin = begin + size
    return results


@handles("Slice", attributes=("starts", "ends", "axes"))
def _slice(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    starts, ends = e.numbers(node, 1, "starts"), e.numbers(node, 2, "ends")
    if starts is None or ends is None:
        raise ModelError("expected starts and ends")
    axes = e.integers(node, 3, "axes") or list(range(len(starts)))
    steps = e.integers(node, 4) or [1] * len(starts)
    offsets: list[Dim] = [0] * tensor.rank
    dims, strides = list(tensor.dims), [1] * tensor.rank
    for start, end, axis, step in zip(starts, ends, axes, steps):
        axis = e.axis(axis, tensor.rank)
        if step < 1:
            raise Unsupported(f"a step of {step}")
        first, last = _bound(start, tensor.dims[axis]), _bound(end, tensor.dims[axis])
        length = last - first
        length = max(length, 0) if isinstance(length, int) else length
        offsets[axis], strides[axis] = first, step
        dims[axis] = length if step == 1 else (length + (step - 1)) // step
    if tuple(dims) == tensor.dims and not any(isinstance(o, Size) or o for o in offsets):
        return tensor
    return extract(e.program, tensor, offsets, dims, strides)


def _bound(value: Dim, size: Dim) -> Dim:
    """Where a slice begins or ends: from the end if negative, and not past the end. What is known at run time only is taken to
    lie inside, which resid checks in each call."""
    if isinstance(value, int):
        if value >= _ENDLESS or value <= -_ENDLESS:
            return size if value > 0 else 0
        if value < 0:
            return max(size + value, 0) if isinstance(size, int) else size + value
        return min(value, size) if isinstance(size, int) else value
    try:
        return size + value if value < 0 else value
    except ValueError:
        return value


@handles("Size")
def _size(e: Emitter, node: Node) -> Tensor:
    count = product(e.input(node, 0).dims)
    known = np.empty((), object)
    known[()] = count
    return Tensor("i64", (), known=known if isinstance(count, Size) else known.astype(np.int64))


@handles("Pad", attributes=("mode", "pads", "value"))
def _pad(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    if e.attribute(node, "mode", "constant") != "constant":
        raise Unsupported(f"attribute mode = {node.attributes['mode']!r}: expected 'constant'")
    given = e.numbers(node, 1, "pads") or []
    axes = e.integers(node, 3) or list(range(tensor.rank))
    low: list[Dim] = [0] * tensor.rank
    high: list[Dim] = [0] * tensor.rank
    for axis, before, behind in zip(axes, given[: len(axes)], given[len(axes) :]):
        low[e.axis(axis, tensor.rank)], high[e.axis(axis, tensor.rank)] = before, behind
    if any(isinstance(number, int) and number < 0 for number in [*low, *high]):
        raise Unsupported(f"padding by {show(given)}: expected no negative numbers")
    value = e.input(node, 2).scalar() if node.input(2) else e.attribute(node, "value", 0)
    if value is None:
        raise Unsupported("a value that is known at run time only")
    return pad(e.program, tensor, low, high, value)


@handles("Trilu", attributes=("upper",))
def _trilu(e: Emitter, node: Node) -> Tensor:
    """Zeros above or below a diagonal, by comparing the places."""
    p, tensor = e.program, e.value(node, 0)
    (k,) = e.integers(node, 1) or [0]
    upper = e.attribute(node, "upper", 1)
    zero, shift = p.scalar(0, tensor.element), p.index(k)

    def body(element: str, _: str) -> str:
        row = p.inner(f"linalg.index {tensor.rank - 2} : index")
        column = p.inner(f"linalg.index {tensor.rank - 1} : index")
        diagonal = p.inner(f"arith.addi {row}, {shift} : index")
        kept = p.inner(f"arith.cmpi {'sge' if upper else 'sle'}, {column}, {diagonal} : index")
        return p.inner(f"arith.select {kept}, {element}, {zero} : {tensor.element}")

    return p.generic([(tensor, range(tensor.rank))], tensor.element, tensor.dims, body)


@handles("Range")
def _range(e: Emitter, node: Node) -> Tensor:
    p = e.program
    bounds = [e.input(node, i) for i in range(3)]
    start, limit, delta = (e.numbers(node, i)[0] for i in range(3))
    if delta != 1 or bounds[0].element not in ("i64", "i32"):
        raise Unsupported(f"expected a step of 1 between integers, found a step of {delta} between {bounds[0].element}")
    dims = (limit - start,)
    element = bounds[0].element
    first = p.scalar_of_size(start, element)

    def body(_: str) -> str:
        place = p.inner("linalg.index 0 : index")
        number = p.inner(f"arith.index_cast {place} : index to {element}")
        return p.inner(f"arith.addi {number}, {first} : {element}")

    return p.generic([], element, dims, body)


@handles("ConstantOfShape", attributes=("value",))
def _constant_of_shape(e: Emitter, node: Node) -> Tensor:
    from . import elements

    value = e.attribute(node, "value", np.zeros(1, np.float32)).reshape(-1)[0]
    return e.program.filled(value.item(), elements.from_numpy(value.dtype), e.numbers(node, 0))
