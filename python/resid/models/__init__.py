# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Model presets: programs of known families from config.json, with weights under the names of their checkpoints.

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..importer.errors import FlagError, ModelError, Unsupported
from ..importer.integers import Integers, fit
from .._compiler import PLACEMENTS
from . import bert, compressed, gguf_names, gpt2, hyper, modernbert, vit
from .config import Config, read_config
from .fields import HARMLESS, ONLY
from .gemma3 import Gemma3
from .gpt_oss import GptOss
from .llama import Llama
from .mistral import Mistral
from .olmo2 import Olmo2
from .qwen3 import Qwen3

__all__ = ["FAMILIES", "OUTPUTS", "PLACEMENTS", "Config", "read_config", "write_model", "write_quantised"]


@dataclasses.dataclass(frozen=True)
class Preset:
    """A family. `classes` is how the names of its classes begin. In a checkpoint of one that is not the bare model, `prefix`
    stands before the names of the bare model's weights. `heads` are the classes whose checkpoints give logits. `outputs` is what
    its programs compute; the first one is what they do unless asked otherwise. `decodes`: they may have caches of keys and values,
    or take packs.
    `bare` is the name of the bare model's class, and `model_type` that of config.json, where they are not as usual."""

    write: Callable[..., str]
    classes: str
    prefix: str
    heads: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ("logits", "hidden")
    decodes: bool = False
    bare: str | None = None
    model_type: str | None = None

    def bare_class(self) -> str:
        return self.bare or f"{self.classes}Model"


def _decoder(write: Callable[..., str], classes: str, **others: Any) -> Preset:
    preset = Preset(write, classes, "model.", **{"decodes": True, **others})
    return dataclasses.replace(preset, heads=(f"{classes}ForCausalLM", preset.bare_class()))


FAMILIES = {
    "bert": Preset(bert.write, "Bert", "bert.", outputs=("hidden", "sentence")),
    "gemma3": _decoder(Gemma3.write, "Gemma3", bare="Gemma3TextModel", model_type="gemma3_text"),
    "gpt-oss": _decoder(GptOss.write, "GptOss", model_type="gpt_oss"),
    "gpt2": Preset(gpt2.write, "GPT2", "transformer.", ("GPT2LMHeadModel", "GPT2DoubleHeadsModel", "GPT2Model")),
    "hyper": _decoder(hyper.write, "Hyper", decodes=False),
    "llama": _decoder(Llama.write, "Llama"),
    "mistral": _decoder(Mistral.write, "Mistral"),
    "modernbert": Preset(modernbert.write, "ModernBert", "model.", ("ModernBertForMaskedLM",), ("hidden", "logits")),
    "olmo2": _decoder(Olmo2.write, "Olmo2"),
    "qwen3": _decoder(Qwen3.write, "Qwen3"),
    "vit": Preset(vit.write, "ViT", "vit.", ("ViTForImageClassification",)),
}
OUTPUTS = {family: preset.outputs for family, preset in FAMILIES.items()}


def write_model(
    family: str,
    config: "Config | dict[str, Any]",
    *,
    placement: str | None = None,
    output: str | None = None,
    prefix: str | None = None,
    ignore: Collection[str] = (),
    cache: bool = False,
    packed: bool = False,
    integers: "Mapping[str, Integers] | None" = None,
) -> str:
    """The text of the program of a family, one of FAMILIES.

    `config` has the fields of config.json. `placement` is that of the norms, by default the family's own; norms keep their names
    in the checkpoint, and those that it does not have are named after them. `output` is one of OUTPUTS[family]. `prefix` stands
    before the names of weights, by default that of the class that config.json names. `ignore` names fields that are not covered
    and that change nothing. With `cache`, a decoder takes how many tokens were there before, `past`, and for each layer the
    caches of keys and values [batch, heads, places, size], and returns the latter with this call's tokens after its result. With `packed`, it
    takes several sequences one after the other, [1, tokens], and the number of each token's sequence, `segments`; -1 is padding.
    `integers` are weights of linear layers of a decoder that are stored as integers, by their names in the checkpoint.
    Raises FlagError for these, ModelError for fields that are missing or wrong, Unsupported for fields and values that are not
    covered."""
    if family not in FAMILIES:
        raise FlagError(f"expected one of {', '.join(FAMILIES)}, found '{family}'")
    if placement not in (None, *PLACEMENTS):
        raise FlagError(f"expected a placement of {', '.join(PLACEMENTS)}, found '{placement}'")
    if output not in (None, *OUTPUTS[family]):
        raise FlagError(f"expected an output of {', '.join(OUTPUTS[family])}, found '{output}'")
    config = config if isinstance(config, Config) else Config(config)
    preset = FAMILIES[family]
    for asked, what in ((cache, "cache"), (packed, "pack")):
        if asked and not preset.decodes:
            raise FlagError(f"expected no {what} for '{family}', found one")
    if cache and packed:
        raise FlagError("expected a cache or a pack, found both")
    if integers is not None and not preset.decodes:
        raise Unsupported(f"weights of integers of '{family}'")
    model_type = preset.model_type or family
    if config.get("model_type") not in (None, model_type):
        raise config.wrong("model_type", f"'{model_type}'", ModelError)
    architecture = config.architecture(preset.classes, preset.bare_class())
    is_bare = architecture == preset.bare_class()
    if prefix is None:
        prefix = "" if is_bare else preset.prefix
    if output is None:
        output = "hidden" if is_bare and architecture not in preset.heads else OUTPUTS[family][0]
    if output == "logits" and architecture not in preset.heads:
        raise config.wrong("architectures", f"{preset.heads[0]} for the output logits", Unsupported)
    tokens = "cached" if cache else "packed" if packed else "whole"
    text = preset.write(config, placement, output, prefix, *([tokens, integers] if preset.decodes else []))
    for field, values in ONLY.items():
        config.expect(field, *values)
    config.finish(HARMLESS[family], ignore)
    return text


def write_quantised(
    family: str, config: "Config | dict[str, Any]", path: "str | Path", *, prefix: str | None = None, **options: Any
) -> "tuple[str, dict[str, np.ndarray]]":
    """The program for a file of quantised weights, and the arrays of its weights, by their names. `options` are those of write_model.

    `path` is a GGUF file, or a safetensors file of compressed-tensors, or the index of several. Raises what write_model raises, and FileError, Unsupported and ModelError for the file."""
    config = config if isinstance(config, Config) else Config(config)
    if Path(path).suffix == ".gguf":
        prefix = "model." if prefix is None else prefix
        tensors = gguf_names.read_weights(path, family, config, prefix)
    elif str(path).endswith((".safetensors", ".safetensors.index.json")):
        tensors = compressed.read_weights(path, config)
    else:
        raise FlagError(f"'{path}': expected quantised weights in a file that ends in .gguf, .safetensors or .safetensors.index.json")
    integers = {name: tensor for name, tensor in tensors.items() if isinstance(tensor, Integers)}
    text = write_model(family, config, prefix=prefix, integers=integers, **options)
    wanted = {name: kind for kind, name in re.findall(r'(tensor<[^>]*>) \{resid\.weight = "([^"]*)"\}', text)}
    return text, fit(tensors, wanted, str(path))
