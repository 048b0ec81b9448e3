# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A decoder in the shape of LLaMA on several residual streams, with the connections of published models.

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..importer.emit_streams import read, repeat
from ..importer.emit_streams import write as write_streams
from ..importer.errors import FlagError
from ..importer.program import Tensor
from .config import Config
from .connections import KINDS, VERSIONS, Kind, connect, gate, most_streams
from .decoder import Stream
from .layers import Model, banner
from .llama import Llama

# Where the parameters of a sub-layer's connection stand, as in the classes of transformers.
_SITES = {"attn": "attn_hc", "mlp": "ffn_hc"}
_GATED_SITES = {"attn": "attn_hyper_connection", "mlp": "mlp_hyper_connection"}


class _Streams(Stream):
    """n streams: at first the embedding in each, sub-layers as blocks, and a read as head before the final norm."""

    def __init__(self, m: Model, kind: Kind, head: Kind) -> None:
        super().__init__(m, kind.width)
        self.kind, self.head = kind, head

    def parameters(self, kind: Kind, site: str) -> dict[str, Tensor]:
        m, element = self.model, kind.element(self.model.element)
        return {
            name: m.program.weight(f"{m.prefix}{site}.{name}", element, shape)
            for name, shape in kind.parameters().items()
        }

    def begin(self, x: Tensor) -> Tensor:
        return repeat(self.model.program, x, self.kind.streams)

    def sublayer(self, x: Tensor, norms: Sequence[str], site: str, branch: Callable[[Tensor], Tensor]) -> Tensor:
        layer, part = site.rsplit(".", 1)
        own = connect(self.model.program, self.kind, x, self.parameters(self.kind, f"{layer}.{_SITES[part]}"))
        return self.model.sublayer(x, norms, self.width, branch, own)

    def end(self, x: Tensor) -> Tensor:
        p = self.model.program
        own = connect(p, self.head, x, self.parameters(self.head, "hc_head"))
        return super().end(read(p, x, own.read))


class _Gated(_Streams):
    """The read is of normalised streams, so no norm stands after it, and the clause of a block cannot say it."""

    def sublayer(self, x: Tensor, norms: Sequence[str], site: str, branch: Callable[[Tensor], Tensor]) -> Tensor:
        p, (layer, part) = self.model.program, site.rsplit(".", 1)
        row, weights = gate(p, self.kind, x, self.parameters(self.kind, f"{layer}.{_GATED_SITES[part]}"))
        return write_streams(p, x, branch(row), weights)

    def end(self, x: Tensor) -> Tensor:
        return gate(self.model.program, self.head, x, self.parameters(self.head, "hyper_connection_mixer"))[0]


class _Hyper(Llama):
    title = "Hyper"


def _kind(config: Config, norm_epsilon: float) -> Kind:
    """The connection that config.json asks for, with the names that the classes of transformers give its numbers."""
    name = config.choice("connection", {kind: kind for kind in KINDS})
    count = "hc_count" if name == "gated" else "hc_mult"
    kind = Kind(name, config.size(count, 4), config.size("hidden_size"), norm_epsilon=norm_epsilon)
    rest: dict[str, object] = {}
    if name in ("mhc", "ihc"):
        rest["epsilon"] = config.epsilon("hc_eps", 1e-6)
    if name == "mhc":
        rest["version"] = config.choice("hc_version", {version: version for version in VERSIONS}, VERSIONS[0])
        rest["iterations"] = iterations = config.size("hc_sinkhorn_iters", 20)
        if iterations > 1000:
            raise config.wrong("hc_sinkhorn_iters", "at most 1000")
    if name == "ihc":
        rest["magnitude"] = config.number("hc_magnitude", 2.0, above=0)
    if name == "gated":
        rest["rank"] = config.size("hc_lowrank", 320)
    if kind.streams > most_streams(name):
        raise config.wrong(count, f"at most {most_streams(name)} streams for '{name}'")
    return Kind(**{**vars(kind), **rest})


def write(config: Config, placement: str | None, output: str, prefix: str) -> str:
    """Ids to logits, or to the last layer where `output` is "hidden"."""
    if placement in ("post", "post_shifted"):
        raise FlagError(f"placement '{placement}' normalises the streams themselves, which several streams do not have")
    kind = _kind(config, config.epsilon("rms_norm_eps", Llama.epsilon))
    if kind.name == "gated" and placement is not None:
        raise FlagError(f"placement '{placement}': the norms of the connection 'gated' stand in its reads")
    own, head = _Hyper(config, placement, prefix), Kind(**{**vars(kind), "head": True})
    results = own.run((_Gated if kind.name == "gated" else _Streams)(own.model, kind, head), output)
    parts = [f"{kind.streams} streams connected by {kind.name}", *own.describe()]
    return own.program.text(results, banner(own.title, parts, own.model.placement))
