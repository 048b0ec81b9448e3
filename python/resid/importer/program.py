# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The text of one function of MLIR, line by line: tensors with their types, constants, sizes, weights as arguments. Knows MLIR and
# nothing of ONNX; the ops themselves are written by emit_*.py and by the presets.

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from . import elements
from .errors import ModelError
from .sizes import Atom, Dim, Size, is_name, nonnegative, product, symbol

# Constants of more elements become weights, outside of the text, unless all elements are the same.
MOST_ELEMENTS_IN_TEXT = 16


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A value. `ssa` is its name in the text, "" for what is only known so far. `known` has its elements where they are known:
    numbers, or an object array of sizes. `weight` is its name in the file of weights if it becomes one."""

    element: str
    dims: tuple[Dim, ...]
    ssa: str = ""
    known: np.ndarray | None = None
    weight: str = ""

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def type(self) -> str:
        return tensor_type(self.element, self.dims)

    def is_constant(self) -> bool:
        """All elements are numbers."""
        return self.known is not None and self.known.dtype != object

    @property
    def array(self) -> np.ndarray:
        """`known` of a tensor that has it."""
        assert self.known is not None
        return self.known

    def scalar(self) -> float | int | None:
        """The one element of a constant, else None."""
        return self.array.reshape(()).item() if self.is_constant() and self.array.size == 1 else None


def tensor_type(element: str, dims: Iterable["Dim | str | None"]) -> str:
    return "tensor<" + "".join(f"{dim if isinstance(dim, int) else '?'}x" for dim in dims) + elements.stored(element) + ">"


def literal(value: "float | int | bool", element: str) -> str:
    """One number as MLIR reads it, with the same bits."""
    if element == "i1":
        return "true" if value else "false"
    if not elements.is_float(element):
        return str(int(value) - (128 if element == "u8" else 0))
    value = shortest(float(value)) if element == "f32" else float(value)
    if np.isfinite(value):
        text = repr(value)
        mantissa, exponent, power = text.partition("e")
        return (mantissa if "." in mantissa else mantissa + ".0") + exponent + power
    bits = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000}[element]
    if np.isnan(value):
        bits |= bits >> 1
    elif value < 0:
        bits |= 1 << (elements.width(element) - 1)
    return f"0x{bits:0{elements.width(element) // 4}X}"


def shortest(value: float) -> float:
    """The number of fewest digits that is the same in f32: 1e-5 and not 9.999999747378752e-06."""
    with np.errstate(over="ignore"):
        rounded = np.float32(value)
    short = float(str(rounded))
    return short if np.isfinite(rounded) and np.float32(short) == rounded else value


def signed(tensor: Tensor) -> Tensor:
    """u8 as the i8 that stand for it in the text: each element less 128. Others stay as they are."""
    if tensor.element != "u8":
        return tensor
    known = None if tensor.known is None else (tensor.known ^ np.uint8(128)).view(np.int8)
    return dataclasses.replace(tensor, element="i8", known=known)


class Program:
    """One function. Names of arguments and weights are made fit for MLIR and C; what they were stays in attributes."""

    def __init__(self, name: str) -> None:
        self.name = identifier(name) or "model"
        self.name = "model_" + self.name if self.name[0].isdigit() else self.name
        self.lines: list[str] = []
        self.weights: dict[str, np.ndarray] = {}
        self._arguments: list[str] = []
        self._weight_arguments: list[str] = []
        self._names: set[str] = set()
        self._count = 0
        self._indices: dict[object, str] = {}
        self._materialised: dict[object, str] = {}
        self._sizes: list[tuple[Size, str, str, int]] = []  # what an argument's dimension is: its name, its type, its number
        self._head: list[str] = []

    # -- names, arguments, weights

    def unique(self, name: str) -> str:
        stem = identifier(name) or "value"
        stem = stem if not stem[0].isdigit() else "v" + stem
        candidate, number = stem, 1
        while candidate in self._names:
            number += 1
            candidate = f"{stem}_{number}"
        self._names.add(candidate)
        return "%" + candidate

    def argument(self, name: str, element: str, dims: Sequence["int | str | Size"]) -> Tensor:
        """An argument of the function; a dimension that is a text is a size known at run time, the same wherever it stands.
        Each call is refused whose sizes are not those that they are said to be."""
        ssa = self.unique(name)
        sizes = tuple(symbol(dim) if isinstance(dim, str) else dim for dim in dims)
        tensor = Tensor(element, sizes, ssa)
        self._sizes += [(dim, ssa, tensor.type, index) for index, dim in enumerate(sizes) if isinstance(dim, Size)]
        self._arguments.append(f"{ssa}: {tensor.type}")
        return tensor

    def scalar_argument(self, name: str, element: str) -> str:
        """An argument that is one number; its name."""
        ssa = self.unique(name)
        self._arguments.append(f"{ssa}: {element}")
        return ssa

    def weight(self, name: str, element: str, dims: Sequence[int], array: np.ndarray | None = None) -> Tensor:
        """An argument that is marked as a weight, under this name in the file of weights. A second one of that name is the first."""
        tensor = Tensor(element, tuple(dims), weight=name)
        if name in self._materialised:
            return dataclasses.replace(tensor, ssa=self._materialised[name])
        ssa = self._materialised[name] = self.unique(name)
        text = name.replace("\\", "\\\\").replace('"', '\\"')
        self._weight_arguments.append(f'{ssa}: {tensor.type} {{resid.weight = "{text}"}}')
        if array is not None:
            self.weights[name] = np.asarray(array, order="C")
        return dataclasses.replace(tensor, ssa=ssa)

    # -- lines

    def fresh(self) -> str:
        self._count += 1
        return f"%{self._count}"

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def op(self, text: str, element: str, dims: Sequence[Dim]) -> Tensor:
        """Writes an op of one result; `text` is what stands after the equals sign."""
        ssa = self.fresh()
        self.line(f"{ssa} = {text}")
        return Tensor(element, tuple(dims), ssa)

    def number(self, text: str) -> str:
        """Writes an op whose result is one number; its name."""
        ssa = self.fresh()
        self.line(f"{ssa} = {text}")
        return ssa

    def value(self, tensor: Tensor) -> Tensor:
        """The same with a name in the text: what has a name as a weight becomes one, and other constants are written."""
        if tensor.ssa:
            return tensor
        known = tensor.known
        if known is None:
            raise ModelError("internal: a value has neither a name nor elements")
        if tensor.weight and known.dtype != object:
            return dataclasses.replace(tensor, ssa=self.weight(tensor.weight, tensor.element, known.shape, signed(tensor).known).ssa)
        key = ("constant", tensor.element, tensor.dims, _key(known))
        if key in self._materialised:
            return dataclasses.replace(tensor, ssa=self._materialised[key])
        if known.dtype == object:
            parts = [self.scalar_of_size(dim, tensor.element) for dim in known.reshape(-1)]
            result = self.op(f"tensor.from_elements {', '.join(parts)} : {tensor.type}", tensor.element, tensor.dims)
            return dataclasses.replace(tensor, ssa=result.ssa)
        self._materialised[key] = ssa = self.fresh_head()
        self._head.append(f"  {ssa} = arith.constant {_dense(known, tensor.element)} : {tensor.type}")
        return dataclasses.replace(tensor, ssa=ssa)

    def fresh_head(self) -> str:
        return self.unique("constant")

    def scalar(self, value: "float | int", element: str) -> str:
        """The name of a constant scalar."""
        text = literal(value, element)
        key = ("scalar", text, element)
        if key not in self._materialised:
            self._materialised[key] = ssa = self.unique("scalar")
            suffix = "" if element == "i1" else f" : {elements.stored(element)}"
            self._head.append(f"  {ssa} = arith.constant {text}{suffix}")
        return self._materialised[key]

    # -- sizes

    def index(self, dim: Dim) -> str:
        """The name of a value of type index."""
        if dim not in self._indices:
            self._indices[dim] = self._number(dim) if isinstance(dim, int) else self._compute(dim)
        return self._indices[dim]

    def scalar_of_size(self, dim: Dim, element: str) -> str:
        if isinstance(dim, (int, np.integer)):
            return self.scalar(int(dim), element)
        return self.number(f"arith.index_cast {self.index(dim)} : index to {element}")

    def empty(self, element: str, dims: Sequence[Dim]) -> Tensor:
        operands = ", ".join(self.index(dim) for dim in dims if not isinstance(dim, int))
        return self.op(f"tensor.empty({operands}) : {tensor_type(element, dims)}", element, dims)

    def filled(self, value: "float | int", element: str, dims: Sequence[Dim]) -> Tensor:
        empty = self.empty(element, dims)
        kind = elements.stored(element)
        text = f"linalg.fill ins({self.scalar(value, element)} : {kind}) outs({empty.ssa} : {empty.type}) -> {empty.type}"
        return self.op(text, element, dims)

    def _number(self, value: int) -> str:
        ssa = self.unique(f"c{value}" if value >= 0 else f"minus{-value}")
        self._head.append(f"  {ssa} = arith.constant {value} : index")
        return ssa

    def _compute(self, size: Size) -> str:
        """Sizes are computed at the head of the function, where everything that follows can read them."""
        total = ""
        for atoms, factor in sorted(size.terms.items(), key=repr):
            term = self.index(factor) if factor != 1 or not atoms else ""
            for atom in atoms:
                term = self._combine("muli", term, self._atom(atom)) if term else self._atom(atom)
            total = self._combine("addi", total, term) if total else term
        return total

    def _atom(self, atom: Atom) -> str:
        if isinstance(atom, str):
            key = ("size", atom)
            if key not in self._indices:
                self._indices[key] = self._named(atom)
            return self._indices[key]
        op, left, right = atom
        names = self.index(left), self.index(right)
        if op in ("floordiv", "mod") and not (nonnegative(left) and nonnegative(right)):
            return self._rounded_down(op, *names)
        ops = {"floordiv": "divsi", "div": "divsi", "mod": "remsi", "rem": "remsi", "min": "minsi", "max": "maxsi"}
        return self._combine(ops[op], *names)

    def _rounded_down(self, op: str, left: str, right: str) -> str:
        """By MLIR's ops, which cut towards zero: the remainder gets the sign of the divisor, and the quotient is exact."""
        rest = self._combine("remsi", self._combine("addi", self._combine("remsi", left, right), right), right)
        return rest if op == "mod" else self._combine("divsi", self._combine("subi", left, rest), right)

    def _named(self, name: str) -> str:
        """A size by its name: a dimension of an argument, or computed from one of which it is said what it is."""
        own = symbol(name)
        for dim, source, kind, position in self._sizes:
            if dim == own:
                return self._dimension(source, kind, position, f"size_{name}")
        for dim, source, kind, position in self._sizes:
            factor, rest = dim.terms.get((name,), 0), dim.terms.get((), 0)
            if factor > 0 and dim == own * factor + rest:
                number = self._dimension(source, kind, position, "size")
                number = self._combine("subi", number, self.index(rest)) if rest else number
                return self._combine("divsi", number, self.index(factor)) if factor > 1 else number
        raise ModelError(f"size '{name}' is that of no argument")

    def _dimension(self, source: str, kind: str, position: int, stem: str) -> str:
        key = ("dimension", source, position)
        if key not in self._indices:
            self._indices[key] = self.head(f"tensor.dim {source}, {self.index(position)} : {kind}", stem)
        return self._indices[key]

    def _combine(self, op: str, left: str, right: str) -> str:
        return self.head(f"arith.{op} {left}, {right} : index")

    # -- what a call must fulfil

    def head(self, text: str, stem: str = "size") -> str:
        """Writes an op of one result at the head of the function; returns the name of the result."""
        ssa = self.unique(stem)
        self._head.append(f"  {ssa} = {text}")
        return ssa

    def require(self, condition: str, says: str) -> None:
        """A call is refused where the condition, which follows from sizes alone, is false."""
        text = says.replace("\\", "\\\\").replace('"', '\\"')
        self._head.append(f'  cf.assert {condition}, "{text}"')

    def require_same(self, left: Dim, right: Dim, says: str) -> None:
        if left != right:
            self.require(self.head(f"arith.cmpi eq, {self.index(left)}, {self.index(right)} : index"), says)

    def _require_sizes(self) -> None:
        """Each dimension of an argument is what it is said to be, also where another argument has given the size its name."""
        named: set[Dim] = set()
        for dim, source, kind, position in self._sizes:
            if dim in named or not is_name(dim):
                name = source.removeprefix("%")
                given = self._dimension(source, kind, position, "size")
                says = f"expected {dim} as size {position} of '{name}'"
                self.require(self.head(f"arith.cmpi eq, {given}, {self.index(dim)} : index"), says)
            named.add(dim)

    # -- loops

    def generic(
        self,
        inputs: Sequence[tuple[Tensor, Sequence[int | None]]],
        element: str,
        dims: Sequence[Dim],
        body: Callable[..., str],
        start: Tensor | None = None,
        loops: Sequence[str] | None = None,
        result_map: Sequence[int] | None = None,
    ) -> Tensor:
        """A linalg.generic. Each input has the loop of each of its dimensions. `body` gets the names of the elements (the
        result's last), writes lines, and returns the name of what it yields. `start` is what a reduction begins with."""
        loops = loops or ["parallel"] * len(dims)
        result_map = range(len(dims)) if result_map is None else result_map
        names = ", ".join(f"d{loop}" for loop in range(len(loops)))
        maps = [
            f"affine_map<({names}) -> ({', '.join(f'd{loop}' for loop in m)})>"
            for _, m in [*inputs, (None, result_map)]
        ]
        start = start or self.empty(element, dims)
        types = ", ".join(tensor.type for tensor, _ in inputs)
        ins = f" ins({', '.join(tensor.ssa for tensor, _ in inputs)} : {types})" if inputs else ""
        ssa = self.fresh()
        kinds = ", ".join(f'"{kind}"' for kind in loops)
        self.line(f"{ssa} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}")
        self.line(f"   {ins} outs({start.ssa} : {start.type}) {{")
        arguments = [self.fresh() for _ in range(len(inputs) + 1)]
        kinds_of = [elements.stored(kind) for kind in [*(tensor.element for tensor, _ in inputs), element]]
        self.line("^bb0(" + ", ".join(f"{a}: {k}" for a, k in zip(arguments, kinds_of)) + "):")
        result = body(*arguments)
        self.line(f"  linalg.yield {result} : {kinds_of[-1]}")
        self.line(f"}} -> {tensor_type(element, dims)}")
        return Tensor(element, tuple(dims), ssa)

    def inner(self, text: str) -> str:
        """A line of a body; returns the name of its result."""
        ssa = self.fresh()
        self.line(f"  {ssa} = {text}")
        return ssa

    # -- the whole

    def text(self, results: Sequence[Tensor], banner: Sequence[str] = ()) -> str:
        values = [self.value(result) for result in results]
        self._require_sizes()
        types = [value.type for value in values]
        arguments = ",\n    ".join(self._arguments + self._weight_arguments)
        returned = types[0] if len(types) == 1 else f"({', '.join(types)})"
        head = [f"// {line}".rstrip() for line in banner]
        head.append(f"func.func @{self.name}(\n    {arguments}) -> {returned} {{")
        tail = f"  return {', '.join(value.ssa for value in values)} : {', '.join(types)}"
        return "\n".join([*head, *self._head, *self.lines, tail, "}", ""])


def identifier(name: str) -> str:
    """Letters, digits and underscores."""
    return re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9_]", "_", name)).strip("_")


def is_splat(array: np.ndarray) -> bool:
    flat = array.reshape(-1)
    return flat.size > 0 and bool(np.all(flat == flat[0]) or np.all(flat != flat))


def _key(array: np.ndarray) -> object:
    if array.dtype == object:
        return tuple(array.reshape(-1).tolist())
    return (
        array.tobytes()
        if array.size <= MOST_ELEMENTS_IN_TEXT or not is_splat(array)
        else array.reshape(-1)[:1].tobytes()
    )


def _dense(array: np.ndarray, element: str) -> str:
    if array.size == 0:
        return "dense<>"
    if is_splat(array):
        return f"dense<{literal(array.reshape(-1)[0].item(), element)}>"

    def nested(part: np.ndarray) -> str:
        if part.ndim == 0:
            return literal(part.item(), element)
        return "[" + ", ".join(nested(row) for row in part) + "]"

    return f"dense<{nested(array)}>"


def fixed(dims: Sequence[Dim]) -> tuple[int, ...] | None:
    """The same, None where one is known at run time only."""
    numbers = tuple(dim for dim in dims if isinstance(dim, int))
    return numbers if len(numbers) == len(dims) else None


def whole(dims: Sequence[Dim]) -> int | None:
    """The number of elements, None where it is known at run time only."""
    count = product(tuple(dims))
    return count if isinstance(count, int) else None
