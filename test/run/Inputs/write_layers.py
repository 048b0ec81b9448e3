# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The layers of examples/layers in plain float64 loops (plain.py), on random numbers. Writes NAME.args, the flags of
# resid-run, and NAME.npy, what must come out; for gpt2_block also the same program in small sizes.
# Usage: write_layers.py EXAMPLES FOLDER

import math
import random
import re
import struct
import sys

import npy
from plain import add, attend, causal, each, gelu_tanh, layer_norm, linear, relu, rms_norm, silu, transpose, turn


def decoder_layer(w, x, memory, mask):
    def attention(name, h, source, present):
        q, k, v = (linear(rows, w[f"{name}_{part}"]) for rows, part in ((h, "query"), (source, "key"), (source, "value")))
        return linear(attend(q, k, v, 16, present), w[f"{name}_output"])

    def norm(number, rows):
        return layer_norm(rows, w[f"norm{number}_gamma"], w[f"norm{number}_beta"])

    x = norm(1, add(x, attention("self", x, x, causal)))
    x = norm(2, add(x, attention("cross", x, memory, lambda i, j: mask[j])))
    inner = each(relu, linear(x, w["up_weight"], w["up_bias"]))
    return norm(3, add(x, linear(inner, w["down_weight"], w["down_bias"])))


def llama_block(w, x):
    h = rms_norm(x, w["norm1"])
    q, k = (turn(linear(h, w[name]), 16, w["cos"], w["sin"]) for name in ("query", "key"))
    x = add(x, linear(attend(q, k, linear(h, w["value"]), 16, causal), w["output"]))
    h = rms_norm(x, w["norm2"])
    inner = [[silu(a) * b for a, b in zip(*rows)] for rows in zip(linear(h, w["gate"]), linear(h, w["up"]))]
    return rms_norm(add(x, linear(inner, w["down"])), w["norm"])


def gpt2_block(w, x):
    def layer(name, rows):
        return linear(rows, transpose(w[f"{name}_weight"]), w[f"{name}_bias"])

    def norm(name, rows):
        return layer_norm(rows, w[f"{name}_gamma"], w[f"{name}_beta"])

    width = len(x[0])
    qkv = layer("qkv", norm("norm1", x))
    q, k, v = ([row[first : first + width] for row in qkv] for first in (0, width, 2 * width))
    x = add(x, layer("output", attend(q, k, v, width // 8, causal)))
    return norm("norm", add(x, layer("down", each(gelu_tanh, layer("up", norm("norm2", x))))))


# Sizes of gpt2_block.mlir, and small ones.
SMALL = [("2048", "128"), ("1536", "96"), ("512", "32"), ("4x16x", "2x5x"), (r"\[4, 16,", "[2, 5,"), ("4x8x16x", "2x8x5x"),
         ("8x64x", "8x4x"), ("5x64x", "5x4x"), ("8, 64]", "8, 4]")]


class Arguments:
    """Random arguments of a program, by their names, in its order."""

    def __init__(self, program, sizes, folder, name):
        self.values, self.flags, self.folder, self.name = {}, [], folder, name
        aliases = dict(re.findall(r"^(!\w+) = tensor<(.*)>$", program, re.MULTILINE))
        signature = re.search(rf"func.func @{name}\((.*?)\) ->", program, re.DOTALL)[1]
        for argument, kind in re.findall(r"%(\w+): (!\w+|tensor<[\w?]+>)", signature):
            shape = aliases.get(kind) or kind[len("tensor<") : -1]
            *shape, element = shape.split("x")
            self.draw(argument, sizes.get(argument) or tuple(map(int, shape)), element)

    def draw(self, name, shape, element):
        if element == "i1":
            # The first sentence is whole, the second one shorter.
            self.values[name] = [[True] * shape[1], [True] * (shape[1] - 2) + [False] * 2]
            flat = ["true" if value else "false" for row in self.values[name] for value in row]
            return self.flags.append(f"--arg=i1[{shape[0]}x{shape[1]}]={','.join(flat)}\n")
        scale = shape[-1] ** -0.5 if len(shape) == 2 and "cos" not in name and "sin" not in name else 1.0
        flat = [struct.unpack("f", struct.pack("f", numbers.gauss(0, scale)))[0] for _ in range(math.prod(shape))]
        self.values[name] = flat
        for size in shape[:0:-1]:
            self.values[name] = [self.values[name][i : i + size] for i in range(0, len(self.values[name]), size)]
        npy.write(f"{self.folder}/{self.name}.{name}.npy", shape, flat)
        self.flags.append(f"--arg={self.folder}/{self.name}.{name}.npy\n")

    def write(self, function, *streams):
        """What the function makes of each sentence."""
        w = self.values
        rows = [row for sentence in zip(*(w[name] for name in streams)) for row in function(w, *sentence)]
        npy.write(f"{self.folder}/{self.name}.npy", (len(rows), len(rows[0])), [value for row in rows for value in row])
        with open(f"{self.folder}/{self.name}.args", "w", encoding="utf-8") as file:
            file.writelines(self.flags)


def read(name):
    with open(f"{examples}/{name}.mlir", encoding="utf-8") as file:
        return file.read()


examples, folder = sys.argv[1:]
numbers = random.Random(5)
stream = {"x": (2, 7, 64), "memory": (2, 5, 64), "memory_mask": (2, 5), "cos": (7, 8), "sin": (7, 8)}
Arguments(read("decoder_layer"), stream, folder, "decoder_layer").write(decoder_layer, "x", "memory", "memory_mask")
Arguments(read("llama_block"), stream, folder, "llama_block").write(llama_block, "x")
small = read("gpt2_block")
for pattern, replacement in SMALL:
    small = re.sub(pattern, replacement, small)
with open(f"{folder}/gpt2_block.mlir", "w", encoding="utf-8") as file:
    file.write(small)
Arguments(small, {}, folder, "gpt2_block").write(gpt2_block, "x")
