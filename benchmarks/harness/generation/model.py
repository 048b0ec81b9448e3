# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A decoder in the shape of GPT-2, small, which takes one token at a time and has caches of keys and values: its program, its cases
# and its arrays. A step is from the id of a token to the scores of the next one. Weights are random.

import ctypes
import dataclasses

from transformer import PANEL_COLUMNS
from .. import native
from ..layers.model import NetworkCase

EPSILON = 1e-5
FORMS = (("prepared", "weights packed"), ("out-in", "weights [out, in]"))
NORMS = ("norm1", "norm2")


@dataclasses.dataclass(frozen=True)
class Decoder:
    layers: int = 6
    hidden: int = 384
    heads: int = 6
    inner: int = 1536
    places: int = 512
    words: int = 8192

    @property
    def size(self):
        return self.hidden // self.heads

    @property
    def linears(self):
        """Name -> inputs and outputs of each linear layer of a layer."""
        width = self.hidden
        return {"qkv": (width, 3 * width), "output": (width, width), "up": (width, self.inner), "down": (self.inner, width)}

    @property
    def parameters(self):
        """Name -> shape of each parameter, matrices as [out, in], in the order of the arguments."""
        found = {"words": (self.words, self.hidden), "positions": (self.places, self.hidden)}
        for layer in range(self.layers):
            for norm in NORMS:
                found |= {f"l{layer}_{norm}_{part}": (self.hidden,) for part in ("gamma", "beta")}
            for name, (inputs, outputs) in self.linears.items():
                found |= {f"l{layer}_{name}_weight": (outputs, inputs), f"l{layer}_{name}_bias": (outputs,)}
        return found | {"norm_gamma": (self.hidden,), "norm_beta": (self.hidden,), "head_weight": (self.words, self.hidden)}

    @property
    def caches(self):
        return [f"{part}{layer}" for layer in range(self.layers) for part in ("keys", "values")]

    @property
    def description(self):
        return (f"Generation: a decoder of {self.layers} layers, {self.hidden} columns, {self.heads} heads, {self.inner} columns in the "
                f"feed-forward, {self.words} words, caches of {self.places} places, f32, with random weights")


@dataclasses.dataclass(frozen=True)
class StepCase(NetworkCase):
    """One token after so many others."""
    decoder: Decoder
    past: int
    threads: int

    @property
    def title(self):
        return f"a token after {self.past}"

    @property
    def shape(self):
        return f"{self.decoder.layers}x{self.decoder.hidden}"

    @property
    def width(self):
        return self.decoder.words

    @property
    def contents(self):
        return self.decoder, self.past

    @property
    def bytes(self):
        """The weights, less words and positions, of which a row each is read."""
        decoder = self.decoder
        return 4 * (decoder.layers * sum(a * b for a, b in decoder.linears.values()) + decoder.words * decoder.hidden)

    def extent(self, name):
        return self.decoder.words, 4


class StepArrays(native.Memory):
    def __init__(self, side, decoder):
        cache = 4 * decoder.heads * decoder.places * decoder.size
        capacity = {"id": 8, "y": 4 * decoder.words, "expected_y": 4 * decoder.words} | {name: cache for name in decoder.caches}
        for name, shape in decoder.parameters.items():
            rows = -(-shape[0] // PANEL_COLUMNS) * PANEL_COLUMNS
            capacity[name] = 4 * shape[0] * (shape[1] if len(shape) == 2 else 1)
            if name.endswith("_weight"):
                capacity |= {f"prepared {name}": 4 * rows * shape[1], f"in-out {name}": capacity[name]}
        super().__init__(side, capacity)
        for seed, (name, shape) in enumerate(decoder.parameters.items()):
            self.draw(name, shape, seed)

    def draw(self, name, shape, seed):
        functions, count = self.native.functions, shape[0] * (shape[1] if len(shape) == 2 else 1)
        functions.bench_fill(self[name], count, 4, seed + 1, 1.0 if name.endswith("gamma") else 0.0)
        if name.endswith("_weight"):
            # Sums that stay of one size, through all layers.
            functions.bench_scale(self[name], count, 1.7 * shape[1] ** -0.5)
            functions.bench_transpose(self[name], self[f"in-out {name}"], *shape, 4)
            functions.bench_pack(self[f"in-out {name}"], self[f"prepared {name}"], shape[1], shape[0], 4)

    def weight(self, form, name):
        """The address of an argument of the program, by its name."""
        return self[f"prepared {name}" if form == "prepared" and name.endswith("_weight") else name]

    def fill(self, case):
        """Any token; and caches with something in all places that steps before this one have filled."""
        ctypes.c_int64.from_address(self["id"]).value = case.decoder.words // 3
        for seed, name in enumerate(case.decoder.caches):
            count = case.decoder.heads * case.decoder.places * case.decoder.size
            self.native.functions.bench_fill(self[name], count, 4, 1000 + seed, 0.0)




class Program:
    """The step of a decoder as MLIR, in a form of its weights."""

    def __init__(self, decoder, form):
        self.decoder, self.form = decoder, form
        self.row, self.vector = f"tensor<1x{decoder.hidden}xf32>", f"tensor<{decoder.hidden}xf32>"
        self.cache = f"tensor<1x{decoder.heads}x{decoder.places}x{decoder.size}xf32>"
        self.heads = f"tensor<1x{decoder.heads}x1x{decoder.size}xf32>"

    def kind(self, name, shape):
        if self.form == "prepared" and name.endswith("_weight"):
            return f"tensor<{-(-shape[0] // PANEL_COLUMNS)}x{shape[1]}x{PANEL_COLUMNS}xf32>"
        return f"tensor<{'x'.join(map(str, shape))}xf32>"

    def linear(self, result, x, name, bias, inputs, outputs):
        weight, matrix, text = f"{name}_weight", f"tensor<{outputs}x{inputs}xf32>", ""
        if self.form == "prepared":
            panels = -(-outputs // PANEL_COLUMNS)
            text = (f"  %e_{result} = tensor.empty() : {matrix}\n  %m_{result} = linalg.unpack %{weight} inner_dims_pos = [0] "
                    f"inner_tiles = [{PANEL_COLUMNS}] into %e_{result} : tensor<{panels}x{inputs}x{PANEL_COLUMNS}xf32> -> {matrix}\n")
        operand = f"m_{result}" if self.form == "prepared" else weight
        clause, types = (f" bias(%{bias})", f", tensor<{outputs}xf32>") if bias else ("", "")
        return text + f"  %{result} = resid.linear %{x}, %{operand}{clause} : tensor<1x{inputs}xf32>, {matrix}{types}\n"

    def norm(self, result, x, name):
        return (f"  %{result} = resid.layer_norm %{x} gamma(%{name}_gamma) beta(%{name}_beta) {{epsilon = {EPSILON:.1e}}} : {self.row}, "
                f"{self.vector}, {self.vector}\n")

    def layer(self, number, x):
        decoder, of, qkv = self.decoder, f"l{number}_", f"tensor<1x{3 * self.decoder.hidden}xf32>"
        text = self.norm(f"{of}h", x, f"{of}norm1")
        text += self.linear(f"{of}all", f"{of}h", f"{of}qkv", f"{of}qkv_bias", decoder.hidden, 3 * decoder.hidden)
        for index, part in enumerate(("q", "k", "v")):
            text += (f"  %{of}{part}_row = tensor.extract_slice %{of}all[0, {index * decoder.hidden}] [1, {decoder.hidden}] [1, 1] : {qkv} "
                     f"to {self.row}\n  %{of}{part} = tensor.expand_shape %{of}{part}_row [[0], [1, 2, 3]] output_shape "
                     f"[1, {decoder.heads}, 1, {decoder.size}] : {self.row} into {self.heads}\n")
        for part, cache in (("k", "keys"), ("v", "values")):
            text += f"  %{of}{cache} = resid.append %{cache}{number}, %{of}{part} past(%past) : {self.cache}, {self.heads}\n"
        text += (f"  %{of}a = resid.attention %{of}q, %{of}keys, %{of}values past(%past) {{causal}} : {self.heads}, {self.cache}, "
                 f"{self.cache}\n  %{of}context = tensor.collapse_shape %{of}a [[0], [1, 2, 3]] : {self.heads} into {self.row}\n")
        text += self.linear(f"{of}f", f"{of}context", f"{of}output", f"{of}output_bias", decoder.hidden, decoder.hidden)
        text += f"  %{of}middle = resid.add %{x}, %{of}f : {self.row}\n" + self.norm(f"{of}g", f"{of}middle", f"{of}norm2")
        text += self.linear(f"{of}raised", f"{of}g", f"{of}up", f"{of}up_bias", decoder.hidden, decoder.inner)
        text += f"  %{of}inner = resid.activation gelu_tanh %{of}raised : tensor<1x{decoder.inner}xf32>\n"
        text += self.linear(f"{of}lowered", f"{of}inner", f"{of}down", f"{of}down_bias", decoder.inner, decoder.hidden)
        return text + f"  %{of}y = resid.add %{of}middle, %{of}lowered : {self.row}\n"

    def embed(self):
        """The rows of the word and of its place."""
        words, positions = (self.kind("", self.decoder.parameters[name]) for name in ("words", "positions"))
        return f"""  %place = tensor.from_elements %past : tensor<1xi64>
  %x_empty = tensor.empty() : {self.row}
  %x = linalg.generic {{indexing_maps = [affine_map<(t, c) -> (t)>, affine_map<(t, c) -> (t)>, affine_map<(t, c) -> (t, c)>],
      iterator_types = ["parallel", "parallel"]}} ins(%id, %place : tensor<1xi64>, tensor<1xi64>) outs(%x_empty : {self.row}) {{
  ^bb0(%word: i64, %at: i64, %init: f32):
    %row = arith.index_cast %word : i64 to index
    %line = arith.index_cast %at : i64 to index
    %column = linalg.index 1 : index
    %first = tensor.extract %words[%row, %column] : {words}
    %second = tensor.extract %positions[%line, %column] : {positions}
    %sum = arith.addf %first, %second : f32
    linalg.yield %sum : f32
  }} -> {self.row}
"""

    def text(self):
        decoder = self.decoder
        arguments = ["%id: tensor<1xi64>", "%past: i64"] + [f"%{name}: {self.cache}" for name in decoder.caches]
        arguments += [f"%{name}: {self.kind(name, shape)} {{resid.weight}}" for name, shape in decoder.parameters.items()]
        kept = [f"l{layer}_{part}" for layer in range(decoder.layers) for part in ("keys", "values")]
        scores = f"tensor<1x{decoder.words}xf32>"
        results = ", ".join([scores] + [self.cache] * len(kept))
        body, x = self.embed(), "x"
        for number in range(decoder.layers):
            body += self.layer(number, x)
            x = f"l{number}_y"
        body += self.norm("last", x, "norm") + self.linear("scores", "last", "head", "", decoder.hidden, decoder.words)
        return (f"func.func @step({', '.join(arguments)}) -> ({results}) {{\n{body}"
                f"  return {', '.join('%' + name for name in ['scores', *kept])} : {results}\n}}\n")
