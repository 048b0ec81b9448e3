# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# LLaMA: a decoder in pre-norm with RMS norms, rotary positions, grouped heads and SwiGLU.

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..importer.attention import Attention, emit_attention, join_heads
from ..importer.emit_elementwise import cast
from ..importer.emit_linear import linear
from ..importer.errors import ModelError, Unsupported
from ..importer.program import Program, Tensor
from ..importer.sizes import Dim
from .config import Config, spell
from .layers import Model, banner

_GATES = {"silu": "swiglu", "gelu": "geglu", "gelu_tanh": "geglu_tanh"}


class Stream:
    """What goes from sub-layer to sub-layer: here one residual stream. `site` names a sub-layer: "layers.0.attn"."""

    def __init__(self, m: Model, width: int) -> None:
        self.model, self.width = m, width

    def begin(self, x: Tensor) -> Tensor:
        return x

    def sublayer(self, x: Tensor, norm: str, site: str, branch: Callable[[Tensor], Tensor]) -> Tensor:
        return self.model.sublayer(x, norm, self.width, branch)

    def end(self, x: Tensor) -> Tensor:
        return self.model.final_norm(x, "norm", self.width)


def write(config: Config, placement: str | None, output: str, prefix: str) -> str:
    """Ids to logits, or to the last layer where `output` is "hidden"."""
    epsilon = config.epsilon("rms_norm_eps", 1e-6)
    m = Model(Program("llama"), config.element(), placement or "pre", "rms", epsilon, prefix)
    x = decoder(m, config, Stream(m, config.size("hidden_size")), output)
    return m.program.text([x], banner("LLaMA", title(config), m.placement))


def title(config: Config) -> list[str]:
    count, width, heads = (config.size(field) for field in ("num_hidden_layers", "hidden_size", "num_attention_heads"))
    return [f"{count} layers", f"{width} columns", f"{heads} heads on {config.size('num_key_value_heads', heads)}"]


def decoder(m: Model, config: Config, stream: Stream, output: str) -> Tensor:
    """Everything from the ids on, with what goes between the sub-layers as `stream` has it."""
    width, heads, words = (config.size(field) for field in ("hidden_size", "num_attention_heads", "vocab_size"))
    groups = config.size("num_key_value_heads", heads)
    config.divides("num_attention_heads", "num_key_value_heads", (heads, groups))
    config.expect("is_causal", True)
    ids = m.program.argument("ids", "i64", ["batch", "tokens"])
    tables = _tables(m, config, ids.dims[1])
    x = stream.begin(m.embedding(ids, "embed_tokens.weight", words, width))
    for number in range(config.size("num_hidden_layers")):
        name = f"layers.{number}"
        attention, feed_forward = _branches(m, config, tables, name)
        x = stream.sublayer(x, f"{name}.input_layernorm", f"{name}.attn", attention)
        x = stream.sublayer(x, f"{name}.post_attention_layernorm", f"{name}.mlp", feed_forward)
    x = stream.end(x)
    tied = "embed_tokens.weight" if config.flag("tie_word_embeddings", False) else None
    return x if output == "hidden" else linear(m.program, x, m.head(tied, words, width))


def _branches(
    m: Model, config: Config, tables: tuple[Tensor, Tensor], name: str
) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
    """Attention and feed-forward of one layer."""
    width, heads, inner = (
        config.size("hidden_size"),
        config.size("num_attention_heads"),
        config.size("intermediate_size"),
    )
    groups, size = config.size("num_key_value_heads", heads), _head_size(config)
    bias, mlp_bias = config.flag("attention_bias", False), config.flag("mlp_bias", False)
    gated = _GATES.get(config.activation("hidden_act", "silu"))
    if gated is None:
        raise config.wrong("hidden_act", "silu or a gelu", Unsupported)

    def attention(h: Tensor) -> Tensor:
        q = m.heads(m.linear(h, f"{name}.self_attn.q_proj", width, heads * size, bias=bias), heads)
        k = m.heads(m.linear(h, f"{name}.self_attn.k_proj", width, groups * size, bias=bias), groups)
        v = m.heads(m.linear(h, f"{name}.self_attn.v_proj", width, groups * size, bias=bias), groups)
        context, _ = emit_attention(m.program, Attention(_rotary(m, q, tables), _rotary(m, k, tables), v, causal=True))
        return m.linear(join_heads(m.program, context), f"{name}.self_attn.o_proj", heads * size, width, bias=bias)

    def feed_forward(h: Tensor) -> Tensor:
        gate = m.linear(h, f"{name}.mlp.gate_proj", width, inner, bias=mlp_bias)
        up = m.linear(h, f"{name}.mlp.up_proj", width, inner, bias=mlp_bias)
        return m.linear(m.activation(gated, gate, up), f"{name}.mlp.down_proj", inner, width, bias=mlp_bias)

    return attention, feed_forward


def _head_size(config: Config) -> int:
    width, heads = config.size("hidden_size"), config.size("num_attention_heads")
    if config.get("head_dim") is None:
        config.divides("hidden_size", "num_attention_heads", (width, heads))
    size = config.size("head_dim", width // heads)
    if size % 2:
        raise ModelError(f"'{config.name}': field 'head_dim': expected an even number, found {size}")
    return size


def _rotary(m: Model, x: Tensor, tables: tuple[Tensor, Tensor]) -> Tensor:
    cos, sin = tables
    return m.program.op(
        f"resid.rotary {x.ssa} cos({cos.ssa}) sin({sin.ssa}) : {x.type}, {cos.type}, {sin.type}", x.element, x.dims
    )


def _rope(config: Config) -> Config:
    """The object that says how positions turn: `rope_parameters` of new files, `rope_scaling` of old ones."""
    new, old = config.part("rope_parameters"), config.part("rope_scaling")
    if new and old and new.fields and old.fields and new.fields != old.fields:
        raise config.wrong("rope_scaling", f"that of 'rope_parameters', {spell(new.fields)}")
    found = [part for part in (new, old) if part and part.fields]
    for part in found:
        part.expect("partial_rotary_factor", 1, None)
    return found[0] if found else Config({}, config.name, "rope_parameters.")


def _theta(config: Config, rope: Config) -> float:
    """`rope_theta` of old files stands beside the object; of new ones, in it."""
    given = {part.number("rope_theta", above=0) for part in (rope, config) if part.get("rope_theta") is not None}
    if len(given) > 1:
        raise config.wrong("rope_theta", f"that of '{rope.path[:-1]}', {rope.number('rope_theta'):g}")
    return given.pop() if given else 10000.0


def _kind(rope: Config) -> str:
    """The rule by which rates are scaled, under its new name or its old one."""
    kinds = {kind: kind for kind in ("default", "linear", "llama3")}
    given = {rope.choice(field, kinds) for field in ("rope_type", "type") if rope.get(field) is not None}
    if len(given) > 1:
        raise rope.wrong("type", f"that of 'rope_type', {spell(rope.get('rope_type'))}")
    return given.pop() if given else "default"


def frequencies(config: Config) -> np.ndarray:
    """The angle of each pair per position, in double, with the scaling that config.json asks for."""
    config.expect("partial_rotary_factor", 1, None)
    config.expect("rope_interleaved", False, None)
    size, rope = _head_size(config), _rope(config)
    rates = _theta(config, rope) ** (-np.arange(0, size, 2, dtype=np.float64) / size)
    kind = _kind(rope)
    # The length that was trained with may be told for all kinds.
    original = rope.size("original_max_position_embeddings", config.size("max_position_embeddings", 2048))
    if kind != "default":
        factor = rope.number("factor", above=0)
    if kind == "linear":
        rates = rates / factor
    elif kind == "llama3":
        low = rope.number("low_freq_factor", above=0)
        high = rope.number("high_freq_factor", above=low)
        # Long waves are stretched, short ones stay, and between them both are mixed.
        turns = original * rates / (2 * math.pi)
        mix = np.clip((turns - low) / (high - low), 0.0, 1.0)
        rates = (1 - mix) * rates / factor + mix * rates
    rope.finish()
    return rates


def _tables(m: Model, config: Config, positions: Dim) -> tuple[Tensor, Tensor]:
    """Cosines and sines of all positions. Angles are products of f32, as in the reference code, and tables have the type of the stream."""
    p = m.program
    rates = p.value(Tensor("f32", (_head_size(config) // 2,), known=frequencies(config).astype(np.float32)))

    def body(rate: str, _: str) -> str:
        number = p.inner(f"arith.index_cast {p.inner('linalg.index 0 : index')} : index to i64")
        return p.inner(f"arith.mulf {p.inner(f'arith.sitofp {number} : i64 to f32')}, {rate} : f32")

    angles = p.generic([(rates, [1])], "f32", (positions, rates.dims[0]), body)
    cos, sin = (p.op(f"math.{name} {angles.ssa} : {angles.type}", "f32", angles.dims) for name in ("cos", "sin"))
    return cast(p, cos, m.element), cast(p, sin, m.element)
