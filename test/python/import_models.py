# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Small models for the tests of importing, written with torch.nn in the shapes that people export: encoders like BERT, decoders like
# GPT-2 and LLaMA, an image encoder like ViT. Parameters have random values, so that no gamma is 1 by chance.

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F


def randomised(model: nn.Module, seed: int = 0) -> nn.Module:
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        scale = 0.3 if parameter.ndim > 1 else 0.2
        noise = torch.randn(parameter.shape, generator=generator) * scale
        parameter.data = 1 + noise if "norm" in name and name.endswith("weight") else noise
    return model.eval()


def split(x: torch.Tensor, heads: int) -> torch.Tensor:
    batch, positions, width = x.shape
    return x.view(batch, positions, heads, width // heads).transpose(1, 2)


def join(x: torch.Tensor) -> torch.Tensor:
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


class BertLayer(nn.Module):
    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        q, k, v = (split(layer(x), self.heads) for layer in (self.query, self.key, self.value))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + mask
        x = self.norm1(x + self.output(join(F.softmax(scores, -1) @ v)))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Bert(nn.Module):
    """Ids and a mask of 0 and 1 to the last layer."""

    def __init__(self, words: int = 60, width: int = 32, heads: int = 4, inner: int = 64, layers: int = 2) -> None:
        super().__init__()
        self.words, self.positions, self.kinds = (
            nn.Embedding(words, width),
            nn.Embedding(64, width),
            nn.Embedding(2, width),
        )
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(BertLayer(width, heads, inner) for _ in range(layers))
        self.register_buffer("places", torch.arange(64)[None], persistent=False)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.words(ids) + self.positions(self.places[:, : ids.shape[1]]) + self.kinds(torch.zeros_like(ids))
        x = self.norm(x)
        added = (1.0 - mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
        for layer in self.layers:
            x = layer(x, added)
        return x


class GptBlock(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor, causal: torch.Tensor) -> torch.Tensor:
        q, k, v = (split(part, self.heads) for part in self.qkv(self.norm1(x)).split(x.shape[-1], -1))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        scores = torch.where(causal, scores, torch.finfo(scores.dtype).min)
        x = x + self.output(join(F.softmax(scores, -1) @ v))
        h = self.up(self.norm2(x))
        # GPT-2's own GELU.
        h = 0.5 * h * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (h + 0.044715 * torch.pow(h, 3.0))))
        return x + self.down(h)


class Gpt(nn.Module):
    """Ids to logits, with the table of words as the last layer."""

    def __init__(self, words: int = 60, width: int = 32, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(64, width)
        self.blocks = nn.ModuleList(GptBlock(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.register_buffer("causal", torch.ones(64, 64, dtype=torch.bool).tril()[None, None], persistent=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        length = ids.shape[1]
        x = self.words(ids) + self.positions(torch.arange(length, device=ids.device))
        for block in self.blocks:
            x = block(x, self.causal[:, :, :length, :length])
        return self.norm(x) @ self.words.weight.T


class RmsNorm(nn.Module):
    """As LLaMA has it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


class LlamaBlock(nn.Module):
    def __init__(self, width: int, heads: int, groups: int, inner: int) -> None:
        super().__init__()
        self.heads, self.groups, size = heads, groups, width // heads
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.query, self.output = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.key, self.value = nn.Linear(width, groups * size, bias=False), nn.Linear(width, groups * size, bias=False)
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        h = self.norm1(x)
        q, k, v = split(self.query(h), self.heads), split(self.key(h), self.groups), split(self.value(h), self.groups)
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        k, v = repeated(k, self.heads // self.groups), repeated(v, self.heads // self.groups)
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1]) + mask
        x = x + self.output(join(F.softmax(scores, -1, dtype=torch.float32).to(q.dtype) @ v))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return x * cos + torch.cat((-second, first), -1) * sin


def repeated(x: torch.Tensor, times: int) -> torch.Tensor:
    batch, groups, positions, size = x.shape
    return x[:, :, None].expand(batch, groups, times, positions, size).reshape(batch, groups * times, positions, size)


class Llama(nn.Module):
    """Ids to logits: rotary positions, grouped heads, SwiGLU."""

    def __init__(
        self, words: int = 60, width: int = 32, heads: int = 4, groups: int = 2, inner: int = 48, layers: int = 2
    ) -> None:
        super().__init__()
        self.words, self.norm = nn.Embedding(words, width), RmsNorm(width)
        self.blocks = nn.ModuleList(LlamaBlock(width, heads, groups, inner) for _ in range(layers))
        self.head = nn.Linear(width, words, bias=False)
        size = width // heads
        self.register_buffer("frequencies", 10000.0 ** (-torch.arange(0, size, 2).float() / size), persistent=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x, length = self.words(ids), ids.shape[1]
        angles = torch.arange(length, device=ids.device).float()[:, None] * self.frequencies[None]
        angles = torch.cat((angles, angles), -1)[None, None]
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        mask = torch.full((length, length), torch.finfo(x.dtype).min, dtype=x.dtype).triu(1)
        for block in self.blocks:
            x = block(x, cos, sin, mask)
        return self.head(self.norm(x))


class ViT(nn.Module):
    """Images to classes: patches by a convolution, a token for the class, pre-norm blocks with fused attention of torch."""

    def __init__(
        self, size: int = 16, patch: int = 4, width: int = 32, heads: int = 4, layers: int = 2, classes: int = 5
    ) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, (size // patch) ** 2 + 1, width))
        self.blocks = nn.ModuleList(ViTBlock(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


class ViTBlock(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-6), nn.LayerNorm(width, eps=1e-6)
        self.qkv, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = (
            self.qkv(self.norm1(x)).reshape(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        )
        x = x + self.output(join(F.scaled_dot_product_attention(q, k, v)))
        return x + self.down(F.gelu(self.up(self.norm2(x))))
