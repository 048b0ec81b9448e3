# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads nodes of torch.fx graphs: what op a node is, whether torch.export (aten) or Dynamo (torch functions, operators,
# methods) wrote it, and which norms are written out. It changes no graph.

from __future__ import annotations

import dataclasses
import math
import operator
from typing import Any

import torch
import torch.nn.functional as F
from torch.fx import Node

_FUNCTIONS = {
    operator.add: "add", torch.add: "add", operator.iadd: "add_", operator.mul: "mul", torch.mul: "mul",
    operator.pow: "pow", torch.pow: "pow",
    torch.rsqrt: "rsqrt", torch.mean: "mean", F.layer_norm: "layer_norm", torch.layer_norm: "layer_norm",
    F.rms_norm: "rms_norm", torch.rms_norm: "rms_norm", F.dropout: "dropout", torch.dropout: "dropout",
    F.linear: "linear",
    F.scaled_dot_product_attention: "scaled_dot_product_attention",
    F.multi_head_attention_forward: "multi_head_attention_forward",
}
_METHODS = {"add", "add_", "mul", "pow", "rsqrt", "mean", "to", "float", "type_as"}


def op(node: Any) -> str:
    """The name of a node's op, as in aten; "" where it is none that has a name here."""
    if not isinstance(node, Node):
        return ""
    if node.op == "call_method":
        return node.target if node.target in _METHODS else ""
    if node.op != "call_function":
        return ""
    if isinstance(node.target, torch._ops.OpOverload):
        namespace, name = node.target._schema.name.split("::")
        return name if namespace == "aten" else ""
    return _FUNCTIONS.get(node.target, "")


def argument(node: Node, place: int, name: str, default: Any = None) -> Any:
    return node.args[place] if place < len(node.args) else node.kwargs.get(name, default)


def value(node: Any) -> torch.Tensor | None:
    """The fake tensor that tracing left at a node: its shape, type and device."""
    if not isinstance(node, Node):
        return None
    found = node.meta.get("val", node.meta.get("example_value"))
    return found if isinstance(found, torch.Tensor) else None


def same_shape(a: torch.Tensor, b: torch.Tensor) -> bool:
    known = torch.fx.experimental.symbolic_shapes.statically_known_true
    return a.dim() == b.dim() and all(known(m == n) for m, n in zip(a.shape, b.shape))


def readers(node: Node) -> list[Node]:
    """The nodes that read a value, but for those that only state its type."""
    return [user for user in node.users if not is_statement(user)]


def is_statement(node: Node) -> bool:
    return op(node) == "_assert_tensor_metadata"


@dataclasses.dataclass
class Norm:
    """A norm in a graph: its last node, what it reads, and the nodes in between that go away with it."""

    node: Node
    kind: str
    x: Node
    weight: Node | None
    bias: Node | None
    epsilon: float
    rank: int
    inner: list[Node] = dataclasses.field(default_factory=list)


def norm_at(node: Node) -> Norm | None:
    """The norm of which `node` is the result."""
    if op(node) == "layer_norm":
        shape = argument(node, 1, "normalized_shape")
        return Norm(node, "layer", argument(node, 0, "input"), argument(node, 2, "weight"), argument(node, 3, "bias"),
                    argument(node, 4, "eps", 1e-5), len(shape))
    if op(node) == "rms_norm":
        x, epsilon = argument(node, 0, "input"), argument(node, 3, "eps")
        if epsilon is None:
            is_double = value(x) is not None and value(x).dtype == torch.float64
            epsilon = torch.finfo(torch.float64 if is_double else torch.float32).eps
        return Norm(node, "rms", x, argument(node, 2, "weight"), None, epsilon,
                    len(argument(node, 1, "normalized_shape")))
    return _written_rms_norm(node)


def _factors(node: Node) -> list[tuple[Node, Node]]:
    """Both orders of a product of two nodes."""
    if op(node) != "mul" or len(node.args) != 2 or not all(isinstance(factor, Node) for factor in node.args):
        return []
    a, b = node.args
    return [(a, b), (b, a)]


def _behind_casts(node: Node, casts: list[Node], widen: bool = False) -> Node:
    """What a chain of casts between floats begins with; with `widen`, only of such as lose nothing. The casts are added to
    `casts`."""
    while op(node) in ("to", "float", "type_as", "_to_copy") and isinstance(node.args[0], Node):
        source, target = value(node.args[0]), value(node)
        if source is None or target is None or not (source.is_floating_point() and target.is_floating_point()):
            break
        if widen and torch.promote_types(source.dtype, target.dtype) != target.dtype:
            break
        casts.append(node)
        node = node.args[0]
    return node


def _written_rms_norm(node: Node) -> Norm | None:
    """weight * (x * rsqrt(mean(x², -1) + epsilon)), with or without casts, as LLaMA's modules write it."""
    for weight, normalized in _factors(node):
        inner: list[Node] = []
        product = _behind_casts(normalized, inner)
        scale, scaled = value(weight), value(product)
        if scale is None or scaled is None or scale.dim() != 1 or scale.shape[0] != scaled.shape[-1]:
            continue
        for wide, root in _factors(product):
            found = _mean_square(root, wide)
            if found is None:
                continue
            epsilon, parts = found
            inner += [product, *parts]
            x = _behind_casts(wide, inner, widen=True)
            return Norm(node, "rms", x, weight, None, epsilon, 1, inner)
    return None


def _mean_square(root: Node, x: Node) -> tuple[float, list[Node]] | None:
    """Epsilon and the nodes of rsqrt(mean(x², -1, keepdim) + epsilon)."""
    if op(root) != "rsqrt":
        return None
    total = root.args[0]
    if op(total) != "add" or len(total.args) != 2 or not isinstance(total.args[1], float) or not isinstance(total.args[0], Node):
        return None
    mean = total.args[0]
    dims = argument(mean, 1, "dim")
    if op(mean) != "mean" or not argument(mean, 2, "keepdim", False) or dims not in (-1, [-1], (-1,)):
        return None
    square = mean.args[0]
    is_square = op(square) == "pow" and square.args[0] is x and square.args[1] in (2, 2.0)
    is_square = is_square or (op(square) == "mul" and square.args[0] is x and square.args[1] is x)
    return (total.args[1], [root, total, mean, square]) if is_square else None


def dropout_at(node: Any) -> tuple[Node, float] | None:
    """What a dropout in training reads, and its probability."""
    if op(node) != "dropout" or argument(node, 3, "inplace", False) or not is_training(node):
        return None
    return argument(node, 0, "input"), float(argument(node, 1, "p", 0.5))


def is_training(node: Node) -> bool:
    """Whether a dropout drops anything."""
    return bool(argument(node, 2, "training", node.kwargs.get("train", True))) and argument(node, 1, "p", 0.5) > 0


def refusal(x: Any, rank: int = 1) -> str | None:
    """Why resid has no kernel for rows of the value of `x`, or None."""
    tensor = value(x)
    if tensor is None:
        return "shape and type are not known"
    if tensor.dtype not in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        return f"expected a float type but found {tensor.dtype}"
    if tensor.device.type not in ("cpu", "cuda"):
        return f"expected a CPU or CUDA device but found {tensor.device.type}"
    sizes = tensor.shape[tensor.dim() - rank :]
    if tensor.dim() < rank or not all(isinstance(size, int) for size in sizes) or math.prod(sizes) == 0:
        return f"expected a last dimension of fixed size but found {list(tensor.shape)}"
    return None
