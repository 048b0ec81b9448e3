# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# torch.compile(model, backend="resid"): results are eager's to 1e-5, and nearly all floating-point operations run in resid. What
# users do around it is test_torch_compile_uses.py's.

import copy
import pickle
import sys
import warnings

import pytest

torch = pytest.importorskip("torch")
import check_models  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import resid  # noqa: E402
import resid.torch as rt  # noqa: E402
from test_torch_optimize import round_rows  # noqa: E402

FIFTEEN = ["BertModel", "DistilBertModel", "GPT2Model", "GPTNeoXModel", "Gemma3TextModel", "GptOssModel", "LlamaModel", "MistralModel",
           "ModernBertModel", "Olmo2Model", "Phi3Model", "Qwen3Model", "RobertaModel", "T5Model", "ViTModel"]


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", FIFTEEN)
def test_fifteen_classes(name):
    transformers = pytest.importorskip("transformers")
    kind = getattr(transformers, name)
    check_models.base_classes_of_process[name] = kind, kind.config_class
    model, given = check_models.build(name)
    with torch.no_grad():
        right = check_models.tensors_of(model(**given))
        results = check_models.tensors_of(torch.compile(model, backend="resid")(**given))
    assert len(results) == len(right)
    assert check_models.distance([one.numpy() for one in results], [one.numpy() for one in right]) <= 1e-5
    reports = rt.report(model)
    flops = [(node.flops, not node.reason) for found in reports for node in found.nodes]
    total = sum(count for count, _ in flops)
    assert total > 1e5 and not any(found.refused for found in reports)
    assert sum(count for count, own in flops if own) >= 0.95 * total, "\n".join(map(str, reports))
    assert sum(found.programs for found in reports) <= 3


@pytest.mark.parametrize("name", ["Llama", "Mistral"])
def test_generates(name):
    """With a cache that grows, and of Mistral with a window; constants that the model makes are in the graph. Then with gradients."""
    transformers = pytest.importorskip("transformers")
    config = getattr(transformers, f"{name}Config")(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1,
                                                    intermediate_size=48, vocab_size=50, head_dim=16)
    model, ids = getattr(transformers, f"{name}ForCausalLM")(config).eval(), torch.randint(3, 50, (2, 7))
    given = dict(attention_mask=torch.ones_like(ids), max_new_tokens=4, do_sample=False, pad_token_id=0)
    right = model.generate(ids, **given)
    forward = model.forward
    model.forward = torch.compile(forward, backend="resid")
    assert torch.equal(model.generate(ids, **given), right)
    reports = rt.report(model)
    assert 2 <= len(reports) <= 3 and all(found.share == 1.0 and found.programs == 1 for found in reports)
    torch.testing.assert_close(model(ids).logits, forward(ids).logits, rtol=1e-5, atol=1e-5)
    model(ids).logits.sum().backward()
    assert rt.report(model)[-1].share == 1.0 and all(parameter.grad is not None for parameter in model.parameters())


class Net(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.first, self.second, self.norm = nn.Linear(width, 64), nn.Linear(64, width), nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x + self.second(F.gelu(self.first(x))))


def near(model, compiled, *given, tolerance=1e-5):
    with torch.no_grad():
        torch.testing.assert_close(compiled(*given), model(*given), rtol=tolerance, atol=tolerance)


def only(model):
    (found,) = rt.report(model)
    return found


def test_changed_weights_are_seen():
    model, x = Net().eval(), torch.randn(5, 32)
    compiled = torch.compile(model, backend="resid")
    near(model, compiled, x)
    before = compiled(x).detach().clone()
    model.load_state_dict({name: value + 0.1 * torch.randn_like(value) for name, value in model.state_dict().items()})
    near(model, compiled, x)
    assert not torch.equal(compiled(x), before)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    model(x).square().sum().backward()
    optimizer.step()
    near(model, compiled, x)
    model.first.weight.data = torch.randn(64, 32)  # other memory, and no other version
    near(model, compiled, x)
    assert len(rt.report(model)) <= 2  # without gradients and with them: nothing was compiled again


def test_weights_are_packed_once():
    model, x = Net().eval(), torch.randn(5, 32)
    made = []

    def make(piece):
        made.append(rt.backend.CompiledPiece(piece))
        return made[-1]

    compiled = torch.compile(model, backend=lambda module, inputs: rt.backend._build(module, inputs, rt.GraphReport(), make))
    near(model, compiled, x)
    (piece,) = made
    assert len(piece.made) == 2
    first = piece.bound
    near(model, compiled, x)
    assert piece.bound is first
    with torch.no_grad():
        model.norm.weight.mul_(2)  # which is read where it is
    near(model, compiled, x)
    assert piece.bound is first
    with torch.no_grad():
        model.second.weight.mul_(2)
    near(model, compiled, x)
    assert piece.bound is not first


def test_calls_do_nothing_in_python_for_each_weight():
    def count(depth):
        model, x = nn.Sequential(*(Net() for _ in range(depth))).eval(), torch.randn(5, 32)
        called, events = [], []

        def backend(module, inputs):
            compiled = rt.backend.resid_backend(module, inputs)

            def call(*values):
                called.append(len(values))
                compiled(*values)
                sys.setprofile(lambda frame, event, argument: events.append(event))
                try:
                    return compiled(*values)
                finally:
                    sys.setprofile(None)

            return call

        near(model, torch.compile(model, backend=backend), x)
        return called[0], len(events)

    (few, once), (many, again) = count(1), count(3)
    assert many == 3 * (few - 1) + 1 and once == again


def test_weights_without_versions_are_packed_for_each_call():
    x = torch.randn(5, 32)
    with torch.inference_mode():
        model = Net().eval()
        compiled = torch.compile(model, backend="resid")
        for _ in range(2):
            torch.testing.assert_close(compiled(x), model(x), rtol=1e-5, atol=1e-5)
            model.second.weight.mul_(2)


def test_bound_functions_refuse_what_does_not_fit():
    from resid_runtime._caller import Bound

    kernel = resid.compile("""func.func @f(%x: tensor<?x4xf32>, %w: tensor<4xf32>) -> tensor<?x4xf32> {
      %y = resid.rms_norm %x gamma(%w) {epsilon = 1.0e-6} : tensor<?x4xf32>, tensor<4xf32>
      return %y : tensor<?x4xf32>
    }""").f
    x, weight = torch.randn(3, 4), torch.ones(4)
    bound = Bound(kernel, (1,), (weight,), ((0, weight, weight, -1),))
    torch.testing.assert_close(bound((weight, x))[0], kernel(x, weight))
    assert bound.holds((weight, x)) and not bound.holds((weight.clone(), x))
    assert not Bound(kernel, (1,), (weight,), None).holds((weight, x))
    with pytest.raises(resid.ShapeError, match="argument 'x': dimension 1 is 5"):
        bound((weight, torch.randn(3, 5)))
    with pytest.raises(TypeError, match="expected a tuple"):
        bound(weight, x)
    with pytest.raises(IndexError):
        bound((weight,))
    with pytest.raises(TypeError, match="expected 2 arguments but got 3"):
        Bound(kernel, (0, 1), (weight,), None)
    with pytest.raises(TypeError):
        Bound(print, (0,), (weight,), None)


def test_open_sizes():
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, vocab_size=50)
    model = transformers.BertModel(config).eval()
    compiled = torch.compile(model, backend="resid", dynamic=True)
    for rows, length in ((2, 7), (3, 7), (2, 11), (5, 4)):
        ids = torch.randint(0, 50, (rows, length))
        with torch.no_grad():
            results, right = compiled(ids)[0], model(ids)[0]
        torch.testing.assert_close(results, right, rtol=1e-5, atol=1e-5)
    assert only(model).share == 1.0


def test_sizes_as_numbers():
    """Sizes that are computed, as results and in results' shapes."""

    def double(x, y):
        return torch.cat([x, y]).reshape(-1) * 2.0, x.shape[0] + 1

    compiled = torch.compile(double, backend="resid", dynamic=True)
    for rows in (3, 5):
        x, y = torch.randn(rows, 4), torch.randn(7, 4)
        result, size = compiled(x, y)
        assert torch.equal(result, double(x, y)[0]) and size == rows + 1


class Mixed(nn.Module):
    """Products on both sides of what resid does not know."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        h = self.a(x).relu()
        h = torch.special.bessel_j0(h)
        return self.b(h).tanh()


def test_what_is_not_covered_stays():
    model, x = Mixed().eval(), torch.randn(3, 16)
    near(model, torch.compile(model, backend="resid"), x)
    found = only(model)
    assert [node.operator for node in found.nodes if node.reason] == ["aten.special_bessel_j0.default"]
    assert found.programs == 2 and found.share == 1.0
    assert "no such operator is covered" in str(found) and "special_bessel_j0" in str(found)


def test_one_piece_after_pytorch():
    """The only piece makes all results, but reads what PyTorch has made."""
    model, x = nn.Linear(8, 4), torch.randn(3, 8)

    def turned(x):
        return model(x.flip(0))

    near(turned, torch.compile(turned, backend="resid"), x)
    assert only(model).programs == 1 and "flip" in str(only(model))


def test_branches_of_pytorch_share_programs():
    """Two nodes of PyTorch beside each other divide a graph in two, not three."""

    def both(x):
        return torch.special.bessel_j0(x.exp()) + torch.special.bessel_j1(x.sin()) * x

    x = torch.randn(3, 4)
    before = len(rt.report())
    torch.testing.assert_close(torch.compile(both, backend="resid")(x), both(x), rtol=1e-5, atol=1e-5)
    (found,) = rt.report()[before:]
    assert found.programs == 2


def views(x):
    y = x.exp()
    return x.view(-1), x + 1, x.t(), y[0], y.t(), torch.einsum("ij->ji", x), torch.dropout(x, 0.5, False)


def cache(x, rows):
    x.index_copy_(0, torch.tensor([1]), rows.exp())
    return x, x[:2], x.sum(), x.view(x.shape[0] * rows.shape[1])[2:]


def relu(x):
    return x.relu_()[0], x.exp()


def through_views(x, rows):
    first, second = x.split([1, 3], 1)
    second[1:].mul_(2)
    x.view(-1)[0].copy_(rows.exp().sum())
    return second, torch.cat([second, first], 1)


def own(x):
    y = x.exp()
    column = y[:, 0]
    column.zero_()
    return column, y[1:], y.sum()


def to_out(x, rows):
    y = rows.exp()
    x[1:2].copy_(y)
    return y, torch.mul(x, 2, out=x).t()


def constants(x):
    return x.exp(), torch.tensor([1.0, 2.0])


def unsaid(x):
    y = x.exp()
    y.t_()
    y.add_(1)
    return y, y[0]


def in_other_order(x):
    y = x.t().exp()
    return y, y.t().view(-1)


@pytest.mark.parametrize("f", [views, cache, relu, through_views, own, to_out, constants, unsaid, in_other_order])
@pytest.mark.parametrize("dynamic", [None, True])
def test_results_share_memory_as_in_eager(f, dynamic):
    """Arguments and results, and what is seen of writes to each of them."""
    given = [torch.randn(3, 4), torch.randn(1, 4)][: f.__code__.co_argcount]
    compiled, before = torch.compile(f, backend="resid", dynamic=dynamic), len(rt.report())
    for _ in range(2):
        own, right = ([*args, *function(*args)] for function, args in ((compiled, copy.deepcopy(given)), (f, copy.deepcopy(given))))
        for place in range(len(right)):
            torch.testing.assert_close(own, right, rtol=1e-5, atol=1e-5)
            own[place].fill_(place)
            right[place].fill_(place)
        torch.testing.assert_close(own, right, rtol=1e-5, atol=1e-5)
    (found,) = rt.report()[before:]
    assert ("shares memory" in found.refused) == (f in (unsaid, in_other_order)) != (found.programs > 0)


def test_writes_in_place():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(4))

        def forward(self, x):
            self.seen.add_(x.sum(0))
            y = x.exp()
            y[:, 0] = 3.0
            return y * self.seen

    model = Counting()
    twin, x = copy.deepcopy(model), torch.randn(3, 4)
    compiled = torch.compile(model, backend="resid")
    for _ in range(2):
        torch.testing.assert_close(compiled(x), twin(x), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(model.seen, twin.seen)


def gradients_of(function, parameters, *given):
    """Of a loss that no norm makes constant."""
    for parameter in parameters:
        parameter.grad = None
    result = function(*given)
    result = result if isinstance(result, torch.Tensor) else result[0]
    (result * torch.linspace(-1, 1, result.numel()).view(result.shape).cos()).sin().sum().backward()
    return [parameter.grad for parameter in parameters]


def near_gradients(own, right):
    for a, b in zip(own, right, strict=True):
        if b is None:  # nothing reads it
            assert a is None or not a.any()
        else:
            assert (a - b).abs().max() <= 2e-5 * b.abs().max().clamp_min(1e-2), (a - b).abs().max() / b.abs().max()


def make_trained(name):
    if name == "TransformerEncoder":
        layer = nn.TransformerEncoderLayer(48, 4, 96, 0.0, batch_first=True)
        return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).train(), torch.randn(2, 9, 48)
    transformers = pytest.importorskip("transformers")
    sizes = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, vocab_size=50)
    configs = {"Bert": sizes, "Llama": sizes | dict(num_key_value_heads=1, use_cache=False),
               "GPT2": dict(n_embd=32, n_layer=2, n_head=2, vocab_size=50, use_cache=False, bos_token_id=0, eos_token_id=0)}
    kind = {"GPT2": "GPT2LMHead"}.get(name, name) + "Model"
    config = getattr(transformers, name + "Config")(**configs[name])
    return getattr(transformers, kind)(config).eval(), torch.randint(1, 50, (2, 7))


@pytest.mark.parametrize("name", ["TransformerEncoder", "Bert", "Llama", "GPT2"])
def test_gradients_are_resids(name):
    """GPT-2's head shares the weight of its embedding. The second step has other weights."""
    model, x = make_trained(name)
    compiled, parameters = torch.compile(model, backend="resid"), list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.01)
    for _ in range(2):
        own = gradients_of(compiled, parameters, x)
        optimizer.zero_grad(set_to_none=True)
        near_gradients(own, gradients_of(model, parameters, x))
        optimizer.step()
    found = only(model)
    assert found.gradients == "gradients are resid's" and found.share == 1.0 and found.programs == 1


def test_rows_of_padding_have_no_gradient():
    for head in (False, True):
        torch._dynamo.reset()
        embedding = nn.Embedding(5, 4, padding_idx=1)
        last = nn.Linear(4, 5)
        if head:
            last.weight = embedding.weight
        model, ids = nn.Sequential(embedding, nn.LayerNorm(4), last), torch.tensor([[0, 1, 2, 1]])
        parameters = list(model.parameters())
        right = [gradient.clone() for gradient in gradients_of(model, parameters, ids)]
        near_gradients(gradients_of(torch.compile(model, backend="resid"), parameters, ids), right)
        assert head or not right[0][1].any()
        assert rt.report()[-1].gradients.startswith("gradients are PyTorch's" if head else "gradients are resid's")


def test_results_that_have_no_gradient():
    x, w = torch.randn(3, 4), torch.randn(4, 4, requires_grad=True)
    y, z = torch.compile(lambda x, w: (x * 2 + 1, (x @ w).exp()), backend="resid")(x, w)
    assert not y.requires_grad and z.requires_grad


def test_steps_of_fused_optimizers_are_seen():
    """They write weights and leave the count of versions as it is."""
    model, x = Net().eval(), torch.randn(5, 32)
    compiled, optimizer = torch.compile(model, backend="resid"), torch.optim.AdamW(model.parameters(), lr=0.1, fused=True)
    for _ in range(2):
        near(model, compiled, x)
        model(x).sum().backward()
        optimizer.step()


def test_gradients_of_some():
    """Of frozen weights there are none. They add up, and a graph that is kept gives them twice."""
    model, x = Net(), torch.randn(5, 32, requires_grad=True)
    model.first.weight.requires_grad_(False)
    compiled, wanted = torch.compile(model, backend="resid"), [x, model.first.bias, model.second.weight, model.norm.weight]
    right = [gradient.clone() for gradient in gradients_of(model, wanted, x)]
    near_gradients(gradients_of(compiled, wanted, x), right)
    assert model.first.weight.grad is None
    for tensor in wanted:
        tensor.grad = None
    y = compiled(x)
    loss = (y * torch.linspace(-1, 1, y.numel()).view(y.shape).cos()).sin().sum()
    loss.backward(retain_graph=True)
    loss.backward()
    near_gradients([tensor.grad / 2 for tensor in wanted], right)
    with pytest.raises(RuntimeError, match="gradients of gradients"):
        torch.autograd.grad(compiled(x).sum(), x, create_graph=True)
    y = compiled(x)
    with torch.no_grad():
        model.second.weight.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_gradients_through_pytorch():
    """Between two programs is a node that stays PyTorch's."""
    model, x = Mixed(), torch.randn(3, 16)
    model.forward = lambda x: model.b(torch.special.entr(model.a(x).exp())).tanh()
    compiled, parameters = torch.compile(model, backend="resid"), list(model.parameters())
    right = gradients_of(model, parameters, x)
    near_gradients(gradients_of(compiled, parameters, x), right)
    assert only(model).gradients == "gradients are resid's" and only(model).programs == 2


_ENDS = [0, 1e-40, 1e-20, 0.5, 1, 2, 3, 6, 30, 50, 89, 104, 1e4, 1e20, 3e38]
POINTS = torch.tensor([sign * end for end in _ENDS for sign in (1, -1)])
_FEW = torch.tensor([0, -0.0, 1e-40, -1e-20, 0.5, 1, -1, 2, -3, 89, -1e4, 1e20, -3e38])
LEFT, RIGHT = (part.contiguous() for part in torch.meshgrid(_FEW, _FEW, indexing="ij"))
ROWS = torch.tensor([[0, 0, 0, 0], [1e-40, 0, 0, 0], [1e-20, 1e-20, 0, 0], [1, 2, 3, 4], [1, 1, 1, 1], [-1, -1, 2, 2], [-1e4, 1e4, 0, 0],
                     [100, 0, -100, 100], [6, -6, 0, -0.0], [1e10, 0, 1e-10, 1]])
INFINITE = torch.tensor([[-float("inf")] * 4, [-float("inf"), 0, 1, 2], [float("inf"), 0, 1, 2]])
CORNERS = {
    "of one number": (
        [POINTS],
        [*(getattr(torch, name) for name in "abs sqrt rsqrt exp expm1 log tanh erf cos sin sigmoid reciprocal floor ceil round square neg".split()),
         F.relu, F.relu6, F.hardtanh, F.silu, F.gelu, F.softplus, F.logsigmoid, F.tanhshrink, F.softsign, lambda x: F.softplus(x, 2.0, 15.0),
         *(lambda x, e=e: x**e for e in (0, 0.3, 0.5, 1, 1.5, 2, 3, 5, -0.3, -1, -2)), lambda x: 2.0**x, lambda x: 0.0**x,
         lambda x: x * torch.sigmoid(1.75 * x), lambda x: x.clamp(-1, 2), lambda x: x.clamp(min=0.0), lambda x: x.clamp(max=2.0),
         lambda x: torch.where(x > 0, x, -2 * x), lambda x: x.masked_fill(x > 0, -5.0), lambda x: torch.fmod(x, 0.75), lambda x: x % 0.75]),
    "of two": (
        [LEFT, RIGHT],
        [torch.add, torch.sub, torch.mul, torch.div, torch.pow, torch.maximum, torch.minimum, torch.max, lambda a, b: torch.add(a, b, alpha=2.5),
         lambda a, b: (a * a + b * b).sqrt(), lambda a, b: torch.where(a > b, a, b)]),
    "of rows": (
        [ROWS],
        [lambda x: x.norm(dim=-1), lambda x: x.norm(dim=0, keepdim=True), lambda x: x.norm(), lambda x: F.normalize(x, dim=-1),
         lambda x: (x[:, None] - x[None]).norm(dim=-1), lambda x: (x * x).sum(-1).sqrt(), lambda x: x.logsumexp(-1), lambda x: x.softmax(-1),
         lambda x: x.amax(-1), lambda x: x.amin(0), lambda x: x.max(), lambda x: x.mean(-1), lambda x: x.cumsum(-1)]),
    "of infinite rows": (
        [INFINITE], [lambda x: x.softmax(-1), lambda x: x.logsumexp(-1), lambda x: x.amax(-1), lambda x: x.mean(0), lambda x: x.norm(dim=-1)]),
}  # fmt: skip


@pytest.mark.parametrize("kind", CORNERS)
def test_gradients_at_corners(kind):
    """One graph of several functions, each of inputs of its own, where numbers are equal, 0, too large or infinite."""
    points, functions = CORNERS[kind]
    if kind == "of one number" and torch.autograd.functional.jacobian(lambda x: x.clamp(min=0), torch.zeros(())):
        pytest.skip("this PyTorch has another gradient of clamp at its bounds")
    inputs = [[x.clone().requires_grad_() for x in points] for _ in functions]
    flat = [x for own in inputs for x in own]

    def all_of(*given):
        places = iter(given)
        return tuple(function(*(next(places) for _ in points)) for function in functions)

    results = all_of(*flat)
    outer = [torch.rand_like(result) + 0.5 for result in results]
    right = torch.autograd.grad(results, flat, outer)
    found = torch.autograd.grad(torch.compile(all_of, backend="resid")(*flat), flat, outer)
    assert rt.report()[-1].gradients == "gradients are resid's"
    for place, (one, other) in enumerate(zip(found, right)):
        torch.testing.assert_close(one, other, rtol=2e-5, atol=1e-6, equal_nan=True, msg=lambda text, n=place: f"function {n // len(points)}: {text}")


def test_gradients_of_a_second_run():
    """Where the compiler has no rule, or a graph stops gradients."""
    x = torch.randn(3, 4, requires_grad=True)

    def stopped(x):
        return x.exp() * x.detach()

    def through_sort(x):
        return x.exp() * x.sort(1)[0]

    limit = torch.zeros(4)
    for f, why in ((stopped, "which gradients flow"), (through_sort, "no gradient of what its body reads"), (lambda x: x.max(-1).values, "gives the first one all"),
                   (lambda x: x.clamp(min=limit), "gradient at the bounds"), (lambda x: torch.maximum(x, limit), "a half of it"),
                   (lambda x: torch.fmod(x.cos(), x), "by a divisor that is 0"), (lambda x: x.exp() ** -0.5, "of pow by -0.5")):
        right = [gradient.clone() for gradient in gradients_of(f, [x], x)]
        near_gradients(gradients_of(torch.compile(f, backend="resid"), [x], x), right)
        assert "second run" in rt.report()[-1].gradients and why in rt.report()[-1].gradients


def test_results_without_gradients_have_none():
    model, x = Net(), torch.randn(5, 32)

    def f(x, y):
        return model(x), x.detach() * 2, y.exp(), y > 0

    compiled = torch.compile(f, backend="resid")
    for own, right in zip(compiled(x, x), f(x, x), strict=True):
        assert own.requires_grad == right.requires_grad
    compiled(x, x)[0].sum().backward()
    own = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    f(x, x)[0].sum().backward()
    torch.testing.assert_close(own, [parameter.grad for parameter in model.parameters()])


class Dropped(nn.Module):
    """Gives what dropouts have left beside what is made of it."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(16, 40), nn.Linear(40, 16)

    def forward(self, x, values, mask=None):
        hidden = self.first(x).tanh()
        hidden = F.dropout(hidden, 0.25, self.training) if mask is None else hidden * mask[0]
        rows = x[:, None]
        if mask is None:
            weights = F.scaled_dot_product_attention(rows, rows, values, dropout_p=0.5 if self.training else 0.0)
        else:
            weights = torch.softmax(rows @ rows.mT / 4, 3) * mask[1] @ values
        return hidden, weights, self.second(hidden).sin() + weights.cos().mean()


def test_dropout_with_a_known_mask():
    """The values of attention are the unit matrix, so its result is its weights."""
    model, x, values = Dropped().train(), torch.randn(3, 16, 16, requires_grad=True), torch.eye(16).expand(3, 1, 16, 16).contiguous()
    compiled, wanted, seen = torch.compile(model, backend="resid"), [x, *model.parameters()], []
    torch.manual_seed(5)
    state = rt.DropoutState()
    torch.manual_seed(5)
    for _ in range(2):
        own = compiled(x, values)
        masks = [(own[0] != 0) / 0.75, (own[1] != 0) / 0.5]
        right = model(x, values, masks)
        torch.testing.assert_close(own, right, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(masks[0], rt.dropout(torch.ones_like(own[0]), state(), 0.25).detach(), rtol=1e-6, atol=0)
        near_gradients(*(torch.autograd.grad(sum(y.sin().sum() for y in ys), wanted) for ys in (own, right)))
        seen.append(masks)
    assert all(not torch.equal(first, second) for first, second in zip(*seen))
    assert only(model).share == 1.0 and only(model).programs == 1 and only(model).gradients == "gradients are resid's"
    model.eval()
    torch.testing.assert_close(compiled(x, values), model(x, values), rtol=1e-5, atol=1e-5)


def test_dropout_without_gradients():
    """The rate and the scale, in training mode under no_grad. Two models have seeds of their own."""
    models = [nn.Dropout(0.3).train(), nn.Sequential(nn.Dropout(0.3)).train()]
    with torch.no_grad():
        for threads in (1, 2):
            ones, results = torch.ones(64, 1024), []
            for model in models:
                torch.manual_seed(1) if not results else None
                compiled = torch.compile(model, backend="resid")
                results += [compiled(ones), compiled(ones)]
            for y in results:
                kept = y[y != 0]
                assert abs(kept.numel() / y.numel() - 0.7) < 0.01
                torch.testing.assert_close(kept, torch.full_like(kept, 1 / 0.7), rtol=1e-4, atol=0)
            assert not any(torch.equal(results[i], results[j]) for i in range(4) for j in range(i))
            if threads == 2:
                assert all(map(torch.equal, results, before))
            before = results
            torch._dynamo.reset()


def test_dropout_in_training_of_an_encoder():
    layer = nn.TransformerEncoderLayer(32, 2, 64, dropout=0.1, batch_first=True)
    model, x = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).train(), torch.randn(2, 7, 32)
    compiled = torch.compile(model, backend="resid")
    compiled(x).square().sum().backward()
    assert only(model).share == 1.0 and only(model).programs == 1 and only(model).gradients == "gradients are resid's"
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def test_dropouts_that_stay():
    """Others draw PyTorch's numbers, and what is to run twice has no mask to run with again."""
    x = torch.randn(3, 4, requires_grad=True)
    for f, why in ((lambda x: F.dropout(x + 1, inplace=True), "random numbers are PyTorch's"), (lambda x: F.alpha_dropout(x, 0.5, True), "random"),
                   (lambda x: F.dropout(x.exp()) * x.detach(), "would draw anew")):
        torch.compile(f, backend="resid")(x).sum().backward()
        assert why in rt.report()[-1].refused and rt.report()[-1].share == 0.0


def test_strided_inputs():
    model, x = Net().eval(), torch.randn(32, 9).t()
    near(model, torch.compile(model, backend="resid"), x)


def test_elements_of_weights_are_in_no_program():
    """A mask and a filler that change after compiling, where other elements would let the program be simpler."""

    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.mask, self.filler = nn.Buffer(torch.zeros(5, 5)), nn.Buffer(torch.zeros(5, 5))

        def forward(self, q):
            scores = (q @ q.transpose(-1, -2) + self.mask).softmax(-1)
            return torch.where(scores.isnan(), self.filler, scores) @ q

    model, q = Masked().eval(), torch.randn(2, 2, 5, 8)
    compiled = torch.compile(model, backend="resid")
    near(model, compiled, q)
    model.mask[1] = -torch.inf
    model.filler.fill_(2.0)
    near(model, compiled, q)
    assert only(model).programs == 1


def test_what_follows_from_weights_is_computed():
    """Also behind a view or a cast that changes nothing, and in nodes that an operator is made of."""

    class Derived(nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.norm = nn.Parameter(torch.randn(8)), nn.BatchNorm1d(8)

        def forward(self, x):
            w = self.w
            return torch.stack([
                self.norm(x), F.layer_norm(x, (8,), w.view(8)), x * w.cumsum(0), x * torch.sub(w, 1, alpha=2), x + torch.add(w, w, alpha=2),
                x * w.to(torch.float32).exp(), x * w / w.norm(), x * torch.einsum("i,i->", w, w), x * (w > 0), torch.where(w > 0, x, w.abs())])

    model, x = Derived().eval(), torch.randn(3, 8)
    compiled = torch.compile(model, backend="resid")
    near(model, compiled, x)
    with torch.no_grad():
        for tensor in (*model.parameters(), model.norm.running_mean, model.norm.running_var):
            tensor.uniform_(0.5, 2)
    near(model, compiled, x)
    assert only(model).programs == 1


def test_pieces_of_constants_give_tensors():
    def f(x):
        return x * torch.special.bessel_j0(torch.arange(4.0).exp())

    x = torch.randn(3, 4)
    torch.testing.assert_close(torch.compile(f, backend="resid")(x), f(x))


@pytest.mark.parametrize("name", ["moved", "sliced", "spread", "strided"])
def test_results_lie_as_pytorchs_do(name):
    """What reads memory by strides finds the elements there."""
    def moved(x):
        return x * 2, x.exp().permute(2, 0, 1), x.sin().reshape(-1)

    def sliced(x):
        return x.exp()[:, :2], x + 1

    def spread(x):
        return (x.exp()[:, :1].expand(6, 4, 3) * 1.0, x.exp()[:, :1].expand(6, 4, 3))

    def strided(x):
        y = x * 2
        return y.as_strided(y.shape, y.stride()) + 1, torch.as_strided(y.permute(1, 0, 2), (2, 3), (1, 2)) * 3

    f = locals()[name]
    for x in (torch.randn(6, 4, 3), torch.randn(3, 4, 6).permute(2, 1, 0), torch.randn(1, 4, 3).expand(6, 4, 3)):
        compiled = torch.compile(f, backend="resid")
        for asks in (False, True):
            given = x.detach().requires_grad_(asks)
            with torch.set_grad_enabled(asks):
                right, found = f(given), compiled(given)
            for mine, own in zip(found, right, strict=True):
                torch.testing.assert_close(mine, own)
                assert mine.stride() == own.stride()


def test_transforms_and_results_of_one_operator():
    """What torch.func makes stays PyTorch's, where its tensors are no tensors; both results of an operator are its own."""
    x = torch.randn(4, 6)
    for f in (lambda x: torch.vmap(lambda row: row * 2)(x), lambda x: torch.func.grad(lambda y: (y.exp() * 2).sum())(x),
              lambda x: torch.func.jvp(lambda y: y.exp(), (x,), (x,))[1]):
        torch._dynamo.reset()
        torch.testing.assert_close(torch.compile(f, backend="resid")(x), f(x))
    for f in (lambda x: torch.topk(x * 2, 3), lambda x: torch.sort(x * 2), lambda x: (x * 2).max(-1), lambda x: (x * 2).split(2, -1)):
        torch._dynamo.reset()
        for found, right in zip(torch.compile(f, backend="resid")(x), f(x), strict=True):
            assert torch.equal(found, right)
        assert not rt.report()[-1].refused


def test_slices_of_fewer_elements_than_asked_for():
    for f in (lambda x: (x * 2)[:6] * 3, lambda x: (x * 2)[1:6], lambda x: (x * 2)[-3:] + 1, lambda x: (x * 2)[1:-1]):
        torch._dynamo.reset()
        compiled = torch.compile(f, backend="resid", dynamic=True)
        for rows in (4, 9, 6, 5, 3):
            x = torch.randn(rows, 6)
            assert torch.equal(compiled(x), f(x)), rows


def test_training_with_a_layer_that_no_result_needs():
    class Aside(nn.Module):
        def __init__(self):
            super().__init__()
            self.aside, self.main = nn.Linear(6, 6), nn.Linear(6, 6)

        def forward(self, x):
            return self.main(x) + 0 * self.aside(x).shape[0]

    model = Aside()
    torch.compile(model, backend="resid")(torch.randn(4, 6)).sum().backward()
    assert model.aside.weight.grad is None and model.main.weight.grad is not None


def test_two_instances_of_one_class():
    a, b, x = Net().eval(), Net().eval(), torch.randn(5, 32)
    for model in (a, b, a):
        near(model, torch.compile(model, backend="resid"), x)


class Layers(nn.Module):
    """Layers with a bias and without one, in both orders, a head, and one whose weight is read otherwise, too."""

    def __init__(self):
        super().__init__()
        self.up, self.down, self.head = nn.Linear(32, 64), nn.Linear(64, 32, bias=False), nn.Linear(32, 7)
        self.turned, self.shared = nn.Parameter(torch.randn(32, 32)), nn.Parameter(torch.randn(32, 32))

    def forward(self, x):
        y = F.relu(self.down(F.relu(self.up(x)))) @ self.turned
        return self.head(F.linear(y, self.shared) + self.shared.sum())


def test_integers():
    """Of resid.quantize's definition; made again when weights change; in a copy, too."""
    model, x = Layers().eval(), torch.randn(2, 5, 32)

    def linear(x, weight, bias=0.0):
        (q, s), (w, t) = round_rows(x), round_rows(weight)
        return (q @ w.T).float() * (s * t.view(-1)) + bias

    @torch.no_grad()
    def expected():
        inner = linear(F.relu(linear(x, model.up.weight, model.up.bias)), model.down.weight)
        return model.head(F.linear(linear(F.relu(inner), model.turned.T), model.shared) + model.shared.sum())

    compiled = rt.compile(model, (x,), quantize="w8a8")
    lines = [line.strip() for line in str(rt.report(model)[0]).splitlines()]
    assert lines[1] == "integers of 8 bits for 3 weights" and len(lines) == 4, lines
    assert sorted(lines[2:])[0].startswith("floats     head_weight: it is that of a head") and sorted(lines[2:])[1].startswith("floats     shared: ")
    with torch.no_grad():
        exact = model(x)
        for _ in range(2):
            torch.testing.assert_close(compiled(x), expected(), rtol=1e-5, atol=1e-5)
            model.load_state_dict({name: value * 1.5 for name, value in model.state_dict().items()})
        assert 1e-4 < (expected() - model(x)).norm() / model(x).norm() < 0.05 and not torch.equal(exact, model(x))
        assert torch.equal(copy.deepcopy(compiled)(x), compiled(x)) and torch.equal(pickle.loads(pickle.dumps(compiled))(x), compiled(x))
    with pytest.raises(Exception, match="integers have no gradient; call the model under torch.no_grad"):
        compiled(x)


def test_options_are_refused():
    with pytest.raises(Exception, match="has the option 'quantize', but got 'fast'"):
        torch.compile(Net(), backend="resid", options={"fast": True})(torch.randn(2, 32))
    with pytest.raises(Exception, match="takes no 'mode'"):
        torch.compile(Net(), backend="resid", mode="max-autotune")(torch.randn(2, 32))
    with pytest.raises(ValueError, match="option 'quantize': expected 'w8a8' but got 'w4'"):
        rt.compile(Net(), quantize="w4")


def test_explain():
    model, x = Mixed().eval(), torch.randn(3, 16)
    text = rt.explain(model, (x,))
    lines = [line.split() for line in text.splitlines()]
    assert "100.0% of the floating-point operations, in 2 programs" in text
    assert ["aten.linear.default", "2", "0", "100.0%"] in lines
    (bessel,) = [line for line in lines if line[0] == "aten.special_bessel_j0.default"]
    assert bessel[1:4] == ["0", "1", "0.0%"] and " ".join(bessel[4:]) == "no such operator is covered"


def test_wheels_name_the_backend():
    """PyTorch finds it without an import of resid.torch."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        names = distribution("resid").entry_points
    except PackageNotFoundError:
        pytest.skip("resid is not installed from a wheel")
    assert [one.value for one in names if one.group == "torch_dynamo_backends"] == ["resid.torch.backend:resid_backend"]
