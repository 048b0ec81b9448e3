# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Rotary embeddings: ONNX's own and ONNX Runtime's, and what attention needs that turns its queries and keys itself.

from __future__ import annotations

from . import elements
from .attention import join_heads, split_heads
from .emit import Emitter, handles
from .emit_elementwise import cast, elementwise
from .emit_lookup import embedding
from .emit_shapes import concat, extract, reshape
from .errors import ModelError, Unsupported
from .graph import Node
from .program import Program, Tensor
from .sizes import Dim

Tables = tuple[Tensor, Tensor]  # of cosines and sines


def rows_at(p: Program, tables: Tables, ids: Tensor) -> Tables:
    """The rows of tables [rows, h] for positions [batch, positions]: [batch, positions, h], or [positions, h] where all samples
    have the same."""
    ids = reshape(p, ids, ids.dims[1:]) if ids.dims[0] == 1 else ids
    ids = ids if ids.element in ("i32", "i64") else cast(p, ids, "i64")
    return embedding(p, tables[0], ids), embedding(p, tables[1], ids)


def turn(p: Program, x: Tensor, tables: Tables, *, interleaved: bool, offset: str = "") -> Tensor:
    """x [batch, heads, positions, size], each pair turned by the angle of its position. Tables are [rows, h], where position 0 has
    the row of the number `offset` (an i64), or [batch, positions, h]. Elements from 2·h on stay as they are."""
    x, cos, sin = (p.value(tensor) for tensor in (x, *tables))
    if cos.rank == 2:
        text = f"resid.rotary {x.ssa} cos({cos.ssa}) sin({sin.ssa})" + (f" offset({offset})" if offset else "")
        text += " {interleaved}" if interleaved else ""
        return p.op(f"{text} : {x.type}, {cos.type}, {sin.type}", x.element, x.dims)
    return _turn_by_sample(p, x, (cos, sin), interleaved)


def _turn_by_sample(p: Program, x: Tensor, tables: Tables, interleaved: bool) -> Tensor:
    batch, heads, positions, size = x.dims
    pairs, kind = tables[0].dims[2], elements.arithmetic(x.element)
    step = 2 if interleaved else 1

    def part(begin: Dim, count: Dim, step: int) -> Tensor:
        return extract(p, x, [0, 0, 0, begin], [batch, heads, positions, count], [1, 1, 1, step])

    first, second = part(0, pairs, step), part(1 if interleaved else pairs, pairs, step)
    cos, sin = (reshape(p, cast(p, table, kind), [batch, 1, positions, pairs]) for table in tables)

    def turned(sign: str, own: Tensor, other: Tensor) -> Tensor:
        def body(a: str, b: str, c: str, s: str) -> str:
            along = p.inner(f"arith.mulf {a}, {c} : {kind}")
            return p.inner(f"arith.{sign} {along}, {p.inner(f'arith.mulf {b}, {s} : {kind}')} : {kind}")

        return cast(p, elementwise(p, [cast(p, own, kind), cast(p, other, kind), cos, sin], kind, body), x.element)

    halves = [turned("subf", first, second), turned("addf", second, first)]
    if interleaved:
        halves = [reshape(p, half, [batch, heads, positions, pairs, 1]) for half in halves]
        result = reshape(p, concat(p, halves, 4), [batch, heads, positions, 2 * pairs])
    else:
        result = concat(p, halves, 3)
    return result if size == 2 * pairs else concat(p, [result, part(2 * pairs, size - 2 * pairs, 1)], 3)


def _of_heads(p: Program, node: Node, x: Tensor, pairs: int) -> Tensor:
    """[batch, heads, positions, size] of x, which may have its heads joined."""
    if x.rank == 4:
        return x
    heads, width = node.attributes.get("num_heads", 0), x.dims[2]
    if not heads and isinstance(width, int) and not node.attributes.get("rotary_embedding_dim", 0) and width % (2 * pairs) == 0:
        heads = width // (2 * pairs)
    if not heads:
        raise ModelError(f"expected an attribute num_heads beside {x.type}")
    return split_heads(p, x, heads)


def _rotary(e: Emitter, node: Node, cos: Tensor, sin: Tensor, ids: Tensor | None) -> Tensor:
    p, x = e.program, e.ranked(e.value(node, 0), 3, 4)
    pairs = e.ranked(cos, 2, 3).dims[-1]
    if not (isinstance(pairs, int) and isinstance(sin.dims[-1], int) and isinstance(x.dims[-1], int)):
        raise Unsupported(f"tables {cos.type} and {sin.type} for {x.type}: expected rows of sizes that are known")
    heads = _of_heads(p, node, x, pairs)
    wanted = node.attributes.get("rotary_embedding_dim", 0) or heads.dims[3]
    if wanted != 2 * pairs or sin.dims[-1] != pairs or wanted > heads.dims[3]:
        raise ModelError(f"tables {cos.type} and {sin.type} to turn {wanted} of {heads.dims[3]} elements of a head")
    tables, offset = (cos, sin), ""
    if ids is None and cos.rank == 3 and cos.dims[0] == 1:
        tables = (reshape(p, cos, cos.dims[1:]), reshape(p, sin, sin.dims[1:]))
    elif ids is not None and ids.rank == 1:  # that of the first position
        ids = cast(p, ids, "i64")
        offset = p.number(f"tensor.extract {p.value(ids).ssa}[{p.index(0)}] : {ids.type}")
    elif ids is not None:
        tables = rows_at(p, tables, ids)
    result = turn(p, heads, tables, interleaved=node.flag("interleaved"), offset=offset)
    return join_heads(p, result) if x.rank == 3 else result


@handles("RotaryEmbedding", attributes=("interleaved", "num_heads", "rotary_embedding_dim"))
def _onnx_rotary(e: Emitter, node: Node) -> Tensor:
    """Inputs: x, cosines and sines [rows, h] beside positions [batch, positions], or [batch, positions, h] without."""
    ids = e.optional(node, 3)
    cos, sin = (e.ranked(e.value(node, i), 3 if ids is None else 2) for i in (1, 2))
    return _rotary(e, node, cos, sin, None if ids is None else e.ranked(ids, 2))


@handles(
    "com.microsoft.RotaryEmbedding",
    attributes=("interleaved", "is_packed_batching", "num_heads", "rotary_embedding_dim", "scale"),
)
def _runtime_rotary(e: Emitter, node: Node) -> Tensor:
    """Inputs: x, positions [batch, positions] or that of the first, [1], cosines and sines [rows, h]."""
    if node.flag("is_packed_batching"):
        raise Unsupported("attribute is_packed_batching")
    if e.attribute(node, "scale", 1.0) != 1:
        raise Unsupported(f"a scale of {node.attributes['scale']}: expected 1")
    ids, cos, sin = e.ranked(e.value(node, 1), 1, 2), e.ranked(e.value(node, 2), 2), e.ranked(e.value(node, 3), 2)
    if ids.rank == 1 and ids.dims[0] != 1:
        raise ModelError(f"positions {ids.type}: expected one number, or one for each token")
    return _rotary(e, node, cos, sin, ids)
