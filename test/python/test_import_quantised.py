# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Models that ONNX Runtime's own tools quantise: dynamic, static in both formats, and weights alone. Results are compared bit by bit with
# onnx's reference, which computes each operator by itself, and with ONNX Runtime.

from __future__ import annotations

import itertools
import logging
import platform
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx to make models")
onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to quantise models and to compare with")

from import_support import compile_together  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static  # noqa: E402
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer  # noqa: E402
from resid.importer import Imported, Unsupported, from_onnx  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.standard_normal((7, 64)).astype(np.float32)
# On x86 without VNNI, ONNX Runtime's sums saturate, unless weights keep to 7 bits (reduce_range).
SATURATES = platform.machine() == "x86_64" and "vnni" not in Path("/proc/cpuinfo").read_text()
BYTES = [(QuantType.QUInt8, QuantType.QInt8), (QuantType.QInt8, QuantType.QInt8), (QuantType.QUInt8, QuantType.QUInt8)]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two linear layers, a bias and an activation in f32."""
    path = tmp_path_factory.mktemp("models") / "plain.onnx"
    weights = {"w1": (64, 96), "b1": (96,), "w2": (96, 32)}
    stored = [numpy_helper.from_array((RNG.standard_normal(dims) / 8).astype(np.float32), name) for name, dims in weights.items()]
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["a"]),
        helper.make_node("Add", ["a", "b1"], ["b"]),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("MatMul", ["c", "w2"], ["y"]),
    ]
    arguments, results = ([helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size])] for name, size in (("x", 64), ("y", 32)))
    graph = helper.make_graph(nodes, "g", arguments, results, stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    logging.getLogger().setLevel(logging.ERROR)
    return path


class Samples(CalibrationDataReader):
    def __init__(self) -> None:
        self.rest = [{"x": RNG.standard_normal((7, 64)).astype(np.float32)} for _ in range(4)]

    def get_next(self) -> "dict[str, np.ndarray] | None":
        return self.rest.pop() if self.rest else None


def by_onnxruntime(path: Path, *, optimised: bool = True) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, {"x": X})[0]


def check(paths: "list[Path]", *, optimised: bool = True, reference: bool = True) -> "list[Imported]":
    """Compares the bits of all."""
    programs = [from_onnx(path) for path in paths]
    for path, imported, function in zip(paths, programs, compile_together(programs)):
        found = np.asarray(function(X, *imported.weights.values()))
        if not SATURATES or "weight_scale" in imported.text:
            np.testing.assert_array_equal(found, by_onnxruntime(path, optimised=optimised), err_msg=path.name)
        if reference:
            np.testing.assert_array_equal(found, ReferenceEvaluator(str(path)).run(None, {"x": X})[0], err_msg=path.name)
    return programs


def has(path: Path, op: str) -> bool:
    return op in {node.op_type for node in onnx.load(path).graph.node}


def elements(imported: Imported) -> set[str]:
    return {str(array.dtype) for array in imported.weights.values() if array.ndim == 2 and len(array) > 1}


def test_dynamic(plain: Path, tmp_path: Path) -> None:
    paths = []
    for weights, per_channel in itertools.product((QuantType.QInt8, QuantType.QUInt8), (False, True)):
        paths.append(tmp_path / f"dynamic_{weights}_{per_channel}.onnx")
        quantize_dynamic(plain, paths[-1], weight_type=weights, per_channel=per_channel)
        assert has(paths[-1], "DynamicQuantizeLinear")
    assert [elements(imported) for imported in check(paths)] == [{"int8"}] * 4


def test_an_encoder(tmp_path: Path) -> None:
    """Dynamic, with tables of bytes. Sums of floats in another order may lie on the other side of a step between two bytes."""
    pytest.importorskip("torch", reason="needs torch to export models")
    from test_import_onnx import CASES, export

    path, (_, inputs, _) = tmp_path / "encoder.onnx", CASES["bert"]
    quantize_dynamic(export("bert", dynamo=False, opset=17), path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    given = [array.numpy() for array in inputs]
    imported = from_onnx(path)
    (function,) = compile_together([imported])
    found = np.asarray(function(*given, *imported.weights.values()))
    (wanted,) = session.run(None, dict(zip([value.name for value in session.get_inputs()], given)))
    np.testing.assert_allclose(found, wanted, atol=1e-2 if not SATURATES else 0.1)
    assert sum(line.startswith("  ") and "xi8>, tensor<" in line and "ins(" in line for line in imported.text.split("\n")) == 12


@pytest.mark.parametrize("form", [QuantFormat.QDQ, QuantFormat.QOperator], ids=["QDQ", "QOperator"])
def test_static(plain: Path, tmp_path: Path, form: QuantFormat) -> None:
    """Sums are those of integers in both formats. One operator at a time, QDQ is computed in floats, and results differ by one step
    at most."""
    paths = []
    for (rows, weights), per_channel in itertools.product(BYTES, (False, True)):
        paths.append(tmp_path / f"static_{rows}_{weights}_{per_channel}.onnx")
        quantize_static(
            plain, paths[-1], Samples(), quant_format=form, op_types_to_quantize=["MatMul"], per_channel=per_channel,
            activation_type=rows, weight_type=weights,
        )  # fmt: skip
        assert has(paths[-1], "QLinearMatMul" if form == QuantFormat.QOperator else "DequantizeLinear")
    for imported in check(paths):
        assert elements(imported) == {"int8"} and imported.text.count("arith.addi") in (2, 4)
    by_themselves = [from_onnx(path, recognised=False) for path in paths]
    for path, imported, function in zip(paths, by_themselves, compile_together(by_themselves)):
        wanted = ReferenceEvaluator(str(path)).run(None, {"x": X})[0]
        step = np.diff(np.unique(wanted)).min()
        assert np.abs(np.asarray(function(X, *imported.weights.values())) - wanted).max() <= step * 1.01


@pytest.mark.parametrize("form", [QuantFormat.QOperator, QuantFormat.QDQ], ids=["QOperator", "QDQ"])
def test_weights_alone(plain: Path, tmp_path: Path, form: QuantFormat) -> None:
    """ONNX Runtime's optimiser makes rows of QDQ bytes, too (accuracy level 4), so that it is compared without."""
    cases = list(itertools.product((4, 8) if form == QuantFormat.QOperator else (4,), (True, False)))
    paths = [tmp_path / f"bits_{bits}_{symmetric}.onnx" for bits, symmetric in cases]
    is_operator = form == QuantFormat.QOperator
    for path, (bits, symmetric) in zip(paths, cases):
        quantizer = MatMulNBitsQuantizer(onnx.load(plain), bits=bits, block_size=32, is_symmetric=symmetric, quant_format=form)
        quantizer.process()
        quantizer.model.save_model_to_file(str(path))
        assert has(path, "MatMulNBits" if is_operator else "DequantizeLinear")
    for imported, (bits, symmetric) in zip(check(paths, optimised=is_operator, reference=not is_operator), cases):
        assert imported.text.count("resid.linear") == 2 and imported.text.count("xi4>") == (4 if bits == 4 else 0)
        assert imported.text.count("weight_zero") == (0 if symmetric else 2)


def product(of_rows: bool, **weight: object) -> "onnx.ModelProto":
    """x times a constant [32, 6] of DequantizeLinear, turned or not, with the attributes of that."""
    turned = weight.pop("turned", False)
    q, scale, zero, attributes = (weight.pop(name, None) for name in ("q", "scale", "zero", "attributes"))
    assert not weight
    stored = [numpy_helper.from_array(array, name) for name, array in (("q", q), ("scale", scale), ("zero", zero)) if array is not None]
    stored.append(numpy_helper.from_array(np.array(0.05, np.float32), "step"))
    inputs = ["q", "scale", *(["zero"] if zero is not None else [])]
    nodes = [helper.make_node("DequantizeLinear", inputs, ["w"], **(attributes or {}))]
    nodes += [helper.make_node("QuantizeLinear", ["x", "step"], ["b"]), helper.make_node("DequantizeLinear", ["b", "step"], ["a"])]
    nodes.append(helper.make_node("Gemm", ["a" if of_rows else "x", "w"], ["y"], transB=int(bool(turned))))
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [7, size]) for name, size in (("x", 64), ("y", 6))]
    graph = helper.make_graph(nodes if of_rows else [nodes[0], nodes[3]], "g", info[:1], info[1:], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def matrix(kind: str, turned: bool) -> np.ndarray:
    dtype = onnx.helper.tensor_dtype_to_np_dtype(getattr(TensorProto, kind.upper()))
    low = 0 if kind[0] == "u" else -8 if kind.endswith("4") else -128
    return RNG.integers(low, low + (16 if kind.endswith("4") else 256), (6, 64) if turned else (64, 6)).astype(dtype)


LAYOUTS = {
    "whole": ((), {}),
    "columns": ((6,), {}),
    "blocks": ((4, 6), {"block_size": 16}),
    "rows": ((64,), {}),  # no layer of integers has a scale for each of its terms
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_constant_matrices(layout: str) -> None:
    """Each layout of parameters, in all types: the values of a product in f64, and integers wherever these are the same function."""
    dims, attributes = LAYOUTS[layout]
    axis = {"columns": 1, "blocks": 0, "rows": 0, "whole": 1}[layout]
    cases = list(itertools.product(("int8", "uint8", "int4", "uint4"), *[(False, True)] * 3))
    models, wanted = [], []
    for kind, turned, of_rows, zeros in cases:
        q = matrix(kind, turned)
        scale = (np.abs(RNG.standard_normal(dims)) + 0.01).astype(np.float32)
        zero = RNG.integers(0, 8, dims).astype(q.dtype) if zeros else None
        given = [part.T if turned and part is not None and part.ndim == 2 else part for part in (scale, zero)]
        models.append(product(of_rows, q=q, scale=np.array(given[0]), zero=None if zero is None else np.array(given[1]), turned=turned,
                              attributes={"axis": 1 - axis if turned else axis, **attributes}))  # fmt: skip
        w = (q.T if turned else q).astype(np.float64) - (0 if zero is None else spread(zero.astype(np.float64), layout))
        x = np.clip(np.rint(X / np.float32(0.05)), 0, 255).astype(np.float64) * np.float32(0.05) if of_rows else X.astype(np.float64)
        wanted.append(x @ (w * spread(scale.astype(np.float64), layout)))
    programs = [from_onnx(model) for model in models]
    for (kind, _, of_rows, _), imported, function, right in zip(cases, programs, compile_together(programs), wanted):
        found = np.asarray(function(X, *imported.weights.values()))
        np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-5 * np.abs(right).max())
        is_sum, is_layer = "arith.addi" in imported.text, "weight_scale" in imported.text
        assert is_sum == (of_rows and layout in ("whole", "columns"))
        assert is_layer == (not is_sum and layout != "rows")
        assert not is_layer or ("xi4>" in imported.text) == kind.endswith("4")


def spread(parameters: np.ndarray, layout: str) -> np.ndarray:
    return parameters[:, None] if layout == "rows" else np.repeat(parameters, 16, 0) if layout == "blocks" else parameters


def test_what_is_not_covered_is_named() -> None:
    q = np.zeros((64, 6), np.int8)
    model = product(False, q=q, scale=np.ones((), np.float32))
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(q.astype(np.int16), "q"))
    with pytest.raises(Unsupported, match="DequantizeLinear 'w': element type int16|elements of i16"):
        from_onnx(model)


def test_bytes_are_taken_by_few_operators() -> None:
    """Others would take them for numbers with signs."""
    info = [helper.make_tensor_value_info(name, TensorProto.UINT8, [3]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Max", ["x", "x"], ["y"])], "g", info[:1], info[1:])
    with pytest.raises(Unsupported, match="Max 'y': elements of u8"):
        from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))
