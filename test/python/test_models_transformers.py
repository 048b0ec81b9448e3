# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The programs of `resid model` beside the classes of the package transformers: from the config.json and the weights that those
# save, over the fields of their configurations. A field that such a class has is understood, harmless or refused by its name.

from __future__ import annotations

import dataclasses
import functools
import json
import random
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch to run the models")
transformers = pytest.importorskip("transformers", reason="needs the package transformers to compare with")

import preset_configs  # noqa: E402
import resid  # noqa: E402
from import_models import randomised  # noqa: E402
from import_support import compile_together, run  # noqa: E402
from resid.importer import Imported  # noqa: E402
from resid.importer.errors import ImportFailure  # noqa: E402
from resid.importer.weights import read  # noqa: E402
from resid.models import FAMILIES, OUTPUTS, read_config, write_model  # noqa: E402
from resid.models.fields import HARMLESS  # noqa: E402

WIDE = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 48}
TEXT = {**WIDE, "vocab_size": 60, "max_position_embeddings": 64, "pad_token_id": 0}
CLASSES = {
    "bert": (transformers.BertConfig, {**WIDE, "vocab_size": 60, "max_position_embeddings": 40}),
    "gpt2": (transformers.GPT2Config, {"n_embd": 32, "n_head": 4, "n_layer": 2, "vocab_size": 60, "n_positions": 40}),
    "llama": (transformers.LlamaConfig, {**WIDE, "vocab_size": 60, "max_position_embeddings": 64}),
    "vit": (transformers.ViTConfig, {**WIDE, "image_size": 16, "patch_size": 4}),
    "gemma3": (transformers.Gemma3TextConfig, {**TEXT, "head_dim": 16, "num_key_value_heads": 2, "sliding_window": 3}),
    "gpt-oss": (
        transformers.GptOssConfig,
        {**TEXT, "head_dim": 16, "num_key_value_heads": 2, "sliding_window": 3, "num_local_experts": 1, "num_experts_per_tok": 1},
    ),
    "mistral": (transformers.MistralConfig, {**TEXT, "num_key_value_heads": 2, "sliding_window": 3}),
    "modernbert": (transformers.ModernBertConfig, {**TEXT, "num_hidden_layers": 3, "local_attention": 5}),
    "olmo2": (transformers.Olmo2Config, TEXT),
    "qwen3": (transformers.Qwen3Config, {**TEXT, "head_dim": 16, "num_key_value_heads": 2}),
}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3["original_max_position_embeddings"] = 16
YARN = {"rope_type": "yarn", "factor": 4.0, "rope_theta": 1e4, "original_max_position_embeddings": 16}
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
    ("llama", "LlamaForCausalLM", {"rope_parameters": {**YARN, "truncate": False, "attention_factor": 1.5}}),
    ("llama", "LlamaForCausalLM", {"rope_parameters": {**YARN, "mscale": 0.7, "mscale_all_dim": 1.2, "beta_fast": 8.0}}),
    ("gemma3", "Gemma3TextModel", {"query_pre_attn_scalar": 20}),
    ("gemma3", "Gemma3ForCausalLM", {"final_logit_softcapping": 2.0, "layer_types": ["full_attention", "sliding_attention"]}),
    ("gemma3", "Gemma3ForCausalLM", {"num_hidden_layers": 7, "attention_bias": True, "tie_word_embeddings": False}),
    ("gemma3", "Gemma3ForCausalLM", {"rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 4.0}}}),
    ("gpt-oss", "GptOssModel", {}),
    ("gpt-oss", "GptOssForCausalLM", {"attention_bias": False, "swiglu_limit": 0.1, "swiglu_alpha": 1.0, "num_hidden_layers": 3}),
    ("gpt-oss", "GptOssForCausalLM", {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}),
    ("mistral", "MistralModel", {"sliding_window": None}),
    ("mistral", "MistralForCausalLM", {"head_dim": 16, "num_key_value_heads": 1, "sliding_window": 1}),
    ("modernbert", "ModernBertModel", {}),
    ("modernbert", "ModernBertForMaskedLM", {"norm_bias": True, "attention_bias": True, "mlp_bias": True, "decoder_bias": False}),
    ("modernbert", "ModernBertForMaskedLM", {"classifier_bias": True, "tie_word_embeddings": False, "local_attention": 7}),
    ("olmo2", "Olmo2Model", {"num_key_value_heads": 2}),
    ("olmo2", "Olmo2ForCausalLM", {"attention_bias": True, "tie_word_embeddings": True}),
    ("qwen3", "Qwen3Model", {"attention_bias": True}),
    ("qwen3", "Qwen3ForCausalLM", {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}),
    ("vit", "ViTModel", {"qkv_bias": False}),
    ("vit", "ViTForImageClassification", {"id2label": {0: "a", 1: "b", 2: "c"}, "hidden_act": "gelu_python"}),
    ("vit", "ViTForImageClassification", {"image_size": [16, 24], "patch_size": [4, 8], "layer_norm_eps": 0.1}),
]
IDS = torch.tensor([[5, 3, 8, 59, 0, 7, 2], [1, 1, 2, 3, 5, 8, 13]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]], dtype=torch.bool)
DECODERS = [family for family, preset in FAMILIES.items() if preset.decodes]


def make(family: str, name: str, fields: "dict[str, Any]") -> "torch.nn.Module":
    kind, base = CLASSES[family]
    return randomised(getattr(transformers, name)(kind(**{**base, **fields})))


def evaluate(family: str, model: "torch.nn.Module") -> "tuple[list, torch.Tensor]":
    """The inputs of the program, and what the model makes of them."""
    sizes = getattr(model.config, "image_size", 16)
    height, width = (sizes, sizes) if isinstance(sizes, int) else sizes
    images = torch.linspace(-1, 1, 2 * 3 * height * width).reshape(2, 3, height, width)
    given = {"input_ids": IDS}
    if family == "bert":
        given = {"input_ids": IDS, "token_type_ids": (IDS > 5).long(), "attention_mask": MASK}
    elif family == "vit":
        given = {"pixel_values": images}
    elif family == "modernbert":
        given = {"input_ids": IDS, "attention_mask": MASK}
    # Decoders have no mask: padding stands after the tokens, which do not see it.
    padded = {**given, "attention_mask": MASK} if family in DECODERS else given
    body = model if family != "bert" else model.base_model
    with torch.no_grad():
        found = body(**padded)
    return [*given.values()], found.logits if "logits" in found else found.last_hidden_state


# What may be drawn for a field, covered or not; the package obeys also fields that its classes do not declare.
ROPES = [
    None,
    {"rope_type": "default", "rope_theta": 1e6},
    {"rope_type": "linear", "factor": 2.5},
    {"rope_theta": 1e5, **LLAMA3},
    {"rope_type": "dynamic", "factor": 4.0},
    YARN,
    {"rope_type": "yarn", "factor": 0.5, "truncate": False},
    {"rope_type": "proportional", "partial_rotary_factor": 0.5},
]
ACTIVATIONS = ["gelu", "gelu_new", "gelu_fast", "gelu_python", "gelu_accurate", "relu", "relu2", "silu", "quick_gelu", "gelu_10", "tanh"]
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
    "gemma3": ("Gemma3ForCausalLM", {
        "hidden_activation": ["gelu_pytorch_tanh", *ACTIVATIONS], "rms_norm_eps": [1e-6, 1e-2], "num_key_value_heads": [1, 2, 4],
        "head_dim": [8, 16], "attention_bias": [False, True], "tie_word_embeddings": [True, False], "sliding_window": [1, 4, 9],
        "layer_types": [None, ["sliding_attention"] * 2, ["full_attention"] * 2], "query_pre_attn_scalar": [16, 24],
        "final_logit_softcapping": [None, 3.0], "attn_logit_softcapping": [None, None, 5.0],
        "use_bidirectional_attention": [False, False, True]}),
    "gpt-oss": ("GptOssForCausalLM", {
        "rms_norm_eps": [1e-5, 1e-2], "num_key_value_heads": [1, 2, 4], "head_dim": [8, 16], "rope_parameters": ROPES[1:],
        "attention_bias": [False, True], "tie_word_embeddings": [True, False], "sliding_window": [1, 4, 9],
        "layer_types": [None, ["sliding_attention"] * 2, ["full_attention"] * 2], "swiglu_limit": [0.2, 7.0],
        "swiglu_alpha": [1.0, 1.702], "num_local_experts": [1, 1, 1, 4]}),
    "mistral": ("MistralForCausalLM", {
        "hidden_act": ["silu", *ACTIVATIONS], "rms_norm_eps": [1e-6, 1e-2], "num_key_value_heads": [1, 2, 4],
        "head_dim": [None, 8, 16], "rope_parameters": ROPES, "tie_word_embeddings": [True, False], "sliding_window": [1, 4, 9]}),
    "modernbert": ("ModernBertForMaskedLM", {
        "hidden_activation": ["gelu", *ACTIVATIONS], "norm_eps": [1e-5, 1e-2], "norm_bias": [False, True],
        "attention_bias": [False, True], "mlp_bias": [False, True], "local_attention": [1, 4, 7, 30],
        "layer_types": [None, ["sliding_attention"] * 3, ["full_attention"] * 3], "classifier_bias": [False, True],
        "classifier_activation": ACTIVATIONS, "decoder_bias": [False, True], "tie_word_embeddings": [True, False]}),
    "olmo2": ("Olmo2ForCausalLM", {
        "hidden_act": ["silu", *ACTIVATIONS], "rms_norm_eps": [1e-6, 1e-2], "num_key_value_heads": [1, 2, 4],
        "rope_parameters": ROPES, "attention_bias": [False, True], "tie_word_embeddings": [True, False]}),
    "qwen3": ("Qwen3ForCausalLM", {
        "hidden_act": ["silu", *ACTIVATIONS], "rms_norm_eps": [1e-6, 1e-2], "num_key_value_heads": [1, 2, 4],
        "head_dim": [8, 16], "rope_parameters": ROPES, "attention_bias": [False, True], "tie_word_embeddings": [True, False],
        "use_sliding_window": [False, True], "sliding_window": [1, 4], "max_window_layers": [1, 2]}),
    "vit": ("ViTForImageClassification", {
        "hidden_act": ACTIVATIONS, "layer_norm_eps": [1e-12, 1e-3], "qkv_bias": [True, False], "num_attention_heads": [1, 2, 8],
        "image_size": [16, [16, 32]], "patch_size": [8, [4, 8]], "num_labels": [2, 7], "head_dim": [None, None, 16]}),
}  # fmt: skip


@pytest.mark.parametrize("family", DRAWN)
def test_drawn_configurations(family: str) -> None:
    """A drawn configuration is refused by the name of one of its fields, or computes what the package computes."""
    name, choices = DRAWN[family]
    draw = random.Random(family)
    refused, calls = 0, []
    while len(calls) < (2 if family in preset_configs.CONFIGS else 6) or refused < 3:
        fields = {field: value for field in choices if (value := draw.choice(choices[field])) is not None}
        try:
            calls.append(prepare(family, name, fields))
        except ImportFailure as error:
            assert any(f"'{field}" in str(error) for field in fields), (fields, str(error))
            refused += 1
    compile_together([call.program for call in calls])
    for call in calls:
        call.compare()


@functools.cache
def prepare_all(family: str) -> "dict[int, Call]":
    """The cases of a family, whose programs share most of their kernels."""
    calls = {number: prepare(*case) for number, case in enumerate(CASES) if case[0] == family}
    compile_together([call.program for call in calls.values()])
    return calls


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: "-".join(CASES[number][:2]))
def test_against_the_package(number: int) -> None:
    prepare_all(CASES[number][0])[number].compare()


def output_of(family: str, name: str) -> str:
    """What the class computes."""
    if name.endswith("Model") and "LMHead" not in name:
        return "hidden"
    return "logits" if "logits" in OUTPUTS[family] else OUTPUTS[family][0]


@dataclasses.dataclass
class Call:
    """The program of a saved model, what it is called with, what the package says, and where that is not padding."""

    program: Imported
    given: "list[np.ndarray]"
    wanted: np.ndarray
    valid: Any

    def compare(self) -> None:
        (function,) = compile_together([self.program])
        weights = [self.program.weights[key] for key in re.findall(r'resid\.weight = "([^"]+)"', self.program.text)]
        found = function(*self.given, *weights)
        np.testing.assert_allclose(found[self.valid], self.wanted[self.valid], rtol=1e-4, atol=2e-5)


def prepare(family: str, name: str, fields: "dict[str, Any]") -> Call:
    """Raises ImportFailure where the configuration is refused."""
    model = make(family, name, fields)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        config = read_config(Path(folder) / "config.json")
        text = write_model(family, config, output=output_of(family, name))
        weights = read(Path(folder) / "model.safetensors")
    given, wanted = evaluate(family, model)
    valid = slice(None) if family in ("gpt2", "vit") else MASK.numpy()
    return Call(Imported(text, weights, family.replace("-", "_")), [array.numpy() for array in given], wanted.numpy(), valid)


@pytest.mark.parametrize("family", DECODERS)
def test_with_a_cache(family: str, tmp_path: Path) -> None:
    """One program for a prompt and for single tokens: the package's numbers with its own cache, and the same bits as one call for all
    tokens."""
    name = FAMILIES[family].heads[0]
    model = make(family, name, {})
    model.save_pretrained(tmp_path / "saved")
    config = read_config(tmp_path / "saved" / "config.json")
    text = write_model(family, config, cache=True)
    weights = read(tmp_path / "saved" / "model.safetensors")
    weights = {key: array for key, array in weights.items() if f'"{key}"' in text}
    function = family.replace("-", "_")
    whole = Imported(write_model(family, config), weights, function)
    (at_once,) = run(whole, [IDS.numpy()], tmp_path)
    cached = getattr(resid.compile(text, quiet=True), function)
    named = [weights[key] for key in re.findall(r'resid\.weight = "([^"]+)"', text)]
    sizes = (config.size("num_key_value_heads", 4), 9, config.size("head_dim", 8))
    caches = [np.zeros((2, *sizes), np.float32) for _ in range(2 * config.size("num_hidden_layers"))]
    past, theirs = 0, None
    for count in (4, 1, 2):
        ids = IDS[:, past : past + count]
        with torch.no_grad():
            step = model(input_ids=ids, past_key_values=theirs, use_cache=True)
        theirs = step.past_key_values
        found, *caches = cached(np.ascontiguousarray(ids.numpy()), past, *caches, *named)
        np.testing.assert_allclose(found, step.logits.numpy(), rtol=1e-4, atol=2e-5)
        np.testing.assert_array_equal(found, at_once[:, past : past + count])
        past += count


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
    name = (FAMILIES[family].heads or ("BertModel",))[0]
    model = make(family, name, {})
    fields = {**json.loads(model.config.to_json_string(use_diff=False)), "architectures": [name]}
    output = output_of(family, name)
    plain = write_model(family, fields, output=output)
    _, wanted = evaluate(family, model)
    own = {field.name for field in dataclasses.fields(kind)}
    assert len(own & fields.keys()) > 20
    for field in sorted(own | fields.keys()):
        value = other(fields.get(field))
        try:
            changed = write_model(family, {**fields, field: value}, output=output) != plain
        except ImportFailure as error:
            assert field in str(error), (field, value)
            continue
        if field == "max_position_embeddings" and family in (*DECODERS, "modernbert"):
            continue  # It is a default of rope_parameters, and else a limit of nothing.
        if family == "qwen3" and field in ("max_window_layers", "sliding_window", "use_sliding_window"):
            continue  # The file has layer_types, none of which has a window.
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
