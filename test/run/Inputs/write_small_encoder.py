# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The small encoder of examples/data/sentences/small, in the shape of MiniLM: random weights, and what it makes of some
# sentences in plain float64 loops (plain.py). What is committed there was written by this. Usage: write_small_encoder.py FOLDER

import array
import json
import math
import random
import struct
import sys

import npy
from plain import add, attend, each, gelu, layer_norm, linear

WIDTH, INNER, HEADS, LAYERS, WORDS, PLACES, KINDS = 24, 48, 2, 6, 40, 16, 2
SENTENCES = [[2, 17, 5, 39, 3], [2, 8, 8, 30, 11, 0, 24, 3], [2, 3], [2, 39, 5, 17, 3]]
LINEARS = [("attention.self.query", WIDTH, WIDTH), ("attention.self.key", WIDTH, WIDTH), ("attention.self.value", WIDTH, WIDTH),
           ("attention.output.dense", WIDTH, WIDTH), ("intermediate.dense", INNER, WIDTH), ("output.dense", WIDTH, INNER)]


def draw(count, scale, offset=0.0):
    """Uniform numbers that f32 holds."""
    return list(array.array("f", (numbers.uniform(offset - scale, offset + scale) for _ in range(count))))


def make_weights():
    """Name -> shape and elements."""
    made = {}

    def matrix(name, rows, columns, scale):
        made[name] = (rows, columns), draw(rows * columns, scale)

    def norm(name):
        made[f"{name}.weight"], made[f"{name}.bias"] = ((WIDTH,), draw(WIDTH, 0.4, 1.0)), ((WIDTH,), draw(WIDTH, 0.3))

    for name, rows in (("word", WORDS), ("position", PLACES), ("token_type", KINDS)):
        matrix(f"embeddings.{name}_embeddings.weight", rows, WIDTH, 1.0)
    norm("embeddings.LayerNorm")
    for layer in range(LAYERS):
        of = f"encoder.layer.{layer}."
        for name, outputs, inputs in LINEARS:
            matrix(f"{of}{name}.weight", outputs, inputs, 2.5 * inputs**-0.5)
            made[f"{of}{name}.bias"] = (outputs,), draw(outputs, 0.2)
        norm(f"{of}attention.output.LayerNorm")
        norm(f"{of}output.LayerNorm")
    return made


def write_safetensors(path, weights):
    """The format: the size of a header in JSON, the header, and the elements of all tensors."""
    header, at = {"__metadata__": {"licence": "Apache-2.0 WITH LLVM-exception", "origin": "random, part of resid"}}, 0
    for name, (shape, values) in weights.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + 4 * len(values)]}
        at += 4 * len(values)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, values in weights.values():
            array.array("f", values).tofile(file)


def rows(weights, name):
    shape, values = weights[name]
    return [values[i : i + shape[-1]] for i in range(0, len(values), shape[-1])] if len(shape) == 2 else values


def embed(w, ids):
    """The embedding of one sentence."""
    def norm(name, x):
        return layer_norm(x, w[f"{name}.weight"], w[f"{name}.bias"], 1e-12)

    def layer(name, x):
        return linear(x, w[f"{name}.weight"], w[f"{name}.bias"])

    words, places, kinds = (w[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type"))
    x = norm("embeddings.LayerNorm", add(add([words[i] for i in ids], places), [kinds[0]] * len(ids)))
    for number in range(LAYERS):
        of = f"encoder.layer.{number}."
        q, k, v = (layer(f"{of}attention.self.{name}", x) for name in ("query", "key", "value"))
        context = attend(q, k, v, WIDTH // HEADS, lambda i, j: True)
        x = norm(f"{of}attention.output.LayerNorm", add(x, layer(f"{of}attention.output.dense", context)))
        inner = each(gelu, layer(f"{of}intermediate.dense", x))
        x = norm(f"{of}output.LayerNorm", add(x, layer(f"{of}output.dense", inner)))
    mean = [sum(column) / len(x) for column in zip(*x)]
    length = math.sqrt(sum(value * value for value in mean))
    return [value / length for value in mean]


folder = sys.argv[1]
numbers = random.Random(11)
weights = make_weights()
write_safetensors(f"{folder}/weights.safetensors", weights)
with open(f"{folder}/ids.txt", "w", encoding="utf-8") as file:
    file.writelines(" ".join(map(str, ids)) + "\n" for ids in SENTENCES)
found = {name: rows(weights, name) for name in weights}
embeddings = [embed(found, ids) for ids in SENTENCES]
npy.write(f"{folder}/expected.npy", (len(SENTENCES), WIDTH), [value for row in embeddings for value in row])
