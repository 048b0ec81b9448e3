# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The operators of attention: ONNX's own, those of ONNX Runtime's optimiser, and what the recogniser finds. How attention and its
# masks are written is attention.py's.

from __future__ import annotations

from . import elements
from .attention import (
    Attention,
    both,
    emit_attention,
    fill_rows_without_keys,
    filled_keys,
    join_heads,
    padded_mask,
    places,
    split_heads,
)
from .emit import Emitter, handles
from .emit_elementwise import binary, elementwise
from .emit_linear import linear
from .emit_norms import dropout_clause
from .emit_shapes import concat, extract, reshape, transpose
from .errors import ModelError, Unsupported
from .fold import element_of
from .graph import Node
from .program import Program, Tensor
from .sizes import Dim


@handles("resid.Attention", attributes=("scale", "transposed_keys", "without_keys"))
def _recognised(e: Emitter, node: Node) -> Tensor:
    """Inputs: q, k, v, a mask that is added, a mask that chooses. Three dimensions are those of heads joined with the batch."""
    p, (q, k, v) = e.program, (e.value(node, i) for i in range(3))
    if not q.rank == k.rank == v.rank or q.rank not in (3, 4):
        raise Unsupported(f"attention of ranks {q.rank}, {k.rank}, {v.rank}: expected 3 or 4")
    if node.attributes["transposed_keys"]:
        k = transpose(p, k, [*range(k.rank - 2), k.rank - 1, k.rank - 2])
    masks = [e.optional(node, 3), e.optional(node, 4)]
    joined = q.rank == 3
    if joined:
        q, k, v = (reshape(p, tensor, [1, *tensor.dims]) for tensor in (q, k, v))
    a = Attention(q, k, v, node.attributes["scale"], masks[0], masks[1])
    context, _ = emit_attention(p, a)
    if "without_keys" in node.attributes:
        context = fill_rows_without_keys(p, a, context, node.attributes["without_keys"])
    return reshape(p, context, context.dims[1:]) if joined else context


_ATTENTION = (
    "is_causal",
    "kv_num_heads",
    "q_num_heads",
    "qk_matmul_output_mode",
    "scale",
    "softcap",
    "softmax_precision",
)


@handles("Attention", attributes=(*_ATTENTION, "left_window_size", "right_window_size", "p", "site"))
def _attention(e: Emitter, node: Node) -> list[Tensor | None]:
    p, (q, k, v) = e.program, (e.ranked(e.value(node, i), 3, 4) for i in range(3))
    joined = q.rank == 3
    if not q.rank == k.rank == v.rank:
        raise ModelError(f"expected inputs of one rank, found {q.type}, {k.type} and {v.type}")
    if joined:
        heads, groups = node.attributes.get("q_num_heads"), node.attributes.get("kv_num_heads")
        if not heads or not groups:
            raise ModelError("expected q_num_heads and kv_num_heads beside inputs of rank 3")
        q, k, v = split_heads(p, q, heads), split_heads(p, k, groups), split_heads(p, v, groups)
    past = e.optional(node, 4)
    if past is not None:
        k, v = concat(p, [past, k], 2), concat(p, [e.value(node, 5), v], 2)
    mask, allowed = _masks(e, node, q, k)
    offset: Dim | Tensor = past.dims[2] if past is not None else 0
    lengths = e.optional(node, 6)
    if lengths is not None:
        allowed = both(p, allowed, filled_keys(p, lengths, k.dims[2]))
        queries = p.scalar_of_size(q.dims[2], lengths.element)
        kind = lengths.element
        offset = elementwise(p, [lengths], kind, lambda n: p.inner(f"arith.subi {n}, {queries} : {kind}"))
    upper = _smaller(0 if node.flag("is_causal") else None, _window(node, "right_window_size"))
    lower = _window(node, "left_window_size")
    # What resid.attention says itself: causality, and a window that reaches back, or as far to both sides.
    plain = not isinstance(offset, Tensor) and offset == 0 and (upper == 0 or (upper is not None and upper == lower))
    causal, window = plain and upper == 0, lower + 1 if plain and lower is not None else 0
    if (upper is not None or lower is not None) and not plain:
        allowed = both(p, allowed, places(p, q.dims[2], k.dims[2], offset=offset, upper=upper, lower=lower))
    wanted = e.attribute(node, "qk_matmul_output_mode", 0) if node.output(3) else None
    softcap = float(e.attribute(node, "softcap", 0.0))
    precision = _precision(node, q.element)
    a = Attention(q, k, v, node.attributes.get("scale"), mask, allowed, causal, window, softcap, precision, wanted)
    if "site" in node.attributes:  # of graphs of PyTorch alone
        a.dropout = dropout_clause(e, node, 7)
    context, scores = emit_attention(p, a)
    return [join_heads(p, context) if joined else context, k, v, scores]


def _precision(node: Node, element: str) -> str:
    """f64 where the softmax of narrower operands shall have it. All else is what resid computes in, or less."""
    wanted = node.attributes.get("softmax_precision")
    return "f64" if wanted is not None and element_of(wanted) == "f64" and element != "f64" else ""


def _smaller(left: int | None, right: int | None) -> int | None:
    return min((bound for bound in (left, right) if bound is not None), default=None)


def _window(node: Node, name: str) -> int | None:
    size = node.attributes.get(name, -1)
    return None if size < 0 else size


def _masks(e: Emitter, node: Node, q: Tensor, k: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """The mask that is added, and the one that chooses."""
    mask = e.optional(node, 3)
    if mask is None:
        return None, None
    mask = padded_mask(e.program, mask, k.dims[2])
    return (None, mask) if mask.element == "i1" else (mask, None)


# -- ONNX Runtime


@handles(
    "com.microsoft.Attention",
    attributes=("num_heads", "scale", "unidirectional", "mask_filter_value", "qkv_hidden_sizes"),
)
def _packed_attention(e: Emitter, node: Node) -> list[Tensor | None]:
    """Inputs: x, weight [in, 3·out], bias, mask, past, additive mask. One product gives queries, keys and values."""
    p, x, bias = e.program, e.ranked(e.value(node, 0), 3), e.optional(node, 2)
    weight = e.ranked(e.value(node, 1), 2)
    if node.input(4) or node.output(1):
        raise Unsupported("past and present: expected no cache")
    heads = _heads(node)
    widths = e.attribute(node, "qkv_hidden_sizes", None) or [weight.dims[1] // 3] * 3
    if len(widths) != 3 or sum(widths[1:], widths[0]) != weight.dims[1] or widths[0] != widths[1]:
        raise ModelError(f"queries, keys and values of {widths} features, and a weight {weight.type}")
    rows = linear(p, x, weight, bias, transposed=True)
    parts, begin = [], 0
    for width in widths:
        part = extract(p, rows, [0, 0, begin], [*rows.dims[:2], width], [1, 1, 1])
        parts.append(split_heads(p, part, heads))
        begin += width
    q, k, v = parts
    mask, causal = _runtime_mask(e, node, 3, q, k), node.flag("unidirectional")
    a = Attention(q, k, v, node.attributes.get("scale") or None, mask, causal=causal)
    return [join_heads(p, emit_attention(p, a)[0])]


@handles("MultiHeadAttention", attributes=("num_heads", "scale", "unidirectional", "mask_filter_value"))
def _multi_head_attention(e: Emitter, node: Node) -> list[Tensor | None]:
    """Inputs: q, k, v [batch, positions, width], bias of all three, mask of keys, additive mask, past key, past value."""
    p = e.program
    if not (node.input(1) and node.input(2)):
        raise Unsupported("packed queries, keys and values")
    q, k, v = (e.ranked(e.value(node, i), 3, 4) for i in range(3))
    heads, bias = _heads(node), e.optional(node, 3)
    if bias is not None:
        if not q.rank == k.rank == v.rank == 3:
            raise Unsupported("a bias beside keys that are split into heads already")
        widths = q.dims[-1] + k.dims[-1] + v.dims[-1]
        if isinstance(widths, int) and e.ranked(bias, 1).dims != (widths,):
            raise ModelError(f"expected a bias of {widths} elements, found {bias.type}")
        begin: Dim = 0
        parts = []
        for tensor in (q, k, v):
            part = extract(p, bias, [begin], [tensor.dims[2]], [1])
            parts.append(binary(p, "arith.addf", tensor, part))
            begin += tensor.dims[2]
        q, k, v = parts
    q, k, v = (split_heads(p, tensor, heads) if tensor.rank == 3 else tensor for tensor in (q, k, v))
    if node.input(6):
        if node.flag("unidirectional"):
            raise Unsupported("unidirectional beside a cache")
        k, v = concat(p, [e.value(node, 6), k], 2), concat(p, [e.value(node, 7), v], 2)
    mask, causal = _runtime_mask(e, node, 4, q, k), node.flag("unidirectional")
    a = Attention(q, k, v, node.attributes.get("scale") or None, mask, causal=causal)
    return [join_heads(p, emit_attention(p, a)[0]), k, v]


def _heads(node: Node) -> int:
    heads: int = node.attributes.get("num_heads", 0)
    if heads < 1:
        raise ModelError("expected an attribute num_heads of at least 1")
    return heads


def _runtime_mask(e: Emitter, node: Node, index: int, q: Tensor, k: Tensor) -> Tensor | None:
    """ONNX Runtime's mask of keys, which adds a finite number, and the mask that input 5 adds."""
    p, kind = e.program, q.element
    added, allowed = e.optional(node, 5), _keys(e, node, index, q.dims[0], k.dims[2])
    if allowed is None:
        return added
    filler, zero = p.scalar(e.attribute(node, "mask_filter_value", -1e4), kind), p.scalar(0, kind)
    mask = elementwise(p, [allowed], kind, lambda m: p.inner(f"arith.select {m}, {zero}, {filler} : {kind}"))
    return mask if added is None else binary(p, "arith.addf", mask, added)


def _keys(e: Emitter, node: Node, index: int, batch: Dim, keys: Dim) -> Tensor | None:
    """True where ONNX Runtime's mask of integers lets a key take part, as [batch, 1, 1 or queries, keys]. Its forms: [batch], how
    many keys take part; [2·batch], where they end, then where they begin; [batch, keys] and [batch, queries, keys]."""
    mask = e.optional(node, index)
    if mask is None:
        return None
    p, kind = e.program, mask.element
    if kind in elements.INTEGERS and mask.rank == 1:
        if node.op == "com.microsoft.Attention" and mask.dims[0] == batch * 2:
            ends, begins = (extract(p, mask, [first], [batch], [1]) for first in (0, batch))
            before = filled_keys(p, begins, keys)
            return elementwise(
                p,
                [filled_keys(p, ends, keys), before],
                "i1",
                lambda end, begin: p.inner(f"arith.cmpi ugt, {end}, {begin} : i1"),
            )
        if mask.dims[0] == batch or not (isinstance(mask.dims[0], int) and isinstance(batch, int)):
            return filled_keys(p, mask, keys)
    if kind not in elements.INTEGERS or mask.rank not in (2, 3) or (mask.dims[-1] == 1 and keys != 1):
        expected = "[batch], [batch, keys] or [batch, queries, keys] of integers"
        raise Unsupported(f"a mask of type {mask.type}: expected {expected}")
    zero = p.scalar(0, kind)
    allowed = elementwise(p, [mask], "i1", lambda m: p.inner(f"arith.cmpi sgt, {m}, {zero} : {kind}"))
    return reshape(p, allowed, [mask.dims[0], 1, *([1] if mask.rank == 2 else []), *mask.dims[1:]])
