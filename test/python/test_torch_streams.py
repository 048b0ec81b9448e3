# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# resid.torch.HyperConnection and HyperHead beside reference code and beside the classes of transformers: values,
# gradients, state dicts, tracing, and what is refused.

from __future__ import annotations

import copy
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import reference_streams as reference  # noqa: E402
import resid  # noqa: E402
import resid.torch as rt  # noqa: E402
from import_models import randomised  # noqa: E402
from resid.models.connections import Kind  # noqa: E402
from resid.torch.streams import _read_text  # noqa: E402

N, DIM = 4, 24
TOLERANCES = {torch.float64: 1e-9, torch.float32: 2e-5, torch.bfloat16: 4e-2, torch.float16: 4e-3}
FIELDS = {
    "hidden_size": DIM,
    "rms_norm_eps": 0.02,
    "hc_eps": 0.01,
    "hc_lowrank": 7,
    "hc_magnitude": 1.5,
    "hc_sinkhorn_iters": 3,
}
OPTIONS = {"norm_eps": 0.02, "eps": 0.01, "rank": 7, "magnitude": 1.5, "iterations": 3}
CASES = {"mhc": {}, "mhc_older": {"version": "sigmoid"}, "ihc": {}, "static": {}, "gated": {}}


def pair(case: str, dtype: Any, head: bool = False) -> "tuple[torch.nn.Module, torch.nn.Module]":
    """A module, and the reference with the same values."""
    kind, options = case.split("_")[0], {} if head else CASES[case]
    fields = {**FIELDS, "connection": kind, "hc_version": options.get("version", "softmax")}
    model = randomised(reference.KINDS[kind](fields, head)).to(dtype)
    own = {key: value for key, value in OPTIONS.items() if not head or key not in ("magnitude", "iterations")}
    module = (rt.HyperHead if head else rt.HyperConnection)(kind, N, DIM, **own, **options)
    module = module.to(dtype if kind == "gated" or dtype == torch.float64 else torch.float32)
    module.load_state_dict(model.state_dict())
    assert list(module.state_dict()) == list(model.state_dict())
    return module, model


def assert_close(case: str, found: Any, wanted: Any, inputs: Any, dtype: Any) -> None:
    tolerance = TOLERANCES[dtype]
    torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance, msg=lambda m: f"{case}: {m}")
    dy = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(3)).to(dtype)
    mine, other = inputs
    for a, b in zip(torch.autograd.grad(found, mine, dy), torch.autograd.grad(wanted, other, dy), strict=True):
        assert b.abs().max() > 0, case
        torch.testing.assert_close(a.to(b.dtype), b, rtol=0, atol=4 * tolerance * max(1.0, b.abs().max().item()))


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("case", CASES)
def test_connection(case: str, dtype: Any) -> None:
    """The whole connection around a branch; narrow streams are compared with the reference in double."""
    module, model = pair(case, dtype)
    streams = (torch.randn(2, 3, N, DIM, generator=torch.Generator().manual_seed(2))).to(dtype).requires_grad_()
    y = module(streams, lambda row, factor: torch.tanh(factor * row), 2.0)
    assert y.dtype == dtype and y.shape == streams.shape
    wide = model.double() if dtype != torch.float64 else model
    other = streams.detach().double().requires_grad_()
    row, weights, mix = wide(other)
    wanted = reference.write(other, torch.tanh(2.0 * row), weights, mix).to(dtype)
    assert_close(case, y, wanted, ((streams, *module.parameters()), (other, *wide.parameters())), dtype)


@pytest.mark.parametrize("case", ["mhc", "ihc", "static", "gated"])
def test_head(case: str) -> None:
    module, model = pair(case, torch.float64, head=True)
    x = torch.randn(5, N, DIM, dtype=torch.float64, requires_grad=True)
    assert_close(case, module(x), model(x)[0], ((x, *module.parameters()), (x, *model.parameters())), torch.float64)


CLASSES = {
    "DeepseekV4HyperConnection": ("deepseek_v4", "mhc"),
    "DeepseekV4HyperHead": ("deepseek_v4", "mhc"),
    "HYV4HyperConnection": ("hy_v4", "ihc"),
    "HYV4HyperHead": ("hy_v4", "ihc"),
    "Qwen4ExpTextGatedResidual": ("qwen4_exp", "gated"),
    "Glm5NextTextHyperConnection": ("glm5_next", "mhc"),
}


@pytest.mark.parametrize("name", CLASSES)
def test_class_of_transformers(name: str) -> None:
    """A state dict of the class loads; the row, the weights and the mix are those of the class, with all gradients."""
    family, kind = CLASSES[name]
    pytest.importorskip("transformers", reason="needs the package transformers to compare with")
    path = f"transformers.models.{family}.modeling_{family}"
    found = pytest.importorskip(path, reason=f"the package transformers has no {family}")
    fields = SimpleNamespace(**FIELDS, hc_mult=N, hc_count=N)
    model, head = randomised(getattr(found, name)(fields)), name.endswith("Head")
    own = {key: value for key, value in OPTIONS.items() if not head or key not in ("magnitude", "iterations")}
    module = (rt.HyperHead if head else rt.HyperConnection)(kind, N, DIM, **own)
    module.load_state_dict(model.state_dict())
    x = torch.randn(2, 3, N, DIM, generator=torch.Generator().manual_seed(4), requires_grad=True)
    wanted = model(x.flatten(-2) if kind == "gated" else x)
    if head:
        pairs = [(module(x), wanted)]
    else:
        row, weights, mix = module.read(x)
        found_here = [part for part in (row, weights[..., 0], mix) if part is not None]
        places = {"mhc": (2, 0, 1), "ihc": (1, 0), "gated": (0, 2)}[kind]
        pairs = list(zip(found_here, [wanted[place] for place in places], strict=True))
    for mine, other in pairs:
        torch.testing.assert_close(mine, other, rtol=2e-5, atol=2e-5)
    totals = [sum((part[side] * part[1].detach().cos()).sum() for part in pairs) for side in (0, 1)]
    gradients = [torch.autograd.grad(total, (x, *owner.parameters())) for total, owner in zip(totals, (module, model))]
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-4 * max(1.0, b.abs().max().item()))


def test_begins_as_one_stream() -> None:
    """At first the mean of the streams is read and each gets all of y: equal streams are one residual stream."""
    x = torch.randn(6, 1, DIM).expand(6, N, DIM)
    for kind in ("mhc", "ihc", "static"):
        module = rt.HyperConnection(kind, N, DIM)
        y = module(x, torch.tanh)
        torch.testing.assert_close(y, (x[:, 0] + x[:, 0].tanh())[:, None].expand(y.shape), rtol=1e-5, atol=2e-5)
    row, weights, mix = rt.HyperConnection("gated", N, DIM).read(x)
    torch.testing.assert_close(row, torch.nn.functional.rms_norm(x[:, 0], (DIM,), eps=1e-6) / 2)
    assert mix is None and torch.equal(weights, torch.ones(6, N, 1))


class Whole(torch.nn.Module):
    def __init__(self, connection: "torch.nn.Module", branch: "torch.nn.Module") -> None:
        super().__init__()
        self.connection, self.branch = connection, branch

    def forward(self, x: "torch.Tensor") -> "torch.Tensor":
        return self.connection(x, self.branch)


@pytest.mark.parametrize("kind", ["mhc", "ihc", "static", "gated"])
def test_shapes(kind: str) -> None:
    """Any leading dimensions, empty ones too, and as many streams as there may be."""
    for n in (1, 7 if kind == "mhc" else 16):
        module, head = rt.HyperConnection(kind, n, 5, rank=3), rt.HyperHead(kind, n, 5, rank=3)
        for lead in ((), (0,), (2, 0), (2, 3)):
            x = torch.randn(*lead, n, 5, requires_grad=True)
            y = head(module(x, torch.tanh))
            assert y.shape == (*lead, 5)
            y.sum().backward()
            assert x.grad.isfinite().all() and (x.grad != 0).any() == (x.numel() > 0)


@pytest.mark.parametrize("kind", ["mhc", "static"])
def test_traces(kind: str) -> None:
    module, _ = pair(kind, torch.float32)
    branch = torch.nn.Linear(DIM, DIM)
    whole = Whole(module, branch)
    rows, x = torch.export.Dim("rows", min=2), torch.randn(9, N, DIM)
    exported = torch.export.export(whole, (torch.randn(4, N, DIM),), dynamic_shapes=({0: rows},)).module()
    assert torch.equal(exported(x), whole(x))
    assert torch.equal(copy.deepcopy(whole)(x), whole(x))
    compiled = torch.compile(lambda x: module(x, torch.tanh), backend="aot_eager", fullgraph=True)
    for rows in (3, 5):
        x = torch.randn(rows, N, DIM, requires_grad=True)
        found, wanted = compiled(x), module(x, torch.tanh)
        assert torch.equal(found, wanted)
        assert torch.equal(*(torch.autograd.grad(y.sum(), x)[0] for y in (found, wanted)))


def test_parameters_of_another_type() -> None:
    """They are converted to the type of the coefficients, of gated to that of the stream; gradients have their own."""
    for kind in ("mhc", "static", "gated"):
        module, _ = pair(kind, torch.float32)
        x = torch.randn(3, N, DIM)
        narrow = copy.deepcopy(module).bfloat16()
        again = copy.deepcopy(narrow).float()
        assert torch.equal(narrow(x, torch.tanh), again(x, torch.tanh))
        assert module(x.bfloat16(), torch.tanh).dtype == torch.bfloat16
        narrow(x, torch.tanh).sum().backward()
        assert all(value.grad.dtype == torch.bfloat16 for value in narrow.parameters())
    # A branch may be narrower than the stream.
    module, _ = pair("ihc", torch.float32)
    assert torch.equal(module(x, torch.Tensor.bfloat16), module(x, lambda row: row.bfloat16().float()))


def test_compiles_without_a_word(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    monkeypatch.setenv("RESID_CACHE", str(tmp_path))
    resid.compile(_read_text(Kind("ihc", 3, 11), "f32"), grad="streams_read")
    assert "remark: saves" in capfd.readouterr().err
    monkeypatch.setenv("RESID_CACHE", str(tmp_path / "other"))
    rt.HyperConnection("ihc", 3, 11)(torch.ones(2, 3, 11), torch.tanh)
    assert capfd.readouterr() == ("", "")


def test_says_what_is_wrong() -> None:
    make = rt.HyperConnection
    for call, message in (
        (lambda: make("hyper", 4, 8), "argument 'kind': expected one of mhc, ihc, static, gated but got 'hyper'"),
        (
            lambda: make("mhc", 4, 8, version="new"),
            "argument 'version': expected one of softmax, sigmoid but got 'new'",
        ),
        (lambda: make("mhc", 8, 8), "argument 'n': expected 1 to 7 streams for 'mhc' but got 8"),
        (lambda: make("ihc", 17, 8), "argument 'n': expected 1 to 16 streams for 'ihc' but got 17"),
        (lambda: make("static", 2, 0), "argument 'dim': expected a positive integer but got 0"),
        (
            lambda: make("ihc", 4, 8).read(torch.ones(3, 4, 9)),
            "argument 'streams': its shape is [3, 4, 9], expected [4, 8]",
        ),
        (
            lambda: make("ihc", 4, 8)(torch.ones(3, 4, 8), lambda row: row[1:]),
            "argument 'y': its shape is [2, 8], expected [3, 8]",
        ),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            call()
    with pytest.raises(TypeError, match="argument 'y': expected torch.float32"):
        make("ihc", 4, 8)(torch.ones(3, 4, 8), lambda row: row.double())
    with pytest.raises(NotImplementedError, match="several streams: expected tensors on a CPU but got meta"):
        make("ihc", 4, 8).read(torch.ones(3, 4, 8, device="meta"))
    with pytest.raises(RuntimeError, match="Missing key"):
        make("ihc", 4, 8).load_state_dict(rt.HyperHead("ihc", 4, 8).state_dict())
