# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reference code of connections to several residual streams, and of a decoder on them, in torch.nn: written from the
# formulas, with the parameter names of published checkpoints. Streams are [..., n, D].

from __future__ import annotations

from collections.abc import Callable

import torch
from reference_models import Llama
from torch import nn
from torch.nn import functional as F


class Projected(nn.Module):
    """mhc in both of its versions, and ihc: coefficients from a product with all streams, divided by their norm."""

    def __init__(self, c: dict, head: bool = False) -> None:
        super().__init__()
        self.c, self.n, self.head = c, c.get("hc_mult", 4), head
        self.kind = c["connection"] + ("_sigmoid" if c.get("hc_version") == "sigmoid" else "")
        n = self.n
        sizes = [n] if head else [n, n] if self.kind == "ihc" else [n, n, n * n]
        self.sizes, prefix = sizes, "hc_" if head else ""
        for name, shape in (
            ("fn", (sum(sizes), n * c["hidden_size"])),
            ("base", (sum(sizes),)),
            ("scale", (len(sizes),)),
        ):
            self.register_parameter(prefix + name, nn.Parameter(torch.zeros(shape)))

    def forward(self, x: torch.Tensor) -> tuple:
        """The row, the weights of the write, and mix[i, j] from stream i to stream j."""
        fn, base, scale = self.parameters()
        wide = x.flatten(-2).to(fn.dtype)
        z = (wide @ fn.T) / torch.sqrt((wide * wide).mean(-1, keepdim=True) + self.c["rms_norm_eps"])
        eps = self.c.get("hc_eps", 1e-6)
        parts = [p * s + b for p, s, b in zip(z.split(self.sizes, -1), scale, base.split(self.sizes))]
        pre = torch.sigmoid(parts[0]) + eps
        row = (pre[..., None] * x).sum(-2).to(x.dtype)
        if self.head:
            return row, None, None
        post = torch.sigmoid(parts[1])
        if self.kind == "mhc":
            return row, 2 * post, self.mix(parts[2].unflatten(-1, (self.n, self.n)))
        if self.kind == "ihc":
            return row, self.c.get("hc_magnitude", 2.0) * post + eps, None
        return row, post + eps, self.old_mix(parts[2].unflatten(-1, (self.n, self.n)))

    def mix(self, logits: torch.Tensor) -> torch.Tensor:
        eps = self.c.get("hc_eps", 1e-6)
        c = F.softmax(logits, -1) + eps
        c = c / (c.sum(-2, keepdim=True) + eps)
        for _ in range(self.c.get("hc_sinkhorn_iters", 20) - 1):
            c = c / (c.sum(-1, keepdim=True) + eps)
            c = c / (c.sum(-2, keepdim=True) + eps)
        return c

    def old_mix(self, logits: torch.Tensor) -> torch.Tensor:
        """The first version of DeepSeek-V4 in circulation: no softmax, and stream i becomes Σ c[i, j]·X_j."""
        eps = self.c.get("hc_eps", 1e-6)
        c = torch.sigmoid(logits) + eps
        for _ in range(self.c.get("hc_sinkhorn_iters", 20)):
            c = c / (c.sum(-1, keepdim=True) + eps)
            c = c / (c.sum(-2, keepdim=True) + eps)
        return c.transpose(-1, -2)


class Static(nn.Module):
    def __init__(self, c: dict, head: bool = False) -> None:
        super().__init__()
        self.read_weight = nn.Parameter(torch.zeros(c.get("hc_mult", 4), 1))
        if not head:
            self.write_weight = nn.Parameter(torch.zeros(c.get("hc_mult", 4), 1))

    def forward(self, x: torch.Tensor) -> tuple:
        weights = self.write_weight[:, 0] if hasattr(self, "write_weight") else None
        return (self.read_weight * x).sum(-2), weights, None


class Gated(nn.Module):
    """The read is of normalised streams, with a weight for each of their elements."""

    def __init__(self, c: dict, head: bool = False) -> None:
        super().__init__()
        self.n, self.eps = c.get("hc_count", 4), c["rms_norm_eps"]
        wide, rank = self.n * c["hidden_size"], c["hc_lowrank"]
        self.hc_norm = nn.Module()
        self.hc_norm.weight = nn.Parameter(torch.zeros(wide))
        self.input_mix_weight_down = nn.Linear(wide, rank, bias=False)
        self.input_mix_weight_up = nn.Linear(rank, wide, bias=False)
        if not head:
            self.block_inject_weight = nn.Linear(wide, self.n, bias=False)

    def forward(self, x: torch.Tensor) -> tuple:
        h = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps) * (1 + self.hc_norm.weight.view(self.n, -1))
        flat = h.flatten(-2)
        gates = torch.sigmoid(self.input_mix_weight_up(F.silu(self.input_mix_weight_down(flat) / self.n)))
        row = (gates.view_as(h) * h).mean(-2)
        if not hasattr(self, "block_inject_weight"):
            return row, None, None
        return row, 2 * torch.sigmoid(self.block_inject_weight(flat) / self.n), None


KINDS = {"mhc": Projected, "ihc": Projected, "static": Static, "gated": Gated}


def write(x: torch.Tensor, y: torch.Tensor, weights: torch.Tensor, mix: "torch.Tensor | None") -> torch.Tensor:
    """Stream j: weights_j·y + Σ mix_ij·X_i."""
    kept = x if mix is None else torch.einsum("...ij,...id->...jd", mix, x)
    return (weights[..., None] * y[..., None, :] + kept).to(x.dtype)


class Hyper(Llama):
    """A LLaMA whose sub-layers are connected to n streams. `make` gives a connection, or a head."""

    def __init__(self, c: dict, make: "Callable[[dict, bool], nn.Module] | None" = None) -> None:
        super().__init__({"rope_theta": 10000.0, **c})
        make = make or KINDS[c["connection"]]
        self.is_gated = c["connection"] == "gated"
        self.n = c.get("hc_count" if self.is_gated else "hc_mult", 4)
        self.sites = ("attn_hyper_connection", "mlp_hyper_connection") if self.is_gated else ("attn_hc", "ffn_hc")
        for layer in self.model["layers"]:
            for site in self.sites:
                layer[site] = make(c, False)
            if self.is_gated:
                del layer["input_layernorm"], layer["post_attention_layernorm"]
        self.model["hyper_connection_mixer" if self.is_gated else "hc_head"] = make(c, True)
        if self.is_gated:
            del self.model["norm"]

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.model["embed_tokens"](ids).unsqueeze(-2).repeat(1, 1, self.n, 1)
        norms = ("input_layernorm", "post_attention_layernorm")
        for layer in self.model["layers"]:
            for site, norm, branch in zip(self.sites, norms, (self.attention, self.feed_forward)):
                row, weights, mix = layer[site](x)
                x = write(x, branch(layer, row if self.is_gated else layer[norm](row)), weights, mix)
        if self.is_gated:
            return self.lm_head(self.model["hyper_connection_mixer"](x)[0])
        return self.lm_head(self.model["norm"](self.model["hc_head"](x)[0]))
