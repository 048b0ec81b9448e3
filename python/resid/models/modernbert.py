# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ModernBERT: an encoder in pre-norm with rotary positions and GeGLU, most of whose layers see a window to both sides.

from __future__ import annotations

import functools

from ..importer.attention import Attention, emit_attention, join_heads
from ..importer.emit_linear import linear
from ..importer.emit_shapes import extract, reshape
from ..importer.errors import FlagError, Unsupported
from ..importer.program import Program, Tensor
from .config import Config
from .decoder import FULL, GATES, SLIDING, read_layer_types, rotate
from .layers import Model, banner
from .rotary import layered_rotation, tables

# What the head alone reads.
_HEAD_FIELDS = ("classifier_activation", "classifier_bias", "decoder_bias", "tie_word_embeddings")
# Of each type of layer, the base of its positions and the field that old files have it in.
_BASES = {FULL: (160000.0, "global_rope_theta"), SLIDING: (10000.0, "local_rope_theta")}


class _Encoder:
    def __init__(self, m: Model, config: Config) -> None:
        self.model, self.config = m, config
        self.width, self.heads, self.inner, self.layers = (
            config.size(field)
            for field in ("hidden_size", "num_attention_heads", "intermediate_size", "num_hidden_layers")
        )
        config.divides("hidden_size", "num_attention_heads", (self.width, self.heads))
        self.size = self.width // self.heads
        config.expect("head_dim", self.size)
        every = config.size("global_attn_every_n_layers", 3)
        self.types = read_layer_types(config, self.layers, lambda layer: layer % every != 0)
        # Half of the window to each side, and the token itself.
        self.window = config.size("local_attention", 128) // 2 + 1
        self.gate = GATES.get(config.activation("hidden_activation", "gelu"))
        if self.gate is None:
            raise config.wrong("hidden_activation", "silu or a gelu", Unsupported)

    def attention(self, layer: int, allowed: Tensor, rotation: "tuple[Tensor, Tensor]", h: Tensor) -> Tensor:
        m, p, name, bias = self.model, self.model.program, f"layers.{layer}.attn", self.config.flag("attention_bias", False)
        whole = m.linear(h, f"{name}.Wqkv", self.width, 3 * self.width, bias=bias)
        dims = [*whole.dims[:-1], self.width]
        q, k, v = (m.heads(extract(p, whole, [0, 0, i * self.width], dims, [1, 1, 1]), self.heads) for i in range(3))
        window = self.window if self.types[layer] == SLIDING else 0
        a = Attention(rotate(p, q, rotation), rotate(p, k, rotation), v, allowed=allowed, window=window)
        context, _ = emit_attention(p, a)
        return m.linear(join_heads(p, context), f"{name}.Wo", self.width, self.width, bias=bias)

    def feed_forward(self, layer: int, h: Tensor) -> Tensor:
        m, p, name, bias = self.model, self.model.program, f"layers.{layer}.mlp", self.config.flag("mlp_bias", False)
        both = m.linear(h, f"{name}.Wi", self.width, 2 * self.inner, bias=bias)
        dims = [*both.dims[:-1], self.inner]
        gate, up = (extract(p, both, [0, 0, place], dims, [1, 1, 1]) for place in (0, self.inner))
        return m.linear(m.activation(str(self.gate), gate, up), f"{name}.Wo", self.inner, self.width, bias=bias)

    def run(self, ids: Tensor, mask: Tensor) -> Tensor:
        m, p = self.model, self.model.program
        allowed = reshape(p, mask, [mask.dims[0], 1, 1, mask.dims[1]])
        turns = {
            kind: tables(p, layered_rotation(self.config, self.size, kind, *_BASES[kind], scaled=True), "f32", ids.dims[1])
            for kind in dict.fromkeys(self.types)
        }
        x = m.embedding(ids, "embeddings.tok_embeddings.weight", self.config.size("vocab_size"), self.width)
        x = m.normalise(x, "embeddings.norm", self.width)
        for layer, kind in enumerate(self.types):
            # The embedding is normalised already.
            own = m if layer else m.with_placement("none")
            attention = functools.partial(self.attention, layer, allowed, turns[kind])
            x = own.sublayer(x, f"layers.{layer}.attn_norm", self.width, attention)
            x = m.sublayer(x, f"layers.{layer}.mlp_norm", self.width, functools.partial(self.feed_forward, layer))
        return m.final_norm(x, "final_norm", self.width)

    def words(self, x: Tensor) -> Tensor:
        """The head of a masked language model."""
        m, config, words = self.model, self.config, self.config.size("vocab_size")
        head = Model(m.program, m.element, m.placement, m.norm, m.epsilon, "", has_beta=m.has_beta)
        x = head.linear(x, "head.dense", self.width, self.width, bias=config.flag("classifier_bias", False))
        x = head.normalise(head.activation(config.activation("classifier_activation", "gelu"), x), "head.norm", self.width)
        tied = config.flag("tie_word_embeddings", True)
        weight = (m if tied else head).weight(
            "embeddings.tok_embeddings.weight" if tied else "decoder.weight", words, self.width
        )
        bias = head.weight("decoder.bias", words) if config.flag("decoder_bias", True) else None
        return linear(m.program, x, weight, bias)


def write(config: Config, placement: str | None, output: str, prefix: str) -> str:
    """`output`: "hidden" for the last layer, "logits" for those of a masked language model."""
    if placement not in (None, "pre"):
        raise FlagError(f"placement '{placement}': the first layer of ModernBERT has no norm of its own, as in 'pre' alone")
    epsilon, has_beta = config.epsilon("norm_eps", 1e-5), config.flag("norm_bias", False)
    p = Program("modernbert")
    m = Model(p, config.element(), "pre", "layer", epsilon, prefix, has_beta=has_beta)
    own = _Encoder(m, config)
    ids, mask = p.argument("ids", "i64", ["batch", "tokens"]), p.argument("mask", "i1", ["batch", "tokens"])
    x = own.run(ids, mask)
    title = [f"{own.layers} layers", f"{own.width} columns", f"{own.heads} heads", "mask true for tokens"]
    if output == "hidden":
        for field in _HEAD_FIELDS:
            config.get(field)
    return p.text([x if output == "hidden" else own.words(x)], banner("ModernBERT", title, m.placement))
