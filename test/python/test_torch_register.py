# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# resid.torch.register: ops from compiled functions, in eager mode, compiled and exported, with gradients.

import itertools

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

import resid  # noqa: E402
import resid.torch as rt  # noqa: E402

NAMES = (f"resid_test::op{number}" for number in itertools.count())
ELEMENTS = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16"}
TOLERANCES = {torch.float32: 1e-5, torch.bfloat16: 5e-2, torch.float16: 5e-3}
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


def make(dtype=torch.float32, p=0.1, grad="block"):
    text = TEXT.replace("ELEMENT", ELEMENTS[dtype]).replace("P,", f"{p},")
    return rt.register(resid.compile(text, **({"grad": grad} if grad else {})).block, next(NAMES))


def arguments(dtype=torch.float32, shape=(6, 64), requires_grad=True):
    torch.manual_seed(0)
    tensors = [torch.randn(size, dtype=dtype, requires_grad=requires_grad) for size in (shape, shape, (64,), (64,))]
    return (*tensors, 7, 3)


@pytest.mark.parametrize("dtype", ELEMENTS)
def test_opcheck(dtype):
    op = make(dtype)
    torch.library.opcheck(op, arguments(dtype))
    torch.library.opcheck(op, arguments(dtype, requires_grad=False))


@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("shape", [(6, 64), (2, 3, 64), (0, 64)])
def test_values_and_gradients(dtype, shape):
    op = make(dtype, p=0.0)
    x, f, gamma, beta, *numbers = arguments(dtype, shape)
    y, s = op(x, f, gamma, beta, *numbers)
    expected = F.layer_norm(x + f, (64,), gamma, beta)
    tolerance = TOLERANCES[dtype]
    assert y.shape == s.shape == x.shape and y.dtype == dtype
    torch.testing.assert_close(y, expected, rtol=tolerance, atol=tolerance)
    assert torch.equal(s, x + f)
    dy, ds = torch.randn_like(y), torch.randn_like(s)
    got = torch.autograd.grad((y, s), (x, f, gamma, beta), (dy, ds))
    want = torch.autograd.grad((expected, x + f), (x, f, gamma, beta), (dy, ds))
    for a, b in zip(got, want):
        torch.testing.assert_close(a, b, rtol=5 * tolerance, atol=5 * tolerance)


def test_gradient_of_one_result():
    op = make(p=0.0)
    x, f, gamma, beta, *numbers = arguments()
    (got,) = torch.autograd.grad(op(x, f, gamma, beta, *numbers)[0].square().sum(), x)
    (want,) = torch.autograd.grad(F.layer_norm(x + f, (64,), gamma, beta).square().sum(), x)
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


def test_mask_of_the_backward():
    x, f, gamma, beta, *numbers = arguments()
    _, s = make(p=0.5)(x, f, gamma, beta, *numbers)
    (df,) = torch.autograd.grad(s.sum(), f)
    kept = (s - x).detach() != 0
    assert 0.3 < kept.float().mean() < 0.7
    assert torch.equal(df, kept * 2.0)


def test_compiled_for_open_sizes():
    op = make()
    compiled = torch.compile(lambda *values: op(*values), fullgraph=True, dynamic=True, backend="aot_eager")
    for rows in (6, 9, 17):
        values = arguments(shape=(rows, 64))
        y, s = compiled(*values)
        expected = op(*values)
        assert torch.equal(y, expected[0]) and torch.equal(s, expected[1])
        got, want = (torch.autograd.grad((a.square().sum() + b.sum()), values[:4]) for a, b in ((y, s), expected))
        assert all(torch.equal(a, b) for a, b in zip(got, want))


def test_exported():
    op = make()

    class Model(torch.nn.Module):
        def forward(self, x, f, gamma, beta):
            return op(x, f, gamma, beta, 7, 3)[0]

    values = arguments(requires_grad=False)[:4]
    rows = torch.export.Dim("rows")
    program = torch.export.export(Model(), values, dynamic_shapes=({0: rows}, {0: rows}, None, None))
    assert any(node.target is op for node in program.graph.nodes)
    values = arguments(shape=(11, 64), requires_grad=False)[:4]
    assert torch.equal(program.module()(*values), op(*values, 7, 3)[0])


def test_inputs_with_strides():
    op = make()
    x, f, gamma, beta, *numbers = arguments(requires_grad=False)
    strided = torch.empty(64, 6).t().copy_(x)
    assert not strided.is_contiguous()
    assert torch.equal(op(strided, f, gamma, beta, *numbers)[0], op(x, f, gamma, beta, *numbers)[0])


def test_refusals():
    op = make()
    x, f, gamma, beta, *numbers = arguments(requires_grad=False)
    with pytest.raises(TypeError, match="argument 'arg0|argument 'x'"):
        op(x.double(), f, gamma, beta, *numbers)
    with pytest.raises(ValueError, match="dimension 1 is 32, expected 64"):
        op(x[:, :32], f, gamma, beta, *numbers)
    with pytest.raises(Exception, match="dimension 0 is 5, expected 6"):
        op(x, f[:5], gamma, beta, *numbers)
    with pytest.raises(NotImplementedError, match="vmap"):
        torch.vmap(lambda a, b: op(a, b, gamma, beta, *numbers))(x[None], f[None])
    with pytest.raises(ValueError, match="namespace::name"):
        rt.register(resid.compile(TEXT.replace("ELEMENT", "f32").replace("P,", "0.1,")).block, "block")


def test_gradients_of_gradients_are_refused():
    """They would lack what goes through the backward, in silence."""
    x = torch.randn(6, 64, requires_grad=True)
    _, f, gamma, beta, *numbers = arguments()
    functions = (lambda: make(p=0.0)(x, f, gamma, beta, *numbers)[0], lambda: rt.functional.layer_norm(x, gamma, beta))
    for function in functions:
        with pytest.raises(RuntimeError, match="gradients of gradients are not there"):
            torch.autograd.grad(function().square().sum(), x, create_graph=True)
        torch.autograd.grad(function().square().sum(), x)


def test_without_a_backward():
    op = make(grad=None)
    values = arguments(requires_grad=False)
    op(*values)
    values[0].requires_grad_()
    with pytest.raises(RuntimeError, match="compiled without grad="):
        op(*values)
    with torch.no_grad():
        op(*values)


def test_names_and_sizes_of_results():
    rows = resid.compile("""
        func.func @statistics(%rows: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>) {
          %y, %r = resid.rms_norm %rows {epsilon = 1.0e-6} : tensor<?x8xf32> -> tensor<?x8xf32>, tensor<?xf32>
          return %y, %r : tensor<?x8xf32>, tensor<?xf32>
        }""")
    op = rt.register(rows.statistics, next(NAMES))
    assert "Tensor rows" in str(op._schema)
    y, r = op(torch.randn(2, 3, 8))
    assert y.shape == (2, 3, 8) and r.shape == (6,)
    joined = resid.compile("""
        func.func @join(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>) -> tensor<?x8xf32> {
          %c = tensor.concat dim(0) %a, %b : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
          return %c : tensor<?x8xf32>
        }""")
    op = rt.register(joined.join, next(NAMES))
    with pytest.raises(ValueError, match="result 'out0': dimension 0 does not follow"):
        op(torch.randn(2, 8), torch.randn(3, 8))
