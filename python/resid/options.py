# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The options of compile() as flags of residc, which docs/tools.md describes.

from __future__ import annotations

import dataclasses
from typing import Mapping, Sequence


@dataclasses.dataclass(frozen=True)
class Options:
    """What a program is compiled to. None leaves the choice to the compiler. The names are those of residc's flags."""

    placement: str | None = None
    params: str | None = None
    final_norm: str | None = None
    streams: int | None = None
    connection: str | None = None
    mode: str = "training"
    cpu: str = "native"
    target: str = "cpu"
    chip: str | Sequence[str] | None = None
    grad: str | None = None
    wrt: Sequence[int] | None = None
    grad_mode: str | None = None
    save: str | None = None
    raising: str | None = None
    schedule: str | Mapping[str, object] | None = None
    prefix: str | None = None
    relax_rounding: str | None = None
    pack_weights: bool = False

    def flags(self) -> list[str]:
        """The flags, in a fixed order: equal options have equal flags."""
        flags = [f"--target={self.target}"]
        if self.target == "cpu" or self.cpu != "native":
            flags.append(f"--mcpu={self.cpu}")
        values = {"placement": self.placement, "params": self.params, "final-norm": self.final_norm,
                  "streams": self.streams, "connection": self.connection, "chip": _join(self.chip),
                  "grad": self.grad, "wrt": _join(self.wrt), "grad-mode": self.grad_mode, "save": self.save, "raise": self.raising, "schedule": _join(self.schedule), "prefix": self.prefix,
                  "relax-rounding": self.relax_rounding}
        flags += [f"--{name}={value}" for name, value in values.items() if value is not None]
        if self.pack_weights:
            flags.append("--pack-weights")
        if self.mode != "training":
            flags.append(f"--mode={self.mode}")
        return flags


def _join(value: str | Sequence[object] | Mapping[str, object] | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ",".join(f"{key}={one}" for key, one in sorted(value.items()))
    return ",".join(str(one) for one in value)
