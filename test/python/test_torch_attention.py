# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# resid.torch.attention beside attention that is written out in PyTorch: values, gradients, tracing, and what is refused.

import math

import pytest

torch = pytest.importorskip("torch")

import resid.torch as rt  # noqa: E402

LENGTHS = (2, 4, 7, 9)  # batch, heads, queries, keys; two heads of keys
CASES = {
    "plain": {},
    "causal": {"causal": True},
    "causal window": {"causal": True, "window": 3},
    "window, scale": {"window": 4, "scale": 0.3},
    "cap": {"cap": 5.0},
    "sink": {"sink": (4,)},
    "boolean mask": {"mask": ("bool", 7, 9)},
    "mask of floats": {"mask": ("float", 2, 1, 7, 9)},
    "padding and all else": {"mask": ("bool", 2, 1, 1, 9), "causal": True, "sink": (4,), "window": 5, "cap": 20.0},
}


def written_out(q, k, v, mask=None, sink=None, causal=False, window=None, cap=None, scale=None):
    k, v = (tensor.repeat_interleave(q.shape[1] // tensor.shape[1], 1) for tensor in (k, v))
    scores = q @ k.transpose(-1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if cap is not None:
        scores = cap * torch.tanh(scores / cap)
    distance = torch.arange(k.shape[2]) - torch.arange(q.shape[2])[:, None]
    if causal:
        scores = scores.masked_fill(distance > 0, -math.inf)
    if window is not None:
        scores = scores.masked_fill(distance.abs() >= window, -math.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    if sink is not None:
        scores = torch.cat([scores, sink.view(1, -1, 1, 1).expand(*scores.shape[:3], 1)], -1)
    return scores.softmax(-1)[..., : k.shape[2]] @ v


def arguments(case, dtype):
    torch.manual_seed(1)
    batch, heads, queries, keys = LENGTHS
    q = torch.randn(batch, heads, queries, 16, dtype=dtype, requires_grad=True)
    k, v = (torch.randn(batch, 2, keys, size, dtype=dtype, requires_grad=True) for size in (16, 12))
    given = dict(CASES[case])
    inputs = [q, k, v]
    if "sink" in given:
        given["sink"] = torch.randn(given["sink"], dtype=dtype, requires_grad=True)
        inputs.append(given["sink"])
    if "mask" in given:
        kind, *shape = given["mask"]
        given["mask"] = torch.randn(shape, dtype=dtype)
        if kind == "bool":
            given["mask"] = given["mask"] > -0.5
            given["mask"][..., :2] = True
    return inputs, given


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients(case, dtype):
    inputs, given = arguments(case, dtype)
    y, wanted = rt.attention(*inputs[:3], **given), written_out(*inputs[:3], **given)
    close = {"rtol": 0, "atol": 1e-13 if dtype == torch.float64 else 3e-6}
    torch.testing.assert_close(y, wanted, **close)
    dy = torch.randn_like(y)
    for mine, other in zip(torch.autograd.grad(y, inputs, dy), torch.autograd.grad(wanted, inputs, dy), strict=True):
        torch.testing.assert_close(mine, other, **close)


def test_narrow_types_and_tracing():
    (q, k, v), _ = arguments("plain", torch.float32)
    narrow = [tensor.detach().to(torch.bfloat16) for tensor in (q, k, v)]
    y = rt.attention(*narrow, causal=True)
    assert y.dtype == torch.bfloat16
    torch.testing.assert_close(y.double(), written_out(*(tensor.double() for tensor in narrow), causal=True), rtol=0, atol=2e-2)
    traced = torch.compile(lambda q, k, v: rt.attention(q * 2, k, v, causal=True, window=3) + 1, fullgraph=True)
    for queries in (7, 5):
        assert torch.equal(traced(q[:, :, :queries], k, v), rt.attention(q[:, :, :queries] * 2, k, v, causal=True, window=3) + 1)


def test_what_is_refused():
    (q, k, v), _ = arguments("plain", torch.float32)
    for call, kind, text in (
            (lambda: rt.attention(q[0], k, v), ValueError, "argument 'q': its shape is .*, expected 4 dimensions"),
            (lambda: rt.attention(q, k[..., :8], v), ValueError, r"argument 'k': its shape is .*, expected \[2, 2, 9, 16\]"),
            (lambda: rt.attention(q[:, :3], k, v), ValueError, "argument 'k': it has 2 heads, expected a number that divides 3"),
            (lambda: rt.attention(q, k, v, torch.ones(3, 9)), ValueError, "expected one that broadcasts to"),
            (lambda: rt.attention(q, k, v, sink=torch.ones(2)), ValueError, r"argument 'sink': its shape is \[2\], expected \[4\]"),
            (lambda: rt.attention(q, k, v, window=0), ValueError, "argument 'window': expected a positive integer but got 0"),
            (lambda: rt.attention(q, k, v, cap=math.inf), ValueError, "argument 'cap'"),
            (lambda: rt.attention(q, k, v, scale=math.nan), ValueError, "argument 'scale'"),
            (lambda: rt.attention(q.int(), k, v), TypeError, "argument 'q': expected float16"),
            (lambda: rt.attention(q.to("meta"), k, v), NotImplementedError, "argument 'q': expected a tensor on a CPU"),
            (lambda: rt.attention(q, k, v, torch.zeros(7, 9, requires_grad=True)), RuntimeError, "the gradient of argument 'mask'")):
        with pytest.raises(kind, match=text):
            call()
