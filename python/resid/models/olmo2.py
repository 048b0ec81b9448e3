# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# OLMo 2: LLaMA with norms after the branches, and norms of all queries and all keys of a position.

from ..importer.program import Tensor
from .decoder import Decoder


class Olmo2(Decoder):
    title = "OLMo 2"
    placement = "branch_post"
    epsilon = 1e-5
    attention_norms = ("post_attention_layernorm",)
    feed_forward_norms = ("post_feedforward_layernorm",)
    rounds_early = False

    def normalise_heads(self, x: Tensor, name: str) -> Tensor:
        return self.normalised(x, name)
