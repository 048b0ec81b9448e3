# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The types of the packages: their sources have them everywhere, and they reach the programs of users.

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

if not importlib.util.find_spec("mypy"):
    pytest.skip("needs mypy", allow_module_level=True)
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import resid

kernels = resid.compile("block.mlir", placement="pre", wrt=[0], schedule={"rows": "batched"})
reveal_type(kernels)
reveal_type(kernels.block)
reveal_type(kernels.block.signature)
y, s = kernels.block(1, 2.0, out=None, threads=2)
kernels.save("libk.so", header="k.h")
for kernel in resid.load("libk.so"):
    print(kernel.name)
"""
MISTAKE = """
import resid

resid.compile("block.mlir", placment="pre")
resid.compile("block.mlir").block(1, threads="2")
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What mypy says of sources and programs, in one run, which reads the packages that they import once."""
    folder = tmp_path_factory.mktemp("types")
    for name, text in (("good.py", PROGRAM), ("bad.py", MISTAKE)):
        (folder / name).write_text(text)
    core = [f"resid/{name}.py" for name in ("__init__", "cache", "compiling", "errors", "options")]
    runtime = [path for path in (ROOT / "python/runtime/resid_runtime").glob("*.py*") if path.suffix in (".py", ".pyi")]
    torch = [f"resid/torch/{name}.py" for name in ("attention", "backend", "graphs", "partition", "pieces")] if importlib.util.find_spec("torch") else []
    has_readers = all(map(importlib.util.find_spec, ("ml_dtypes", "numpy", "onnx", "torch")))
    importer = sorted((ROOT / "python/resid/importer").glob("*.py")) if has_readers else []
    paths = os.pathsep.join(str(ROOT / path) for path in ("python", "python/runtime"))
    command = [sys.executable, "-m", "mypy", "--python-version=3.10", "--follow-imports=silent", f"--cache-dir={folder}", "--strict",
               *core, *sorted(runtime), *torch, *importer, folder / "good.py", folder / "bad.py"]
    done = subprocess.run(command, cwd=ROOT / "python", env=dict(os.environ, MYPYPATH=paths), capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr  # there are mistakes, and nothing keeps mypy from finding them
    assert f"checked {len([*core, *runtime, *torch, *importer]) + 2} source files" in done.stdout
    lines = done.stdout.splitlines()
    bad = [line for line in lines if "bad.py:" in line]
    return "\n".join(bad), "\n".join(line for line in lines[:-1] if line not in bad)


def test_sources_are_typed(said):
    assert "error: " not in said[1]


def test_programs_see_the_types(said):
    bad, others = said
    for name in ("resid.compiling.Module", "resid_runtime.kernel.Kernel", "resid_runtime.signature.Signature"):
        assert f'Revealed type is "{name}"' in others
    assert 'Unexpected keyword argument "placment"' in bad and 'Argument "threads"' in bad
