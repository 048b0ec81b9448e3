# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Which attention is measured, its arrays, and the texts of the functions that resid compiles for it.

import dataclasses
import re

from .. import native
from ..cases import SIZES

# Heads, those of keys if they are fewer, x queries x size; keys and causality after them. MiniLM, BERT-large, LLaMA's heads, one query with
# a cache, and four that share one.
SHAPES = ("12x128x32", "16x512x64", "32x2048x128:causal", "8x1x128:4096", "32/8x1x128:4096")
QUICK_SHAPES = SHAPES[:2]
SMOKE_SHAPES = ("2x5x20", "2x9x16:causal", "4/2x1x16:300")
PATTERN = re.compile(r"([1-9]\d*)(?:/([1-9]\d*))?x([1-9]\d*)x([1-9]\d*)(?::(causal|[1-9]\d*))?")


def parse(text):
    """HEADS[/KEYHEADS]xQUERIESxSIZE, with :causal or :KEYS after it; None where it is not so."""
    match = PATTERN.fullmatch(text)
    if not match or int(match[1]) % int(match[2] or match[1]) != 0:
        return None
    heads, key_heads, queries, size = (int(number) for number in (match[1], match[2] or match[1], match[3], match[4]))
    is_causal = match[5] == "causal"
    return heads, key_heads, queries, queries if is_causal or not match[5] else int(match[5]), size, is_causal


@dataclasses.dataclass(frozen=True)
class Attention:
    """y [1, heads, queries, size] of q in that shape, and of k and v [1, key_heads, keys, size]."""
    type: str
    heads: int
    key_heads: int
    queries: int
    keys: int
    head_size: int
    is_causal: bool
    threads: int
    title = "attention"
    results = ("y",)
    is_read = False

    @property
    def shape(self):
        behind = ":causal" if self.is_causal else f":{self.keys}" if self.keys != self.queries else ""
        heads = f"{self.heads}/{self.key_heads}" if self.key_heads != self.heads else self.heads
        return f"{heads}x{self.queries}x{self.head_size}{behind}"

    @property
    def contents(self):
        return self.type, self.shape

    @property
    def size(self):
        return SIZES[self.type]

    @property
    def width(self):
        return self.head_size

    @property
    def bytes(self):
        return 2 * self.bytes_of("q") + 2 * self.bytes_of("k")

    @property
    def operations(self):
        """Multiplications and additions of the two products, of keys that are not hidden."""
        pairs = self.queries * (self.queries + 1) // 2 if self.is_causal else self.queries * self.keys
        return 4 * self.heads * pairs * self.head_size

    @property
    def tolerance(self):
        """Means of numbers between -1 and 1; a result in bf16 is off by half of its last place, and weights by as much."""
        return {"f32": 1e-5, "bf16": 2e-2}[self.type]

    def extent(self, name):
        rows = self.key_heads * self.keys if name in ("k", "v") else self.heads * self.queries
        return rows * self.head_size, self.size

    def bytes_of(self, name):
        count, size = self.extent(name)
        return count * size


class AttentionArrays(native.Memory):
    def __init__(self, side, chosen):
        names = {"q": "q", "k": "k", "v": "v", "y": "y", "expected_y": "y"}
        super().__init__(side, {name: max(case.bytes_of(of) for case in chosen) for name, of in names.items()})

    def fill(self, case):
        for seed, name in enumerate(("q", "k", "v")):
            self.native.functions.bench_fill(self[name], *case.extent(name), seed + 1, 0.0)


def function_name(case):
    return f"attention_{case.type}_" + re.sub(r"\W", "_", case.shape)


def function_text(case):
    q, k = (f"tensor<1x{heads}x{count}x{case.head_size}x{case.type}>"
            for heads, count in ((case.heads, case.queries), (case.key_heads, case.keys)))
    return (f"func.func @{function_name(case)}(%q: {q}, %k: {k}, %v: {k}) -> {q} {{\n"
            f"  %y = resid.attention %q, %k, %v{' {causal}' if case.is_causal else ''} : {q}, {k}, {k}\n"
            f"  return %y : {q}\n}}\n")


def program(chosen):
    """The functions of all cases, once each."""
    return "".join({function_name(case): function_text(case) for case in chosen}.values())
