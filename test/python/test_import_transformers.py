# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Base models of the package transformers, tiny, exported by torch.export and imported, against themselves. What is not covered is
# named.

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs torch, whose graphs are imported")
transformers = pytest.importorskip("transformers", reason="needs transformers, whose models are imported")

import resid  # noqa: E402
from resid.importer import Unsupported, from_exported  # noqa: E402

_BERT = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 50}
_BERT["max_position_embeddings"] = 64
_LLAMA = {**_BERT, "num_key_value_heads": 2, "head_dim": 8, "pad_token_id": 0}
_GPT2 = {"n_embd": 32, "n_layer": 1, "n_head": 4, "vocab_size": 50, "n_positions": 64, "bos_token_id": 1, "eos_token_id": 2}
_T5 = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 1, "num_heads": 4, "vocab_size": 50}
_VIT = {**_BERT, "image_size": 32, "patch_size": 8}
MODELS = {
    "BertModel": _BERT,
    "RobertaModel": _BERT,
    "MPNetModel": _BERT,
    "DebertaV2Model": _BERT,
    "ModernBertModel": {**_BERT, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2},
    "GPT2Model": _GPT2,
    "GPTNeoXModel": _BERT,
    "OPTModel": {**_BERT, "ffn_dim": 64, "word_embed_proj_dim": 32},
    "LlamaModel": _LLAMA,
    "Qwen3Model": _LLAMA,
    "Phi3Model": _LLAMA,
    "Gemma2Model": _LLAMA,
    "T5EncoderModel": _T5,
    "ViTModel": _VIT,
    "Dinov2Model": {**_VIT, "mlp_ratio": 2},
    "XLNetModel": {"d_model": 32, "n_layer": 1, "n_head": 4, "d_inner": 64, "vocab_size": 50},
    "MambaModel": {"hidden_size": 32, "num_hidden_layers": 1, "vocab_size": 50, "state_size": 4},
    "ResNetModel": {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "layer_type": "basic"},
}
REFUSED = {
    "MixtralModel": ({**_LLAMA, "num_local_experts": 2}, "transformers.grouped_mm_fallback.default 'grouped_mm_fallback': of 2 experts: expected 1"),
    "FNetModel": (_BERT, "aten.fft_fftn.default 'fft_fftn'"),
}
IDS = torch.tensor([[3, 5, 7, 9, 11, 2, 4], [1, 2, 3, 4, 5, 6, 7]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]])
IMAGES = torch.linspace(-1, 1, 2 * 3 * 32 * 32).reshape(2, 3, 32, 32)


class Hidden(torch.nn.Module):
    """The last hidden state alone."""

    def __init__(self, name: str, settings: dict) -> None:
        super().__init__()
        torch.manual_seed(0)
        kind = getattr(transformers, name)
        self.model = kind(kind.config_class(**settings))
        self.main, self.extra = self.model.main_input_name, {}
        if name in ("GPT2Model", "GPTNeoXModel", "LlamaModel", "Qwen3Model", "Phi3Model", "Gemma2Model", "MixtralModel", "MambaModel", "XLNetModel"):
            self.extra = {"use_cache": False}

    def forward(self, first: "torch.Tensor", mask: "torch.Tensor | None" = None) -> "torch.Tensor":
        masks = {} if mask is None else {"attention_mask": mask}
        return self.model(**{self.main: first}, **masks, **self.extra).last_hidden_state


MASKED = ("BertModel", "RobertaModel", "MPNetModel", "DebertaV2Model", "ModernBertModel", "OPTModel", "T5EncoderModel")


def inputs(name: str) -> tuple:
    if name in ("ViTModel", "Dinov2Model", "ResNetModel"):
        return (IMAGES,)
    return (IDS, MASK) if name in MASKED else (IDS,)


@pytest.mark.parametrize("name", MODELS)
def test_model(name: str) -> None:
    model = Hidden(name, MODELS[name]).eval()
    with torch.no_grad():
        right = model(*inputs(name))
        imported = from_exported(torch.export.export(model, inputs(name)))
    found = resid.compile(imported.text)[imported.function](*inputs(name), *imported.weights.values())
    torch.testing.assert_close(torch.as_tensor(found), right, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_covered_is_named(name: str) -> None:
    settings, message = REFUSED[name]
    with torch.no_grad():
        exported = torch.export.export(Hidden(name, settings).eval(), (IDS,))
    with pytest.raises(Unsupported, match=message):
        from_exported(exported)
