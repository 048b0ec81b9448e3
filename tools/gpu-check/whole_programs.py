# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Whole programs of gpu-check, whose sizes are all their own: products, attention, moved arrays and layers; and what PyTorch has
# for the same, which is asked for f32 without TF32. A new kind is an entry here.

import dataclasses
from typing import Callable


@dataclasses.dataclass(frozen=True)
class Array:
    shape: tuple
    element: str = "f32"
    # Numbers are always plain: hard ones would be in all results.
    is_plain: bool = False

    @property
    def scale(self):
        """Of random numbers: products of a weight's rows are to be as large as what they are made of."""
        return self.shape[-1] ** -0.5 if self.is_plain and len(self.shape) > 1 else 1

    @property
    def type(self):
        return f"tensor<{'x'.join(str(size) for size in [*self.shape, self.element])}>"


class Program:
    """One function `block` of arrays %a0, %a1, ... `peer` is what PyTorch makes of the same arguments."""

    def __init__(self, arguments, results, body, peer, flops=0, names=None):
        self.arguments, self.results, self.peer, self.flops = arguments, results, peer, flops
        self.names = names or [f"a{number}" for number in range(len(arguments))]
        given = ", ".join(f"%a{number}: {array.type}" for number, array in enumerate(arguments))
        self.text = f"func.func @block({given}) -> ({', '.join(array.type for array in results)}) {{\n{body}\n}}\n"


def product(element, rows, columns, terms):
    x, w, y = Array((rows, terms), element), Array((columns, terms), element, True), Array((rows, columns), element)
    body = f"  %y = resid.linear %a0, %a1 : {x.type}, {w.type}\n  return %y : {y.type}"
    return Program([x, w], [y], body, lambda torch, a, b: torch.nn.functional.linear(a, b), 2 * rows * columns * terms)


def attention(element, heads, queries, keys, size, causal=False):
    q, k, v = (Array((1, heads, rows, size), element, is_plain) for rows, is_plain in ((queries, False), (keys, True), (keys, False)))
    body = f"  %y = resid.attention %a0, %a1, %a2{' {causal}' if causal else ''} : {q.type}, {k.type}, {v.type}\n  return %y : {q.type}"

    def peer(torch, a, b, c):
        return torch.nn.functional.scaled_dot_product_attention(a, b, c, is_causal=causal)

    return Program([q, k, v], [q], body, peer, 4 * heads * queries * keys * size // (2 if causal else 1))


def causal_attention(element, *sizes):
    return attention(element, *sizes, causal=True)


def transpose(element, rows, columns):
    x, y = Array((rows, columns), element), Array((columns, rows), element)
    body = (f"  %e = tensor.empty() : {y.type}\n  %y = linalg.transpose ins(%a0 : {x.type}) outs(%e : {y.type}) permutation = [1, 0]\n"
            f"  return %y : {y.type}")
    return Program([x], [y], body, lambda torch, a: a.t().contiguous())


def concat(element, rows, columns):
    x, y = Array((rows, columns), element), Array((rows, 2 * columns), element)
    body = f"  %y = tensor.concat dim(1) %a0, %a1 : ({x.type}, {x.type}) -> {y.type}\n  return %y : {y.type}"
    return Program([x, x], [y], body, lambda torch, a, b: torch.cat([a, b], 1))


def bert_layer(element, tokens, width, heads):
    """Post-norm, as BERT has it: attention, add & norm, GELU between two products, add & norm."""
    kind = lambda *shape: Array(shape, element).type
    row, size = (width,), width // heads
    matrices = [(width, width)] * 4 + [(4 * width, width), (width, 4 * width)]
    vectors = [row] * 4 + [(4 * width,), row, row, row, row, row]
    x = Array((tokens, width), element)
    names = ["x", "wq", "wk", "wv", "wo", "w1", "w2", "bq", "bk", "bv", "bo", "b1", "b2", "g1", "e1", "g2", "e2"]
    at = {name: f"%a{i}" for i, name in enumerate(names)}
    t, m, r, wide = x.type, kind(width, width), kind(width), kind(tokens, 4 * width)
    split, heads_first = kind(1, tokens, heads, size), kind(1, heads, tokens, size)
    lines = []
    for name in "qkv":
        lines += [f"%{name} = resid.linear {at['x']}, {at['w' + name]} bias({at['b' + name]}) : {t}, {m}, {r}",
                  f"%{name}1 = tensor.expand_shape %{name} [[0, 1], [2, 3]] output_shape [1, {tokens}, {heads}, {size}] : {t} into {split}",
                  f"%{name}e = tensor.empty() : {heads_first}",
                  f"%{name}h = linalg.transpose ins(%{name}1 : {split}) outs(%{name}e : {heads_first}) permutation = [0, 2, 1, 3]"]
    lines += [f"%h = resid.attention %qh, %kh, %vh : {heads_first}, {heads_first}, {heads_first}", f"%he = tensor.empty() : {split}",
              f"%ht = linalg.transpose ins(%h : {heads_first}) outs(%he : {split}) permutation = [0, 2, 1, 3]",
              f"%hm = tensor.collapse_shape %ht [[0, 1], [2, 3]] : {split} into {t}",
              f"%o = resid.linear %hm, {at['wo']} bias({at['bo']}) : {t}, {m}, {r}", f"%s1 = resid.add {at['x']}, %o : {t}",
              f"%n1 = resid.layer_norm %s1 gamma({at['g1']}) beta({at['e1']}) {{epsilon = 1.0e-12}} : {t}, {r}, {r}",
              f"%u = resid.linear %n1, {at['w1']} bias({at['b1']}) : {t}, {kind(*matrices[4])}, {kind(4 * width)}",
              f"%g = resid.activation gelu %u : {wide}",
              f"%d = resid.linear %g, {at['w2']} bias({at['b2']}) : {wide}, {kind(*matrices[5])}, {r}", f"%s2 = resid.add %n1, %d : {t}",
              f"%n2 = resid.layer_norm %s2 gamma({at['g2']}) beta({at['e2']}) {{epsilon = 1.0e-12}} : {t}, {r}, {r}", f"return %n2 : {t}"]

    def peer(torch, *given):
        f, a = torch.nn.functional, dict(zip(names, given))
        q, k, v = (f.linear(a["x"], a["w" + name], a["b" + name]).view(1, tokens, heads, size).transpose(1, 2) for name in "qkv")
        h = f.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(tokens, width)
        n = f.layer_norm(a["x"] + f.linear(h, a["wo"], a["bo"]), row, a["g1"], a["e1"], 1e-12)
        d = f.linear(f.gelu(f.linear(n, a["w1"], a["b1"])), a["w2"], a["b2"])
        return f.layer_norm(n + d, row, a["g2"], a["e2"], 1e-12)

    return Program([x, *(Array(shape, element, True) for shape in [*matrices, *vectors])], [x], "\n".join("  " + line for line in lines), peer,
                   2 * tokens * width * width * 12 + 4 * tokens * tokens * width, names)


@dataclasses.dataclass(frozen=True)
class Kind:
    make: Callable  # the program, of an element type and sizes
    sizes: dict  # those that are packed, by element type

    @property
    def example(self):
        return self.sizes["f32"][0]


KINDS = {
    # Rows x columns x terms.
    "product": Kind(product, {"f32": ["4096x4096x4096", "512x768x3072", "64x4096x4096", "8x4096x4096", "1x4096x4096"], "bf16": ["4096x4096x4096", "1x4096x4096"]}),
    # Heads x queries x keys x head size.
    "attention": Kind(attention, {"f32": ["16x2048x2048x64", "16x1x8192x64"]}),
    "causal_attention": Kind(causal_attention, {"f32": ["16x2048x2048x64"]}),
    "transpose": Kind(transpose, {"f32": ["8192x8192"]}),
    "concat": Kind(concat, {"f32": ["8192x4096"]}),
    # Tokens x width x heads.
    "bert_layer": Kind(bert_layer, {"f32": ["512x768x12", "4096x768x12"]}),
}


def make(kind, element, sizes):
    return KINDS[kind].make(element, *map(int, sizes.split("x")))


def find(name):
    """The program of a block's name, KIND_TYPE_SIZES, or None."""
    kind, element, sizes = name.rsplit("_", 2)
    return make(kind, element, sizes) if kind in KINDS else None
