# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Model presets: programs of known families from config.json, with weights under the names of their checkpoints.

from __future__ import annotations

from typing import Any

from ..importer.errors import FlagError, ModelError
from . import bert, gpt2, llama, vit
from .config import Config, read_config
from .layers import PLACEMENTS

__all__ = ["FAMILIES", "OUTPUTS", "PLACEMENTS", "Config", "read_config", "write_model"]

FAMILIES = {"bert": bert.write, "gpt2": gpt2.write, "llama": llama.write, "vit": vit.write}
# What a program computes; the first one is what it does unless asked otherwise.
OUTPUTS = {
    "bert": ("hidden", "sentence"),
    "gpt2": ("logits", "hidden"),
    "llama": ("logits", "hidden"),
    "vit": ("logits", "hidden"),
}


def write_model(
    family: str, config: "Config | dict[str, Any]", *, placement: str | None = None, output: str | None = None
) -> str:
    """The text of the program of a family: bert, gpt2, llama or vit.

    `config` has the fields of config.json. `placement` is that of the norms, by default the family's own; norms keep their names
    in the checkpoint, and those that it does not have are named after them. `output` is one of OUTPUTS[family].
    Raises FlagError for these, ModelError for fields that are missing or wrong, Unsupported for values that are not covered."""
    if family not in FAMILIES:
        raise FlagError(f"expected one of {', '.join(FAMILIES)}, found '{family}'")
    if placement not in (None, *PLACEMENTS):
        raise FlagError(f"expected a placement of {', '.join(PLACEMENTS)}, found '{placement}'")
    output = output or OUTPUTS[family][0]
    if output not in OUTPUTS[family]:
        raise FlagError(f"expected an output of {', '.join(OUTPUTS[family])}, found '{output}'")
    config = config if isinstance(config, Config) else Config(config)
    found = config.fields.get("model_type")
    if found not in (None, family):
        raise ModelError(f"'{config.name}': field 'model_type': expected '{family}', found {found!r}")
    return FAMILIES[family](config, placement, output)
