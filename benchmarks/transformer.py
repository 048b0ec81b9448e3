#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints a Transformer encoder in the shape of MiniLM, written out layer by layer in one function: the norms and the
# residual additions in resid, all else in linalg. All weights are arguments.
# Tests compile it, and so does whoever measures the compiler on deep programs (layer.py measures what it computes).

import argparse
import dataclasses
import re

FUNCTIONS = """
func.func private @linear_{inputs}_{outputs}(%x: tensor<{T}x{inputs}xf32>, %weight: tensor<{weight}xf32>,
    %bias: tensor<{outputs}xf32>) -> tensor<{T}x{outputs}xf32> {{
  %zero = arith.constant 0.0 : f32
{tokens}  %empty = tensor.empty({n}) : tensor<{T}x{outputs}xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<{T}x{outputs}xf32>) -> tensor<{T}x{outputs}xf32>
{unpack}  %product = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> {map}>,
      affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %{matrix} : tensor<{T}x{inputs}xf32>, tensor<{shape}xf32>) outs(%start : tensor<{T}x{outputs}xf32>) {{
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %term = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  }} -> tensor<{T}x{outputs}xf32>
  %y = resid.add_bias %product, %bias : tensor<{T}x{outputs}xf32>, tensor<{outputs}xf32>
  return %y : tensor<{T}x{outputs}xf32>
}}
"""

LINEAR_OP = """
func.func private @linear_{inputs}_{outputs}(%x: tensor<{T}x{inputs}xf32>, %weight: tensor<{weight}xf32>,
    %bias: tensor<{outputs}xf32>) -> tensor<{T}x{outputs}xf32> {{
  %y = resid.linear %x, %weight bias(%bias) : tensor<{T}x{inputs}xf32>, tensor<{weight}xf32>, tensor<{outputs}xf32>
  return %y : tensor<{T}x{outputs}xf32>
}}
"""

# Weights in panels of 16 columns become a matrix again, which the compiler reads through.
UNPACK = """  %empty_matrix = tensor.empty() : tensor<{shape}xf32>
  %matrix = linalg.unpack %weight outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %empty_matrix
      : tensor<{weight}xf32> -> tensor<{shape}xf32>
"""
PANEL_COLUMNS = 16

SPLIT = """
func.func private @split_heads(%x: {stream}) -> {heads} {{
{tokens}  %split = tensor.expand_shape %x [[0], [1, 2]] output_shape [{t}, {H}, {D}]
      : {stream} into tensor<{T}x{H}x{D}xf32>
  %empty = tensor.empty({n}) : {heads}
  %y = linalg.transpose ins(%split : tensor<{T}x{H}x{D}xf32>) outs(%empty : {heads}) permutation = [1, 0, 2]
  return %y : {heads}
}}

"""

# Scores, softmax and the weighted values in linalg.
LINALG_CORE = """
func.func private @score(%q: {heads}, %k: {heads}) -> {scores} {{
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant {scale} : f32
{head_tokens}  %empty = tensor.empty({nn}) : {scores}
  %start = linalg.fill ins(%zero : f32) outs(%empty : {scores}) -> {scores}
  %product = linalg.generic {{indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>,
      affine_map<(h, i, j, d) -> (h, j, d)>, affine_map<(h, i, j, d) -> (h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%q, %k : {heads}, {heads}) outs(%start : {scores}) {{
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %term = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  }} -> {scores}
  %scaled = linalg.map ins(%product : {scores}) outs(%empty : {scores}) (%s: f32, %init: f32) {{
    %t = arith.mulf %s, %scale : f32
    linalg.yield %t : f32
  }}
  return %scaled : {scores}
}}

func.func private @weigh(%scores: {scores}) -> {scores} {{
{score_tokens}  %empty = tensor.empty({nn}) : {scores}
  %weights = linalg.softmax dimension(2) ins(%scores : {scores}) outs(%empty : {scores}) -> {scores}
  return %weights : {scores}
}}

func.func private @gather(%weights: {scores}, %v: {heads}) -> {stream} {{
  %zero = arith.constant 0.0 : f32
{value_tokens}  %heads_empty = tensor.empty({n}) : {heads}
  %heads_start = linalg.fill ins(%zero : f32) outs(%heads_empty : {heads}) -> {heads}
  %heads = linalg.generic {{indexing_maps = [affine_map<(h, i, d, j) -> (h, i, j)>,
      affine_map<(h, i, d, j) -> (h, j, d)>, affine_map<(h, i, d, j) -> (h, i, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%weights, %v : {scores}, {heads}) outs(%heads_start : {heads}) {{
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %term = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  }} -> {heads}
  %joined_empty = tensor.empty({n}) : tensor<{T}x{H}x{D}xf32>
  %joined = linalg.transpose ins(%heads : {heads}) outs(%joined_empty : tensor<{T}x{H}x{D}xf32>) permutation = [1, 0, 2]
  %y = tensor.collapse_shape %joined [[0], [1, 2]] : tensor<{T}x{H}x{D}xf32> into {stream}
  return %y : {stream}
}}
"""

# The same as one op, between heads as a batch of one.
OP_CORE = """
func.func private @attend(%q: {heads}, %k: {heads}, %v: {heads}) -> {stream} {{
{head_tokens}  %q4 = tensor.expand_shape %q [[0, 1], [2], [3]] output_shape [1, {H}, {t}, {D}] : {heads} into {batch}
  %k4 = tensor.expand_shape %k [[0, 1], [2], [3]] output_shape [1, {H}, {t}, {D}] : {heads} into {batch}
  %v4 = tensor.expand_shape %v [[0, 1], [2], [3]] output_shape [1, {H}, {t}, {D}] : {heads} into {batch}
  %y4 = resid.attention %q4, %k4, %v4 : {batch}, {batch}, {batch}
  %heads = tensor.collapse_shape %y4 [[0, 1], [2], [3]] : {batch} into {heads}
  %joined_empty = tensor.empty({n}) : tensor<{T}x{H}x{D}xf32>
  %joined = linalg.transpose ins(%heads : {heads}) outs(%joined_empty : tensor<{T}x{H}x{D}xf32>) permutation = [1, 0, 2]
  %y = tensor.collapse_shape %joined [[0], [1, 2]] : tensor<{T}x{H}x{D}xf32> into {stream}
  return %y : {stream}
}}
"""

GELU = """
func.func private @gelu(%x: {hidden}) -> {hidden} {{
{hidden_tokens}  %empty = tensor.empty({n}) : {hidden}
  %y = linalg.map ins(%x : {hidden}) outs(%empty : {hidden}) (%v: f32, %init: f32) {{
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.707106769 : f32
    %scaled = arith.mulf %v, %root : f32
    %erf = math.erf %scaled : f32
    %raised = arith.addf %erf, %one : f32
    %halved = arith.mulf %v, %half : f32
    %g = arith.mulf %halved, %raised : f32
    linalg.yield %g : f32
  }}
  return %y : {hidden}
}}
"""


@dataclasses.dataclass(frozen=True)
class Stage:
    """A part of a layer: types by the names of what it reads (less weights) and of what it computes."""
    name: str
    inputs: dict
    results: dict
    text: str


class Model:
    """The text of a model, layer by layer."""

    def __init__(self, options):
        self.options = options
        self.width, self.inner = options.hidden, options.feed_forward
        tokens = "?" if options.tokens is None else options.tokens
        self.tokens = tokens
        size = self.width // options.heads
        dynamic = options.tokens is None

        def dim(value, kind, axis=0):
            if not dynamic:
                return ""
            return f"  %axis = arith.constant {axis} : index\n  %n = tensor.dim %{value}, %axis : {kind}\n"

        self.stream = f"tensor<{tokens}x{self.width}xf32>"
        heads = f"tensor<{options.heads}x{tokens}x{size}xf32>"
        hidden = f"tensor<{tokens}x{self.inner}xf32>"
        self.names = {
            "T": tokens, "H": options.heads, "D": size, "stream": self.stream, "heads": heads, "hidden": hidden,
            "scores": f"tensor<{options.heads}x{tokens}x{tokens}xf32>", "scale": float(size) ** -0.5,
            "n": "%n" if dynamic else "", "batch": f"tensor<1x{options.heads}x{tokens}x{size}xf32>",
            "nn": "%n, %n" if dynamic else "", "t": "%n" if dynamic else tokens,
            "tokens": dim("x", self.stream), "head_tokens": dim("q", heads, 1), "value_tokens": dim("v", heads, 1), "hidden_tokens": dim("x", hidden),
        }
        self.scores = self.names["scores"]
        self.names["score_tokens"] = dim("scores", self.scores, 1)

    def weight(self, inputs, outputs):
        if self.options.weights == "prepared":
            return f"{-(-outputs // PANEL_COLUMNS)}x{inputs}x{PANEL_COLUMNS}"
        return f"{inputs}x{outputs}" if self.options.weights == "in-out" else f"{outputs}x{inputs}"

    def linear(self, inputs, outputs):
        is_transposed, is_packed = self.options.weights == "out-in", self.options.weights == "prepared"
        names = dict(self.names, inputs=inputs, outputs=outputs, weight=self.weight(inputs, outputs),
                     map="(j, k)" if is_transposed else "(k, j)", matrix="matrix" if is_packed else "weight",
                     shape=f"{outputs}x{inputs}" if is_transposed else f"{inputs}x{outputs}")
        names["unpack"] = UNPACK.format(**names) if is_packed else ""
        names["tokens"] = names["tokens"].replace(self.stream, f"tensor<{self.tokens}x{inputs}xf32>")
        return (LINEAR_OP if self.options.linear == "op" else FUNCTIONS).format(**names)

    def parameters(self, layer):
        """The names and types of a layer's weights, in the order of the arguments."""
        width, inner = self.width, self.inner
        values = []
        for name, inputs, outputs in [("query", width, width), ("key", width, width), ("value", width, width),
                                      ("output", width, width), ("up", width, inner), ("down", inner, width)]:
            values.append((f"l{layer}_{name}_weight", f"tensor<{self.weight(inputs, outputs)}xf32>"))
            values.append((f"l{layer}_{name}_bias", f"tensor<{outputs}xf32>"))
        for norm in ["norm1", "norm2"]:
            values += [(f"l{layer}_{norm}_{part}", f"tensor<{width}xf32>") for part in ["gamma", "beta"]]
        return values

    def call_linear(self, result, source, layer, name, inputs, outputs):
        types = f"tensor<{self.tokens}x{inputs}xf32>, tensor<{self.weight(inputs, outputs)}xf32>, tensor<{outputs}xf32>"
        operands = f"%{source}, %l{layer}_{name}_weight, %l{layer}_{name}_bias"
        return (f"  %{result} = call @linear_{inputs}_{outputs}({operands}) : ({types}) -> tensor<{self.tokens}x{outputs}xf32>\n")

    def add_norm(self, result, stream, branch, layer, norm):
        vector = f"tensor<{self.width}xf32>"
        parameters = f"gamma(%l{layer}_{norm}_gamma) beta(%l{layer}_{norm}_beta)"
        if self.options.fused:
            return (f"  %{result}, %{result}_sum = resid.add_norm layer %{stream}, %{branch} {parameters} "
                    f"{{epsilon = 1.0e-12}} : {self.stream}, {vector}, {vector}\n")
        return (f"  %{result}_sum = resid.add %{stream}, %{branch} : {self.stream}\n"
                f"  %{result} = resid.layer_norm %{result}_sum {parameters} {{epsilon = 1.0e-12}} : "
                f"{self.stream}, {vector}, {vector}\n")

    def stages(self, number, stream):
        """What a layer does, one after the other."""
        prefix, kind, heads, scores = f"l{number}", self.stream, self.names["heads"], self.scores
        hidden = self.names["hidden"]
        query, key, value, context, attention, middle, up, down = (f"{prefix}_{name}" for name in (
            "query", "key", "value", "context", "attention", "middle", "up", "down"))

        def split(name):
            return f"  %{name}_heads = call @split_heads(%{name}) : ({kind}) -> {heads}\n"
        yield Stage("query_key_value", {stream: kind}, {query: kind, key: kind, value: kind}, "".join(
            self.call_linear(f"{prefix}_{name}", stream, number, name, self.width, self.width)
            for name in ("query", "key", "value")))
        if self.options.attention == "op":
            yield Stage("attention", {query: kind, key: kind, value: kind}, {context: kind}, split(query) + split(key) +
                        split(value) + f"  %{context} = call @attend(%{query}_heads, %{key}_heads, %{value}_heads) : "
                        f"({heads}, {heads}, {heads}) -> {kind}\n")
        else:
            yield Stage("scores", {query: kind, key: kind}, {f"{prefix}_scores": scores}, split(query) + split(key) + (
                f"  %{prefix}_scores = call @score(%{query}_heads, %{key}_heads) : ({heads}, {heads}) -> {scores}\n"))
            yield Stage("softmax", {f"{prefix}_scores": scores}, {f"{prefix}_weights": scores},
                        f"  %{prefix}_weights = call @weigh(%{prefix}_scores) : ({scores}) -> {scores}\n")
            yield Stage("context", {f"{prefix}_weights": scores, value: kind}, {context: kind}, split(value) + (
                f"  %{context} = call @gather(%{prefix}_weights, %{value}_heads) : ({scores}, {heads}) -> {kind}\n"))
        yield Stage("attention_output", {context: kind, stream: kind}, {middle: kind},
                    self.call_linear(attention, context, number, "output", self.width, self.width) +
                    self.add_norm(middle, stream, attention, number, "norm1"))
        yield Stage("up", {middle: kind}, {f"{prefix}_gelu": hidden},
                    self.call_linear(up, middle, number, "up", self.width, self.inner) +
                    f"  %{prefix}_gelu = call @gelu(%{up}) : ({hidden}) -> {hidden}\n")
        yield Stage("down", {f"{prefix}_gelu": hidden, middle: kind}, {f"{prefix}_result": kind},
                    self.call_linear(down, f"{prefix}_gelu", number, "down", self.inner, self.width) +
                    self.add_norm(f"{prefix}_result", middle, down, number, "norm2"))

    def part(self, stage):
        """A stage of the first layer as a function of its own, `part_<name>`."""
        parameters = {name: kind for name, kind in self.parameters(0) if re.search(rf"%{name}\b", stage.text)}
        arguments = ", ".join(f"%{name}: {kind}" for name, kind in {**stage.inputs, **parameters}.items())
        results = ", ".join(stage.results.values())
        return (f"func.func @part_{stage.name}({arguments}) -> ({results}) {{\n{stage.text}"
                f"  return {', '.join(f'%{name}' for name in stage.results)} : {results}\n}}\n")

    def arguments(self, tokens):
        """Flags of resid-run: random values such that what the layers hand on stays of one size."""
        flags = [f"--arg=f32[{tokens}x{self.width}]=random:1"]
        for number in range(self.options.layers):
            for name, kind in self.parameters(number):
                shape = kind[len("tensor<"):-len("xf32>")]
                scale = 1.0 if "gamma" in name else 0.1 if "x" not in shape else float(self.width) ** -0.5
                flags.append(f"--arg=f32[{shape}]=random:{len(flags) + 1}*{scale:.6f}")
        return "\n".join(flags)

    def mark(self, name):
        """Weights can be put into a struct."""
        return " {resid.weight}" if self.options.mark_weights and name != "x" else ""

    def text(self):
        parameters = [("x", self.stream)]
        for number in range(self.options.layers):
            parameters += self.parameters(number)
        text = "func.func @model(" + ",\n    ".join(f"%{name}: {kind}{self.mark(name)}" for name, kind in parameters)
        text += f") -> {self.stream} {{\n"
        stream = "x"
        for number in range(self.options.layers):
            text += "".join(stage.text for stage in self.stages(number, stream))
            stream = f"l{number}_result"
        text += f"  return %{stream} : {self.stream}\n}}\n"
        if self.options.parts:
            text += "".join(map(self.part, self.stages(0, "x")))
        core = OP_CORE if self.options.attention == "op" else LINALG_CORE
        shapes = {(self.width, self.width), (self.width, self.inner), (self.inner, self.width)}
        text += "".join(self.linear(*shape) for shape in sorted(shapes))
        return text + "".join(part.format(**self.names) for part in (SPLIT, core, GELU))


def parse_options(arguments=None):
    parser = argparse.ArgumentParser(description="Print a Transformer encoder of post-norm layers as MLIR.")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--hidden", type=int, default=384, help="width of the stream")
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--feed-forward", type=int, default=1536)
    parser.add_argument("--tokens", type=int, help="known number of tokens; without it, known at run time only")
    parser.add_argument("--weights", choices=["in-out", "out-in", "prepared"], default="in-out",
                        help="order of a weight's dimensions; prepared: panels of 16 columns")
    parser.add_argument("--attention", choices=["linalg", "op"], default="linalg", help="op: write resid.attention")
    parser.add_argument("--linear", choices=["linalg", "op"], default="linalg", help="op: write resid.linear, for --weights=out-in")
    parser.add_argument("--mark-weights", action="store_true", help="mark weights, for residc --weights-struct")
    parser.add_argument("--parts", action="store_true", help="print the stages of a layer as functions, too")
    parser.add_argument("--fused", action="store_true", help="write resid.add_norm instead of add and layer norm")
    parser.add_argument("--arguments", type=int, metavar="TOKENS",
                        help="print the flags of resid-run for so many tokens instead, a line each")
    options = parser.parse_args(arguments)
    if options.layers < 1 or options.heads < 1 or options.hidden % options.heads:
        parser.error(f"expected layers, and heads that divide {options.hidden}, "
                     f"but got {options.layers} and {options.heads}")
    if options.linear == "op" and options.weights != "out-in":
        parser.error(f"expected --weights=out-in beside --linear=op, but got {options.weights}")
    return options


if __name__ == "__main__":
    options = parse_options()
    if options.arguments is None:
        print("// A Transformer encoder, printed by benchmarks/transformer.py.\n" + Model(options).text(), end="")
    else:
        print(Model(options).arguments(options.arguments))
