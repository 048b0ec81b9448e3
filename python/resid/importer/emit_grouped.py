# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# GroupQueryAttention, the attention with a cache that ONNX Runtime's model builders write. Its caches grow: keys of earlier calls
# have the places before those of this call. A sample with fewer keys than others has zeros after them.

from __future__ import annotations

import dataclasses

from .attention import Attention, emit_attention, join_heads, split_heads
from .emit import Emitter, handles
from .emit_elementwise import elementwise, one_type
from .emit_reduce import reduce
from .emit_rotary import rows_at, turn
from .emit_shapes import cast_sizes, concat, extract, reshape
from .errors import ModelError, Unsupported
from .graph import Node
from .program import Program, Tensor
from .sizes import Dim


@dataclasses.dataclass
class _Cache:
    """How many keys there were before this call, in each sample: `count` of all, or those of `each` [batch], i64. `text` is the
    number of all as an i64."""

    count: Dim
    each: Tensor | None
    text: str


@handles(
    "GroupQueryAttention",
    attributes=(
        "do_rotary",
        "kv_num_heads",
        "local_window_size",
        "num_heads",
        "rotary_interleaved",
        "scale",
        "smooth_softmax",
        "softcap",
    ),
)
def _grouped_attention(e: Emitter, node: Node) -> list[Tensor | None]:
    """Inputs: query, key, value [batch, positions, width], or all three packed in the first; past key, past value [batch, heads,
    past, size]; keys of each sample with those of this call, minus 1 [batch]; the most of them; cosines, sines [rows, h];
    positions; an added mask; sinks [heads]."""
    p = e.program
    q, k, v = _split(e, node)
    key, value = e.optional(node, 3), e.optional(node, 4)
    if (key is None) != (value is None):
        raise ModelError("expected both a past key and a past value, or neither")
    if key is not None and value is not None:
        for held, new in ((key, k), (value, v)):
            one_type(e.ranked(held, 4), new)
    cache = _read_cache(e, node, q, key)
    if node.flag("do_rotary"):
        q, k = _turned(e, node, q, k, cache)
    if key is not None and value is not None:
        k, v = _grown(p, key, k, cache), _grown(p, value, v, cache)
    window = e.attribute(node, "local_window_size", -1)
    if window == 0 or window < -1:
        raise ModelError(f"attribute local_window_size = {window}: expected -1, or 1 or more")
    a = Attention(q, k, v, node.attributes.get("scale") or None, e.optional(node, 10), sink=_sink(e, node, q))
    a.softcap = float(e.attribute(node, "softcap", 0.0))
    a.causal, a.window, a.past = True, max(window, 0), cache.each or cache.text or None
    return [join_heads(p, emit_attention(p, a)[0]), k, v]


def _split(e: Emitter, node: Node) -> tuple[Tensor, Tensor, Tensor]:
    p, heads, groups = e.program, e.attribute(node, "num_heads", 0), e.attribute(node, "kv_num_heads", 0)
    if heads < 1 or groups < 1 or heads % groups:
        raise ModelError(f"num_heads = {heads} and kv_num_heads = {groups}: expected one to be a multiple of the other")
    q = e.ranked(e.value(node, 0), 3)
    if node.input(1) and node.input(2):
        k, v = (e.ranked(e.value(node, i), 3) for i in (1, 2))
        return split_heads(p, q, heads), split_heads(p, k, groups), split_heads(p, v, groups)
    width = q.dims[2]
    if not isinstance(width, int):
        raise Unsupported(f"{width} features, which are known at run time only")
    if width % (heads + 2 * groups):
        raise ModelError(f"packed queries, keys and values of {heads}, {groups} and {groups} heads in {q.type}")
    size, begin, parts = width // (heads + 2 * groups), 0, []
    for count in (heads, groups, groups):
        part = extract(p, q, [0, 0, begin], [*q.dims[:2], count * size], [1, 1, 1])
        parts.append(split_heads(p, part, count))
        begin += count * size
    return parts[0], parts[1], parts[2]


def _sink(e: Emitter, node: Node, q: Tensor) -> Tensor | None:
    """A score for each head that takes part in the softmax and has no value. A smooth softmax has zeros there."""
    given, smooth = e.optional(node, 11), e.attribute(node, "smooth_softmax", 0)
    if given is not None:
        return e.ranked(given, 1)
    return e.program.filled(0, q.element, (q.dims[1],)) if smooth == 1 else None


def _read_cache(e: Emitter, node: Node, q: Tensor, past: Tensor | None) -> _Cache:
    """All samples have as many keys where there is one, or no cache. A call is refused for numbers of keys that the caches do not
    have, and for a largest number that is not that of the caches which result."""
    p, lengths, queries = e.program, e.ranked(e.value(node, 5), 1, 2), q.dims[2]
    if lengths.element not in ("i32", "i64") or lengths.dims[1:] not in ((), (1,)):
        raise ModelError(f"seqlens_k {lengths.type}: expected an integer for each sample")
    count: Dim = 0 if past is None else past.dims[2]
    total = e.input(node, 6)
    if total.known is not None:
        p.require_same(e.number(node, 6), count + queries, f"expected total_sequence_length to be {count + queries}")
    if past is None:
        return _Cache(0, None, "")
    lengths = cast_sizes(p, reshape(p, lengths, lengths.dims[:1]), [q.dims[0]])
    kind = lengths.element
    before, none = p.scalar_of_size(count, "i64"), p.scalar(0, "i64")
    empty = p.number(f"arith.cmpi eq, {before}, {none} : i64")
    rest = p.number(f"arith.subi {p.scalar_of_size(queries, 'i64')}, {p.scalar(1, 'i64')} : i64")

    def held(length: str) -> str:
        wide = length if kind == "i64" else p.inner(f"arith.extsi {length} : {kind} to i64")
        # The first call has all positions in its queries, those after a shorter prompt too.
        return p.inner(f"arith.select {empty}, {none}, {p.inner(f'arith.subi {wide}, {rest} : i64')} : i64")

    each = elementwise(p, [lengths], "i64", held)
    same = q.dims[0] == 1
    for kind, test, other in (("minimum", "eq" if same else "sge", before if same else none), ("maximum", "sle", before)):
        bound = reduce(p, kind, each, [0])
        number = p.number(f"tensor.extract {bound.ssa}[] : {bound.type}")
        holds = p.number(f"arith.cmpi {test}, {number}, {other} : i64")
        p.line(f'cf.assert {holds}, "expected seqlens_k to be of keys that the caches have"')
    return _Cache(count, None if same else each, before)


def _turned(e: Emitter, node: Node, q: Tensor, k: Tensor, cache: _Cache) -> tuple[Tensor, Tensor]:
    p, ids = e.program, e.optional(node, 9)
    tables = (e.ranked(e.value(node, 7), 2), e.ranked(e.value(node, 8), 2))
    pairs, size = tables[0].dims[1], q.dims[3]
    if not all(isinstance(count, int) for count in (pairs, size, tables[1].dims[1])):
        raise Unsupported(f"tables {tables[0].type} for heads of {size}: expected sizes that are known")
    if tables[1].dims[1] != pairs or 2 * pairs > size:
        raise ModelError(f"tables {tables[0].type} and {tables[1].type} for heads of {size}")
    offset = ""
    if ids is not None:
        tables = rows_at(p, tables, e.ranked(ids, 2))
    elif cache.each is not None:
        tables = rows_at(p, tables, _positions(p, cache.each, q.dims[2]))
    else:
        offset = cache.text or p.scalar(0, "i64")
    interleaved = node.flag("rotary_interleaved")
    return turn(p, q, tables, interleaved=interleaved, offset=offset), turn(p, k, tables, interleaved=interleaved, offset=offset)


def _positions(p: Program, each: Tensor, queries: Dim) -> Tensor:
    def body(before: str, _: str) -> str:
        query = p.inner("linalg.index 1 : index")
        return p.inner(f"arith.addi {before}, {p.inner(f'arith.index_cast {query} : index to i64')} : i64")

    return p.generic([(each, [0])], "i64", (each.dims[0], queries), body)


def _grown(p: Program, past: Tensor, new: Tensor, cache: _Cache) -> Tensor:
    """The keys or values of this call after those that each sample has; zeros after fewer."""
    joined = concat(p, [past, new], 2)
    if cache.each is None:
        return joined
    size, queries = p.index(cache.count), p.index(new.dims[2])
    zero, none = p.scalar(0, past.element), p.index(0)

    def body(before: str, _: str) -> str:
        sample, head, place, column = (p.inner(f"linalg.index {i} : index") for i in range(4))
        own = p.inner(f"arith.index_cast {before} : i64 to index")
        new_place = p.inner(f"arith.subi {place}, {own} : index")
        is_old = p.inner(f"arith.cmpi slt, {new_place}, {none} : index")
        is_new = p.inner(f"arith.cmpi slt, {new_place}, {queries} : index")
        inside = p.inner(f"arith.select {is_new}, {new_place}, {none} : index")
        source = p.inner(f"arith.select {is_old}, {place}, {p.inner(f'arith.addi {size}, {inside} : index')} : index")
        found = p.inner(f"tensor.extract {joined.ssa}[{sample}, {head}, {source}, {column}] : {joined.type}")
        return p.inner(f"arith.select {is_new}, {found}, {zero} : {past.element}")

    return p.generic([(cache.each, [0])], past.element, joined.dims, body)
