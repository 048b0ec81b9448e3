# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What `resid model` answers to fields of config.json: each is understood, harmless, or an error that names it. No tracebacks.

from __future__ import annotations

import json
from pathlib import Path

import pytest
from resid.cli import main
from resid.importer.errors import FlagError, ImportFailure
from resid.models import FAMILIES, write_model
from resid.models.fields import ONLY

import preset_configs

_WIDE = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 1, "intermediate_size": 48}
CONFIGS: "dict[str, dict]" = {
    **preset_configs.CONFIGS,
    "bert": {
        **_WIDE, "architectures": ["BertForMaskedLM"], "vocab_size": 60, "max_position_embeddings": 40, "type_vocab_size": 2
    },  # fmt: skip
    "gpt2": {
        "architectures": ["GPT2LMHeadModel"], "n_layer": 1, "n_embd": 32, "n_head": 4, "vocab_size": 60, "n_positions": 40
    },  # fmt: skip
    "hyper": {**_WIDE, "architectures": ["HyperForCausalLM"], "vocab_size": 60, "connection": "mhc"},
    "llama": {**_WIDE, "architectures": ["LlamaForCausalLM"], "vocab_size": 60, "num_key_value_heads": 2},
    "vit": {**_WIDE, "architectures": ["ViTForImageClassification"], "image_size": 16, "patch_size": 4},
}
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}


def text(family: str, **fields: object) -> str:
    return write_model(family, {**CONFIGS[family], **fields})


def refuse(family: str, field: str, **fields: object) -> str:
    """The message about these fields, which has to name `field`."""
    with pytest.raises(ImportFailure, match=f"'{field}") as caught:
        text(family, **fields)
    return str(caught.value)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_not_understood_is_named(family: str) -> None:
    assert refuse(family, "mystery", mystery=3) == "'config': field 'mystery' is not covered; it is 3"
    both = refuse(family, "mystery", mystery=3, quantization_config={"bits": 4})
    assert len(both.splitlines()) == 2 and "'quantization_config' is not covered" in both
    for field, value in (("sliding_window", 128), ("embedding_multiplier", 2.0), ("pruned_heads", {"0": [1]}),
                         ("add_cross_attention", True), ("is_encoder_decoder", True)):  # fmt: skip
        if field not in CONFIGS[family] and (family, field) != ("qwen3", "sliding_window"):
            refuse(family, field, **{field: value})
    plain = text(family)
    assert text(family, mystery=None, initializer_range=7.0, eos_token_id=[1, 2], pruned_heads={}) == plain
    assert write_model(family, {**CONFIGS[family], "mystery": 3}, ignore=["mystery"]) == plain
    for field in ("architectures", "initializer_range", "nowhere"):
        with pytest.raises(FlagError, match=f"'{field}' cannot be ignored"):
            write_model(family, {**CONFIGS[family], "initializer_range": 1.0}, ignore=[field])


@pytest.mark.parametrize(
    ("family", "field", "values"),
    [
        ("bert", "position_embedding_type", ["relative_key", "rope"]),
        ("bert", "is_decoder", [True]),
        ("bert", "hidden_act", ["quick_gelu", "gelu_10", None, ["gelu"], 3]),
        ("bert", "layer_norm_eps", ["1e-5", -1e-5, None, float("nan"), float("inf"), 10**400, True]),
        ("gpt2", "scale_attn_weights", [False]),
        ("gpt2", "scale_attn_by_inverse_layer_idx", [True]),
        ("gpt2", "is_causal", [False]),
        ("gpt2", "n_inner", [0, "64", 64.0]),
        ("gpt2", "hidden_size", [64]),
        ("gpt2", "n_embd", ["32", None, -32, 0, 32.0, True, 2**31, 30]),
        ("hyper", "connection", ["hyper", None, ["mhc"], 3]),
        ("hyper", "hc_version", ["linear", None, 2]),
        ("hyper", "hc_mult", [0, 8, "4", 4.0, True]),
        ("hyper", "hc_sinkhorn_iters", [0, 1001, "20"]),
        ("hyper", "hc_eps", [-1e-6, "1e-6", float("nan")]),
        ("hyper", "hc_magnitude", [1.0]),
        ("llama", "hidden_act", ["relu", "quick_gelu"]),
        ("llama", "attention_bias", [1, None, "false"]),
        ("llama", "num_key_value_heads", [3, "2"]),
        ("llama", "partial_rotary_factor", [0.5]),
        ("llama", "rope_interleaved", [True]),
        ("llama", "rope_theta", [0, -1.0, "10000"]),
        ("llama", "rope_scaling", [3, "linear", [1], {"type": "dynamic", "factor": 2.0}]),
        ("llama", "layer_types", [["sliding_attention"]]),
        ("gemma3", "attn_logit_softcapping", [50.0]),
        ("gemma3", "use_bidirectional_attention", [True]),
        ("gemma3", "sliding_window", [0, None, "4"]),
        ("gemma3", "layer_types", [["full_attention"] * 2, ["chunked_attention"], "sliding_attention", [["sliding_attention"]]]),
        ("gemma3", "rope_parameters", [{"rope_theta": 1e6}, {"sliding_attention": {"rope_type": "dynamic", "factor": 2.0}}]),
        ("gpt-oss", "num_local_experts", [2, 0, "1"]),
        ("gpt-oss", "num_experts_per_tok", [4]),
        ("gpt-oss", "rope_parameters", [None]),
        ("gpt-oss", "swiglu_limit", [0, -1.0]),
        ("mistral", "attention_bias", [True]),
        ("modernbert", "layer_types", [["full_attention", "full_attention"]]),
        ("modernbert", "hidden_activation", ["relu"]),
        ("olmo2", "head_dim", [7]),
        ("qwen3", "head_dim", [None, 0]),
        ("qwen3", "layer_types", [["sliding_attention"]]),
        ("vit", "head_dim", [16]),
        ("vit", "qkv_bias", [None]),
        ("vit", "image_size", [[16], [16, 16, 16], [16, "16"], 18, [16, 18]]),
        ("vit", "id2label", [["a", "b"]]),
        ("vit", "num_labels", [0, "2"]),
    ],
)  # fmt: skip
def test_values_that_are_refused(family: str, field: str, values: list) -> None:
    for value in values:
        refuse(family, field, **{field: value})
    fields = {name: value for name, value in CONFIGS[family].items() if name not in ("num_key_value_heads", "image_size")}
    if field in fields:
        with pytest.raises(ImportFailure, match=f"'{field}': expected .*, found none"):
            write_model(family, {name: value for name, value in fields.items() if name != field})


def test_rope_parameters() -> None:
    def rope(**fields: object) -> str:
        return text("llama", rope_parameters=fields)

    plain, far = text("llama"), text("llama", rope_theta=500000.0)
    assert rope(rope_type="default", rope_theta=10000.0) == plain != far
    assert rope(rope_type="default", rope_theta=500000.0) == rope(rope_theta=500000) == far
    assert text("llama", rope_theta=500000.0, rope_parameters={"rope_type": "default", "partial_rotary_factor": 1.0}) == far
    for kind, values in (("linear", {"factor": 4.0}), ("llama3", LLAMA3)):
        scaled = rope(rope_type=kind, rope_theta=500000.0, **values)
        assert scaled == text("llama", rope_theta=500000.0, rope_scaling={"type": kind, **values})
        assert scaled not in (plain, far)
    # The length that was trained with is that of the model, where the rule does not say.
    short = {name: value for name, value in LLAMA3.items() if not name.startswith("original")}
    assert rope(rope_type="llama3", **LLAMA3) == text(
        "llama", max_position_embeddings=64, rope_parameters={"rope_type": "llama3", **short}
    )
    for field, fields in (
        ("rope_parameters.rope_type", {"rope_type": "proportional", "factor": 4.0}),
        ("rope_parameters.factor", {"rope_type": "yarn"}),
        ("rope_parameters.beta_fast", {"rope_type": "yarn", "factor": 4.0, "beta_fast": -1}),
        ("rope_parameters.beta_fast", {"rope_type": "linear", "factor": 4.0, "beta_fast": 32.0}),
        ("rope_parameters.rope_type", {"rope_type": "dynamic", "factor": 4.0}),
        ("rope_parameters.type", {"rope_type": "default", "type": "linear", "factor": 4.0}),
        ("rope_parameters.factor", {"rope_type": "linear"}),
        ("rope_parameters.factor", {"rope_type": "linear", "factor": "4"}),
        ("rope_parameters.factor", {"rope_type": "linear", "factor": 0}),
        ("rope_parameters.factor", {"rope_type": "default", "factor": 4.0}),
        ("rope_parameters.low_freq_factor", {"rope_type": "llama3", "factor": 4.0}),
        ("rope_parameters.high_freq_factor", {"rope_type": "llama3", **LLAMA3, "high_freq_factor": 1.0}),
        ("rope_parameters.partial_rotary_factor", {"rope_type": "default", "partial_rotary_factor": 0.5}),
        ("rope_parameters.attention_factor", {"rope_type": "linear", "factor": 4.0, "attention_factor": 2.0}),
        ("rope_parameters.full_attention", {"full_attention": {"rope_type": "default"}}),
    ):
        refuse("llama", field.replace(".", r"\."), rope_parameters=fields)
    refuse("llama", "rope_theta", rope_theta=1e4, rope_parameters={"rope_theta": 5e5})
    refuse("llama", "rope_scaling", rope_scaling={"type": "linear", "factor": 2.0}, rope_parameters={"rope_theta": 5e5})


def test_architectures() -> None:
    for family in FAMILIES:
        for value in (["LlamaForCausalLM", "Other"], "LlamaForCausalLM", [3], {}, ["Other"], ["TFBertModel"]):
            refuse(family, "architectures", architectures=value)
        refuse(family, "model_type", model_type="mixtral")
    for family in ("gpt2", "llama", "vit"):
        refuse(family, "architectures", architectures=[f"{FAMILIES[family].classes}ForTokenClassification"])
        assert text(family, architectures=[f"{FAMILIES[family].classes}Model"])
    for architectures in (None, []):
        assert 'resid.weight = "wte.weight"' in text("gpt2", architectures=architectures)


@pytest.mark.parametrize(
    ("family", "bare", "name"),
    [
        ("bert", "BertModel", "embeddings.LayerNorm.weight"),
        ("gpt2", "GPT2Model", "wte.weight"),
        ("llama", "LlamaModel", "norm.weight"),
        ("vit", "ViTModel", "layernorm.weight"),
    ],
)
def test_prefixes(family: str, bare: str, name: str) -> None:
    """Weights have the names of the class that the checkpoint was saved from, or those that the caller says."""
    prefix = FAMILIES[family].prefix
    assert f'resid.weight = "{prefix}{name}"' in text(family)
    assert f'resid.weight = "{name}"' in text(family, architectures=[bare])
    assert f'resid.weight = "my.{name}"' in write_model(family, CONFIGS[family], prefix="my.")
    assert f'resid.weight = "{name}"' in write_model(family, CONFIGS[family], prefix="")


def test_no_value_ends_in_a_traceback() -> None:
    """Odd values in every field that there is, one at a time: a program, or an error that names the field."""
    odd = [None, True, False, 0, -1, 3, 2**70, 1.5, -0.0, float("nan"), "", "x", [], [1], [[]], {}, {"a": 1}, {"rope_type": []}]
    rope = {"rope_theta": 1e4, "rope_parameters": {"rope_theta": 1e4, "rope_type": "linear", "factor": 2.0}}
    hyper = {"hc_mult": 4, "hc_eps": 1e-6, "hc_sinkhorn_iters": 20, "hc_version": "softmax"}
    more = {"llama": rope, "hyper": hyper}
    for family in FAMILIES:
        config = {**CONFIGS[family], "dtype": "float32", "id2label": {"0": "a"}, **more.get(family, {})}
        for field in [*config, *ONLY, "rope_scaling", "head_dim", "tie_word_embeddings", "hidden_act"]:
            for value in odd:
                try:
                    write_model(family, {**config, field: value})
                except ImportFailure as error:
                    assert f"'{field}" in str(error) or "hidden_size" in str(error), (family, field, value, str(error))


def test_tied_and_types() -> None:
    for family, tied in (("gpt2", True), ("llama", False)):
        assert ('"lm_head.weight"' in text(family)) is not tied
        assert ('"lm_head.weight"' in text(family, tie_word_embeddings=not tied)) is tied
    assert "xbf16>" in text("bert", dtype="bfloat16") == text("bert", torch_dtype="bfloat16", dtype="bfloat16")
    refuse("bert", "torch_dtype", torch_dtype="float16", dtype="float32")
    for value in ("auto", "int8", ["float32"], {"": "float32"}, 16):
        refuse("bert", "torch_dtype", torch_dtype=value)
    assert text("vit", image_size=[16, 16], patch_size=(4, 4)) == text("vit")
    assert "tensor<?x3x16x24xf32>" in text("vit", image_size=[16, 24], patch_size=[4, 8])
    refuse("vit", "num_labels", num_labels=2, id2label={"0": "a"})


def test_files(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Exit codes of the command, and messages without a traceback."""
    path, output = tmp_path / "config.json", tmp_path / "m.mlir"

    def command(contents: bytes, *flags: str) -> tuple[int, str]:
        path.write_bytes(contents)
        code = main(["model", "llama", f"--config={path}", "-o", str(output), *flags])
        return code, capsys.readouterr().err

    good = json.dumps(CONFIGS["llama"]).encode()
    for contents, message in (
        (b"", "is no JSON file"),
        (b"{", "is no JSON file"),
        (b"\xff\xfe", "is no JSON file"),
        (b"[" * 100000, "lie too deep in each other"),
        (b"[1, 2]", "expected an object, found [1, 2]"),
        (b"null", "expected an object, found null"),
        (b'{"rope_theta": 1, "rope_theta": 2}', "the field 'rope_theta' is there twice"),
    ):
        code, said = command(contents)
        assert code == 3 and message in said and said.startswith("resid: error: '"), said
    assert not output.exists()
    assert command(good)[0] == 0
    with_field = good[:-1] + b', "mystery": {"a": 1}}'
    assert command(with_field) == (4, f"resid: error: '{path}': field 'mystery' is not covered; it is {{\"a\": 1}}\n")
    assert command(with_field, "--ignore=mystery")[0] == 0
    assert command(good, "--ignore=mystery")[0] == 2
    assert command(good, "--prefix=x.")[0] == 0 and '"x.norm.weight"' in output.read_text()


def test_caches_and_packs_are_of_decoders() -> None:
    for family, flag, what in (("bert", "cache", "cache"), ("hyper", "packed", "pack")):
        with pytest.raises(FlagError, match=f"expected no {what} for '{family}'"):
            write_model(family, CONFIGS[family], **{flag: True})
    with pytest.raises(FlagError, match="expected a cache or a pack, found both"):
        write_model("llama", CONFIGS["llama"], cache=True, packed=True)
