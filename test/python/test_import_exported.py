# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Graphs of torch.export, imported without ONNX, against the models themselves.

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch, whose graphs are imported")

import import_models as models  # noqa: E402
from import_support import count, run  # noqa: E402
from resid.importer import Unsupported, from_exported, from_graph  # noqa: E402
from resid.importer.torch_reader import read_exported  # noqa: E402

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


def test_arguments_that_are_no_tensors(tmp_path: Path) -> None:
    """They have the value with which the model was exported, as in torch.export's own program."""

    class Scaled(torch.nn.Module):
        def forward(self, x: "torch.Tensor", by: float = 1.0, *, both: bool = False, name: "str | None" = None) -> "torch.Tensor":
            return x * by + (x if both else 0.0)

    x = torch.linspace(-1, 1, 12).reshape(3, 4)
    imported = from_exported(torch.export.export(Scaled(), (x, 2.5), {"both": True, "name": "any"}))
    (found,) = run(imported, [x.numpy()], tmp_path)
    np.testing.assert_array_equal(found, Scaled()(x, 2.5, both=True).numpy())


def test_writes_in_place(tmp_path: Path) -> None:
    """What was read before a write is the old value, and what is read after it the new one."""

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


class Calls(torch.nn.Module):
    def __init__(self, f: Callable) -> None:
        super().__init__()
        self.f = f

    def forward(self, *tensors: "torch.Tensor") -> object:
        return self.f(*tensors)


# By the compiled function, or by resid-run, which knows its conditions.
_REFUSED = "RESID_BAD_SHAPE|to be a multiple of|to be equal to|to be that of|that is no size"
AUTO, Dim = torch.export.Dim.AUTO, torch.export.Dim


def at_sizes(f: Callable, example: tuple, dims: tuple, calls: Sequence[tuple], folder: Path) -> None:
    """The exported call at other sizes: what PyTorch gives, or RESID_BAD_SHAPE where it says that a guard fails."""
    exported = torch.export.export(Calls(f), tuple(map(torch.ones, example)), dynamic_shapes=(dims,))
    imported, module = from_exported(exported), exported.module()
    for sizes in calls:
        arguments = [torch.arange(float(np.prod(size))).reshape(size) for size in sizes]
        try:
            right = module(*arguments)
        except (AssertionError, RuntimeError):
            with pytest.raises(AssertionError, match=_REFUSED):
                run(imported, [argument.numpy() for argument in arguments], folder)
            continue
        (found,) = run(imported, [argument.numpy() for argument in arguments], folder)
        assert found.shape == right.shape, sizes
        np.testing.assert_allclose(found, right.numpy(), rtol=1e-5)


ONE, TWO = ({0: AUTO},), ({0: AUTO}, {0: AUTO})
GUARDED = {
    "bound": (lambda x: x * 2 if x.shape[0] > 5 else x * 3, [(8,)], ONE, [[(3,)], [(6,)]]),
    "trunc": (lambda x: x * 0 + int(x.shape[0] * 0.5), [(8,)], ONE, [[(7,)], [(9,)], [(10,)]]),
    "remainder": (lambda x: x * 2 if x.shape[0] % 2 == 0 else x * 3, [(8,)], ONE, [[(3,)], [(6,)]]),
    "range": (lambda x: x * 2, [(8,)], ({0: Dim("B", min=6, max=9)},), [[(3,)], [(6,)], [(10,)]]),
    "and": (lambda x: x * 2 if x.shape[0] > 5 and x.shape[0] % 4 == 0 else x, [(8,)], ONE, [[(4,)], [(6,)], [(12,)]]),
    "or": (lambda x: x * 2 if (x.shape[0] < 5) | (x.shape[0] % 4 == 0) else x, [(8,)], ONE, [[(4,)], [(6,)], [(12,)]]),
    "not equal": (lambda x: x * 2 if x.shape[0] not in (3, 4) else x * 3, [(8,)], ONE, [[(3,)], [(4,)], [(5,)]]),
    "minimum": (lambda x: x * 2 if torch.sym_min(x.shape[0], 12) * 2 > 13 else x, [(8,)], ONE, [[(6,)], [(20,)]]),
    "quotient": (lambda x: x * 2 if x.shape[0] / 2 > 2.5 else x, [(8,)], ONE, [[(5,)], [(6,)]]),
    "root": (lambda x: x * 2 if x.shape[0] ** 0.5 > 2.5 else x, [(8,)], ONE, [[(6,)], [(7,)]]),
    "check": (lambda x: (torch._check(x.shape[0] < 100), x * 2)[1], [(8,)], ONE, [[(99,)], [(100,)]]),
    "two equal": (lambda x, y: x.sum() + y.sum() if x.shape[0] == y.shape[0] else x, [(8,), (8,)], TWO, [[(4,), (4,)], [(4,), (5,)]]),
    "two ordered": (lambda x, y: x.sum() + y.sum() if x.shape[0] < y.shape[0] else x, [(4,), (8,)], TWO, [[(3,), (5,)], [(5,), (5,)]]),
    "derived": (lambda x, y: x.view(-1, 2).sum(1) + y, [(8,), (4,)], ({0: 2 * Dim("B")}, {0: Dim("B")}), [[(6,), (3,)], [(6,), (2,)]]),
    "derived alone": (lambda x: x.view(-1, 2).sum(1), [(8,)], ({0: 2 * Dim("B")},), [[(6,)], [(7,)]]),
    "one more": (lambda x, y: x[1:] + y, [(5,), (4,)], TWO, [[(6,), (5,)], [(6,), (6,)]]),
    "product": (lambda x: x * 2 if x.numel() > 5 else x, [(8, 3)], ({0: AUTO, 1: AUTO},), [[(2, 2)], [(2, 3)]]),
    "reshape": (lambda x: x.reshape(4, -1).sum(0), [(8,)], ONE, [[(12,)], [(10,)]]),
    "slice": (lambda x: x[-5:] * 2, [(8,)], ONE, [[(4,)], [(5,)], [(9,)]]),
    "half": (lambda x: x[x.shape[0] // 2 :] * 2, [(8,)], ONE, [[(4,)], [(9,)]]),
    "chunk": (lambda x: x.chunk(2)[1] * 2, [(8,)], ONE, [[(4,)], [(9,)]]),
    "split": (lambda x: x.split([2, x.shape[0] - 2])[1] * 2, [(8,)], ONE, [[(4,)], [(9,)]]),
    "negative": (lambda x: x * 0 + (1 - x.shape[0]) % 5 + (3 - x.shape[0]) // 4 + (-x.shape[0]) % 4, [(8,)], ONE, [[(4,)], [(9,)]]),
    "float": (lambda x: x / x.shape[0] ** 0.5 + x.shape[0] * 0.3, [(8,)], ONE, [[(4,)], [(9,)]]),
    "range of floats": (lambda x: torch.arange(0.5, x.shape[0]) / x.shape[0], [(8,)], ONE, [[(4,)], [(9,)]]),
    "range of steps": (lambda x: torch.arange(1, x.shape[0], 0.25), [(8,)], ONE, [[(4,)], [(9,)]]),
    "filled": (lambda x: torch.full((2,), x.shape[0]) + x.new_ones(2), [(8,)], ONE, [[(4,)], [(9,)]]),
}


@pytest.mark.parametrize("name", GUARDED)
def test_sizes_that_the_trace_does_not_stand_for(name: str, tmp_path: Path) -> None:
    f, example, dims, calls = GUARDED[name]
    at_sizes(f, tuple(example), dims, calls, tmp_path)


def test_ranges_and_squeezes_that_torch_does_not_check(tmp_path: Path) -> None:
    """AUTO stands for 2 and more; a dimension that torch takes for none that is 1 is not 1; a Dim says where it begins."""
    dims = {"auto": ({0: AUTO},), "dim": ({0: Dim("B")},)}
    for name, f, example, sizes, fits in (
        ("auto", lambda x: x * 2, (8,), (1,), False),
        ("dim", lambda x: x * 2, (8,), (1,), True),
        ("dim", lambda x: x.squeeze(0) * 2, (8, 3), (1, 3), False),
        ("dim", lambda x: x.squeeze() * 2, (8, 3, 1), (4, 3, 1), True),
    ):
        imported = from_exported(torch.export.export(Calls(f), (torch.ones(example),), dynamic_shapes=(dims[name],)))
        if fits:
            (found,) = run(imported, [np.ones(sizes, np.float32)], tmp_path)
            assert found.shape == tuple(f(torch.ones(sizes)).shape)
        else:
            with pytest.raises(AssertionError, match=_REFUSED):
                run(imported, [np.ones(sizes, np.float32)], tmp_path)


def test_guards_of_nested_inputs_and_of_loaded_programs(tmp_path: Path) -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: tuple, *, z: dict) -> torch.Tensor:
            return x + (z["K"] if z["K"].shape[0] < 9 else 0) + (y[1] if y[0].shape[0] > 3 else 0)

    auto = {0: AUTO}
    given = (torch.ones(8), (torch.ones(5), torch.ones(8)))
    shapes = {"x": auto, "y": (auto, auto), "z": {"K": auto}}
    exported = torch.export.export(Model(), given, {"z": {"K": torch.ones(8)}}, dynamic_shapes=shapes)
    torch.export.save(exported, tmp_path / "program.pt2")
    for program in (exported, torch.export.load(tmp_path / "program.pt2"), exported.run_decompositions({})):
        imported = from_exported(program)
        for sizes, fits in {(7, 4, 7, 7): True, (7, 3, 7, 7): False, (9, 4, 9, 9): False, (7, 4, 7, 6): False}.items():
            arrays = [np.ones(size, np.float32) for size in sizes]
            if fits:
                np.testing.assert_array_equal(run(imported, arrays, tmp_path)[0], np.full(7, 3))
            else:
                with pytest.raises(AssertionError, match=_REFUSED):
                    run(imported, arrays, tmp_path)


def test_results_are_those_of_the_user(tmp_path: Path) -> None:
    """What a model writes into buffers and inputs is not among them, and read back where the model reads it."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("n", torch.ones(2))
            self.register_buffer("unread", torch.ones(2))

        def forward(self, x: torch.Tensor, c: torch.Tensor) -> tuple:
            self.unread.copy_(x)
            self.n.mul_(x)
            c.add_(1.0)
            return x * 2, self.n, c * 3, None

    x, c = torch.tensor([1.0, 2]), torch.tensor([7.0, 8])
    exported = torch.export.export(Model(), (x, c.clone()))
    with pytest.warns(UserWarning, match="the model writes '(n|unread|c)': a program of resid has results only"):
        imported = from_exported(exported)
    found = run(imported, [x.numpy(), c.numpy()], tmp_path, results=3)
    for mine, right in zip(found, Model()(x, c.clone())[:3]):
        np.testing.assert_array_equal(mine, right.numpy())


NAMED = {
    "median": (lambda x: x.median(-1)[0], "aten.median.dim 'median': no such operator"),
    "cummax": (lambda x: x.cummax(0)[0] + x.kthvalue(2, keepdim=True)[0], "aten.kthvalue.default 'kthvalue': no such operator"),
    "var_mean": (lambda x: torch.var_mean(x, -1)[0], "aten.var_mean.dim 'var_mean'"),
    "view": (lambda x: x.view(torch.int32), "aten.view.dtype 'view': a view as torch.int32"),
    "item": (lambda x: x * x.sum().item(), "aten.item.default 'item': a number that is known at run time only"),
    "places": (lambda x: x[x > 0], "aten.index.Tensor 'index': the places of what is true"),
    "where": (lambda x: torch.where(x > 0)[0], "'where': the places of what is true"),
    "type": (lambda x: x.to(torch.uint8), "aten.to.dtype 'to': element type uint8"),
    "complex": (lambda x: torch.view_as_real(x.to(torch.complex64)), "element type complex64"),
    "number": (lambda x: (x, 5), "output 'output': expected tensors as results, found 5"),
    "quotient": (lambda x: torch.div(x, 2, rounding_mode="floor"), "rounding_mode = 'floor' of f32"),
    "training": (lambda x: torch.nn.functional.dropout(x, 0.5, training=True), "'dropout': p = 0.5 in training: expected inference"),
}


@pytest.mark.parametrize("name", NAMED)
def test_what_is_not_covered_is_named(name: str) -> None:
    f, message = NAMED[name]
    with pytest.raises(Unsupported, match=re.escape(message)):
        from_exported(torch.export.export(Calls(f), (torch.ones(3, 4),)))


def test_constants_that_are_made_are_arrays_that_can_be_given() -> None:
    """Those of more than 16 elements become weights, which have no gaps."""
    exported = torch.export.export(Calls(lambda x: x + torch.arange(40.0)[::2].expand(3, 20)), (torch.ones(3, 20),))
    assert all(array.flags.c_contiguous for array in from_exported(exported).weights.values())


def test_operators_of_other_libraries():
    """One that is called as one of aten is another function."""
    with torch.library._scoped_library("resid_other", "DEF") as library:
        library.define("mul(Tensor self, Tensor other) -> Tensor")
        library.impl("mul", lambda x, y: x - y, "CPU")
        torch.library.register_fake("resid_other::mul", lambda x, y: torch.empty_like(x), lib=library)

        class Other(torch.nn.Module):
            def forward(self, x):
                return torch.ops.resid_other.mul(x, x)

        with pytest.raises(Unsupported, match="resid_other.mul.default 'mul': no such operator is covered"):
            from_exported(torch.export.export(Other(), (torch.randn(3),)))


class Scaled(torch.nn.Module):
    """What a parameter and a buffer do after a norm that may have its own."""

    def __init__(self, after: Callable, kind: Callable, own: int) -> None:
        super().__init__()
        self.after, self.kind, self.own = after, kind, own
        self.k, self.b, self.g, self.c = (torch.nn.Parameter(torch.randn(6)) for _ in range(4))
        self.register_buffer("z", torch.randn(6))

    def forward(self, x: "torch.Tensor") -> "torch.Tensor":
        return self.after(self.kind(x, (6,), *(self.g, self.c)[: self.own]), self)


@pytest.mark.parametrize("after", [lambda y, m: y * m.k, lambda y, m: m.z * y + m.b, lambda y, m: y + m.b, lambda y, m: y.to(torch.bfloat16).float() * m.k])
def test_scales_after_norms(after: Callable, tmp_path: Path) -> None:
    """They are no gamma and beta of a norm that has them."""
    torch.manual_seed(0)
    layer_norm, rms_norm = torch.nn.functional.layer_norm, torch.nn.functional.rms_norm
    for kind, own in ((layer_norm, 0), (layer_norm, 1), (layer_norm, 2), (rms_norm, 0), (rms_norm, 1)):
        model, x = Scaled(after, kind, own), torch.randn(4, 6)
        (found,) = run(from_exported(torch.export.export(model, (x,))), [x.numpy()], tmp_path)
        np.testing.assert_allclose(found, model(x).detach().numpy(), rtol=1e-5, atol=1e-5)


def test_an_input_that_no_rule_reads_is_refused() -> None:
    graph = read_exported(torch.export.export(Calls(lambda x: x.relu()), (torch.ones(3, 4),)))
    graph.nodes[0].inputs.append(graph.arguments[0].name)
    graph.nodes[0].inputs[0] = graph.constant("two", np.full((3, 4), 2, np.float32))
    with pytest.raises(Unsupported, match="which no rule reads"):
        from_graph(graph)
