# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What users do around torch.compile(model, backend="resid"): autocast, other element types and modes of gradients, copies, pickles,
# threads. Which results and gradients there are is test_torch_compile.py's.

import copy
import pickle
import threading
import warnings

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import resid.torch as rt  # noqa: E402
import torch_models  # noqa: E402
from test_torch_compile import fresh  # noqa: E402, F401  (of each test)


class Net(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.first, self.second, self.norm = nn.Linear(width, 64), nn.Linear(64, width), nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x + self.second(F.gelu(self.first(x))))


def only(model):
    (found,) = rt.report(model)
    return found


def autocast():
    return torch.autocast("cpu", torch.bfloat16)


def as_good_as(own, eager, right):
    """The same types, and no more error than eager mode has, against the same in f32."""
    for a, b, c in zip(own, eager, right, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        errors = [float((value.double() - c.double()).norm()) for value in (a, b)]
        assert errors[0] <= 1.5 * errors[1] + 1e-5 * float(c.double().norm()), errors


def make_model(name):
    return getattr(torch_models, name)(layers=1).eval(), torch.randint(0, 50, (2, 7))


@pytest.mark.parametrize("name", ["Bert", "Llama"])
def test_autocast(name):
    """Casts are part of the programs, and weights are cast when they are packed. Without autocast is another program."""
    model, ids = make_model(name)
    compiled = torch.compile(model, backend="resid")
    with torch.no_grad():
        right = model(ids)
        with autocast():
            as_good_as([compiled(ids)], [model(ids)], [right])
        found = only(model)
        assert found.share == 1.0 and found.programs == 1 and not found.refused
        (kernel,) = [kernel for kernel in found.kernels[0] if kernel.name == "piece_0"]
        cast = [parameter for layer in model.modules() if isinstance(layer, nn.Linear) for parameter in layer.parameters()]
        assert sum("bf16" in value.type for value in kernel.signature.arguments) >= len(cast)
        torch.testing.assert_close(compiled(ids), right, rtol=1e-5, atol=1e-5)


def test_weights_under_autocast():
    """Are cast once, and again when they have changed. One is read as it is and cast."""
    weight = nn.Parameter(torch.randn(16, 8))
    compiled = torch.compile(lambda ids: F.linear(F.embedding(ids, weight), weight) + weight.sum(), backend="resid")
    ids = torch.tensor([1, 5, 3])
    for _ in range(2):
        with torch.no_grad(), autocast():
            row = weight[ids].bfloat16()
            torch.testing.assert_close(compiled(ids), F.linear(row, weight.bfloat16()) + weight.sum(), rtol=1e-2, atol=1e-2)
        with torch.no_grad():
            weight.mul_(-3)
    assert only(nn.ParameterList([weight])).programs == 1


def test_regions_of_autocast():
    """Operators that autocast knows and resid does not, inside and outside of regions; one that is made of products, of two types too."""
    model, kernel, matrix = Net().eval(), torch.randn(5, 3, 2), torch.randn(3, 5)

    def f(x):
        with autocast():
            y = F.conv_transpose1d(x, kernel)
            z = torch.einsum("bcl,dc->bdl", x, matrix)
            with torch.autocast("cpu", enabled=False):
                u = F.conv_transpose1d(x * 3, kernel)
                v = torch.special.bessel_j0(torch.cat([u, u @ u.mT], 2))
            w = torch.cat([y, z.float()], 2)
            both = torch.einsum("bdl,dc->bcl", z, matrix)
        return y, z, u, v, w, model(x), both

    x = torch.randn(2, 5, 32)
    compiled = torch.compile(f, backend="resid")
    for ambient in (False, True):
        with torch.no_grad():
            with torch.autocast("cpu", torch.bfloat16, enabled=ambient):
                own, eager = compiled(x), f(x)
            assert [value.dtype for value in own] == [value.dtype for value in eager]
            for a, b in zip(own, eager):
                tolerance = 2e-2 if ambient or b.dtype == torch.bfloat16 or a is own[4] else 1e-5
                torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)
            torch.testing.assert_close(own[2:4], eager[2:4], rtol=1e-5, atol=1e-5)
    found = rt.report(model)
    assert len(found) == 2 and not any(graph.refused for graph in found)
    assert "conv_transpose1d" in str(found[1]) and "einsum" not in str(found[1])


@pytest.mark.parametrize("stops", [False, True])
def test_training_under_autocast(stops):
    """Gradients of resid's own, and those of a second run, which is under autocast too."""
    encoder, x = torch_models.BertLayer(32, 2, 0.0), torch.randn(2, 7, 32)

    def model(x):
        y = encoder(x)
        return y * y.detach() if stops else y

    compiled, found = torch.compile(model, backend="resid"), []
    for function, enabled in ((compiled, True), (model, True), (model, False)):
        encoder.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            y = function(x)
        (y.float() * torch.linspace(-1, 1, y.numel()).view(y.shape).cos()).sin().sum().backward()
        found.append([y.detach(), *(parameter.grad for parameter in encoder.parameters())])
    as_good_as(*found)
    assert only(encoder).share == 1.0 and ("second run" in only(encoder).gradients) == stops


def test_models_in_bfloat16():
    """Compiled in f32 before, too: the type of the weights is another one then."""
    model, ids = make_model("Llama")
    compiled = torch.compile(model, backend="resid")
    with torch.inference_mode():
        right = compiled(ids)
        eager = copy.deepcopy(model).to(torch.bfloat16)(ids)
        model.to(torch.bfloat16)
        as_good_as([compiled(ids)], [eager], [right])
    assert [found.share for found in rt.report(model)] == [1.0, 1.0]


def test_constants_in_bfloat16():
    x, sink = torch.randn(3, 4).to(torch.bfloat16), torch.tensor([1.0, 2.0, 3.0, 5.0]).to(torch.bfloat16)
    before = len(rt.report())
    compiled = torch.compile(lambda x: x.exp() * torch.tensor([1.0, 2.0, 3.0, 5.0], dtype=torch.bfloat16), backend="resid")
    torch.testing.assert_close(compiled(x), x.exp() * sink, rtol=2e-2, atol=2e-2)
    assert rt.report()[before].programs == 1


@pytest.mark.skipif(not hasattr(torch, "_grouped_mm"), reason="needs grouped products")
def test_products_of_experts_are_counted():
    """Models in bf16 have this operator, which PyTorch's counter does not know."""
    x, weights, ends = torch.randn(8, 16).bfloat16(), torch.randn(2, 16, 8).bfloat16(), torch.tensor([3, 8], dtype=torch.int32)
    before = len(rt.report())
    torch.compile(lambda x: torch._grouped_mm(x, weights, ends).exp(), backend="resid")(x)
    (found,) = rt.report()[before:]
    assert found.share == 0.0 and found.programs == 1 and [node.flops for node in found.nodes] == [2 * 8 * 16 * 8, 0]


def step(function, x, model=None):
    """The result and the gradients of the parameters."""
    y = function(x)
    loss = (y * torch.linspace(-1, 1, y.numel()).view(y.shape).cos()).sin().sum()
    parameters = list((model or function).parameters())
    gradients = torch.autograd.grad(loss, parameters)
    for parameter, gradient in zip(parameters, gradients):
        parameter.grad = gradient
    return [y.detach(), *gradients]


def near(own, right):
    torch.testing.assert_close(own, right, rtol=1e-5, atol=2e-5)


def test_modes_of_gradients():
    model, x = Net(), torch.randn(5, 32)
    right, compiled = step(model, x), torch.compile(model, backend="resid")
    for mode in (torch.inference_mode, torch.no_grad, torch.enable_grad, torch.inference_mode):
        with mode():
            y = compiled(x)
        near(y, right[0])
        assert y.requires_grad == (mode is torch.enable_grad) and y.is_inference() == (mode is torch.inference_mode)
    near(step(compiled, x), right)


def test_compiled_twice():
    model, x = Net(), torch.randn(5, 32)
    near(step(torch.compile(torch.compile(model, backend="resid"), backend="resid"), x, model), step(model, x))
    near(step(torch.compile(model, backend="resid"), x), step(model, x))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies(duplicate):
    """Of a model that was compiled, evaluated and trained. It has weights of its own."""
    model, x = Net(), torch.randn(5, 32)
    compiled = rt.compile(model, (x,))
    right = step(compiled, x)
    other = duplicate(compiled)
    near(step(other, x), right)
    optimizer = torch.optim.SGD(other.parameters(), lr=0.5)
    optimizer.step()
    with torch.no_grad():
        near(compiled(x), right[0])
        assert not torch.allclose(other(x), right[0], atol=1e-2)
    near(step(other, x), step(other._orig_mod, x))
    assert other._orig_mod is not model


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_of_pieces(duplicate, monkeypatch):
    """As another backend's cache would hold them: with packed weights, and with gradients."""
    model, x, made = Net(), torch.randn(5, 32), []
    bind = rt.pieces.CompiledPiece._bind
    monkeypatch.setattr(rt.pieces.CompiledPiece, "_bind", lambda self, given: made.append((self, given)) or bind(self, given))
    compiled = torch.compile(model, backend="resid")
    right = step(compiled, x)
    with torch.no_grad():
        compiled(x)
    (trained, first), (packed, second) = made
    assert type(trained).__name__ == "TrainedPiece" and len(packed.made) == 2
    again = duplicate(trained)
    assert again.bound is None and again.text == trained.text
    (y,) = again(*first)
    near(y, right[0])
    parameters = list(model.parameters())
    near(torch.autograd.grad(y.cos().sum(), parameters), torch.autograd.grad(model(x).cos().sum(), parameters))
    with torch.no_grad():
        near(duplicate(packed)(*second)[0], right[0])


def test_trained_weights_are_bound_once(monkeypatch):
    """They are read where they are, so that a step of an optimizer changes nothing. Weights elsewhere are bound anew."""
    model, x, made = Net(), torch.randn(5, 32), []
    monkeypatch.setattr(rt.training.TrainedPiece, "_bind", lambda self, given: made.append(self) or rt.pieces.CompiledPiece._bind(self, given))
    compiled, optimizer = torch.compile(model, backend="resid"), torch.optim.AdamW(model.parameters(), lr=0.1, fused=True)
    for _ in range(3):
        near(step(compiled, x), step(model, x))
        optimizer.step()
    assert len(made) == 1
    model.first.weight.data = torch.randn(64, 32)
    near(step(compiled, x), step(model, x))
    assert len(made) == 2


def test_threads():
    """Evaluation and training, from four threads at once, the first calls too."""
    model, xs, found = Net(), [torch.randn(5, 32) for _ in range(4)], {}
    compiled = torch.compile(model, backend="resid")

    def call(place):
        for _ in range(3):
            with torch.no_grad():
                y = compiled(xs[place])
            result = compiled(xs[place])
            found[place] = [y, result.detach(), *torch.autograd.grad(result.sin().sum(), list(model.parameters()))]

    threads = [threading.Thread(target=call, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for place in range(4):
        result = model(xs[place])
        near(found[place], [result.detach(), result.detach(), *torch.autograd.grad(result.sin().sum(), list(model.parameters()))])


def test_loaded_weights():
    """After evaluation and training, into the same memory and as new tensors."""
    model, x = Net(), torch.randn(5, 32)
    compiled = rt.compile(model, (x,))
    near(step(compiled, x), step(model, x))
    for assign in (False, True):
        for target in (model, compiled):
            target.load_state_dict({name: value + 0.3 * torch.randn_like(value) for name, value in target.state_dict().items()}, assign=assign)
            with torch.no_grad():
                near(compiled(x), model(x))
            near(step(compiled, x), step(model, x))


def test_other_types_afterwards():
    model, x = Net(), torch.randn(5, 32)
    compiled = rt.compile(model, (x,))
    step(compiled, x)
    for dtype, tolerance in ((torch.bfloat16, 5e-2), (torch.float64, 1e-5)):
        model.zero_grad()
        model.to(dtype)
        torch.testing.assert_close(step(compiled, x.to(dtype)), step(model, x.to(dtype)), rtol=tolerance, atol=tolerance)


def test_data():
    """What `.data` gives shares memory with its tensor, and no gradient flows through it."""

    def f(x, weight):
        x = x.exp()
        x.data.add_(1)
        return x * weight.data + x.data * weight

    x, weight = torch.randn(3, 4, requires_grad=True), torch.randn(4, requires_grad=True)
    compiled, before = torch.compile(f, backend="resid"), len(rt.report())
    with torch.no_grad():
        near(compiled(x, weight), f(x, weight))
    own, right = ([y.detach(), *torch.autograd.grad(y.sin().sum(), [x, weight])] for y in (compiled(x, weight), f(x, weight)))
    near(own, right)
    assert [found.share for found in rt.report()[before:]] == [1.0, 1.0] and "_get_data_attr" in rt.report()[-1].gradients
