# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The programs of `resid model` beside the classes of the package transformers: from the config.json and the weights that those
# save, over the fields of their configurations. A field that such a class has is understood, harmless or refused by its name.

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch to run the models")
transformers = pytest.importorskip("transformers", reason="needs the package transformers to compare with")

from import_models import randomised  # noqa: E402
from import_support import run  # noqa: E402
from resid.importer import Imported  # noqa: E402
from resid.importer.errors import ImportFailure  # noqa: E402
from resid.importer.weights import read  # noqa: E402
from resid.models import OUTPUTS, read_config, write_model  # noqa: E402
from resid.models.fields import HARMLESS  # noqa: E402

WIDE = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 48}
CLASSES = {
    "bert": (transformers.BertConfig, {**WIDE, "vocab_size": 60, "max_position_embeddings": 40}),
    "gpt2": (transformers.GPT2Config, {"n_embd": 32, "n_head": 4, "n_layer": 2, "vocab_size": 60, "n_positions": 40}),
    "llama": (transformers.LlamaConfig, {**WIDE, "vocab_size": 60, "max_position_embeddings": 64}),
    "vit": (transformers.ViTConfig, {**WIDE, "image_size": 16, "patch_size": 4}),
}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3["original_max_position_embeddings"] = 16
CASES = [
    ("bert", "BertModel", {}),
    ("bert", "BertForMaskedLM", {"hidden_act": "gelu_new", "layer_norm_eps": 0.1}),
    ("bert", "BertForSequenceClassification", {"hidden_act": "relu", "type_vocab_size": 3}),
    ("bert", "BertModel", {"hidden_act": "gelu_accurate", "chunk_size_feed_forward": 1}),
    ("gpt2", "GPT2Model", {}),
    ("gpt2", "GPT2LMHeadModel", {"n_inner": 40, "layer_norm_epsilon": 0.1}),
    ("gpt2", "GPT2LMHeadModel", {"activation_function": "gelu", "tie_word_embeddings": False}),
    ("gpt2", "GPT2LMHeadModel", {"activation_function": "gelu_pytorch_tanh", "reorder_and_upcast_attn": True}),
    ("llama", "LlamaModel", {}),
    ("llama", "LlamaForCausalLM", {"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}),
    ("llama", "LlamaForCausalLM", {"rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 1e4}}),
    ("llama", "LlamaForCausalLM", {"rope_parameters": {"rope_theta": 5e5, **LLAMA3}, "num_key_value_heads": 2}),
    ("llama", "LlamaForCausalLM", {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}),
    ("llama", "LlamaForCausalLM", {"head_dim": 16, "rms_norm_eps": 0.1, "num_key_value_heads": 1, "hidden_act": "gelu"}),
    ("llama", "LlamaForCausalLM", {"hidden_act": "gelu_pytorch_tanh", "pretraining_tp": 2}),
    ("vit", "ViTModel", {"qkv_bias": False}),
    ("vit", "ViTForImageClassification", {"id2label": {0: "a", 1: "b", 2: "c"}, "hidden_act": "gelu_python"}),
    ("vit", "ViTForImageClassification", {"image_size": [16, 24], "patch_size": [4, 8], "layer_norm_eps": 0.1}),
]
IDS = torch.tensor([[5, 3, 8, 59, 0, 7, 2], [1, 1, 2, 3, 5, 8, 13]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]], dtype=torch.bool)


def make(family: str, name: str, fields: "dict[str, Any]") -> "torch.nn.Module":
    kind, base = CLASSES[family]
    return randomised(getattr(transformers, name)(kind(**{**base, **fields})))


def evaluate(family: str, model: "torch.nn.Module") -> "tuple[list, torch.Tensor]":
    """The inputs of the program, and what the model makes of them."""
    sizes = getattr(model.config, "image_size", 16)
    height, width = (sizes, sizes) if isinstance(sizes, int) else sizes
    images = torch.linspace(-1, 1, 2 * 3 * height * width).reshape(2, 3, height, width)
    given = [IDS, (IDS > 5).long(), MASK] if family == "bert" else [images] if family == "vit" else [IDS]
    names = {"bert": ("input_ids", "token_type_ids", "attention_mask"), "vit": ("pixel_values",)}.get(family, ("input_ids",))
    body = model if family != "bert" else model.base_model
    with torch.no_grad():
        found = body(**dict(zip(names, given)))
    return given, found.logits if "logits" in found else found.last_hidden_state


# What may be drawn for a field, covered or not; the package obeys also fields that its classes do not declare.
ROPES = [
    None,
    {"rope_type": "default", "rope_theta": 1e6},
    {"rope_type": "linear", "factor": 2.5},
    {"rope_theta": 1e5, **LLAMA3},
    {"rope_type": "dynamic", "factor": 4.0},
    {"rope_type": "yarn", "factor": 4.0},
    {"rope_type": "proportional", "partial_rotary_factor": 0.5},
]
ACTIVATIONS = ["gelu", "gelu_new", "gelu_fast", "gelu_python", "gelu_accurate", "relu", "silu", "quick_gelu", "gelu_10", "tanh"]
DRAWN: "dict[str, tuple[str, dict[str, list]]]" = {
    "bert": ("BertForMaskedLM", {
        "hidden_act": ACTIVATIONS, "layer_norm_eps": [1e-12, 1e-3], "is_decoder": [False, False, True], "type_vocab_size": [2, 5],
        "num_attention_heads": [1, 2, 8], "chunk_size_feed_forward": [0, 1], "pad_token_id": [0, 3],
        "tie_word_embeddings": [True, False]}),
    "gpt2": ("GPT2LMHeadModel", {
        "activation_function": ACTIVATIONS, "layer_norm_epsilon": [1e-5, 1e-2], "n_inner": [None, 40], "n_head": [1, 2, 8],
        "scale_attn_weights": [True, True, False], "scale_attn_by_inverse_layer_idx": [False, False, True],
        "reorder_and_upcast_attn": [False, True], "tie_word_embeddings": [True, False], "is_causal": [True, True, False]}),
    "llama": ("LlamaForCausalLM", {
        "hidden_act": ["silu", *ACTIVATIONS], "rms_norm_eps": [1e-6, 1e-2], "num_key_value_heads": [1, 2, 4],
        "head_dim": [None, 8, 16], "rope_parameters": ROPES, "attention_bias": [False, True], "mlp_bias": [False, True],
        "pretraining_tp": [1, 2], "tie_word_embeddings": [True, False], "is_causal": [True, True, False]}),
    "vit": ("ViTForImageClassification", {
        "hidden_act": ACTIVATIONS, "layer_norm_eps": [1e-12, 1e-3], "qkv_bias": [True, False], "num_attention_heads": [1, 2, 8],
        "image_size": [16, [16, 32]], "patch_size": [8, [4, 8]], "num_labels": [2, 7], "head_dim": [None, None, 16]}),
}  # fmt: skip


@pytest.mark.parametrize("family", DRAWN)
def test_drawn_configurations(family: str, tmp_path: Path) -> None:
    """A drawn configuration is refused by the name of one of its fields, or computes what the package computes."""
    name, choices = DRAWN[family]
    draw = random.Random(family)
    compared = refused = 0
    while compared < 6 or refused < 3:
        fields = {field: value for field in choices if (value := draw.choice(choices[field])) is not None}
        try:
            compare(family, name, fields, tmp_path)
            compared += 1
        except ImportFailure as error:
            assert any(f"'{field}" in str(error) for field in fields), (fields, str(error))
            refused += 1


@pytest.mark.parametrize(("family", "name", "fields"), CASES, ids=lambda value: value if isinstance(value, str) else None)
def test_against_the_package(family: str, name: str, fields: "dict[str, Any]", tmp_path: Path) -> None:
    compare(family, name, fields, tmp_path)


def compare(family: str, name: str, fields: "dict[str, Any]", tmp_path: Path) -> None:
    model = make(family, name, fields)
    model.save_pretrained(tmp_path / "saved")
    config = read_config(tmp_path / "saved" / "config.json")
    output = "hidden" if name.endswith("Model") and "LMHead" not in name else OUTPUTS[family][0]
    text = write_model(family, config, output=output)
    weights = read(tmp_path / "saved" / "model.safetensors")
    weights = {key: array for key, array in weights.items() if f'"{key}"' in text}
    given, wanted = evaluate(family, model)
    (found,) = run(Imported(text, weights, family), [array.numpy() for array in given], tmp_path)
    valid = MASK.numpy() if family == "bert" else slice(None)
    np.testing.assert_allclose(found[valid], wanted.numpy()[valid], rtol=1e-4, atol=2e-5)


def other(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + (1 if isinstance(value, int) else 0.25)
    return {"x": 1} if isinstance(value, dict) else ["x"] if isinstance(value, list) else "x" if value else 3


@pytest.mark.parametrize("family", CLASSES)
def test_every_field_of_the_class(family: str) -> None:
    """The file of a model of the package is understood; a changed field changes the program, is refused by name, or is on the
    list of those that change nothing, and then it changes nothing in the package either."""
    kind, base = CLASSES[family]
    heads = {"bert": "BertModel", "gpt2": "GPT2LMHeadModel", "llama": "LlamaForCausalLM", "vit": "ViTForImageClassification"}
    name = heads[family]
    model = make(family, name, {})
    fields = {**json.loads(model.config.to_json_string(use_diff=False)), "architectures": [name]}
    plain = write_model(family, fields)
    _, wanted = evaluate(family, model)
    own = {field.name for field in dataclasses.fields(kind)}
    assert len(own & fields.keys()) > 20
    for field in sorted(own | fields.keys()):
        value = other(fields.get(field))
        try:
            changed = write_model(family, {**fields, field: value}) != plain
        except ImportFailure as error:
            assert field in str(error), (field, value)
            continue
        if field == "max_position_embeddings" and family == "llama":
            continue  # It is a default of rope_parameters, and else a limit of nothing.
        assert changed or field in HARMLESS[family], (field, value)
        if changed or field not in own or field in ("dtype", "architectures", "transformers_version"):
            continue
        try:
            twin = getattr(transformers, name)(kind(**{**base, field: value})).eval()
        except Exception:  # The package does not take this value.
            continue
        twin.config.return_dict = True
        fitting = {key: tensor for key, tensor in model.state_dict().items() if "pooler" not in key}
        missing, _ = twin.load_state_dict(fitting, strict=False)
        assert not [key for key in missing if "pooler" not in key], field
        torch.testing.assert_close(evaluate(family, twin)[1], wanted, msg=field)
