# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Models after the two optimisers of ONNX Runtime: that of a session, saved to a file, and that of onnxruntime.transformers. Their fused
# operators are taken apart and recognised like those of a plain export.

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch to export models")
onnx = pytest.importorskip("onnx", reason="needs onnx to read models")
onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to optimise models and to compare with")

from import_support import count, run  # noqa: E402
from resid.importer import from_onnx  # noqa: E402
from test_import_onnx import CASES, expected, export  # noqa: E402

# What the optimiser makes of each model; without it the test would test nothing.
SESSION = {
    "bert": {"BiasGelu": 2, "FusedMatMul": 2},
    "gpt": {"FastGelu": 2, "FusedMatMul": 2},
    "llama": {"SimplifiedLayerNormalization": 5, "QuickGelu": 2, "FusedMatMul": 2},
    "vit": {"BiasGelu": 2},
}
TRANSFORMERS = {
    "bert": {"EmbedLayerNormalization": 1, "Attention": 2, "SkipLayerNormalization": 4, "BiasGelu": 2},
    "gpt": {"SkipLayerNormalization": 4, "FastGelu": 2},
    "llama": {"SkipSimplifiedLayerNormalization": 4},
    "vit": {"SkipLayerNormalization": 4, "BiasGelu": 2},
}
KINDS = {"bert": "bert", "gpt": "gpt2", "llama": "gpt2", "vit": "vit"}


def by_session(path: Path, to: Path) -> None:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(to)
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def by_transformers(path: Path, to: Path, name: str) -> None:
    optimizer = pytest.importorskip("onnxruntime.transformers.optimizer", reason="needs onnxruntime.transformers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = optimizer.optimize_model(str(path), model_type=KINDS[name], num_heads=4, hidden_size=32, opt_level=0)
        model.save_model_to_file(str(to))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("optimiser", ["session", "transformers"])
def test_optimised(name: str, optimiser: str, tmp_path: Path) -> None:
    _, inputs, ops = CASES[name]
    plain, path = export(name, dynamo=False, opset=17), tmp_path / "optimised.onnx"
    if optimiser == "session":
        by_session(plain, path)
    else:
        by_transformers(plain, path, name)
    made = Counter(node.op_type for node in onnx.load(str(path)).graph.node)
    wanted = (SESSION if optimiser == "session" else TRANSFORMERS)[name]
    assert {op: made[op] for op in wanted} == wanted
    imported = from_onnx(path)
    (found,) = run(imported, [array.numpy() for array in inputs], tmp_path)
    np.testing.assert_allclose(found, expected(plain, inputs), rtol=1e-5, atol=1e-5)
    # One product gives queries, keys and values where the optimiser has joined them.
    joined = 2 * 2 if "Attention" in wanted else 0
    assert {op: count(imported, f"resid.{op}") for op in ops} == {**ops, "linear": ops["linear"] - joined}
