# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checkpoints of compressed-tensors, which the package of that name compresses: weights against what it decompresses, bit by bit, and
# models against transformers with these weights.

from __future__ import annotations

import json
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch to make weights")
pytest.importorskip("compressed_tensors", reason="needs compressed-tensors to compress weights and to compare with")
transformers = pytest.importorskip("transformers", reason="needs transformers to compare with")

from compressed_tensors.compressors import BaseCompressor  # noqa: E402
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme  # noqa: E402
from compressed_tensors.quantization.lifecycle.forward import quantize  # noqa: E402
from compressed_tensors.quantization.utils import compute_dynamic_scales_and_zp  # noqa: E402
from import_support import compile_together  # noqa: E402
from resid.cli import main  # noqa: E402
from resid.importer import FileError, Imported, ModelError, Unsupported  # noqa: E402
from resid.importer.emit_quantised import bytes_of_rows  # noqa: E402
from resid.importer.integers import Integers  # noqa: E402
from resid.importer.program import Program  # noqa: E402
from resid.importer.weights import read as read_safetensors  # noqa: E402
from resid.models import Config, compressed, write_quantised  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
    "num_hidden_layers": 2, "intermediate_size": 96, "vocab_size": 60, "rms_norm_eps": 1e-5, "max_position_embeddings": 64,
}  # fmt: skip
ROWS = {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "token", "dynamic": True}
SCHEMES = {
    "pack-w4-group": ("pack-quantized", {"num_bits": 4, "strategy": "group", "group_size": 32}),
    "pack-w4-group-zeros": ("pack-quantized", {"num_bits": 4, "strategy": "group", "group_size": 16, "symmetric": False}),
    "pack-w4-channel-zeros": ("pack-quantized", {"num_bits": 4, "strategy": "channel", "symmetric": False}),
    "pack-w8-channel": ("pack-quantized", {"num_bits": 8, "strategy": "channel"}),
    "int-w8-channel": ("int-quantized", {"num_bits": 8, "strategy": "channel"}),
    "int-w8-tensor": ("int-quantized", {"num_bits": 8, "strategy": "tensor"}),
    "int-w8-group-zeros": ("int-quantized", {"num_bits": 8, "strategy": "group", "group_size": 32, "symmetric": False}),
    "int-w4-group": ("int-quantized", {"num_bits": 4, "strategy": "group", "group_size": 32}),
}


def checkpoint(folder: Path, name: str, **others: object) -> "tuple[dict, dict[str, torch.Tensor]]":
    """config.json and a safetensors file of a model without its head quantised; returns config and the weights that are meant, in f32."""
    form, arguments = SCHEMES[name]
    torch.manual_seed(0)
    args = QuantizationArgs(**arguments)
    scheme = QuantizationScheme(targets=["Linear"], weights=args)
    own = transformers.LlamaForCausalLM(transformers.LlamaConfig(**CONFIG)).state_dict()
    stored, meant = {}, {}
    for key, weight in own.items():
        if not key.endswith("_proj.weight"):
            stored[key] = meant[key] = weight
            continue
        rows, columns = weight.shape
        groups = columns // args.group_size if args.group_size else 1
        shape = (1,) if arguments["strategy"] == "tensor" else (rows, groups)
        given = {"weight": weight, "weight_scale": torch.rand(shape) / 60 + 0.01}
        if not args.symmetric:
            given["weight_zero_point"] = torch.randint(-8, 8, shape, dtype=torch.int8)
        small = BaseCompressor.get_value_from_registry(form)
        compressed_ = small.compress(given, scheme)
        meant[key] = small.decompress(compressed_, scheme)["weight"]
        stored |= {f"{key.removesuffix('weight')}{part}": value.contiguous() for part, value in compressed_.items()}
    save_file(stored, folder / "model.safetensors")
    group = {"targets": ["Linear"], "weights": json.loads(args.model_dump_json()), "input_activations": None, "output_activations": None}
    quantised = {"quant_method": "compressed-tensors", "format": form, "config_groups": {"group_0": group}, "ignore": ["lm_head"]}
    config = {**CONFIG, "quantization_config": {**quantised, "quantization_status": "compressed", "kv_cache_scheme": None, **others}}
    (folder / "config.json").write_text(json.dumps(config))
    return config, meant


@pytest.mark.parametrize("name", SCHEMES)
def test_weights_have_the_bits_of_the_package(name: str, tmp_path: Path) -> None:
    config, meant = checkpoint(tmp_path, name)
    tensors = compressed.read_weights(tmp_path / "model.safetensors", Config(config))
    assert set(tensors) == set(meant)
    for key, tensor in tensors.items():
        assert isinstance(tensor, Integers) == key.endswith("_proj.weight")
        found = tensor.floats() if isinstance(tensor, Integers) else tensor
        np.testing.assert_array_equal(found, meant[key].numpy(), err_msg=key)


def test_several_files(tmp_path: Path) -> None:
    config, meant = checkpoint(tmp_path, "int-w8-channel")
    whole = load_file(tmp_path / "model.safetensors")
    places = {name: f"part-{number % 2}.safetensors" for number, name in enumerate(sorted(whole))}
    for file in set(places.values()):
        save_file({name: whole[name] for name, own in places.items() if own == file}, tmp_path / file)
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": places}))
    text, arrays = write_quantised("llama", config, index)
    one, others = write_quantised("llama", config, tmp_path / "model.safetensors")
    assert text == one and all(np.array_equal(arrays[name], others[name]) for name in others)
    for content, match in (
        ('{"weight_map": {"a": "../a.safetensors"}}', "expected files in the same folder, found '../a.safetensors'"),
        ('{"weight_map": {"a": "part-0.safetensors"}}', "tensor 'a' is not in 'part-0.safetensors'"),
        ("[]", "is no index of safetensors files"),
    ):
        index.write_text(content)
        with pytest.raises(FileError, match=match):
            write_quantised("llama", config, index)


def by_rows(x: torch.Tensor) -> "tuple[torch.Tensor, torch.Tensor]":
    """What the package makes of rows: integers, and scales."""
    args = QuantizationArgs(**ROWS)
    scale, zero = compute_dynamic_scales_and_zp(x, args, torch.nn.Linear(1, 1))
    return quantize(x, scale, zero, args, dtype=torch.int8), scale


@pytest.mark.parametrize("element", ["f32", "bf16", "f16"])
def test_rows_have_the_bits_of_the_package(element: str) -> None:
    p = Program("rows")
    q, scale = bytes_of_rows(p, p.argument("x", element, ["n", 40]))
    (function,) = compile_together([Imported(p.text([q, scale]), {}, "rows")])
    torch.manual_seed(0)
    x = torch.randn(50, 40) * torch.logspace(-3, 3, 50)[:, None]
    x[3], x[4, 1:] = 0, 0
    x[5] = torch.arange(40) - 20 + 0.5  # ties, where the largest is 127.5·2^n
    x[5, 0] = 127.5
    x = x.to({"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[element])
    given = x.view(torch.int16).numpy().view(ml_dtypes.bfloat16) if element == "bf16" else x.numpy()
    found = [np.asarray(array) for array in function(given)]
    wanted, scales = by_rows(x[None])
    np.testing.assert_array_equal(found[0], wanted[0].numpy())
    np.testing.assert_array_equal(found[1], scales.float().numpy()[0, :, 0])


def test_models(tmp_path: Path) -> None:
    """By the command: logits of the weights that are meant, with bytes for rows and without. All programs are compiled together."""
    programs, arguments, wanted = [], [], []
    ids = np.random.default_rng(0).integers(0, 60, (2, 7))
    for number, name in enumerate(("pack-w4-group-zeros", "int-w8-channel", "int-w8-channel")):
        folder = tmp_path / str(number)
        folder.mkdir()
        config, meant = checkpoint(folder, name)
        if number == 2:
            config["quantization_config"]["config_groups"]["group_0"]["input_activations"] = ROWS
            (folder / "config.json").write_text(json.dumps(config))
        program, weights = folder / "model.mlir", folder / "out.safetensors"
        flags = [f"--config={folder / 'config.json'}", f"--weights={folder / 'model.safetensors'}", f"--weights-out={weights}"]
        assert main(["model", "llama", *flags, "-o", str(program)]) == 0
        text, stored = program.read_text(), read_safetensors(weights)
        assert text.count(" weight_scale(") == 2 * 7 and text.count(" x_scale(") == (2 * 7 if number == 2 else 0)
        programs.append(Imported(text, {}, "llama"))
        arguments.append([ids, *[stored[key] for key in re.findall(r'resid\.weight = "([^"]*)"', text)]])
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**CONFIG))
        model.load_state_dict(meant)
        for key, module in model.named_modules() if number == 2 else ():
            if key.endswith("_proj"):
                module.register_forward_pre_hook(lambda _, given: (torch.mul(*by_rows(given[0])),))
        with torch.no_grad():
            wanted.append(model(torch.from_numpy(ids)).logits.numpy())
    # A sum in another order may lie on the other side of a step between two bytes.
    for function, given, right, tolerance in zip(compile_together(programs), arguments, wanted, (1e-5, 1e-5, 2e-3)):
        found = np.asarray(function(*given))
        np.testing.assert_allclose(found, right, rtol=1e-4, atol=tolerance)
        assert np.isclose(found, right, rtol=1e-4, atol=1e-5).mean() > 0.8


def test_what_is_not_covered_is_named(tmp_path: Path) -> None:
    config, _ = checkpoint(tmp_path, "pack-w4-group")
    path = tmp_path / "model.safetensors"
    write_quantised("llama", config, path)

    def changed(value: object, *fields: str) -> dict:
        made = json.loads(json.dumps(config))
        part = made["quantization_config"]
        for field in fields[:-1]:
            part = part[field]
        part[fields[-1]] = value
        return made

    group = ("config_groups", "group_0")
    for value, fields, match in (
        ("float-quantized", ("format",), "a format 'float-quantized' of compressed-tensors"),
        ("gptq", ("quant_method",), "quantization_config.quant_method': expected \"compressed-tensors\""),
        ({"num_bits": 8}, ("kv_cache_scheme",), "quantization_config.kv_cache_scheme"),
        (1, ("mystery",), "quantization_config.mystery' is not covered"),
        ("float", (*group, "weights", "type"), "group_0.weights.type': expected \"int\""),
        (3, (*group, "weights", "num_bits"), "weights.num_bits': expected 8 or 4"),
        ("group", (*group, "weights", "actorder"), "weights.actorder"),
        ("block", (*group, "weights", "strategy"), "weights.strategy"),
        ({"num_bits": 8}, (*group, "output_activations"), "output_activations"),
        (1, (*group, "mystery"), "group_0.mystery' is not covered"),
        (40, (*group, "weights", "group_size"), "groups of 40 of .* input features"),
        (ROWS, (*group, "input_activations"), "weights.num_bits': expected 8, without zero points or groups, beside rows"),
        ({**ROWS, "dynamic": False}, (*group, "input_activations"), "input_activations.dynamic': expected True"),
        ({**ROWS, "strategy": "tensor"}, (*group, "input_activations"), "input_activations.strategy': expected token"),
    ):
        with pytest.raises(Unsupported, match=match):
            write_quantised("llama", changed(value, *fields), path)
    for value, fields, match in (
        (["lm_head", "re:.*q_proj"], ("ignore",), "the weight 'model.layers.0.self_attn.q_proj.weight' of the program, found none"),
        ([], ("ignore",), "layer 'lm_head': expected weight_packed, weight_scale, weight_shape, found weight$"),
        (False, (*group, "weights", "symmetric"), "expected weight_packed, weight_scale, weight_shape, weight_zero_point"),
        (16, (*group, "weights", "group_size"), "a weight of int8 .* with scales of float32"),
        (8, (*group, "weights", "num_bits"), "times .* integers of 8 bits"),
    ):
        with pytest.raises(ModelError, match=match):
            write_quantised("llama", changed(value, *fields), path)
    with pytest.raises(ModelError, match="expected a field 'quantization_config'"):
        write_quantised("llama", CONFIG, path)
    with pytest.raises(Unsupported, match="weights of integers of 'bert'"):
        write_quantised("bert", {**config, "model_type": "bert"}, path)
