# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What gpu-check compares itself with, on the CPU: PyTorch's norms with a residual add, and their gradients.

import pathlib
import sys

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools/gpu-check"))
import peers  # noqa: E402


class OnCPU:
    """PyTorch whose devices are the CPU."""

    def __getattr__(self, name):
        return getattr(torch, name)

    def randn(self, shape, dtype, device):
        return torch.randn(shape, dtype=dtype)

    def zeros(self, size, device):
        return torch.zeros(size)


def make(name):
    block = peers.Block(name)
    return block, peers.make_tensors(OnCPU(), block, 5, torch.float32)


@pytest.mark.parametrize("kind", ["add_layer", "add_rms"])
def test_gradients_are_those_of_the_formula(kind):
    block, tensors = make(f"{kind}_backward_f32_64")
    with torch.no_grad():
        found = peers.make_backward(torch, peers.make_eager(torch, block), tensors)()
        dy, gamma, dsum, sums = (tensors[name].double() for name in ("dy", "gamma", "dsum", "sums"))
        rstd, mean = tensors["rstd"].double()[:, None], tensors["mean"].double()[:, None]
        normed, wide = (sums - mean) * rstd, dy * gamma
        own_mean = wide.mean(1, keepdim=True) if block.is_layer else 0
        dx = rstd * (wide - own_mean - normed * (wide * normed).mean(1, keepdim=True)) + dsum
        peers.compare(block, found, {"dx": dx, "df": dx, "dgamma": (dy * normed).sum(0), "dbeta": dy.sum(0)})
        with pytest.raises(ValueError, match="its results are .* off"):
            peers.compare(block, found, {"dx": dx + 0.01})


@pytest.mark.parametrize("kind", ["add_layer", "add_rms", "layer", "add_layer_backward", "add_rms_backward", "layer_backward"])
def test_arrays_are_those_of_the_block(kind):
    import kinds

    block, tensors = make(f"{kind}_f32_64")
    arguments, own = peers.list_arrays(OnCPU(), block, tensors)
    rank = {"matrix": 2, "column": 1, "row": 1}
    expected = [word.split(":")[1].split("@")[0] for word in f"{kinds.KINDS[kind].arguments} {kinds.KINDS[kind].results}".split()]
    assert [len(array.shape) for array in [*arguments, *own.values()]] == [rank[shape] for shape in expected]
    assert list(own) == [word.split(":")[0] for word in kinds.KINDS[kind].results.split()]


def test_every_block_is_compiled(monkeypatch):
    graphs, compile_with = [], torch.compile

    def count(graph, inputs):
        graphs.append(graph)
        return graph.forward

    monkeypatch.setattr(torch, "compile", lambda *arguments, **options: compile_with(*arguments, backend=count, **options))
    names = [f"{kind}_f32_{width}" for kind in ("add_layer", "add_rms", "layer") for width in range(8, 41, 8)]
    for name in names:
        block, tensors = make(name)
        peers.make_forward(peers.make_compiled(torch, block), tensors)()
    assert len(graphs) == len(names)
