# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The table of layers, docs/architecture/layers.json, for those who check includes against it and who draw it.

import json
import pathlib


def read_layers(root):
    """By folder: the entry of the table, in its order."""
    text = (pathlib.Path(root) / "docs" / "architecture" / "layers.json").read_text(encoding="utf-8")
    return {layer["folder"]: layer for layer in json.loads(text)["layers"]}


def layer_of(path, layers):
    """The layer that owns a file: the longest folder that the path begins with. None for what has no layer."""
    owners = [folder for folder in layers if path.startswith(folder + "/")]
    return max(owners, key=len, default=None)
