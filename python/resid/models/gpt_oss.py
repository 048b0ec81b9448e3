# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# gpt-oss with one expert: a decoder in pre-norm whose attention has sinks and, in every second layer, a window, and whose SwiGLU
# is clamped.

import dataclasses

from ..importer.attention import Attention
from ..importer.emit_linear import linear
from ..importer.emit_shapes import extract, reshape
from ..importer.errors import Unsupported
from ..importer.program import Tensor
from .decoder import Decoder, read_layer_types


class GptOss(Decoder):
    title = "gpt-oss"
    epsilon = 1e-5
    rounds_early = False
    rope_base = 150000.0

    def head_size(self) -> int:
        for field in ("num_local_experts", "num_experts_per_tok"):
            if self.config.size(field) != 1:
                raise self.config.wrong(field, "1, since a choice among experts is not covered", Unsupported)
        if self.config.part("rope_parameters") is None and self.config.part("rope_scaling") is None:
            raise self.config.wrong("rope_parameters", "an object")
        self.config.expect("hidden_act", "silu")
        return self.config.size("head_dim")

    def layer_types(self) -> list[str]:
        return read_layer_types(self.config, self.layers, lambda layer: layer % 2 == 0)

    def has_bias(self) -> bool:
        return self.config.flag("attention_bias", True)

    def attend(self, layer: int, a: Attention) -> Attention:
        sinks = self.model.weight(f"layers.{layer}.self_attn.sinks", self.heads)
        return dataclasses.replace(a, window=self.window(layer), sink=sinks)

    def feed_forward(self, layer: int, h: Tensor) -> Tensor:
        """The weights are those of the one expert, which a router gives the weight 1."""
        name, width, inner = f"layers.{layer}.mlp.experts", self.width, self.inner
        pair = self._linear(h, f"{name}.gate_up_proj", width, 2 * inner)
        sizes = [*pair.dims[:-1], inner]
        gate, up = (extract(self.program, pair, [0, 0, place], sizes, [1, 1, 2]) for place in (0, 1))
        return self._linear(self._gated(gate, up), f"{name}.down_proj", inner, width)

    def _linear(self, x: Tensor, name: str, inputs: int, outputs: int) -> Tensor:
        """Weights [expert, in, out]."""
        p = self.program
        weight = reshape(p, self.model.weight(name, 1, inputs, outputs), [inputs, outputs])
        return linear(p, x, weight, reshape(p, self.model.weight(f"{name}_bias", 1, outputs), [outputs]), True)

    def _gated(self, gate: Tensor, up: Tensor) -> Tensor:
        limit = self.config.number("swiglu_limit", 7.0, above=0)
        return self.model.activation("swiglu_oai", gate, up, alpha=self.config.number("swiglu_alpha", 1.702, above=0), limit=limit)
