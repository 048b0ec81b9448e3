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
# Sums down the rows, and one rounding to storage.
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
    """The norm in float64, what backward gives, rstd and the largest x̂ of each column. The first row is taken away first: in float64 too, rounding the
    mean costs digits."""
    leaves = [tensor.double().detach() for tensor in (x, gamma, beta)]
    leaves[0] = leaves[0] - leaves[0][:1]
    for leaf in leaves:
        leaf.requires_grad_()
    y = torch.nn.functional.batch_norm(leaves[0], None, None, leaves[1], leaves[2], training=True, eps=1e-5)
    y.backward(dy.double())
    moved = leaves[0].detach()
    rstd = (moved.var(dim=0, unbiased=False) + 1e-5).rsqrt()
    return [y.detach()] + [leaf.grad for leaf in leaves], rstd, ((moved - moved.mean(dim=0)) * rstd).abs().amax(dim=0)


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
    expected, rstd, largest = evaluate(x, gamma, beta, dy)
    size = dy.double().abs()
    # Of y, 1 or what is largest in its column. Gradients are sums in which terms of these sizes may cancel.
    scales = {
        "y": expected[0].abs().amax(dim=0).clamp(min=1.0),
        "dx": gamma.detach().double().abs() * rstd * size.amax(dim=0) * largest.clamp(min=1.0),
        "dgamma": size.sum(dim=0),
        "dbeta": size.sum(dim=0),
    }
    # A constant column has no deviation by which an error of its mean could be judged.
    kept = (x != x[:1]).any(dim=0)
    for name, found, right in zip(("y", "dx", "dgamma", "dbeta"), (y, x.grad, gamma.grad, beta.grad), expected):
        found, right = (torch.atleast_2d(tensor.detach().double())[:, kept] for tensor in (found, right))
        assert torch.isfinite(found).all(), name
        least = torch.finfo(TYPES[element]).smallest_normal
        worst = ((found - right).abs().amax(dim=0) - least) / scales[name][kept]
        assert (worst <= TOLERANCES[element]).all(), (name, worst)


def test_one_row_gives_beta():
    text = TEXT.replace("COLUMNS", "3").replace("ELEMENT", "f32")
    beta = np.array([1, -2, 3], np.float32)
    y = resid.compile(text).f(np.array([[1e30, -1e7, 0.1]], np.float32), np.ones(3, np.float32), beta)
    assert (y == beta).all()
