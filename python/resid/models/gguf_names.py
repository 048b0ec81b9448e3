# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tensors of a GGUF file as the weights of a checkpoint: names, and rows of queries and keys in the order of the checkpoint.

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ..importer.errors import ModelError, Unsupported
from ..importer.gguf_reader import read_gguf
from ..importer.integers import Integers
from .config import Config
from .rotary import rotation

# Family: GGUF's architecture, and whether its converter turns the rows of queries and keys.
_ARCHITECTURES = {"llama": ("llama", True), "mistral": ("llama", True), "qwen3": ("qwen3", False)}
_WHOLE = {"token_embd": "embed_tokens", "output_norm": "norm"}
_OF_LAYERS = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
# What the file says of the model, and the field of config.json that has to say the same.
_SAME = {
    "block_count": "num_hidden_layers",
    "embedding_length": "hidden_size",
    "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.layer_norm_rms_epsilon": "rms_norm_eps",
    "attention.sliding_window": "sliding_window",
    "rope.freq_base": "rope_theta",
}


def read_weights(path: "str | Path", family: str, config: Config, prefix: str) -> "dict[str, np.ndarray | Integers]":
    """The tensors under the names of a checkpoint. Raises Unsupported for families that are not covered and tensors that have no
    name there, ModelError where the file is of another model than config.json."""
    if family not in _ARCHITECTURES:
        raise Unsupported(f"'{path}': a GGUF file for '{family}': expected one of {', '.join(_ARCHITECTURES)}")
    metadata, tensors = read_gguf(path)
    architecture, turns = _ARCHITECTURES[family]
    if metadata.get("general.architecture") != architecture:
        raise ModelError(f"'{path}': expected the architecture {architecture}, found {metadata.get('general.architecture')}")
    _compare(path, metadata, architecture, config)
    heads = config.size("num_attention_heads")
    counts = {"attn_q": heads, "attn_k": config.size("num_key_value_heads", heads)}
    weights: dict[str, np.ndarray | Integers] = {}
    refused = []
    for name, tensor in tensors.items():
        own = re.fullmatch(r"(?:blk\.(\d+)\.)?(\w+)\.(weight|bias)", name)
        layer, part, kind = own.groups() if own else (None, "", "")
        known = (_WHOLE if layer is None else _OF_LAYERS).get(part)
        if turns and part in counts and layer is not None:
            tensor = _turned_back(path, name, tensor, counts[part])
        if known is not None:
            weights[f"{prefix}layers.{layer}.{known}.{kind}" if layer is not None else f"{prefix}{known}.{kind}"] = tensor
        elif name == "output.weight":
            weights["lm_head.weight"] = tensor
        elif name == "rope_freqs.weight":
            _compare_rates(path, config, tensor)
        else:
            refused.append(f"'{path}': tensor '{name}': no weight of '{family}' has such a name")
    if refused:
        raise Unsupported(refused[:8])
    if _scaling(config) == "llama3" and "rope_freqs.weight" not in tensors:
        raise ModelError(f"'{path}': expected a tensor 'rope_freqs.weight' for positions that '{config.name}' scales by llama3, found none")
    return weights


def _turned_back(path: "str | Path", name: str, tensor: "np.ndarray | Integers", heads: int) -> "np.ndarray | Integers":
    """Of each head of 2·n rows, the converter has put row n + i behind row i. This takes them apart again."""
    rows = len(tensor.q if isinstance(tensor, Integers) else tensor)
    if rows % (2 * heads):
        raise ModelError(f"'{path}': tensor '{name}' has {rows} rows, expected {heads} heads of even size")
    order = np.arange(rows).reshape(heads, -1, 2).swapaxes(1, 2).reshape(-1)
    return tensor.rows(order) if isinstance(tensor, Integers) else tensor[order]


def _scaling(config: Config) -> str:
    """How config.json scales positions."""
    rule = config.fields.get("rope_parameters") or config.fields.get("rope_scaling")
    return str(rule.get("rope_type", rule.get("type", "none"))) if isinstance(rule, dict) else "none"


def _compare_rates(path: "str | Path", config: Config, factors: "np.ndarray | Integers") -> None:
    """What the file divides the angles of pairs by has to be what config.json says, which the program computes."""
    size = config.size("head_dim", config.size("hidden_size") // config.size("num_attention_heads"))
    scaled, plain = rotation(config, size).rates, rotation(_without_scaling(config), size).rates
    if not isinstance(factors, np.ndarray) or factors.shape != scaled.shape or not np.allclose(plain / factors, scaled, 1e-5, 0):
        raise ModelError(f"'{path}': tensor 'rope_freqs.weight' turns positions in another way than '{config.name}'")


def _without_scaling(config: Config) -> Config:
    theta = (config.fields.get("rope_parameters") or {}).get("rope_theta", config.fields.get("rope_theta"))
    return Config({} if theta is None else {"rope_theta": theta}, config.name)


def _compare(path: "str | Path", metadata: "dict[str, Any]", architecture: str, config: Config) -> None:
    rule = config.fields.get("rope_parameters") or {}
    for name, field in _SAME.items():
        # Fields of config.json are read by the family that has them alone.
        found, own = metadata.get(f"{architecture}.{name}"), config.fields.get(field)
        own = rule.get(field) if own is None and isinstance(rule, dict) else own
        # The file has numbers of f32, or one for each layer. What is no number in config.json is refused by the family.
        if isinstance(own, (int, float)) and found is not None and set(np.ravel(found).astype(np.float32)) != {np.float32(own)}:
            raise ModelError(f"'{path}': {architecture}.{name} is {found}, and '{field}' of '{config.name}' is {own}")
    size = config.size("head_dim", config.size("hidden_size") // config.size("num_attention_heads"))
    for name in ("rope.dimension_count", "attention.key_length", "attention.value_length"):
        if metadata.get(f"{architecture}.{name}", size) != size:
            found = metadata[f"{architecture}.{name}"]
            raise ModelError(f"'{path}': {architecture}.{name} is {found}, and heads of '{config.name}' have {size}")
    kind = _scaling(config)
    kind = "none" if kind in ("default", "llama3") else kind  # of llama3 the file has a tensor of factors
    if metadata.get(f"{architecture}.rope.scaling.type", kind) != kind:
        found = metadata[f"{architecture}.rope.scaling.type"]
        raise ModelError(f"'{path}': {architecture}.rope.scaling.type is {found}, and positions of '{config.name}' are scaled by {kind}")
