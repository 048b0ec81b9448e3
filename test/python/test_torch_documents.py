# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What docs/pytorch.md shows in Python runs, and so does the notebook, from the first cell to the last.

import json
import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("torch")
ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "examples/pytorch/five_minutes.ipynb"
PAGE = ROOT / "docs/pytorch.md"


def run(code, folder):
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_notebook(tmp_path):
    pytest.importorskip("transformers")
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 14 and all(not cell["outputs"] for cell in cells)
    # PyTorch's own compiler alone would take longer than all tests of this file.
    install, *others = ["".join(cell["source"]) for cell in cells if "slow" not in cell["metadata"].get("tags", [])]
    printed = run("\n".join([*others, "print(program.svg())"]), tmp_path)
    assert "100.0% of the floating-point operations, in 1 programs" in printed and "the same bits" in printed
    assert printed.count("LayerNorm") >= 2 and "no residual stream" not in printed
    assert "one resid.add_norm" in printed and "left" in printed
    *_, wheels = install.splitlines()
    assert wheels.startswith("%pip install ") and wheels.endswith(" resid")
    if (ROOT / "build/wheels").is_dir():
        pip = [sys.executable, "-m", *wheels[1:].split(), "--dry-run", "--ignore-installed"]
        assert subprocess.run(pip, cwd=NOTEBOOK.parent).returncode == 0


def test_page(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    assert len(blocks) == 4
    printed = run("\n".join(blocks), tmp_path)
    assert printed.count("one resid.add_norm") == 2 * 12
