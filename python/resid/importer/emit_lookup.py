# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operators that read places which data gives: embeddings and gathers.

from __future__ import annotations

import dataclasses

import numpy as np

from . import elements
from .emit import Emitter, handles, show
from .emit_elementwise import cast
from .emit_shapes import extract, reshape
from .errors import ModelError, Unsupported
from .graph import Node
from .program import Program, Tensor, tensor_type
from .sizes import Dim


def embedding(p: Program, table: Tensor, ids: Tensor) -> Tensor:
    table, ids = p.value(table), p.value(ids)
    dims = (*ids.dims, table.dims[1])
    return p.op(f"resid.embedding {ids.ssa}, {table.ssa} : {ids.type}, {table.type}", table.element, dims)


@handles("Gather", attributes=("axis",), takes_bytes=True)
def _gather(e: Emitter, node: Node) -> Tensor:
    p, tensor, places = e.program, e.value(node, 0), e.input(node, 1)
    axis = e.axis(e.attribute(node, "axis", 0), tensor.rank)
    places = _counted(places, tensor.dims[axis])
    known = places.known
    if known is not None and known.size == 1:
        place = known.reshape(()).item()
        place = place + tensor.dims[axis] if isinstance(place, int) and place < 0 else place
        offsets: list[Dim] = [0] * tensor.rank
        sizes = list(tensor.dims)
        offsets[axis], sizes[axis] = place, 1
        taken = extract(p, tensor, offsets, sizes, [1] * tensor.rank)
        return reshape(p, taken, [*tensor.dims[:axis], *places.dims, *tensor.dims[axis + 1 :]])
    places = p.value(places)
    if axis == 0 and tensor.rank == 2 and places.rank > 0 and elements.is_float(tensor.element):
        return embedding(p, tensor, places if places.element in ("i32", "i64") else cast(p, places, "i64"))
    dims = (*tensor.dims[:axis], *places.dims, *tensor.dims[axis + 1 :])
    loops = range(axis, axis + places.rank)

    def body(place: str, _: str) -> str:
        before = [p.inner(f"linalg.index {i} : index") for i in range(axis)]
        after = [p.inner(f"linalg.index {i} : index") for i in range(axis + places.rank, len(dims))]
        return _read(p, tensor, [*before, _wrapped(p, place, places.element, tensor.dims[axis]), *after])

    return p.generic([(places, loops)], tensor.element, dims, body)


def _counted(places: Tensor, size: Dim) -> Tensor:
    """Places that are known, counted from the beginning."""
    if not places.is_constant() or places.weight or not isinstance(size, int):
        return places
    known = places.array
    if known.size and not -size <= known.min() <= known.max() < size:
        raise ModelError(f"expected places from {-size} to {size - 1}, found {known.min()} to {known.max()}")
    counted = np.where(known < 0, known + size, known).astype(known.dtype)
    return dataclasses.replace(places, known=counted, ssa="")


@handles("resid.FirstRows")
def _first_rows(e: Emitter, node: Node) -> Tensor:
    """As many rows of a table as there are tokens: the positions of ids [batch, tokens]."""
    table, ids = e.ranked(e.value(node, 0), 2), e.ranked(e.input(node, 1), 2)
    if isinstance(table.dims[0], int) and isinstance(ids.dims[1], int) and table.dims[0] < ids.dims[1]:
        raise ModelError(f"{ids.dims[1]} tokens, of which {table.dims[0]} have positions")
    return extract(e.program, table, [0, 0], [ids.dims[1], table.dims[1]], [1, 1])


@handles("GatherElements", attributes=("axis",), takes_bytes=True)
def _gather_elements(e: Emitter, node: Node) -> Tensor:
    p, tensor, places = e.program, e.value(node, 0), e.value(node, 1)
    axis = e.axis(e.attribute(node, "axis", 0), e.ranked(tensor, places.rank).rank)
    if any(i != axis and isinstance(a, int) and isinstance(b, int) and a > b for i, (a, b) in enumerate(zip(places.dims, tensor.dims))):
        raise ModelError(f"places {show(places.dims)} of {show(tensor.dims)}")

    def body(place: str, _: str) -> str:
        indices = [p.inner(f"linalg.index {i} : index") if i != axis else "" for i in range(tensor.rank)]
        indices[axis] = _wrapped(p, place, places.element, tensor.dims[axis])
        return _read(p, tensor, indices)

    return p.generic([(places, range(places.rank))], tensor.element, places.dims, body)


@handles("GatherND", attributes=("batch_dims",), takes_bytes=True)
def _gather_nd(e: Emitter, node: Node) -> Tensor:
    p, tensor, places = e.program, e.value(node, 0), e.value(node, 1)
    count = e.ranked(places, *range(1, 9)).dims[-1]
    if e.attribute(node, "batch_dims", 0) or not isinstance(count, int):
        raise Unsupported("batch_dims, or a number of indices that is known at run time only")
    if not 1 <= count <= tensor.rank:
        raise ModelError(f"{count} indices of {tensor.type}")
    columns = []
    for i in range(count):
        part = extract(p, places, [0] * (places.rank - 1) + [i], [*places.dims[:-1], 1], [1] * places.rank)
        columns.append(reshape(p, part, places.dims[:-1]))
    dims = (*places.dims[:-1], *tensor.dims[count:])
    loops = range(places.rank - 1)

    def body(*names: str) -> str:
        chosen = [_wrapped(p, name, places.element, tensor.dims[i]) for i, name in enumerate(names[:-1])]
        rest = [p.inner(f"linalg.index {i} : index") for i in range(places.rank - 1, len(dims))]
        return _read(p, tensor, [*chosen, *rest])

    return p.generic([(column, loops) for column in columns], tensor.element, dims, body)


def _read(p: Program, tensor: Tensor, indices: list[str]) -> str:
    return p.inner(f"tensor.extract {tensor.ssa}[{', '.join(indices)}] : {tensor_type(tensor.element, tensor.dims)}")


def _wrapped(p: Program, place: str, element: str, size: Dim) -> str:
    """An index, where a negative one counts from the end."""
    index = p.inner(f"arith.index_cast {place} : {element} to index")
    negative = p.inner(f"arith.cmpi slt, {index}, {p.index(0)} : index")
    moved = p.inner(f"arith.addi {index}, {p.index(size)} : index")
    return p.inner(f"arith.select {negative}, {moved}, {index} : index")
