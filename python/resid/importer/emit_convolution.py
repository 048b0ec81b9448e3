# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Convolutions, as products of their patches: those that cut an image into patches without a copy, all others from copies, one for
# each place of the kernel; and the largest or the mean of each patch.

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

from . import elements
from .emit import Emitter, handles, show
from .emit_elementwise import binary, cast, elementwise
from .emit_fill import pad
from .emit_linear import linear, matmul
from .emit_shapes import concat, extract, reshape, transpose
from .errors import ModelError, Unsupported
from .graph import Node
from .program import Program, Tensor, fixed

# Places of a kernel, each of which is written out.
MOST_PLACES = 256


@dataclasses.dataclass
class _Windows:
    """Where a kernel stands, by dimension of space: sizes of the kernel, steps, distances of its elements, padding before and after."""

    kernel: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    before: Sequence[int]
    after: Sequence[int]

    def reach(self, i: int) -> int:
        """The places from the first to the last element of the kernel along dimension i."""
        return self.dilations[i] * (self.kernel[i] - 1) + 1

    def cut(self, sizes: Sequence[int]) -> bool:
        """Whether they cut images of these sizes into pieces."""
        whole = all(size % k == 0 for size, k in zip(sizes, self.kernel))
        return whole and list(self.strides) == list(self.kernel) and {*self.dilations} == {1} and not any((*self.before, *self.after))


@handles("Conv", attributes=("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"))
def _convolution(e: Emitter, node: Node) -> Tensor:
    """Inputs: x [batch, channels, …], kernels [outputs, channels of a group, …], bias [outputs]."""
    p, x, weight, bias = e.program, e.value(node, 0), e.value(node, 1), e.optional(node, 2)
    if not x.rank == weight.rank > 2:
        raise ModelError(f"expected images and kernels of one rank, found {x.type} and {weight.type}")
    image, weights = fixed(x.dims[1:]), fixed(weight.dims)
    if image is None or weights is None:
        raise Unsupported(f"images {show(x.dims)} and kernels {show(weight.dims)}: expected sizes that are known but for the batch")
    sizes, kernel, groups = image[1:], weights[2:], e.attribute(node, "group", 1)
    if tuple(e.attribute(node, "kernel_shape", kernel)) != kernel or 0 in kernel:
        raise ModelError(f"a kernel of {show(kernel)}, and attribute kernel_shape = {node.attributes.get('kernel_shape')}")
    if groups < 1 or weight.dims[0] % groups or x.dims[1] != groups * weight.dims[1]:
        raise ModelError(f"images {show(x.dims)} and kernels {show(weight.dims)} of {groups} groups")
    if bias is not None and e.ranked(bias, 1).dims[0] != weight.dims[0]:
        raise ModelError(f"expected a bias of {weight.dims[0]} elements, found {bias.type}")
    windows = _read_windows(e, node, sizes, kernel)
    counts = _count(windows, sizes)
    if groups == 1 and windows.cut(sizes):
        return _of_pieces(p, x, weight, bias, counts)
    return _of_copies(p, x, weight, bias, groups, windows, counts)


def _read_windows(e: Emitter, node: Node, sizes: Sequence[int], kernel: Sequence[int]) -> _Windows:
    rank, given = len(kernel), {}
    for name, count, default, least in (("strides", rank, 1, 1), ("dilations", rank, 1, 1), ("pads", 2 * rank, 0, 0)):
        numbers = list(e.attribute(node, name, None) or [default] * count)
        if len(numbers) != count or any(number < least for number in numbers):
            raise ModelError(f"attribute {name} = {numbers}: expected {count} numbers of {least} or more")
        given[name] = numbers
    windows = _Windows(kernel, given["strides"], given["dilations"], given["pads"][:rank], given["pads"][rank:])
    kind = e.attribute(node, "auto_pad", "NOTSET")
    if kind in ("SAME_UPPER", "SAME_LOWER"):
        # As many places as steps of the stride fit into the image.
        steps = [(-(-size // stride) - 1) * stride for size, stride in zip(sizes, windows.strides)]
        missing = [max(steps[i] + windows.reach(i) - size, 0) for i, size in enumerate(sizes)]
        less, more = [number // 2 for number in missing], [-(-number // 2) for number in missing]
        windows.before, windows.after = (less, more) if kind == "SAME_UPPER" else (more, less)
    elif kind not in ("NOTSET", "VALID"):
        raise ModelError(f"attribute auto_pad = {kind!r}")
    return windows


def _count(windows: _Windows, sizes: Sequence[int]) -> list[int]:
    """How often the kernel stands along each dimension."""
    counts = []
    for i, size in enumerate(sizes):
        room = size + windows.before[i] + windows.after[i] - windows.reach(i)
        counts.append(room // windows.strides[i] + 1)
    if any(count < 1 for count in counts):
        raise ModelError(f"images of {show(sizes)}, which a kernel of {show(windows.kernel)} does not fit into")
    return counts


def _of_pieces(p: Program, x: Tensor, weight: Tensor, bias: Tensor | None, counts: Sequence[int]) -> Tensor:
    """Each piece of the image is a row of a linear layer."""
    kernel, rank = weight.dims[2:], len(counts)
    split = reshape(p, x, [*x.dims[:2], *[part for pair in zip(counts, kernel) for part in pair]])
    # [batch, channel, n0, k0, n1, k1] becomes [batch, n0, n1, channel, k0, k1].
    order = [0, *range(2, 2 + 2 * rank, 2), 1, *range(3, 3 + 2 * rank, 2)]
    patches = reshape(p, transpose(p, split, order), [x.dims[0], math.prod(counts), x.dims[1] * math.prod(kernel)])
    flat = reshape(p, weight, [weight.dims[0], math.prod(weight.dims[1:])])
    result = linear(p, patches, flat, bias)
    return reshape(p, transpose(p, result, [0, 2, 1]), [x.dims[0], weight.dims[0], *counts])


def _of_copies(
    p: Program, x: Tensor, weight: Tensor, bias: Tensor | None, groups: int, windows: _Windows, counts: Sequence[int]
) -> Tensor:
    """For each group a product of its kernels [outputs, channels·places] and patches [channels·places, windows]."""
    batch, channels = x.dims[:2]
    places, outputs = math.prod(windows.kernel), weight.dims[0]
    copies = _copies(p, x, windows, counts, filler=0)
    width = math.prod(counts)
    rows = concat(p, [reshape(p, copy, [batch, channels, 1, width]) for copy in copies], 2)
    patches = reshape(p, rows, [batch, groups, channels // groups * places, width])
    kernels = reshape(p, weight, [1, groups, outputs // groups, channels // groups * places])
    result = reshape(p, matmul(p, kernels, patches), [batch, outputs, width])
    if bias is not None:
        result = binary(p, "arith.addf", result, reshape(p, bias, [outputs, 1]))
    return reshape(p, result, [batch, outputs, *counts])


def _copies(p: Program, x: Tensor, windows: _Windows, counts: Sequence[int], filler: float) -> list[Tensor]:
    """For each place of the kernel what stands there in all windows."""
    places = math.prod(windows.kernel)
    if places > MOST_PLACES:
        raise Unsupported(f"a kernel of {places} places, with overlaps or gaps: expected at most {MOST_PLACES}")
    if any((*windows.before, *windows.after)):
        x = pad(p, x, [0, 0, *windows.before], [0, 0, *windows.after], filler)
    copies = []
    for place in itertools.product(*map(range, windows.kernel)):
        begin = [0, 0, *(d * number for d, number in zip(windows.dilations, place))]
        copies.append(extract(p, x, begin, [*x.dims[:2], *counts], [1, 1, *windows.strides]))
    return copies


_POOL = ("auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides")


@handles("MaxPool", attributes=(*_POOL, "storage_order"))
def _largest(e: Emitter, node: Node) -> Tensor:
    first, *rest = _pooled(e, node, filler=float("-inf"))
    for copy in rest:
        first = binary(e.program, "arith.maximumf", first, copy)
    return first


@handles("AveragePool", attributes=(*_POOL, "count_include_pad"))
def _average(e: Emitter, node: Node) -> Tensor:
    """Of all places, which are places of the image, or zeros where those count."""
    p = e.program
    if node.flag("ceil_mode") or (any(e.attribute(node, "pads", [])) and not node.flag("count_include_pad")):
        raise Unsupported("ceil_mode, or padding that does not count")
    if e.attribute(node, "auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise Unsupported(f"auto_pad = {node.attributes['auto_pad']}")
    copies = _pooled(e, node, filler=0)
    kind, wide = copies[0].element, elements.arithmetic(copies[0].element)
    total = cast(p, copies[0], wide)
    for copy in copies[1:]:
        total = binary(p, "arith.addf", total, cast(p, copy, wide))
    count = p.scalar(float(len(copies)), wide)
    return cast(p, elementwise(p, [total], wide, lambda a: p.inner(f"arith.divf {a}, {count} : {wide}")), kind)


def _pooled(e: Emitter, node: Node, filler: float) -> list[Tensor]:
    """For each place of the kernel what stands there in all windows."""
    p, x = e.program, e.value(node, 0)
    kernel = list(e.attribute(node, "kernel_shape", []))
    if not elements.is_float(x.element) or node.output(1):
        raise Unsupported(f"places, or elements of {x.element}: expected floats alone")
    if x.rank < 3 or len(kernel) != x.rank - 2 or any(size < 1 for size in kernel):
        raise ModelError(f"a kernel of {kernel} on {x.type}")
    sizes = fixed(x.dims[2:])
    if sizes is None:
        raise Unsupported(f"images {show(x.dims)}: expected sizes that are known but for batch and channels")
    windows = _read_windows(e, node, sizes, kernel)
    if node.flag("ceil_mode"):
        windows.after = [_room_after(windows, i, size) for i, size in enumerate(sizes)]
    return _copies(p, x, windows, _count(windows, sizes), filler)


def _room_after(windows: _Windows, i: int, size: int) -> int:
    """The padding after dimension i with which the last window may begin in the image, or before it, and end after it."""
    reach, whole = windows.reach(i), windows.before[i] + size
    last = -(-(whole + windows.after[i] - reach) // windows.strides[i]) * windows.strides[i]
    last -= windows.strides[i] if last >= whole else 0
    return max(windows.after[i], last + reach - whole)
