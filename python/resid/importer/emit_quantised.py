# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Quantised operators of ONNX and of ONNX Runtime, as these define them. u8 is less 128 in the text (elements.stored), its zero points
# too, so that differences stay what they are and products are those of i8.

from __future__ import annotations

import numpy as np

from . import elements
from .emit import Emitter, handles
from .emit_elementwise import absolute, elementwise
from .emit_linear import linear_of_integers, matmul
from .emit_reduce import kept_dims, reduce
from .emit_shapes import reshape
from .errors import ModelError, Unsupported
from .fold import element_of
from .graph import Node
from .program import Program, Tensor, fixed, signed
from .sizes import Dim
from .weights import nibbles

_FLOATS, _BYTES = ("f16", "bf16", "f32"), ("i8", "u8")
_EPSILONS = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23}


def _one_of(tensor: Tensor, *allowed: str) -> Tensor:
    if tensor.element not in allowed:
        raise Unsupported(f"elements of {tensor.element}: expected {' or '.join(allowed)}")
    return tensor


def _element(e: Emitter, node: Node, name: str) -> str:
    """An element type that an attribute says, "" where it does not."""
    code = e.attribute(node, name, 0)
    try:
        return element_of(code) if code else ""
    except ValueError as error:
        raise Unsupported(f"attribute {name}: {error}") from error


def _squeezed(p: Program, tensor: Tensor) -> Tensor:
    """A parameter of one element with rank 0."""
    return reshape(p, tensor, []) if tensor.rank and all(dim == 1 for dim in tensor.dims) else tensor


def _zero(p: Program, zero: Tensor | None, kind: str, scale: Tensor | None = None) -> Tensor | None:
    """A zero point as i8, or None where it changes nothing. `kind` is the type of the integers: 0 of u8 is not 0 in the text."""
    if zero is not None and zero.element != kind:
        raise ModelError(f"expected a zero point of {kind}, found {zero.type}")
    if zero is not None and scale is not None and _squeezed(p, zero).dims != _squeezed(p, scale).dims:
        raise ModelError(f"expected a zero point of the shape of the scale, {scale.type}, found {zero.type}")
    zero = signed(Tensor(kind, (), known=np.zeros((), elements.to_numpy(kind))) if zero is None else zero)
    return None if zero.is_constant() and not zero.array.any() else _squeezed(p, zero)


def _beside(e: Emitter, node: Node, x: Tensor, parameters: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
    """x, and its parameters in shapes that broadcast to its shape: of the whole, of each element of an axis, or of blocks along it,
    where x has a dimension for the blocks and one for what is in each."""
    p, block = e.program, e.attribute(node, "block_size", 0)
    if block < 0:
        raise ModelError(f"attribute block_size = {block}: expected none, or a positive number")
    if not block and not parameters[0].rank:
        return x, parameters
    axis = e.axis(e.attribute(node, "axis", 1), x.rank)
    size, found = x.dims[axis], parameters[0]
    if not block:
        if found.rank != 1 or (isinstance(size, int) and found.dims[0] not in (size, 1)):
            raise ModelError(f"expected one scale, or one for each element of axis {axis} of {x.type}, found {found.type}")
        shape: list[Dim] = [size if i == axis else 1 for i in range(x.rank)]
        return x, [reshape(p, parameter, shape) if parameter.rank else parameter for parameter in parameters]
    if not isinstance(size, int) or size % block:
        raise Unsupported(f"blocks of {block} along axis {axis} of {x.type}: expected a size that they divide")
    dims = (*x.dims[:axis], size // block, *x.dims[axis + 1 :])
    parts = [(*d[:axis], d[axis], n, *d[axis + 1 :]) for d, n in ((dims, block), (dims, 1))]
    for parameter in parameters:
        if parameter.rank and parameter.dims != dims:
            raise ModelError(f"expected parameters of sizes {list(dims)} for blocks of {block}, found {parameter.type}")
    return reshape(p, x, parts[0]), [reshape(p, given, parts[1]) if given.rank else given for given in parameters]


def _widened(p: Program, name: str, element: str) -> str:
    return p.inner(f"arith.extf {name} : {element} to f32") if element in ("f16", "bf16") else name


def _narrowed(p: Program, name: str, element: str) -> str:
    return p.inner(f"arith.truncf {name} : f32 to {element}") if element in ("f16", "bf16") else name


@handles("DequantizeLinear", attributes=("axis", "block_size", "output_dtype", "resid.bits"), takes_bytes=True)
def _dequantize(e: Emitter, node: Node) -> Tensor:
    """(x - zero)·scale, with one rounding."""
    p, x, scale = e.program, _one_of(e.input(node, 0), *_BYTES, "i32"), _one_of(e.input(node, 1), *_FLOATS)
    zero = e.input(node, 2) if node.input(2) else None
    kind = _element(e, node, "output_dtype") or scale.element
    if kind not in (scale.element, "f32") or (x.element == "i32" and scale.element != "f32"):
        raise Unsupported(f"{x.element} with a scale of {scale.element} as {kind}")
    if x.element == "i32":
        if zero is not None and not (zero.is_constant() and not zero.array.any()):
            raise Unsupported("a zero point of i32 other than 0")
        zero = None
    else:
        zero = _zero(p, zero, x.element, scale)
    dims, x, source = x.dims, signed(x), scale.element
    x, parameters = _beside(e, node, x, [_squeezed(p, scale), *([zero] if zero else [])])

    def body(a: str, s: str, *z: str) -> str:
        if x.element == "i8":
            a, *wide = (p.inner(f"arith.extsi {name} : i8 to i32") for name in (a, *z))
            z = tuple(wide)
        difference = p.inner(f"arith.subi {a}, {z[0]} : i32") if z else a
        number = p.inner(f"arith.sitofp {difference} : i32 to f32")
        return _narrowed(p, p.inner(f"arith.mulf {number}, {_widened(p, s, source)} : f32"), kind)

    return reshape(p, elementwise(p, [x, *parameters], kind, body), dims)


def _to_byte(p: Program, number: str, zero: str = "") -> str:
    """An f32 rounded half to even, plus the zero point, as the nearest i8; a NaN as -128."""
    number = p.inner(f"math.roundeven {number} : f32")
    if zero:
        number = p.inner(f"arith.addf {number}, {p.inner(f'arith.sitofp {zero} : i8 to f32')} : f32")
    number = p.inner(f"arith.maxnumf {number}, {p.scalar(-128, 'f32')} : f32")
    number = p.inner(f"arith.minimumf {number}, {p.scalar(127, 'f32')} : f32")
    return p.inner(f"arith.fptosi {number} : f32 to i8")


@handles("QuantizeLinear", attributes=("axis", "block_size", "output_dtype", "precision", "saturate"), takes_bytes=True)
def _quantize(e: Emitter, node: Node) -> Tensor:
    """x/scale, rounded half to even, plus the zero point, saturated."""
    p, x, scale = e.program, _one_of(e.input(node, 0), *_FLOATS), _one_of(e.input(node, 1), *_FLOATS)
    zero = e.input(node, 2) if node.input(2) else None
    kind = zero.element if zero is not None else _element(e, node, "output_dtype") or "u8"
    if kind not in _BYTES:
        raise Unsupported(f"a result of {kind}: expected {' or '.join(_BYTES)}")
    if _element(e, node, "output_dtype") not in ("", kind):
        raise ModelError(f"attribute output_dtype: expected {kind}, as the zero point has it")
    divided = _element(e, node, "precision") or scale.element
    # Where one is narrower than the quotient, it is exact in its type.
    if divided not in ("f32", x.element) or divided not in ("f32", scale.element):
        raise Unsupported(f"a division of {x.element} by {scale.element} in {divided}")
    zero = _zero(p, zero, kind, scale)
    dims, parts = x.dims, (x.element, scale.element)
    x, parameters = _beside(e, node, x, [_squeezed(p, scale), *([zero] if zero else [])])

    def body(a: str, s: str, *z: str) -> str:
        a, s = (_widened(p, name, part) for name, part in zip((a, s), parts))
        quotient = _narrowed(p, p.inner(f"arith.divf {a}, {s} : f32"), divided)
        return _to_byte(p, _widened(p, quotient, divided), *z)

    return reshape(p, elementwise(p, [x, *parameters], kind, body), dims)


@handles("DynamicQuantizeLinear")
def _dynamic_quantize(e: Emitter, node: Node) -> list[Tensor]:
    """u8 with the scale and the zero point of all elements and 0. Zeros alone have a scale of 1, as in ONNX Runtime, where ONNX
    divides 0 by 0."""
    p, x = e.program, _one_of(e.value(node, 0), "f32")
    low, high = (reduce(p, kind, x, range(x.rank)) for kind in ("minimum", "maximum"))
    nothing, one, steps = (p.scalar(number, "f32") for number in (0, 1, 255))

    def of_range(a: str, b: str) -> str:
        a, b = (p.inner(f"arith.{op} {name}, {nothing} : f32") for op, name in (("minimumf", a), ("maximumf", b)))
        quotient = p.inner(f"arith.divf {p.inner(f'arith.subf {b}, {a} : f32')}, {steps} : f32")
        return p.inner(f"arith.select {p.inner(f'arith.cmpf oeq, {a}, {b} : f32')}, {one}, {quotient} : f32")

    def of_zero(a: str, s: str) -> str:
        quotient = p.inner(f"arith.divf {p.inner(f'arith.minimumf {a}, {nothing} : f32')}, {s} : f32")
        return _to_byte(p, p.inner(f"arith.subf {nothing}, {quotient} : f32"), p.scalar(-128, "i8"))

    scale = elementwise(p, [low, high], "f32", of_range)
    zero = elementwise(p, [low, scale], "u8", of_zero)

    def body(a: str, s: str, z: str) -> str:
        return _to_byte(p, p.inner(f"arith.divf {a}, {s} : f32"), z)

    return [elementwise(p, [x, scale, zero], "u8", body), scale, zero]


def _of_rows(p: Program, parameter: Tensor) -> Tensor:
    """A parameter of a product's rows, [rows] or […, rows, 1], so that it broadcasts."""
    return reshape(p, parameter, [*parameter.dims, 1]) if parameter.rank == 1 else parameter


def _total(e: Emitter, node: Node, left: int, right: int) -> Tensor:
    """Σ (a - zero_a)·(b - zero_b) of matrices in i32, modulo 2³²: the product of i8, and what the zero points add to it. `left` and
    `right` are the places of a and b among the inputs; those of the zero points are theirs and 2 more."""
    p = e.program
    operands = [_one_of(e.input(node, index), *_BYTES) for index in (left, right)]
    if any(operand.rank < 2 for operand in operands):
        raise Unsupported(f"a product of {' and '.join(operand.type for operand in operands)}: expected matrices")
    zeros = [
        _zero(p, e.input(node, index + 2) if node.input(index + 2) else None, operand.element)
        for index, operand in zip((left, right), operands)
    ]
    a, b = (signed(operand) for operand in operands)
    sums = matmul(p, a, b, "i32")
    row, column = zeros
    terms = []  # what is taken away: (operands, factors of each product)
    if row is not None:
        terms.append([_of_rows(p, row), _sums_of_columns(e, node, b, column)])
    if column is not None:
        terms.append([_sums(p, a, a.rank - 1), column])
    if not terms:
        return sums
    factors = [factor for term in terms for factor in term]
    kinds = [factor.element for factor in factors]

    def body(total: str, *names: str) -> str:
        wide = [p.inner(f"arith.extsi {name} : i8 to i32") if kind == "i8" else name for name, kind in zip(names, kinds)]
        for first, second in zip(wide[::2], wide[1::2]):
            total = p.inner(f"arith.subi {total}, {p.inner(f'arith.muli {first}, {second} : i32')} : i32")
        return total

    result = elementwise(p, [sums, *factors], "i32", body)
    if result.dims != sums.dims:
        raise ModelError(f"zero points of {' and '.join(zero.type for zero in zeros if zero)} for a product of {sums.type}")
    return result


def _sums(p: Program, tensor: Tensor, axis: int) -> Tensor:
    """Of i8, in i32, along an axis, of which 1 is left."""
    tensor, loops = p.value(tensor), ["reduction" if i == axis else "parallel" for i in range(tensor.rank)]
    kept = [i for i in range(tensor.rank) if i != axis]
    dims = [tensor.dims[i] for i in kept]

    def body(a: str, total: str) -> str:
        return p.inner(f"arith.addi {total}, {p.inner(f'arith.extsi {a} : i8 to i32')} : i32")

    inputs = [(tensor, range(tensor.rank))]
    return reshape(p, p.generic(inputs, "i32", dims, body, p.filled(0, "i32", dims), loops, kept), kept_dims(tensor, [axis]))


def _sums_of_columns(e: Emitter, node: Node, b: Tensor, zero: Tensor | None) -> Tensor:
    """Σ (b - zero) down the columns, a constant where b is one."""
    p, axis = e.program, b.rank - 2
    if b.is_constant() and (zero is None or zero.is_constant()):
        moved = b.array.astype(np.int64) - (0 if zero is None else zero.array)
        if moved.shape != b.dims:
            raise ModelError(f"a zero point of another shape than the columns of {b.type}")
        return e.constant(f"{node.outputs[0]}.sums", moved.sum(axis, keepdims=True).astype(np.int32))
    sums = _sums(p, b, axis)
    if zero is None:
        return sums
    count = p.scalar_of_size(b.dims[axis], "i32")

    def body(total: str, z: str) -> str:
        taken = p.inner(f"arith.muli {p.inner(f'arith.extsi {z} : i8 to i32')}, {count} : i32")
        return p.inner(f"arith.subi {total}, {taken} : i32")

    return elementwise(p, [sums, zero], "i32", body)


@handles("MatMulInteger", takes_bytes=True)
def _matmul_integer(e: Emitter, node: Node) -> Tensor:
    return _total(e, node, 0, 1)


@handles("QLinearMatMul", takes_bytes=True)
def _qlinear_matmul(e: Emitter, node: Node) -> Tensor:
    """The sum, to f32, times (scale_a·scale_b)/scale_y, rounded half to even, plus the zero point, saturated."""
    p, kind = e.program, _one_of(e.input(node, 7), *_BYTES).element
    total = _total(e, node, 0, 3)
    scales = [_squeezed(p, _one_of(e.input(node, index), "f32")) for index in (1, 4, 6)]
    zero = _zero(p, e.input(node, 7), kind, scales[2])
    zero = None if zero is None else _of_rows(p, zero)
    scales = [scale if index == 1 else _of_rows(p, scale) for index, scale in enumerate(scales)]
    if all(scale.is_constant() for scale in scales):
        left, right, divisor = (scale.array for scale in scales)
        known = np.asarray(left * right / divisor)
        factor = e.constant(f"{node.outputs[0]}.factors", known)
    else:

        def of_scales(a: str, b: str, y: str) -> str:
            return p.inner(f"arith.divf {p.inner(f'arith.mulf {a}, {b} : f32')}, {y} : f32")

        factor = elementwise(p, scales, "f32", of_scales)

    def body(sum_: str, scale: str, *z: str) -> str:
        number = p.inner(f"arith.sitofp {sum_} : i32 to f32")
        return _to_byte(p, p.inner(f"arith.mulf {number}, {scale} : f32"), *z)

    result = elementwise(p, [total, factor, *([zero] if zero else [])], kind, body)
    if result.dims != total.dims:
        raise ModelError(f"scales of {factor.type} for a product of {total.type}")
    return result


def bytes_of_rows(p: Program, x: Tensor) -> tuple[Tensor, Tensor]:
    """i8 with a scale for each row, as compressed-tensors defines them: max|x|/127.5, or the type's epsilon for 0, and x/scale, rounded
    half to even, from -128 to 127. Scales and quotients are rounded to the type of x; the scales are given in f32."""
    kind, half, least = x.element, p.scalar(127.5, "f32"), p.scalar(_EPSILONS[x.element], "f32")
    largest = reduce(p, "maximum", absolute(p, x), [x.rank - 1])

    def rounded(quotient: str) -> str:
        return _widened(p, _narrowed(p, quotient, kind), kind)

    def of_scale(m: str) -> str:
        scale, zero = rounded(p.inner(f"arith.divf {m}, {half} : f32")), p.scalar(0, "f32")
        return p.inner(f"arith.select {p.inner(f'arith.cmpf oeq, {scale}, {zero} : f32')}, {least}, {scale} : f32")

    scale = elementwise(p, [largest], "f32", of_scale)

    def body(a: str, s: str) -> str:
        return _to_byte(p, rounded(p.inner(f"arith.divf {_widened(p, a, kind)}, {s} : f32")))

    return elementwise(p, [x, reshape(p, scale, [*scale.dims, 1])], "i8", body), scale


@handles("resid.IntegerProduct", takes_bytes=True)
def _integer_product(e: Emitter, node: Node) -> Tensor:
    """The product of two DequantizeLinear, of bytes with one scale and of a matrix with one for each column or for all: the sum, to
    f32, times scale_a·scale_b."""
    p, total, (left, right) = e.program, _total(e, node, 0, 3), (e.input(node, index).array for index in (1, 4))
    factor = e.constant(f"{node.outputs[0]}.factors", left.reshape(()) * right)

    def body(sum_: str, scale: str) -> str:
        return p.inner(f"arith.mulf {p.inner(f'arith.sitofp {sum_} : i32 to f32')}, {scale} : f32")

    return elementwise(p, [total, factor], "f32", body)


@handles("resid.IntegerLinear", attributes=("group", "bits"))
def _integer_linear(e: Emitter, node: Node) -> Tensor:
    p, q = e.program, e.input(node, 1)
    dims = fixed(q.dims)
    assert dims is not None
    weight = p.weight(node.input(1), f"i{node.attributes['bits']}", dims, nibbles(q.array) if node.attributes["bits"] == 4 else q.array)
    zero = e.input(node, 3) if node.input(3) else None
    return linear_of_integers(p, e.value(node, 0), weight, e.input(node, 2), node.attributes["group"], zero)


@handles("MatMulNBits", attributes=("K", "N", "bits", "block_size", "accuracy_level"), takes_bytes=True)
def _matmul_nbits(e: Emitter, node: Node) -> Tensor:
    """x·Wᵀ, with W = (q - zero)·scale in f32, which is exact enough for each accuracy_level. q is less 8, or less 128, as is zero."""
    p, x = e.program, _one_of(e.value(node, 0), *_FLOATS)
    columns, rows, bits, block = (e.attribute(node, name, default) for name, default in (("K", 0), ("N", 0), ("bits", 4), ("block_size", 0)))
    if node.input(4):
        raise Unsupported("an order of groups (g_idx)")
    if bits not in (4, 8):
        raise Unsupported(f"attribute bits = {bits}: expected 4 or 8")
    if columns < 1 or rows < 1 or block < 2 or block % 2:
        raise ModelError(f"attributes K = {columns}, N = {rows} and block_size = {block}: expected positive, even blocks")
    if columns % block:
        raise Unsupported(f"a last block of {columns % block} of {block}")
    if x.rank == 0 or (isinstance(x.dims[-1], int) and x.dims[-1] != columns):
        raise ModelError(f"expected rows of {columns} elements, found {x.type}")
    groups = columns // block
    given = {index: e.input(node, index) for index in (1, 2, 3, 5) if node.input(index) or index < 3}
    for index, size in ((1, rows * columns * bits // 8), (2, rows * groups), (3, rows * -(-groups * bits // 8)), (5, rows)):
        if index in given and not given[index].is_constant():
            raise Unsupported(f"input {index} ('{node.input(index)}') is known at run time only")
        if index in given and given[index].array.size != size:
            raise ModelError(f"input {index}: expected {size} elements, found {given[index].type}")
    if 3 in given and given[3].element != "u8":
        raise Unsupported(f"zero points of {given[3].element}: expected u8")
    if given[1].element != "u8" or given[2].element != x.element or given.get(5, x).element != x.element:
        raise ModelError(f"a weight of {given[1].element} with scales of {given[2].element}, or a bias, for rows of {x.element}")
    packed, half = given[1].array.reshape(rows, -1), 1 << (bits - 1)
    packed = packed ^ np.uint8(0x88) if bits == 4 else (packed ^ np.uint8(0x80)).view(np.int8)
    weight = p.weight(node.input(1), f"i{bits}", (rows, columns), packed)
    scale = p.weight(node.input(2), x.element, (rows, groups), given[2].array.reshape(rows, groups))
    zero = None
    if 3 in given:
        found = given[3].array.reshape(rows, -1)
        found = np.stack([found & 15, found >> 4], -1).reshape(rows, -1)[:, :groups] if bits == 4 else found
        moved = (found.astype(np.int16) - half).astype(np.int8)
        zero = p.weight(node.input(3), "i8", (rows, groups), moved) if moved.any() else None
    return linear_of_integers(p, x, weight, scale, block, zero, bias=given[5] if 5 in given else None)
