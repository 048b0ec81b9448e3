# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gemma 3, its text model: norms before and after branches that multiply by 1 + gamma, a norm of each head of queries and keys,
# layers with a sliding window and positions of their own, and a scaled embedding.

import dataclasses
import math

from ..importer.attention import Attention
from ..importer.emit_elementwise import elementwise
from ..importer.program import Tensor
from .decoder import FULL, Decoder, read_layer_types
from .rotary import Rotation, layered_rotation


class Gemma3(Decoder):
    title = "Gemma 3"
    placement = "peri"
    attention_norms = ("input_layernorm", "post_attention_layernorm")
    feed_forward_norms = ("pre_feedforward_layernorm", "post_feedforward_layernorm")
    zero_centered = True
    rounds_early = False
    activation = "hidden_activation"
    is_tied = True
    head_fields = ("tie_word_embeddings", "final_logit_softcapping")

    def head_size(self) -> int:
        # transformers reads these and computes without them, or in another way.
        self.config.expect("attn_logit_softcapping", None)
        self.config.expect("use_bidirectional_attention", False, None)
        return self.config.size("head_dim")

    def layer_types(self) -> list[str]:
        pattern = self.config.size("sliding_window_pattern", 6)
        return read_layer_types(self.config, self.layers, lambda layer: (layer + 1) % pattern != 0)

    def rotation(self, layers: str) -> Rotation:
        if layers == FULL:
            return layered_rotation(self.config, self.size, layers, 1e6, "rope_theta", scaled=True)
        return layered_rotation(self.config, self.size, layers, 1e4, "rope_local_base_freq", scaled=False)

    def normalise_each_head(self, x: Tensor, name: str) -> Tensor:
        return self.normalised(x, name)

    def attend(self, layer: int, a: Attention) -> Attention:
        scale = self.config.number("query_pre_attn_scalar", 256, above=0) ** -0.5
        return dataclasses.replace(a, window=self.window(layer), scale=scale)

    def embed(self, ids: Tensor) -> Tensor:
        p, x = self.program, super().embed(ids)
        scale = p.scalar(math.sqrt(self.width), x.element)
        return elementwise(p, [x], x.element, lambda e: p.inner(f"arith.mulf {e}, {scale} : {x.element}"))

    def head(self, x: Tensor) -> Tensor:
        p, logits = self.program, super().head(x)
        if self.config.get("final_logit_softcapping") is None:
            return logits
        kind = logits.element
        cap = p.scalar(self.config.number("final_logit_softcapping", above=0), kind)

        def bend(e: str) -> str:
            bent = p.inner(f"math.tanh {p.inner(f'arith.divf {e}, {cap} : {kind}')} : {kind}")
            return p.inner(f"arith.mulf {bent}, {cap} : {kind}")

        return elementwise(p, [logits], kind, bend)
