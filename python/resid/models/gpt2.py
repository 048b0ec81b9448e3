# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# GPT-2: a decoder in pre-norm with learned positions. Weights are [in, out], and the table of words is the last layer too.

from __future__ import annotations

from ..importer.attention import Attention, emit_attention, join_heads
from ..importer.emit_linear import linear
from ..importer.emit_shapes import extract
from ..importer.program import Program, Tensor
from .config import Config
from .layers import Model, banner, first_rows


def write(config: Config, placement: str | None, output: str, prefix: str) -> str:
    """Ids to logits, or to the last layer where `output` is "hidden"."""
    width, heads, count = config.size("n_embd"), config.size("n_head"), config.size("n_layer")
    config.divides("n_embd", "n_head", (width, heads))
    for field, value in (
        ("scale_attn_weights", True),
        ("scale_attn_by_inverse_layer_idx", False),
        ("head_dim", width // heads),
        ("is_causal", True),
        ("n_special", 0),
    ):
        config.expect(field, value)
    p = Program("gpt2")
    epsilon = config.epsilon("layer_norm_epsilon", 1e-5)
    m = Model(p, config.element(), placement or "pre", "layer", epsilon, prefix)
    ids = p.argument("ids", "i64", ["batch", "tokens"])
    words = config.size("vocab_size")
    x = m.embedding(ids, "wte.weight", words, width)
    x = m.add(x, first_rows(p, m.weight("wpe.weight", config.size("n_positions"), width), ids))
    for number in range(count):
        x = _block(m, config, x, f"h.{number}")
    x = m.final_norm(x, "ln_f", width)
    tied = config.flag("tie_word_embeddings", True)
    if output != "hidden":
        x = linear(p, x, m.head("wte.weight" if tied else None, words, width))
    return p.text([x], banner("GPT-2", [f"{count} blocks", f"{width} columns", f"{heads} heads"], m.placement))


def _block(m: Model, config: Config, x: Tensor, name: str) -> Tensor:
    width, heads = config.size("n_embd"), config.size("n_head")
    inner = config.size("n_inner", 4 * width)

    def attention(h: Tensor) -> Tensor:
        rows = m.linear(h, f"{name}.attn.c_attn", width, 3 * width, transposed=True)
        parts = [extract(m.program, rows, [0, 0, i * width], [*rows.dims[:2], width], [1, 1, 1]) for i in range(3)]
        context, _ = emit_attention(m.program, Attention(*(m.heads(part, heads) for part in parts), causal=True))
        return m.linear(join_heads(m.program, context), f"{name}.attn.c_proj", width, width, transposed=True)

    def feed_forward(h: Tensor) -> Tensor:
        raised = m.linear(h, f"{name}.mlp.c_fc", width, inner, transposed=True)
        active = m.activation(config.activation("activation_function", "gelu_new"), raised)
        return m.linear(active, f"{name}.mlp.c_proj", inner, width, transposed=True)

    return m.sublayer(m.sublayer(x, f"{name}.ln_1", width, attention), f"{name}.ln_2", width, feed_forward)
