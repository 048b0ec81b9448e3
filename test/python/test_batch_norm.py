# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Batch norms of columns that are hard for f32, and their gradients, beside torch.nn.functional.batch_norm in float64.

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import resid  # noqa: E402
import resid.torch as rt  # noqa: E402

NAMES = (f"resid_batch_norm::op{number}" for number in itertools.count())
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}
# Of x̂ and of gradients beside the largest one of their column: sums down the rows, and one rounding to storage.
TOLERANCES = {"f32": 5e-6, "f16": 1e-3, "bf16": 8e-3, "f64": 1e-13}
TEXT = """
func.func @f(%x: tensor<?xCOLUMNSxELEMENT>, %g: tensor<COLUMNSxELEMENT>, %b: tensor<COLUMNSxELEMENT>) -> tensor<?xCOLUMNSxELEMENT> {
  %y = resid.batch_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5}
      : tensor<?xCOLUMNSxELEMENT>, tensor<COLUMNSxELEMENT>, tensor<COLUMNSxELEMENT>
  return %y : tensor<?xCOLUMNSxELEMENT>
}
"""


def make_columns(rows, element):
    rng = np.random.default_rng(rows)
    # f16 ends at 65,504, and rounds 2,048 and more to even numbers.
    large, mean = (3e4, 2e3) if element == "f16" else (1e30, 1e7)
    signs = np.where(np.arange(rows) % 2, -1.0, 1.0)
    one = np.where(np.arange(rows), 0.0, 1.0)
    return np.stack([
        rng.standard_normal(rows), np.zeros(rows), np.full(rows, 0.1), signs * large, signs * np.finfo(np.float16).max,
        np.clip(rng.standard_normal(rows), -2, 2) * large, mean + 4 * np.arange(rows) % 9, large + 0 * signs,
        one * large, 1e-30 * signs, rng.standard_normal(rows) * 1e-3,
    ], axis=1)  # fmt: skip


def evaluate(x, gamma, beta, dy):
    """The norm in float64, and what backward gives."""
    leaves = [tensor.double().detach().requires_grad_() for tensor in (x, gamma, beta)]
    y = torch.nn.functional.batch_norm(leaves[0], None, None, leaves[1], leaves[2], training=True, eps=1e-5)
    y.backward(dy.double())
    return [y.detach()] + [leaf.grad for leaf in leaves]


@pytest.mark.parametrize("rows", [2, 7, 300, 9000])
@pytest.mark.parametrize("element", TYPES)
def test_hard_columns(element, rows):
    columns = make_columns(rows, element)
    text = TEXT.replace("COLUMNS", str(columns.shape[1])).replace("ELEMENT", element)
    op = rt.register(resid.compile(text, grad="f").f, next(NAMES))
    torch.manual_seed(rows)
    x = torch.tensor(columns).to(TYPES[element]).requires_grad_()
    gamma, beta = (torch.randn(columns.shape[1], dtype=TYPES[element], requires_grad=True) for _ in range(2))
    dy = torch.randn(columns.shape, dtype=TYPES[element])
    y = op(x, gamma, beta)
    y.backward(dy)
    expected = evaluate(x, gamma, beta, dy)
    # A constant column has no deviation by which an error of its mean could be judged.
    kept = (columns != columns[:1]).any(axis=0)
    for name, found, right in zip(("y", "dx", "dgamma", "dbeta"), (y, x.grad, gamma.grad, beta.grad), expected):
        found, right = found.detach().double().atleast_2d()[:, kept], right.atleast_2d()[:, kept]
        assert torch.isfinite(found).all(), name
        scale = right.abs().amax(dim=0).clamp(min=torch.finfo(TYPES[element]).smallest_normal)
        if name in ("dgamma", "dbeta"):
            scale = scale + dy.double().abs().sum(dim=0)[kept]
        if name == "y":
            scale = scale.clamp(min=1.0)
        worst = ((found - right).abs() / scale).amax(dim=0)
        assert (worst <= TOLERANCES[element]).all(), (name, worst)


def test_one_row_gives_beta():
    text = TEXT.replace("COLUMNS", "3").replace("ELEMENT", "f32")
    beta = np.array([1, -2, 3], np.float32)
    y = resid.compile(text).f(np.array([[1e30, -1e7, 0.1]], np.float32), np.ones(3, np.float32), beta)
    assert (y == beta).all()
