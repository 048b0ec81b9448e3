# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Norms: layer norm and RMS norm of ONNX and of the recognisers, dropout of inference.

from __future__ import annotations

from collections.abc import Sequence

from . import elements
from .emit import Emitter, handles
from .emit_elementwise import binary, cast, elementwise, wider
from .emit_reduce import kept_dims, mean
from .emit_shapes import reshape
from .errors import Unsupported
from .graph import Node
from .program import Program, Tensor, literal, tensor_type


def norm(
    p: Program,
    op: str,
    x: Tensor,
    gamma: Tensor | None,
    beta: Tensor | None,
    rank: int,
    epsilon: float,
    statistics: bool = False,
    narrow: bool = False,
    zero_centered: bool = False,
) -> list[Tensor]:
    """resid.layer_norm or resid.rms_norm over the last `rank` dimensions, of which a gamma may have more. With
    statistics: [y, mean, mean_correction, rstd]."""
    x = p.value(x)
    text, types = f"resid.{op} {x.ssa}", [x.type]
    for name, parameter in (("gamma", gamma), ("beta", beta)):
        if parameter is not None:
            parameter = p.value(parameter)
            text, types = f"{text} {name}({parameter.ssa})", [*types, parameter.type]
    implied = 1 if gamma is None else gamma.rank
    settings = f"epsilon = {literal(epsilon, 'f64')}" + ("" if rank == implied else f", norm_rank = {rank} : i64")
    settings += ", zero_centered_gamma" if zero_centered else ""
    settings += ", narrow_affine" if narrow and gamma is not None and x.element in ("f16", "bf16") else ""
    text = f"{text} {{{settings}}} : {', '.join(types)}"
    if not statistics:
        return [p.op(text, x.element, x.dims)]
    kind, dims = elements.arithmetic(x.element), x.dims[: x.rank - rank]
    count = 3 if op == "layer_norm" else 1
    names = [p.fresh() for _ in range(1 + count)]
    p.line(f"{', '.join(names)} = {text} -> {', '.join([x.type] + [tensor_type(kind, dims)] * count)}")
    return [Tensor(x.element, x.dims, names[0])] + [Tensor(kind, dims, name) for name in names[1:]]


def _fits(x: Tensor, parameter: Tensor | None, axes: Sequence[int]) -> bool:
    return parameter is None or parameter.dims == tuple(x.dims[i] for i in axes)


def written_out(p: Program, op: str, x: Tensor, axes: Sequence[int], epsilon: float) -> Tensor:
    """The norm of axes that are not the last ones, in the arithmetic type, without gamma and beta."""
    kind = x.element
    wide = cast(p, x, elements.arithmetic(kind))
    shape = kept_dims(wide, axes)
    number = p.scalar(epsilon, wide.element)
    if op == "layer_norm":
        wide = binary(p, "arith.subf", wide, reshape(p, mean(p, wide, axes), shape))
    squares = elementwise(p, [wide], wide.element, lambda a: p.inner(f"arith.mulf {a}, {a} : {wide.element}"))
    average = reshape(p, mean(p, squares, axes), shape)

    def body(a: str, v: str) -> str:
        root = p.inner(f"math.sqrt {p.inner(f'arith.addf {v}, {number} : {wide.element}')} : {wide.element}")
        return p.inner(f"arith.divf {a}, {root} : {wide.element}")

    return cast(p, elementwise(p, [wide, average], wide.element, body), kind)


def normalise(
    p: Program,
    op: str,
    x: Tensor,
    gamma: Tensor | None,
    beta: Tensor | None,
    axes: Sequence[int],
    epsilon: float,
    narrow: bool,
) -> Tensor:
    """A norm with parameters of any shape: those that resid's op takes go into it, others after it."""
    axes = sorted(axes)
    last = axes == list(range(x.rank - len(axes), x.rank))
    if last and _fits(x, gamma, axes) and _fits(x, beta, axes) and (gamma is not None or beta is None):
        return norm(p, op, x, gamma, beta, len(axes), epsilon, narrow=narrow)[0]
    result = norm(p, op, x, None, None, len(axes), epsilon)[0] if last else written_out(p, op, x, axes, epsilon)
    if gamma is not None:
        result = binary(p, "arith.mulf", result, cast(p, gamma, result.element))
    return result if beta is None else binary(p, "arith.addf", result, cast(p, beta, result.element))


@handles("resid.LayerNorm", "resid.RmsNorm", attributes=("axes", "epsilon", "narrow_affine"))
def _recognised(e: Emitter, node: Node) -> Tensor:
    p, x = e.program, e.value(node, 0)
    axes = [e.axis(axis, x.rank) for axis in node.attributes["axes"]]
    op = "layer_norm" if node.op == "resid.LayerNorm" else "rms_norm"
    narrow = bool(e.attribute(node, "narrow_affine", 0))
    return normalise(p, op, x, e.optional(node, 1), e.optional(node, 2), axes, node.attributes["epsilon"], narrow)


@handles(
    "LayerNormalization",
    "SimplifiedLayerNormalization",
    "RMSNormalization",
    attributes=("axis", "epsilon", "stash_type"),
)
def _layer_normalization(e: Emitter, node: Node) -> list[Tensor | None]:
    p, x = e.program, e.value(node, 0)
    first = e.axis(e.attribute(node, "axis", -1), x.rank)
    if e.attribute(node, "stash_type", 1) != 1 and x.element != "f64":
        raise Unsupported(f"attribute stash_type = {node.attributes['stash_type']}: expected 1 (f32)")
    epsilon = float(e.attribute(node, "epsilon", 1e-5))
    op = "layer_norm" if node.op == "LayerNormalization" else "rms_norm"
    gamma, beta = e.optional(node, 1), e.optional(node, 2)
    # The result has the type of gamma, which ONNX lets differ from that of x.
    kind = x.element if gamma is None else gamma.element
    wide = wider(x.element, kind)
    x = cast(p, x, wide)
    gamma, beta = (None if tensor is None else cast(p, tensor, wide) for tensor in (gamma, beta))
    axes = list(range(first, x.rank))
    if not any(node.outputs[1:]):
        # ONNX rounds to the type of x before gamma; with a beta after it resid rounds once.
        return [cast(p, normalise(p, op, x, gamma, beta, axes, epsilon, beta is None), kind)]
    if not (_fits(x, gamma, axes) and _fits(x, beta, axes)):
        raise Unsupported("statistics beside a scale or bias that broadcasts")
    results = norm(p, op, x, gamma, beta, len(axes), epsilon, statistics=True, narrow=beta is None)
    y, *statistics = results[:2] if op == "rms_norm" else [results[0], results[1], results[3]]
    if e.attribute(node, "stash_type", 1) == 1:
        statistics = [cast(p, statistic, "f32") for statistic in statistics]
    return [cast(p, y, kind), *(reshape(p, statistic, kept_dims(x, axes)) for statistic in statistics)]


@handles("Dropout", attributes=("ratio", "seed", "is_test"))
def _dropout(e: Emitter, node: Node) -> list[Tensor]:
    """Of inference: the identity. Training asks for masks that ONNX does not define."""
    tensor = e.input(node, 0)
    training = bool(e.known(node.input(2)).scalar()) if node.input(2) else False
    ratio = e.known(node.input(1)).scalar() if node.input(1) else e.attribute(node, "ratio", 0.5)
    if node.input(2) and e.known(node.input(2)).scalar() is None:
        raise Unsupported("training_mode is known at run time only")
    if training and ratio != 0:
        raise Unsupported("training_mode is true: expected inference")
    results = [tensor]
    if node.output(1):
        results.append(e.program.filled(1, "i1", tensor.dims))
    return results


@handles("resid.Dropout", attributes=("p", "site"))
def _trained_dropout(e: Emitter, node: Node) -> Tensor:
    """Inputs: x, and seed and step as i64 [2]."""
    x = e.value(node, 0)
    if not x.rank:
        raise Unsupported("dropout of rank 0: expected at least 1")
    clause, attributes = dropout_clause(e, node, 1)
    return e.program.op(f"resid.dropout {x.ssa} seed{clause} {{{attributes}}} : {x.type}", x.element, x.dims)


def dropout_clause(e: Emitter, node: Node, state: int) -> tuple[str, str]:
    """The operands and the attributes of a dropout. Input `state` has seed and step."""
    p, words = e.program, e.value(node, state)
    seed, step = (p.head(f"tensor.extract {words.ssa}[{p.index(place)}] : {words.type}", name) for place, name in enumerate(("seed", "step")))
    return f"({seed}, {step})", f"p = {literal(node.attributes['p'], 'f64')}, site = {node.attributes['site']}"
