# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operands and attributes with which test_import_operators.py tries each operator of the importer.

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np


@dataclasses.dataclass
class Case:
    """Inputs (None is one that is left out) and attributes. `fixed`: inputs that are always constants of the model. `refused`: part
    of the message, where the importer refuses it. `right`: results, where no other library computes them."""

    inputs: Sequence
    fixed: Sequence[int] = ()
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)
    refused: str = ""
    opset: int | None = None
    results: int = 1
    right: "Sequence | None" = None


def case(
    *inputs: Any,
    fixed: Sequence[int] = (),
    refused: str = "",
    opset: "int | None" = None,
    results: int = 1,
    right: "Sequence | None" = None,
    **attributes: Any,
) -> Case:
    return Case(inputs, fixed, attributes, refused, opset, results, right)


RNG = np.random.default_rng(0)


def f(*dims: int) -> np.ndarray:
    return RNG.standard_normal(dims).astype(np.float32)


def i64(*values: Any) -> np.ndarray:
    return np.array(values, np.int64)


def n(value: Any, dtype: type = np.int64) -> np.ndarray:
    return np.array(value, dtype)


X, ROW, ONE, SCALAR, EMPTY, CUBE = f(3, 4), f(4), f(1, 1, 1), f(), f(0, 4), f(2, 3, 4)
HALF = X.astype(np.float16)
POSITIVE = np.abs(X) + np.float32(0.1)
WHOLE = np.array([[7, -7, 5, -5], [6, -6, 1, -1], [0, 3, -3, 9]], np.int64)
WHOLE_T = np.ascontiguousarray(WHOLE.T)
DIVISORS = np.array([[3, 3, -3, -3], [2, -2, 5, -5], [7, -1, 3, 4]], np.int64)
BIG = np.array([2**53 + 1, -(2**53) - 1, 2**62 + 3], np.int64)
MASK = np.array([[True, False, True, True], [False, False, False, False], [True, True, True, True]])
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -3.5, 2.5], np.float32)

PAIRS = [case(X, f(3, 4)), case(X, ROW), case(ROW, X), case(X, ONE), case(SCALAR, f()), case(EMPTY, ROW), case(f(3, 1), f(1, 4))]
WHOLES = [case(WHOLE, DIVISORS), case(BIG, i64(3, 3, -7)), case(WHOLE, n(3)), case(n(-7), DIVISORS)]
UNARY = [case(X), case(SCALAR), case(EMPTY), case(f(1)), case(SPECIAL)]
COMPARED = [*PAIRS, case(WHOLE, DIVISORS), case(BIG, BIG - 1), case(SPECIAL, SPECIAL[::-1].copy())]
LOGICAL = [case(MASK, ~MASK), case(MASK, MASK[0]), case(n(True, bool), MASK)]
OF_SOME = [case(X), case(X, ROW), case(X, ROW, SCALAR), case(SCALAR)]

AXES = [None, i64(0), i64(-1), i64(0, 2), i64(-1, -3), i64(), i64(0, 1, 2)]
REDUCTIONS = [
    *[case(CUBE, axes, fixed=[1], keepdims=keep) for axes in AXES for keep in (0, 1)],
    *[case(CUBE, axes, fixed=[1], noop_with_empty_axes=1, keepdims=keep) for axes in (None, i64(), i64(1)) for keep in (0, 1)],
    case(SCALAR, None), case(f(1, 3, 1), i64(0, 2), fixed=[1]), case(EMPTY, i64(1), fixed=[1]), case(f(3, 1), i64(1), fixed=[1]),
    case(CUBE, i64(3), fixed=[1], refused="expected an axis from -3 to 2, found 3"),
]  # fmt: skip
WHOLE_REDUCTIONS = [case(WHOLE, i64(1), fixed=[1]), case(BIG, None, keepdims=0), case(-WHOLE, i64(0), fixed=[1], keepdims=0)]
BACKWARDS = [(-1, -(2**63)), (3, 0), (9, -9), (1, 1), (-9, -99), (-1, -(2**31))]
ENDS = [2**31 - 1, 2**63 - 1, 3, 99]

Q, K, V = f(2, 3, 8), f(2, 5, 8), f(2, 5, 8)
PACKED, PACKED_BIAS, TOKENS = f(6, 18), f(18), f(2, 4, 6)
TABLE, IDS = f(9, 6), np.array([[1, 8, 0], [3, 3, 5]], np.int32)
GAMMA, BETA = f(4), f(4)
NORMED = X / np.sqrt((X**2).mean(-1, keepdims=True) + 1e-5)


def q(*dims: int, dtype: type = np.uint8) -> np.ndarray:
    limits = np.iinfo(dtype)
    return RNG.integers(limits.min, limits.max, dims, dtype, endpoint=True)


U8, I8, S4, S3 = q(3, 4), q(3, 4, dtype=np.int8), np.abs(f(4)) + np.float32(0.01), np.abs(f(3)) + np.float32(0.01)
ZERO, ZEROS, ZEROS3, TENTH = n(113, np.uint8), q(4), q(3), n(0.1, np.float32)
# Quotients by 0.5 are ties and numbers beyond both ends.
TIES = np.array([[0.25, 0.75, 1.25, -0.25], [-0.75, -1.25, 80.0, -80.0], [300.0, -300.0, 0.0, -0.0]], np.float32)
QUANTISED = [
    (np.uint8, None), (np.uint8, n(113, np.uint8)), (np.int8, n(0, np.int8)), (np.int8, n(-5, np.int8)), (np.uint8, n(0, np.uint8)),
]  # fmt: skip


def of_bits(bits: int, block: int, *, zeros: bool = False, bias: bool = False, x: "np.ndarray | None" = None, **others: Any) -> Case:
    """MatMulNBits of 64 features to 5."""
    x = f(3, 64) if x is None else x
    groups = 64 // block
    scales = (np.abs(f(5, groups)) + 0.01).astype(x.dtype)
    points = q(5, -(-groups * bits // 8)) if zeros else None
    rest = [points, None, f(5).astype(x.dtype)] if bias else [points]
    attributes = {"K": 64, "N": 5, "bits": bits, "block_size": block, **others}
    return case(x, q(5, groups, block * bits // 8), scales, *rest, fixed=[1, 2, 3, 5], **attributes)


def of_attention(mask: "np.ndarray | None", *rest: Any, refused: str = "", **attributes: Any) -> Case:
    return case(TOKENS, PACKED, PACKED_BIAS, mask, *rest, fixed=[1, 2], num_heads=2, refused=refused, **attributes)


ANGLES = np.arange(12)[:, None] / 7 * 0.3 ** np.arange(8)[None, :]
COS, SIN = np.cos(ANGLES).astype(np.float32), np.sin(ANGLES).astype(np.float32)
FEW_COS, FEW_SIN = COS[:, :3].copy(), SIN[:, :3].copy()
HEADS, POSITIONS, LATER = f(2, 3, 4, 16), i64([0, 1, 2, 3], [7, 2, 11, 0]), i64([5, 6, 7, 8], [5, 6, 7, 8])


def of_groups(past: int, queries: int, lengths: Sequence[int], *rest: Any, packed: bool = False, **attributes: Any) -> Case:
    """GroupQueryAttention of 4 heads on 2 of keys, for as many samples as there are lengths. `rest`: inputs from 7 on."""
    batch = len(lengths)
    q, k, v = f(batch, queries, 64), f(batch, queries, 32), f(batch, queries, 32)
    caches = (f(batch, 2, past, 16), f(batch, 2, past, 16)) if past else (None, None)
    given = (np.concatenate([q, k, v], -1), None, None) if packed else (q, k, v)
    lengths = n([length - 1 for length in lengths], np.int32)
    return case(*given, *caches, lengths, n(past + queries, np.int32), *rest, fixed=[6], num_heads=4, kv_num_heads=2,
                results=3, **attributes)  # fmt: skip


CASES: dict[str, list[Case]] = {
    **{op: [*PAIRS, *WHOLES] for op in ("Add", "Sub", "Mul")},
    "Div": [*PAIRS, *WHOLES, case(WHOLE, n(0), fixed=[1], refused="a division of i64 by 0")],
    "Mod": [
        *[case(*pair.inputs, fmod=fmod) for pair in WHOLES for fmod in (0, 1)], case(X, f(3, 4), fmod=1),
        case(WHOLE, DIVISORS[0]), case(WHOLE, n(0), fixed=[1], refused="by 0"),
    ],
    "Pow": [
        case(POSITIVE, f(3, 4)), *[case(X, n(e, np.float32), fixed=[1]) for e in (0, 1, 2, 3, -1, 4)],
        *[case(POSITIVE, n(e, np.float32), fixed=[1]) for e in (0.5, -0.5, 1.5)], case(X, n(2), fixed=[1]),
        case(X, ONE * 0 + 2, fixed=[1]), case(POSITIVE, ONE * 0 + np.float32(0.5), fixed=[1]),
        case(SPECIAL, n(0.5, np.float32), fixed=[1]), case(SPECIAL, n(-0.5, np.float32), fixed=[1]), case(WHOLE, n(2), fixed=[1]),
        case(WHOLE, n(5), fixed=[1]), case(WHOLE, n(0), fixed=[1]), case(n([3, 5], np.int32), n(3.0, np.float32), fixed=[1]),
        case(POSITIVE, n([1, 2, 3, 4])), case(WHOLE, n(-1), fixed=[1], refused="a power of i64"), case(EMPTY, SCALAR),
    ],
    **{op: OF_SOME for op in ("Sum", "Mean")},
    **{op: [*OF_SOME, case(WHOLE, DIVISORS), case(BIG, BIG - 1, BIG[:1])] for op in ("Min", "Max")},
    **{op: LOGICAL for op in ("And", "Or", "Xor")},
    "Not": [case(MASK), case(n(True, bool))],
    **{op: UNARY for op in ("Exp", "Tanh", "Erf", "Cos", "Sin", "Sigmoid", "Floor", "Ceil", "Round", "IsNaN")},
    **{op: [case(POSITIVE), case(np.abs(SCALAR)), case(EMPTY)] for op in ("Sqrt", "Log", "Reciprocal")},
    **{op: [*UNARY, case(WHOLE), case(BIG)] for op in ("Abs", "Neg")},
    **{op: COMPARED for op in ("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual")},
    "Where": [
        case(MASK, X, f(3, 4)), case(MASK, X, SCALAR), case(MASK[0], ONE, X), case(n(True, bool), X, ROW),
        case(MASK, WHOLE, DIVISORS), case(n([[[True]]], bool), X, X), case(MASK, BIG[:1], BIG[1:2]),
    ],
    "Cast": [
        *[case(X * 5, to=to) for to in (1, 3, 5, 6, 7, 9, 10, 11, 16)],
        *[case(WHOLE, to=to) for to in (1, 3, 6, 7, 9, 10, 11, 16)], *[case(MASK, to=to) for to in (1, 6, 7, 9, 10, 11)],
        case(BIG, to=11), case(BIG, to=1), case(SCALAR, to=7), case(EMPTY, to=7),
        case(np.array([0.0, 1.5, 127.0, 200.25, 255.0, 3.0], np.float32), to=2), case(U8, to=1), case(U8, to=6), case(U8, to=2), case(X, to=4, refused="a cast to element type 4"),
    ],
    "CastLike": [
        case(X * 5, WHOLE, opset=19), case(WHOLE, X, opset=19), case(BIG, n(0.0, np.float64), opset=19),
        case(MASK, SCALAR, opset=19),
    ],
    "Clip": [
        case(X, n(-0.5, np.float32), n(0.5, np.float32)), case(X, None, n(0.5, np.float32)), case(X, n(0.5, np.float32)), case(X),
        case(X, n(0.5, np.float32), n(-0.5, np.float32)), case(WHOLE, n(-2), n(3)), case(SCALAR, n([-0.1], np.float32)),
        case(EMPTY, n(0.0, np.float32)),
    ],
    "Relu": [*UNARY[:4], case(WHOLE, opset=22)],
    "Swish": [case(X, opset=24), case(SCALAR, opset=24)],
    "Gelu": [*UNARY[:4], case(X, approximate="tanh"), case(X, approximate="other", refused="attribute approximate")],
    "Softmax": [
        case(X), case(CUBE, axis=0), case(CUBE, axis=1), case(CUBE, axis=-2), case(f(3, 1)), case(EMPTY),
        *[case(CUBE, axis=axis, opset=11) for axis in (0, 1, 2)],
    ],
    "ReduceSum": [*REDUCTIONS, *WHOLE_REDUCTIONS],
    "ReduceProd": [
        *REDUCTIONS, case(WHOLE, i64(1), fixed=[1]), case(n([2**53 + 1, 3]), keepdims=0, right=[n(3 * 2**53 + 3)]),
    ],
    "ReduceMean": [*REDUCTIONS[:18], *WHOLE_REDUCTIONS, case(n([7, -8]), None)],
    **{
        op: [
            *[c for c in REDUCTIONS if c.inputs[0] is not EMPTY], *WHOLE_REDUCTIONS, case(MASK, i64(1), fixed=[1], opset=20),
        ]
        for op in ("ReduceMax", "ReduceMin")
    },
    "ReduceL1": [*REDUCTIONS, *WHOLE_REDUCTIONS],
    "ReduceL2": REDUCTIONS,
    "ReduceSumSquare": [*REDUCTIONS, case(WHOLE, i64(1), fixed=[1]), case(n([2**26 + 1, 3]), None)],
    "ReduceLogSum": [dataclasses.replace(c, inputs=[np.abs(c.inputs[0]), *c.inputs[1:]]) for c in REDUCTIONS],
    "CumSum": [
        case(X, n(0), fixed=[1]), case(X, n(-1), fixed=[1]), case(WHOLE, n([1]), fixed=[1]), case(EMPTY, n(0), fixed=[1]),
        case(f(1), n(0), fixed=[1]),
    ],
    "MatMul": [
        case(f(3, 4), f(4, 5)), case(f(4), f(4)), case(f(4), f(4, 5)), case(f(3, 4), f(4)), case(CUBE, f(4, 5)),
        case(CUBE, f(2, 4, 5)), case(f(2, 1, 3, 4), f(5, 4, 2)), case(f(4), f(2, 4, 3)), case(f(2, 3, 4), f(4)),
        case(WHOLE, WHOLE_T), case(f(0, 4), f(4, 5)), case(f(3, 0), f(0, 5)), case(f(1, 1), f(1, 1)),
        case(WHOLE.astype(np.int32), WHOLE_T.astype(np.int32)),
        case(X, f(3, 4), refused="a product of rows of 4 elements and columns of 3"),
    ],
    "Gemm": [
        case(f(3, 4), f(4, 5), f(5)), case(f(3, 4), f(4, 5)),
        case(f(4, 3), f(5, 4), f(3, 5), transA=1, transB=1, alpha=0.5, beta=2.0), case(f(3, 4), f(4, 5), f(3, 1)),
        case(f(3, 4), f(4, 5), f(1, 5), beta=0.5), case(f(3, 4), f(4, 5), f()), case(f(3, 4), f(4, 5), f(1)),
        case(f(3, 4), f(4, 5), f(5), beta=0.0), case(f(3, 4), f(4, 1), f(1)),
        case(WHOLE.astype(np.int32), WHOLE_T.astype(np.int32), n([1, 2, 3], np.int32)), case(f(0, 4), f(4, 5), f(5)),
    ],
    "Conv": [
        case(f(2, 3, 4, 4), f(5, 3, 2, 2), f(5), strides=[2, 2]), case(f(2, 3, 6), f(5, 3, 2), strides=[2]),
        case(f(1, 1, 4, 4), f(1, 1, 2, 2), strides=[1, 1]), case(f(2, 4, 5, 7), f(6, 2, 3, 2), f(6), group=2, pads=[1, 0, 2, 1]),
        case(f(2, 3, 7, 6), f(4, 3, 3, 3), f(4), strides=[2, 1], dilations=[1, 2]), case(f(2, 3, 9), f(3, 1, 4), f(3), group=3, pads=[3, 0]),
        case(f(1, 2, 3, 4, 5), f(2, 2, 2, 2, 2), f(2)), case(f(2, 6, 5, 5), f(12, 1, 3, 3), f(12), group=6, auto_pad="SAME_UPPER", strides=[2, 2]),
        case(f(2, 3, 6, 5), f(4, 3, 2, 4), auto_pad="SAME_LOWER"), case(f(2, 3, 7, 7), f(4, 3, 2, 2), strides=[2, 2]),
        case(f(1, 1, 2, 2), f(1, 1, 3, 3), refused="does not fit into"), case(f(1, 1, 17, 17), f(1, 1, 17, 17), pads=[1, 1, 1, 1], refused="289 places"),
    ],
    "MaxPool": [
        case(f(2, 3, 5, 6), kernel_shape=[2, 3]), case(f(2, 3, 5, 6), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        case(f(2, 3, 9), kernel_shape=[2], dilations=[3]), case(f(1, 2, 6, 6), kernel_shape=[3, 3], auto_pad="SAME_UPPER", strides=[2, 2]),
        case(f(1, 2, 6, 6), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
        case(f(1, 2, 5, 8), kernel_shape=[2, 3], strides=[3, 4], pads=[1, 1, 0, 1], ceil_mode=1), case(f(2, 6), kernel_shape=[2], refused="a kernel of [2]"),
    ],
    "AveragePool": [
        case(f(2, 3, 5, 6), kernel_shape=[2, 3]), case(f(2, 3, 5, 6), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1),
        case(f(2, 3, 5, 6), kernel_shape=[3, 3], pads=[1, 1, 1, 1], refused="padding that does not count"), case(f(1, 2, 6), kernel_shape=[2], ceil_mode=1, refused="ceil_mode"),
        case(f(2, 3, 5), kernel_shape=[3], auto_pad="SAME_UPPER", refused="auto_pad"),
    ],
    "QuantizeLinear": [
        *[case(TIES, n(0.5, np.float32), zero) for _, zero in QUANTISED], case(SPECIAL, TENTH, ZERO), case(SPECIAL, TENTH, n(-3, np.int8)), case(X * 50, TENTH, ZERO), case(X * 50, S4, ZEROS, axis=-1),
        case(X * 50, S3, n([7, -7, 0], np.int8), axis=0), case(X * 50, n([0.3], np.float32)), case(SCALAR, TENTH, ZERO), case(EMPTY, TENTH),
        case(X * 50, np.abs(f(3, 2)) + 0.1, q(3, 2), axis=1, block_size=2, opset=21), case(X * 50, TENTH, output_dtype=3, opset=21),
        case(HALF, n(0.1, np.float16), ZERO, opset=21), case(X, TENTH, n(3, np.uint16), fixed=[2], opset=21, refused="element type uint16"),
        case(X, TENTH, output_dtype=22, opset=21, refused="element type 22"), case(WHOLE.astype(np.int32), TENTH, opset=23, refused="elements of i32"),
        case(X, np.abs(f(3, 2)) + 0.1, axis=1, block_size=3, opset=21, refused="blocks of 3"), case(HALF, TENTH, opset=23), case(X, n(0.1, np.float16), opset=23, refused="a division of f32 by f16"),
        case(HALF, TENTH, ZERO, precision=1, opset=23),
    ],
    "DequantizeLinear": [
        case(U8, TENTH, ZERO), case(U8, TENTH), case(I8, TENTH), case(I8, TENTH, n(-7, np.int8)), case(U8, S4, ZEROS, axis=-1),
        case(I8, S3, axis=0), case(q(4), TENTH, n(255, np.uint8)), case(n(200, np.uint8), TENTH, ZERO), case(q(0, 4), TENTH),
        case(U8, np.abs(f(3, 2)), q(3, 2), axis=1, block_size=2, opset=21), case(U8, n(0.1, np.float16), ZERO, opset=21),
        case(WHOLE.astype(np.int32), TENTH), case(n([2**31 - 1, -(2**31), 2**24 + 1], np.int32), TENTH), case(q(2, 3, 4), S3, ZEROS3),
        case(n([[3]], np.uint16), TENTH, opset=21, refused="element type uint16"), case(U8, S3, axis=1, refused="expected one scale"),
        case(U8, TENTH, output_dtype=10, opset=23, refused="u8 with a scale of f32 as f16"),
    ],
    "DynamicQuantizeLinear": [
        case(X), case(TIES[:2]), case(np.abs(X)), case(-np.abs(X) - 1), case(np.zeros((2, 3), np.float32)), case(f(1) * 1e-30), case(SCALAR), case(f(40, 50) * 7),
    ],
    "MatMulInteger": [
        *[case(q(3, 40, dtype=a), q(40, 5, dtype=b), za, zb) for a, za in QUANTISED for b, zb in QUANTISED],
        case(q(2, 3, 40), q(40, 20), ZERO, q(20)), case(q(2, 3, 40), q(2, 40, 20, dtype=np.int8), ZERO), case(q(3, 40), q(40, 20), ZEROS3),
        case(q(2, 3, 40), q(1, 40, 20), q(2, 3, 1), q(1, 1, 20)), case(q(3, 0), q(0, 2), ZERO, n(5, np.uint8), right=[np.zeros((3, 2), np.int32)]), case(q(0, 4), q(4, 2), ZERO),
        case(q(4), q(4, 2), refused="expected matrices"), case(q(3, 4), q(5, 2), refused="rows of 4 elements"),
    ],
    "QLinearMatMul": [
        *[case(q(3, 40, dtype=a), TENTH, za, q(40, 20, dtype=b), n(0.02, np.float32), zb, n(3.5, np.float32), zy)
          for (a, za), (b, zb), zy in ((QUANTISED[1], QUANTISED[1], ZERO), (QUANTISED[3], QUANTISED[2], n(-3, np.int8)), (QUANTISED[4], QUANTISED[3], n(9, np.uint8)))],
        case(q(3, 40), TENTH, ZERO, q(40, 4), S4, ZEROS, n(9.5, np.float32), n(100, np.uint8)),
        case(q(2, 3, 40), TENTH, ZERO, q(40, 20), TENTH, ZERO, n(35.0, np.float32), n(100, np.uint8)),
    ],
    "MatMulNBits": [
        of_bits(4, 32), of_bits(4, 16, zeros=True), of_bits(4, 64, zeros=True), of_bits(8, 32), of_bits(8, 32, zeros=True, bias=True), of_bits(4, 32, bias=True),
        of_bits(4, 32, x=f(2, 3, 64)), of_bits(4, 32, x=f(3, 64).astype(np.float16)), of_bits(4, 32, accuracy_level=1),
        of_bits(2, 32, refused="attribute bits = 2"), of_bits(4, 32, K=48, refused="a last block of 16 of 32"),
    ],
    "Shape": [
        case(CUBE), case(CUBE, start=1), case(CUBE, start=-2, end=-1), case(CUBE, start=-9, end=9), case(SCALAR), case(EMPTY),
        case(CUBE, start=2, end=1),
    ],
    "Size": [case(CUBE), case(SCALAR), case(EMPTY)],
    "Reshape": [
        case(CUBE, i64(4, 6), fixed=[1]), case(CUBE, i64(0, -1), fixed=[1]), case(CUBE, i64(-1), fixed=[1]),
        case(f(1, 1), i64(), fixed=[1]), case(SCALAR, i64(1, 1), fixed=[1]), case(EMPTY, i64(0, 2, 2), fixed=[1]),
        case(f(0, 3), i64(3, 0), fixed=[1], allowzero=1),
        case(f(4, 0), i64(-1, 2, 5, 0), fixed=[1], refused="0 only for one of 2"),
        case(CUBE, i64(5, 5), fixed=[1], refused="has other elements"),
        case(CUBE, i64(-1, -1), fixed=[1], refused="at most one -1"), case(WHOLE, i64(6, 2), fixed=[1]),
    ],
    "Flatten": [*[case(CUBE, axis=axis) for axis in (0, 1, 2, 3, -1, -3)], case(SCALAR, axis=0), case(EMPTY)],
    "Unsqueeze": [
        case(X, i64(0), fixed=[1]), case(X, i64(-1, 0), fixed=[1]), case(SCALAR, i64(0), fixed=[1]),
        case(X, i64(1, 3), fixed=[1]), case(X, i64(0, 0), fixed=[1], refused="axes that differ"),
    ],
    "Squeeze": [
        case(f(1, 3, 1), None), case(f(1, 3, 1), i64(0), fixed=[1]), case(f(1, 3, 1), i64(-1, 0), fixed=[1]), case(f(1, 1), None),
        case(f(1), i64(0), fixed=[1]), case(X, None), case(X, i64(0), fixed=[1], refused="expected sizes"),
        case(f(1, 3), i64(), fixed=[1], refused="given but empty"), case(f(0, 1), i64(1), fixed=[1]),
    ],
    "Transpose": [
        case(CUBE), case(CUBE, perm=[1, 0, 2]), case(SCALAR), case(f(4)), case(EMPTY),
        case(CUBE, perm=[0, 0, 1], refused="expected an order of 3"),
    ],
    "Expand": [
        case(ROW, i64(3, 4), fixed=[1]), case(f(3, 1), i64(2, 1, 4), fixed=[1]), case(X, i64(1), fixed=[1]),
        case(SCALAR, i64(2, 2), fixed=[1]), case(f(1, 4), i64(0, 1), fixed=[1]), case(X, i64(), fixed=[1]),
    ],
    "Tile": [
        case(X, i64(2, 3), fixed=[1]), case(X, i64(1, 1), fixed=[1]), case(X, i64(0, 2), fixed=[1]),
        case(f(1, 3), i64(4, 1), fixed=[1]), case(f(4), i64(2), fixed=[1]),
    ],
    "Concat": [
        case(X, f(3, 4), axis=0), case(X, f(3, 2), axis=-1), case(X, f(0, 4), axis=0), case(f(0, 4), f(0, 4), axis=0),
        case(X, axis=0), case(WHOLE, WHOLE, WHOLE, axis=1), case(X, f(2, 3), axis=0, refused="expected sizes"),
        case(X, f(4), axis=0, refused="parts of one rank"),
    ],
    "Split": [
        case(f(6, 2), i64(2, 4), fixed=[1], results=2), case(f(2, 6), i64(6, 0), fixed=[1], axis=1, results=2),
        case(f(2, 6), None, axis=-1, num_outputs=3, results=3, opset=18), case(f(5, 2), None, num_outputs=3, results=3, opset=18),
        case(f(6), i64(1, 2, 3), fixed=[1], results=3), case(f(6, 2), i64(2, 3), fixed=[1], results=2, refused="expected sizes"),
        case(f(6), i64(-1, 7), fixed=[1], results=2, refused="expected 2 parts"), case(WHOLE, i64(1, 2), fixed=[1], results=2),
    ],
    "Slice": [
        case(X, i64(1), i64(3), fixed=[1, 2]), *[case(X, i64(1), i64(end), fixed=[1, 2]) for end in ENDS],
        case(X, i64(-2), i64(-1), i64(-1), fixed=[1, 2, 3]),
        case(X, i64(0, 1), i64(9, 3), i64(0, 1), i64(2, 2), fixed=[1, 2, 3, 4]), case(X, i64(3), i64(9), fixed=[1, 2]),
        case(X, i64(7), i64(9), fixed=[1, 2]), case(X, i64(2), i64(1), fixed=[1, 2]), case(EMPTY, i64(0), i64(9), fixed=[1, 2]),
        case(X, i64(-99), i64(99), i64(1), None, fixed=[1, 2, 3]), case(X, i64(-99), i64(99), i64(1), i64(2), fixed=[1, 2, 3, 4]),
        *[case(X, i64(start), i64(end), i64(1), i64(-1), fixed=[1, 2, 3, 4]) for start, end in BACKWARDS],
        case(X, i64(3), i64(-5), i64(1), i64(-2), fixed=[1, 2, 3, 4]),
        case(X, i64(0), i64(2), i64(0), i64(0), fixed=[1, 2, 3, 4], refused="a step of 0"),
        case(WHOLE, i64(2), i64(-(2**63)), i64(0), i64(-1), fixed=[1, 2, 3, 4]),
    ],
    "Pad": [
        case(X, i64(0, 1, 2, 0), fixed=[1]), case(X, i64(1, 1, 1, 1), n(2.5, np.float32), fixed=[1, 2]),
        case(X, i64(2, 1), None, i64(-1), fixed=[1, 3], opset=18), case(SCALAR, i64(), fixed=[1]),
        case(WHOLE, i64(0, 0, 1, 1), n(7), fixed=[1, 2]), case(EMPTY, i64(1, 0, 0, 0), fixed=[1]),
        case(X, i64(0, -1, 0, 0), fixed=[1], refused="no negative numbers"),
        case(X, i64(1, 1, 1, 1), None, fixed=[1], mode="reflect", refused="attribute mode"),
        case(X, i64(1, 1), fixed=[1], refused="expected 4 numbers"), case(X, i64(0, 0, 0, 0), fixed=[1]),
    ],
    "Trilu": [
        case(f(4, 4)), case(f(4, 4), upper=0), case(f(2, 3, 5), n(1), fixed=[1]), case(f(5, 3), n(-1), fixed=[1], upper=0),
        case(f(3, 3), n(99), fixed=[1]), case(f(3, 3), n(-(2**62)), fixed=[1], upper=0), case(WHOLE), case(EMPTY),
    ],
    "Identity": [case(X), case(SCALAR), case(EMPTY), case(WHOLE), case(MASK)],
    "Gather": [
        case(X, n([2, 0]), axis=0), case(X, n([[1, -1]]), axis=1), case(X, n(1), axis=0), case(X, n(-1), axis=1),
        case(CUBE, n([1, 0], np.int32), axis=-1), case(WHOLE, n([[0, 2]]), axis=0), case(X, n([0, -1]), fixed=[1]),
        case(X, n(3), fixed=[1], refused="expected places from -3 to 2"),
        case(X, n([0, 5]), fixed=[1], refused="expected places"), case(ROW, n(2)), case(ROW, n([1])), case(MASK, n([1, 1])),
        case(X, np.zeros((0,), np.int64), axis=0), case(X, np.zeros((0, 2), np.int64), axis=1),
    ],
    "GatherElements": [
        case(X, n([[0, 2, 1, 0]])), case(X, n([[0, 3], [-1, 1], [2, 2]]), axis=1), case(WHOLE, n([[1, -1, 0, 0]])),
        case(ROW, n([3, 0, 0])),
    ],
    "GatherND": [
        case(X, n([[0, 1], [2, 3]])), case(CUBE, n([[1], [0]])), case(X, n([1, 2])), case(CUBE, n([[[0, 1]], [[1, -1]]])),
        case(X, n([[1]]), batch_dims=1, refused="batch_dims"),
    ],
    "Range": [
        case(n(0), n(5), n(1), fixed=[0, 1, 2]), case(n(5), n(0), n(-2), fixed=[0, 1, 2]),
        case(n(5), n(0), n(1), fixed=[0, 1, 2]),
        case(n(0.5, np.float32), n(3.0, np.float32), n(0.7, np.float32), fixed=[0, 1, 2]),
        case(n(2**53 + 1), n(2**53 + 4), n(1), fixed=[0, 1, 2]),
    ],
    "ConstantOfShape": [
        case(i64(2, 3), fixed=[0]), case(i64(), fixed=[0]), case(i64(2, 0), fixed=[0], value=n([7])),
        case(i64(2), fixed=[0], value=n([True], bool)), case(i64(-1), fixed=[0], refused="expected sizes"),
    ],
    "LayerNormalization": [
        case(X, GAMMA, BETA), case(X, GAMMA), case(CUBE, f(3, 4), f(3, 4), axis=1), case(CUBE, f(4), f(4), axis=-1, epsilon=0.1),
        case(X, GAMMA, BETA, results=3), case(CUBE, f(2, 3, 4), axis=0, results=3), case(f(4), f(4)), case(f(3, 1), f(1), f(1)),
        case(EMPTY, GAMMA, BETA), case(CUBE, f(4), axis=1),
    ],
    "RMSNormalization": [
        case(X, GAMMA, opset=23), case(CUBE, f(3, 4), axis=1, opset=23),
        case(X, GAMMA.astype(np.float64), opset=23, right=[NORMED.astype(np.float64) * GAMMA]),
    ],
    "SimplifiedLayerNormalization": [
        case(X, GAMMA), case(CUBE, f(4), epsilon=0.1),
        case(HALF, GAMMA, right=[HALF / np.sqrt((HALF.astype(np.float32) ** 2).mean(-1, keepdims=True) + 1e-5) * GAMMA]),
    ],
    "Dropout": [
        case(X), case(X, n(0.3, np.float32), results=2), case(X, n(0.3, np.float32), n(False, bool), fixed=[2]),
        case(X, n(0.3, np.float32), n(True, bool), fixed=[1, 2], refused="training_mode is true"),
    ],
    "Attention": [
        case(Q, K, V, q_num_heads=2, kv_num_heads=2, opset=23),
        case(Q, K, V, q_num_heads=4, kv_num_heads=4, is_causal=1, opset=23),
        case(Q, K, V, f(3, 5), q_num_heads=2, kv_num_heads=2, opset=23),
        case(Q, K, V, RNG.random((2, 1, 3, 5)) > 0.3, q_num_heads=2, kv_num_heads=2, scale=0.3, opset=23),
        case(f(1, 4, 3, 8), f(1, 2, 5, 8), f(1, 2, 5, 8), opset=23),
    ],
    "BiasGelu": [case(X, ROW), case(CUBE, ROW)],
    "FastGelu": [case(X, ROW), case(X)],
    "QuickGelu": [case(X, alpha=1.702), case(X, alpha=1.0), case(X)],
    "BiasAdd": [case(CUBE, ROW, f(2, 3, 4), right=None, refused="")],
    "BiasSoftmax": [case(CUBE, f(2, 1, 4), axis=2, is_inner_broadcast=1)],
    "SkipLayerNormalization": [
        case(CUBE, f(2, 3, 4), GAMMA, BETA, ROW, epsilon=1e-5), case(CUBE, f(2, 3, 4), GAMMA, epsilon=1e-5),
    ],
    "SkipSimplifiedLayerNormalization": [case(CUBE, f(2, 3, 4), GAMMA, ROW, epsilon=1e-5), case(CUBE, f(2, 3, 4), GAMMA)],
    "EmbedLayerNormalization": [
        case(IDS, IDS % 2, TABLE, f(5, 6), f(2, 6), f(6), f(6), None, epsilon=1e-5, results=1),
        case(IDS, None, TABLE, f(5, 6), None, f(6), f(6)),
        case(IDS, IDS % 2, TABLE, f(5, 6), f(2, 6), f(6), f(6), np.array([[1, 1, 0], [1, 1, 1]], np.int32), results=2),
    ],
    "FusedMatMul": [
        case(f(3, 4), f(4, 5), alpha=0.5), case(f(4, 3), f(5, 4), transA=1, transB=1),
        case(CUBE, f(2, 5, 4), transB=1, alpha=2.0), case(X, X, transBatchA=1, refused="transBatchA"),
    ],
    "com.microsoft.Attention": [
        of_attention(None), of_attention(n([3, 2], np.int32)), of_attention(n([3, 2], np.int32), unidirectional=1),
        of_attention(n([3, 4, 0, 1], np.int32)), of_attention(n([3, 4, 0, 1], np.int32), unidirectional=1),
        of_attention(n([[1, 1, 0, 0], [0, 0, 0, 1]], np.int32)),
        of_attention(n([[0, 0, 1, 1], [1, -1, 2, 0]], np.int32), unidirectional=1),
        of_attention(RNG.integers(0, 2, (2, 4, 4)).astype(np.int32)),
        of_attention(n([[1, 1, 0, 0], [1, 0, 1, 1]], np.int32), None, f(1, 2, 4, 4)),
        of_attention(n([[1, 1, 0, 0], [1, 0, 1, 1]], np.int32), mask_filter_value=-3.0),
        of_attention(None, None, f(2, 2, 4, 4), unidirectional=1, scale=0.2),
        of_attention(n([3, 2, 0, 4, 8, 0, 4, 8], np.int32), refused="a mask of type tensor<8xi32>"),
        of_attention(n([[1], [0]], np.int32), refused="a mask of type tensor<2x1xi32>"),
        of_attention(np.ones((2, 1, 8, 8), np.int32), refused="a mask of type"),
    ],
    "RotaryEmbedding": [
        case(HEADS, COS, SIN, POSITIONS, opset=23), case(HEADS, COS, SIN, POSITIONS, opset=23, interleaved=1),
        case(HEADS, FEW_COS, FEW_SIN, POSITIONS, opset=23, rotary_embedding_dim=6, num_heads=3),
        case(HEADS, FEW_COS, FEW_SIN, POSITIONS, opset=23, rotary_embedding_dim=6, num_heads=3, interleaved=1),
        case(HEADS, COS[:8].reshape(2, 4, 8), SIN[:8].reshape(2, 4, 8), opset=23), case(HEADS[:1], COS, SIN, POSITIONS[:1], opset=23),
        case(HEADS[:1], COS[None, 3:7], SIN[None, 3:7], opset=23, interleaved=1), case(f(2, 4, 48), COS, SIN, POSITIONS, opset=23, num_heads=3),
        case(HEADS, FEW_COS, FEW_SIN, POSITIONS, opset=23, refused="to turn 16 of 16 elements of a head"),
    ],
    "com.microsoft.RotaryEmbedding": [
        case(HEADS, POSITIONS, COS, SIN), case(f(2, 4, 48), POSITIONS, COS, SIN, interleaved=1), case(f(2, 4, 48), i64(3), COS, SIN),
        case(f(2, 4, 48), POSITIONS, FEW_COS, FEW_SIN, num_heads=3, rotary_embedding_dim=6),
        case(HEADS, i64(2), COS, SIN, interleaved=1), case(HEADS, i64(2), COS, SIN, is_packed_batching=1, refused="is_packed_batching"),
        case(HEADS, i64(2), COS, SIN, scale=0.5, refused="a scale of 0.5"),
    ],
    "GroupQueryAttention": [
        of_groups(0, 5, [5, 5]), of_groups(0, 5, [5, 5], packed=True, scale=0.3), of_groups(5, 1, [6]), of_groups(5, 3, [8], softcap=2.0),
        of_groups(0, 5, [5], COS, SIN, do_rotary=1), of_groups(5, 1, [6], COS, SIN, do_rotary=1, rotary_interleaved=1, packed=True),
        of_groups(5, 3, [8], COS, SIN, do_rotary=1, local_window_size=4), of_groups(5, 1, [6, 6], COS, SIN, do_rotary=1),
        of_groups(5, 1, [6, 3], COS, SIN, do_rotary=1), of_groups(5, 1, [2, 6], local_window_size=2),
        of_groups(5, 1, [6, 4, 1], COS, SIN, do_rotary=1, smooth_softmax=1),
        of_groups(5, 2, [7], COS, SIN, i64([4, 9]), do_rotary=1), of_groups(5, 2, [7], None, None, None, f(1, 4, 2, 7)),
        of_groups(5, 1, [6, 4], None, None, None, f(2, 1, 1, 6), f(4)),
        of_groups(5, 1, [6], None, None, None, None, f(4), local_window_size=3),
        of_groups(5, 1, [6], qk_output=1, refused="attribute qk_output"),
        of_groups(5, 1, [6], local_window_size=0, refused="local_window_size = 0"),
    ],
    "MultiHeadAttention": [
        case(Q, K, V, num_heads=2), case(Q, K, V, f(24), num_heads=2),
        case(Q, K, V, None, n([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0]], np.int32), num_heads=2),
        case(Q, K, V, None, n([3, 5], np.int32), num_heads=2), case(Q, K, V, None, None, f(1, 2, 3, 5), num_heads=2, scale=0.4),
        case(Q, K, V, None, n([[1, 0, 1, 1, 0], [0, 1, 0, 0, 0]], np.int32), num_heads=2, mask_filter_value=-2.0),
        case(Q, f(2, 2, 5, 4), f(2, 2, 5, 4), num_heads=2),
    ],
}  # fmt: skip
