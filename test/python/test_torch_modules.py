# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The modules of resid.torch beside those of torch.nn: values, gradients, state dicts, masks, tracing.

import copy

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import resid.torch as rt  # noqa: E402

TOLERANCES = {torch.float64: 1e-11, torch.float32: 2e-5, torch.bfloat16: 5e-2, torch.float16: 5e-3}


def randomize(module):
    for parameter in module.parameters():
        parameter.data.normal_()
    return module


def assert_same(module, reference, *inputs, tolerance=None):
    """Values, and gradients of inputs and parameters; the parameters are in the same order."""
    inputs = [x.requires_grad_() for x in inputs]
    a, b = module(*inputs), reference(*inputs)
    tolerance = tolerance or TOLERANCES[b.dtype]
    assert a.dtype == b.dtype and a.shape == b.shape
    torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)
    dy = torch.randn_like(b)
    got = torch.autograd.grad(a, (*inputs, *module.parameters()), dy)
    want = torch.autograd.grad(b, (*inputs, *reference.parameters()), dy)
    for x, y in zip(got, want, strict=True):
        bound = 4 * tolerance * max(1.0, y.abs().max().item())
        torch.testing.assert_close(x, y, rtol=0, atol=bound)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("normalized,options", [
    (96, {}), ((4, 24), {}), (96, {"bias": False}), (96, {"elementwise_affine": False}), ((4, 24), {"elementwise_affine": False}),
    (7, {"eps": 1e-3})])
def test_layer_norm(dtype, normalized, options):
    torch.manual_seed(0)
    reference = randomize(nn.LayerNorm(normalized, dtype=dtype, **options))
    module = rt.LayerNorm(normalized, dtype=dtype, **options)
    module.load_state_dict(reference.state_dict())
    assert list(module.state_dict()) == list(reference.state_dict())
    assert_same(module, reference, torch.randn(3, 5, *reference.normalized_shape, dtype=dtype))


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("normalized,options", [(96, {}), ((4, 24), {}), (96, {"elementwise_affine": False}), (96, {"eps": 1e-2})])
@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_rms_norm(dtype, normalized, options, scale):
    torch.manual_seed(0)
    reference = randomize(nn.RMSNorm(normalized, dtype=dtype, **options))
    module = rt.RMSNorm(normalized, dtype=dtype, **options)
    module.load_state_dict(reference.state_dict())
    x = (scale * torch.randn(3, 5, *reference.normalized_shape)).to(dtype)
    assert_same(module, reference, x, tolerance=TOLERANCES[dtype] / scale if scale < 1 else None)


class Eager(nn.Module):
    """What DropoutAddNorm stands for, on a mask that is handed in."""

    def __init__(self, module):
        super().__init__()
        self.weight, self.bias, self.branch_bias = module.weight, module.bias, module.branch_bias
        self.options, self.mask = module, None

    def parameters(self, recurse=True):
        return (p for p in (self.weight, self.bias, self.branch_bias) if p is not None)

    def forward(self, x, f):
        module = self.options
        f = f if self.branch_bias is None else f + self.branch_bias
        f = f if self.mask is None else f * self.mask
        s = module.skip_scale * x + module.branch_scale * f
        if module.norm == "layer":
            return F.layer_norm(s, (module.dim,), self.weight, self.bias, module.eps)
        return F.rms_norm(s, (module.dim,), self.weight, module.eps)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("options", [
    {}, {"norm": "rms"}, {"affine": False}, {"bias": False}, {"branch_bias": True},
    {"branch_bias": True, "skip_scale": 1.5, "branch_scale": 0.5, "norm": "rms"}])
@pytest.mark.parametrize("training", [True, False])
def test_dropout_add_norm(dtype, options, training):
    torch.manual_seed(0)
    module = randomize(rt.DropoutAddNorm(96, p=0.25, seed=5, dtype=dtype, **options)).train(training)
    reference = Eager(module)
    if training:
        reference.mask = rt.dropout(torch.ones(3, 5, 96, dtype=dtype), torch.tensor([5, 0]), 0.25)
        assert 0.15 < (reference.mask == 0).float().mean() < 0.35
    assert_same(module, reference, *(torch.randn(3, 5, 96, dtype=dtype) for _ in range(2)))
    assert module.dropout.seed_and_step.tolist() == [5, int(training)]


def test_gradcheck():
    module = randomize(rt.DropoutAddNorm(10, p=0.3, branch_bias=True, branch_scale=0.7, return_sum=True, dtype=torch.float64))
    x, f = (torch.randn(4, 10, dtype=torch.float64, requires_grad=True) for _ in range(2))
    parameters = dict(module.named_parameters())

    def call(x, f, *values):
        module.dropout.seed_and_step[1] = 0
        return torch.func.functional_call(module, dict(zip(parameters, values)), (x, f))

    assert torch.autograd.gradcheck(call, (x, f, *parameters.values()))


def test_sum_alone():
    module = rt.DropoutAddNorm(32, p=0.5, return_sum=True)
    x, f = (torch.randn(4, 32, requires_grad=True) for _ in range(2))
    _, s = module(x, f)
    dx, df = torch.autograd.grad(s.sum(), (x, f))
    assert torch.equal(dx, torch.ones_like(x))
    assert torch.equal(df, 2.0 * ((s - x) != 0))


def test_masks_and_state():
    torch.manual_seed(3)
    module = rt.DropoutAddNorm(64, p=0.5)
    state = copy.deepcopy(module.state_dict())
    x, f = torch.randn(4, 64), torch.randn(4, 64)
    first, second = module(x, f), module(x, f)
    assert not torch.equal(first, second)
    module.load_state_dict(state)
    assert torch.equal(module(x, f), first) and torch.equal(module(x, f), second)
    torch.manual_seed(3)
    again = rt.DropoutAddNorm(64, p=0.5)
    assert torch.equal(again(x, f), first)
    assert not torch.equal(copy.deepcopy(again)(x, f), first), "expected a copy to draw a seed of its own"
    again.load_state_dict(nn.LayerNorm(64).state_dict(), strict=True)
    assert again.dropout.seed_and_step[1] == 1
    again.double()
    assert again.dropout.seed_and_step.dtype == torch.int64 and again.weight.dtype == torch.float64
    again.to("meta")
    assert again.dropout.seed_and_step.device.type == "cpu" and again.weight.device.type == "meta"
    module.eval()
    assert torch.equal(module(x, f), module(x, f))


def test_threads_change_no_bit():
    module = rt.DropoutAddNorm(256, p=0.1, seed=1)
    x, f = (torch.randn(3000, 256, requires_grad=True) for _ in range(2))
    threads, found = torch.get_num_threads(), []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            module.dropout.seed_and_step[1] = 0
            y = module(x, f)
            found.append((y, *torch.autograd.grad(y.square().sum(), (x, f, module.weight, module.bias))))
    finally:
        torch.set_num_threads(threads)
    for others in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], others))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled(backend):
    torch._dynamo.reset()
    module = rt.DropoutAddNorm(64, p=0.1, seed=2, return_sum=True)
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend=backend)
    for rows in (5, 8):
        inputs = [torch.randn(2, rows, 64, requires_grad=True) for _ in range(2)]
        found = []
        for function in (module, compiled):
            module.dropout.seed_and_step[1] = 0
            y, s = function(*inputs)
            found.append((y, s, *torch.autograd.grad((y * s).sum(), (*inputs, module.weight, module.bias))))
            assert module.dropout.seed_and_step[1] == 1
        for a, b in zip(*found):
            torch.testing.assert_close(a, b)
        assert torch.equal(found[0][0], found[1][0])


@pytest.mark.parametrize("training", [True, False])
def test_exported(training):
    module = rt.DropoutAddNorm(64, p=0.5, seed=2).train(training)
    x, f = torch.randn(2, 5, 64), torch.randn(2, 5, 64)
    dynamic = ({0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC},) * 2
    exported = torch.export.export(module, (x, f), dynamic_shapes=dynamic).module()
    for shape in ((2, 5, 64), (3, 7, 64)):
        x, f = torch.randn(shape), torch.randn(shape)
        found = []
        for function in (exported, module):  # They share the state.
            module.dropout.seed_and_step[1] = 7
            found.append(function(x, f))
            assert module.dropout.seed_and_step[1] == 7 + training
        assert torch.equal(*found)


@pytest.mark.parametrize("op,inputs", [
    ("add_norm", lambda x, w, s: (x, x.clone().detach().requires_grad_(), w, w.detach().clone(), w, s, "layer", 1e-5, 0.1, 0, 0,
                                  1.0, 0.5, True)),
    ("add_norm", lambda x, w, s: (x, None, None, w, None, None, "rms", 1e-5, 0.0, 0, 0, 1.0, 1.0, False)),
    ("add_norm", lambda x, w, s: (x, x, None, None, None, s, "none", 0.0, 0.1, 0, 0, 1.0, 1.0, True)),
    ("dropout", lambda x, w, s: (x, s, 0.1, 0, 0))])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_opcheck(op, inputs, dtype):
    x, w = torch.randn(3, 4, 16, dtype=dtype, requires_grad=True), torch.randn(16, dtype=dtype, requires_grad=True)
    torch.library.opcheck(getattr(torch.ops.resid, op).default, inputs(x, w, torch.tensor([3, 4])))


@pytest.mark.parametrize("norm", ["layer", "rms"])
@pytest.mark.parametrize("placement", ["post", "pre", "branch_post", "peri", "post_shifted", "none"])
def test_residual_block(placement, norm):
    torch.manual_seed(0)
    block = randomize(rt.ResidualBlock(nn.Linear(32, 32), 32, placement, p=0.2, norm=norm, skip_scale=1.25, branch_scale=0.5,
                                       seed=4))
    expected_keys = {"branch.weight", "branch.bias", "dropout.seed_and_step"}
    for name in {"none": (), "peri": ("norm", "norm2")}.get(placement, ("norm",)):
        expected_keys |= {f"{name}.weight"} | ({f"{name}.bias"} if norm == "layer" else set())
    assert set(block.state_dict()) == expected_keys
    x = torch.randn(2, 3, 32, requires_grad=True)
    mask = rt.dropout(torch.ones(2, 3, 32), torch.tensor([4, 0]), 0.2)

    def apply(module, value):
        if norm == "layer":
            return F.layer_norm(value, (32,), module.weight, module.bias, module.eps)
        return F.rms_norm(value, (32,), module.weight, module.eps)

    def branch(value):
        return 0.5 * (mask * value)

    n, f = block.norm, block.branch
    expected = {"post": lambda: apply(n, 1.25 * x + branch(f(x))), "pre": lambda: 1.25 * x + branch(f(apply(n, x))),
                "branch_post": lambda: 1.25 * x + branch(apply(n, f(x))),
                "peri": lambda: 1.25 * x + branch(apply(block.norm2, f(apply(n, x)))),
                "post_shifted": lambda: 1.25 * apply(n, x) + branch(f(apply(n, x))),
                "none": lambda: 1.25 * x + branch(f(x))}[placement]()
    y = block(x)
    torch.testing.assert_close(y, expected, rtol=1e-5, atol=1e-5)
    inputs = (x, *block.parameters())
    for a, b in zip(*(torch.autograd.grad(value.square().sum(), inputs) for value in (y, expected))):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4 * b.abs().max().item())


def test_narrow_branch_and_autocast():
    module = rt.DropoutAddNorm(64, p=0.0, return_sum=True)
    x, linear = torch.randn(4, 64, requires_grad=True), nn.Linear(64, 64)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        f = linear(x)
        assert f.dtype == torch.bfloat16
        y, s = module(x, f)
    assert y.dtype == s.dtype == torch.float32
    assert torch.equal(s, x + f)
    got = torch.autograd.grad(y.square().sum(), (x, linear.weight), retain_graph=True)
    want = torch.autograd.grad(F.layer_norm(x + f, (64,), module.weight, module.bias).square().sum(), (x, linear.weight))
    for a, b in zip(got, want):
        torch.testing.assert_close(a, b, rtol=1e-2, atol=1e-2 * b.abs().max().item())


def test_odd_inputs():
    module = rt.DropoutAddNorm(8, p=0.0)
    x, f = torch.randn(8, 6).t(), torch.randn(6, 16)[:, ::2]
    torch.testing.assert_close(module(x, f), F.layer_norm(x + f, (8,)))
    empty = torch.empty(0, 8, requires_grad=True)
    y = module(empty, empty)
    assert y.shape == (0, 8)
    (dw,) = torch.autograd.grad(y.sum(), module.weight)
    assert torch.equal(dw, torch.zeros(8))
    row = torch.randn(8)
    torch.testing.assert_close(rt.LayerNorm(8)(row), F.layer_norm(row, (8,)))


def test_refusals():
    module = rt.DropoutAddNorm(8)
    with pytest.raises(ValueError, match=r"'weight'.*\[8\]"):
        module(torch.randn(2, 7), torch.randn(2, 7))
    with pytest.raises(TypeError, match="argument 'x': expected float16"):
        rt.layer_norm(torch.ones(2, 8, dtype=torch.int32))
    with pytest.raises(ValueError, match="expected 'layer' or 'rms' but got 'batch'"):
        rt.DropoutAddNorm(8, norm="batch")
    with pytest.raises(ValueError, match="probability"):
        rt.DropoutAddNorm(8, p=1.5)
    with pytest.raises(ValueError, match="seed and step"):
        rt.dropout_add_norm(torch.randn(2, 8), torch.randn(2, 8), p=0.5)
    with pytest.raises(NotImplementedError, match="vmap"):
        torch.vmap(rt.layer_norm)(torch.randn(3, 2, 8))
    x = torch.randn(2, 8, requires_grad=True)
    y, _ = rt.dropout_add_norm(x, x, keep_sum=False)
    with pytest.raises(RuntimeError, match="keep_sum"):
        y.sum().backward()


def test_checkpointing_is_refused():
    from torch.utils.checkpoint import checkpoint

    module, x = rt.DropoutAddNorm(8), torch.randn(2, 8, requires_grad=True)
    y = checkpoint(lambda a: module(a, a), x, use_reentrant=False)
    with pytest.raises(RuntimeError, match="checkpoint"):
        y.sum().backward()
    module.eval()
    checkpoint(lambda a: module(a, a), x, use_reentrant=False).sum().backward()
