# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The promise of docs/same-bits.md: the numbers of a token depend on nothing but the tokens before it. Decoders of all presets, with
# random weights, run prompts at once, in random pieces from a cache, from the cache of another prompt with the same beginning, alone,
# in batches and in packs, on one thread and on several. RESID_SAME_BITS_DRAWS says how many draws there are for all decoders together (200).

from __future__ import annotations

import functools
import os
import random
import re

import numpy as np
import pytest
import resid
from resid.models import FAMILIES, write_model

import preset_configs

DRAWS = int(os.environ.get("RESID_SAME_BITS_DRAWS", "200"))
LLAMA = {**preset_configs.WIDE, "architectures": ["LlamaForCausalLM"], "num_key_value_heads": 2}
CONFIGS = {**preset_configs.CONFIGS, "llama": LLAMA}
DECODERS = [family for family, preset in FAMILIES.items() if preset.decodes]
WORDS = 60


class Decoder:
    """One decoder with random weights."""

    def __init__(self, family: str) -> None:
        # Two layers, one of which slides where the family has windows.
        types = {"layer_types": ["sliding_attention", "full_attention"]} if family in ("gemma3", "gpt-oss", "qwen3") else {}
        if family == "qwen3":
            types |= {"use_sliding_window": True, "sliding_window": 3}
        config = {**CONFIGS[family], "num_hidden_layers": 2, **types}
        text, packed = write_model(family, config, cache=True), write_model(family, config, packed=True)
        self.function, self.packed = (getattr(resid.compile(one, quiet=True), family.replace("-", "_")) for one in (text, packed))
        made, weights = np.random.default_rng(7), {}
        find = functools.partial(re.findall, r"%(\w+): tensor<([\dx]+)xf32> \{resid\.weight")
        for name, dims in find(text):
            shape = [int(dim) for dim in dims.split("x")]
            weights[name] = made.standard_normal(shape, np.float32) / np.float32(np.sqrt(shape[-1]))
        # The programs have them in other orders.
        self.weights, self.weights_of_packs = ([weights[name] for name, _ in find(one)] for one in (text, packed))
        found = re.search(r"%keys_0: tensor<\?x(\d+)x\?x(\d+)xf32>", text)
        assert found
        self.heads, self.size = int(found[1]), int(found[2])

    def begin(self, batch: int, places: int) -> list[np.ndarray]:
        """Caches that hold nothing: no number of theirs is read."""
        return [np.full((batch, self.heads, places, self.size), np.nan, np.float32) for _ in range(4)]

    def whole(self, ids: np.ndarray, threads: int = 1) -> np.ndarray:
        """All tokens in one call, from the first place of a cache that has no other."""
        return self.step(ids, 0, self.begin(*ids.shape), threads)[0]

    def pack(self, prompts: "list[np.ndarray]", draw: random.Random) -> list[np.ndarray]:
        """Prompts one after the other, in a random order, with padding between some. The numbers of each."""
        ids, numbers, places = [], [], {}
        for number in draw.sample(range(len(prompts)), len(prompts)):
            for prompt, name in ((np.zeros(draw.choice((0, 0, 1, 9)), np.int64), -1), (prompts[number], 10 * number)):
                places[name] = len(ids)
                ids += prompt.tolist()
                numbers += [name] * len(prompt)
        logits = self.packed(np.array([ids]), np.array([numbers], np.int32), *self.weights_of_packs, threads=draw.choice((1, 2, 5)))
        return [logits[:, places[10 * number] :][:, : len(prompt)] for number, prompt in enumerate(prompts)]

    def step(
        self, ids: np.ndarray, past: int, caches: "list[np.ndarray]", threads: int
    ) -> "tuple[np.ndarray, list[np.ndarray]]":
        logits, *caches = self.function(ids, past, *caches, *self.weights, threads=threads)
        return logits, caches

    def run(
        self, ids: np.ndarray, pieces: "list[int]", draw: random.Random, past: int, caches: "list[np.ndarray]"
    ) -> "tuple[np.ndarray, list[np.ndarray]]":
        """Tokens from `past` on, so many at a time."""
        found = []
        for count in pieces:
            piece = np.ascontiguousarray(ids[:, past : past + count])
            logits, caches = self.step(piece, past, caches, draw.choice((1, 2, 5)))
            found.append(logits)
            past += count
        return np.concatenate(found, 1), caches


def cut(tokens: int, draw: random.Random) -> list[int]:
    """So many tokens as pieces of random lengths."""
    pieces = []
    while tokens:
        pieces.append(min(tokens, draw.choice((1, 1, 2, 3, 17, 256, tokens))))
        tokens -= pieces[-1]
    return pieces


def expect(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    assert np.array_equal(found.view(np.uint32), expected.view(np.uint32)), what


def check(decoder: Decoder, draw: random.Random) -> None:
    made = np.random.default_rng(draw.getrandbits(32))
    # Longer prompts reach beyond a chunk of 256 keys.
    tokens, batch = draw.choice((draw.randint(1, 20), draw.randint(1, 20), draw.randint(250, 300))), draw.randint(1, 4)
    ids = made.integers(0, WORDS, (batch, tokens))
    whole = decoder.whole(ids)
    places = tokens + draw.choice((0, 1, 50))
    split, caches = decoder.run(ids, cut(tokens, draw), draw, 0, decoder.begin(batch, places))
    expect(split, whole, f"{tokens} tokens in pieces")
    rows = draw.sample(range(batch), draw.randint(1, batch))
    alone, _ = decoder.run(ids[rows], cut(tokens, draw), draw, 0, decoder.begin(len(rows), tokens))
    expect(alone, whole[rows], f"rows {rows} of {batch}")
    cuts = [draw.randint(1, tokens) for _ in range(batch)]
    for row, (end, found) in enumerate(zip(cuts, decoder.pack([ids[row, :end] for row, end in enumerate(cuts)], draw))):
        expect(found, whole[row : row + 1, :end], f"{end} tokens in a pack of {cuts}")
    # Another prompt with the same beginning goes on from its cache.
    shared = draw.randint(0, tokens - 1)
    other = np.concatenate((ids[:, :shared], made.integers(0, WORDS, (batch, tokens - shared))), 1)
    after, _ = decoder.run(other, cut(tokens - shared, draw), draw, shared, caches)
    expect(after, decoder.whole(other, threads=2)[:, shared:], f"{tokens - shared} tokens after {shared}")


@pytest.mark.parametrize("family", DECODERS)
def test_tokens_have_the_same_bits(family: str) -> None:
    decoder, draw = Decoder(family), random.Random(family)
    for _ in range(-(-DRAWS // len(DECODERS))):
        check(decoder, draw)


def test_a_wrong_place_is_seen() -> None:
    """What is compared depends on where a token stands."""
    decoder = Decoder("llama")
    ids = np.arange(6)[None]
    first, caches = decoder.step(np.ascontiguousarray(ids[:, :3]), 0, decoder.begin(1, 8), 1)
    moved, _ = decoder.step(np.ascontiguousarray(ids[:, 3:]), 4, caches, 1)
    assert not np.array_equal(moved, decoder.whole(ids)[:, 3:])
    expect(first, decoder.whole(ids)[:, :3], "the first three")
