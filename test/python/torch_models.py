# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Small Transformers in plain nn.Module code, written as the modules of BERT, GPT-2 and LLaMA usually are.

import math

import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, width, heads, causal, bias=True):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=bias), nn.Linear(width, width, bias=bias)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class BertLayer(nn.Module):
    def __init__(self, width, heads, p):
        super().__init__()
        self.attention = SelfAttention(width, heads, causal=False)
        self.attention_norm, self.output_norm = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.intermediate, self.output = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout1, self.dropout2 = nn.Dropout(p), nn.Dropout(p)

    def forward(self, x):
        x = self.attention_norm(self.dropout1(self.attention(x)) + x)
        f = self.dropout2(self.output(F.gelu(self.intermediate(x))))
        return self.output_norm(f + x)


class Bert(nn.Module):
    def __init__(self, vocabulary=50, width=64, heads=4, layers=2, length=32, p=0.1):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.types = nn.Embedding(2, width)
        self.norm, self.dropout = nn.LayerNorm(width, eps=1e-12), nn.Dropout(p)
        self.layers = nn.ModuleList(BertLayer(width, heads, p) for _ in range(layers))

    def forward(self, ids):
        x = self.words(ids) + self.types(torch.zeros_like(ids)) + self.positions(torch.arange(ids.shape[1]))
        x = self.dropout(self.norm(x))
        for layer in self.layers:
            x = layer(x)
        return x


class GptLayer(nn.Module):
    def __init__(self, width, heads, p):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = SelfAttention(width, heads, causal=True)
        self.c_fc, self.c_proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.attn_dropout, self.mlp_dropout = nn.Dropout(p), nn.Dropout(p)

    def forward(self, hidden):
        residual = hidden
        hidden = self.attn_dropout(self.attn(self.ln_1(hidden)))
        hidden = hidden + residual
        residual = hidden
        f = self.c_proj(self._gelu(self.c_fc(self.ln_2(hidden))))
        return residual + self.mlp_dropout(f)

    def _gelu(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


class Gpt(nn.Module):
    def __init__(self, vocabulary=50, width=64, heads=4, layers=2, length=32, p=0.1):
        super().__init__()
        self.wte, self.wpe, self.drop = nn.Embedding(vocabulary, width), nn.Embedding(length, width), nn.Dropout(p)
        self.h = nn.ModuleList(GptLayer(width, heads, p) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, ids):
        x = self.drop(self.wte(ids) + self.wpe(torch.arange(ids.shape[1])))
        for layer in self.h:
            x = layer(x)
        return F.linear(self.ln_f(x), self.wte.weight)


class LlamaNorm(nn.Module):
    def __init__(self, width, epsilon=1e-6):
        super().__init__()
        self.weight, self.epsilon = nn.Parameter(torch.ones(width)), epsilon

    def forward(self, hidden):
        type_ = hidden.dtype
        hidden = hidden.to(torch.float32)
        variance = hidden.pow(2).mean(-1, keepdim=True)
        hidden = hidden * torch.rsqrt(variance + self.epsilon)
        return self.weight * hidden.to(type_)


class LlamaLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = LlamaNorm(width), LlamaNorm(width)
        self.self_attn = SelfAttention(width, heads, causal=True, bias=False)
        self.gate, self.up = nn.Linear(width, 2 * width, bias=False), nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)

    def forward(self, hidden):
        residual = hidden
        hidden = residual + self.self_attn(self.input_layernorm(hidden))
        residual = hidden
        h = self.post_attention_layernorm(hidden)
        return residual + self.down(F.silu(self.gate(h)) * self.up(h))


class Llama(nn.Module):
    def __init__(self, vocabulary=50, width=64, heads=4, layers=2):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(LlamaLayer(width, heads) for _ in range(layers))
        self.norm = LlamaNorm(width)

    def forward(self, ids):
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x)
        return F.linear(self.norm(x), self.embed_tokens.weight)


class Encoder(nn.Module):
    """torch.nn's own encoder after an embedding."""

    def __init__(self, vocabulary=50, width=64, heads=4, layers=2, p=0.1, norm_first=False):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        layer = nn.TransformerEncoderLayer(width, heads, 128, p, batch_first=True, norm_first=norm_first)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, ids):
        return self.encoder(self.embedding(ids))
