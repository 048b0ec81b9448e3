# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Model presets: programs of known families from config.json, with weights under the names of their checkpoints.

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from typing import Any

from ..importer.errors import FlagError, ModelError, Unsupported
from .._compiler import PLACEMENTS
from . import bert, gpt2, hyper, llama, vit
from .config import Config, read_config
from .fields import HARMLESS, ONLY

__all__ = ["FAMILIES", "OUTPUTS", "PLACEMENTS", "Config", "read_config", "write_model"]


@dataclasses.dataclass(frozen=True)
class Preset:
    """A family. `classes` is how the names of its classes begin. In a checkpoint of one that is not the bare model, `prefix`
    stands before the names of the bare model's weights. `heads` are the classes whose checkpoints give logits."""

    write: Callable[[Config, "str | None", str, str], str]
    classes: str
    prefix: str
    heads: tuple[str, ...] = ()


FAMILIES = {
    "bert": Preset(bert.write, "Bert", "bert."),
    "gpt2": Preset(gpt2.write, "GPT2", "transformer.", ("GPT2LMHeadModel", "GPT2DoubleHeadsModel", "GPT2Model")),
    "hyper": Preset(hyper.write, "Hyper", "model.", ("HyperForCausalLM", "HyperModel")),
    "llama": Preset(llama.write, "Llama", "model.", ("LlamaForCausalLM", "LlamaModel")),
    "vit": Preset(vit.write, "ViT", "vit.", ("ViTForImageClassification",)),
}
# What a program computes; the first one is what it does unless asked otherwise.
OUTPUTS = {
    "bert": ("hidden", "sentence"),
    "gpt2": ("logits", "hidden"),
    "hyper": ("logits", "hidden"),
    "llama": ("logits", "hidden"),
    "vit": ("logits", "hidden"),
}


def write_model(
    family: str,
    config: "Config | dict[str, Any]",
    *,
    placement: str | None = None,
    output: str | None = None,
    prefix: str | None = None,
    ignore: Collection[str] = (),
) -> str:
    """The text of the program of a family: bert, gpt2, hyper, llama or vit.

    `config` has the fields of config.json. `placement` is that of the norms, by default the family's own; norms keep their names
    in the checkpoint, and those that it does not have are named after them. `output` is one of OUTPUTS[family]. `prefix` stands
    before the names of weights, by default that of the class that config.json names. `ignore` names fields that are not covered
    and that change nothing.
    Raises FlagError for these, ModelError for fields that are missing or wrong, Unsupported for fields and values that are not
    covered."""
    if family not in FAMILIES:
        raise FlagError(f"expected one of {', '.join(FAMILIES)}, found '{family}'")
    if placement not in (None, *PLACEMENTS):
        raise FlagError(f"expected a placement of {', '.join(PLACEMENTS)}, found '{placement}'")
    if output not in (None, *OUTPUTS[family]):
        raise FlagError(f"expected an output of {', '.join(OUTPUTS[family])}, found '{output}'")
    config = config if isinstance(config, Config) else Config(config)
    if config.get("model_type") not in (None, family):
        raise config.wrong("model_type", f"'{family}'", ModelError)
    preset = FAMILIES[family]
    architecture = config.architecture(preset.classes)
    is_bare = architecture == f"{preset.classes}Model"
    if prefix is None:
        prefix = "" if is_bare else preset.prefix
    if output is None:
        output = "hidden" if is_bare and architecture not in preset.heads else OUTPUTS[family][0]
    if output == "logits" and architecture not in preset.heads:
        raise config.wrong("architectures", f"{preset.heads[0]} for the output logits", Unsupported)
    text = preset.write(config, placement, output, prefix)
    for field, values in ONLY.items():
        config.expect(field, *values)
    config.finish(HARMLESS[family], ignore)
    return text
