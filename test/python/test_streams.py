# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `resid model hyper`: decoders on several residual streams beside reference code and beside the connections of the
# package transformers, values and gradients.

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch for the reference code")

import reference_streams as reference  # noqa: E402
import resid  # noqa: E402
from import_models import randomised  # noqa: E402
from resid.importer.errors import FlagError, ImportFailure  # noqa: E402
from resid.models import write_model  # noqa: E402

BASE = {
    "architectures": ["HyperForCausalLM"], "num_hidden_layers": 1, "hidden_size": 16, "num_attention_heads": 2,
    "num_key_value_heads": 1, "intermediate_size": 24, "vocab_size": 20, "rms_norm_eps": 0.02,
}  # fmt: skip
# Numbers beside coefficients are large, so that a missing one shows.
CASES: "dict[str, dict[str, Any]]" = {
    "mhc": {"connection": "mhc", "hc_eps": 0.01},
    "mhc_defaults": {"connection": "mhc"},
    "mhc_3": {"connection": "mhc", "hc_mult": 3, "hc_sinkhorn_iters": 2, "hc_eps": 0.01},
    "mhc_older": {"connection": "mhc", "hc_version": "sigmoid", "hc_sinkhorn_iters": 2, "hc_eps": 0.01},
    "ihc": {"connection": "ihc", "hc_eps": 0.01, "hc_magnitude": 1.5},
    "static": {"connection": "static", "hc_mult": 2},
    "gated": {"connection": "gated", "hc_lowrank": 6},
    "gated_3": {"connection": "gated", "hc_lowrank": 5, "hc_count": 3},
}
# What transformers has of each, beside the head, by the name of the module that has it.
CLASSES = {
    "DeepseekV4HyperConnection": ("deepseek_v4", "DeepseekV4HyperHead", "mhc"),
    "HYV4HyperConnection": ("hy_v4", "HYV4HyperHead", "ihc"),
    "Qwen4ExpTextGatedResidual": ("qwen4_exp", "Qwen4ExpTextGatedResidual", "gated"),
}
IDS = torch.tensor([[5, 3, 8, 19, 0], [1, 1, 2, 3, 13]])


def compare(fields: "dict[str, Any]", model: "torch.nn.Module") -> None:
    """The program's logits, and the gradients of all its weights, beside those of the model."""
    text = write_model("hyper", fields)
    order = re.findall(r'resid\.weight = "([^"]+)"', text)
    parameters = {key.replace(".of_package.", "."): value for key, value in model.named_parameters()}
    assert sorted(order) == sorted(parameters)
    kernels, given = resid.compile(text, grad="hyper"), [IDS, *(parameters[key].detach() for key in order)]
    (found, *saved), wanted = kernels.hyper_forward(*given), model(IDS)
    assert torch.equal(found, kernels.hyper(*given))
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=2e-5)
    dy = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(1))
    gradients = torch.autograd.grad(wanted, [parameters[key] for key in order], dy)
    for key, mine, other in zip(order, kernels.hyper_backward(*given, *saved, dy), gradients, strict=True):
        assert other.abs().max() > 0, key
        torch.testing.assert_close(
            mine, other, rtol=1e-3, atol=1e-4 * other.abs().max().item(), msg=lambda m: f"{key}: {m}"
        )


@pytest.mark.parametrize("name", CASES)
def test_against_reference_code(name: str) -> None:
    fields = {**BASE, **CASES[name]}
    compare(fields, randomised(reference.Hyper(fields)))


class Package(torch.nn.Module):
    """A connection of the package, with what the decoder here asks for: the row, the weights of the write, the mix."""

    def __init__(self, kind: str, module: "torch.nn.Module", head: bool) -> None:
        super().__init__()
        self.kind, self.head, self.of_package = kind, head, module

    def forward(self, x: "torch.Tensor") -> tuple:
        found = self.of_package(x.flatten(-2) if self.kind == "gated" else x)
        if self.head:
            return found, None, None
        if self.kind == "gated":
            return found[0], found[2], None
        return (found[2], found[0], found[1]) if self.kind == "mhc" else (found[1], found[0], None)


@pytest.mark.parametrize("name", CLASSES)
def test_against_the_package(name: str) -> None:
    """The connections are those of transformers, and so are the names of their parameters."""
    family, head_name, kind = CLASSES[name]
    pytest.importorskip("transformers", reason="needs the package transformers to compare with")
    found = pytest.importorskip(
        f"transformers.models.{family}.modeling_{family}", reason=f"the package transformers has no {family}"
    )
    fields = {**BASE, **CASES[kind]}
    config = SimpleNamespace(
        hc_mult=4,
        hc_count=4,
        hidden_size=16,
        rms_norm_eps=0.02,
        hc_lowrank=6,
        hc_sinkhorn_iters=20,
        hc_eps=0.01,
        hc_magnitude=1.5,
    )

    def make(_: dict, head: bool) -> "torch.nn.Module":
        extra = {"use_combine": False} if head and kind == "gated" else {}
        return Package(kind, getattr(found, head_name if head else name)(config, **extra), head)

    compare(fields, randomised(reference.Hyper(fields, make)))


REFUSED = [
    ({"connection": "mhc", "hc_version": "linear"}, "'hc_version': expected one of softmax, sigmoid, found \"linear\""),
    ({"connection": "none"}, "'connection': expected one of mhc, ihc, static, gated, found \"none\""),
    ({}, "'connection': expected one of mhc, ihc, static, gated, found none"),
    ({"connection": "mhc", "hc_mult": 8}, "'hc_mult': expected at most 7 streams for 'mhc', found 8"),
    ({"connection": "ihc", "hc_mult": 17}, "'hc_mult': expected at most 16 streams for 'ihc', found 17"),
    ({"connection": "mhc", "hc_sinkhorn_iters": 1001}, "'hc_sinkhorn_iters': expected at most 1000, found 1001"),
    ({"connection": "ihc", "hc_version": "softmax"}, "'hc_version' is not covered"),
    ({"connection": "mhc", "hc_magnitude": 2.0}, "'hc_magnitude' is not covered"),
    ({"connection": "static", "hc_eps": 1e-6}, "'hc_eps' is not covered"),
    ({"connection": "gated", "hc_mult": 4}, "'hc_mult' is not covered"),
]


@pytest.mark.parametrize(("fields", "message"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_refused(fields: "dict[str, Any]", message: str) -> None:
    with pytest.raises(ImportFailure, match=re.escape(message)):
        write_model("hyper", {**BASE, **fields})


def compile_as_one(texts: "dict[str, str]") -> None:
    """As one program, whose functions share most of their kernels."""
    resid.compile("\n".join(text.replace("func.func @hyper(", f"func.func @{name}(") for name, text in texts.items()))


def test_placements() -> None:
    texts = {}
    for placement in ("branch_post", "peri", "none"):
        texts[placement] = text = write_model("hyper", {**BASE, **CASES["mhc"]}, placement=placement)
        assert text.count(f"resid.block {placement} ") == 2 == text.count("streams(read ")
    compile_as_one(texts)
    for placement, connection in (("post", "mhc"), ("post_shifted", "static"), ("pre", "gated"), ("post", "gated")):
        with pytest.raises(FlagError, match=f"placement '{placement}'"):
            write_model("hyper", {**BASE, **CASES[connection]}, placement=placement)


def test_bf16() -> None:
    """On a narrow stream, coefficients and their parameters are f32; of gated, all weights have the stream's type."""
    texts = {}
    for connection, element in (("mhc", "f32"), ("ihc", "f32"), ("static", "f32"), ("gated", "bf16")):
        texts[connection] = write_model("hyper", {**BASE, **CASES[connection], "torch_dtype": "bfloat16"})
        pattern = r'x(b?f\d+)> \{resid.weight = "model\.(?:layers\.0\.\w+_h|h)(?:c|yper)\w*\.'
        assert set(re.findall(pattern, texts[connection])) == {element}, connection
    compile_as_one(texts)
