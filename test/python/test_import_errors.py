# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the command `resid import` answers to ONNX files that are wrong, or not covered: exit codes, messages, and no output.

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx to make files")
from import_support import run  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from resid.cli import main  # noqa: E402
from resid.importer import ModelError, from_onnx  # noqa: E402


def model(
    nodes: list, constants: "dict[str, np.ndarray] | None" = None, dims: tuple = (2, 4), opset: int = 18
) -> "onnx.ModelProto":
    """A model from x to y."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, list(dims)) for name in "xy")
    stored = [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()]
    graph = helper.make_graph(nodes, "g", [x], [y], stored)
    domains = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("mine", 1)]
    return helper.make_model(graph, opset_imports=domains)


def command(path: Path, *flags: str) -> tuple[int, bool]:
    """The exit code, and whether a program was written."""
    output = path.parent / "out.mlir"
    try:
        code = main(["import", str(path), "-o", str(output), *flags])
    except SystemExit as error:
        code = int(error.code or 0)
    return code, output.exists()


def test_every_node_that_is_not_covered_is_named(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    nodes = [
        helper.make_node("Det", ["x"], ["a"], "first"),
        helper.make_node("Own", ["a"], ["b"], "second", domain="mine"),
        helper.make_node("LRN", ["b"], ["c"], size=3),
        helper.make_node("Softmax", ["x"], ["d"], "third", axis=1, mystery=3),
        helper.make_node("Add", ["c", "d"], ["y"], "fine"),
    ]
    onnx.save(model(nodes), tmp_path / "m.onnx")
    assert command(tmp_path / "m.onnx") == (4, False)
    text = capsys.readouterr().err
    for line in ("Det 'first': no such operator", "mine.Own 'second'", "LRN 'c'", "Softmax 'third': attribute mystery"):
        assert f"resid: error: {line}" in text
    assert "fine" not in text


@pytest.mark.parametrize(
    "location", ["../outside.bin", "/etc/hostname", "link/outside.bin", "sub/../../outside.bin", ""]
)
def test_external_data_outside_of_the_folder(location: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    folder = tmp_path / "model"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "outside.bin").write_bytes(np.ones(4, np.float32).tobytes())
    (folder / "link").symlink_to(tmp_path)
    made = external(location, 16)
    (folder / "m.onnx").write_bytes(made.SerializeToString())
    assert command(folder / "m.onnx") == (3, False)
    assert "tensor 'w': expected external data inside of" in capsys.readouterr().err


def external(location: str, length: int, offset: int = 0) -> "onnx.ModelProto":
    made = model([helper.make_node("Add", ["x", "w"], ["y"])], {"w": np.ones(4, np.float32)})
    (tensor,) = made.graph.initializer
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
    return made


def test_external_data_inside(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "w.bin").write_bytes(b"1234" + np.arange(4, dtype=np.float32).tobytes())
    (tmp_path / "m.onnx").write_bytes(external("sub/w.bin", 16, 4).SerializeToString())
    (found,) = run(from_onnx(tmp_path / "m.onnx"), [np.ones((2, 4), np.float32)], tmp_path)
    np.testing.assert_array_equal(found, np.ones((2, 4)) + np.arange(4))


def test_external_data_that_is_too_short(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "w.bin").write_bytes(b"12345678")
    (tmp_path / "m.onnx").write_bytes(external("w.bin", 16).SerializeToString())
    assert command(tmp_path / "m.onnx") == (3, False)
    assert "bytes 0 to 16 of 8" in capsys.readouterr().err


def test_files(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert command(tmp_path / "absent.onnx")[0] == 3
    (tmp_path / "text.onnx").write_text("no protobuf at all")
    assert command(tmp_path / "text.onnx")[0] == 3
    (tmp_path / "empty.onnx").write_bytes(b"")
    assert command(tmp_path / "empty.onnx")[0] == 3
    onnx.save(model([helper.make_node("Relu", ["x"], ["y"])]), tmp_path / "m.onnx")
    assert command(tmp_path / "m.onnx", "--weights=w.bin") == (2, False)
    assert main(["import", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "no" / "out.mlir")]) == 3
    assert "absent.onnx' cannot be read" in capsys.readouterr().err
    for name, wrong, text in ((b"Relu", b"Re\xaf\xaf", "the name of an operator: expected UTF-8"), (b"rows", b"\xa7ows", "a size of input 'x': expected UTF-8")):
        onnx.save(model([helper.make_node("Relu", ["x"], ["y"])], dims=("rows", 4)), tmp_path / "n.onnx")
        (tmp_path / "n.onnx").write_bytes((tmp_path / "n.onnx").read_bytes().replace(name, wrong))
        assert command(tmp_path / "n.onnx") == (1, False) and text in capsys.readouterr().err


def test_flags(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    onnx.save(model([helper.make_node("Relu", ["x"], ["y"])], dims=("rows", 4)), tmp_path / "m.onnx")
    assert command(tmp_path / "m.onnx", "--size=rows=0") == (2, False)
    assert command(tmp_path / "m.onnx", "--sise=rows=3") == (2, False)
    assert command(tmp_path / "m.onnx", "--size=columns=3") == (1, False)
    assert "no size is called 'columns': expected one of rows" in capsys.readouterr().err
    assert command(tmp_path / "m.onnx", "--size=rows=3") == (0, True)
    assert "tensor<3x4xf32>" in (tmp_path / "out.mlir").read_text()


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([helper.make_node("Relu", ["gone"], ["y"])], "Relu 'y': input 'gone' is made by no node"),
        ([helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Relu", ["x"], ["a"])], "output 'a' is made twice"),
        ([helper.make_node("Relu", ["x"], ["a"])], "output 'y' of the model is made by no node"),
        (
            [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]), helper.make_node("Add", ["x", "t"], ["y"])],
            "do not broadcast",
        ),
        (
            [helper.make_node("Transpose", ["x"], ["y"], "turn", perm=[1, 0])],
            "Transpose 'turn': expected tensor<2x4xf32> for 'y', as the exporter recorded it, but got tensor<4x2xf32>",
        ),
        ([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.INT64)], "expected tensor<2x4xf32> for 'y'"),
    ],
)
def test_models_that_are_wrong(nodes: list, message: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "m.onnx").write_bytes(model(nodes).SerializeToString())
    assert command(tmp_path / "m.onnx") == (1, False)
    assert message in capsys.readouterr().err


def test_sizes_that_a_file_records_for_results(tmp_path: Path) -> None:
    """By name, computed, fixed by a flag; what is of no argument says nothing."""
    made = model([helper.make_node("Concat", ["x", "x"], ["y"], axis=0)], dims=("rows", 4))
    size = made.graph.output[0].type.tensor_type.shape.dim[0]
    for recorded, fits in {"2*rows": True, "rows": False, "other": True, "rows + 3": True, "(": True}.items():
        size.dim_param = recorded
        imported = from_onnx(made)
        if fits:
            assert run(imported, [np.ones((3, 4), np.float32)], tmp_path)[0].shape == (6, 4)
        else:
            with pytest.raises(AssertionError, match="RESID_BAD_SHAPE.*expected rows as size 0 of result 'y'"):
                run(imported, [np.ones((3, 4), np.float32)], tmp_path)
    size.dim_param = "2*rows"
    assert "cf.assert" not in from_onnx(made, sizes={"rows": 5}).text
    size.dim_value = 12
    assert run(from_onnx(made, sizes={"rows": 6}), [np.ones((6, 4), np.float32)], tmp_path)[0].shape == (12, 4)
    with pytest.raises(ModelError, match="Concat 'y': expected tensor<12x4xf32> for 'y'"):
        from_onnx(made, sizes={"rows": 5})


def test_weights_are_not_lost_in_silence(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    made = model([helper.make_node("Add", ["x", "w"], ["y"])], {"w": np.ones(4, np.float32)})
    onnx.save(made, tmp_path / "m.onnx")
    assert command(tmp_path / "m.onnx") == (0, True)
    assert "1 weights are not written: give a file with --weights" in capsys.readouterr().err
