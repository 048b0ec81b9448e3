# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Graphs of torch.export, imported without ONNX, against the models themselves.

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch, whose graphs are imported")

import import_models as models  # noqa: E402
from import_support import count, run  # noqa: E402
from resid.importer import Unsupported, from_exported  # noqa: E402

IDS = torch.tensor([[5, 3, 8, 59, 0, 7, 2], [1, 1, 2, 3, 5, 8, 13]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]])
IMAGES = torch.linspace(-1, 1, 2 * 3 * 16 * 16).reshape(2, 3, 16, 16)
CASES = {
    "bert": (models.Bert, (IDS, MASK), {"layer_norm": 5, "activation": 2, "attention": 2, "linear": 12}),
    "gpt": (models.Gpt, (IDS,), {"layer_norm": 5, "activation": 2, "attention": 2, "linear": 9}),
    "llama": (models.Llama, (IDS,), {"rms_norm": 5, "activation": 2, "attention": 2, "linear": 15}),
    "vit": (models.ViT, (IMAGES,), {"layer_norm": 5, "activation": 2, "attention": 2, "linear": 10}),
}


def exported(model: "torch.nn.Module", inputs: tuple, dynamic: bool) -> "torch.export.ExportedProgram":
    axes = (
        {0: torch.export.Dim("batch")}
        if inputs[0].ndim == 4
        else {0: torch.export.Dim("batch"), 1: torch.export.Dim("tokens", max=48)}
    )
    return torch.export.export(model, inputs, dynamic_shapes=tuple(axes for _ in inputs) if dynamic else None)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dynamic", [True, False], ids=["open", "static"])
def test_exported(name: str, dynamic: bool, tmp_path: Path) -> None:
    make, inputs, ops = CASES[name]
    model = models.randomised(make())
    imported = from_exported(exported(model, inputs, dynamic))
    assert set(dict(model.named_parameters())) <= set(imported.weights)
    (found,) = run(imported, [array.numpy() for array in inputs], tmp_path)
    np.testing.assert_allclose(found, model(*inputs).detach().numpy(), rtol=1e-5, atol=1e-5)
    assert {op: count(imported, f"resid.{op}") for op in ops} == ops


def test_encoder_of_torch(tmp_path: Path) -> None:
    """torch's own nn.TransformerEncoder."""
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, activation="gelu", batch_first=True)
    model = models.randomised(torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False))
    x = torch.linspace(-2, 2, 2 * 7 * 32).reshape(2, 7, 32).sin()
    imported = from_exported(torch.export.export(model, (x,)))
    (found,) = run(imported, [x.numpy()], tmp_path)
    np.testing.assert_allclose(found, model(x).detach().numpy(), rtol=1e-5, atol=1e-5)


def test_bf16(tmp_path: Path) -> None:
    model = models.randomised(models.Llama()).to(torch.bfloat16)
    imported = from_exported(exported(model, (IDS,), True))
    assert imported.text.count("narrow_affine") == 5
    (found,) = run(imported, [IDS.numpy()], tmp_path)
    narrow, exact = model(IDS).detach().double().numpy(), model.double()(IDS).detach().numpy()
    mine = (found.astype(np.uint32) << 16).view(np.float32) - exact
    assert np.sqrt((mine**2).mean()) <= 1.2 * np.sqrt(((narrow - exact) ** 2).mean())


def test_writes_in_place(tmp_path: Path) -> None:
    """What was read before a write is the old value, and what is read behind it the new one."""

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x * 2
            before = y + 0
            y.add_(1)
            return before * 10 + y

    x = torch.arange(8.0).reshape(2, 4)
    (found,) = run(from_exported(torch.export.export(Model(), (x,))), [x.numpy()], tmp_path)
    np.testing.assert_array_equal(found, Model()(x).numpy())


def test_every_operator_that_is_not_covered_is_named() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.fft.rfft(x).abs() + torch.linalg.det(x @ x.T)

    with pytest.raises(Unsupported) as caught:
        from_exported(torch.export.export(Model(), (torch.ones(4, 8),)))
    assert caught.value.code == 4
    text = str(caught.value)
    assert "aten.fft_rfft.default 'fft_rfft'" in text and "linalg_det" in text
