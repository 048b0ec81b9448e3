# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Small config.json of the families that are compared with the package transformers alone.

from __future__ import annotations

WIDE = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 1, "intermediate_size": 48, "vocab_size": 60}
CONFIGS: "dict[str, dict]" = {
    "gemma3": {
        **WIDE, "architectures": ["Gemma3ForCausalLM"], "head_dim": 16, "num_key_value_heads": 2, "sliding_window": 3
    },
    "gpt-oss": {
        **WIDE, "architectures": ["GptOssForCausalLM"], "head_dim": 16, "num_key_value_heads": 2, "sliding_window": 3,
        "num_local_experts": 1, "num_experts_per_tok": 1, "rope_parameters": {"rope_type": "default"},
    },
    "mistral": {**WIDE, "architectures": ["MistralForCausalLM"], "num_key_value_heads": 2, "sliding_window": 3},
    "modernbert": {**WIDE, "architectures": ["ModernBertForMaskedLM"], "local_attention": 4},
    "olmo2": {**WIDE, "architectures": ["Olmo2ForCausalLM"]},
    "qwen3": {**WIDE, "architectures": ["Qwen3ForCausalLM"], "head_dim": 16, "num_key_value_heads": 2},
}  # fmt: skip
