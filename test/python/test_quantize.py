# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# resid.quantize and the command `resid quantize`: integers by the definition, programs that compute with them, factors that leave
# the bits of floats, and what is refused.

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import resid
from resid.cli import main
from resid.importer import FileError, ModelError, write_weights
from resid.importer.errors import FlagError
from resid.importer.weights import read
from resid.quantizing import to_integers

# A pre-norm sub-layer: `up` reads a norm alone, `down` does not, and `head` makes the result. `turned` is [in, out].
PROGRAM = """
func.func @model(%ids: tensor<?xi64>, %table: tensor<10x32xf32> {resid.weight = "table"},
    %gamma: tensor<32xf32> {resid.weight = "gamma"}, %beta: tensor<32xf32> {resid.weight = "beta"},
    %up: tensor<64x32xf32> {resid.weight = "up"}, %bias: tensor<64xf32> {resid.weight = "bias"},
    %down: tensor<64x32xf32> {resid.weight = "down"}, %head: tensor<10x32xf32> {resid.weight = "head"}) -> tensor<?x10xf32> {
  %x = resid.embedding %ids, %table : tensor<?xi64>, tensor<10x32xf32>
  %y = resid.block pre %x norm(layer gamma %gamma : tensor<32xf32> beta %beta : tensor<32xf32> epsilon = 1.0e-5) : tensor<?x32xf32> {
  ^bb0(%h: tensor<?x32xf32>):
    %u = resid.linear %h, %up bias(%bias) : tensor<?x32xf32>, tensor<64x32xf32>, tensor<64xf32>
    %a = resid.activation gelu %u : tensor<?x64xf32>
    %f = resid.linear %a, %down {transposed} : tensor<?x64xf32>, tensor<64x32xf32>
    resid.yield %f : tensor<?x32xf32>
  }
  %z = resid.linear %y, %head : tensor<?x32xf32>, tensor<10x32xf32>
  return %z : tensor<?x10xf32>
}
"""
IDS = {"ids": np.array([3, 1, 4, 1, 5], np.int64)}
SHAPES = {"table": (10, 32), "gamma": (32,), "beta": (32,), "up": (64, 32), "bias": (64,), "down": (64, 32), "head": (10, 32)}


def weights() -> dict[str, np.ndarray]:
    """Column 7 of the norm's result is large, as in trained models."""
    numbers = np.random.default_rng(5)
    found = {name: numbers.standard_normal(shape).astype(np.float32) for name, shape in SHAPES.items()}
    found["gamma"][7] *= 50
    return found


def run(text: str, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    model = resid.compile(text, use_cache=False).model
    return model(IDS["ids"], *(arrays[value.name] for value in model.signature.arguments[1:]))


def unpack(array: np.ndarray) -> np.ndarray:
    """Integers of 4 bits from bytes, in Python's own integers."""
    values = [[half - 16 if half > 7 else half for byte in row for half in (int(byte) & 15, int(byte) >> 4)] for row in array]
    return np.array(values, np.int8)


def test_integers_have_the_bits_of_the_op() -> None:
    rows = np.random.default_rng(2).standard_normal((9, 48)).astype(np.float32)
    rows[0], rows[1, :5], rows[2] = 0, (127, 0.5, 1.5, -2.5, -127), 1e-42
    program = """
    func.func @model(%x: tensor<9x48xf32>) -> (tensor<9x48xi8>, tensor<9xf32>, tensor<9x48xi8>, tensor<9x3xf32>) {
      %q, %s = resid.quantize %x {granularity = row} : tensor<9x48xf32>
      %p, %t = resid.quantize %x {granularity = group 16} : tensor<9x48xf32>
      return %q, %s, %p, %t : tensor<9x48xi8>, tensor<9xf32>, tensor<9x48xi8>, tensor<9x3xf32>
    }"""
    expected = resid.compile(program, use_cache=False).model(rows)
    found = [*to_integers(rows, 8, [9], "x"), *to_integers(rows, 8, [9, 3], "x")]
    assert [array.tobytes() for array in found] == [np.asarray(array).tobytes() for array in expected]
    q, scales = to_integers(np.array([[7, 0.5, 1.5, -7]], np.float32), 4, [1], "x")
    assert q.tolist() == [[7, 0, 2, -7]] and scales.tolist() == [1]


@pytest.mark.parametrize("scheme", ["w8", "w4g16"])
def test_weights_alone(scheme: str) -> None:
    """The program has the bits of floats that are the products of integers and scales."""
    arrays = weights()
    done = resid.quantize(PROGRAM, arrays, scheme)
    assert [(matrix.name, matrix.bits) for matrix in done.matrices] == [("table", 0), ("up", int(scheme[1])), ("down", int(scheme[1])), ("head", 0)]
    rounded = dict(arrays)
    for name, turned in (("up", False), ("down", True)):
        q, scales = done.weights[name], done.weights[f"{name}_scale"]
        q = unpack(q) if scheme.startswith("w4") else q
        assert q.dtype == np.int8 and np.abs(q).max() == (7 if scheme.startswith("w4") else 127)
        product = (q.reshape(*scales.shape, -1).astype(np.float32) * scales[..., None]).reshape(q.shape)
        matrix = next(matrix for matrix in done.matrices if matrix.name == name)
        rounded[name] = np.ascontiguousarray(product.T) if turned else product
        error = np.linalg.norm(rounded[name] - arrays[name]) / np.linalg.norm(arrays[name])
        assert matrix.is_of_weight and 0 < matrix.error == pytest.approx(error, rel=1e-5)
    assert run(done.text, done.weights).tobytes() == run(PROGRAM, rounded).tobytes()


def test_rows_and_weights() -> None:
    """The program has the bits of one that quantises its floats itself, and errors are those of layers on the inputs."""
    arrays = weights()
    done = resid.quantize(PROGRAM, arrays, calibrate=[IDS], include_head=True)
    assert [(matrix.name, matrix.bits, matrix.is_of_weight) for matrix in done.matrices] == [
        ("table", 0, True), ("up", 8, False), ("down", 8, False), ("head", 8, False)]
    written = PROGRAM
    for result, x, weight, more in (("u", "h", "up", " bias(%bias)"), ("f", "a", "down", ""), ("z", "y", "head", "")):
        inputs, outputs = (64, 32) if weight == "down" else (32, 64 if weight == "up" else 10)
        start = written.index(f"%{result} = resid.linear")
        line = written[start : written.index("\n", start)]
        bias = ", tensor<64xf32>" if more else ""
        written = written.replace(line, f"""
          %{x}_q, %{x}_s = resid.quantize %{x} {{granularity = row}} : tensor<?x{inputs}xf32>
          %{weight}_q, %{weight}_s = resid.quantize %{weight} {{granularity = row}} : tensor<{outputs}x{inputs}xf32>
          %{result} = resid.linear %{x}_q, %{weight}_q x_scale(%{x}_s) weight_scale(%{weight}_s){more}
              : tensor<?x{inputs}xi8>, tensor<{outputs}x{inputs}xi8>, tensor<?xf32>, tensor<{outputs}xf32>{bias}""")
    written = written.replace("%down: tensor<64x32xf32>", "%down: tensor<32x64xf32>")
    turned = {**arrays, "down": np.ascontiguousarray(arrays["down"].T)}
    y = run(done.text, done.weights)
    assert y.tobytes() == run(written, turned).tobytes()
    exact = run(PROGRAM, arrays)
    assert 0 < np.linalg.norm(y - exact) / np.linalg.norm(exact) < 0.05
    head = next(matrix for matrix in done.matrices if matrix.name == "head")
    assert 1e-3 < head.error < 2e-2


def test_smoothing_keeps_the_bits() -> None:
    arrays = weights()
    arrays["up"][:, 3] = 0  # has no factor
    plain = resid.quantize(PROGRAM, arrays, calibrate=[IDS])
    smooth = resid.quantize(PROGRAM, arrays, calibrate=[IDS], smooth="norms")
    factors = smooth.original["up"][0] / np.where(arrays["up"][0] == 0, 1, arrays["up"][0])
    assert factors[7] >= 4 and factors[3] == 0 and np.array_equal(np.frexp(factors[factors != 0])[0], np.full(31, 0.5))
    assert smooth.original["gamma"][7] * factors[7] == arrays["gamma"][7] and np.array_equal(smooth.original["down"], arrays["down"])
    assert run(PROGRAM, smooth.original).tobytes() == run(PROGRAM, arrays).tobytes()
    up, down = (next(matrix for matrix in smooth.matrices if matrix.name == name) for name in ("up", "down"))
    assert up.smoothed and up.error < 0.7 * plain.matrices[1].error
    assert not down.smoothed and down.not_smoothed == "expected rows that a norm makes, but got the result of 'resid.activation'"


def test_factors_of_rows() -> None:
    """The residual add reads the norm, too. The values are those of the definition, in NumPy."""
    program = """
    func.func @model(%x: tensor<?x32xf32>, %gamma: tensor<32xf32> {resid.weight = "gamma"}, %w: tensor<32x32xf32> {resid.weight = "w"},
        %v: tensor<64x32xf32> {resid.weight = "v"}) -> (tensor<?x32xf32>, tensor<?x64xf32>) {
      %n = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x32xf32>, tensor<32xf32>
      %f = resid.linear %n, %w : tensor<?x32xf32>, tensor<32x32xf32>
      %y = resid.add %n, %f : tensor<?x32xf32>
      %z = resid.linear %n, %v : tensor<?x32xf32>, tensor<64x32xf32>
      return %y, %z : tensor<?x32xf32>, tensor<?x64xf32>
    }"""
    numbers = np.random.default_rng(6)
    arrays = {name: numbers.standard_normal(shape).astype(np.float32) for name, shape in (("gamma", (32,)), ("w", (32, 32)), ("v", (64, 32)))}
    arrays["gamma"][7] *= 50
    x = numbers.standard_normal((9, 32)).astype(np.float32)
    plain = resid.quantize(program, arrays, calibrate=[{"x": x}], include_head=True)
    done = resid.quantize(program, arrays, calibrate=[{"x": x}], smooth="rows", include_head=True)
    for matrix, before in zip(done.matrices, plain.matrices):
        assert (matrix.factor, matrix.smoothed) == ("w_factor", True) and matrix.error < 0.7 * before.error
        assert matrix.not_smoothed == "expected linear layers as the only readers of the norm, but got 'resid.add'"
        assert matrix.record()["factor"] == "w_factor"
    factor = done.weights["w_factor"]
    assert np.array_equal(np.frexp(factor)[0], np.full(32, 0.5, np.float32)) and factor[7] < factor.max() and done.weights.keys() == {
        "gamma", "w", "v", "w_scale", "v_scale", "w_factor"}
    kernel = resid.compile(done.text, use_cache=False).model
    y, z = kernel(x, *(done.weights[value.name] for value in kernel.signature.arguments[1:]))
    alone = program[: program.index("%f =")] + "return %n : tensor<?x32xf32> }"
    alone = alone.replace("-> (tensor<?x32xf32>, tensor<?x64xf32>)", "-> tensor<?x32xf32>")
    n = resid.compile(alone, use_cache=False).model(x, *(arrays[name] for name in ("gamma", "w", "v")))
    q, rows = to_integers(n * factor, 8, [9], "n")
    for result, name, skip in ((y, "w", n), (z, "v", None)):
        w, columns = to_integers(arrays[name] / factor, 8, [arrays[name].shape[0]], name)
        assert np.array_equal(w, done.weights[name]) and np.array_equal(columns, done.weights[f"{name}_scale"])
        expected = (q.astype(np.int64) @ w.T.astype(np.int64)).astype(np.float32) * (rows[:, None] * columns)
        assert result.tobytes() == (expected if skip is None else skip + expected).tobytes()


# For each program, whose weights are u, v and w of 32x32: why `v` gets no factors.
SHARED = {
    "a weight of two rows": ("""
      %1 = resid.linear %n, %u : tensor<?x32xf32>, tensor<32x32xf32>
      %2 = resid.linear %n, %v : tensor<?x32xf32>, tensor<32x32xf32>
      %3 = resid.linear %1, %u : tensor<?x32xf32>, tensor<32x32xf32>
      %y = resid.add %2, %3 : tensor<?x32xf32>""",
        "expected weights that are read with these rows alone, but got 'u', which is read with others, too"),
    "an unused result": ("""
      %1 = resid.linear %n, %u : tensor<?x32xf32>, tensor<32x32xf32>
      %y = resid.linear %n, %v : tensor<?x32xf32>, tensor<32x32xf32>""",
        "expected used results of layers outside of loops and branches, but got another layer of 'u'"),
    "a loop": ("""
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %2 = resid.linear %n, %v : tensor<?x32xf32>, tensor<32x32xf32>
      %y = scf.for %i = %0 to %1 step %1 iter_args(%a = %2) -> tensor<?x32xf32> {
        %3 = resid.linear %n, %u : tensor<?x32xf32>, tensor<32x32xf32>
        %b = resid.add %a, %3 : tensor<?x32xf32>
        scf.yield %b : tensor<?x32xf32>
      }""", "expected used results of layers outside of loops and branches, but got another layer of 'u'"),
    "a weight in a loop, too": ("""
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %2 = resid.linear %n, %v : tensor<?x32xf32>, tensor<32x32xf32>
      %y = scf.for %i = %0 to %1 step %1 iter_args(%a = %2) -> tensor<?x32xf32> {
        %b = resid.linear %a, %v : tensor<?x32xf32>, tensor<32x32xf32>
        scf.yield %b : tensor<?x32xf32>
      }""", "expected weights that are read with these rows alone, but got 'v', which is read with others, too"),
}


@pytest.mark.parametrize("case", SHARED)
def test_rows_that_share_no_factors(case: str) -> None:
    """The factors would be wrong for a layer that reads the same rows, or the weight with others."""
    layers, reason = SHARED[case]
    program = f"""
    func.func @model(%n: tensor<?x32xf32>, %u: tensor<32x32xf32> {{resid.weight = "u"}}, %v: tensor<32x32xf32> {{resid.weight = "v"}}) -> tensor<?x32xf32> {{
      {layers}
      return %y : tensor<?x32xf32>
    }}"""
    numbers = np.random.default_rng(7)
    arrays = {name: numbers.standard_normal((32, 32)).astype(np.float32) for name in "uv"}
    x = numbers.standard_normal((9, 32)).astype(np.float32)
    x[:, 7] *= 50
    done = resid.quantize(program, arrays, calibrate=[{"n": x}], smooth="rows", include_head=True)
    v = next(matrix for matrix in done.matrices if matrix.name == "v")
    assert (v.factor, v.no_factor, v.record()["no_factor"]) == ("", reason, reason) and "v_factor" not in done.weights
    kernel = resid.compile(done.text, use_cache=False).model
    y, exact = kernel(x, *(done.weights[value.name] for value in kernel.signature.arguments[1:])), resid.compile(program).model(x, *arrays.values())
    error = np.linalg.norm(y - exact) / np.linalg.norm(exact)
    assert done.error == pytest.approx(error, rel=1e-5) == json.loads(done.manifest())["error"] and 1e-4 < error < 0.1


def test_factors_of_blocks() -> None:
    """Names of values come again in each block; the rows are others."""
    block = PROGRAM[PROGRAM.index("  %y ="):PROGRAM.index("  %z =")]
    again = block.replace("%y", "%t").replace("%x", "%y").replace("%up", "%up2").replace("%down", "%down2")
    program = PROGRAM.replace(block, block + again).replace("linear %y, %head", "linear %t, %head").replace(
        "    %down:", '    %up2: tensor<64x32xf32> {resid.weight = "up2"}, %down2: tensor<64x32xf32> {resid.weight = "down2"},\n    %down:')
    arrays = weights()
    arrays |= {"up2": arrays["up"][::-1].copy(), "down2": arrays["down"][::-1].copy()}
    arrays["bias"][3] = 500
    done = resid.quantize(program, arrays, calibrate=[IDS], smooth="rows")
    assert {matrix.name: matrix.factor for matrix in done.matrices if matrix.bits} == {
        name: f"{name}_factor" for name in ("up", "up2", "down", "down2")}
    plain = resid.quantize(program, arrays, calibrate=[IDS])
    assert done.error is not None and plain.error is not None and 0 < done.error < 0.7 * plain.error


def test_functions_agree() -> None:
    """A weight that one function keeps stays as it is in all."""
    other = """
    func.func @other(%x: tensor<64x32xf32>, %up: tensor<64x32xf32> {resid.weight = "up"}) -> tensor<64x32xf32> {
      %y = resid.add %x, %up : tensor<64x32xf32>
      return %y : tensor<64x32xf32>
    }"""
    done = resid.quantize(PROGRAM + other, weights())
    assert {matrix.name: matrix.kept for matrix in done.matrices}["up"] == "expected linear layers as the only readers, but got 'resid.add'"
    assert done.weights["up"].dtype == np.float32 and done.weights["down"].dtype == np.int8
    turned = """
    func.func @turned(%x: tensor<3x64xf32>, %up: tensor<64x32xf32> {resid.weight = "up"}) -> tensor<3x32xf32> {
      %y = resid.linear %x, %up {transposed} : tensor<3x64xf32>, tensor<64x32xf32>
      %z = resid.rms_norm %y {epsilon = 1.0e-5} : tensor<3x32xf32>
      return %z : tensor<3x32xf32>
    }"""
    kept = {matrix.name: matrix.kept for matrix in resid.quantize(PROGRAM + turned, weights()).matrices}
    assert kept["up"] == "expected functions that read the weight in one order, but got [out, in] and [in, out]"
    with pytest.raises(FlagError, match="expected one function with linear layers, but got @model, @third"):
        third = PROGRAM.replace("@model", "@third")
        resid.quantize(PROGRAM + third, weights(), calibrate=[IDS], smooth="norms")


REFUSED: dict[str, tuple[dict, dict, type[Exception], str]] = {
    "scheme": ({}, {"scheme": "w3"}, FlagError, "scheme: expected w8a8, w8, w8gN, w4 or w4gN, where N is even, but got 'w3'"),
    "odd": ({}, {"scheme": "w4g3"}, FlagError, "but got 'w4g3'"),
    "keep": ({}, {"keep": ["upp"]}, FlagError, "keep: expected the name of a weight of the program, but got 'upp'"),
    "smooth": ({}, {"smooth": "norms"}, FlagError, "smooth: expected inputs to calibrate with, but got none"),
    "smooth how": ({}, {"smooth": "all", "calibrate": [IDS]}, FlagError, "smooth: expected norms or rows, but got 'all'"),
    "smooth what": ({}, {"smooth": "rows", "scheme": "w8", "calibrate": [IDS]}, FlagError, "smooth: expected w8a8 beside rows, but got 'w8'"),
    "missing": ({"up": None}, {}, ModelError, "weight 'up': expected it among the weights, but it is not there"),
    "shape": ({"up": np.zeros((64, 31), "f4")}, {}, ModelError, "weight 'up': expected 64x32xf32, but got 64x31xf32"),
    "type": ({"up": np.zeros((64, 32), "f2")}, {}, ModelError, "weight 'up': expected 64x32xf32, but got 64x32xf16"),
    "taken": ({"up_scale": np.zeros(1, "f4")}, {}, ModelError, "weight 'up': expected the name 'up_scale' to be free, but there is such a weight"),
    "nan": ({"up": np.full((64, 32), np.nan, "f4")}, {}, ModelError, "weight 'up': expected finite numbers, but got NaN or an infinity"),
    "input": ({}, {"calibrate": [{"idx": IDS["ids"]}]}, ModelError,
              "calibrate: expected the arguments of a function that are no weights, but got 'idx'; @model takes 'ids'"),
    "no input": ({}, {"calibrate": [{}]}, ModelError, "but got none; @model takes 'ids'"),
}


def test_what_is_not_observed():
    """A layer that nothing reads, beside one that reads its weight in the other order; a program without layers."""
    text = """func.func @f(%x: tensor<2x8xf32>, %w: tensor<8x8xf32> {resid.weight = "w"}) -> tensor<2x8xf32> {
      %d = resid.linear %x, %w {transposed} : tensor<2x8xf32>, tensor<8x8xf32>
      %z = resid.linear %x, %w : tensor<2x8xf32>, tensor<8x8xf32>
      %q = resid.activation relu %z : tensor<2x8xf32>
      return %q : tensor<2x8xf32>
    }"""
    calls = [{"x": np.ones((2, 8), np.float32)}]
    (matrix,) = resid.quantize(text, {"w": np.eye(8, dtype=np.float32)}, calibrate=calls).matrices
    assert "in one order" in matrix.kept
    with pytest.raises(resid.Error, match="expected a program with linear layers of weights, but it has none"):
        resid.quantize("func.func @f(%x: tensor<2x8xf32>) -> tensor<2x8xf32> { return %x : tensor<2x8xf32> }", {}, calibrate=calls)


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    changed, options, error, text = REFUSED[case]
    arrays = {name: array for name, array in (weights() | changed).items() if array is not None}
    with pytest.raises(error) as raised:
        resid.quantize(PROGRAM, arrays, **options)
    assert text in str(raised.value)


def test_groups_that_do_not_fit_stay() -> None:
    done = resid.quantize(PROGRAM, weights(), "w4g64")
    assert {matrix.name: matrix.kept for matrix in done.matrices}["up"] == "expected input features in groups of 64, but got 32"
    assert [matrix.bits for matrix in done.matrices] == [0, 0, 4, 0]


def test_calls_that_overflow_are_no_calibration() -> None:
    program = """func.func @f(%x: tensor<?x4xf32>, %w: tensor<4x4xf32> {resid.weight = "w"}) -> tensor<?x4xf32> {
      %y = resid.linear %x, %w : tensor<?x4xf32>, tensor<4x4xf32>
      return %y : tensor<?x4xf32>
    }"""
    arrays = {"w": np.full((4, 4), 2, np.float32)}
    with pytest.raises(ModelError, match="calibrate: expected inputs with finite outputs of 'w', but got NaN or an infinity"):
        resid.quantize(program, arrays, calibrate=[{"x": np.full((1, 4), 3e38, np.float32)}], include_head=True)
    done = resid.quantize(program, arrays, calibrate=[{"x": np.zeros((0, 4), np.float32)}], smooth="rows", include_head=True)
    assert not done.matrices[0].smoothed and done.error == 0


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.mlir").write_text(PROGRAM)
    arrays = weights()
    write_weights(tmp_path / "model.safetensors", arrays)
    np.savez(tmp_path / "inputs.npz", **IDS)
    command = ["quantize", str(tmp_path / "model.mlir"), f"--weights={tmp_path / 'model.safetensors'}"]
    written = ["-o", str(tmp_path / "q.mlir"), f"--weights-out={tmp_path / 'q.safetensors'}"]
    flags = ["--scheme=w4g32", f"--calibrate={tmp_path / 'inputs.npz'}", "--keep=down"]
    assert main(["quantize", "--smooth", *command[1:], *flags, *written]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "table 10x32: kept: expected linear layers as the only readers, but got 'resid.embedding'"
    assert lines[1].startswith("up 64x32: i4, error of the output ") and lines[1].endswith(", smoothed")
    assert lines.pop().startswith("error of the results: ")
    assert lines[2:] == ["down 64x32: kept: keep names it", "head 10x32: kept: it is that of a head: the function returns what it computes"]
    expected = resid.quantize(PROGRAM, arrays, "w4g32", calibrate=[IDS], keep=["down"], smooth="norms")
    stored = read(tmp_path / "q.safetensors")
    assert stored.keys() == expected.weights.keys() and stored["up"].dtype == np.uint8
    assert all(stored[name].tobytes() == array.tobytes() for name, array in expected.weights.items())
    assert (tmp_path / "q.mlir").read_text() == expected.text
    manifest = json.loads((tmp_path / "q.json").read_text())
    assert (manifest["version"], manifest["scheme"], len(manifest["matrices"])) == (1, "w4g32", 4)
    entry = manifest["matrices"][1]
    assert entry.pop("error") == expected.matrices[1].error
    assert entry == {"name": "up", "shape": [64, 32], "integers": "i4", "scale": "up_scale", "scale_shape": [64, 1], "error_of": "output", "smoothed": True}
    for flags, code, text in (
        ([*written[:1], str(tmp_path / "model.mlir"), written[2]], 2, "expected different files for what is read and what is written"),
        (["--calibrate=in.npz", *written[:2], "--weights-out=in.npz"], 2, "expected different files for what is read and what is written"),
        ([*written, "--scheme=w9"], 2, "scheme: expected w8a8, w8"),
        ([*written, "--smooth"], 2, "smooth: expected inputs to calibrate with"),
        ([*written, "--calibrate=missing.npz"], 3, "'missing.npz' cannot be read: No such file or directory"),
    ):
        assert main([*command, *flags]) == code and text in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main([*command, *written, "--scheme=w8", "--scheme=w4"])
    assert "expected --scheme once, but got 'w8' and 'w4'" in capsys.readouterr().err
    # From standard input, and of arrays in another order.
    turned = resid.quantize(PROGRAM, {name: np.asfortranarray(array) for name, array in arrays.items()}, "w4g32", calibrate=[IDS], keep=["down"], smooth="norms")
    monkeypatch.setattr("sys.stdin", io.StringIO(PROGRAM))
    assert main(["quantize", "-", *command[2:], "--scheme=w4g32", f"--calibrate={tmp_path / 'inputs.npz'}", "--keep=down", "--smooth", *written]) == 0
    assert turned.text == expected.text == (tmp_path / "q.mlir").read_text()
    (tmp_path / "broken.npz").write_text("no archive")
    with pytest.raises(FileError, match="is no .npz file"):
        read(tmp_path / "broken.npz")


HEADERS = {
    "[]": "header: expected an object, but got []",
    "3": "header: expected an object, but got 3",
    '{"w":3}': "tensor 'w': expected an object, but got 3",
    '{"w":{}}': "tensor 'w', dtype: expected the name of a type, but got None",
    '{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,null]}}': "tensor 'w', data_offsets: expected two places in 8 bytes, but got [0, None]",
    '{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}}': "tensor 'w', data_offsets: expected two places in 8 bytes, but got [0, 9]",
    '{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}': "tensor 'w', data_offsets: expected 12 bytes for its shape, but got [0, 8]",
    "[" * 100000: "expected a header of tensors, but got brackets within brackets",
    **{f'{{"w":{{"dtype":"F32","shape":{shape},"data_offsets":[0,0]}}}}': "tensor 'w', shape: expected a list of sizes, but got "
       for shape in ("[-16,-16]", '"aa"', "[16.0,16]", "[true,16]", "[0,9223372036854775807]", f"[0,1{'0' * 30}]", f"[{'1,' * 99}0]", "null")},
}


def test_files_that_are_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is an error by name and by file, and not one of Python's own."""
    path = tmp_path / "w.safetensors"
    for header, text in HEADERS.items():
        path.write_bytes(len(header).to_bytes(8, "little") + header.encode() + bytes(8))
        with pytest.raises(FileError) as raised:
            read(path)
        assert str(raised.value).startswith(f"'{path}' is no safetensors file: {text}"), header[:80]
    np.save(tmp_path / "array.npy", np.zeros(2))
    for data in (b"", b"PK", (tmp_path / "array.npy").read_bytes()):
        (tmp_path / "w.npz").write_bytes(data)
        with pytest.raises(FileError, match="is no .npz file"):
            read(tmp_path / "w.npz")
    for file in ("", ".", ".."):
        assert main(["quantize", "m.mlir", f"--weights={path}", "-o", file, f"--weights-out={tmp_path / 'q.npz'}"]) == 2
        assert f"resid: error: -o: expected the name of a file, but got '{file}'" in capsys.readouterr().err


def test_faults_of_resid_do_not_name_calibration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise resid.InternalError("@model: a fault")

    monkeypatch.setattr("resid.quantizing.quantize", fail)
    (tmp_path / "model.mlir").write_text(PROGRAM)
    np.savez(tmp_path / "w.npz", up=np.zeros((64, 32), np.float32))
    files = ["-o", str(tmp_path / "q.mlir"), f"--weights={tmp_path / 'w.npz'}", f"--weights-out={tmp_path / 'q.npz'}"]
    with pytest.raises(SystemExit):
        main(["quantize", str(tmp_path / "model.mlir"), *files])
    assert "resid: error: @model: a fault" in capsys.readouterr().err
