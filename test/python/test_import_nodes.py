# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ONNX's own tests of single operators, which the package onnx makes: each is right, or refused as not covered, also where operators are
# written one by one. Those of norms, dropout, GELU, softmax and attention may not be refused.

from __future__ import annotations

import contextlib
import functools
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx, whose tests these are")

import resid  # noqa: E402
from import_support import bytes_of, compile_together, run  # noqa: E402
from resid.importer import Imported, Unsupported, from_onnx  # noqa: E402

TOLERANCES = {"float64": 1e-5, "float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}
FAMILIES = "layer_normalization|rms_normalization|dropout|training_dropout|gelu|softmax|attention"
NAME = re.compile(f"test_({FAMILIES})(_|$)")

# Not covered: part of the name, and part of what the error says.
_TRAINING = ("default", "default_mask", "", "mask", "zero_ratio", "zero_ratio_mask")
REFUSED = {f"test_training_dropout_{name}".rstrip("_"): "training_mode is known at run time only" for name in _TRAINING}


def cases() -> list:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return collect_testcases(None)


CASES = cases()
TOGETHER = 50


@functools.cache
def attempts(number: int) -> dict[tuple[str, bool], Imported | Exception]:
    """Neighbouring cases, imported in both ways, and compiled together: by itself each would take ten times as long."""
    made: dict[tuple[str, bool], Imported | Exception] = {}
    for case in CASES[number * TOGETHER : (number + 1) * TOGETHER]:
        for recognised in (True, False):
            try:
                made[case.name, recognised] = from_onnx(case.model, recognised=recognised)
            except Exception as error:  # noqa: BLE001 - raised by the test of the case
                made[case.name, recognised] = error
    with contextlib.suppress(resid.CompileError):  # each is then compiled by its own test
        compile_together([imported for imported in made.values() if isinstance(imported, Imported)])
    return made


def as_array(value: object) -> np.ndarray:
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


@pytest.mark.parametrize("recognised", [True, False], ids=["recognised", "by-itself"])
@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda index: CASES[index].name)
def test_node(index: int, recognised: bool) -> None:
    case = CASES[index]
    if REFUSED.get(case.name):
        with pytest.raises(Unsupported, match=REFUSED[case.name]):
            from_onnx(case.model)
        return
    imported = attempts(index // TOGETHER)[case.name, recognised]
    if isinstance(imported, Unsupported):
        assert not NAME.match(case.name)
        return
    if isinstance(imported, Exception):
        raise imported
    (kernel,) = compile_together([imported])
    for inputs, outputs in case.data_sets:
        found = kernel(*(bytes_of(as_array(given)) for given in inputs), *imported.weights.values())
        found = found if isinstance(found, (tuple, list)) else [found]
        for result, expected in zip(found, map(as_array, outputs), strict=True):
            tolerance = TOLERANCES.get(str(expected.dtype), 0)
            result = result.view(expected.dtype) if str(expected.dtype) in ("bfloat16", "uint8") else np.asarray(result)
            assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
            if expected.dtype.kind != "b":
                result, expected = result.astype(np.float64), expected.astype(np.float64)
            np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


# Not softmax_large_number: f16 does not tell 10,000 from 10,003.
NARROW = re.compile(
    r"test_(layer_normalization_(2d|3d|4d)_axis\d|rms_normalization_(2d|3d|4d)_axis\d|gelu_|softmax_(?!large_number)|dropout_default$)"
)


def narrow_cases() -> list:
    return [case for case in CASES if NARROW.match(case.name) and "expanded" not in case.name]


@pytest.mark.parametrize("element", ["float16", "bfloat16"])
@pytest.mark.parametrize("case", narrow_cases(), ids=lambda case: case.name)
def test_narrow_types(case: object, element: str, tmp_path: Path) -> None:
    """The same tests with operands in f16 and bf16, which ONNX has of attention only, against the results of f32."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    code = getattr(onnx.TensorProto, element.upper())
    for value in [*model.graph.input, *model.graph.output]:
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT and value.name not in ("Mean", "InvStdDev"):
            value.type.tensor_type.elem_type = code
    dtype = onnx.helper.tensor_dtype_to_np_dtype(code)
    ((inputs, outputs),) = case.data_sets
    given = [np.asarray(array).astype(dtype) for array in inputs]
    found = run(from_onnx(model), given, tmp_path, results=len(outputs))
    for result, expected, value in zip(found, outputs, model.graph.output):
        if value.type.tensor_type.elem_type != code:
            continue  # statistics in f32 of operands that were rounded
        result = (result.view(dtype) if element == "bfloat16" else result).astype(np.float64)
        expected = np.asarray(expected, np.float64)
        np.testing.assert_allclose(result, expected, rtol=TOLERANCES[element], atol=TOLERANCES[element])
