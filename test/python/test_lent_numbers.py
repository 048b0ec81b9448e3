# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Numbers and layouts of rows, in NumPy, PyTorch and JAX: what one of them refuses, the others do too, and no number changes on
# its way.

import numpy as np
import pytest

import resid

ROWS = """
func.func @add(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>, %other: tensor<?x4xf32>, %c: tensor<?xf32>)
    -> (tensor<?x4xf32>, tensor<?xf32>) {
  %y = arith.addf %a, %b : tensor<?x4xf32>
  return %y, %c : tensor<?x4xf32>, tensor<?xf32>
}
"""
WIDTHS = {"i1": (0, 1), "i8": (-2**7, 2**7 - 1), "i16": (-2**15, 2**15 - 1), "i32": (-2**31, 2**31 - 1),
          "i64": (-2**63, 2**63 - 1), "index": (-2**63, 2**63 - 1)}
LARGEST = {"f16": 65519.99, "bf16": 3.38e38, "f32": 3.4028235e38, "f64": 1.7e308}
X = np.zeros((2, 4), np.float32)


def numpy_call(kernel):
    return lambda *values: kernel(*values)


def torch_call(kernel):
    torch = pytest.importorskip("torch")
    import resid.torch

    torch_call.count = getattr(torch_call, "count", 0) + 1
    op = resid.torch.register(kernel, f"resid_numbers::op{torch_call.count}")
    return lambda *values: op(*(torch.from_numpy(value) if isinstance(value, np.ndarray) else value for value in values))


def jax_call(kernel):
    pytest.importorskip("jax")
    import resid.jax

    return resid.jax.function(kernel)


CALLS = {"numpy": numpy_call, "torch": torch_call, "jax": jax_call}


def sink(element, make):
    """A function that takes a number of this type and no others."""
    return make(resid.compile(f"func.func @f(%x: tensor<?x4xf32>, %n: {element}) -> tensor<?x4xf32> {{\n"
                              "  return %x : tensor<?x4xf32>\n}\n").f)


@pytest.mark.parametrize("make", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("element", [*WIDTHS, *LARGEST])
def test_numbers_that_are_refused(element, make):
    function = sink(element, make)
    wrong = ["3", None, 1j, [3], np.array([3]), np.array([[3.0]])]
    if element in WIDTHS:
        low, high = WIDTHS[element]
        wrong += [3.7, 1.0, float("nan"), np.float32(3.7), np.array(3.7), low - 1, high + 1, 2**64, -2**70]
        wrong += [np.int64(2**33 + 1)] if high < 2**33 else []
        fine = [low, high, 0, True]
    else:
        fine = [3, -2.5, True, float("inf"), float("nan"), 1e-60, LARGEST[element], -LARGEST[element]]
        wrong += [1e39, -1e39] if element in ("f16", "bf16", "f32") else []
        wrong += [65520.0, 2**40] if element == "f16" else []
        wrong += [10**400]
    for number in fine:
        function(X, number)
    for number in wrong:
        with pytest.raises((TypeError, ValueError, RuntimeError, OverflowError)):
            function(X, number)


@pytest.mark.parametrize("make", CALLS.values(), ids=CALLS)
def test_numbers_keep_their_value(make):
    """64 bits reach functions whole, in JAX too, which has only 32 of them."""
    for element, numbers in (("i64", [2**33 + 1, -2**63, 2**63 - 1, -1, 7]), ("index", [2**40 + 3]), ("i32", [-2**31]),
                             ("i8", [-7])):  # fmt: skip
        # As bits in f32, since JAX gives no array of 64 bits back.
        text = """func.func @f(%x: tensor<?x4xf32>, %n: TYPE) -> tensor<8xf32> {
          %y = tensor.generate { ^bb0(%i: index):
            %eight = arith.constant 8 : index
            %at = arith.muli %i, %eight : index
            %wide = WIDEN
            %shift = arith.index_cast %at : index to i64
            %low = arith.shrsi %wide, %shift : i64
            %mask = arith.constant 255 : i64
            %byte = arith.andi %low, %mask : i64
            %float = arith.sitofp %byte : i64 to f32
            tensor.yield %float : f32 } : tensor<8xf32>
          return %y : tensor<8xf32>
        }"""
        widen = {"i64": "arith.addi %n, %zero : i64", "index": "arith.index_cast %n : index to i64"}
        text = text.replace("WIDEN", widen.get(element, "arith.extsi %n : TYPE to i64")).replace("TYPE", element)
        text = text.replace("%wide =", "%zero = arith.constant 0 : i64\n %wide =", 1)
        function = make(resid.compile(text).f)
        for number in numbers:
            found = np.asarray(function(X, number)).astype(np.uint8).tobytes()
            assert int.from_bytes(found, "little", signed=True) == number, element
    third = "func.func @f(%x: tensor<?x4xf32>, %n: f64) -> tensor<2xf32> {\n %h = arith.truncf %n : f64 to f32\n" \
            " %w = arith.extf %h : f32 to f64\n %r = arith.subf %n, %w : f64\n %l = arith.truncf %r : f64 to f32\n" \
            " %y = tensor.from_elements %h, %l : tensor<2xf32>\n return %y : tensor<2xf32>\n}"
    high, low = np.asarray(make(resid.compile(third).f)(X, 1 / 3), np.float64)
    assert low != 0 and abs(high + low - 1 / 3) < 1e-15


def test_numbers_that_jax_traces():
    jax = pytest.importorskip("jax")
    import jax.numpy as jnp

    for element, fine, wrong in (
        ("i64", [jnp.int32(3), jnp.uint32(2**32 - 1), jnp.int8(-3), True, 3], [3.0, jnp.float32(3)]),
        ("i32", [3, jnp.int16(3), jnp.int32(3)], [3.0, jnp.uint32(3)]),
        ("i8", [jnp.int8(3)], [3, jnp.uint8(3), 3.0]),
        ("i1", [True], [1, 1.0]),
        ("f64", [3.0, jnp.float32(0.5), jnp.int32(3)], []),
        ("f32", [3.0, jnp.bfloat16(2), jnp.float16(2)], []),
        ("f16", [jnp.float16(2)], [3.0, 3, jnp.bfloat16(2)]),
    ):
        function = jax.jit(sink(element, jax_call))
        for number in fine:
            function(X, number)
        for number in wrong:
            with pytest.raises(TypeError, match="argument 'n': expected a number of"):
                function(X, number)
        with pytest.raises(ValueError, match=r"expected a number but its shape is \[1\]"):
            function(X, jnp.zeros(1))


@pytest.mark.parametrize("make", CALLS.values(), ids=CALLS)
def test_rows_of_another_layout(make):
    """Arrays with the same rows have the same leading dimensions. Others, and statistics, have their own."""
    function = make(resid.compile(ROWS).add)

    def array(*shape):
        return np.ones(shape, np.float32)

    for a in ((6, 4), (2, 3, 4), (1, 6, 4), (2, 3, 1, 4), (0, 4), (2, 0, 4)):
        y, c = function(array(*a), array(*a), array(5, 7, 4), array(9))
        assert tuple(y.shape) == a and tuple(c.shape) == (9,)
    for a, b in (((2, 3, 4), (3, 2, 4)), ((2, 3, 4), (6, 4)), ((6, 4), (2, 3, 4)), ((1, 6, 4), (6, 4)), ((2, 3, 4), (2, 3, 1, 4)),
                 ((2, 0, 4), (0, 2, 4)), ((2, 3, 4), (2, 2, 4))):  # fmt: skip
        with pytest.raises(ValueError, match=r"argument 'b': (its rows are|dimension 0)"):
            function(array(*a), array(*b), array(1, 4), array(9))
    for wrong in ((4, 6), (6,), (2, 3, 5), ()):
        with pytest.raises(ValueError, match="argument 'a'"):
            function(array(*wrong), array(6, 4), array(1, 4), array(9))


def test_results_of_another_layout():
    add = resid.compile(ROWS).add
    x, c = np.ones((2, 3, 4), np.float32), np.ones(9, np.float32)
    add(x, x, x, c, out=(np.empty((2, 3, 4), np.float32), np.empty(9, np.float32)))
    for shape in ((3, 2, 4), (6, 4)):
        with pytest.raises(resid.ShapeError, match=r"result 'out0': its rows are .*, expected \[2, 3\] \(those of 'a'\)"):
            add(x, x, x, c, out=(np.empty(shape, np.float32), np.empty(9, np.float32)))


@pytest.mark.parametrize("make", [numpy_call, torch_call])
def test_arrays_with_gaps(make):
    """Views of another order are taken by no function, but copied where a framework says so."""
    function = make(resid.compile(ROWS).add)
    x, turned = np.ones((2, 4), np.float32), np.arange(8, dtype=np.float32).reshape(4, 2).T
    values = (turned, x, x, np.ones(3, np.float32))
    if make is numpy_call:
        for view in (turned, np.asfortranarray(x), np.ones((4, 4), np.float32)[::2], np.ones((2, 8), np.float32)[:, ::2], x[::-1]):
            with pytest.raises(resid.ShapeError, match="without gaps"):
                function(view, x, x, values[3])
    else:
        np.testing.assert_array_equal(function(*values)[0], turned + 1)
