# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every operator that the importer covers, against ONNX Runtime, or onnx's reference where ONNX Runtime has no kernel: attributes,
# edges of shapes, all element types, all versions of ONNX from 13 on, operands as inputs and as constants, sizes known and open.
# The cases of each operator stand in operator_cases.py.

from __future__ import annotations

import dataclasses
import itertools
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx to make models")
onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to compare with")

import resid  # noqa: E402
from onnx import defs, helper, numpy_helper  # noqa: E402
from import_support import bytes_of, compile_together  # noqa: E402
from operator_cases import CASES, Case  # noqa: E402
from resid.importer import Imported, Unsupported, from_onnx  # noqa: E402
from resid.importer.contrib import RULES  # noqa: E402
from resid.importer.emit import HANDLERS  # noqa: E402

OPSETS = range(13, 23)
TOLERANCES = {"float64": 1e-5, "float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}
TYPES = {f"tensor({name})": name.upper() for name in ("float16", "double", "bfloat16", "bool", "int8", "uint8", "int16", "int32", "int64")}


def operators() -> list[str]:
    return sorted({name for name in HANDLERS if not name.startswith("resid.")} | set(RULES))


def test_every_operator_has_cases() -> None:
    assert sorted(CASES) == operators()


def is_onnx(op: str) -> bool:
    return "." not in op and defs.has(op)


@lru_cache
def versions(op: str) -> list[int]:
    """The opsets from 13 to 22 that define the operator anew, or the one that first does."""
    if not is_onnx(op):
        return [18]
    known = [n for n in OPSETS if defs.has(op, n, "")]
    if not known:
        return [defs.get_schema(op).since_version]
    return [n for n in known if n == known[0] or defs.get_schema(op, n, "").since_version == n]


def make_model(op: str, case: Case, inputs: Sequence, opset: int, form: str) -> "onnx.ModelProto":
    """`form`: "static", "open" sizes, or "constants", where all operands but the first are stored in the model, and "folded", where
    the first is too."""
    name = op.removeprefix("com.microsoft.")
    domain = "" if is_onnx(op) or op == "SimplifiedLayerNormalization" else "com.microsoft"
    arguments, stored = [], []
    for index, array in enumerate(inputs):
        if array is None:
            continue
        if index in case.fixed or (form == "constants" and index) or form == "folded":
            stored.append(numpy_helper.from_array(array, f"i{index}"))
        else:
            dims = [f"n{size}" if form == "open" and size != 1 else size for size in array.shape]
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            arguments.append(helper.make_tensor_value_info(f"i{index}", kind, dims))
    names = ["" if array is None else f"i{index}" for index, array in enumerate(inputs)]
    results = [f"o{index}" for index in range(case.results)]
    attributes = {
        key: numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value
        for key, value in case.attributes.items()
    }
    node = helper.make_node(name, names, results, domain=domain, **attributes)
    outputs = [onnx.ValueInfoProto(name=result) for result in results]
    graph = helper.make_graph([node], "g", arguments, outputs, stored)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def expected(model: "onnx.ModelProto", given: dict[str, np.ndarray]) -> "list[np.ndarray] | None":
    """What ONNX says; None where it refuses the model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    narrow = any("bfloat16" in str(array.dtype) for array in given.values())
    try:
        if not narrow:
            content, providers = model.SerializeToString(), ["CPUExecutionProvider"]
            return onnxruntime.InferenceSession(content, options, providers=providers).run(None, given)
    except Exception:  # noqa: BLE001, S110
        pass
    try:
        from onnx.reference import ReferenceEvaluator

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [np.asarray(result) for result in ReferenceEvaluator(model).run(None, given)]
    except Exception:  # noqa: BLE001
        return None


@dataclasses.dataclass
class Call:
    """A program, and what it is called with."""

    imported: Imported
    given: list[np.ndarray]
    wanted: list[np.ndarray]
    form: str


def prepare(op: str, case: Case, inputs: Sequence, opset: int, form: str, *, must: bool) -> Call | None:
    """Imports a model. `must`: the importer may not refuse it. None where it does, or where nothing says what is right."""
    model = make_model(op, case, inputs, opset, form)
    given = {value.name: inputs[int(value.name[1:])] for value in model.graph.input}
    wanted = expected(model, given) if case.right is None else [np.asarray(right) for right in case.right]
    try:
        imported = from_onnx(model)
    except resid.importer.ImportFailure as error:
        if wanted is not None and not case.refused:
            assert isinstance(error, Unsupported) and not must, error
        if case.refused:
            assert case.refused in str(error)
        return None
    assert not case.refused, "expected a refusal"
    return None if wanted is None else Call(imported, [*map(bytes_of, given.values()), *imported.weights.values()], wanted, form)


def check(calls: Iterable[Call | None]) -> None:
    """Compares values, shapes and types."""
    made = [call for call in calls if call]
    for call, function in zip(made, compile_together([call.imported for call in made]), strict=True):
        kinds = [bytes_of(right).dtype.str if right.dtype.kind != "V" else np.uint16 for right in call.wanted]
        outs = [np.empty(right.shape, kind) for right, kind in zip(call.wanted, kinds)]
        try:
            function(*call.given, out=outs)
        except (resid.ShapeError, resid.RangeError):
            assert call.form == "open"  # an open size does not broadcast, and nothing is cut at an open end
            continue
        for result, right in zip(outs, call.wanted, strict=True):
            result = result.view(right.dtype) if str(right.dtype) in ("bfloat16", "uint8") else np.asarray(result)
            assert (str(result.dtype), result.shape) == (str(right.dtype), right.shape)
            tolerance = TOLERANCES.get(str(right.dtype), 0)
            kind = np.float64 if tolerance else right.dtype
            np.testing.assert_allclose(result.astype(kind), right.astype(kind), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("op", operators())
def test_forms(op: str) -> None:
    """All cases at the newest opset, with operands as inputs and constants and sizes known and open."""
    check(
        prepare(op, case, case.inputs, case.opset or versions(op)[-1], form, must=form == "static")
        for case in CASES[op]
        for form in (("static", "open", "constants", "folded") if not case.refused else ("static",))
    )


@pytest.mark.parametrize("op", operators())
def test_versions(op: str) -> None:
    check(
        prepare(op, case, case.inputs, opset, "static", must=False)
        for opset in versions(op)[:-1]
        for case in CASES[op]
        if case.opset is None and not case.refused
    )


def in_type(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if array.dtype.kind != "f" or dtype.kind in "fV":
        return array.astype(dtype)
    whole = np.round(array * 3).astype(dtype)
    return array > 0 if dtype == bool else np.where(whole == 0, 1, whole).astype(dtype)  # a divisor may not be 0


@pytest.mark.parametrize("op", [op for op in operators() if is_onnx(op)])
def test_types(op: str) -> None:
    """The first two cases with the operands of the first one's type, and those of other floats, in all types that ONNX allows."""
    opset = versions(op)[-1]
    schema = defs.get_schema(op, opset, "")
    formals = [schema.inputs[min(i, len(schema.inputs) - 1)] for i in range(9)] if schema.inputs else []
    allowed = formals[0].types if formals else ()
    calls = []
    for case in [case for case in CASES[op] if case.opset is None and case.right is None and not case.refused][:2]:
        for name in sorted(allowed & TYPES.keys()):
            dtype = helper.tensor_dtype_to_np_dtype(getattr(onnx.TensorProto, TYPES[name]))
            inputs = [
                in_type(array, dtype) if array is not None and formals[i].type_str == formals[0].type_str else array
                for i, array in enumerate(case.inputs)
            ]
            calls.append(prepare(op, case, inputs, opset, "static", must=False))
    check(calls)


def changed(case: Case) -> Iterator[Case]:
    """The case with another rank, size or type of one input, without it, and with other numbers in its attributes."""
    for index, array in enumerate(case.inputs):
        others = [None]
        if array is not None:
            flat = array.reshape(-1)
            others += [array[None], np.zeros((), array.dtype), np.resize(flat, 0), np.resize(flat, (2, 2, 1)).astype(array.dtype)]
            others += [array.astype(kind) for kind in (np.float64, np.int8, bool) if kind != array.dtype]
        for other in others:
            yield dataclasses.replace(case, inputs=[*case.inputs[:index], other, *case.inputs[index + 1 :]])
    for name, value in case.attributes.items():
        for other in (7, -4, 0) if isinstance(value, int) else ([1], [9, 9]) if isinstance(value, list) else ():
            yield dataclasses.replace(case, attributes={**case.attributes, name: other})
        yield dataclasses.replace(case, attributes={key: kept for key, kept in case.attributes.items() if key != name})


@pytest.mark.parametrize("op", operators())
def test_what_does_not_fit_is_refused_with_the_name_of_the_node(op: str) -> None:
    """Never by the compiler, in words about the program that was written."""
    taken = []
    for case in itertools.chain.from_iterable(changed(case) for case in CASES[op][:3]):
        model = make_model(op, case, case.inputs, case.opset or versions(op)[-1], "static")
        try:
            taken.append(from_onnx(model))
        except resid.importer.ImportFailure as error:
            assert op in str(error) and not re.search(r"(?<!Model)Error\b", str(error)), error
    compile_together(taken)
