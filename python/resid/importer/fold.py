# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What nodes compute on values that are known before run time: constants, and sizes that come from Shape nodes. Arrays of sizes
# are object arrays, for which the same NumPy calls work. Does not own which results are used (emit.py, recognise.py).

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from . import elements
from .errors import ImportFailure, ModelError
from .graph import Graph, Node
from .sizes import Size, larger, remainder, smaller, truncated

# A constant of more elements that a node changes is computed at run time, so that the weight keeps its name.
MOST_ELEMENTS = 65536

Folder = Callable[[Node, Sequence[np.ndarray]], "np.ndarray | None"]
_FOLDERS: dict[str, Folder] = {}


def folds(*ops: str) -> Callable[[Folder], Folder]:
    def register(folder: Folder) -> Folder:
        for op in ops:
            _FOLDERS[op] = folder
        return folder

    return register


def fold(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray | None:
    """The one result, or None where this node is not folded."""
    folder = _FOLDERS.get(node.op)
    if folder is None or any(array.size > MOST_ELEMENTS for array in inputs):
        return None
    try:
        with np.errstate(all="ignore"):
            result = folder(node, inputs)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, ArithmeticError, ModelError):
        return None  # the node is wrong or not known before run time: its own handler says so
    if result is None:
        return None
    result = np.asarray(result)  # NumPy hands out the element itself of an object array of rank 0
    return _settle(result) if result.size <= MOST_ELEMENTS else None


def fold_constants(graph: Graph) -> None:
    """Replaces nodes of which all inputs are constants, and none a weight, which keeps its name."""
    kept = []
    for node in graph.nodes:
        known = [graph.constants[name] for name in node.inputs if name in graph.constants]
        foldable = known and len(known) == len(node.inputs)
        foldable = foldable and not any(graph.is_weight(name) for name in node.inputs) and _is_typed(node, known)
        result = fold(node, known) if foldable else None
        if result is None:
            kept.append(node)
        else:
            graph.constants[node.outputs[0]] = result
    graph.nodes = kept
    graph.index()


def _is_typed(node: Node, inputs: Sequence[np.ndarray]) -> bool:
    """Whether the elements are those of the operator's definition; else the node stays, and is refused with its name."""
    try:
        node.check_types([elements.from_numpy(array.dtype) for array in inputs])
    except ImportFailure:
        return False
    return True


def _settle(array: np.ndarray) -> np.ndarray:
    """An object array without sizes becomes one of numbers."""
    if array.dtype == object and not any(isinstance(item, Size) for item in array.reshape(-1)):
        kind = (
            bool if all(isinstance(item, (bool, np.bool_)) for item in array.reshape(-1)) and array.size else np.int64
        )
        return array.astype(kind)
    return array


def _ints(array: np.ndarray) -> list[int]:
    return [int(item) for item in array.reshape(-1)]


@folds("Identity")
def _identity(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
    return inputs[0]


_ARITHMETIC = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Pow": np.power, "Min": np.minimum, "Max": np.maximum}
_OF_SIZES = {"Min": smaller, "Max": larger, "Div": truncated, "Rem": remainder}


@folds("Add", "Sub", "Mul", "Div", "Mod", "Pow", "Min", "Max")
def _arithmetic(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray | None:
    op = "Rem" if node.op == "Mod" and node.flag("fmod") else node.op
    first, *rest = inputs
    kinds = {array.dtype for array in inputs}
    if len(kinds) > 1 and np.dtype(object) not in kinds and op != "Pow":
        return None  # narrow floats beside a number of the arithmetic type, which the handler does not round
    if op in ("Div", "Mod", "Rem") and first.dtype.kind in "iuO" and not np.all(rest[0]):
        return None  # a division by 0
    for other in rest:
        sizes = first.dtype == object or other.dtype == object
        if sizes and op in _OF_SIZES:
            first = np.frompyfunc(_OF_SIZES[op], 2, 1)(first, other)
        elif op in ("Div", "Mod", "Rem"):
            first = _divided(op, first, other)
        else:
            kind = first.dtype
            first = _ARITHMETIC[op](first, other)
            first = first.astype(kind) if op == "Pow" and not sizes else first
    return first


def _divided(op: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Integers are cut towards zero by "Div" and "Rem"; "Mod" has the sign of the divisor."""
    result: np.ndarray
    if op != "Div":
        result = left % right if op == "Mod" else np.fmod(left, right)
    elif left.dtype.kind not in "iuO":
        result = left / right
    else:
        down = left // right
        result = down + ((down < 0) & (down * right != left)).astype(left.dtype)
    return result


@folds("Neg", "Abs", "Sqrt", "Exp", "Log", "Floor", "Ceil", "Reciprocal", "Cos", "Sin", "Not", "IsNaN", "Tanh", "Sign")
def _unary(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray | None:
    calls: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "Neg": np.negative,
        "Reciprocal": lambda x: (1 / x).astype(x.dtype),
        "Not": np.logical_not,
        "Abs": np.absolute,
    }
    call = calls[node.op] if node.op in calls else getattr(np, node.op.lower())
    result = np.asarray(call(inputs[0]))
    return result if result.dtype == inputs[0].dtype or node.op == "IsNaN" else None  # NumPy has roots of integers; ONNX has none


@folds("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "And", "Or")
def _compare(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray | None:
    left, right = inputs
    calls: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]
    calls = {"Greater": np.greater, "Less": np.less, "GreaterOrEqual": np.greater_equal, "LessOrEqual": np.less_equal}
    calls |= {"And": np.logical_and, "Or": np.logical_or}
    if node.op != "Equal":
        return calls[node.op](left, right).astype(bool)
    left, right = np.broadcast_arrays(left, right)
    pairs = list(zip(left.reshape(-1), right.reshape(-1)))
    return np.array([_equal(a, b) for a, b in pairs], bool).reshape(left.shape)


def _equal(left: object, right: object) -> bool:
    if not isinstance(left, Size) and not isinstance(right, Size):
        return bool(left == right)
    if left == right:
        return True
    size, other = (left, right) if isinstance(left, Size) else (right, left)
    assert isinstance(size, Size)
    # A size is at least 0; -1 in a list of sizes means another thing. Whether a size is 3 is not known.
    if isinstance(other, (int, np.integer)) and other < 0 and all(factor >= 0 for factor in size.terms.values()):
        return False
    raise ValueError("not known before run time")


@folds("Where")
def _where(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray | None:
    condition, yes, no = inputs
    return np.where(condition.astype(bool), yes, no) if condition.dtype == bool else None


@folds("Cast")
def _cast(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray | None:
    element = element_of(node.attributes["to"])
    if inputs[0].dtype == object:
        return inputs[0] if element in ("i64", "i32") else None
    return inputs[0].astype(elements.to_numpy(element))


def element_of(code: "int | str") -> str:
    """The element type of an attribute: a number of ONNX, or a name of ours."""
    if isinstance(code, str):
        return code
    numbers = {1: "f32", 2: "u8", 3: "i8", 5: "i16", 6: "i32", 7: "i64", 9: "i1", 10: "f16", 11: "f64", 16: "bf16"}
    if code not in numbers:
        raise ValueError(f"element type {code} of ONNX")
    return numbers[code]


@folds("Gather")
def _gather(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
    return np.take(inputs[0], inputs[1].astype(np.int64), axis=node.attributes.get("axis", 0))


@folds("Concat")
def _concat(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(inputs, axis=node.attributes["axis"])


@folds("Unsqueeze")
def _unsqueeze(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
    axes = _ints(inputs[1]) if len(inputs) > 1 else node.attributes["axes"]
    return np.expand_dims(inputs[0], tuple(axes))


@folds("Squeeze")
def _squeeze(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray | None:
    axes = _ints(inputs[1]) if len(inputs) > 1 else node.attributes.get("axes")
    return None if axes == [] else np.squeeze(inputs[0], None if axes is None else tuple(axes))


@folds("Slice")
def _slice(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
    data, starts, ends = inputs[0], _ints(inputs[1]), _ints(inputs[2])
    axes = _ints(inputs[3]) if len(inputs) > 3 else list(range(len(starts)))
    steps = _ints(inputs[4]) if len(inputs) > 4 else [1] * len(starts)
    key = [slice(None)] * data.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps):
        size = data.shape[axis]
        # Backwards, ONNX begins at the first element where Python begins before it, and an end before it is written as a large
        # negative number.
        key[axis] = slice(max(start, -size), None if end < -size else end, step) if step < 0 else slice(start, end, step)
    return data[tuple(key)]


@folds("Reshape")
def _reshape(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
    sizes = _ints(inputs[1])
    if not node.flag("allowzero"):
        sizes = [inputs[0].shape[i] if size == 0 else size for i, size in enumerate(sizes)]
    return inputs[0].reshape(sizes)


@folds("Transpose")
def _transpose(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
    return np.transpose(inputs[0], node.attributes.get("perm"))


@folds("Expand")
def _expand(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
    return np.broadcast_to(inputs[0], np.broadcast_shapes(inputs[0].shape, tuple(_ints(inputs[1]))))


@folds("ConstantOfShape")
def _constant_of_shape(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray | None:
    value = node.attributes.get("value", np.zeros(1, np.float32))
    sizes = _ints(inputs[0])
    return np.full(sizes, value.reshape(-1)[0]) if np.prod(sizes) <= MOST_ELEMENTS else None


@folds("Range")
def _range(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray | None:
    if any(array.dtype == object for array in inputs):
        return None
    start, limit, delta = (array.reshape(()).item() for array in inputs)
    return np.asarray(np.arange(start, limit, delta, dtype=inputs[0].dtype)) if (limit - start) / delta <= MOST_ELEMENTS else None


@folds("ReduceProd", "ReduceSum")
def _reduce(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray | None:
    data, axes = inputs[0], _ints(inputs[1]) if len(inputs) > 1 else node.attributes.get("axes")
    if not axes and node.flag("noop_with_empty_axes"):
        return data
    call = np.prod if node.op == "ReduceProd" else np.sum
    wide = np.float32 if elements.is_narrow(data.dtype) else data.dtype  # NumPy would widen integers, and not these
    result = call(data, axis=tuple(axes) if axes else None, keepdims=node.flag("keepdims", True), dtype=wide)
    return np.asarray(result).astype(data.dtype)


@folds("DequantizeLinear")
def _dequantize(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray | None:
    """Of a row, such as a bias. Matrices stay integers."""
    q, scale, *zero = inputs
    if q.ndim > 1 or q.dtype.kind not in "iu" or scale.dtype != np.float32 or node.attributes.get("block_size"):
        return None
    return None if node.attributes.get("output_dtype") else (q.astype(np.int32) - (zero[0] if zero else 0)).astype(np.float32) * scale


@folds("Trilu")
def _trilu(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
    k = int(inputs[1].reshape(())) if len(inputs) > 1 else 0
    return np.triu(inputs[0], k) if node.flag("upper", True) else np.tril(inputs[0], k)


@folds("CastLike")
def _cast_like(node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray | None:
    return None if object in (inputs[0].dtype, inputs[1].dtype) else inputs[0].astype(inputs[1].dtype)
