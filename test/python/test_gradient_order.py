# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gradients reach the arguments that they are of, in resid.torch and resid.jax: for any order and any subset of wrt=, told to the
# compiler or to the framework. An argument outside of wrt has no gradient, and asking for it is an error.

import itertools
import pathlib
import subprocess

import numpy as np
import pytest

import resid
from import_support import tool
from resid import gradients

# The second result and the number have no gradients. f = a·a·b + c
TEXT = """
func.func @f(%a: tensor<?x3xf32>, %n: i64, %b: tensor<?x3xf32>, %alpha: f32, %c: tensor<?x3xf32>)
    -> (tensor<?x3xf32>, tensor<?x3xi1>) {
  %aa = arith.mulf %a, %a : tensor<?x3xf32>
  %aab = arith.mulf %aa, %b : tensor<?x3xf32>
  %y = arith.addf %aab, %c : tensor<?x3xf32>
  %p = arith.cmpf ogt, %a, %b : tensor<?x3xf32>
  return %y, %p : tensor<?x3xf32>, tensor<?x3xi1>
}
"""
FLOATS = (0, 2, 4)
ORDERS = [order for count in (1, 2, 3) for order in itertools.permutations(FLOATS, count)]
NAMES = (f"resid_order::op{number}" for number in itertools.count())
ARRAYS = [np.arange(6, dtype=np.float32).reshape(2, 3) * scale + 1 for scale in (1, 0.5, 3)]
# Of the sum of f.
RIGHT = dict(zip(FLOATS, (2 * ARRAYS[0] * ARRAYS[1], ARRAYS[0] ** 2, np.ones((2, 3), np.float32))))


def compiled(wrt=None, **options):
    return resid.compile(TEXT, grad="f", wrt=wrt, **options)


def torch_gradients(op, needed):
    torch = pytest.importorskip("torch")
    tensors = [torch.tensor(array, requires_grad=place in needed) for place, array in zip(FLOATS, ARRAYS)]
    op(tensors[0], 3, tensors[1], 0.5, tensors[2])[0].sum().backward()
    return {place: tensor.grad for place, tensor in zip(FLOATS, tensors)}


def jax_gradients(function, needed):
    jax = pytest.importorskip("jax")
    places = [FLOATS.index(place) for place in needed]
    found = jax.grad(lambda a, b, c: function(a, 3, b, 0.5, c)[0].sum(), argnums=places)(*ARRAYS)
    return dict(zip(needed, found))


def for_torch(kernel, **options):
    pytest.importorskip("torch")
    import resid.torch

    return resid.torch.register(kernel, next(NAMES), **options)


def for_jax(kernel, **options):
    pytest.importorskip("jax")
    import resid.jax

    return resid.jax.function(kernel, **options)


FRAMEWORKS = {"torch": (for_torch, torch_gradients), "jax": (for_jax, jax_gradients)}


@pytest.fixture(params=FRAMEWORKS)
def framework(request):
    return FRAMEWORKS[request.param]


@pytest.mark.parametrize("order", [None, *ORDERS])
def test_any_order_and_any_subset(order, framework):
    make, differentiate = framework
    own = FLOATS if order is None else order
    # The order may be told to both, and the names of functions may have a prefix.
    for module, options in ((compiled(order), {}), (compiled(order, prefix="my_"), {"wrt": order})):
        function = make(next(iter(module)), **options)
        for needed in (own, own[:1], own[-1:]):
            found = differentiate(function, needed)
            for place in needed:
                np.testing.assert_array_equal(found[place], RIGHT[place])
            assert all(found[place] is None for place in found if place not in needed)
        for place in set(FLOATS) - set(own):
            for needed in ((place,), (*own, place)):
                with pytest.raises((RuntimeError, TypeError), match=f"gradient of argument '{'abc'[FLOATS.index(place)]}' is asked for"):
                    differentiate(function, needed)


def test_functions_of_other_modules(framework):
    make, differentiate = framework
    module, plain = compiled((4, 0)), resid.compile(TEXT)
    function = make(plain.f, forward=module.f_forward, backward=module.f_backward)
    assert all(np.array_equal(found, RIGHT[place]) for place, found in differentiate(function, (0, 4)).items() if found is not None)
    with pytest.raises(ValueError, match=r"argument 'wrt': expected \[4, 0\], for which f_backward was compiled, but got \[0, 4\]"):
        make(plain.f, forward=module.f_forward, backward=module.f_backward, wrt=[0, 4])
    with pytest.raises(ValueError, match="expected both or neither"):
        make(plain.f, forward=module.f_forward)
    with pytest.raises(ValueError, match="argument 'wrt': f was compiled without grad="):
        make(plain.f, wrt=[0])
    with pytest.raises(ValueError, match="they do not fit"):
        make(plain.f, forward=module.f_backward, backward=module.f_forward)


def test_libraries(framework, tmp_path: pathlib.Path):
    """A library that was saved knows its order. One of residc does not, and has to be told."""
    make, differentiate = framework
    compiled((2, 0)).save(tmp_path / "saved.so")
    found = differentiate(make(resid.load(tmp_path / "saved.so").f), (0, 2))
    assert np.array_equal(found[0], RIGHT[0]) and np.array_equal(found[2], RIGHT[2])
    (tmp_path / "f.mlir").write_text(TEXT)
    command = [tool("residc"), str(tmp_path / "f.mlir"), "--grad=f", "--wrt=2,0", "-o", str(tmp_path / "plain.so")]
    subprocess.run(command, check=True, capture_output=True)
    kernel = resid.load(tmp_path / "plain.so").f
    with pytest.raises(ValueError, match="argument 'wrt': expected the arguments whose gradients f_backward gives"):
        make(kernel)
    for wrt in ([2, 2], [-1, 0], [0, 9], [0.0, 2], [1, 0], [2], [0, 2, 4]):
        with pytest.raises(ValueError, match="wrt"):
            make(kernel, wrt=wrt)


def test_numbers_have_no_gradients():
    jax = pytest.importorskip("jax")
    function = for_jax(compiled().f)
    with pytest.raises(TypeError, match="gradient of argument 'alpha' is asked for"):
        jax.grad(lambda alpha: function(ARRAYS[0], 3, ARRAYS[1], alpha, ARRAYS[2])[0].sum())(0.5)


def test_find_knows_no_framework():
    assert gradients.find(compiled((4, 2)).f).wrt == (4, 2) and gradients.find(resid.compile(TEXT).f) is None
