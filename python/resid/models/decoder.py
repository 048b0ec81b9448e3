# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A decoder: embedding, layers of causal attention and a feed-forward network, a norm and the head. What LLaMA does is what a
# family does unless it says otherwise.

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Literal

from ..importer.attention import Attention, emit_attention, join_heads
from ..importer.emit_linear import linear
from ..importer.emit_norms import norm
from ..importer.errors import Unsupported
from ..importer.integers import Integers
from ..importer.program import Program, Tensor
from .config import Config
from .layers import Model, banner
from .rotary import Rotation, places_in_pack, rotation, tables

# What a call has: prompts from their first tokens on, what comes after the tokens in caches, or a pack of sequences.
Tokens = Literal["whole", "cached", "packed"]
GATES = {"silu": "swiglu", "gelu": "geglu", "gelu_tanh": "geglu_tanh"}
FULL, SLIDING = "full_attention", "sliding_attention"


def read_layer_types(config: Config, layers: int, slides: Callable[[int], bool]) -> list[str]:
    """`layer_types`; without them, `slides` says which layers have a window."""
    value = config.get("layer_types")
    if value is None:
        return [SLIDING if slides(layer) else FULL for layer in range(layers)]
    if not isinstance(value, list) or len(value) != layers or any(kind not in (FULL, SLIDING) for kind in value):
        raise config.wrong("layer_types", f"{FULL} or {SLIDING} for each of 'num_hidden_layers', {layers}", Unsupported)
    return value


def rotate(p: Program, x: Tensor, tables: "tuple[Tensor, Tensor]") -> Tensor:
    cos, sin = tables
    text = f"resid.rotary {x.ssa} cos({cos.ssa}) sin({sin.ssa}) : {x.type}, {cos.type}, {sin.type}"
    return p.op(text, x.element, x.dims)


class Stream:
    """What goes from sub-layer to sub-layer: here one residual stream. `site` names a sub-layer: "layers.0.attn"."""

    def __init__(self, m: Model, width: int) -> None:
        self.model, self.width = m, width

    def begin(self, x: Tensor) -> Tensor:
        return x

    def sublayer(self, x: Tensor, norms: Sequence[str], site: str, branch: Callable[[Tensor], Tensor]) -> Tensor:
        return self.model.sublayer(x, norms, self.width, branch)

    def end(self, x: Tensor) -> Tensor:
        return self.model.final_norm(x, "norm", self.width)


class Decoder:
    """One decoder while its program is written. A family has its names, its placement and its norms here."""

    title: ClassVar[str] = "LLaMA"
    placement: ClassVar[str] = "pre"
    epsilon: ClassVar[float] = 1e-6
    # The norms of each sub-layer in their order: the first and, where the placement has two, the second.
    attention_norms: ClassVar[tuple[str, ...]] = ("input_layernorm",)
    feed_forward_norms: ClassVar[tuple[str, ...]] = ("post_attention_layernorm",)
    # Whether norms multiply by 1 + gamma, and whether they round to the type of the stream before they multiply.
    zero_centered: ClassVar[bool] = False
    rounds_early: ClassVar[bool] = True
    activation: ClassVar[str] = "hidden_act"
    rope_base: ClassVar[float] = 10000.0
    # What the head alone reads.
    head_fields: ClassVar[tuple[str, ...]] = ("tie_word_embeddings",)
    # Whether the head is the table of the embedding where the file does not say so.
    is_tied: ClassVar[bool] = False

    def __init__(
        self, config: Config, placement: str | None, prefix: str, tokens: Tokens = "whole", integers: "Mapping[str, Integers] | None" = None
    ) -> None:
        self.config, self.tokens = config, tokens
        self.model = Model(
            Program(self.title.lower().replace(" ", "").replace("-", "_")),
            config.element(),
            placement or self.placement,
            "rms",
            config.epsilon("rms_norm_eps", self.epsilon),
            prefix,
            zero_centered=self.zero_centered,
            rounds_early=self.rounds_early,
            is_open=tokens == "cached",
            integers=integers or {},
        )
        self.program = self.model.program
        self.width, self.heads, self.words, self.inner, self.layers = (
            config.size(field)
            for field in ("hidden_size", "num_attention_heads", "vocab_size", "intermediate_size", "num_hidden_layers")
        )
        self.groups = config.size("num_key_value_heads", self.heads)
        config.divides("num_attention_heads", "num_key_value_heads", (self.heads, self.groups))
        config.expect("is_causal", True)
        self.size = self.head_size()
        self.types = self.layer_types()
        self.tables: dict[str, tuple[Tensor, Tensor]] = {}
        self.past: str | None = None
        self.segments: Tensor | None = None
        self.caches: list[Tensor] = []

    # -- what families have otherwise

    def head_size(self) -> int:
        if self.config.get("head_dim") is None:
            self.config.divides("hidden_size", "num_attention_heads", (self.width, self.heads))
        return self.config.size("head_dim", self.width // self.heads)

    def layer_types(self) -> list[str]:
        """FULL or SLIDING for each layer."""
        return [FULL] * self.layers

    def rotation(self, layers: str) -> Rotation:
        """Of the layers of a type."""
        return rotation(self.config, self.size, self.rope_base)

    def has_bias(self) -> bool:
        """Of the linear layers of attention."""
        return self.config.flag("attention_bias", False)

    def has_inner_bias(self) -> bool:
        """Of the linear layers of the feed-forward network."""
        return False

    def normalise_heads(self, x: Tensor, name: str) -> Tensor:
        """Queries or keys [batch, positions, heads · size], before heads are split."""
        return x

    def normalise_each_head(self, x: Tensor, name: str) -> Tensor:
        """Queries or keys [batch, heads, positions, size]."""
        return x

    def attend(self, layer: int, a: Attention) -> Attention:
        """What is special about the attention of a layer."""
        return a

    def embed(self, ids: Tensor) -> Tensor:
        return self.model.embedding(ids, "embed_tokens.weight", self.words, self.width)

    def feed_forward(self, layer: int, h: Tensor) -> Tensor:
        m, name, bias = self.model, f"layers.{layer}.mlp", self.has_inner_bias()
        gated = GATES.get(self.config.activation(self.activation, "silu"))
        if gated is None:
            raise self.config.wrong(self.activation, "silu or a gelu", Unsupported)
        gate = m.linear(h, f"{name}.gate_proj", self.width, self.inner, bias=bias)
        up = m.linear(h, f"{name}.up_proj", self.width, self.inner, bias=bias)
        return m.linear(m.activation(gated, gate, up), f"{name}.down_proj", self.inner, self.width, bias=bias)

    def head(self, x: Tensor) -> Tensor:
        tied = "embed_tokens.weight" if self.config.flag("tie_word_embeddings", self.is_tied) else None
        if tied is None and "lm_head.weight" in self.model.integers:
            return self.model.of_integers(x, "lm_head.weight", (self.words, self.width))
        return linear(self.program, x, self.model.head(tied, self.words, self.width))

    # -- the decoder

    def attention(self, layer: int, h: Tensor) -> Tensor:
        m, name, bias = self.model, f"layers.{layer}.self_attn", self.has_bias()
        made = []
        for part, count in (("q", self.heads), ("k", self.groups), ("v", self.groups)):
            x = m.linear(h, f"{name}.{part}_proj", self.width, count * self.size, bias=bias)
            if part == "v":
                made.append(m.heads(x, count))
                continue
            x = m.heads(self.normalise_heads(x, f"{name}.{part}_norm"), count)
            made.append(rotate(self.program, self.normalise_each_head(x, f"{name}.{part}_norm"), self.tables[self.types[layer]]))
        q, k, v = made
        k, v = (self._append(layer, kind, x) for kind, x in (("keys", k), ("values", v)))
        a = self.attend(layer, Attention(q, k, v, causal=True, past=self.past, segments=self.segments))
        context, _ = emit_attention(self.program, a)
        return m.linear(join_heads(self.program, context), f"{name}.o_proj", self.heads * self.size, self.width, bias=bias)

    def _append(self, layer: int, kind: str, x: Tensor) -> Tensor:
        """With a cache, what it holds with the new rows."""
        if self.past is None:
            return x
        p, batch = self.program, x.dims[0]
        cache = p.argument(f"{kind}_{layer}", x.element, [batch, self.groups, "places", self.size])
        whole = p.op(
            f"resid.append {cache.ssa}, {x.ssa} past({self.past}) : {cache.type}, {x.type}", x.element, cache.dims
        )
        self.caches.append(whole)
        return whole

    def run(self, stream: Stream, output: str) -> list[Tensor]:
        """Everything from the ids on, with what goes between the sub-layers as `stream` has it; after it the caches."""
        p = self.program
        ids, places = p.argument("ids", "i64", [1 if self.tokens == "packed" else "batch", "tokens"]), None
        if self.tokens == "cached":
            self.past = p.scalar_argument("past", "i64")
        elif self.tokens == "packed":
            self.segments = p.argument("segments", "i32", [1, "tokens"])
            places = places_in_pack(p, self.segments)
        self.tables = {
            kind: tables(p, self.rotation(kind), self.model.element, ids.dims[1], self.past, places)
            for kind in dict.fromkeys(self.types)
        }
        x = stream.begin(self.embed(ids))
        for layer in range(self.layers):
            name = f"layers.{layer}"
            norms = [f"{name}.{part}" for part in self.attention_norms]
            x = stream.sublayer(x, norms, f"{name}.attn", functools.partial(self.attention, layer))
            norms = [f"{name}.{part}" for part in self.feed_forward_norms]
            x = stream.sublayer(x, norms, f"{name}.mlp", functools.partial(self.feed_forward, layer))
        x = stream.end(x)
        if output == "hidden":
            for field in self.head_fields:
                self.config.get(field)
        return [x if output == "hidden" else self.head(x), *self.caches]

    def describe(self) -> list[str]:
        return [f"{self.layers} layers", f"{self.width} columns", f"{self.heads} heads on {self.groups}"]

    @classmethod
    def write(
        cls, config: Config, placement: str | None, output: str, prefix: str, tokens: Tokens, integers: "Mapping[str, Integers] | None" = None
    ) -> str:
        """Ids to logits, or to the last layer where `output` is "hidden"."""
        own = cls(config, placement, prefix, tokens, integers)
        results = own.run(Stream(own.model, own.width), output)
        return own.program.text(results, banner(own.title, own.describe(), own.model.placement))

    # -- for families

    def normalised(self, x: Tensor, name: str) -> Tensor:
        """An RMS norm over the last dimension, with a gamma of its own."""
        m, width = self.model, x.dims[-1]
        assert isinstance(width, int)
        gamma = m.weight(f"{name}.weight", width)
        return norm(
            self.program, "rms_norm", x, gamma, None, 1, m.epsilon, narrow=m.rounds_early, zero_centered=m.zero_centered
        )[0]

    def window(self, layer: int, default: int | None = None) -> int:
        """Of a layer that slides: query i sees key j where i - j is less than this. 0 for the others."""
        return self.config.size("sliding_window", default) if self.types[layer] == SLIDING else 0
