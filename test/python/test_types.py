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


def check(*arguments, folder):
    paths = os.pathsep.join(str(ROOT / path) for path in ("python", "python/runtime"))
    command = [sys.executable, "-m", "mypy", "--python-version=3.10", "--follow-imports=silent", f"--cache-dir={folder}", *arguments]
    return subprocess.run(command, cwd=ROOT / "python", env=dict(os.environ, MYPYPATH=paths), capture_output=True, text=True)


def test_sources_are_typed(tmp_path):
    core = [f"resid/{name}.py" for name in ("__init__", "cache", "compiling", "errors", "options")]
    runtime = sorted(str(path) for path in (ROOT / "python/runtime/resid_runtime").glob("*.py*") if path.suffix in (".py", ".pyi"))
    torch = [f"resid/torch/{name}.py" for name in ("backend", "graphs", "partition", "pieces")] if importlib.util.find_spec("torch") else []
    has_readers = all(map(importlib.util.find_spec, ("ml_dtypes", "numpy", "onnx", "torch")))
    importer = sorted(map(str, (ROOT / "python/resid/importer").glob("*.py"))) if has_readers else []
    done = check("--strict", *core, *runtime, *torch, *importer, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_programs_see_the_types(tmp_path):
    (tmp_path / "good.py").write_text(PROGRAM)
    (tmp_path / "bad.py").write_text(MISTAKE)
    good = check(str(tmp_path / "good.py"), folder=tmp_path)
    assert good.returncode == 0, good.stdout + good.stderr
    for name in ("resid.compiling.Module", "resid_runtime.kernel.Kernel", "resid_runtime.signature.Signature"):
        assert f'Revealed type is "{name}"' in good.stdout
    bad = check(str(tmp_path / "bad.py"), folder=tmp_path)
    assert bad.returncode == 1 and 'Unexpected keyword argument "placment"' in bad.stdout and "threads" in bad.stdout
