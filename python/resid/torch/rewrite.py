# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Replaces chains of dropout, residual add and norm in a torch.fx graph by resid's ops, and reports what it did and why it
# left the rest. forms.py reads the nodes; capture.py makes the graphs.

from __future__ import annotations

import dataclasses
import operator

import torch
from torch.fx import GraphModule, Node

from . import forms, ops  # noqa: F401  (registers torch.ops.resid)
from .modules import DropoutState

STATE = "resid_dropout"
NO_ARRAYS = "not a sum of two arrays"


@dataclasses.dataclass
class Entry:
    """One line of the report. `site` is that of the dropout that was replaced."""

    node: str
    what: str
    result: str
    site: int | None = None


@dataclasses.dataclass
class Report:
    """What was replaced, and what was left with its reason."""

    replaced: list[Entry] = dataclasses.field(default_factory=list)
    left: list[Entry] = dataclasses.field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"resid.torch.optimize: replaced {len(self.replaced)}, left {len(self.left)}"]
        for title, entries in (("replaced", self.replaced), ("left", self.left)):
            for entry in entries:
                site = "" if entry.site is None else f" (site {entry.site})"
                lines.append(f"  {title:8}  {entry.node:24} {entry.what:24} {entry.result}{site}")
        return "\n".join(lines)


def rewrite(module: GraphModule, state: DropoutState, first_site: int = 0, quantize: str | None = None) -> Report:
    """Rewrites the graph of `module` in place. Its dropouts read `state`, and have sites from `first_site` on. `quantize` is the
    scheme of the integers that linear layers get, if they do."""
    return _Rewriter(module, state, first_site, quantize).run()


class _Rewriter:
    def __init__(self, module: GraphModule, state: DropoutState, first_site: int, quantize: str | None):
        self.quantize = quantize
        self.module, self.graph, self.state = module, module.graph, state
        self.site = first_site
        self.report = Report()
        self.state_node: Node | None = None
        self.places = {node: place for place, node in enumerate(self.graph.nodes)}

    def run(self) -> Report:
        for node in list(self.graph.nodes):
            norm = forms.norm_at(node)
            if norm is not None:
                self._replace_norm(norm)
        for node in list(self.graph.nodes):
            if forms.op(node) == "add" and node.users:
                self._replace_add(node)
        for node in list(self.graph.nodes):
            if forms.op(node) == "dropout":
                self._replace_dropout(node)
        for node in list(self.graph.nodes) if self.quantize else []:
            if forms.op(node) == "linear":
                self._quantize_linear(node, self.quantize)
        self._name_what_stays()
        self.graph.lint()
        self.module.recompile()
        return self.report

    def _leave(self, node: Node, what: str, reason: str) -> None:
        self.report.left.append(Entry(node.name, what, reason))

    def _seed_and_step(self) -> Node:
        """The state of this pass: counted up once for each run of the graph, in front of all other nodes."""
        if self.state_node is None:
            if not hasattr(self.module, STATE):
                self.module.add_submodule(STATE, self.state)
            first = next(node for node in self.graph.nodes if node.op not in ("placeholder", "get_attr"))
            with self.graph.inserting_before(first):
                self.state_node = self.graph.call_module(STATE)
        return self.state_node

    def _branch(self, add: Node) -> tuple[Node, Node, Node | None, float] | str:
        """Stream, branch, the dropout in front of the branch, and its p; or why this is no residual add."""
        sides = [forms.argument(add, 0, "input"), forms.argument(add, 1, "other")]
        if not all(isinstance(side, Node) for side in sides):
            return NO_ARRAYS
        if forms.argument(add, 2, "alpha", 1) != 1:
            return "alpha is not 1"
        values = [forms.value(side) for side in sides]
        total = forms.value(add)
        if total is None or any(value is None for value in values):
            return "shape and type are not known"
        if not all(forms.same_shape(value, total) for value in values):
            return "one side is broadcast"
        if any(value.dtype != total.dtype for value in values):
            return "the two sides have different types"
        for x, f in (sides, sides[::-1]):
            found = forms.dropout_at(f)
            if found and forms.readers(f) == [add]:
                return x, found[0], f, found[1]
        return sides[0], sides[1], None, 0.0

    def _emit(self, place: Node, x: Node, f: Node | None, weight, bias, norm: str, epsilon: float, p: float,
              keep_sum: bool) -> tuple[Node, int | None]:
        """The op in front of `place`; the site where it has dropout."""
        state, site = None, None
        if p:
            state, site = self._seed_and_step(), self.site
            self.site += 1
        with self.graph.inserting_before(place):
            node = self.graph.call_function(torch.ops.resid.add_norm.default,
                                            (x, f, None, weight, bias, state, norm, epsilon, p, 0, site or 0, 1.0, 1.0, keep_sum))
        return node, site

    def _result(self, chain: Node, place: int, old: Node) -> None:
        """Puts one result of the chain in the place of an old node, of which nothing is left."""
        with self.graph.inserting_after(chain):
            new = self.graph.call_function(operator.getitem, (chain, place))
        new.meta.update(old.meta)
        old.replace_all_uses_with(new, delete_user_cb=lambda user: not forms.is_statement(user))
        self._erase([old])

    def _erase(self, nodes: list[Node | None]) -> None:
        """Erases nodes that nothing reads any more, with what only states their type."""
        for node in nodes:
            if node is None or forms.readers(node):
                continue
            for user in list(node.users):
                self.graph.erase_node(user)
            self.graph.erase_node(node)

    def _replace_norm(self, norm: forms.Norm) -> None:
        what = f"{norm.kind} norm"
        reason = forms.refusal(norm.x, norm.rank)
        x = forms.value(norm.x)
        if reason is None and norm.rank > 1 and norm.weight is None:
            reason = "several dimensions are normalised without a weight"
        if reason is None and forms.value(norm.node).dtype != x.dtype:
            reason = f"the result has another type than what is normalised, {x.dtype}"
        if reason is not None:
            return self._leave(norm.node, what, reason)
        add = norm.x if forms.op(norm.x) == "add" and norm.rank == 1 else None
        branch = self._branch(add) if add is not None else "no add"
        parameters = [parameter for parameter in (norm.weight, norm.bias) if parameter is not None]
        if not isinstance(branch, str) and self._can_hoist(parameters, add):
            return self._fuse(norm, add, branch, what)
        chain, _ = self._emit(norm.node, norm.x, None, norm.weight, norm.bias, norm.kind, norm.epsilon, 0.0, False)
        reason = f"; its add is left: {branch}" if add is not None and isinstance(branch, str) else ""
        self.report.replaced.append(Entry(norm.node.name, what, f"resid.{norm.kind}_norm{reason}"))
        self._result(chain, 0, norm.node)
        self._erase(norm.inner)

    def _can_hoist(self, parameters: list[Node], add: Node) -> bool:
        """Whether the parameters are there where the add is, or can be read there."""
        for parameter in parameters:
            if parameter.op == "get_attr" and self.places[parameter] > self.places[add]:
                add.prepend(parameter)
                self.places[parameter] = self.places[add]
        return all(self.places.get(parameter, len(self.places)) <= self.places[add] for parameter in parameters)

    def _fuse(self, norm: forms.Norm, add: Node, branch: tuple[Node, Node, Node | None, float], what: str) -> None:
        x, f, dropout, p = branch
        chain, site = self._emit(add, x, f, norm.weight, norm.bias, norm.kind, norm.epsilon, p, True)
        what = ("dropout, " if dropout is not None else "") + f"add, {what}"
        self.report.replaced.append(Entry(norm.node.name, what, "one resid.add_norm", site))
        self._result(chain, 0, norm.node)
        self._erase(norm.inner)
        self._result(chain, 1, add)
        self._erase([dropout])

    def _replace_add(self, add: Node) -> None:
        branch = self._branch(add)
        if isinstance(branch, str):
            return None if branch == NO_ARRAYS else self._leave(add, "add", branch)
        x, f, dropout, p = branch
        if dropout is None:
            return self._leave(add, "add", "neither dropout in front of it nor a norm after it")
        reason = forms.refusal(x)
        if reason is not None:
            return self._leave(add, "dropout, add", reason)
        chain, site = self._emit(add, x, f, None, None, "none", 0.0, p, True)
        self.report.replaced.append(Entry(add.name, "dropout, add", "one resid.dropout_add", site))
        self._result(chain, 1, add)
        self._erase([dropout])

    def _replace_dropout(self, node: Node) -> None:
        if forms.argument(node, 3, "inplace", False):
            return self._leave(node, "dropout", "it works in place")
        x = forms.argument(node, 0, "input")
        if not forms.is_training(node):
            node.replace_all_uses_with(x)
            self.report.replaced.append(Entry(node.name, "dropout", "nothing: it drops nothing"))
            return self._erase([node])
        reason = forms.refusal(x)
        if reason is not None:
            return self._leave(node, "dropout", reason)
        state, site = self._seed_and_step(), self.site
        self.site += 1
        with self.graph.inserting_before(node):
            new = self.graph.call_function(torch.ops.resid.dropout.default,
                                           (x, state, float(forms.argument(node, 1, "p", 0.5)), 0, site))
        new.meta.update(node.meta)
        self.report.replaced.append(Entry(node.name, "dropout", "resid.dropout", site))
        node.replace_all_uses_with(new, delete_user_cb=lambda user: not forms.is_statement(user))
        self._erase([node])

    def _quantize_linear(self, node: Node, scheme: str) -> None:
        x, weight, bias = (forms.argument(node, place, name) for place, name in enumerate(("input", "weight", "bias")))
        what = "linear layer"
        reason = forms.refusal(x) or self._refuse_weight(node, x, weight)
        if reason is not None:
            return self._leave(node, what, reason)
        value = operator.attrgetter(weight.target)(self.module)
        name = f"resid_integers_{len(self.report.replaced)}"
        for part, tensor in zip(("panels", "scale"), ops.prepare_linear(value, scheme)):
            self.module.register_buffer(f"{name}_{part}", tensor)
        with self.graph.inserting_before(node):
            panels, scale = (self.graph.get_attr(f"{name}_{part}") for part in ("panels", "scale"))
            new = self.graph.call_function(torch.ops.resid.quantized_linear.default, (x, panels, scale, bias, value.dtype, scheme))
        new.meta.update(node.meta)
        self.report.replaced.append(Entry(node.name, what, f"resid.linear, {scheme}"))
        node.replace_all_uses_with(new, delete_user_cb=lambda user: not forms.is_statement(user))
        self._erase([node])
        self._forget([weight])

    def _refuse_weight(self, node: Node, x: Node, weight: Node) -> str | None:
        """Why a layer cannot have integers, or None."""
        if weight.op != "get_attr":
            return "its weight is no parameter of the module"
        if any(user.op == "output" for user in node.users):
            return "it is a head: the model returns what it computes"
        if any(forms.op(user) != "linear" or forms.argument(user, 1, "weight") is not weight for user in weight.users):
            return "something else reads its weight"
        if forms.value(x).device.type != "cpu" or forms.value(x).dtype == torch.float64 or forms.value(weight).dtype == torch.float64:
            return "integers are for f16, bf16 and f32 on a CPU"
        return None

    def _forget(self, weights: list[Node]) -> None:
        """Drops parameters that nothing reads any more, so that their floats take no memory."""
        for weight in weights:
            if weight.users or any(node.op == "get_attr" and node.target == weight.target and node is not weight for node in self.graph.nodes):
                continue
            self.graph.erase_node(weight)
            owner, _, name = weight.target.rpartition(".")
            delattr(self.module.get_submodule(owner), name)

    def _name_what_stays(self) -> None:
        for node in self.graph.nodes:
            name = forms.op(node)
            if name == "scaled_dot_product_attention" and forms.argument(node, 4, "dropout_p", 0.0):
                self._leave(node, "dropout of attention", "attention is not replaced")
            elif name in ("multi_head_attention_forward", "_transformer_encoder_layer_fwd"):
                self._leave(node, name, "a whole sub-layer as one op; export it in training mode to see inside")
            elif name in ("native_layer_norm", "native_dropout", "batch_norm", "group_norm", "add_", "dropout_"):
                self._leave(node, name, "no rule for this form")
