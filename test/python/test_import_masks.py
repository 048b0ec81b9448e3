# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Attention that is recognised, with masks of every form and with rows that are masked everywhere: the numbers are ONNX Runtime's. A score
# of -10,000 or of the lowest finite number leaves the mean of the values there, -Inf leaves NaN, and PyTorch's guard zeros.

from __future__ import annotations

import itertools

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx to make models")
onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to compare with")

import resid  # noqa: E402
from import_support import compile_together  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402
from resid.importer import from_onnx  # noqa: E402

RNG = np.random.default_rng(0)
Q, K, V = (RNG.standard_normal(dims) for dims in ((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4)))
SHAPES = [(2, 1, 1, 5), (2, 1, 3, 5), (3, 5), (5,)]


def node(op: str, inputs: str, output: str, **attributes: object) -> "onnx.NodeProto":
    return helper.make_node(op, inputs.split(), [output], **attributes)


def model(form: str, guarded: bool, given: dict, stored: dict, sizes: dict) -> "onnx.ModelProto":
    masked = {"choice": node("Where", "m s filler", "w"), "sum": node("Add", "s m", "w")}
    weights = [node("Softmax", "w", "p", axis=-1)]
    if guarded:
        weights = [node("Softmax", "w", "p0", axis=-1), node("IsNaN", "p0", "nan"), node("Where", "nan zero p0", "p")]
    nodes = [
        node("Transpose", "k", "kt", perm=[0, 1, 3, 2]),
        node("MatMul", "q kt", "s0"),
        node("Mul", "s0 scale", "s"),
        masked[form],
        *weights,
        node("MatMul", "p v", "y"),
    ]
    arguments = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), sizes.get(name, array.shape))
        for name, array in given.items()
    ]
    constants = [numpy_helper.from_array(array, name) for name, array in stored.items()]
    graph = helper.make_graph(nodes, "g", arguments, [onnx.ValueInfoProto(name="y")], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


@pytest.mark.parametrize("filler", ["-10000", "lowest", "-inf", "-1000"])
@pytest.mark.parametrize(("form", "guarded"), [*itertools.product(["choice", "sum"], [False, True])])
@pytest.mark.parametrize("element", ["float32", "float16"])
def test_masked_rows(element: str, form: str, guarded: bool, filler: str) -> None:
    dtype = np.dtype(element)
    number = dtype.type(np.finfo(dtype).min if filler == "lowest" else float(filler))
    programs, calls = [], []
    for shape, constant in itertools.product(SHAPES, [False, True]):
        for keys in ("some", "none", "not the first row"):
            mask = RNG.random(shape) > 0.4
            mask[..., 0] = True
            if keys != "some":
                mask[(slice(None),) * (mask.ndim - 2) + ((0,) if keys != "none" and mask.ndim > 1 else ())] = False
            added = np.where(mask, dtype.type(0), number)
            given = {name: array.astype(dtype) for name, array in (("q", Q), ("k", K), ("v", V))}
            stored = {"scale": dtype.type(0.5), "filler": number, "zero": dtype.type(0)}
            (stored if constant else given)["m"] = mask if form == "choice" else added
            made = model(form, guarded, given, {name: np.asarray(array) for name, array in stored.items()}, {})
            options = onnxruntime.SessionOptions()
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
            (expected,) = session.run(None, given)
            imported = from_onnx(made)
            assert ("resid.attention" in imported.text) == (form == "sum" or filler != "-1000")
            programs.append(imported)
            calls.append(([*given.values(), *imported.weights.values()], expected, f"{shape} {constant} {keys}"))
    tolerance = 1e-3 if filler == "-10000" and form == "sum" else 1e-5  # a sum near -10,000 is rounded to 1e-3
    tolerance = tolerance if element == "float32" else 4e-3
    for function, (arguments, expected, name) in zip(compile_together(programs), calls):
        np.testing.assert_allclose(function(*arguments), expected, rtol=tolerance, atol=tolerance, err_msg=name)


def test_what_is_known_to_see_a_key_costs_nothing() -> None:
    """Rows of a constant triangle that begin at its first key."""
    triangle = np.tril(np.ones((1, 1, 16, 16), bool))
    given = {name: np.zeros((1, 2, 3, 4), np.float32) for name in "qkv"}
    stored = {"scale": np.array(0.5, np.float32), "filler": np.array(-1e4, np.float32)}
    made = model("choice", False, given, {**stored, "all": triangle}, {name: [1, 2, "n", 4] for name in given})
    cut = [node("Shape", "q", "n", start=2, end=3), helper.make_node("Slice", ["all", "zero2", "nn", "axes"], ["m"])]
    made.graph.initializer.extend(
        [numpy_helper.from_array(np.array([0, 0]), "zero2"), numpy_helper.from_array(np.array([2, 3]), "axes")]
    )
    nodes = [cut[0], node("Concat", "n n", "nn", axis=0), cut[1], *made.graph.node]
    del made.graph.node[:]
    made.graph.node.extend(nodes)
    text = from_onnx(made).text
    assert "resid.attention" in text and "arith.select" not in text


@pytest.mark.parametrize("rank", [0, 1, 4, 5])
def test_a_scale_gives_its_dimensions(rank: int) -> None:
    given = {name: array.astype(np.float32) for name, array in (("q", Q), ("k", K), ("v", V), ("m", np.zeros(5)))}
    made = model("sum", False, given, {"scale": np.full((1,) * rank, 0.5, np.float32)}, {})
    (expected,) = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, given)
    imported = from_onnx(made)
    assert ("resid.attention" in imported.text) == (rank < 5)
    found = resid.compile(imported.text)[imported.function](*given.values(), *imported.weights.values())
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("attributes", "clauses"),
    [
        ({"softcap": 0.5}, {"cap"}),
        ({"softcap": -0.5}, None),
        ({"is_causal": 1, "left_window_size": 1}, {"causal", "window"}),
        ({"is_causal": 1, "left_window_size": 0, "softcap": 2.0}, {"causal", "window", "cap"}),
        ({"left_window_size": 1, "right_window_size": 1}, {"window"}),
        ({"left_window_size": 1, "right_window_size": 2}, {"mask"}),
        ({"left_window_size": 2}, {"mask"}),
    ],
)
def test_caps_and_windows_are_clauses(attributes: dict, clauses: set | None) -> None:
    """Of ONNX's Attention, where resid.attention has a word for them; the others stay a mask, or steps."""
    given = {name: array.astype(np.float32) for name, array in (("q", Q), ("k", K), ("v", V))}
    arguments = [helper.make_tensor_value_info(name, 1, array.shape) for name, array in given.items()]
    graph = helper.make_graph([node("Attention", "q k v", "y", **attributes)], "g", arguments, [onnx.ValueInfoProto(name="y")])
    imported = from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10))
    line = next((line for line in imported.text.splitlines() if "resid.attention" in line), None)
    found = None if line is None else {word for word in ("causal", "window", "cap", "mask") if f" {word}" in line or f"{{{word}" in line}
    assert found == clauses
    scores, cap = Q @ K.swapaxes(-1, -2) / 2, attributes.get("softcap", 0.0)
    scores = cap * np.tanh(scores / cap) if cap else scores
    distance = np.arange(5) - np.arange(3)[:, None]
    upper = 0 if attributes.get("is_causal") else attributes.get("right_window_size", 5)
    scores[..., (distance > upper) | (-distance > attributes.get("left_window_size", 5))] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ V
    result = resid.compile(imported.text)[imported.function](*given.values())
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
