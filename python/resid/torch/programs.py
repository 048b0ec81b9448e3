# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The texts of the programs after the ops of resid.torch: dropout, residual add and norm, forward and backward. It knows
# nothing of PyTorch; what compiles and calls the programs is engine.py.

from __future__ import annotations

import dataclasses
from collections.abc import Sequence


def number(value: float) -> str:
    """A float as MLIR reads it: with a point, also in front of an exponent."""
    mantissa, _, exponent = repr(float(value)).partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + (f"e{exponent}" if exponent else "")


@dataclasses.dataclass(frozen=True)
class Chain:
    """Branch bias, dropout, scales, residual add and norm over rows of one width. Element types are those of MLIR.

    `branch`, `branch_bias`, `weight` and `bias` are None where the chain has none; without a branch it is a norm alone. `norm`
    is "layer", "rms" or "none". Without `keep_sum`, the sum is not a result, so that it is not written. With
    `sharded`, dropout takes the place of a shard in the whole: its first column, and the extent of its rows.
    """

    norm: str
    width: int
    stream: str
    branch: str | None = None
    branch_bias: str | None = None
    weight: str | None = None
    bias: str | None = None
    epsilon: float = 1e-5
    p: float = 0.0
    skip_scale: float = 1.0
    branch_scale: float = 1.0
    keep_sum: bool = True
    sharded: bool = False

    function = "forward"

    def text(self) -> str:
        return _forward(self)

    def rows(self, element: str) -> str:
        return f"tensor<?x{self.width}x{element}>"

    def vector(self, element: str) -> str:
        return f"tensor<{self.width}x{element}>"

    @property
    def statistic(self) -> str:
        return "tensor<?xf64>" if self.stream == "f64" else "tensor<?xf32>"

    def statistics(self) -> list[tuple[str, str]]:
        names = {"layer": ("mean", "correction", "rstd"), "rms": ("rstd",), "none": ()}[self.norm]
        return [(f"%{name}", self.statistic) for name in names]


class _Function:
    """Lines of one function, from its arguments to its results."""

    def __init__(self, name: str, arguments: Sequence[tuple[str, str]]):
        self.name, self.arguments = name, list(arguments)
        self.lines: list[str] = []
        self.count = 0

    def fresh(self) -> str:
        """A name that no other value has."""
        self.count += 1
        return f"%v{self.count}"

    def add(self, line: str) -> None:
        self.lines.append("  " + line)

    def text(self, results: Sequence[tuple[str, str]]) -> str:
        arguments = ", ".join(f"{name}: {type_}" for name, type_ in self.arguments)
        names, types = (", ".join(part) for part in zip(*results))
        head = f"func.func @{self.name}({arguments}) -> ({types}) {{"
        return "\n".join([head, *self.lines, f"  return {names} : {types}", "}", ""])


def _dropout_arguments(p: float, sharded: bool) -> list[tuple[str, str]]:
    names = ("seed", "step", "row", "site") + (("col", "local", "global") if sharded else ())
    return [(f"%{name}", "i64") for name in names] if p else []


def _dropout(value: str, p: float, sharded: bool, type_: str) -> str:
    origin = "origin(%row, %site, %col) extent(%local, %global)" if sharded else "origin(%row, %site)"
    return f"resid.dropout {value} seed(%seed, %step) {origin} {{p = {number(p)}, site = 0}} : {type_}"


def _add_branch(chain: Chain, function: _Function) -> None:
    """%s, the sum of %x and the branch %f; every step in front of the add has the branch's own type."""
    branch, stream = chain.rows(chain.branch), chain.rows(chain.stream)
    value = "%f"
    if chain.branch_bias:
        function.add(f"%biased = resid.add_bias {value}, %fb : {branch}, {chain.vector(chain.branch_bias)}")
        value = "%biased"
    if chain.p:
        function.add(f"%dropped = {_dropout(value, chain.p, chain.sharded, branch)}")
        value = "%dropped"
    if chain.branch != chain.stream:
        function.add(f"%wide = arith.extf {value} : {branch} to {stream}")
        value = "%wide"
    scales = f"{{skip_scale = {number(chain.skip_scale)}, branch_scale = {number(chain.branch_scale)}}}"
    function.add(f"%s = resid.add %x, {value} {scales} : {stream}")


def _parameters(chain: Chain) -> tuple[str, str]:
    """The clauses of a norm's parameters, and their types."""
    clauses, types = "", ""
    for clause, value, element in (("gamma", "%w", chain.weight), ("beta", "%b", chain.bias)):
        if element:
            clauses += f" {clause}({value})"
            types += f", {chain.vector(element)}"
    return clauses, types


def _forward(chain: Chain) -> str:
    """@forward(x [, f] [, fb] [, w] [, b] [, seed, step, row, site [, col, local, global]]) -> ([y, statistics …] [, s])."""
    stream = chain.rows(chain.stream)
    arguments = [("%x", stream)]
    if chain.branch:
        arguments.append(("%f", chain.rows(chain.branch)))
    for name, element in (("%fb", chain.branch_bias), ("%w", chain.weight), ("%b", chain.bias)):
        if element:
            arguments.append((name, chain.vector(element)))
    function = _Function("forward", arguments + _dropout_arguments(chain.p, chain.sharded))
    if chain.branch:
        _add_branch(chain, function)
    results = []
    if chain.norm != "none":
        statistics = chain.statistics()
        names, types = (", ".join(part) for part in zip(*statistics))
        clauses, parameters = _parameters(chain)
        function.add(f"%y, {names} = resid.{chain.norm}_norm {'%s' if chain.branch else '%x'}{clauses} "
                     f"{{epsilon = {number(chain.epsilon)}}} : {stream}{parameters} -> {stream}, {types}")
        results = [("%y", stream), *statistics]
    if chain.branch and chain.keep_sum:
        results.append(("%s", stream))
    return function.text(results)


@dataclasses.dataclass(frozen=True)
class Backward:
    """The backward of a chain: which gradients come in, and which are asked for.

    The gradient of the branch is that of x where nothing stands between them, and is then no result (`branch_is_x`).
    """

    chain: Chain
    has_dy: bool
    has_dsum: bool
    x: bool = True
    f: bool = True
    branch_bias: bool = False
    weight: bool = False
    bias: bool = False

    function = "backward"

    def text(self) -> str:
        return _backward(self)

    @property
    def branch_is_x(self) -> bool:
        chain = self.chain
        return not chain.p and chain.skip_scale == chain.branch_scale == 1.0 and chain.branch == chain.stream


def _scaled(function: _Function, value: str, factor: float, source: str, target: str, chain: Chain) -> str:
    """`value` times `factor`, rounded to the element type `target` once for the product and once for the cast."""
    if factor != 1.0:
        wide = "f64" if source == "f64" else "f32"
        result = function.fresh()
        rows = chain.rows(source)
        function.add(f"{result}_c = arith.constant 0 : index")
        function.add(f"{result}_n = tensor.dim {value}, {result}_c : {rows}")
        function.add(f"{result}_e = tensor.empty({result}_n) : {rows}")
        function.add(f"{result} = linalg.generic {{indexing_maps = [#rows, #rows], iterator_types = [\"parallel\", \"parallel\"]}}"
                     f" ins({value} : {rows}) outs({result}_e : {rows}) {{")
        function.add(f"^bb0(%in: {source}, %out: {source}):")
        function.add(f"  %factor = arith.constant {number(factor)} : {wide}")
        if source != wide:
            function.add(f"  %in_wide = arith.extf %in : {source} to {wide}")
        function.add(f"  %product = arith.mulf %factor, {'%in' if source == wide else '%in_wide'} : {wide}")
        if source != wide:
            function.add(f"  %narrow = arith.truncf %product : {wide} to {source}")
        function.add(f"  linalg.yield {'%product' if source == wide else '%narrow'} : {source}")
        function.add(f"}} -> {rows}")
        value = result
    if source != target:
        result = function.fresh()
        function.add(f"{result} = arith.truncf {value} : {chain.rows(source)} to {chain.rows(target)}")
        value = result
    return value


def _column_sum(function: _Function, value: str, element: str, target: str, chain: Chain) -> str:
    """The sum of `value` down its rows, in f32 (f64), rounded to `target`."""
    wide = "f64" if element == "f64" else "f32"
    vector = chain.vector(wide)
    function.add(f"%zero = arith.constant 0.0 : {wide}")
    function.add(f"%sums_e = tensor.empty() : {vector}")
    function.add(f"%sums_0 = linalg.fill ins(%zero : {wide}) outs(%sums_e : {vector}) -> {vector}")
    function.add(f"%sums = linalg.generic {{indexing_maps = [#rows, #columns], iterator_types = [\"reduction\", \"parallel\"]}}"
                 f" ins({value} : {chain.rows(element)}) outs(%sums_0 : {vector}) {{")
    function.add(f"^bb0(%in: {element}, %out: {wide}):")
    if element != wide:
        function.add(f"  %in_wide = arith.extf %in : {element} to {wide}")
    function.add(f"  %sum = arith.addf %out, {'%in' if element == wide else '%in_wide'} : {wide}")
    function.add(f"  linalg.yield %sum : {wide}")
    function.add(f"}} -> {vector}")
    if target == wide:
        return "%sums"
    function.add(f"%sums_cast = arith.truncf %sums : {vector} to {chain.vector(target)}")
    return "%sums_cast"


def _norm_gradients(function: _Function, backward: Backward) -> None:
    """%t, the gradient of what is normalised, with that of its other readers; %dw and %db."""
    chain = backward.chain
    stream = chain.rows(chain.stream)
    outputs = "%t" + (", %dw, %db" if chain.weight else "")
    clauses = (" gamma(%w)" if chain.weight else "") + (" sum(%ds)" if backward.has_dsum else "")
    types = ", ".join([stream, stream, chain.statistic, *([chain.vector(chain.weight)] if chain.weight else [])])
    if chain.bias and chain.bias != chain.weight:
        types += f" -> {stream}, {chain.vector(chain.weight)}, {chain.vector(chain.bias)}"
    statistics = ", ".join(name for name, _ in chain.statistics())
    function.add(f"{outputs} = resid.{chain.norm}_norm_grad %dy, %s statistics({statistics}){clauses} : {types}")


def _backward(backward: Backward) -> str:
    """@backward([dy, s, statistics … [, w]] [, ds] [, seed, step, row, site]) -> the gradients that are asked for.

    Their order is x, f (not where it is that of x), branch bias, weight, bias. Without dy, the norm has no part in it.
    """
    chain = backward.chain
    stream = chain.rows(chain.stream)
    arguments: list[tuple[str, str]] = []
    if backward.has_dy:
        arguments += [("%dy", stream), ("%s", stream), *chain.statistics()]
        if chain.weight:
            arguments.append(("%w", chain.vector(chain.weight)))
    if backward.has_dsum:
        arguments.append(("%ds", stream))
    function = _Function("backward", arguments + _dropout_arguments(chain.p, chain.sharded))
    t = "%ds"
    if backward.has_dy:
        _norm_gradients(function, backward)
        t = "%t"
    results = []
    needs_x = backward.x or (backward.f and backward.branch_is_x)
    if needs_x:
        skip = chain.skip_scale if chain.branch else 1.0
        results.append((_scaled(function, t, skip, chain.stream, chain.stream, chain), stream))
    if chain.branch and ((backward.f and not backward.branch_is_x) or backward.branch_bias):
        df = _scaled(function, t, chain.branch_scale, chain.stream, chain.branch, chain)
        if chain.p:
            function.add(f"%df = {_dropout(df, chain.p, chain.sharded, chain.rows(chain.branch))}")
            df = "%df"
        if backward.f and not backward.branch_is_x:
            results.append((df, chain.rows(chain.branch)))
        if backward.branch_bias:
            sums = _column_sum(function, df, chain.branch, chain.branch_bias, chain)
            results.append((sums, chain.vector(chain.branch_bias)))
    if backward.has_dy and backward.weight:
        results.append(("%dw", chain.vector(chain.weight)))
    if backward.has_dy and backward.bias:
        results.append(("%db", chain.vector(chain.bias)))
    maps = "#rows = affine_map<(d0, d1) -> (d0, d1)>\n#columns = affine_map<(d0, d1) -> (d1)>\n"
    return maps + function.text(results)


@dataclasses.dataclass(frozen=True)
class Dropout:
    """Dropout alone: @dropout(x, seed, step, row, site [, col, local, global]) -> (y). It is its own backward."""

    width: int
    element: str
    p: float
    sharded: bool = False

    function = "dropout"

    def text(self) -> str:
        rows = f"tensor<?x{self.width}x{self.element}>"
        function = _Function("dropout", [("%x", rows), *_dropout_arguments(self.p, self.sharded)])
        function.add(f"%y = {_dropout('%x', self.p, self.sharded, rows)}")
        return function.text([("%y", rows)])


@dataclasses.dataclass(frozen=True)
class Linear:
    """A linear layer, and what prepares its weight: `function` is "linear" or "linear_prepare".

    @linear(x, panels [, bias], scale) -> (y) and @linear_prepare(weight) -> (panels, scale), as resid-quantize-linear and
    resid-pack-weights make them of the layer. `bias` is its element type or None. `mode` is that of quantizing.Request: with
    "GIVEN", the weight is one of integers that are not packed.
    """

    inputs: int
    outputs: int
    element: str
    weight: str
    bias: str | None
    scheme: str
    function: str = "linear"
    mode: str = "PREPARED"

    def text(self) -> str:
        from ..quantizing import Request

        rows, bias = f"tensor<?x{self.inputs}x{self.element}>", f"tensor<{self.outputs}x{self.bias}>"
        weight = f"tensor<{self.outputs}x{self.inputs}x{self.weight}>"
        clause, given, type_ = (" bias(%bias)", f", %bias: {bias}", f", {bias}") if self.bias else ("", "", "")
        result = f"tensor<?x{self.outputs}x{self.element}>"
        layer = (f"func.func @linear(%x: {rows}, %weight: {weight} {{resid.weight}}{given}) -> {result} {{\n"
                 f"  %y = resid.linear %x, %weight{clause} : {rows}, {weight}{type_}\n  return %y : {result}\n}}\n")
        return Request(layer, "<layer>", self.scheme, {}, keep_heads=False).run(self.mode)[0]
