# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The GPT of examples/train_c as it is trained here: its texts, its weights, and the arrays of a step.

import ctypes
import dataclasses
import math
import re

from .. import commands, native

EXAMPLE = commands.ROOT / "examples" / "train_c"
TEXT = commands.ROOT / "examples" / "data" / "alice" / "alice.txt"
TOKENS, BYTES, HEADS, EPSILON = 64, 256, 4, 1e-5
ROW_OF_ADAMW = 128
SEED, STEP = 1, 7  # of dropout


@dataclasses.dataclass(frozen=True)
class Training:
    """Steps on so many sequences, with a GPT of so many layers."""
    placement: str
    dropout: float
    rows: int
    layers: int
    threads: int
    title = "training step"
    type = "f32"
    is_read = False

    @property
    def shape(self):
        return f"{self.rows}x{TOKENS}, {self.layers} layers, {self.network}"

    @property
    def network(self):
        return f"{self.placement}-norm, dropout {self.dropout:g}"

    @property
    def contents(self):
        return self.rows

    @property
    def losses(self):
        return self.rows * TOKENS

    @property
    def bytes(self):
        """Bars ask for it; no case is beyond the cache or in it."""
        return 0


@dataclasses.dataclass(frozen=True)
class Weight:
    name: str
    shape: tuple

    @property
    def count(self):
        return math.prod(self.shape)


def make_program(dropout, layers):
    """The example's program, with other dropout, and without its last layers: their weights remain, and nothing reads them."""
    text = (EXAMPLE / "gpt.mlir").read_text()
    for old, new in (("p = 0.1", f"p = {dropout:.2f}"), ("dropout(0.1,", f"dropout({dropout:.2f},"),
                     ("layer_norm %x4 ", f"layer_norm %x{layers} ")):
        assert old in text, f"expected '{old}' in gpt.mlir"
        text = text.replace(old, new)
    return text


def find_weights():
    """The weights of the example's program, in its order."""
    text = (EXAMPLE / "gpt.mlir").read_text()
    shapes = {name: tuple(map(int, sizes.split("x"))) for name, sizes in re.findall(r"^!(\w+) = tensor<([\dx]+)xf32>$", text, re.M)}
    return [Weight(name, shapes[kind]) for name, kind in re.findall(r"%(\w+): !(\w+) \{resid\.weight\}", text)]


def is_gain(weight):
    return len(weight.shape) == 1 and "gamma" in weight.name


class Arrays(native.Memory):
    """A batch of the text, and what a step reads and changes; weights lie one after the other."""
    STATE = ("initial", "parameters", "means", "squares", "gradients", "expected", "other")

    def __init__(self, side, rows):
        self.weights, self.count, self.offsets = find_weights(), 0, []
        for weight in self.weights:
            self.offsets.append(4 * self.count)
            self.count += weight.count
        of_batch = dict.fromkeys(("before", "next", "shares", "losses"), 4 * rows * TOKENS)
        super().__init__(side, of_batch | dict.fromkeys(self.STATE, 4 * self.count))
        self.make_weights()

    def make_weights(self):
        """Gains of one, biases of zero, and random numbers as large as the example's."""
        fill, scale = self.native.functions.bench_fill, self.native.functions.bench_scale
        for seed, (weight, offset) in enumerate(zip(self.weights, self.offsets)):
            address = self["initial"] + offset
            fill(address, weight.count, 4, seed + 1, 0.0)
            size = 0.0 if len(weight.shape) == 1 else 1.0 if weight.name.startswith("table") else math.sqrt(3 / weight.shape[1])
            scale(address, weight.count, size)
            if is_gain(weight):
                self.numbers("initial", weight.count, offset)[:] = [1.0] * weight.count

    def numbers(self, name, count, offset=0, kind=ctypes.c_float):
        return (kind * count).from_address(self[name] + offset)

    def fill(self, case):
        """Sequences of the text, spread over it."""
        text, losses = TEXT.read_bytes(), case.losses
        self.numbers("shares", losses)[:] = [1 / losses] * losses
        for row in range(case.rows):
            place = row * (len(text) - TOKENS - 1) // case.rows
            for name, start in (("before", place), ("next", place + 1)):
                self.numbers(name, TOKENS, 4 * TOKENS * row, ctypes.c_int32)[:] = list(text[start:start + TOKENS])

    def start(self):
        """As before the first step."""
        ctypes.memmove(self["parameters"], self["initial"], 4 * self.count)
        for name in ("means", "squares"):
            ctypes.memset(self[name], 0, 4 * self.count)

    def distance_of_gradients(self):
        """The largest distance between the other gradients and the expected ones, over the largest of these."""
        distance = self.native.functions.bench_distance(self["other"], self["expected"], self.count, 4)
        return distance / max(map(abs, self.numbers("expected", self.count)))
