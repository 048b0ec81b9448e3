# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Qwen 3 without experts: LLaMA with a norm of each head of queries and keys, some of whose layers may have a sliding window.

import dataclasses

from ..importer.attention import Attention
from ..importer.program import Tensor
from .decoder import SLIDING, Decoder, read_layer_types


class Qwen3(Decoder):
    title = "Qwen 3"

    def head_size(self) -> int:
        return self.config.size("head_dim")

    def layer_types(self) -> list[str]:
        slides = self.config.flag("use_sliding_window", False)
        first = self.config.number("max_window_layers", 28)
        types = read_layer_types(self.config, self.layers, lambda layer: slides and layer >= first)
        # Without a use it may have any value.
        self.config.get("sliding_window")
        if not slides and SLIDING in types:
            raise self.config.wrong("layer_types", "layers without a window where 'use_sliding_window' is false")
        return types

    def normalise_each_head(self, x: Tensor, name: str) -> Tensor:
        return self.normalised(x, name)

    def attend(self, layer: int, a: Attention) -> Attention:
        return dataclasses.replace(a, window=self.window(layer))
