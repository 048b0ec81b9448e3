# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Rotary positions: the angle of each pair of a head as config.json asks for it, and tables of cosines and sines.

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ..importer.emit_elementwise import cast
from ..importer.errors import ModelError
from ..importer.program import Program, Tensor
from ..importer.sizes import Dim
from .config import Config, spell

_KINDS = {kind: kind for kind in ("default", "linear", "llama3", "yarn")}


@dataclasses.dataclass(frozen=True)
class Rotation:
    """`rates`, in double, are the angles of pairs from one position to the next; cosines and sines are multiplied by `factor`."""

    rates: np.ndarray
    factor: float = 1.0


def rotation(config: Config, size: int, base: float = 10000.0) -> Rotation:
    """Of heads of a size, with one rule for all layers. `base` is that of files that have none."""
    config.expect("partial_rotary_factor", 1, None)
    config.expect("rope_interleaved", False, None)
    return _rotation(config, _one_rule(config), size, base, (config,))


def layered_rotation(config: Config, size: int, layers: str, base: float, old: str, scaled: bool) -> Rotation:
    """Of the layers of a type, such as "sliding_attention". Older files have the base in the field `old`; their `rope_scaling` is
    for these layers if `scaled`."""
    whole = config.part("rope_parameters")
    rule = whole.part(layers) if whole else None
    if whole:
        for other in ("full_attention", "sliding_attention"):
            whole.part(other)
        whole.finish()
    scaling = config.part("rope_scaling")
    if rule is None:
        rule = scaling if scaled and scaling and scaling.fields else Config({}, config.name, f"rope_parameters.{layers}.")
    elif scaling and scaling.fields:
        raise config.wrong("rope_scaling", "none beside 'rope_parameters'")
    beside = Config({"rope_theta": config.get(old)}, config.name)
    if rule.get("rope_theta") is not None and beside.get("rope_theta") is not None:
        raise config.wrong(old, "none beside 'rope_parameters'")
    return _rotation(config, rule, size, base, (beside,))


def _one_rule(config: Config) -> Config:
    """The object that says how positions turn: `rope_parameters` of new files, `rope_scaling` of old ones."""
    new, old = config.part("rope_parameters"), config.part("rope_scaling")
    if new and old and new.fields and old.fields and new.fields != old.fields:
        raise config.wrong("rope_scaling", f"that of 'rope_parameters', {spell(new.fields)}")
    found = [part for part in (new, old) if part and part.fields]
    for part in found:
        part.expect("partial_rotary_factor", 1, None)
    return found[0] if found else Config({}, config.name, "rope_parameters.")


def _base(rule: Config, beside: "tuple[Config, ...]", default: float) -> float:
    """`rope_theta` of old files stands beside the object; of new ones, in it."""
    parts = (rule, *beside)
    given = {part.number("rope_theta", above=0) for part in parts if part.get("rope_theta") is not None}
    if len(given) > 1:
        raise beside[0].wrong("rope_theta", f"that of '{rule.path[:-1]}', {rule.number('rope_theta'):g}")
    return given.pop() if given else default


def _kind(rule: Config) -> str:
    """The rule by which rates are scaled, under its new name or its old one."""
    given = {rule.choice(field, _KINDS) for field in ("rope_type", "type") if rule.get(field) is not None}
    if len(given) > 1:
        raise rule.wrong("type", f"that of 'rope_type', {spell(rule.get('rope_type'))}")
    return given.pop() if given else "default"


def _rotation(config: Config, rule: Config, size: int, default: float, beside: "tuple[Config, ...]") -> Rotation:
    if size % 2:
        raise ModelError(f"'{config.name}': field 'head_dim': expected an even number, found {size}")
    base = _base(rule, beside, default)
    rates = base ** (-np.arange(0, size, 2, dtype=np.float64) / size)
    kind, multiplied = _kind(rule), 1.0
    # The length that was trained with may be told for all kinds.
    original = rule.size("original_max_position_embeddings", config.size("max_position_embeddings", 2048))
    if kind != "default":
        factor = rule.number("factor", above=0)
    if kind == "linear":
        rates = rates / factor
    elif kind == "llama3":
        low = rule.number("low_freq_factor", above=0)
        high = rule.number("high_freq_factor", above=low)
        # Long waves are stretched, short ones stay, and between them both are mixed.
        turns = original * rates / (2 * math.pi)
        mix = np.clip((turns - low) / (high - low), 0.0, 1.0)
        rates = (1 - mix) * rates / factor + mix * rates
    elif kind == "yarn":
        rates, multiplied = _yarn(rule, rates, base, factor, original)
    rule.finish()
    return Rotation(rates, multiplied)


def _yarn(rule: Config, rates: np.ndarray, base: float, factor: float, original: int) -> "tuple[np.ndarray, float]":
    """YaRN (Peng et al., 2023): pairs that turn often enough in `original` positions keep their rates, slow ones are stretched, and
    between two pairs both are mixed."""
    size = 2 * len(rates)
    turns = [rule.number(field, default, above=0) for field, default in (("beta_fast", 32.0), ("beta_slow", 1.0))]
    low, high = (size * math.log(original / (turn * 2 * math.pi)) / (2 * math.log(base)) for turn in turns)
    if rule.flag("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, size - 1)
    stretched = np.clip((np.arange(len(rates)) - low) / (high - low or 0.001), 0.0, 1.0)
    rates = rates / factor * stretched + rates * (1 - stretched)

    def grown(by: float) -> float:
        return 1.0 if factor <= 1 else 0.1 * by * math.log(factor) + 1.0

    scales = [rule.number(field, 0.0) if rule.get(field) is not None else 0.0 for field in ("mscale", "mscale_all_dim")]
    usual = grown(scales[0]) / grown(scales[1]) if all(scales) else grown(1.0)
    given = rule.get("attention_factor")
    return rates, usual if given is None else rule.number("attention_factor", above=0)


def places_in_pack(p: Program, segments: Tensor) -> Tensor:
    """How many positions [1, positions] of the same sequence come before each: i64 [positions]."""
    positions = segments.dims[1]
    end, start = p.index(positions), p.empty("i64", [positions])
    none, first, one, before = p.index(0), p.scalar(0, "i32"), p.scalar(1, "i64"), p.scalar(-1, "i64")
    # The tensor so far, and the number and the place of the position before.
    found, place, number, held, count = (p.fresh() for _ in range(5))
    p.line(f"{found}:3 = scf.for {place} = {none} to {end} step {p.index(1)} iter_args({held} = {start.ssa}, {number} = {first}, {count} =")
    p.line(f"    {before}) -> ({start.type}, i32, i64) {{")
    own = p.inner(f"tensor.extract {segments.ssa}[{none}, {place}] : {segments.type}")
    is_first = p.inner(f"arith.cmpi eq, {place}, {none} : index")
    differs = p.inner(f"arith.cmpi ne, {own}, {number} : i32")
    is_new = p.inner(f"arith.ori {is_first}, {differs} : i1")
    more = p.inner(f"arith.addi {count}, {one} : i64")
    here = p.inner(f"arith.select {is_new}, {p.scalar(0, 'i64')}, {more} : i64")
    after = p.inner(f"tensor.insert {here} into {held}[{place}] : {start.type}")
    p.line(f"  scf.yield {after}, {own}, {here} : {start.type}, i32, i64")
    p.line("}")
    return Tensor("i64", (positions,), f"{found}#0")


def tables(
    p: Program,
    own: Rotation,
    element: str,
    positions: Dim,
    past: "str | None" = None,
    places: "Tensor | None" = None,
) -> tuple[Tensor, Tensor]:
    """Cosines and sines of positions from `past` (an i64) on, or of `places` (i64), of a type. Angles are products of f32, as in the
    reference code."""
    rates = p.value(Tensor("f32", (len(own.rates),), known=own.rates.astype(np.float32)))

    def angle(rate: str, *numbers: str) -> str:
        if places is not None:
            number = numbers[0]
        else:
            number = p.inner(f"arith.index_cast {p.inner('linalg.index 0 : index')} : index to i64")
        if past is not None:
            number = p.inner(f"arith.addi {number}, {past} : i64")
        return p.inner(f"arith.mulf {p.inner(f'arith.sitofp {number} : i64 to f32')}, {rate} : f32")

    inputs = [(rates, [1]), *([] if places is None else [(places, [0])])]
    angles = p.generic(inputs, "f32", (positions, rates.dims[0]), angle)
    made = [p.op(f"math.{name} {angles.ssa} : {angles.type}", "f32", angles.dims) for name in ("cos", "sin")]
    if own.factor != 1.0:
        factor = p.scalar(float(np.float32(own.factor)), "f32")
        made = [
            p.generic([(table, [0, 1])], "f32", table.dims, lambda e, _: p.inner(f"arith.mulf {e}, {factor} : f32"))
            for table in made
        ]
    cos, sin = (cast(p, table, element) for table in made)
    return cos, sin
