# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checkpoints of compressed-tensors: which layers config.json says to be stored as integers, and how a safetensors file has them.

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import numpy as np

from ..importer.errors import FileError, ModelError, Unsupported
from ..importer.integers import Integers
from ..importer.weights import read
from .config import Config

# What changes nothing in the numbers: where they come from, and how they were found.
_HARMLESS = ("quantization_status", "global_compression_ratio", "version", "observer", "observer_kwargs", "scale_dtype", "zp_dtype")
_PARTS = ("weight", "weight_packed", "weight_shape", "weight_scale", "weight_zero_point")


@dataclasses.dataclass(frozen=True)
class _Group:
    targets: tuple[str, ...]
    is_packed: bool
    bits: int
    symmetric: bool
    group: int | None  # None: one scale for each output, or for all
    of_rows: bool

    def has(self, module: str) -> bool:
        return any(target == "Linear" or _is_match(module, target) for target in self.targets)


def _is_match(module: str, target: str) -> bool:
    return re.match(target[3:], module) is not None if target.startswith("re:") else target == module


def read_weights(path: "str | Path", config: Config) -> "dict[str, np.ndarray | Integers]":
    """The tensors of a file, with the integers that `quantization_config` says. Raises Unsupported for other formats and schemes than
    int-quantized and pack-quantized integers of 8 and 4 bits, ModelError where file and config.json contradict each other."""
    part = config.part("quantization_config")
    if part is None:
        raise ModelError(f"'{config.name}': expected a field 'quantization_config' for '{path}'")
    part.expect("quant_method", "compressed-tensors")
    part.expect("kv_cache_scheme", None)
    part.expect("sparsity_config", None, {})
    part.expect("transform_config", None, {})
    part.expect("moe_sparsity_config", None)
    ignored, groups = part.get("ignore", None) or [], part.part("config_groups")
    if groups is None or not isinstance(ignored, list):
        raise part.wrong("config_groups", "an object, and a list 'ignore'")
    schemes = [_read_group(groups.part(name), part.get("format")) for name in groups.fields]
    groups.finish()
    part.finish(_HARMLESS)

    tensors: "dict[str, np.ndarray | Integers]" = dict(_read(Path(path)))
    for module in sorted({name.rpartition(".")[0] for name in tensors}):
        own = {suffix: tensors[f"{module}.{suffix}"] for suffix in _PARTS if f"{module}.{suffix}" in tensors}
        scheme = next((scheme for scheme in schemes if scheme.has(module)), None)
        is_linear = len(own.get("weight", np.empty(())).shape) == 2 and not module.endswith("embed_tokens")
        is_linear |= "weight_packed" in own or "weight_scale" in own
        if not is_linear or scheme is None or any(target == "Linear" or _is_match(module, target) for target in ignored):
            continue
        for suffix in own:
            del tensors[f"{module}.{suffix}"]
        tensors[f"{module}.weight"] = _integers(f"'{path}': layer '{module}'", scheme, own)
    return tensors


def _read(path: Path) -> "dict[str, np.ndarray]":
    """The tensors of a file, or of those that an index says, in its folder."""
    if path.suffix != ".json":
        return read(path)
    try:
        places = json.loads(path.read_text(encoding="utf-8"))["weight_map"]
        files = sorted(set(places.values()))
        strange = [file for file in files if Path(file).name != file]
    except OSError as error:
        raise FileError(f"'{path}' cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileError(f"'{path}' is no index of safetensors files: {error!r}") from error
    if strange:
        raise FileError(f"'{path}': expected files in the same folder, found '{strange[0]}'")
    found = {file: read(path.parent / file) for file in files}
    for name, file in places.items():
        if name not in found[file]:
            raise FileError(f"'{path}': tensor '{name}' is not in '{file}'")
    return {name: found[file][name] for name, file in places.items()}


def _read_group(group: "Config | None", whole: object) -> _Group:
    assert group is not None
    kind = group.get("format") or whole
    weights, rows, targets = group.part("weights"), group.part("input_activations"), group.get("targets")
    if weights is None or not isinstance(targets, list) or not all(isinstance(target, str) for target in targets):
        raise group.wrong("weights", "an object, and a list 'targets' of texts")
    if kind not in ("int-quantized", "pack-quantized"):
        raise Unsupported(f"'{group.name}': a format {kind!r} of compressed-tensors: expected int-quantized or pack-quantized")
    group.expect("output_activations", None)
    weights.expect("type", "int")
    weights.expect("num_bits", 8, 4)
    weights.expect("dynamic", False)
    weights.expect("block_structure", None)
    weights.expect("actorder", None, "weight", "static")
    weights.expect("strategy", "tensor", "channel", "group", None)
    strategy, size = weights.get("strategy", None), weights.get("group_size", None)
    if strategy == "group" or (strategy is None and size not in (None, -1)):
        size = weights.size("group_size")
    else:
        size = None
    bits, symmetric = weights.size("num_bits", 8), weights.flag("symmetric", True)
    if rows is not None:
        for field, *values in (("num_bits", 8), ("type", "int"), ("symmetric", True), ("strategy", "token"), ("dynamic", True)):
            if rows.get(field, None) not in values:
                raise rows.wrong(field, f"{values[0]} for rows that are quantised", Unsupported)
        for field in ("group_size", "block_structure", "actorder", "scale_dtype"):
            rows.expect(field, None)
        rows.finish(_HARMLESS)
        if bits != 8 or not symmetric or size:
            raise weights.wrong("num_bits", "8, without zero points or groups, beside rows that are quantised", Unsupported)
    weights.finish(_HARMLESS)
    group.finish()
    return _Group(tuple(targets), kind == "pack-quantized", bits, symmetric, size, rows is not None)


def _integers(where: str, scheme: _Group, own: "dict[str, np.ndarray]") -> Integers:
    wanted = {"weight_packed", "weight_shape", "weight_scale"} if scheme.is_packed else {"weight", "weight_scale"}
    wanted |= set() if scheme.symmetric else {"weight_zero_point"}
    if set(own) != wanted:
        raise ModelError(f"{where}: expected {', '.join(sorted(wanted))}, found {', '.join(sorted(own))}")
    scale = own["weight_scale"]
    if scheme.is_packed:
        shape = own["weight_shape"].reshape(-1).tolist()
        if len(shape) != 2 or min(shape) < 1:
            raise ModelError(f"{where}: expected two sizes as weight_shape, found {shape}")
        q = _unpacked(where, own["weight_packed"], scheme.bits, shape[0], shape[1])
    else:
        q = own["weight"]
    rows, columns = q.shape
    groups = columns // scheme.group if scheme.group else 1
    if scheme.of_rows and columns > 131071:
        raise Unsupported(f"{where}: {columns} input features: expected at most 131,071 beside rows that are quantised")
    if columns % groups or ((columns // groups) % 2 and not scheme.of_rows) or (scheme.group and columns % scheme.group):
        raise Unsupported(f"{where}: groups of {scheme.group or columns} of {columns} input features: expected even ones that divide them")
    if q.dtype != np.int8 or scale.size not in ((rows * groups,) if scheme.group else (1, rows)) or scale.dtype == np.float64:
        raise ModelError(f"{where}: a weight of {q.dtype} {list(q.shape)} with scales of {scale.dtype} {list(scale.shape)}")
    zero = own.get("weight_zero_point")
    if zero is not None and scheme.is_packed and zero.dtype == np.int32:
        zero = _unpacked(where, np.ascontiguousarray(zero.T), scheme.bits, groups, rows).T
    if zero is not None and (zero.dtype != np.int8 or zero.size != scale.size):
        raise ModelError(f"{where}: zero points of {zero.dtype} {list(zero.shape)} for scales {list(scale.shape)}")
    if scheme.bits == 4 and not -8 <= q.min() <= q.max() <= 7:
        raise ModelError(f"{where}: integers of 4 bits from {q.min()} to {q.max()}")

    def laid(array: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(np.broadcast_to(array.reshape(-1, groups), (rows, groups)))

    return Integers(np.ascontiguousarray(q), scheme.bits, laid(scale), None if zero is None else laid(zero), None, scheme.of_rows)


def _unpacked(where: str, packed: np.ndarray, bits: int, rows: int, columns: int) -> np.ndarray:
    """Integers with 8 or 128 more, from the lowest bits of 32 on, as i8."""
    if packed.dtype != np.int32 or packed.shape != (rows, -(-columns * bits // 32)):
        raise ModelError(f"{where}: {packed.dtype} {list(packed.shape)} for {rows} times {columns} integers of {bits} bits")
    found = np.ascontiguousarray(packed).view(np.uint8)
    if bits == 4:
        found = np.stack([found & 15, found >> 4], -1).reshape(rows, -1)
    return (found[:, :columns].astype(np.int16) - (1 << (bits - 1))).astype(np.int8)
