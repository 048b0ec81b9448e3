# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Whole models, exported to ONNX by torch and imported, against ONNX Runtime: encoders and decoders, several opsets, both exporters,
# with and without recognition.

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch to export models")
onnx = pytest.importorskip("onnx", reason="needs onnx to read models")
pytest.importorskip("onnxscript", reason="needs onnxscript, by which torch exports models")
onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to compare with")

import import_models as models  # noqa: E402
import resid  # noqa: E402
from import_support import count, run, tool  # noqa: E402
from resid.importer import Imported, from_onnx  # noqa: E402

IDS = torch.tensor([[5, 3, 8, 59, 0, 7, 2], [1, 1, 2, 3, 5, 8, 13]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]])
IMAGES = torch.linspace(-1, 1, 2 * 3 * 16 * 16).reshape(2, 3, 16, 16)

# Model, inputs, and how often ops stand in the imported program: norms, activations, attention, linear layers.
CASES = {
    "bert": (models.Bert, (IDS, MASK), {"layer_norm": 5, "activation": 2, "attention": 2, "linear": 12}),
    "gpt": (models.Gpt, (IDS,), {"layer_norm": 5, "activation": 2, "attention": 2, "linear": 9}),
    "llama": (models.Llama, (IDS,), {"rms_norm": 5, "activation": 2, "attention": 2, "linear": 15}),
    "vit": (models.ViT, (IMAGES,), {"layer_norm": 5, "activation": 2, "attention": 2, "linear": 10}),
}


FOLDER = tempfile.TemporaryDirectory()


@functools.cache
def export(name: str, *, dynamo: bool, opset: int) -> Path:
    """The model as an ONNX file, which several tests read; batch and length are open."""
    make, inputs, _ = CASES[name]
    path = Path(FOLDER.name) / f"{name}-{dynamo}-{opset}.onnx"
    names = ["images"] if name == "vit" else ["ids", "mask"][: len(inputs)]
    axes = {0: "batch"} if name == "vit" else {0: "batch", 1: "tokens"}
    settings: dict = {"input_names": names, "opset_version": opset, "dynamo": dynamo}
    if dynamo:
        dims = {axis: torch.export.Dim(dim) for axis, dim in axes.items()}
        settings["dynamic_shapes"] = tuple(dims for _ in inputs)
        settings["verbose"] = False
    else:
        settings["dynamic_axes"] = {name: axes for name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(models.randomised(make()), inputs, str(path), **settings)
    return path


def expected(path: Path, inputs: tuple) -> np.ndarray:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {value.name: array.numpy() for value, array in zip(session.get_inputs(), inputs)})[0]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("exporter", ["torchscript-14", "torchscript-17", "dynamo-18", "dynamo-23"])
def test_exported(name: str, exporter: str, tmp_path: Path) -> None:
    """Values within 1e-5 of ONNX Runtime's, and everything recognised."""
    kind, opset = exporter.split("-")
    _, inputs, ops = CASES[name]
    path = export(name, dynamo=kind == "dynamo", opset=int(opset))
    imported = from_onnx(path)
    (found,) = run(imported, [array.numpy() for array in inputs], tmp_path)
    np.testing.assert_allclose(found, expected(path, inputs), rtol=1e-5, atol=1e-5)
    assert {op: count(imported, f"resid.{op}") for op in ops} == ops


@pytest.mark.parametrize("name", CASES)
def test_each_operator_by_itself(name: str, tmp_path: Path) -> None:
    """The same values without recognition: what is recognised is judged by what it stands for."""
    _, inputs, _ = CASES[name]
    path = export(name, dynamo=False, opset=17)
    imported = from_onnx(path, recognised=False)
    assert count(imported, "resid.attention") == 0
    (found,) = run(imported, [array.numpy() for array in inputs], tmp_path)
    np.testing.assert_allclose(found, expected(path, inputs), rtol=1e-5, atol=1e-5)


def test_another_length(tmp_path: Path) -> None:
    """Open sizes are those of the call, not those of the export."""
    path = export("bert", dynamo=True, opset=18)
    inputs = (torch.arange(33).reshape(3, 11) % 60, torch.ones(3, 11, dtype=torch.int64))
    (found,) = run(from_onnx(path), [array.numpy() for array in inputs], tmp_path)
    np.testing.assert_allclose(found, expected(path, inputs), rtol=1e-5, atol=1e-5)


def test_fixed_sizes(tmp_path: Path) -> None:
    path = export("bert", dynamo=True, opset=18)
    imported = from_onnx(path, sizes={"batch": 2, "tokens": 7})
    assert "?" not in imported.text
    (found,) = run(imported, [IDS.numpy(), MASK.numpy()], tmp_path)
    np.testing.assert_allclose(found, expected(path, (IDS, MASK)), rtol=1e-5, atol=1e-5)


def weight_names(text: str) -> set[str]:
    return set(re.findall(r'resid\.weight = "([^"]*)"', text))


def test_names_and_bits_survive_a_conversion(tmp_path: Path) -> None:
    """Imported BERT is post-norm; post_shifted has the same bits, and each weight its name. GPT-2 becomes post-norm."""
    imported = from_onnx(export("bert", dynamo=False, opset=17))
    given = [IDS.numpy(), MASK.numpy()]
    (expected_bits,) = run(imported, given, tmp_path)
    converted = tmp_path / "converted.mlir"
    residc = [tool("residc"), str(tmp_path / "model.mlir"), "--emit=mlir", "-o", str(converted)]
    subprocess.run([*residc, "--placement=post_shifted"], check=True)
    text = converted.read_text()
    assert weight_names(text) == set(imported.weights)
    (found,) = run(Imported(text, imported.weights, imported.function), given, tmp_path)
    np.testing.assert_array_equal(found, expected_bits)

    imported = from_onnx(export("gpt", dynamo=False, opset=17))
    (tmp_path / "model.mlir").write_text(imported.text)
    subprocess.run([*residc, "--placement=post"], check=True, capture_output=True)
    dropped = {"norm.weight", "norm.bias"}  # post has no final norm
    assert weight_names(converted.read_text()) >= set(imported.weights) - dropped


def test_names_survive_prepare(tmp_path: Path) -> None:
    """Weights that a pass packs are asked of prepare under the names that they had."""
    imported = from_onnx(export("bert", dynamo=False, opset=17))
    (tmp_path / "model.mlir").write_text(imported.text)
    passes = ["--keep-argument-names", "--resid-inline-calls", "--resid-pack-weights"]
    command = [tool("resid-opt"), str(tmp_path / "model.mlir"), *passes]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    prepare = next(line for line in text.splitlines() if f"func.func @{imported.function}_prepare" in line)
    assert sum(imported.weights[name].ndim == 2 for name in weight_names(prepare)) == 12
    assert weight_names(text) == set(imported.weights)


def test_weights_are_one_struct(tmp_path: Path) -> None:
    imported = from_onnx(export("vit", dynamo=False, opset=17))
    (tmp_path / "model.mlir").write_text(imported.text)
    flags = ["--weights-struct", "-o", str(tmp_path / "model.o"), f"--header={tmp_path / 'model.h'}"]
    subprocess.run([tool("residc"), str(tmp_path / "model.mlir"), *flags], check=True)
    members = re.findall(r"/\* \"(.*)\": f32", (tmp_path / "model.h").read_text())
    assert set(members) == set(imported.weights)


def builder_model() -> "onnx.ModelProto":
    """A layer of attention with a cache, as ONNX Runtime's model builder writes it: numbers of keys follow from the mask."""
    from onnx import TensorProto, helper

    def value(name: str, kind: int, *dims: "int | str") -> "onnx.ValueInfoProto":
        return helper.make_tensor_value_info(name, kind, dims)

    caches = [("past", "past_length"), ("present", "total_length")]
    kept = {what: [value(f"{what}.{x}", TensorProto.FLOAT, "batch", 2, length, 16) for x in "kv"] for what, length in caches}
    nodes = [
        helper.make_node("ReduceSum", ["mask", "axis"], ["counts"], keepdims=0),
        helper.make_node("Sub", ["counts", "one"], ["last"]),
        helper.make_node("Cast", ["last"], ["seqlens"], to=TensorProto.INT32),
        helper.make_node("Shape", ["mask"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["total_long"], axis=0),
        helper.make_node("Cast", ["total_long"], ["total"], to=TensorProto.INT32),
        helper.make_node(
            "GroupQueryAttention", ["x", "", "", "past.k", "past.v", "seqlens", "total", "cos", "sin"], ["y", "present.k", "present.v"],
            domain="com.microsoft", num_heads=4, kv_num_heads=2, do_rotary=1, local_window_size=5,
        ),
    ]  # fmt: skip
    angles = np.arange(32)[:, None] / 7 * 0.3 ** np.arange(8)[None, :]
    stored = {"axis": np.array([1]), "one": np.array(1), "cos": np.float32(np.cos(angles)), "sin": np.float32(np.sin(angles))}
    graph = helper.make_graph(
        nodes, "layer",
        [value("x", TensorProto.FLOAT, "batch", "length", 128), value("mask", TensorProto.INT64, "batch", "total_length"), *kept["past"]],
        [value("y", TensorProto.FLOAT, "batch", "length", 64), *kept["present"]],
        [onnx.numpy_helper.from_array(array, name) for name, array in stored.items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def test_generation_with_a_cache_of_the_model_builder() -> None:
    """A prompt and three tokens, of samples with the same number of tokens and with others; and calls that fit no cache."""
    model = builder_model()
    imported = from_onnx(model)
    layer = resid.compile(imported.text).model
    weights = list(imported.weights.values())
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    random = np.random.default_rng(3)
    for lengths in ([6, 6], [6, 2], [6]):
        batch = len(lengths)
        caches, held = [np.zeros((batch, 2, 0, 16), np.float32)] * 2, np.zeros((batch, 0), np.int64)
        for step, count in enumerate((6, 1, 1, 1)):
            x = random.standard_normal((batch, count, 128)).astype(np.float32)
            seen = np.array([[int(i < length) for i in range(6)] for length in lengths]) if step == 0 else np.ones((batch, 1), int)
            held = np.concatenate([held, seen], 1)
            given = dict(zip(("x", "mask", "past.k", "past.v"), (x, held, *caches)))
            y, *grown = session.run(None, given)
            found, *kept = outs = [np.empty_like(array) for array in (y, *grown)]
            layer(*given.values(), *weights, out=outs)
            for b, total in enumerate(held.sum(1)):
                rows = min(count, total)  # those after are of no token
                np.testing.assert_allclose(found[b, :rows], y[b, :rows], rtol=1e-5, atol=1e-5)
                for ours, theirs in zip(kept, grown):
                    np.testing.assert_allclose(ours[b, :, :total], theirs[b, :, :total], rtol=1e-5, atol=1e-5)
            caches = grown
    x, caches = np.zeros((2, 1, 128), np.float32), [np.zeros((2, 2, 4, 16), np.float32)] * 2
    outs = [np.empty((2, 1, 64), np.float32), *(np.empty((2, 2, 5, 16), np.float32) for _ in range(2))]
    with pytest.raises(resid.ShapeError):
        layer(x, np.ones((2, 7), np.int64), *caches, *weights, out=outs)
    with pytest.raises(resid.RangeError):
        layer(x, np.zeros((2, 5), np.int64), *caches, *weights, out=outs)
