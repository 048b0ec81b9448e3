# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reference code of the model families, in torch.nn, with the parameter names of published checkpoints. Written from the papers and the
# names alone; the tests compare the programs of `resid model` with it.

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F


def attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, heads: int, allowed: "torch.Tensor | None" = None
) -> torch.Tensor:
    """Of [batch, positions, width]; k and v may have fewer heads."""
    size = q.shape[-1] // heads
    q, k, v = (t.view(*t.shape[:2], -1, size).transpose(1, 2) for t in (q, k, v))
    k, v = (t.repeat_interleave(heads // t.shape[1], 1) for t in (k, v))
    return merge(weighted(q, k, v, allowed))


def weighted(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, allowed: "torch.Tensor | None") -> torch.Tensor:
    scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    return F.softmax(scores, -1) @ v


def merge(x: torch.Tensor) -> torch.Tensor:
    return x.transpose(1, 2).flatten(2)


def causal(length: int) -> torch.Tensor:
    return torch.ones(length, length, dtype=torch.bool).tril()


def tree(**children: nn.Module) -> nn.ModuleDict:
    return nn.ModuleDict(children)


class Bert(nn.Module):
    def __init__(self, c: dict) -> None:
        super().__init__()
        width, inner, eps = c["hidden_size"], c["intermediate_size"], c["layer_norm_eps"]
        self.heads = c["num_attention_heads"]
        self.embeddings = tree(
            word_embeddings=nn.Embedding(c["vocab_size"], width),
            position_embeddings=nn.Embedding(c["max_position_embeddings"], width),
            token_type_embeddings=nn.Embedding(c["type_vocab_size"], width),
            LayerNorm=nn.LayerNorm(width, eps),
        )
        layers = []
        for _ in range(c["num_hidden_layers"]):
            own = {name: nn.Linear(width, width) for name in ("query", "key", "value")}
            output = tree(dense=nn.Linear(width, width), LayerNorm=nn.LayerNorm(width, eps))
            attention = nn.ModuleDict({"self": tree(**own), "output": output})
            after = tree(dense=nn.Linear(inner, width), LayerNorm=nn.LayerNorm(width, eps))
            layers.append(tree(attention=attention, intermediate=tree(dense=nn.Linear(width, inner)), output=after))
        self.encoder = tree(layer=nn.ModuleList(layers))

    def forward(self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        e = self.embeddings
        x = e["word_embeddings"](ids) + e["token_type_embeddings"](kinds)
        x = e["LayerNorm"](x + e["position_embeddings"](torch.arange(ids.shape[1])))
        for layer in self.encoder["layer"]:
            own, output = layer["attention"]["self"], layer["attention"]["output"]
            parts = [own[name](x) for name in ("query", "key", "value")]
            x = output["LayerNorm"](x + output["dense"](attend(*parts, self.heads, mask[:, None, None])))
            h = layer["output"]["dense"](F.gelu(layer["intermediate"]["dense"](x)))
            x = layer["output"]["LayerNorm"](x + h)
        return x

    def sentences(self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self(ids, kinds, mask) * mask[..., None]
        return F.normalize(x.sum(1) / mask.sum(1, keepdim=True), dim=-1)


class Turned(nn.Module):
    """A linear layer with the weight [in, out], as GPT-2's checkpoints have it."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.zeros(inputs, outputs)), nn.Parameter(torch.zeros(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight + self.bias


class Gpt2(nn.Module):
    def __init__(self, c: dict) -> None:
        super().__init__()
        width, eps, self.heads = c["n_embd"], c["layer_norm_epsilon"], c["n_head"]
        self.wte, self.wpe = nn.Embedding(c["vocab_size"], width), nn.Embedding(c["n_positions"], width)
        blocks = []
        for _ in range(c["n_layer"]):
            attn, mlp = tree(c_attn=Turned(width, 3 * width), c_proj=Turned(width, width)), None
            mlp = tree(c_fc=Turned(width, 4 * width), c_proj=Turned(4 * width, width))
            blocks.append(tree(ln_1=nn.LayerNorm(width, eps), attn=attn, ln_2=nn.LayerNorm(width, eps), mlp=mlp))
        self.h, self.ln_f = nn.ModuleList(blocks), nn.LayerNorm(width, eps)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        length = ids.shape[1]
        x = self.wte(ids) + self.wpe(torch.arange(length))
        for block in self.h:
            parts = block["attn"]["c_attn"](block["ln_1"](x)).chunk(3, -1)
            x = x + block["attn"]["c_proj"](attend(*parts, self.heads, causal(length)))
            x = x + block["mlp"]["c_proj"](F.gelu(block["mlp"]["c_fc"](block["ln_2"](x)), approximate="tanh"))
        return self.ln_f(x) @ self.wte.weight.T


class RmsNorm(nn.Module):
    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        return self.weight * (wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + self.eps)).to(x.dtype)


class Llama(nn.Module):
    def __init__(self, c: dict) -> None:
        super().__init__()
        width, inner, eps, self.heads = (
            c["hidden_size"],
            c["intermediate_size"],
            c["rms_norm_eps"],
            c["num_attention_heads"],
        )
        self.groups, self.size, self.theta = c["num_key_value_heads"], width // self.heads, c["rope_theta"]
        self.scaling = c.get("rope_scaling")
        narrow = self.groups * self.size
        layers = []
        for _ in range(c["num_hidden_layers"]):
            shapes = {
                "q_proj": (width, width),
                "k_proj": (width, narrow),
                "v_proj": (width, narrow),
                "o_proj": (width, width),
            }
            own = tree(**{name: nn.Linear(*shape, bias=False) for name, shape in shapes.items()})
            shapes = {"gate_proj": (width, inner), "up_proj": (width, inner), "down_proj": (inner, width)}
            mlp = tree(**{name: nn.Linear(*shape, bias=False) for name, shape in shapes.items()})
            norms = {"input_layernorm": RmsNorm(width, eps), "post_attention_layernorm": RmsNorm(width, eps)}
            layers.append(tree(self_attn=own, mlp=mlp, **norms))
        self.model = tree(
            embed_tokens=nn.Embedding(c["vocab_size"], width), layers=nn.ModuleList(layers), norm=RmsNorm(width, eps)
        )
        self.lm_head = nn.Linear(width, c["vocab_size"], bias=False)

    def rates(self) -> torch.Tensor:
        rates = 1.0 / self.theta ** (torch.arange(0, self.size, 2, dtype=torch.float64) / self.size)
        s = self.scaling
        if not s:
            return rates
        # The published rule, case by case: long waves are stretched, short ones stay, the rest is mixed.
        result = []
        for rate in rates.tolist():
            wave = 2 * math.pi / rate
            if wave < s["original_max_position_embeddings"] / s["high_freq_factor"]:
                result.append(rate)
            elif wave > s["original_max_position_embeddings"] / s["low_freq_factor"]:
                result.append(rate / s["factor"])
            else:
                smooth = s["original_max_position_embeddings"] / wave - s["low_freq_factor"]
                smooth /= s["high_freq_factor"] - s["low_freq_factor"]
                result.append((1 - smooth) * rate / s["factor"] + smooth * rate)
        return torch.tensor(result, dtype=torch.float64)

    def turn(self, x: torch.Tensor, heads: int) -> torch.Tensor:
        """Rotary positions, as complex numbers whose parts are the two halves of a head."""
        batch, length, width = x.shape
        x = x.view(batch, length, heads, 2, -1)
        angles = torch.arange(length, dtype=torch.float32)[:, None] * self.rates().float()
        cos, sin = angles.cos()[None, :, None].to(x.dtype), angles.sin()[None, :, None].to(x.dtype)
        first, second = x[..., 0, :], x[..., 1, :]
        return torch.stack((first * cos - second * sin, second * cos + first * sin), -2).reshape(batch, length, width)

    def attention(self, layer: nn.ModuleDict, h: torch.Tensor) -> torch.Tensor:
        own = layer["self_attn"]
        q, k = self.turn(own["q_proj"](h), self.heads), self.turn(own["k_proj"](h), self.groups)
        return own["o_proj"](attend(q, k, own["v_proj"](h), self.heads, causal(h.shape[1])))

    @staticmethod
    def feed_forward(layer: nn.ModuleDict, h: torch.Tensor) -> torch.Tensor:
        mlp = layer["mlp"]
        return mlp["down_proj"](F.silu(mlp["gate_proj"](h)) * mlp["up_proj"](h))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.model["embed_tokens"](ids)
        for layer in self.model["layers"]:
            x = x + self.attention(layer, layer["input_layernorm"](x))
            x = x + self.feed_forward(layer, layer["post_attention_layernorm"](x))
        return self.lm_head(self.model["norm"](x))


class ViT(nn.Module):
    def __init__(self, c: dict) -> None:
        super().__init__()
        width, inner, eps, self.heads = (
            c["hidden_size"],
            c["intermediate_size"],
            c["layer_norm_eps"],
            c["num_attention_heads"],
        )
        count = (c["image_size"] // c["patch_size"]) ** 2
        projection = nn.Conv2d(c["num_channels"], width, c["patch_size"], c["patch_size"])
        embeddings = tree(patch_embeddings=tree(projection=projection))
        embeddings.register_parameter("cls_token", nn.Parameter(torch.zeros(1, 1, width)))
        embeddings.register_parameter("position_embeddings", nn.Parameter(torch.zeros(1, count + 1, width)))
        layers = []
        for _ in range(c["num_hidden_layers"]):
            own = tree(**{name: nn.Linear(width, width) for name in ("query", "key", "value")})
            attention = tree(attention=own, output=tree(dense=nn.Linear(width, width)))
            parts = {"intermediate": tree(dense=nn.Linear(width, inner)), "output": tree(dense=nn.Linear(inner, width))}
            norms = {"layernorm_before": nn.LayerNorm(width, eps), "layernorm_after": nn.LayerNorm(width, eps)}
            layers.append(tree(attention=attention, **parts, **norms))
        self.vit = tree(
            embeddings=embeddings, encoder=tree(layer=nn.ModuleList(layers)), layernorm=nn.LayerNorm(width, eps)
        )
        self.classifier = nn.Linear(width, len(c["id2label"]))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        e = self.vit["embeddings"]
        x = e["patch_embeddings"]["projection"](images).flatten(2).transpose(1, 2)
        x = torch.cat((e.cls_token.expand(len(x), -1, -1), x), 1) + e.position_embeddings
        for layer in self.vit["encoder"]["layer"]:
            own, h = layer["attention"]["attention"], layer["layernorm_before"](x)
            x = x + layer["attention"]["output"]["dense"](
                attend(*(own[name](h) for name in ("query", "key", "value")), self.heads)
            )
            h = F.gelu(layer["intermediate"]["dense"](layer["layernorm_after"](x)))
            x = x + layer["output"]["dense"](h)
        return self.classifier(self.vit["layernorm"](x)[:, 0])
