# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Attention in the text: resid.attention where it fits, else its steps in linalg, in the arithmetic type. Heads, masks and caches,
# as the operators of ONNX, of ONNX Runtime and the recogniser need them (emit_attention.py).

from __future__ import annotations

import dataclasses
import math

from . import elements
from .emit_elementwise import binary, cast, elementwise
from .emit_fill import pad
from .emit_linear import matmul, scaled
from .emit_reduce import mean, reduce, softmax
from .emit_shapes import expand, reshape, transpose
from .errors import ModelError, Unsupported
from .program import Program, Tensor, literal
from .sizes import Dim, Size

MOST_HEAD_SIZE = 576


@dataclasses.dataclass
class Attention:
    """What one attention computes. q, k, v are [batch, heads, positions, size]; k and v may have fewer heads, and v another
    size."""

    q: Tensor
    k: Tensor
    v: Tensor
    scale: float | None = None
    mask: Tensor | None = None  # floats that are added
    allowed: Tensor | None = None  # true where a key takes part
    causal: bool = False  # key j of query i takes part where j <= i
    window: int = 0  # with causal where i - j < window, else where |i - j| < window; 0 without one
    softcap: float = 0.0
    precision: str = ""  # the type to compute in, where it is not resid's
    wanted: int | None = None  # which scores are a result too: qk_matmul_output_mode of ONNX
    sink: Tensor | None = None  # a score without a value for each head of q
    past: str | Tensor | None = None  # how many keys were in the caches k and v before: an i64, or [batch] of them
    segments: Tensor | None = None  # i32 [batch, positions]: which sequence of a pack queries and keys are of; -1 for padding
    dropout: tuple[str, str] | None = None  # of weights: the clause and the attributes of resid.dropout


def split_heads(p: Program, tensor: Tensor, heads: int) -> Tensor:
    """[batch, positions, heads·size] to [batch, heads, positions, size]."""
    batch, positions, width = tensor.dims
    if not isinstance(width, int):
        raise Unsupported(f"{width} features, which are known at run time only")
    if width % heads:
        raise ModelError(f"{width} features do not divide into {heads} heads")
    return transpose(p, reshape(p, tensor, [batch, positions, heads, width // heads]), [0, 2, 1, 3])


def join_heads(p: Program, tensor: Tensor) -> Tensor:
    batch, heads, positions, size = tensor.dims
    return reshape(p, transpose(p, tensor, [0, 2, 1, 3]), [batch, positions, heads * size])


def emit_attention(p: Program, a: Attention) -> tuple[Tensor, Tensor | None]:
    """The context [batch, heads, queries, size], and the scores if they are wanted."""
    _check(a)
    a = dataclasses.replace(a, q=p.value(a.q), k=p.value(a.k), v=p.value(a.v))
    if a.scale is None:
        if not isinstance(a.q.dims[3], int):
            raise Unsupported("heads of a size that is known at run time only, without a scale")
        a = dataclasses.replace(a, scale=1 / math.sqrt(a.q.dims[3]))
    sizes = (a.q.dims[3], a.v.dims[3])
    fits = all(isinstance(size, int) and 1 <= size <= MOST_HEAD_SIZE for size in sizes) and _heads_divide(a)
    if not fits or not 0 <= a.softcap < math.inf or a.precision or a.wanted is not None:
        if a.sink is not None or a.past is not None or a.segments is not None or a.dropout is not None:
            raise Unsupported(f"a sink, a cache, a pack or dropout in attention with heads of {sizes[0]} and values of {sizes[1]}")
        return _written_out(p, a)
    mask = combined_mask(p, a)
    text, types = f"resid.attention {a.q.ssa}, {a.k.ssa}, {a.v.ssa}", [a.q.type, a.k.type, a.v.type]
    if mask is not None:
        mask = _droppable(p, mask)
        text, types = f"{text} mask({mask.ssa})", [*types, mask.type]
    if a.sink is not None:
        text, types = f"{text} sink({a.sink.ssa})", [*types, a.sink.type]
    if a.segments is not None:
        text, types = f"{text} segments({a.segments.ssa}, {a.segments.ssa})", [*types, *[a.segments.type] * 2]
    if a.dropout is not None:
        text += f" dropout{a.dropout[0]}"
    if isinstance(a.past, Tensor):
        text, types = f"{text} past({a.past.ssa})", [*types, a.past.type]
    elif a.past is not None:
        text += f" past({a.past})"
    settings = (["causal"] if a.causal else []) + ([f"window = {a.window}"] if a.window else [])
    settings += [f"cap = {literal(a.softcap, 'f64')}"] if a.softcap else []
    settings += [a.dropout[1]] if a.dropout is not None else []
    assert a.scale is not None
    settings += [f"scale = {literal(a.scale, 'f64')}"]
    return p.op(f"{text} {{{', '.join(settings)}}} : {', '.join(types)}", a.q.element, (*a.q.dims[:3], a.v.dims[3])), None


def _check(a: Attention) -> None:
    """Types, and sizes that are known."""
    (batch, heads, queries, size), (_, groups, keys, _) = a.q.dims, a.k.dims
    pairs = [*zip((*a.k.dims, *a.v.dims[:3]), (batch, groups, keys, size, batch, groups, keys))]
    for mask in (a.mask, a.allowed):
        own = () if mask is None else mask.dims
        pairs += [pair for pair in zip(own[::-1], (keys, queries, heads, batch)) if pair[0] != 1]
    typed = a.q.element == a.k.element == a.v.element and (a.allowed is None or a.allowed.element == "i1")
    typed = typed and elements.is_float(a.q.element) and (a.mask is None or elements.is_float(a.mask.element))
    if not typed or any(isinstance(left, int) and isinstance(right, int) and left != right for left, right in pairs):
        types = ", ".join(tensor.type for tensor in (a.q, a.k, a.v, a.mask, a.allowed) if tensor is not None)
        raise ModelError(f"attention of {types}")


def fill_rows_without_keys(p: Program, a: Attention, context: Tensor, value: str) -> Tensor:
    """What softmax makes of queries all of whose keys are masked, for which resid.attention has zeros: the mean of the values if
    all scores were set to one number, NaN if that was -Inf."""
    given = a.mask or a.allowed
    assert given is not None
    last = given.rank - 1
    if a.allowed is not None:
        seen = reduce(p, "maximum", a.allowed, [last])
    else:
        largest = reduce(p, "maximum", given, [last])
        minus = p.scalar(float("-inf"), largest.element)
        seen = elementwise(p, [largest], "i1", lambda m: p.inner(f"arith.cmpf une, {m}, {minus} : {largest.element}"))
    seen, kind = reshape(p, seen, [*seen.dims, 1]), context.element
    if value == "nan":
        nan = p.scalar(float("nan"), kind)
        return elementwise(p, [seen, context], kind, lambda s, c: p.inner(f"arith.select {s}, {c}, {nan} : {kind}"))
    batch, heads, _, size = a.v.dims
    other = repeat_heads(p, reshape(p, cast(p, mean(p, a.v, [2]), kind), [batch, heads, 1, size]), context.dims[1])
    return elementwise(p, [seen, context, other], kind, lambda s, c, o: p.inner(f"arith.select {s}, {c}, {o} : {kind}"))


def _heads_divide(a: Attention) -> bool:
    queries, keys = a.q.dims[1], a.k.dims[1]
    return a.v.dims[1] == keys and (
        queries == keys or (isinstance(queries, int) and isinstance(keys, int) and queries % keys == 0)
    )


def _droppable(p: Program, mask: Tensor) -> Tensor:
    """A mask has at most four dimensions; leading ones of 1 are left out."""
    while mask.rank > 4 and mask.dims[0] == 1:
        mask = reshape(p, mask, mask.dims[1:])
    return mask


def combined_mask(p: Program, a: Attention) -> Tensor | None:
    """One mask for both kinds: what is not allowed gets -Inf."""
    if a.mask is None or a.allowed is None:
        found = a.mask if a.mask is not None else a.allowed
        return None if found is None else p.value(found)
    kind = a.mask.element
    minus = p.scalar(float("-inf"), kind)
    return elementwise(p, [a.allowed, a.mask], kind, lambda c, m: p.inner(f"arith.select {c}, {m}, {minus} : {kind}"))


def repeat_heads(p: Program, tensor: Tensor, heads: Dim) -> Tensor:
    """Each head of keys or values as often as heads of queries read it."""
    batch, own, positions, size = tensor.dims
    if own == heads:
        return tensor
    if not isinstance(own, int) or not isinstance(heads, int) or heads % own:
        raise ModelError(f"{heads} heads of queries do not divide by {own} heads of keys")
    wide = expand(p, reshape(p, tensor, [batch, own, 1, positions, size]), [batch, own, heads // own, positions, size])
    return reshape(p, wide, [batch, heads, positions, size])


def _written_out(p: Program, a: Attention) -> tuple[Tensor, Tensor | None]:
    kind = a.q.element
    wide = a.precision or elements.arithmetic(kind)
    q, k, v = (cast(p, tensor, wide) for tensor in (a.q, a.k, a.v))
    k, v = repeat_heads(p, k, q.dims[1]), repeat_heads(p, v, q.dims[1])
    assert a.scale is not None
    scores = scaled(p, matmul(p, q, transpose(p, k, [0, 1, 3, 2])), a.scale)
    raw = scores
    if a.softcap:
        cap, below = p.scalar(a.softcap, wide), p.scalar(1 / a.softcap, wide)

        def body(s: str) -> str:
            flat = p.inner(f"math.tanh {p.inner(f'arith.mulf {s}, {below} : {wide}')} : {wide}")
            return p.inner(f"arith.mulf {flat}, {cap} : {wide}")

        scores = elementwise(p, [scores], wide, body)
    capped = scores
    allowed = a.allowed
    if a.causal or a.window:
        lower = a.window - 1 if a.window else None
        allowed = both(p, allowed, places(p, scores.dims[2], scores.dims[3], upper=0 if a.causal else lower, lower=lower))
    mask = None if a.mask is None else cast(p, a.mask, wide)
    if mask is not None:
        scores = binary(p, "arith.addf", scores, mask)
    if allowed is not None:
        minus = p.scalar(float("-inf"), wide)
        # What is not allowed is -Inf whatever its score, NaN too.
        scores = elementwise(
            p, [allowed, scores], wide, lambda c, s: p.inner(f"arith.select {c}, {s}, {minus} : {wide}")
        )
    weights = _without_empty_rows(p, softmax(p, scores, 3), scores)
    context = cast(p, matmul(p, weights, v), kind)
    results = {0: raw, 1: capped, 2: scores, 3: weights}
    return context, None if a.wanted is None else cast(p, results[a.wanted], kind)


def _without_empty_rows(p: Program, weights: Tensor, scores: Tensor) -> Tensor:
    """Zeros where no key takes part; there the softmax is NaN."""
    largest = reduce(p, "maximum", scores, [3])
    kind = weights.element
    minus, zero = p.scalar(float("-inf"), kind), p.scalar(0, kind)

    def body(weight: str, most: str) -> str:
        empty = p.inner(f"arith.cmpf oeq, {most}, {minus} : {kind}")
        return p.inner(f"arith.select {empty}, {zero}, {weight} : {kind}")

    return elementwise(p, [weights, reshape(p, largest, [*largest.dims, 1])], kind, body)


# -- masks of places


def both(p: Program, left: Tensor | None, right: Tensor | None) -> Tensor | None:
    if left is None or right is None:
        return left if right is None else right
    return binary(p, "arith.andi", left, right)


def places(
    p: Program,
    queries: Dim,
    keys: Dim,
    *,
    offset: "Dim | Tensor" = 0,
    upper: int | None = None,
    lower: int | None = None,
) -> Tensor:
    """True where i + offset - lower <= j <= i + offset + upper for query i and key j. `offset` may be a tensor with one number
    for each element of the batch; then the mask is [batch, 1, queries, keys], else [queries, keys]."""
    dims = (offset.dims[0], 1, queries, keys) if isinstance(offset, Tensor) else (queries, keys)
    inputs = [(p.value(offset), [0])] if isinstance(offset, Tensor) else []
    fixed = "" if isinstance(offset, Tensor) else p.index(offset)
    true = p.scalar(1, "i1")
    bounds = [(name, p.index(value)) for name, value in (("upper", upper), ("lower", lower)) if value is not None]

    def body(*names: str) -> str:
        shift = p.inner(f"arith.index_cast {names[0]} : {offset.element} to index") if isinstance(offset, Tensor) else fixed
        query, key = p.inner(f"linalg.index {len(dims) - 2} : index"), p.inner(f"linalg.index {len(dims) - 1} : index")
        place = p.inner(f"arith.addi {query}, {shift} : index")
        result = true
        for name, bound in bounds:
            edge = p.inner(f"arith.{'addi' if name == 'upper' else 'subi'} {place}, {bound} : index")
            test = p.inner(f"arith.cmpi {'sle' if name == 'upper' else 'sge'}, {key}, {edge} : index")
            result = p.inner(f"arith.andi {result}, {test} : i1")
        return result

    return p.generic(inputs, "i1", dims, body)


def filled_keys(p: Program, lengths: Tensor, keys: Dim) -> Tensor:
    """True for the first keys of each element of the batch: [batch, 1, 1, keys]."""

    def body(length: str, _: str) -> str:
        key = p.inner("linalg.index 3 : index")
        most = p.inner(f"arith.index_cast {length} : {lengths.element} to index")
        return p.inner(f"arith.cmpi slt, {key}, {most} : index")

    return p.generic([(p.value(lengths), [0])], "i1", (lengths.dims[0], 1, 1, keys), body)


def padded_mask(p: Program, mask: Tensor, keys: Dim) -> Tensor:
    """A mask of fewer keys: those after do not take part."""
    own = mask.dims[-1] if mask.rank else 1
    if own == keys or own == 1 or isinstance(own, Size) or isinstance(keys, Size):
        return mask
    if own > keys:
        raise ModelError(f"a mask of {own} keys, of which there are {keys}")
    filler = 0 if mask.element == "i1" else float("-inf")
    return pad(p, mask, [0] * mask.rank, [0] * (mask.rank - 1) + [keys - own], filler)
