# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_models.py [--classes=NAME,…] [--jobs=N] [--page=FILE]: every base class of transformers whose main input is text or an image,
# with random weights and its config made small by one table of fields, exported by torch.export and imported. A class works where
# the whole graph is compiled and its results are within 1e-5 of the largest number of PyTorch's own. Each runs in a process of its
# own. Exit status 1 where a class is wrong, or ends the importer or the compiler.

from __future__ import annotations

import argparse
import multiprocessing
import multiprocessing.pool
import os
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

BUILD_SECONDS, ALL_SECONDS, BOUND = 20, 150, 1e-5
HIDDEN, LAYERS, HEADS, WORDS, WIDE, IMAGE, PATCH = 64, 2, 4, 128, 128, 32, 8
# What a field is set to where a config has it and it is a whole number there, whatever the class is.
FIELDS = {
    **dict.fromkeys(
        ("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "hidden_dim", "embedding_size", "emb_dim", "encoder_embed_dim",
         "decoder_embed_dim", "encoder_hidden_size", "decoder_hidden_size", "projection_dim", "word_embed_proj_dim", "lstm_dim"), HIDDEN),
    **dict.fromkeys(
        ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "num_encoder_layers",
         "num_decoder_layers", "encoder_num_hidden_layers", "decoder_num_hidden_layers", "num_hidden_groups"), LAYERS),
    **dict.fromkeys(
        ("num_attention_heads", "n_head", "n_heads", "num_heads", "num_key_value_heads", "encoder_attention_heads",
         "decoder_attention_heads", "encoder_num_attention_heads", "decoder_num_attention_heads", "multi_query_group_num"), HEADS),
    **dict.fromkeys(("head_dim", "d_kv", "kv_channels", "attention_head_size"), HIDDEN // HEADS),
    **dict.fromkeys(
        ("intermediate_size", "ffn_dim", "d_ff", "d_inner", "n_inner", "encoder_ffn_dim", "decoder_ffn_dim", "ffn_hidden_size",
         "moe_intermediate_size", "shared_expert_intermediate_size", "dff"), WIDE),
    **dict.fromkeys(("vocab_size", "n_words"), WORDS),
    **dict.fromkeys(
        ("num_experts", "num_local_experts", "n_routed_experts", "num_experts_per_tok", "moe_num_experts", "n_shared_experts",
         "moe_topk", "n_group", "topk_group", "num_experts_per_token"), 1),
    "image_size": IMAGE,
    "patch_size": PATCH,
}  # fmt: skip
TOKENS = ("pad_token_id", "bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id", "mask_token_id", "decoder_start_token_id")
LISTS = ("layer_types", "mlp_layer_types")  # one entry for each layer


def shrink(config: Any) -> None:
    """Sets the fields of a config and of those in it."""
    for name, value in vars(config).copy().items():
        if hasattr(value, "to_dict"):
            shrink(value)
        elif name in FIELDS and isinstance(value, int) and not isinstance(value, bool):
            setattr(config, name, FIELDS[name])
        elif name in TOKENS and isinstance(value, int) and value >= WORDS:
            setattr(config, name, 1)
        elif name in LISTS and isinstance(value, list):
            setattr(config, name, value[:LAYERS])
        elif name == "use_cache":
            config.use_cache = False


def base_classes() -> dict[str, Any]:
    """Those of text and images, by name."""
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    found = {}
    for kind, names in MODEL_MAPPING_NAMES.items():
        for name in names if isinstance(names, (list, tuple)) else (names,):
            try:
                made = getattr(transformers, name)
                if made.main_input_name in ("input_ids", "pixel_values"):
                    found[name] = (made, CONFIG_MAPPING[kind])
            except (AttributeError, ImportError, KeyError):
                continue  # needs a package that is not here
    return dict(sorted(found.items()))


def build(name: str) -> "tuple[Any, dict[str, Any]]":
    """A model with random weights, and what it is called with."""
    import torch

    kind, config_class = base_classes_of_process[name]
    config = config_class()
    shrink(config)
    torch.manual_seed(0)
    model = kind(config).eval()
    given: dict[str, Any] = {}
    if kind.main_input_name == "pixel_values":
        size = getattr(config, "image_size", IMAGE)
        height, width = size if isinstance(size, (list, tuple)) else (size, size)
        given["pixel_values"] = torch.linspace(-1, 1, 2 * 3 * height * width).reshape(2, 3, height, width)
    else:
        given["input_ids"] = torch.arange(3, 31).reshape(2, 14)
        if getattr(config, "is_encoder_decoder", False):
            given["decoder_input_ids"] = torch.arange(40, 54).reshape(2, 7)
    return model, given


base_classes_of_process: dict[str, Any] = {}


def tensors_of(output: Any) -> list[Any]:
    import torch
    from torch.utils import _pytree

    return [leaf for leaf in _pytree.tree_leaves(output) if isinstance(leaf, torch.Tensor)]


def distance(results: "list[Any]", right: "list[Any]") -> float:
    """The largest difference, in units of the largest number of a result."""
    import numpy as np

    worst = 0.0
    for found, wanted in zip(results, right):
        found, wanted = np.asarray(found, np.float64), np.asarray(wanted, np.float64)
        if found.shape != wanted.shape or not np.array_equal(np.isfinite(found), np.isfinite(wanted)):
            return float("inf")
        scale = max(1.0, float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)))
        worst = max(worst, float(np.nanmax(np.abs(found - wanted), initial=0.0)) / scale)
    return worst


def judge(name: str, report: Any) -> None:
    """Sends (outcome, what is to be said). The outcome is sent again at each step, for the parent to see what ended it."""
    import numpy as np
    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    report(("not built", f"not within {BUILD_SECONDS} s"))
    signal.alarm(BUILD_SECONDS)
    try:
        model, given = build(name)
        with torch.no_grad():
            right = tensors_of(model(**given))
    except Exception as error:  # noqa: BLE001
        return report(("not built", f"{type(error).__name__}: {error}"))
    signal.alarm(0)
    report(("not exported", f"not within {ALL_SECONDS} s"))
    try:
        with torch.no_grad():
            exported = torch.export.export(model, (), given)
            own = distance([result.numpy() for result in tensors_of(exported.module()(**given))], [wanted.numpy() for wanted in right])
        if own > BOUND:
            return report(("not exported", f"PyTorch's own exported program is off by {own:.1e}"))
    except Exception as error:  # noqa: BLE001
        return report(("not exported", f"{type(error).__name__}: {error}"))
    import resid
    from resid.importer import Unsupported, from_exported

    report(("crash", f"ended, or not within {ALL_SECONDS} s"))
    try:
        imported = from_exported(exported)
    except Unsupported as error:
        return report(("refused", "; ".join(error.reasons)))
    except Exception as error:  # noqa: BLE001
        return report(("crash", f"the importer: {type(error).__name__}: {error} ({traceback.format_exc().splitlines()[-3].strip()})"))
    try:
        function = resid.compile(imported.text, quiet=True, use_cache=False)[imported.function]
        given_tensors = [value for value in given.values() if isinstance(value, torch.Tensor)]
        results = function(*given_tensors, *imported.weights.values())
    except resid.UnavailableError as error:
        return report(("refused", f"the compiler: {error}"))
    except Exception as error:  # noqa: BLE001
        return report(("crash", f"the compiled program: {type(error).__name__}: {error}"))
    results = results if isinstance(results, (list, tuple)) else [results]
    if len(results) != len(right):
        return report(("wrong", f"{len(results)} results, expected {len(right)}"))
    worst = distance([np.asarray(result) for result in results], [wanted.numpy() for wanted in right])
    return report(("works" if worst <= BOUND else "wrong", f"{worst:.1e}"))


def run(name: str) -> "tuple[str, str, str]":
    """Judges a class in a process of its own."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        try:
            judge(name, sender.send)
        finally:
            sender.close()
            os._exit(0)
    sender.close()
    outcome, end = ("crash", "no word of it"), time.monotonic() + ALL_SECONDS
    while time.monotonic() < end:
        try:
            if receiver.poll(0.2):
                outcome = receiver.recv()
        except EOFError:
            break
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return name, *outcome


def shortened(text: str) -> str:
    """One line of a table: which operators, each once, or the first sentence."""
    operators = sorted(set(re.findall(r"aten\.\w+(?=[^ ]* '[^']*': no such operator is covered)", text)))
    line = ", ".join(f"`{op}`" for op in operators) or " ".join(text.split())[:160].replace("|", "/")
    return re.sub(r"<([^>]*)>", r"\1", line)


def write_page(path: Path, found: "list[tuple[str, str, str]]", versions: str) -> None:
    counts = Counter(outcome for _, outcome, _ in found)
    tried = len(found) - counts["not built"] - counts["not exported"]
    lines = [
        "# Which classes of transformers are imported",
        "",
        "**Measurements** · [all pages](../README.md)",
        "",
        f"{versions}. Every base class whose main input is text or an image, with random weights, and its config made small by one",
        "table of fields (hidden size 64, 2 layers, 4 heads, a vocabulary of 128, 1 expert), is exported by `torch.export` as it is,",
        "without a cache, and imported. Classes *work* where the whole graph is one program of resid whose results are within 10⁻⁵ of",
        "PyTorch's, of the largest number of a result. The others are refused by name. Written by:",
        "",
        "```sh",
        "make check-models",
        "```",
        "",
        f"Of {len(found)} classes, {counts['not built']} cannot be built or called with such a config within {BUILD_SECONDS} s, and "
        f"`torch.export` refuses {counts['not exported']} or changes their numbers. Of the other {tried}:",
        "",
        "| outcome | classes |",
        "|---|---|",
        *[f"| {outcome} | {counts[outcome]} |" for outcome in ("works", "refused", "wrong", "crash")],
        "",
    ]
    for outcome, title in (
        ("wrong", "Wrong"), ("crash", "Crashes"), ("refused", "Refused"), ("works", "Works"), ("not exported", "Not exported"),
        ("not built", "Not built"),
    ):  # fmt: skip
        own = [(name, text) for name, kind, text in found if kind == outcome]
        if not own:
            continue
        lines += [f"## {title}", ""]
        if outcome in ("works", "not built"):
            lines += [", ".join(f"`{name}`" for name, _ in own) + ".", ""]
        else:
            lines += ["| class | why |", "|---|---|", *[f"| `{name}` | {shortened(text)} |" for name, text in own], ""]
    path.write_text("\n".join(lines), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="Imports every class of text and images of transformers, and holds it to PyTorch's numbers.")
    parser.add_argument("--classes", default="", help="those alone, separated by commas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--page", type=Path, help="where to write the table")
    options = parser.parse_args()
    os.environ.setdefault("RESID_CACHE", tempfile.mkdtemp())
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    warnings.simplefilter("ignore")
    import resid  # noqa: F401
    import torch
    import transformers
    from resid.importer import from_exported  # noqa: F401

    base_classes_of_process.update(base_classes())
    names = options.classes.split(",") if options.classes else list(base_classes_of_process)
    found = []
    with multiprocessing.pool.ThreadPool(options.jobs) as pool:
        for name, outcome, text in pool.imap(run, names):
            found.append((name, outcome, text))
            print(f"[{len(found)}/{len(names)}] {name}: {outcome}: {shortened(text)}", flush=True)
    counts = Counter(outcome for _, outcome, _ in found)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.most_common()))
    if options.page:
        write_page(options.page, found, f"transformers {transformers.__version__}, PyTorch {torch.__version__.split('+')[0]}")
    return 1 if counts["wrong"] or counts["crash"] else 0


if __name__ == "__main__":
    sys.exit(main())
