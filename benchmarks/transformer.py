#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints a Transformer encoder in the shape of MiniLM, written out layer by layer in one function: the norms and the
# residual additions in resid, all else in linalg. All weights are arguments.
# Tests compile it, and so does whoever measures the compiler on deep programs.

import argparse

FUNCTIONS = """
func.func private @linear_{inputs}_{outputs}(%x: tensor<{T}x{inputs}xf32>, %weight: tensor<{weight}xf32>,
    %bias: tensor<{outputs}xf32>) -> tensor<{T}x{outputs}xf32> {{
  %zero = arith.constant 0.0 : f32
{tokens}  %empty = tensor.empty({n}) : tensor<{T}x{outputs}xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<{T}x{outputs}xf32>) -> tensor<{T}x{outputs}xf32>
  %product = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> {map}>,
      affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %weight : tensor<{T}x{inputs}xf32>, tensor<{weight}xf32>) outs(%start : tensor<{T}x{outputs}xf32>) {{
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %term = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  }} -> tensor<{T}x{outputs}xf32>
  %y = resid.add_bias %product, %bias : tensor<{T}x{outputs}xf32>, tensor<{outputs}xf32>
  return %y : tensor<{T}x{outputs}xf32>
}}
"""

ATTENTION = """
func.func private @split_heads(%x: {stream}) -> {heads} {{
{tokens}  %split = tensor.expand_shape %x [[0], [1, 2]] output_shape [{t}, {H}, {D}]
      : {stream} into tensor<{T}x{H}x{D}xf32>
  %empty = tensor.empty({n}) : {heads}
  %y = linalg.transpose ins(%split : tensor<{T}x{H}x{D}xf32>) outs(%empty : {heads}) permutation = [1, 0, 2]
  return %y : {heads}
}}

func.func private @attend(%q: {heads}, %k: {heads}, %v: {heads}) -> {stream} {{
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
  %weights = linalg.softmax dimension(2) ins(%scaled : {scores}) outs(%empty : {scores}) -> {scores}
  %heads_empty = tensor.empty({n}) : {heads}
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
            "n": "%n" if dynamic else "", "nn": "%n, %n" if dynamic else "", "t": "%n" if dynamic else tokens,
            "tokens": dim("x", self.stream), "head_tokens": dim("q", heads, 1), "hidden_tokens": dim("x", hidden),
        }

    def weight(self, inputs, outputs):
        return f"{inputs}x{outputs}" if self.options.weights == "in-out" else f"{outputs}x{inputs}"

    def linear(self, inputs, outputs):
        names = dict(self.names, inputs=inputs, outputs=outputs, weight=self.weight(inputs, outputs),
                     map="(k, j)" if self.options.weights == "in-out" else "(j, k)")
        names["tokens"] = names["tokens"].replace(self.stream, f"tensor<{self.tokens}x{inputs}xf32>")
        return FUNCTIONS.format(**names)

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

    def layer(self, number, stream):
        prefix, stream_type, heads = f"l{number}", self.stream, self.names["heads"]
        text = ""
        for name in ["query", "key", "value"]:
            text += self.call_linear(f"{prefix}_{name}", stream, number, name, self.width, self.width)
            text += f"  %{prefix}_{name}_heads = call @split_heads(%{prefix}_{name}) : ({stream_type}) -> {heads}\n"
        operands = ", ".join(f"%{prefix}_{name}_heads" for name in ["query", "key", "value"])
        text += f"  %{prefix}_context = call @attend({operands}) : ({heads}, {heads}, {heads}) -> {stream_type}\n"
        text += self.call_linear(f"{prefix}_attention", f"{prefix}_context", number, "output", self.width, self.width)
        text += self.add_norm(f"{prefix}_middle", stream, f"{prefix}_attention", number, "norm1")
        text += self.call_linear(f"{prefix}_up", f"{prefix}_middle", number, "up", self.width, self.inner)
        hidden = self.names["hidden"]
        text += f"  %{prefix}_gelu = call @gelu(%{prefix}_up) : ({hidden}) -> {hidden}\n"
        text += self.call_linear(f"{prefix}_down", f"{prefix}_gelu", number, "down", self.inner, self.width)
        return text + self.add_norm(f"{prefix}_result", f"{prefix}_middle", f"{prefix}_down", number, "norm2")

    def arguments(self, tokens):
        """Flags of resid-run: random values such that what the layers hand on stays of one size."""
        flags = [f"--arg=f32[{tokens}x{self.width}]=random:1"]
        for number in range(self.options.layers):
            for name, kind in self.parameters(number):
                shape = kind[len("tensor<"):-len("xf32>")]
                scale = 1.0 if "gamma" in name else 0.1 if "x" not in shape else float(self.width) ** -0.5
                flags.append(f"--arg=f32[{shape}]=random:{len(flags) + 1}*{scale:.6f}")
        return "\n".join(flags)

    def text(self):
        parameters = [("x", self.stream)]
        for number in range(self.options.layers):
            parameters += self.parameters(number)
        text = "func.func @model(" + ",\n    ".join(f"%{name}: {kind}" for name, kind in parameters)
        text += f") -> {self.stream} {{\n"
        stream = "x"
        for number in range(self.options.layers):
            text += self.layer(number, stream)
            stream = f"l{number}_result"
        text += f"  return %{stream} : {self.stream}\n}}\n"
        shapes = {(self.width, self.width), (self.width, self.inner), (self.inner, self.width)}
        return text + "".join(self.linear(*shape) for shape in sorted(shapes)) + ATTENTION.format(**self.names)


def parse_options():
    parser = argparse.ArgumentParser(description="Print a Transformer encoder of post-norm layers as MLIR.")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--hidden", type=int, default=384, help="width of the stream")
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--feed-forward", type=int, default=1536)
    parser.add_argument("--tokens", type=int, help="known number of tokens; without it, known at run time only")
    parser.add_argument("--weights", choices=["in-out", "out-in"], default="in-out",
                        help="order of a weight's dimensions")
    parser.add_argument("--fused", action="store_true", help="write resid.add_norm instead of add and layer norm")
    parser.add_argument("--arguments", type=int, metavar="TOKENS",
                        help="print the flags of resid-run for so many tokens instead, a line each")
    options = parser.parse_args()
    if options.layers < 1 or options.heads < 1 or options.hidden % options.heads:
        parser.error(f"expected layers, and heads that divide {options.hidden}, "
                     f"but got {options.layers} and {options.heads}")
    return options


if __name__ == "__main__":
    options = parse_options()
    if options.arguments is None:
        print("// A Transformer encoder, printed by benchmarks/transformer.py.\n" + Model(options).text(), end="")
    else:
        print(Model(options).arguments(options.arguments))
