# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# LLaMA: a decoder in pre-norm with RMS norms, rotary positions, grouped heads and SwiGLU.

from .decoder import Decoder


class Llama(Decoder):
    def has_inner_bias(self) -> bool:
        return self.config.flag("mlp_bias", False)
