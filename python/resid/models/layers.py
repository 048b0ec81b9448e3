# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the presets share: residual sub-layers in any norm placement, linear layers, attention of split heads, activations. Writes
# MLIR through importer.program.

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from .._compiler import PLACEMENTS
from ..importer import elements
from ..importer.attention import split_heads
from ..importer.emit_linear import linear, linear_of_bytes, linear_of_integers
from ..importer.emit_norms import norm
from ..importer.emit_quantised import bytes_of_rows
from ..importer.emit_streams import Connection
from ..importer.errors import FlagError, ModelError
from ..importer.integers import Integers
from ..importer.program import Program, Tensor, literal


@dataclasses.dataclass
class Model:
    """One program while it is written."""

    program: Program
    element: str
    placement: str
    norm: str  # "layer" or "rms"
    epsilon: float
    prefix: str = ""
    zero_centered: bool = False  # norms multiply by 1 + gamma
    rounds_early: bool = True  # RMS norms round to the type of the stream before they multiply by gamma
    has_beta: bool = True  # of layer norms
    is_open: bool = False  # sub-layers are no blocks, so that what branches make can be a result of the program
    integers: Mapping[str, Integers] = dataclasses.field(default_factory=dict)  # weights of linear layers, by their whole names

    def with_placement(self, placement: str) -> Model:
        return dataclasses.replace(self, placement=placement)

    def weight(self, name: str, *dims: int) -> Tensor:
        """A weight under its name in the checkpoint."""
        return self.program.weight(self.prefix + name, self.element, dims)

    def head(self, tied: str | None, words: int, width: int) -> Tensor:
        """The last layer, from the stream to words: the table `tied`, or a weight of its own."""
        if tied is not None:
            return self.weight(tied, words, width)
        return self.program.weight("lm_head.weight", self.element, (words, width))

    def linear(
        self, x: Tensor, name: str, inputs: int, outputs: int, *, bias: bool = True, transposed: bool = False
    ) -> Tensor:
        """Weights [out, in], or [in, out] if transposed."""
        given = self.weight(f"{name}.bias", outputs) if bias else None
        if f"{self.prefix}{name}.weight" in self.integers and not transposed:
            return self.of_integers(x, f"{self.prefix}{name}.weight", (outputs, inputs), given)
        shape = (inputs, outputs) if transposed else (outputs, inputs)
        return linear(self.program, x, self.weight(f"{name}.weight", *shape), given, transposed)

    def of_integers(self, x: Tensor, name: str, shape: tuple[int, int], bias: Tensor | None = None) -> Tensor:
        """A linear layer whose weight is stored as integers; its scales and what else it has are named after it."""
        found = self.integers[name]
        if found.q.shape != shape:
            raise ModelError(f"weight '{name}' is {list(found.q.shape)}, expected {list(shape)}")
        parts = {suffix: self.program.weight(name + suffix, *kind) for suffix, (kind, _) in found.parts().items()}
        if found.of_rows:
            return linear_of_bytes(self.program, *bytes_of_rows(self.program, x), parts[""], parts["_scale"], bias, x.element)
        zero, offset = parts.get("_zero"), parts.get("_offset")
        return linear_of_integers(self.program, x, parts[""], parts["_scale"], found.group, zero, offset, bias)

    def normalise(self, x: Tensor, name: str, width: int) -> Tensor:
        """A norm outside of the sub-layers."""
        gamma, beta = self._norm_parameters(name, width)
        return norm(
            self.program,
            f"{self.norm}_norm",
            x,
            gamma,
            beta,
            1,
            self.epsilon,
            narrow=self._is_narrow(),
            zero_centered=self.zero_centered,
        )[0]

    def _is_narrow(self) -> bool:
        return self.norm == "rms" and self.rounds_early

    def final_norm(self, x: Tensor, name: str, width: int) -> Tensor:
        """The norm after the last sub-layer, where the placement has one."""
        _, wants_final_norm = PLACEMENTS[self.placement]
        return self.normalise(x, name, width) if wants_final_norm else x

    def sublayer(
        self,
        x: Tensor,
        name: "str | Sequence[str]",
        width: int,
        branch: Callable[[Tensor], Tensor],
        connection: Connection | None = None,
    ) -> Tensor:
        """One residual sub-layer. `name` is that of its norm, or the names of two; a second norm without a name has `.after` after
        the first one's. With a connection x is several streams, and the branch sees one row of them."""
        p = self.program
        names = [name] if isinstance(name, str) else [*name]
        names = [*names, f"{names[0]}.after"][: PLACEMENTS[self.placement][0]]
        if self.is_open:
            return self._open_sublayer(x, names, width, branch)
        clauses = [self._norm_clause(norm_name, width) for norm_name in names]
        narrow = " {narrow_affine}" if clauses and self._is_narrow() and self.element in ("f16", "bf16") else ""
        clauses += [connection.clause()] if connection else []
        result, argument = p.fresh(), p.fresh()
        row = Tensor(x.element, (*x.dims[:-2], x.dims[-1]) if connection else x.dims, argument)
        p.line(f"{result} = resid.block {' '.join([self.placement, x.ssa, *clauses])}{narrow} : {x.type} {{")
        p.line(f"^bb0({argument}: {row.type}):")
        end = len(p.lines)
        inner = branch(row)
        p.lines[end:] = ["  " + line for line in p.lines[end:]]
        p.line(f"  resid.yield {inner.ssa} : {inner.type}")
        p.line("}")
        return Tensor(x.element, x.dims, result)

    def _open_sublayer(self, x: Tensor, names: "list[str]", width: int, branch: Callable[[Tensor], Tensor]) -> Tensor:
        """What the block of this placement computes, in ops of its own."""
        if self.placement == "post_shifted":
            raise FlagError("placement 'post_shifted': its norms have no form outside of blocks, which a cache needs")

        def norms(tensor: Tensor, *placements: str) -> Tensor:
            return self.normalise(tensor, names.pop(0), width) if self.placement in placements else tensor

        inner = norms(branch(norms(x, "pre", "peri")), "branch_post", "peri")
        total = self.program.op(f"resid.add {x.ssa}, {inner.ssa} : {x.type}", x.element, x.dims)
        return norms(total, "post")

    def _norm_parameters(self, name: str, width: int) -> tuple[Tensor, Tensor | None]:
        """Gamma and beta."""
        gamma = self.weight(f"{name}.weight", width)
        return gamma, self.weight(f"{name}.bias", width) if self.norm == "layer" and self.has_beta else None

    def _norm_clause(self, name: str, width: int) -> str:
        given = zip(("gamma", "beta"), self._norm_parameters(name, width))
        clauses = "".join(f" {clause} {tensor.ssa} : {tensor.type}" for clause, tensor in given if tensor is not None)
        centre = " zero_centered_gamma" if self.zero_centered else ""
        return f"norm({self.norm}{clauses} epsilon = {literal(self.epsilon, 'f64')}{centre})"

    def activation(self, kind: str, x: Tensor, up: Tensor | None = None, **attributes: float) -> Tensor:
        names = x.ssa if up is None else f"{x.ssa}, {up.ssa}"
        texts = [f"{name} = {literal(value, 'f64')}" for name, value in attributes.items()]
        given = f" {{{', '.join(texts)}}}" if texts else ""
        return self.program.op(f"resid.activation {kind} {names}{given} : {x.type}", x.element, x.dims)

    def heads(self, x: Tensor, count: int) -> Tensor:
        return split_heads(self.program, x, count)

    def embedding(self, ids: Tensor, name: str, rows: int, width: int) -> Tensor:
        table = self.weight(name, rows, width)
        return self.program.op(
            f"resid.embedding {ids.ssa}, {table.ssa} : {ids.type}, {table.type}", table.element, (*ids.dims, width)
        )

    def add(self, left: Tensor, right: Tensor) -> Tensor:
        return self.program.op(f"arith.addf {left.ssa}, {right.ssa} : {left.type}", left.element, left.dims)

    def wide(self) -> str:
        return elements.arithmetic(self.element)


def first_rows(p: Program, table: Tensor, like: Tensor) -> Tensor:
    """The rows of a table for positions 0, 1, …, for each element of the batch: [batch, positions, width]."""
    batch, positions = like.dims[:2]
    size = p.index(positions) if not isinstance(positions, int) else str(positions)
    dims = (positions, table.dims[1])
    to = Tensor(table.element, dims).type
    rows = p.op(
        f"tensor.extract_slice {table.ssa}[0, 0] [{size}, {table.dims[1]}] [1, 1] : {table.type} to {to}",
        table.element,
        dims,
    )
    return p.generic([(rows, [1, 2])], rows.element, (batch, *dims), lambda element, _: element)


def banner(family: str, fields: Sequence[str], placement: str) -> list[str]:
    return [
        f"{family}, {', '.join(fields)}, norm placement {placement}.",
        "Written by `resid model`; weights are named as in the checkpoint.",
    ]
