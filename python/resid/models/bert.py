# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# BERT: an encoder in post-norm, with embeddings of words, positions and kinds of tokens.

from __future__ import annotations

from ..importer.attention import Attention, emit_attention, join_heads
from ..importer.emit_elementwise import cast, elementwise
from ..importer.emit_reduce import reduce
from ..importer.emit_shapes import reshape
from ..importer.program import Program, Tensor
from .config import Config
from .layers import Model, banner, first_rows


def write(config: Config, placement: str | None, output: str, prefix: str) -> str:
    """`output`: "hidden" for the last layer, "sentence" for the embedding of each sentence, of length 1."""
    width, heads = config.size("hidden_size"), config.size("num_attention_heads")
    config.divides("hidden_size", "num_attention_heads", (width, heads))
    config.expect("position_embedding_type", "absolute", None)
    config.expect("is_decoder", False)
    config.expect("head_dim", width // heads)
    p = Program("bert")
    m = Model(p, config.element(), placement or "post", "layer", config.epsilon("layer_norm_eps", 1e-12), prefix)
    ids, kinds = (p.argument(name, "i64", ["batch", "tokens"]) for name in ("ids", "kinds"))
    mask = p.argument("mask", "i1", ["batch", "tokens"])
    keys = reshape(p, mask, [mask.dims[0], 1, 1, mask.dims[1]])

    x = m.embedding(ids, "embeddings.word_embeddings.weight", config.size("vocab_size"), width)
    table = m.weight("embeddings.position_embeddings.weight", config.size("max_position_embeddings"), width)
    x = m.add(x, m.embedding(kinds, "embeddings.token_type_embeddings.weight", config.size("type_vocab_size"), width))
    x = m.normalise(m.add(x, first_rows(p, table, ids)), "embeddings.LayerNorm", width)
    count = config.size("num_hidden_layers")
    for number in range(count):
        x = _layer(m, config, x, keys, f"encoder.layer.{number}")
    x = m.final_norm(x, "encoder.final_norm", width)
    result = x if output == "hidden" else _sentence(p, x, mask)
    title = [f"{count} layers", f"{width} columns", f"{heads} heads", "mask true for tokens"]
    return p.text([result], banner("BERT", title, m.placement))


def _layer(m: Model, config: Config, x: Tensor, keys: Tensor, name: str) -> Tensor:
    width, heads, inner = (
        config.size("hidden_size"),
        config.size("num_attention_heads"),
        config.size("intermediate_size"),
    )

    def attention(h: Tensor) -> Tensor:
        q, k, v = (
            m.heads(m.linear(h, f"{name}.attention.self.{part}", width, width), heads)
            for part in ("query", "key", "value")
        )
        context, _ = emit_attention(m.program, Attention(q, k, v, allowed=keys))
        return m.linear(join_heads(m.program, context), f"{name}.attention.output.dense", width, width)

    def feed_forward(h: Tensor) -> Tensor:
        raised = m.linear(h, f"{name}.intermediate.dense", width, inner)
        return m.linear(
            m.activation(config.activation("hidden_act", "gelu"), raised), f"{name}.output.dense", inner, width
        )

    x = m.sublayer(x, f"{name}.attention.output.LayerNorm", width, attention)
    return m.sublayer(x, f"{name}.output.LayerNorm", width, feed_forward)


def _sentence(p: Program, x: Tensor, mask: Tensor) -> Tensor:
    """The mean over the tokens of each sentence, divided by its length; a length below 1e-12 counts as that."""
    x = cast(p, x, "f64" if x.element == "f64" else "f32")
    kind = x.element
    zero, least = p.scalar(0, kind), p.scalar(1e-12, kind)
    column = reshape(p, mask, [*mask.dims, 1])
    kept = elementwise(p, [column, x], kind, lambda c, e: p.inner(f"arith.select {c}, {e}, {zero} : {kind}"))
    # The number of tokens cancels, since the result is divided by its length.
    total = reduce(p, "add", kept, [1])
    squares = elementwise(p, [total], kind, lambda e: p.inner(f"arith.mulf {e}, {e} : {kind}"))
    length = reshape(p, reduce(p, "add", squares, [1]), [total.dims[0], 1])

    def body(element: str, squared: str) -> str:
        root = p.inner(f"math.sqrt {squared} : {kind}")
        return p.inner(f"arith.divf {element}, {p.inner(f'arith.maximumf {root}, {least} : {kind}')} : {kind}")

    return elementwise(p, [total, length], kind, body)
