# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# GGUF files: blocks against the package gguf, bit by bit, and models against transformers, which reads the same files.

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

gguf = pytest.importorskip("gguf", reason="needs gguf to write files and to compare with")

from gguf import GGMLQuantizationType as Kind  # noqa: E402
from import_support import compile_together  # noqa: E402
from resid.cli import main  # noqa: E402
from resid.importer import FileError, Imported, ImportFailure, ModelError, Unsupported  # noqa: E402
from resid.importer.errors import FlagError  # noqa: E402
from resid.importer.emit_linear import linear_of_integers  # noqa: E402
from resid.importer.gguf_reader import read_gguf  # noqa: E402
from resid.importer.integers import Integers  # noqa: E402
from resid.importer.program import Program  # noqa: E402
from resid.importer.weights import read as read_safetensors  # noqa: E402
from resid.models import write_quantised  # noqa: E402

RNG = np.random.default_rng(0)
SIZES = {Kind.Q8_0: (32, 34), Kind.Q4_0: (32, 18), Kind.Q4_K: (256, 144), Kind.Q6_K: (256, 210)}


def blocks(kind: Kind, rows: int, columns: int, low: float = 1e-3, high: float = 1e-2) -> np.ndarray:
    """Rows of blocks with random bytes, and scales of f16 between two numbers."""
    block, size = SIZES[kind]
    made = RNG.integers(0, 256, (rows, columns // block, size), np.uint8)
    for at in {Kind.Q4_K: (0, 2), Kind.Q6_K: (208,)}.get(kind, (0,)):
        scales = np.exp(RNG.uniform(np.log(low), np.log(high), made.shape[:2])).astype(np.float16)
        made[..., at : at + 2] = scales[..., None].view(np.uint8)
    return made.reshape(rows, -1)


def write(path: Path, tensors: "dict[str, tuple[np.ndarray, Kind]]", architecture: str = "llama", **metadata: object) -> Path:
    writer = gguf.GGUFWriter(path, architecture)
    for name, value in metadata.items():
        key = name.replace("__", ".")
        add = {float: writer.add_float32, str: writer.add_string}.get(type(value), writer.add_uint32)
        writer.add_array(key, value) if isinstance(value, list) else add(f"{architecture}.{key}", value)
    for name, (array, kind) in tensors.items():
        writer.add_tensor(name, array, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def layer(stored: Integers) -> Imported:
    """x times a weight of integers."""
    p = Program("layer")
    x = p.argument("x", "f32", ["rows", stored.q.shape[1]])
    parts = {suffix: p.weight(f"w{suffix}", *kind, array) for suffix, (kind, array) in stored.parts().items()}
    y = linear_of_integers(p, x, parts[""], parts["_scale"], stored.group, offset=parts.get("_offset"))
    return Imported(p.text([y]), p.weights, "layer")


def test_blocks_have_the_bits_of_the_package(tmp_path: Path) -> None:
    """In Python, and as the weight of a layer that multiplies the unit matrix. Scales far apart leave no exact offset for 4 bits."""
    given = {f"{kind.name}_{n}": (blocks(kind, 5, 512, *limits), kind) for kind in SIZES for n, limits in enumerate([(1e-3, 1e-2), (6e-5, 6e4)])}
    zeros = blocks(Kind.Q4_K, 3, 256)
    zeros[:, :16] = 0
    given["zeros"] = (zeros, Kind.Q4_K)
    negative = blocks(Kind.Q4_K, 3, 256)
    negative[:, 1] |= 0x80
    given["negative"] = (negative, Kind.Q4_K)
    _, tensors = read_gguf(write(tmp_path / "blocks.gguf", given))
    assert {name: stored.bits for name, stored in tensors.items()} == {
        "Q8_0_0": 8, "Q8_0_1": 8, "Q4_0_0": 4, "Q4_0_1": 4, "Q4_K_0": 4, "Q4_K_1": 8, "Q6_K_0": 8, "Q6_K_1": 8, "zeros": 4, "negative": 8,
    }  # fmt: skip
    programs = [layer(stored) for stored in tensors.values()]
    for (name, stored), imported, function in zip(tensors.items(), programs, compile_together(programs)):
        wanted = gguf.dequantize(*given[name])
        assert stored.floats().tobytes() == wanted.tobytes(), name
        found = np.asarray(function(np.eye(wanted.shape[1], dtype=np.float32), *imported.weights.values()))
        np.testing.assert_array_equal(found, wanted.T, err_msg=name)


def test_floats(tmp_path: Path) -> None:
    array = RNG.standard_normal((3, 5)).astype(np.float32)
    given = {kind.name: (gguf.quantize(array, kind), kind) for kind in (Kind.F32, Kind.F16, Kind.BF16)}
    _, tensors = read_gguf(write(tmp_path / "floats.gguf", given))
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(tensor.astype(np.float32), gguf.dequantize(*given[name]).reshape(3, 5))


def test_files_that_are_damaged_are_refused(tmp_path: Path) -> None:
    """Cut at each byte of the header, or with another byte, or twice the same tensor: a failure with a text, or a file like others."""
    given = {"a": (blocks(Kind.Q4_K, 2, 256), Kind.Q4_K), "b": (np.zeros((0, 4), np.float32), Kind.F32), "c": (np.ones(3, np.float32), Kind.F32)}
    content = write(tmp_path / "good.gguf", given, list_of=[1.0, 2.0], texts=["one", "two"], number=3).read_bytes()
    path, begin = tmp_path / "damaged.gguf", content.index(b"\0", content.index(b"general")) + 400
    random = np.random.default_rng(1)
    changed = [content[:end] for end in range(0, begin)]
    for at, byte in zip(random.integers(4, begin, 600), random.integers(0, 256, 600)):
        changed.append(content[:at] + bytes([byte]) + content[at + 1 :])
    changed.append(content.replace(b"\1\0\0\0\0\0\0\0c", b"\1\0\0\0\0\0\0\0a"))
    refused = 0
    for text in changed:
        path.write_bytes(text)
        try:
            read_gguf(path)
        except ImportFailure as error:
            refused += str(path) in str(error)
    assert refused > begin // 2
    with pytest.raises(FileError, match="tensor 'a' is there twice"):
        read_gguf(path)


CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2,
    "num_hidden_layers": 2, "intermediate_size": 512, "vocab_size": 60, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "head_dim": 64,
    "max_position_embeddings": 64,
}  # fmt: skip
KINDS = {"attn_q": Kind.Q4_K, "attn_k": Kind.Q4_0, "attn_v": Kind.Q8_0, "attn_output": Kind.Q4_K}
KINDS |= {"ffn_gate": Kind.Q4_0, "ffn_up": Kind.F16, "ffn_down": Kind.Q4_K}


def model(path: Path, architecture: str = "llama", **changed: "tuple[np.ndarray, Kind] | str") -> Path:
    """`changed`: tensors, and metadata that are texts."""
    rows = {"attn_k": 128, "attn_v": 128, "ffn_gate": 512, "ffn_up": 512}
    tensors: "dict[str, tuple[np.ndarray, Kind]]" = {}
    for n in range(2):
        for part, kind in KINDS.items():
            shape = rows.get(part, 256), 512 if part == "ffn_down" else 256
            random = (RNG.standard_normal(shape) / 16).astype(np.float16)
            tensors[f"blk.{n}.{part}.weight"] = (random if kind == Kind.F16 else blocks(kind, *shape, 1e-4, 1e-3), kind)
        for part in ("attn_norm", "ffn_norm", *(("attn_q_norm", "attn_k_norm") if architecture == "qwen3" else ())):
            size = 64 if part.endswith(("q_norm", "k_norm")) else 256
            tensors[f"blk.{n}.{part}.weight"] = (RNG.uniform(0.5, 1.5, size).astype(np.float32), Kind.F32)
    tensors["token_embd.weight"] = (blocks(Kind.Q8_0, 60, 256), Kind.Q8_0)
    tensors["output_norm.weight"] = (np.ones(256, np.float32), Kind.F32)
    tensors["output.weight"] = (blocks(Kind.Q6_K, 60, 256, 1e-5, 1e-4), Kind.Q6_K)
    sizes = {"block_count": 2, "embedding_length": 256, "feed_forward_length": 512, "context_length": 64}
    sizes |= {"attention__head_count": 4, "attention__head_count_kv": 2, "rope__dimension_count": 64, "attention__key_length": 64}
    floats = {"attention__layer_norm_rms_epsilon": 1e-5, "rope__freq_base": 10000.0}
    words = {"tokenizer__ggml__tokens": [f"t{i}" for i in range(60)]}
    words |= {name: changed.pop(name) for name in list(changed) if isinstance(changed[name], str)}
    return write(path, tensors | changed, architecture, **sizes, **floats, **words)


@pytest.mark.parametrize(("family", "classes"), [("llama", "Llama"), ("mistral", "Mistral"), ("qwen3", "Qwen3")])
def test_models(family: str, classes: str, tmp_path: Path) -> None:
    """By the command, against transformers, which dequantises, and turns rows of LLaMA's queries and keys back."""
    transformers, torch = (pytest.importorskip(name, reason=f"needs {name} to compare with") for name in ("transformers", "torch"))
    architecture = "qwen3" if family == "qwen3" else "llama"
    path = model(tmp_path / "model.gguf", architecture)
    config = {**CONFIG, "architectures": [f"{classes}ForCausalLM"], "model_type": family}
    if family == "mistral":
        config["sliding_window"] = None
    (tmp_path / "config.json").write_text(json.dumps(config))
    program, weights = tmp_path / "model.mlir", tmp_path / "model.safetensors"
    flags = [f"--config={tmp_path / 'config.json'}", f"--weights={path}", f"--weights-out={weights}", "-o", str(program)]
    assert main(["model", family, *flags]) == 0
    text, stored = program.read_text(), read_safetensors(weights)
    assert text.count("xi4>") == 2 * 2 * 5 and text.count(" weight_scale(") == 2 * 6 + 1
    names = re.findall(r'resid\.weight = "([^"]*)"', text)
    (function,) = compile_together([Imported(text, {}, re.search(r"@(\w+)\(", text).group(1))])
    ids = RNG.integers(0, 60, (2, 7))
    found = np.asarray(function(ids, *[stored[name] for name in names]))
    # transformers takes the number of heads of Qwen 3 from no file.
    known = {"config": transformers.Qwen3Config(**{**config, "model_type": "qwen3"})} if family == "qwen3" else {}
    reference = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file="model.gguf", dtype=torch.float32, **known)
    with torch.no_grad():
        wanted = reference(torch.from_numpy(ids)).logits.numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())
    assert np.abs(wanted).max() > 0


def test_what_is_wrong_is_named(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    def refuse(error: type, match: str, path: Path, family: str = "llama", **fields: object) -> None:
        with pytest.raises(error, match=match):
            write_quantised(family, {**CONFIG, **fields}, path)

    path = model(tmp_path / "good.gguf")
    content = path.read_bytes()
    refuse(ModelError, "llama.block_count is 2, and 'num_hidden_layers' of 'config' is 3", path, num_hidden_layers=3)
    refuse(ModelError, "llama.rope.freq_base is 10000.0, and 'rope_theta'", path, rope_theta=5e5)
    refuse(ModelError, "llama.rope.dimension_count is 64, and heads of 'config' have 32", path, head_dim=32)
    scaled = model(tmp_path / "scaled.gguf", rope__scaling__type="yarn")
    refuse(ModelError, "llama.rope.scaling.type is yarn, and positions of 'config' are scaled by none", scaled)
    refuse(ModelError, "the program has no weight for 'lm_head.weight'", path, tie_word_embeddings=True)
    refuse(Unsupported, "values of float32 that bf16 does not have: give 'dtype' as float32", path, dtype="bfloat16")
    refuse(Unsupported, "a GGUF file for 'gemma3': expected one of llama, mistral, qwen3", path, "gemma3")
    for name, text, error in (
        ("cut", content[:-50], "is said to lie at bytes"),
        ("short", content[:200], "it ends in its header"),
        ("other", b"GGML" + content[4:], "is no GGUF file: it begins with b'GGML'"),
        ("empty", b"", "is no GGUF file"),
        ("turned", content[:4] + content[4:8][::-1] + content[8:], "expected version 2 or 3"),
    ):
        (tmp_path / f"{name}.gguf").write_bytes(text)
        refuse(FileError, error, tmp_path / f"{name}.gguf")
    more = blocks(Kind.Q8_0, 4, 256)
    refuse(Unsupported, "tensor 'rope_factors.weight': no weight of 'llama' has such a name", model(tmp_path / "more.gguf", **{"rope_factors.weight": (more, Kind.Q8_0)}))
    refuse(ModelError, "'rope_freqs.weight' turns positions in another way", model(tmp_path / "turn.gguf", **{"rope_freqs.weight": (np.full(32, 2, np.float32), Kind.F32)}))
    model(tmp_path / "same.gguf", **{"rope_freqs.weight": (np.ones(32, np.float32), Kind.F32)})
    write_quantised("llama", CONFIG, tmp_path / "same.gguf")
    rule = {"rope_type": "llama3", "rope_theta": 1e4, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    rule["original_max_position_embeddings"] = 32
    lengths = 2 * np.pi * 1e4 ** (np.arange(0, 64, 2) / 64)
    smooth = np.clip((32 / lengths - 1) / 3, 0, 1)
    factors = (1 / ((1 - smooth) / 8 + smooth)).astype(np.float32)
    write_quantised("llama", {**CONFIG, "rope_parameters": rule}, model(tmp_path / "three.gguf", **{"rope_freqs.weight": (factors, Kind.F32)}))
    refuse(ModelError, "expected a tensor 'rope_freqs.weight' for positions that 'config' scales by llama3", path, rope_parameters=rule)
    fives = RNG.integers(0, 255, (60, 176), np.uint8)
    refuse(Unsupported, "tensor 'output.weight' of Q5_K: expected one of F32, F16, BF16, Q4_0, Q8_0, Q4_K, Q6_K", model(tmp_path / "five.gguf", **{"output.weight": (fives, Kind.Q5_K)}))
    refuse(FlagError, "expected quantised weights in a file that ends in .gguf, .safetensors or .safetensors.index.json", tmp_path / "model.bin")
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    assert main(["model", "llama", f"--config={tmp_path / 'config.json'}", f"--weights={path}", "-o", "-"]) == 2
    assert "expected --weights and --weights-out, found one of them" in capsys.readouterr().err
