# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# resid.torch.optimize: which chains it replaces in which models, and that values and gradients are those of the model. With
# dropout, the model is run on the masks of resid.

import copy
import pickle

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402
import torch_models as models  # noqa: E402
from torch import nn  # noqa: E402

import resid  # noqa: E402
import resid.torch as rt  # noqa: E402
from resid.importer import ModelError  # noqa: E402

DYNAMIC = ({0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC},)


def make(kind, p=0.1):
    torch.manual_seed(1)
    model = {"bert": lambda: models.Bert(p=p), "gpt": lambda: models.Gpt(p=p), "llama": models.Llama,
             "post": lambda: models.Encoder(p=p), "pre": lambda: models.Encoder(p=p, norm_first=True)}[kind]()
    for parameter in model.parameters():  # Norms of ones and zeros would hide a parameter that is not read.
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model, torch.randint(0, 50, (3, 16))


def gradients(model, y):
    loss = (y.float() * torch.linspace(-1, 1, y.numel()).view(y.shape)).sum()
    names, parameters = zip(*((name, p) for name, p in model.named_parameters()))
    return dict(zip(names, torch.autograd.grad(loss, parameters, allow_unused=True)))


def assert_gradients(a, b, tolerance):
    assert a.keys() == b.keys()
    for name in a:
        assert (a[name] is None) == (b[name] is None), name
        if a[name] is not None:
            torch.testing.assert_close(a[name], b[name], rtol=tolerance, atol=tolerance * b[name].abs().max().item() + 1e-7,
                                       msg=lambda text: f"{name}: {text}")


def summary(report):
    found = {}
    for entry in report.replaced:
        result = entry.result.partition(";")[0]
        found[result] = found.get(result, 0) + 1
    return found


EXPECTED = {
    ("bert", True): {"one resid.add_norm": 4, "resid.layer_norm": 1, "resid.dropout": 1},
    ("gpt", True): {"one resid.add_norm": 4, "resid.layer_norm": 1, "resid.dropout": 1},
    ("llama", True): {"one resid.add_norm": 4, "resid.rms_norm": 1},
    ("post", True): {"one resid.add_norm": 4, "resid.dropout": 2},
    ("pre", True): {"one resid.add_norm": 3, "resid.layer_norm": 1, "resid.dropout": 2, "one resid.dropout_add": 1},
    ("bert", False): {"one resid.add_norm": 4, "resid.layer_norm": 1, "nothing: it drops nothing": 5},
    ("gpt", False): {"one resid.add_norm": 4, "resid.layer_norm": 1, "nothing: it drops nothing": 5},
}


@pytest.mark.parametrize("kind,training", EXPECTED)
def test_what_is_replaced(kind, training, capsys):
    model, ids = make(kind)
    optimized = rt.optimize(model.train(training), (ids,))
    found = summary(optimized.resid_report)
    expected = {name: count for name, count in EXPECTED[kind, training].items() if count}
    assert found == expected
    printed = capsys.readouterr().out
    assert f"replaced {len(optimized.resid_report.replaced)}" in printed
    assert all(entry.node in printed for entry in optimized.resid_report.replaced + optimized.resid_report.left)


@pytest.mark.parametrize("kind", ["bert", "gpt", "llama", "post", "pre"])
@pytest.mark.parametrize("training", [True, False])
def test_values_and_gradients_without_dropout(kind, training):
    model, ids = make(kind, p=0.0)
    model.train(training)
    optimized = rt.optimize(model, (ids,), dynamic_shapes=DYNAMIC, report=None)
    assert {name for name, _ in optimized.named_parameters()} == {name for name, _ in model.named_parameters()}
    for shape in ((3, 16), (2, 9)):
        ids = torch.randint(0, 50, shape)
        y, expected = optimized(ids), model(ids)
        torch.testing.assert_close(y, expected, rtol=1e-4, atol=1e-4)
        assert_gradients(gradients(optimized, y), gradients(model, expected), 1e-3)


class WithMasks(torch.fx.Interpreter):
    """Runs the model's own graph, with the masks that resid draws at the sites of a report."""

    def __init__(self, module, report, state):
        super().__init__(module)
        self.state, self.sites, self.used = state, self._sites(module, report), 0

    def _sites(self, module, report):
        """The site of each dropout: that of the entry whose chain it belongs to."""
        sites = {}
        entries = {entry.node: entry.site for entry in report.replaced if entry.site is not None}
        for node in module.graph.nodes:
            if node.target == torch.ops.aten.dropout.default:
                # An entry has the name of the last node of its chain: the dropout, the add after it, or the norm after that.
                add = next(iter(node.users))
                norms = [user for user in add.users if user.target == torch.ops.aten.layer_norm.default]
                place = next(place for place in (node, *norms, add) if place.name in entries)
                sites[node.name] = entries[place.name]
        return sites

    def run_node(self, node):
        if node.target == torch.ops.aten.dropout.default:
            x, p, _ = self.fetch_args_kwargs_from_env(node)[0]
            self.used += 1
            return x * torch.ops.resid.dropout(torch.ones_like(x), self.state, p, 0, self.sites[node.name])
        return super().run_node(node)


@pytest.mark.parametrize("kind", ["bert", "gpt", "post", "pre"])
def test_values_and_gradients_with_dropout(kind):
    model, ids = make(kind)
    if kind in ("post", "pre"):
        for module in model.modules():  # The masks of torch's attention cannot be set.
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
    model.train()
    optimized = rt.optimize(model, (ids,), seed=11, report=None)
    reference = torch.export.export(model, (ids,)).module()
    masked = WithMasks(reference, optimized.resid_report, torch.tensor([11, 0]))
    y, expected = optimized(ids), masked.run(ids)
    assert masked.used >= 5
    torch.testing.assert_close(y, expected, rtol=1e-4, atol=1e-4)
    assert_gradients(gradients(optimized, y), gradients(reference, expected), 1e-3)
    assert not torch.equal(optimized(ids), y), "expected another mask in the next step"


@pytest.mark.parametrize("kind", ["bert", "llama", "pre"])
def test_bfloat16(kind):
    model, ids = make(kind, p=0.0)
    model.train().to(torch.bfloat16)
    optimized = rt.optimize(model, (ids,), report=None)
    assert optimized.resid_report.replaced
    wide = copy.deepcopy(model).double()
    exact = wide(ids)
    error = (optimized(ids).double() - exact).abs().max()
    assert error <= 1.5 * (model(ids).double() - exact).abs().max()


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_dynamo(backend):
    model, ids = make("gpt")
    reports = []
    optimized = rt.optimize(model, backend=backend, report=reports.append)
    model.eval()
    torch.testing.assert_close(optimized(ids), model(ids), rtol=1e-4, atol=1e-4)
    assert summary(reports[-1])["one resid.add_norm"] == 4
    model.train()
    y = optimized(ids)
    assert summary(reports[-1])["one resid.add_norm"] == 4
    assert not torch.equal(optimized(ids), y)
    gradients(model, y)


def test_llama_in_dynamo():
    model, ids = make("llama")
    reports = []
    optimized = rt.optimize(model, report=reports.append)
    y, expected = optimized(ids), model(ids)
    assert summary(reports[0]) == {"one resid.add_norm": 4, "resid.rms_norm": 1}
    torch.testing.assert_close(y, expected, rtol=1e-4, atol=1e-4)
    assert_gradients(gradients(model, y), gradients(model, expected), 1e-3)


def test_exported_and_compiled_again():
    model, ids = make("bert")
    optimized = rt.optimize(torch.export.export(model.train(), (ids,)), seed=3, report=None)
    first = optimized(ids)
    optimized.resid_dropout.seed_and_step[1] = 0
    compiled = torch.compile(optimized, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(ids), first)
    optimized.resid_dropout.seed_and_step[1] = 0
    again = torch.export.export(optimized, (ids,)).module()
    assert torch.equal(again(ids), first)


class Refused(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)

    def forward(self, x, row):
        a = self.norm(x + row)  # broadcast
        b = F.layer_norm(torch.add(x, a, alpha=2), (8,))  # alpha
        return F.dropout(b + 1.0, 0.5, self.training) + x + x


def test_what_is_left():
    model, x, row = Refused().train(), torch.randn(4, 8), torch.randn(8)
    optimized = rt.optimize(model.eval(), (x, row), report=None)
    torch.testing.assert_close(optimized(x, row), model(x, row))
    assert summary(optimized.resid_report) == {"resid.layer_norm": 2, "nothing: it drops nothing": 1}
    reasons = [entry.result for entry in optimized.resid_report.replaced]
    assert "broadcast" in reasons[0] and "alpha" in reasons[1]
    left = {entry.what: entry.result for entry in optimized.resid_report.left}
    assert "neither dropout" in left["add"]


def test_integers_and_open_widths_are_left():
    class Open(nn.Module):
        def forward(self, x):
            return F.dropout(x, 0.5)

    dynamic = ({1: torch.export.Dim.DYNAMIC},)
    optimized = rt.optimize(Open(), (torch.randn(4, 8),), dynamic_shapes=dynamic, report=None)
    (entry,) = optimized.resid_report.left
    assert "fixed size" in entry.result


def nearly_rms_norm(change):
    """A module that is LLaMA's norm but for one step."""

    class Nearly(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.linspace(0.5, 2, 8))

        def forward(self, x):
            if change == "integers":
                x = x.to(torch.int32).to(torch.float32)
            if change == "narrow":
                x = x.to(torch.bfloat16).to(torch.float32)
            power = x.pow(3 if change == "power" else 2)
            mean = power.mean(1 if change == "dimension" else -1, keepdim=True)
            other = x + 1.0 if change == "another array" else x
            root = torch.rsqrt(mean + 1e-6) if change != "sqrt" else torch.sqrt(mean + 1e-6)
            weight = self.weight if change != "scale" else self.weight[:1]
            return weight * (other * root)

    return Nearly()


@pytest.mark.parametrize("change", ["nothing", "power", "dimension", "another array", "sqrt", "scale", "integers", "narrow"])
def test_written_norms_that_are_none(change):
    model, x = nearly_rms_norm(change), torch.rand(4, 3, 8) + 0.5
    optimized = rt.optimize(model, (x,), report=None)
    assert bool(optimized.resid_report.replaced) == (change in ("nothing", "integers"))
    # Casts that change values stay: the norm is taken of their result.
    casts = [node for node in optimized.graph.nodes if node.target == torch.ops.aten.to.dtype]
    assert len(casts) == (2 if change in ("integers", "narrow") else 0)
    torch.testing.assert_close(optimized(x), model(x))


def test_arguments_by_name():
    class Named(nn.Module):
        def forward(self, x, weight):
            y = F.layer_norm(input=F.dropout(input=x, p=0.5, training=False), normalized_shape=(8,), weight=weight)
            return F.rms_norm(input=y, normalized_shape=(8,), weight=weight)

    x, weight = torch.randn(4, 8), torch.randn(8)
    reports = []
    optimized = rt.optimize(Named(), report=reports.append)
    torch.testing.assert_close(optimized(x, weight), Named()(x, weight))
    assert summary(reports[0]) == {"resid.layer_norm": 1, "resid.rms_norm": 1, "nothing: it drops nothing": 1}


def round_rows(x):
    """Integers and scales of rows, by the formula of resid.quantize."""
    scale = x.abs().amax(-1, keepdim=True) / 127
    return (x / scale).round().clamp(-127, 127).to(torch.int64), scale


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_module_with_integers(dtype):
    torch.manual_seed(3)
    layer = nn.Linear(24, 40).to(dtype)
    x = torch.randn(2, 3, 24).to(dtype)
    module = rt.QuantizedLinear.from_linear(layer)
    text = ("func.func @f(%x: tensor<?x24xELEMENT> {resid.name = \"x\"}, %w: tensor<40x24xELEMENT> {resid.weight = \"w\"}, "
            "%b: tensor<40xELEMENT> {resid.weight = \"b\"}) -> tensor<?x40xELEMENT> {\n"
            "  %y = resid.linear %x, %w bias(%b) : tensor<?x24xELEMENT>, tensor<40x24xELEMENT>, tensor<40xELEMENT>\n"
            "  return %y : tensor<?x40xELEMENT>\n}\n").replace("ELEMENT", "f32" if dtype == torch.float32 else "bf16")
    bits = lambda tensor: tensor.detach().numpy() if dtype == torch.float32 else tensor.detach().view(torch.uint16).numpy()  # noqa: E731
    done = resid.quantize(text, {"w": bits(layer.weight), "b": bits(layer.bias)}, include_head=True)
    assert (done.weights["w"] == module.weight.numpy()).all() and (done.weights["w_scale"] == module.weight_scale.numpy()).all()
    wanted = resid.compile(done.text, quiet=True).f(x, module.weight, layer.bias.detach(), module.weight_scale)
    assert torch.equal(module(x), wanted) and set(module.state_dict()) == {"weight", "weight_scale", "bias"}
    loaded = rt.QuantizedLinear(24, 40, dtype=dtype)
    assert not torch.equal(loaded(x), wanted)
    loaded.load_state_dict(module.state_dict())
    for again in (loaded, copy.deepcopy(module), pickle.loads(pickle.dumps(module)), torch.export.export(module, (x,)).module()):
        assert torch.equal(again(x), wanted)
    assert module.bfloat16().weight_scale.dtype == torch.float32
    with pytest.raises(RuntimeError, match="has no gradient"):
        module(x.requires_grad_()).sum().backward()


def test_small_module_with_integers():
    """Its weight is not packed."""
    layer, x = nn.Linear(4, 3), torch.randn(5, 4)
    (q, s), (w, t) = round_rows(x), round_rows(layer.weight.detach())
    assert torch.equal(rt.QuantizedLinear.from_linear(layer)(x), (q @ w.T).float() * (s * t.view(-1)) + layer.bias.detach())


def test_module_with_integers_refuses():
    layer = nn.Linear(4, 3)
    with pytest.raises(ValueError, match="argument 'scheme': expected 'w8a8' but got 'w4'"):
        rt.QuantizedLinear.from_linear(layer, "w4")
    for module, rows in ((rt.QuantizedLinear.from_linear(layer).double(), torch.randn(2, 4)), (rt.QuantizedLinear.from_linear(layer), torch.randn(2, 4).double())):
        with pytest.raises(TypeError, match="expected rows and a bias of float16, bfloat16 or float32 but got torch.float64"):
            module(rows)
    with pytest.raises(ValueError, match=r"argument 'x': its shape is \[2, 5\], expected 4 in the last dimension"):
        rt.QuantizedLinear.from_linear(layer)(torch.randn(2, 5))
    with torch.no_grad():
        layer.weight[0, 0] = float("inf")
    with pytest.raises(ModelError, match="argument 'linear': its weight: expected finite numbers"):
        rt.QuantizedLinear.from_linear(layer)


class Layers(nn.Module):
    """One layer with a bias and one without, a head, and one whose weight is read twice."""

    def __init__(self):
        super().__init__()
        self.up, self.down, self.head = nn.Linear(32, 64), nn.Linear(64, 32, bias=False), nn.Linear(32, 7)
        self.shared = nn.Parameter(torch.randn(32, 32))

    def forward(self, x):
        return self.head(F.linear(self.down(F.gelu(self.up(x))), self.shared) @ self.shared)


def test_integers_have_their_bits():
    torch.manual_seed(2)
    model, x = Layers().eval(), torch.randn(2, 5, 32)
    optimized = rt.optimize(model, (x,), quantize="w8a8", report=None)
    assert [(entry.node, entry.result) for entry in optimized.resid_report.replaced] == [
        ("linear", "resid.linear, w8a8"), ("linear_1", "resid.linear, w8a8")]
    assert {entry.node: entry.result for entry in optimized.resid_report.left} == {
        "linear_2": "something else reads its weight", "linear_3": "it is a head: the model returns what it computes"}
    names = dict(optimized.named_parameters())
    assert "up.weight" not in names and "head.weight" in names and model.up.weight.shape == (64, 32)

    def linear(x, layer):
        (q, s), (w, t) = round_rows(x), round_rows(layer.weight.detach())
        y = (q @ w.T).float() * (s * t.view(-1))
        return y if layer.bias is None else y + layer.bias.detach()
    with torch.no_grad():
        inner = linear(F.gelu(linear(x, model.up)), model.down)
        assert torch.equal(optimized(x), model.head(F.linear(inner, model.shared) @ model.shared))
    with pytest.raises(RuntimeError, match="a layer with integers has no gradient"):
        optimized(x.requires_grad_()).sum().backward()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_integers_in_a_model(dtype):
    model, ids = make("bert")
    model = model.to(dtype).eval()
    optimized = rt.optimize(model, (ids,), dynamic_shapes=DYNAMIC, quantize="w8a8", report=None)
    assert summary(optimized.resid_report) == {**EXPECTED["bert", False], "resid.linear, w8a8": 8}
    with torch.no_grad():
        expected, found = model(ids).float(), optimized(ids).float()
        assert 0 < (found - expected).norm() / expected.norm() < 0.05
        assert optimized(ids[:1, :5]).shape == (1, 5, 64)


def test_integers_are_refused():
    model, x = Layers(), torch.randn(2, 32)
    for change, quantize, given, text in (
            (nn.Module.train, "w8a8", (x,), "expected a model in evaluation mode, but it is in training mode"),
            (nn.Module.eval, "w4", (x,), "expected 'w8a8' but got 'w4'"),
            (nn.Module.eval, "w8a8", None, "expected example arguments or an exported program beside it, but got neither")):
        with pytest.raises(ValueError, match=text):
            rt.optimize(change(model), given, quantize=quantize)
    program = torch.export.export(nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)).train(), (torch.randn(2, 8),))
    with pytest.raises(ValueError, match="exported in evaluation mode, but it has dropout"):
        rt.optimize(program, quantize="w8a8")
