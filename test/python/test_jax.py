# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# resid.jax: compiled functions in JAX, with jit and gradients, beside the same in jax.numpy.

import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed: resid.jax was not tested")
import jax.numpy as jnp  # noqa: E402

import resid  # noqa: E402
import resid.jax as rj  # noqa: E402

TEXT = """
func.func @block(%x: tensor<?x64xELEMENT>, %f: tensor<?x64xELEMENT>, %gamma: tensor<64xELEMENT>, %beta: tensor<64xELEMENT>,
                 %seed: i64, %step: i64) -> (tensor<?x64xELEMENT>, tensor<?x64xELEMENT>) {
  %d = resid.dropout %f seed(%seed, %step) {p = P, site = 0} : tensor<?x64xELEMENT>
  %s = resid.add %x, %d : tensor<?x64xELEMENT>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5}
      : tensor<?x64xELEMENT>, tensor<64xELEMENT>, tensor<64xELEMENT>
  return %y, %s : tensor<?x64xELEMENT>, tensor<?x64xELEMENT>
}
"""
TYPES = {"f32": (jnp.float32, 1e-5), "bf16": (jnp.bfloat16, 6e-2), "f16": (jnp.float16, 1e-2)}


def make(element="f32", p="0.0", grad="block"):
    text = TEXT.replace("ELEMENT", element).replace("P,", f"{p},")
    return rj.function(resid.compile(text, **({"grad": grad} if grad else {})).block)


def inputs(dtype=jnp.float32, shape=(6, 64)):
    keys = jax.random.split(jax.random.key(0), 4)
    return [jax.random.normal(key, size, jnp.float32).astype(dtype) for key, size in zip(keys, (shape, shape, (64,), (64,)))]


def reference(x, f, gamma, beta):
    s = x + f
    wide = s.astype(jnp.float32)
    centred = wide - wide.mean(-1, keepdims=True)
    normed = centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return (normed * gamma + beta).astype(x.dtype), s


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("shape", [(6, 64), (2, 3, 64), (0, 64)])
def test_values_and_gradients(element, shape):
    dtype, tolerance = TYPES[element]
    block, values = make(element), inputs(dtype, shape)

    def loss(function, *values):
        y, s = function(*values)
        return (y.astype(jnp.float32) ** 2).sum() + s.astype(jnp.float32).sum()

    y, s = jax.jit(block)(*values, 7, 3)
    expected = reference(*values)
    assert y.shape == s.shape == shape and y.dtype == dtype
    np.testing.assert_allclose(y.astype(np.float32), expected[0].astype(np.float32), rtol=tolerance, atol=tolerance)
    assert jnp.array_equal(s, expected[1])
    got = jax.jit(jax.grad(lambda *v: loss(lambda *w: block(*w, 7, 3), *v), argnums=(0, 1, 2, 3)))(*values)
    want = jax.grad(lambda *v: loss(reference, *v), argnums=(0, 1, 2, 3))(*values)
    for a, b in zip(got, want):
        a, b = np.asarray(a, np.float32), np.asarray(b, np.float32)
        np.testing.assert_allclose(a, b, rtol=0, atol=10 * tolerance * max(1.0, np.abs(b).max(initial=0)))


def test_masks():
    block, (x, f, gamma, beta) = make(p="0.5"), inputs()
    step = jax.jit(lambda x, f, step: block(x, f, gamma, beta, 7, step)[1])
    first, second = step(x, f, 0), step(x, f, 1)
    assert not jnp.array_equal(first, second) and jnp.array_equal(first, step(x, f, jnp.int32(0)))
    kept = first - x != 0
    assert 0.3 < kept.mean() < 0.7
    df = jax.grad(lambda f: step(x, f, 0).sum())(f)
    assert jnp.array_equal(df, kept * 2.0)


def test_is_the_function_of_numpy():
    """Seeds and bits are those of a call without JAX."""
    module = resid.compile(TEXT.replace("ELEMENT", "f32").replace("P,", "0.3,"))
    values = [np.asarray(value) for value in inputs(shape=(3000, 64))]
    y, s = rj.function(module.block)(*values, 5, 6)
    out = (np.empty((3000, 64), np.float32), np.empty((3000, 64), np.float32))
    module.block(*values, 5, 6, out=out)
    assert np.array_equal(y, out[0]) and np.array_equal(s, out[1])


def test_refusals():
    block, (x, f, gamma, beta) = make(p="0.5"), inputs()
    with pytest.raises(TypeError, match="expected float32 but got bfloat16"):
        block(x.astype(jnp.bfloat16), f, gamma, beta, 1, 2)
    with pytest.raises(ValueError, match="dimension 1 is 32, expected 64"):
        block(x[:, :32], f, gamma, beta, 1, 2)
    with pytest.raises(TypeError, match="expected 6 arguments but got 4"):
        block(x, f, gamma, beta)
    with pytest.raises(Exception, match="dimension 0 is 5, expected 6"):
        jax.block_until_ready(block(x, f[:5], gamma, beta, 1, 2))
    with pytest.raises(Exception, match="step"):
        jax.block_until_ready(block(x, f, gamma, beta, 1, -2))
    with pytest.raises(Exception, match="vmap"):
        jax.vmap(lambda a, b: block(a, b, gamma, beta, 1, 2))(x[None], f[None])
    with pytest.raises(Exception):
        jax.grad(lambda a: make(grad=None)(a, f, gamma, beta, 1, 2)[0].sum())(x)


def test_page(tmp_path):
    page = pathlib.Path(__file__).resolve().parents[2] / "docs/jax.md"
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
    code += "assert [g.shape for g in gradients] == [x.shape, f.shape, (768,)]"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
