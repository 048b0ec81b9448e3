# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Mistral: LLaMA without biases, all of whose layers may have a sliding window.

import dataclasses

from ..importer.attention import Attention
from .decoder import FULL, SLIDING, Decoder


class Mistral(Decoder):
    title = "Mistral"

    def layer_types(self) -> list[str]:
        field = "sliding_window"
        has_window = field not in self.config.fields or self.config.get(field) is not None
        return [SLIDING if has_window else FULL] * self.layers

    def has_bias(self) -> bool:
        return False

    def attend(self, layer: int, a: Attention) -> Attention:
        return dataclasses.replace(a, window=self.window(layer, 4096))
