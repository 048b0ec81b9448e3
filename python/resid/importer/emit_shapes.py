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

ENDLESS = (1 << 31) - 1  # exporters write the largest number of some type for "to the end"


def reshape(p: Program, tensor: Tensor, dims: Sequence[Dim]) -> Tensor:
    """The same elements in another shape, in the same order."""
    dims = tuple(dims)
    if tensor.known is not None and not (tensor.ssa or tensor.weight) and whole(dims) == tensor.known.size:
        return Tensor(tensor.element, dims, known=tensor.known.reshape(dims))
    if 0 in dims and tensor.dims != dims:
        return p.empty(tensor.element, dims)
    tensor = p.value(tensor)
    if tensor.dims == dims:
        return tensor
    if tensor.rank == 0 or not dims:
        return _reshape_scalar(p, tensor, dims)
    groups = _groups(tensor.dims, dims)
    if groups is None:
        groups = [(list(range(tensor.rank)), list(range(len(dims))))]
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
    if any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(tensor.dims, dims)):
        raise ModelError(f"expected sizes {show(dims)}, found {show(tensor.dims)}")
    to = tensor_type(tensor.element, dims)
    return p.op(f"tensor.cast {tensor.ssa} : {tensor.type} to {to}", tensor.element, dims)


def _reshape_scalar(p: Program, tensor: Tensor, dims: tuple[Dim, ...]) -> Tensor:
    """The one element has sizes of 1, which is checked in each call where they are open."""
    ones = (1,) * max(tensor.rank, len(dims))
    one = tensor_type(tensor.element, ones)
    if tensor.rank:
        tensor = cast_sizes(p, tensor, ones)
        return p.op(f"tensor.collapse_shape {tensor.ssa} [] : {one} into {tensor_type(tensor.element, ())}", tensor.element, ())
    text = f"tensor.expand_shape {tensor.ssa} [] output_shape [{', '.join(map(str, ones))}] : {tensor.type} into {one}"
    return cast_sizes(p, p.op(text, tensor.element, ones), dims)


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
    if 0 in sizes:
        return p.empty(tensor.element, sizes)  # it may begin at the end, where MLIR takes no slice
    tensor = p.value(tensor)

    def listed(dims: Sequence[Dim]) -> str:
        return "[" + ", ".join(str(dim) if isinstance(dim, int) else p.index(dim) for dim in dims) + "]"

    to = tensor_type(tensor.element, sizes)
    text = f"tensor.extract_slice {tensor.ssa}{listed(offsets)} {listed(sizes)} {listed(steps)} : {tensor.type} to {to}"
    return p.op(text, tensor.element, sizes)


def expand(p: Program, tensor: Tensor, dims: Sequence[Dim]) -> Tensor:
    """Repeats along the dimensions that are 1 or missing."""
    tensor = p.value(tensor)
    if tensor.dims == tuple(dims):
        return tensor
    operand, loops = broadcast_operand(p, tensor, dims)
    return p.generic([(operand, loops)], tensor.element, dims, lambda element, _: element)


def concat(p: Program, parts: Sequence[Tensor], axis: int) -> Tensor:
    """Tensors one after the other along an axis. Sizes along others agree, which each call checks where they are open."""
    if any(part.rank != parts[0].rank for part in parts):
        raise ModelError(f"expected parts of one rank, found {', '.join(show(part.dims) for part in parts)}")
    parts = [part for part in parts if part.dims[axis] != 0] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    dims = list(parts[0].dims)
    for part in parts[1:]:
        dims = [b if isinstance(b, int) else a for a, b in zip(dims, part.dims)]
    parts = [cast_sizes(p, part, [*dims[:axis], part.dims[axis], *dims[axis + 1 :]]) for part in parts]
    dims[axis] = sum((part.dims[axis] for part in parts[1:]), parts[0].dims[axis])
    types, names = ", ".join(part.type for part in parts), ", ".join(part.ssa for part in parts)
    to = tensor_type(parts[0].element, dims)
    return p.op(f"tensor.concat dim({axis}) {names} : ({types}) -> {to}", parts[0].element, dims)


def broadcast_operand(p: Program, tensor: Tensor, dims: Sequence[Dim]) -> tuple[Tensor, list[int]]:
    """The tensor without the dimensions that repeat in `dims`, and the loop of each that is left."""
    tensor = p.value(tensor)
    first = len(dims) - tensor.rank
    kept = [i for i, dim in enumerate(tensor.dims) if dim != 1 or dims[first + i] == 1]
    return reshape(p, tensor, [tensor.dims[i] for i in kept]), [first + i for i in kept]


@handles("Identity", takes_bytes=True)
def _identity(e: Emitter, node: Node) -> Tensor:
    return e.input(node, 0)


@handles("Shape", attributes=("start", "end"), takes_bytes=True)
def _shape(e: Emitter, node: Node) -> Tensor:
    dims = e.input(node, 0).dims
    chosen = list(dims)[slice(e.attribute(node, "start", 0), e.attribute(node, "end", None))]
    known = np.empty(len(chosen), object)
    known[:] = chosen
    if not any(isinstance(dim, Size) for dim in chosen):
        known = known.astype(np.int64)
    return Tensor("i64", (len(chosen),), known=known)


@handles("Reshape", attributes=("allowzero",), takes_bytes=True)
def _reshape(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    wanted = e.numbers(node, 1, "shape")
    if wanted is None:
        raise ModelError("expected a shape")
    if not node.flag("allowzero"):
        if any(isinstance(dim, int) and dim == 0 for dim in wanted[tensor.rank :]):
            raise ModelError(f"expected a 0 only for one of {tensor.rank} dimensions, found {show(wanted)}")
        wanted = [tensor.dims[i] if isinstance(dim, int) and dim == 0 else dim for i, dim in enumerate(wanted)]
    open_at = [i for i, dim in enumerate(wanted) if isinstance(dim, int) and dim == -1]
    if len(open_at) > 1:
        raise ModelError(f"expected at most one -1 in a shape, found {show(wanted)}")
    if open_at:
        rest = product([dim for i, dim in enumerate(wanted) if i not in open_at])
        wanted[open_at[0]] = product(tensor.dims) // rest if rest != 0 else 0
    if any(isinstance(dim, int) and dim < 0 for dim in wanted):
        raise ModelError(f"expected no negative size but one -1, found {show(wanted)}")
    before, after = whole(tensor.dims), whole(wanted)
    if before is not None and after is not None and before != after:
        raise ModelError(f"shape {show(tensor.dims)} has other elements than {show(wanted)}")
    return reshape(e.program, tensor, wanted)


@handles("Flatten", attributes=("axis",), takes_bytes=True)
def _flatten(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    axis = e.attribute(node, "axis", 1)
    axis = e.axis(axis, tensor.rank + 1 if axis == tensor.rank else tensor.rank) if tensor.rank else 0
    return reshape(e.program, tensor, [product(tensor.dims[:axis]), product(tensor.dims[axis:])])


@handles("Unsqueeze", attributes=("axes",), takes_bytes=True)
def _unsqueeze(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    given = e.integers(node, 1, "axes") or []
    rank = tensor.rank + len(given)
    axes = {e.axis(axis, rank) for axis in given}
    if len(axes) < len(given):
        raise ModelError(f"expected axes that differ, found {given}")
    rest = iter(tensor.dims)
    return reshape(e.program, tensor, [1 if i in axes else next(rest) for i in range(rank)])


@handles("Squeeze", attributes=("axes",), takes_bytes=True)
def _squeeze(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    given = e.integers(node, 1, "axes")
    if given == []:
        raise Unsupported("axes that are given but empty: ONNX removes none then, and ONNX Runtime all of size 1")
    if given is None and any(isinstance(dim, Size) for dim in tensor.dims):
        raise Unsupported(f"sizes {show(tensor.dims)}, of which those that are 1 are known at run time only: expected axes")
    axes = {i for i, dim in enumerate(tensor.dims) if (dim == 1 if given is None else False)}
    axes |= {e.axis(axis, tensor.rank) for axis in given or []}
    single = [1 if i in axes else dim for i, dim in enumerate(tensor.dims)]
    if tensor.known is None:
        tensor = cast_sizes(e.program, e.program.value(tensor), single)
    return reshape(e.program, tensor, [dim for i, dim in enumerate(single) if i not in axes])


@handles("Transpose", attributes=("perm",), takes_bytes=True)
def _transpose(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    order = list(e.attribute(node, "perm", None) or range(tensor.rank)[::-1])
    if sorted(order) != list(range(tensor.rank)):
        raise ModelError(f"expected an order of {tensor.rank} dimensions, found {order}")
    return transpose(e.program, tensor, order)


@handles("resid.Swap", takes_bytes=True)
def _swap(e: Emitter, node: Node) -> Tensor:
    """Turns the last two dimensions."""
    tensor = e.ranked(e.input(node, 0), *range(2, 9))
    return transpose(e.program, tensor, [*range(tensor.rank - 2), tensor.rank - 1, tensor.rank - 2])


@handles("Expand", takes_bytes=True)
def _expand(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    return expand(e.program, tensor, broadcast(tensor.dims, e.sizes(node, 1)))


@handles("Tile", takes_bytes=True)
def _tile(e: Emitter, node: Node) -> Tensor:
    tensor, repeats = e.input(node, 0), e.sizes(node, 1)
    if len(repeats) != tensor.rank:
        raise ModelError(f"expected {tensor.rank} repeats, found {len(repeats)}")
    single = [part for dim in tensor.dims for part in (1, dim)]
    many = [part for times, dim in zip(repeats, tensor.dims) for part in (times, dim)]
    wide = expand(e.program, reshape(e.program, tensor, single), many)
    return reshape(e.program, wide, [times * dim for times, dim in zip(repeats, tensor.dims)])


@handles("Concat", attributes=("axis",), takes_bytes=True)
def _concat(e: Emitter, node: Node) -> Tensor:
    parts = [e.value(node, i) for i in range(len(node.inputs))]
    return concat(e.program, parts, e.axis(e.attribute(node, "axis", 0), parts[0].rank))


@handles("Split", attributes=("axis", "split", "num_outputs"), takes_bytes=True)
def _split(e: Emitter, node: Node) -> list[Tensor]:
    tensor = e.input(node, 0)
    axis = e.axis(e.attribute(node, "axis", 0), tensor.rank)
    sizes = e.numbers(node, 1, "split")
    if sizes is None:
        count = e.attribute(node, "num_outputs", len(node.outputs))
        if count != len(node.outputs):
            raise ModelError(f"attribute num_outputs = {count}: expected {len(node.outputs)}")
        if not isinstance(tensor.dims[axis], int):
            raise Unsupported(f"a split of {tensor.dims[axis]} elements, which are known at run time only")
        each = -(-tensor.dims[axis] // count)
        sizes = [min(each, tensor.dims[axis] - i * each) for i in range(count)]
    total = sum(sizes)
    if any(isinstance(size, int) and size < 0 for size in sizes) or len(sizes) != len(node.outputs):
        raise ModelError(f"expected {len(node.outputs)} parts of {tensor.dims[axis]} elements, found {show(sizes)}")
    if tensor.known is None or tensor.weight:
        whole_dims = [*tensor.dims[:axis], total, *tensor.dims[axis + 1 :]]
        tensor = cast_sizes(e.program, e.program.value(tensor), whole_dims) if isinstance(total, int) else tensor
    elif isinstance(total, int):
        ends: np.ndarray = np.cumsum(np.array(sizes))
        parts = np.split(tensor.known, ends[:-1].astype(int), axis)
        return [Tensor(tensor.element, part.shape, known=part) for part in parts]
    results: list[Tensor] = []
    begin: Dim = 0
    for size in sizes:
        offsets: list[Dim] = [0] * tensor.rank
        dims = list(tensor.dims)
        offsets[axis], dims[axis] = begin, size
        results.append(extract(e.program, tensor, offsets, dims, [1] * tensor.rank))
        begin = begin + size
    return results


@handles("Slice", attributes=("starts", "ends", "axes"), takes_bytes=True)
def _slice(e: Emitter, node: Node) -> Tensor:
    tensor = e.input(node, 0)
    starts, ends = e.numbers(node, 1, "starts"), e.numbers(node, 2, "ends")
    if starts is None or ends is None:
        raise ModelError("expected starts and ends")
    axes = e.integers(node, 3, "axes") or list(range(len(starts)))
    steps = e.integers(node, 4) or [1] * len(starts)
    offsets: list[Dim] = [0] * tensor.rank
    dims, strides = list(tensor.dims), [1] * tensor.rank
    turned = {}
    for start, end, axis, step in zip(starts, ends, axes, steps):
        axis = e.axis(axis, tensor.rank)
        if step == 0:
            raise ModelError("a step of 0")
        if step < 0:
            turned[axis] = _backwards(start, end, step, tensor.dims[axis])
            continue
        first, last = _bound(start, tensor.dims[axis]), _bound(end, tensor.dims[axis])
        length = last - first
        length = max(length, 0) if isinstance(length, int) else length
        offsets[axis], strides[axis] = first, step
        dims[axis] = length if step == 1 else (length + (step - 1)) // step
    if tuple(dims) != tensor.dims or any(isinstance(o, Size) or o for o in offsets):
        tensor = extract(e.program, tensor, offsets, dims, strides)
    return _turn(e.program, tensor, turned) if turned else tensor


def _backwards(start: Dim, end: Dim, step: int, size: Dim) -> tuple[Dim, Dim, int]:
    """(first place, count, step) of a slice that goes towards the beginning."""
    if isinstance(size, int) and isinstance(start, int) and isinstance(end, int):
        first, last = (place + size if place < 0 else place for place in (start, end))
        first, last = max(min(first, size - 1), 0), max(min(last, size - 1), -1)
        return first, max(-(-(first - last) // -step), 0) if size else 0, step
    if start == -1 and isinstance(end, int) and end <= -ENDLESS:
        return size - 1, (size + (-step - 1)) // -step, step
    raise Unsupported(f"a step of {step} from {start} to {end} of {size}, which is known at run time only")


def _turn(p: Program, tensor: Tensor, turned: dict[int, tuple[Dim, Dim, int]]) -> Tensor:
    tensor = p.value(tensor)
    dims = [turned[axis][1] if axis in turned else dim for axis, dim in enumerate(tensor.dims)]
    places = {axis: (p.index(first), p.index(step)) for axis, (first, _, step) in turned.items()}

    def body(_: str) -> str:
        indices = [p.inner(f"linalg.index {axis} : index") for axis in range(tensor.rank)]
        for axis, (first, step) in places.items():
            moved = p.inner(f"arith.muli {indices[axis]}, {step} : index")
            indices[axis] = p.inner(f"arith.addi {first}, {moved} : index")
        return p.inner(f"tensor.extract {tensor.ssa}[{', '.join(indices)}] : {tensor.type}")

    return p.generic([], tensor.element, dims, body)


def _bound(value: Dim, size: Dim) -> Dim:
    """Where a slice begins or ends: from the end if negative, and not past the end. What is known at run time only is taken to
    lie inside, which resid checks in each call."""
    if isinstance(value, int):
        if value >= ENDLESS or value <= -ENDLESS:
            return size if value > 0 else 0
        if value < 0:
            return max(size + value, 0) if isinstance(size, int) else size + value
        return min(value, size) if isinstance(size, int) else value
    try:
        return size + value if value < 0 else value
    except ValueError:
        return value


@handles("Size", takes_bytes=True)
def _size(e: Emitter, node: Node) -> Tensor:
    count = product(e.input(node, 0).dims)
    known = np.empty((), object)
    known[()] = count
    return Tensor("i64", (), known=known if isinstance(count, Size) else known.astype(np.int64))


@handles("Range")
def _range(e: Emitter, node: Node) -> Tensor:
    p = e.program
    bounds = [e.input(node, i) for i in range(3)]
    start, limit, delta = (e.number(node, i) for i in range(3))
    if delta != 1 or bounds[0].element not in ("i64", "i32"):
        raise Unsupported(f"expected a step of 1 between integers, found a step of {delta} between {bounds[0].element}")
    length = limit - start
    dims = (max(length, 0) if isinstance(length, int) else length,)
    element = bounds[0].element
    first = p.scalar_of_size(start, element)

    def body(_: str) -> str:
        place = p.inner("linalg.index 0 : index")
        number = p.inner(f"arith.index_cast {place} : index to {element}")
        return p.inner(f"arith.addi {number}, {first} : {element}")

    return p.generic([], element, dims, body)
