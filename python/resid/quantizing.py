# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Integers for the linear layers of a program and its weights. The program is rewritten by the pass resid-quantize-linear; here
# are the arrays: integers and scales of weights, factors that move from rows to weights, and the errors that layers get.

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from resid_runtime import InternalError
from resid_runtime.signature import Value

from . import errors
from .compiling import Module, _read, compile
from .importer import elements
from .importer.errors import FlagError, ModelError

_Arrays = Mapping[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Matrix:
    """What became of a weight of two dimensions.

    `bits` is that of its integers, and 0 where it stays as it is, for the reason `kept`. `error` is relative: of the layer's
    outputs on the inputs that were given, of all elements together, or of the weight where `is_of_weight`. `smoothed` says
    whether factors moved to it from its rows: from the norm before it, or from the array `factor`. `not_smoothed` says why they
    did not from the norm, and `no_factor` why its rows have no factors, where that was asked.
    """

    name: str
    shape: tuple[int, ...]
    bits: int = 0
    scale_shape: tuple[int, ...] = ()
    error: float = 0.0
    is_of_weight: bool = True
    kept: str = ""
    smoothed: bool = False
    not_smoothed: str = ""
    factor: str = ""
    no_factor: str = ""

    def describe(self) -> str:
        """One line of a report."""
        start = f"{self.name} {'x'.join(map(str, self.shape))}: "
        if self.kept:
            return f"{start}kept: {self.kept}"
        smoothed = ", smoothed" if self.smoothed else ""
        return f"{start}i{self.bits}, error of the {'weight' if self.is_of_weight else 'output'} {self.error:.1e}{smoothed}"

    def record(self) -> dict[str, Any]:
        """Its entry in a manifest."""
        if self.kept:
            return {"name": self.name, "shape": list(self.shape), "kept": self.kept}
        entry: dict[str, Any] = {"name": self.name, "shape": list(self.shape), "integers": f"i{self.bits}", "scale": f"{self.name}_scale",
                                 "scale_shape": list(self.scale_shape), "error": self.error,
                                 "error_of": "weight" if self.is_of_weight else "output", "smoothed": self.smoothed}
        more = {"not_smoothed": self.not_smoothed, "factor": self.factor, "no_factor": self.no_factor}
        return entry | {name: text for name, text in more.items() if text}


@dataclasses.dataclass(frozen=True)
class Quantized:
    """A program whose linear layers have integers, its weights by their names in a file, and what became of each matrix.

    The integers have the name of the weight, and scales that name and `_scale`. Two integers of 4 bits are a byte.
    `original` has the weights before they became integers: with `smooth` those that the factors were moved to. `error` is that of
    the functions' results on the inputs that were given, relative, of all floats together; None where none were given.
    """

    text: str
    weights: dict[str, np.ndarray]
    matrices: tuple[Matrix, ...]
    scheme: str
    original: dict[str, np.ndarray]
    error: float | None = None

    def manifest(self) -> str:
        """As JSON."""
        error = {} if self.error is None else {"error": self.error}
        found = {"version": 1, "scheme": self.scheme, **error, "matrices": [matrix.record() for matrix in self.matrices]}
        return json.dumps(found, indent=2) + "\n"


def quantize(source: str | os.PathLike[str], weights: _Arrays, scheme: str = "w8a8", *, calibrate: Iterable[_Arrays] = (),
             smooth: str | None = None, keep: Sequence[str] = (), include_head: bool = False) -> Quantized:
    """Gives the linear layers of a program integers of 8 or 4 bits, and makes those of their weights.

    Args:
      source: MLIR text, or the path of a file with it. Arguments marked `resid.weight` are weights.
      weights: the arrays of all weights, by their names in a file. Further ones are handed on.
      scheme: "w8a8": weights and rows of 8 bits; "w8" or "w4": weights alone; "w8gN" or "w4gN": with a scale for each group of
        N input features.
      calibrate: arguments of the function that are no weights, by their names, once for each call.
      smooth: whether factors, powers of two, move from the columns of rows to those of weights. Needs `calibrate`. "norms": by the
        norm before the layers, where they alone read it, so that the program without integers keeps its bits, unless numbers
        underflow or overflow. "rows": elsewhere, too, where that lowers the error: rows are multiplied before they are rounded.
      keep: names of weights that stay as they are.
      include_head: whether a layer whose result the function returns gets integers, too.

    Raises:
      CompileError: where the program is wrong. ModelError: where a weight or an input is missing or has another shape or type,
        or holds NaN or an infinity. FlagError: where an option is wrong.
    """
    text, name = _read(source)
    calls = list(calibrate)
    if not re.fullmatch("w8a8|w[48](g[0-9]*[02468])?", scheme) or scheme.endswith("g0"):
        raise FlagError(f"scheme: expected w8a8, w8, w8gN, w4 or w4gN, where N is even, but got '{scheme}'")
    if smooth not in (None, "norms", "rows"):
        raise FlagError(f"smooth: expected norms or rows, but got '{smooth}'")
    if smooth and not calls:
        raise FlagError("smooth: expected inputs to calibrate with, but got none")
    if smooth == "rows" and scheme != "w8a8":
        raise FlagError(f"smooth: expected w8a8 beside rows, but got '{scheme}'")
    request = Request(text, name, scheme, {one: "keep names it" for one in keep}, not include_head)
    program, record = request.rewrite()
    arrays = {key: np.asarray(array, order="C") for key, array in weights.items()}
    entries = {entry["weight"]: entry for entry in record}
    for one in keep:
        if one not in entries:
            raise FlagError(f"keep: expected the name of a weight of the program, but got '{one}'")
    for entry in record:
        arrays[entry["weight"]] = _check_weight(entry, arrays)
    observer = _Observer(request) if calls else None
    reasons: dict[str, str] = {}
    notes = _smooth_norms(observer, arrays, calls) if observer and smooth else {}
    layers = {key: _Layer(key, entry, _out_in(_to_f32(arrays[key]), entry)) for key, entry in entries.items() if "bits" in entry}
    outputs = observer.errors(arrays, calls, layers) if observer else {}
    if observer and smooth == "rows":
        outputs |= _smooth_rows(observer, arrays, calls, layers, outputs, _find_readers(program, record), reasons)
        request.factors = list(dict.fromkeys(layer.factor for layer in layers.values() if layer.factor))
        program, _ = request.rewrite()
    result = dict(arrays)
    for key, layer in layers.items():
        result[key], result[f"{key}_scale"] = _pack(layer.q, layer.entry["bits"]), layer.scales
        if layer.factor == key:
            result[f"{key}_factor"] = np.exp2(-layer.exponents).astype(np.float32)
    matrices = []
    for key, entry in entries.items():
        matrix = Matrix(key, tuple(entry["shape"]), kept=entry.get("kept", ""))
        if key in layers:
            layer, is_of_weight = layers[key], key not in outputs
            error = layer.error() if is_of_weight else _relative(*outputs[key])
            factor = f"{layer.factor}_factor" if layer.factor else ""
            matrix = Matrix(key, matrix.shape, entry["bits"], layer.scales.shape, error, is_of_weight, "",
                            bool(factor) or notes.get(key) == "", notes.get(key, ""), factor, reasons.get(key, ""))
        if len(matrix.shape) == 2:
            matrices.append(matrix)
    error_of_results = observer.result_error(arrays, calls, program, result) if observer else None
    return Quantized(program, result, tuple(matrices), scheme, arrays, error_of_results)


class _Layer:
    """A weight and its integers. `exponents`: those of the powers of two by which its columns are multiplied first; `factor` names
    the weight whose layers' rows are divided by them, and is empty where none are."""

    def __init__(self, key: str, entry: Mapping[str, Any], weight: np.ndarray):
        self.key, self.entry, self.weight = key, entry, weight
        self.exponents, self.factor = np.zeros(weight.shape[1]), ""
        self._round()

    def _round(self) -> None:
        scaled = _scale(self.weight, self.exponents)
        self.q, self.scales = to_integers(scaled, self.entry["bits"], self.entry["scale_shape"], f"weight '{self.key}'")

    def move(self, exponents: np.ndarray, factor: str) -> None:
        self.exponents, self.factor = exponents, factor
        self._round()

    def error(self) -> float:
        return _relative(_squares(self.weight - self.rounded()), _squares(self.weight))

    def rounded(self) -> np.ndarray:
        """What the integers and scales stand for, as columns were before they were multiplied."""
        return _scale(_multiply(self.q, self.scales), -self.exponents)

    def round_rows(self, x: np.ndarray) -> np.ndarray:
        """The same of rows, where they become integers."""
        if len(self.scales.shape) != 1:
            return x
        return _scale(_multiply(*to_integers(_scale(x, -self.exponents), 8, [x.shape[0]], f"the rows of '{self.key}'")), self.exponents)


def to_integers(weight: np.ndarray, bits: int, scale_shape: Sequence[int], what: str) -> tuple[np.ndarray, np.ndarray]:
    """The integers of a weight of f32, `[out, in]`, as i8, and its scales, of f32, by the formula of resid.quantize.

    The largest integer is 127, and 7 with 4 bits. `scale_shape` is `[out]` or `[out, groups]`.
    """
    if not np.isfinite(weight).all():
        raise ModelError(f"{what}: expected finite numbers, but got NaN or an infinity")
    largest = np.float32(2 ** (bits - 1) - 1)
    groups = _split(weight, scale_shape)
    scales = np.abs(groups).max(axis=-1, keepdims=True, initial=0) / largest
    q = np.clip(np.rint(groups / np.where(scales == 0, np.float32(np.inf), scales)), -largest, largest)
    return q.astype(np.int8).reshape(weight.shape), scales.reshape(scale_shape)


def _split(array: np.ndarray, scale_shape: Sequence[int]) -> np.ndarray:
    """As `[out, groups, size of a group]`."""
    return array.reshape(*scale_shape, *((1,) if len(scale_shape) == 1 else ()), array.size // max(1, math.prod(scale_shape)))


def _multiply(q: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """The numbers that integers and scales stand for."""
    return (_split(q, scales.shape) * _split(scales, scales.shape)).reshape(q.shape)


def _pack(q: np.ndarray, bits: int) -> np.ndarray:
    """Integers of 4 bits as bytes, the first of two in the low half."""
    return q if bits == 8 else (q[:, ::2] & 15 | q[:, 1::2] << 4).view(np.uint8)


def _to_f32(array: np.ndarray) -> np.ndarray:
    """Of f32, f16 or bf16; the last also as the integers of 16 bits that a result without a type of its own has."""
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32)


def _out_in(array: np.ndarray, entry: Mapping[str, Any]) -> np.ndarray:
    """A weight, or what has its shape, as `[out, in]`, and back."""
    return np.ascontiguousarray(array.T) if entry["transposed"] else array


def _squares(array: np.ndarray) -> float:
    return float(np.square(array, dtype=np.float64).sum())


def _relative(error: float, size: float) -> float:
    """The root of a sum of squares over that of another one."""
    return math.sqrt(error / size) if size else 0.0


def _check_weight(entry: Mapping[str, Any], arrays: _Arrays) -> np.ndarray:
    """The array of a weight. One of bf16 may come as integers of 16 bits."""
    key = entry["weight"]
    if key not in arrays:
        raise ModelError(f"weight '{key}': expected it among the weights, but it is not there")
    array = arrays[key]
    if entry["element"] == "bf16" and array.dtype == np.uint16:
        array = array.view(elements.to_numpy("bf16"))
    shape, element = list(array.shape), elements.from_numpy(array.dtype)
    wanted = [size if size >= 0 else "?" for size in entry["shape"]]
    fits = len(shape) == len(wanted) and all(size in ("?", got) for size, got in zip(wanted, shape))
    if not fits or element != entry["element"]:
        expected, got = ("x".join(map(str, [*sizes, type_])) for sizes, type_ in ((wanted, entry["element"]), (shape, element)))
        raise ModelError(f"weight '{key}': expected {expected}, but got {got}")
    if "bits" in entry and f"{key}_scale" in arrays:
        raise ModelError(f"weight '{key}': expected the name '{key}_scale' to be free, but there is such a weight")
    return array


@dataclasses.dataclass
class Request:
    """What is asked of the pass. `kept`: weights that stay as they are, and why. `factors`: see the pass."""

    text: str
    name: str
    scheme: str
    kept: dict[str, str]
    keep_heads: bool
    factors: list[str] = dataclasses.field(default_factory=list)

    def run(self, mode: str) -> tuple[str, list[dict[str, Any]]]:
        """The program, and what the pass recorded; see QuantizeMode of Compile.h."""
        from . import _compiler

        code, messages, files, *_ = _compiler.quantize(self.text, self.name, self.scheme, list(self.kept), self.factors, self.keep_heads,
                                                       getattr(_compiler.QuantizeMode, mode))
        errors.raise_for(code, messages.decode(errors="replace"))
        return files["program.mlir"].decode(), json.loads(files.get("record.json", "[]"))

    def rewrite(self) -> tuple[str, list[dict[str, Any]]]:
        """The program with integers, and what became of each weight of each function. One that a function keeps is kept by all."""
        program, record = self.run("GIVEN")
        reasons = {entry["weight"]: entry["kept"] for entry in record if "kept" in entry}
        turned: dict[str, int] = {}
        for entry in record:
            if "bits" in entry and turned.setdefault(entry["weight"], entry["transposed"]) != entry["transposed"]:
                reasons[entry["weight"]] = "expected functions that read the weight in one order, but got [out, in] and [in, out]"
        mixed = {entry["weight"]: reasons[entry["weight"]] for entry in record if "bits" in entry and entry["weight"] in reasons}
        if mixed:
            self.kept |= mixed
            program, record = self.run("GIVEN")
        return program, [entry | ({"kept": self.kept[entry["weight"]]} if entry["weight"] in self.kept else {}) for entry in record]


class _Observer:
    """The program as a function that returns what its linear layers read, too."""

    def __init__(self, request: Request):
        program, self.entries = request.run("OBSERVE")
        self.module: Module = compile(program, mode="inference", quiet=True)

    def names(self, function: str) -> list[str | None]:
        """Of each argument its name in a file, or None."""
        places = {entry["argument"]: entry["weight"] for entry in self.entries if entry["function"] == function}
        return [places.get(place) for place, _ in enumerate(self.module[function].signature.arguments)]

    def runs(self, arrays: _Arrays, calls: Sequence[_Arrays]) -> Iterator[tuple[str, _Arrays, tuple[Any, ...]]]:
        """A function, the call and the results, for each call."""
        functions = dict.fromkeys(entry["function"] for entry in self.entries)
        if not functions:
            raise ModelError("calibrate: expected a program with linear layers of weights, but it has none")
        for call in calls:
            unread, ran = set(call), False
            for function in functions:
                arguments = self.arguments(function, arrays, call)
                if arguments is None:
                    continue
                ran = True
                unread -= {value.name for value in self.module[function].signature.arguments}
                results = self.module[function](*arguments)
                yield function, call, results if isinstance(results, tuple) else (results,)
            if unread or not ran:
                got = f"'{min(unread)}'" if unread else "none"
                raise ModelError(f"calibrate: expected the arguments of a function that are no weights, but got {got}{self.expected()}")

    def rows(self, arrays: _Arrays, calls: Sequence[_Arrays]) -> Iterator[tuple[str, np.ndarray]]:
        """The name of a weight and the rows of one of its layers, `[rows, in]` of f32, for each layer of each call."""
        for function, _, results in self.runs(arrays, calls):
            for entry in self.entries:
                for place in entry.get("rows", ()) if entry["function"] == function else ():
                    x = _to_f32(np.asarray(results[place]))
                    yield entry["weight"], x.reshape(-1, x.shape[-1])

    def result_error(self, arrays: _Arrays, calls: Sequence[_Arrays], program: str, weights: _Arrays) -> float:
        """Of the results of a program with integers and such weights, on the same calls."""
        module = compile(program, mode="inference", quiet=True)
        error = size = 0.0
        for function, call, expected in self.runs(arrays, calls):
            values, names = module[function].signature.arguments, self.names(function)
            added = {values[entry["argument"]].name + suffix: entry["weight"] + suffix
                     for entry in self.entries if entry["function"] == function for suffix in ("_scale", "_factor")}
            names += [added[value.name] for value in values[len(names):]]
            found = module[function](*_arguments(values, names, weights, call))
            for place, (result, y) in enumerate(zip(module[function].signature.results, found if isinstance(found, tuple) else (found,))):
                if not elements.is_float(result.element):
                    continue
                exact, rounded = (one if one.dtype == np.float64 else _to_f32(one) for one in map(np.asarray, (expected[place], y)))
                is_finite = np.isfinite(exact)
                if not np.isfinite(rounded[is_finite]).all():
                    raise InternalError(f"@{function}: expected finite numbers as result {place}, as without integers, but got others")
                error += _squares(rounded[is_finite].astype(np.float64) - exact[is_finite])
                size += _squares(exact[is_finite])
        return _relative(error, size)

    def arguments(self, function: str, arrays: _Arrays, call: _Arrays) -> list[Any] | None:
        """Of a call; None where the inputs are not those of the function."""
        values, names = self.module[function].signature.arguments, self.names(function)
        if any(name is None and value.name not in call for value, name in zip(values, names)):
            return None
        return _arguments(values, names, arrays, call)

    def expected(self) -> str:
        texts = []
        for function in dict.fromkeys(entry["function"] for entry in self.entries):
            inputs = [f"'{value.name}'" for value, name in zip(self.module[function].signature.arguments, self.names(function)) if name is None]
            texts.append(f"@{function} takes {', '.join(inputs) or 'none'}")
        return f"; {'; '.join(texts)}"

    def errors(self, arrays: _Arrays, calls: Sequence[_Arrays], layers: Mapping[str, _Layer]) -> dict[str, tuple[float, float]]:
        """The sums of squares of the errors of each weight's outputs, and of the outputs."""
        sums: dict[str, tuple[float, float]] = {}
        rounded = {key: layer.rounded().T for key, layer in layers.items()}
        for key, x in self.rows(arrays, calls):
            if key not in layers:  # it is kept, for what another layer does
                continue
            with np.errstate(all="ignore"):
                y = x @ layers[key].weight.T
            if not np.isfinite(y).all():
                raise ModelError(f"calibrate: expected inputs with finite outputs of '{key}', but got NaN or an infinity")
            error, size = sums.get(key, (0.0, 0.0))
            sums[key] = (error + _squares(layers[key].round_rows(x) @ rounded[key] - y), size + _squares(y))
        return sums

    def mean_squares(self, arrays: _Arrays, calls: Sequence[_Arrays]) -> dict[str, np.ndarray]:
        """Of each column of the rows of a weight's layers."""
        functions = sorted({entry["function"] for entry in self.entries if "rows" in entry})
        if len(functions) > 1:
            raise FlagError(f"smooth: expected one function with linear layers, but got {', '.join(f'@{name}' for name in functions)}")
        sums: dict[str, np.ndarray] = {}
        counts: dict[str, int] = {}
        for key, x in self.rows(arrays, calls):
            sums[key] = sums.get(key, 0) + np.square(x, dtype=np.float64).sum(axis=0)
            counts[key] = counts.get(key, 0) + len(x)
        return {key: sums[key] / max(1, counts[key]) for key in sums}


def _arguments(values: Sequence[Value], names: Sequence[str | None], weights: _Arrays, call: _Arrays) -> list[Any]:
    """Weights by their names in a file, where these are not None, and inputs of a call by those in the program."""
    return [weights[name] if name is not None else call[value.name] if value.sizes is not None else call[value.name].item()
            for value, name in zip(values, names)]


def _find_readers(program: str, record: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """For each rows that become integers in a program that the pass wrote, the weight of each layer that reads them."""
    weights = {(entry["function"], f"%arg{entry['argument']}"): entry["weight"] for entry in record if "bits" in entry}
    readers: list[list[str]] = []
    names: dict[str, list[str]] = {}  # what the last op of such a name made: regions beside one another have names again
    function = ""
    for line in program.splitlines():
        if found := re.match(r' *func\.func (?:\w+ )?@"?(.*?)"?\(', line):
            function = found[1]
        elif found := re.match(r" *(%\w+), %\w+ = resid\.quantize ", line):
            names[found[1]] = []
            readers.append(names[found[1]])
        elif (found := re.match(r" *%\w+ = resid\.linear (%\w+), (%\w+) x_scale\(", line)) and (function, found[2]) in weights:
            names[found[1]].append(weights[function, found[2]])
    if unread := set(weights.values()).difference(*readers):
        raise InternalError(f"expected layers that read '{min(unread)}' in the program with integers, but got none")
    return readers


def _find_exponents(rows: np.ndarray, weights: Sequence[np.ndarray]) -> np.ndarray:
    """Powers of two for columns: the root of the root mean square of rows over that of weights `[out, in]`; 1 where one is 0."""
    columns = np.square(np.concatenate(weights), dtype=np.float64).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponents = np.rint(np.log2(rows / columns) / 4)
    return np.where(np.isfinite(exponents), exponents, 0)


def _smooth_norms(observer: _Observer, arrays: dict[str, np.ndarray], calls: Sequence[_Arrays]) -> dict[str, str]:
    """Moves factors from gamma and beta of norms to the weights that alone read them. Gives for each weight why not, or nothing."""
    rows = observer.mean_squares(arrays, calls)
    norms: dict[str, list[dict[str, Any]]] = {}
    for entry in observer.entries:
        if "norm" in entry and entry["weight"] in rows:
            norms.setdefault(entry["norm"]["gamma"], []).append(entry)
    for entries in norms.values():
        weights = {entry["weight"]: entry for entry in entries}

        def turned(key: str, array: np.ndarray) -> np.ndarray:
            return _out_in(array, weights[key]) if key in weights else array

        exponents = _find_exponents(rows[next(iter(weights))], [_to_f32(turned(key, arrays[key])) for key in weights])
        signs = {**dict.fromkeys(weights, 1), **dict.fromkeys(entries[0]["norm"].values(), -1)}
        for key, sign in signs.items():
            exponents = _drop_inexact(turned(key, arrays[key]), sign * exponents) * sign
        for key, sign in signs.items():
            arrays[key] = turned(key, _scale(turned(key, arrays[key]), sign * exponents))
    return {entry["weight"]: entry.get("not_smoothed", "") for entry in observer.entries if "bits" in entry}


def _smooth_rows(observer: _Observer, arrays: _Arrays, calls: Sequence[_Arrays], layers: dict[str, _Layer],
                 before: Mapping[str, tuple[float, float]], readers: Iterable[Sequence[str]], reasons: dict[str, str]) -> dict[str, tuple[float, float]]:
    """Gives factors to rows where that takes a tenth from the error of the layers that read them. Gives the errors of these.

    `readers` has for each rows the weight of each layer that reads them. All of them get the factors, so `_refuse_factors` says
    where that cannot be; `reasons` gets for each weight why it got none.
    """
    rows = observer.mean_squares(arrays, calls)
    groups: list[list[_Layer]] = []
    readers = [names for names in readers if names]
    for names in readers:
        if reason := _refuse_factors(names, readers, observer):
            reasons |= dict.fromkeys(names, reason)
        else:
            groups.append([layer for key, layer in layers.items() if key in names])
    for group in groups:
        exponents = _find_exponents(rows[group[0].key], [layer.weight for layer in group])
        for layer in group:
            exponents = _drop_inexact(layer.weight, exponents)
        for layer in group:
            layer.move(exponents, group[0].key)
    after = observer.errors(arrays, calls, layers)
    for group in groups:
        sums = [sum(found[layer.key][0] for layer in group) for found in (before, after)]
        if not sums[1] < 0.81 * sums[0]:
            for layer in group:
                layer.move(np.zeros_like(layer.exponents), "")
                after[layer.key] = before[layer.key]
                reasons[layer.key] = "expected a tenth less error by factors, but got less of a change"
        elif f"{group[0].key}_factor" in arrays:
            raise ModelError(f"weight '{group[0].key}': expected the name '{group[0].key}_factor' to be free, but there is such a weight")
    return after


def _refuse_factors(names: Sequence[str], readers: Iterable[Sequence[str]], observer: _Observer) -> str:
    """Why rows, which layers with these weights read, can have no factors; nothing where they can."""
    observed: dict[str, list[int]] = {entry["weight"]: entry.get("rows", []) for entry in observer.entries if "bits" in entry}
    for name in names:
        if sum(name in others for others in readers) > 1:
            return f"expected weights that are read with these rows alone, but got '{name}', which is read with others, too"
        if len(observed.get(name, [])) != names.count(name):
            return f"expected used results of layers outside of loops and branches, but got another layer of '{name}'"
    return ""


def _drop_inexact(array: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """The exponents of columns that come back if they are multiplied by powers of two and divided again; 0 for others."""
    back = _scale(_scale(array, exponents), -exponents)
    return np.where((back == array).reshape(-1, array.shape[-1]).all(axis=0), exponents, 0)


def _scale(array: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Columns times powers of two, in the type of the array."""
    with np.errstate(over="ignore"):
        return np.ldexp(array.astype(np.float64), exponents.astype(np.int64)).astype(array.dtype)
