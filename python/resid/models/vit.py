# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ViT: images in patches, a token for the class, and an encoder in pre-norm.

from __future__ import annotations

from ..importer.attention import Attention, emit_attention, join_heads
from ..importer.emit_linear import linear
from ..importer.emit_shapes import extract, reshape, transpose
from ..importer.program import Program, Tensor, tensor_type
from .config import Config
from .layers import Model, banner


def write(config: Config, placement: str | None, output: str, prefix: str) -> str:
    """Images [batch, channels, height, width] to classes, or to the last layer where `output` is "hidden"."""
    width, heads, count = (
        config.size("hidden_size"),
        config.size("num_attention_heads"),
        config.size("num_hidden_layers"),
    )
    config.divides("hidden_size", "num_attention_heads", (width, heads))
    config.expect("head_dim", width // heads)
    size, patch = config.pair("image_size"), config.pair("patch_size")
    for whole, part in zip(size, patch):
        config.divides("image_size", "patch_size", (whole, part))
    p = Program("vit")
    m = Model(p, config.element(), placement or "pre", "layer", config.epsilon("layer_norm_eps", 1e-12), prefix)
    images = p.argument("images", m.element, ["batch", config.size("num_channels", 3), *size])
    x = _embed(m, config, images)
    for number in range(count):
        x = _layer(m, config, x, f"encoder.layer.{number}")
    x = m.final_norm(x, "layernorm", width)
    if output != "hidden":
        classes = _classes(config)
        first = reshape(p, extract(p, x, [0, 0, 0], [x.dims[0], 1, width], [1, 1, 1]), [x.dims[0], width])
        x = linear(
            p,
            first,
            p.weight("classifier.weight", m.element, (classes, width)),
            p.weight("classifier.bias", m.element, (classes,)),
        )
    parts = [" x ".join(map(str, dict.fromkeys(pair))) for pair in (patch, size)]
    title = [f"{count} layers", f"{width} columns", f"{heads} heads", f"patches of {parts[0]} in images of {parts[1]}"]
    return p.text([x], banner("ViT", title, m.placement))


def _classes(config: Config) -> int:
    """How many classes there are: as many as have names."""
    labels, count = config.part("id2label"), config.size("num_labels", 2)
    if labels is None or not labels.fields:
        return count
    if config.get("num_labels") not in (None, len(labels.fields)):
        raise config.wrong("num_labels", f"the number of names in 'id2label', {len(labels.fields)}")
    return len(labels.fields)


def _embed(m: Model, config: Config, images: Tensor) -> Tensor:
    """Each patch is a row of a linear layer; the token of the class comes first; positions are added."""
    p, (high, wide), width = m.program, config.pair("patch_size"), config.size("hidden_size")
    batch, channels, height, length = images.dims
    down, across = height // high, length // wide
    rows = transpose(p, reshape(p, images, [batch, channels, down, high, across, wide]), [0, 2, 4, 1, 3, 5])
    rows = reshape(p, rows, [batch, down * across, channels * high * wide])
    kernel = m.weight("embeddings.patch_embeddings.projection.weight", width, channels, high, wide)
    bias = m.weight("embeddings.patch_embeddings.projection.bias", width)
    patches = linear(p, rows, reshape(p, kernel, [width, channels * high * wide]), bias)
    token = reshape(p, m.weight("embeddings.cls_token", 1, 1, width), [width])
    tokens = p.generic([(token, [2])], m.element, (batch, 1, width), lambda element, _: element)
    dims = (batch, down * across + 1, width)
    types = f"({tokens.type}, {patches.type}) -> {tensor_type(m.element, dims)}"
    x = p.op(f"tensor.concat dim(1) {tokens.ssa}, {patches.ssa} : {types}", m.element, dims)
    positions = reshape(p, m.weight("embeddings.position_embeddings", 1, down * across + 1, width), dims[1:])
    repeated = p.generic([(positions, [1, 2])], m.element, dims, lambda element, _: element)
    return m.add(x, repeated)


def _layer(m: Model, config: Config, x: Tensor, name: str) -> Tensor:
    width, heads, inner = (
        config.size("hidden_size"),
        config.size("num_attention_heads"),
        config.size("intermediate_size"),
    )
    bias = config.flag("qkv_bias", True)

    def attention(h: Tensor) -> Tensor:
        parts = [
            m.linear(h, f"{name}.attention.attention.{part}", width, width, bias=bias)
            for part in ("query", "key", "value")
        ]
        context, _ = emit_attention(m.program, Attention(*(m.heads(part, heads) for part in parts)))
        return m.linear(join_heads(m.program, context), f"{name}.attention.output.dense", width, width)

    def feed_forward(h: Tensor) -> Tensor:
        raised = m.linear(h, f"{name}.intermediate.dense", width, inner)
        return m.linear(
            m.activation(config.activation("hidden_act", "gelu"), raised), f"{name}.output.dense", inner, width
        )

    x = m.sublayer(x, f"{name}.layernorm_before", width, attention)
    return m.sublayer(x, f"{name}.layernorm_after", width, feed_forward)
