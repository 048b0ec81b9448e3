# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What of importing needs NumPy alone: sizes, recognition on graphs made here, near misses that must stay, files of weights, and the command
# `resid model`.

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import resid
from import_support import ROOT, count, run, tool
from resid.cli import main
from resid.importer import Imported, ModelError, Unsupported, from_graph, write_weights
from resid.importer.contrib import RULES
from resid.importer.emit import HANDLERS, Emitter
from resid.importer.graph import Argument, Graph, Node
from resid.importer.program import Tensor
from resid.importer.sizes import Size, quotient, remainder, symbol, truncated
from resid.importer.weights import read
from resid.models import FAMILIES, write_model

import preset_configs

X = np.random.default_rng(1).standard_normal((3, 5, 8)).astype(np.float32)
BERT = {"num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 20}
CONFIGS = {
    **preset_configs.CONFIGS,
    "bert": {**BERT, "max_position_embeddings": 10, "type_vocab_size": 2},
    "gpt2": {"n_layer": 1, "n_embd": 8, "n_head": 2, "vocab_size": 20, "n_positions": 10},
    "hyper": {**BERT, "connection": "mhc", "hc_mult": 3},
    "llama": {**BERT, "num_key_value_heads": 1},
    "vit": {**BERT, "image_size": 4, "patch_size": 2},
}


def graph(nodes: list[Node], constants: dict[str, object], results: "list[str] | None" = None) -> Graph:
    """From x [batch, 5, 8] to y. Constants that are arrays of floats are parameters."""
    made = Graph("g")
    made.arguments = [Argument("x", "f32", ["batch", 5, 8])]
    made.constants = {
        name: np.asarray(value) if isinstance(value, np.ndarray) else np.array(value, np.float32)
        for name, value in constants.items()
    }
    made.parameters = {name for name, value in constants.items() if isinstance(value, np.ndarray)}
    made.nodes, made.results = nodes, results or ["y"]
    made.index()
    return made


def test_sizes() -> None:
    a, b = symbol("a"), symbol("b")
    assert (a + 3) - a == 3 and a * 0 == 0 and isinstance(a + 3 - a, int)
    assert (a * 12 * b) // (a * 4) == b * 3
    assert quotient(a + 1, a) is None and quotient(a * 6 + a * b * 4, a * 2) == b * 2 + 3
    assert isinstance((a + 1) // 2, Size) and ((a + 1) // 2) == ((a + 1) // 2) != (a // 2)
    assert (a * 4) % 4 == 0 and not a < 0 and a - a - 1 < 0
    with pytest.raises(ValueError, match="not known before run time"):
        bool(a < b)
    assert not (a - 7) % 3 < 0 and remainder(a, 3) == a % 3 and truncated(a, 3) == a // 3
    assert remainder(a - 7, 3) != (a - 7) % 3 and truncated(-7, 2) == -3 and remainder(-7, 2) == -1
    with pytest.raises(ValueError, match="not known before run time"):
        bool((a - 7) // 2 < 0)


@pytest.mark.parametrize("divisor", [3, -3])
def test_divisions_of_open_sizes_and_of_integers(divisor: int, tmp_path: Path) -> None:
    """Of N - 5, which is negative, of integers that are known at run time, and of constants: the remainder of Mod has the sign of the
    divisor, unless fmod is set, and quotients are cut towards zero."""
    whole = np.array([2**53 + 1, -(2**53) - 1, 7, -7, 6, -6, 0])
    made = graph([], {})
    made.results = []
    made.arguments.append(Argument("w", "i64", [7]))
    made.constants |= {"first": np.array([0]), "five": np.array(5), "d": np.array(divisor), "c": whole}
    made.nodes = [Node("Shape", ["x"], ["shape"]), Node("Gather", ["shape", "first"], ["n"]), Node("Sub", ["n", "five"], ["s"])]
    for name, (op, attributes) in {"mod": ("Mod", {}), "rem": ("Mod", {"fmod": 1}), "div": ("Div", {})}.items():
        made.nodes += [Node(op, [source, "d"], [f"{name}_{source}"], attributes) for source in "swc"]
        made.results += [f"{name}_{source}" for source in "swc"]
    made.index()
    found = run(from_graph(made), [X, whole], tmp_path, results=9)
    for values, results in (([-2], found[0::3]), (whole, found[1::3]), (whole, found[2::3])):
        down = np.array([value % divisor for value in map(int, values)])
        cut = np.array([int(abs(value) // abs(divisor)) * (1 if (value < 0) == (divisor < 0) else -1) for value in map(int, values)])
        for result, right in zip(results, (down, values - cut * divisor, cut), strict=True):
            np.testing.assert_array_equal(result, right)


@pytest.mark.parametrize("op", ["Div", "Mod"])
def test_a_division_by_0_is_an_error_of_the_call(op: str, tmp_path: Path) -> None:
    made = graph([Node(op, ["w", "d"], ["y"])], {})
    made.arguments = [Argument("w", "i64", [2]), Argument("d", "i64", [2])]
    lowest = np.array([5, -(2**63)])
    (found,) = run(from_graph(made), [lowest, np.array([-1, -1])], tmp_path)
    assert found.tolist() == ([-5, -(2**63)] if op == "Div" else [0, 0])
    with pytest.raises(AssertionError, match="RESID_BAD_VALUE"):
        run(from_graph(made), [lowest, np.array([0, 1])], tmp_path)


@pytest.mark.parametrize("element", ["float16", "int32", "int64"])
def test_folded_reductions(element: str, tmp_path: Path) -> None:
    """They keep the element type, and remove nothing where noop_with_empty_axes says so."""
    made = graph([Node("ReduceSum", ["c"], ["y"]), Node("ReduceProd", ["c", "none"], ["z"], {"noop_with_empty_axes": 1})], {}, ["y", "z"])
    made.constants |= {"c": np.array([[3, 5]], element), "none": np.zeros(0, np.int64)}
    total, same = run(from_graph(made), [X], tmp_path, results=2)
    assert total.dtype == same.dtype == element and total.tolist() == [[8]] and same.tolist() == [[3, 5]]


def test_constants_of_one_element_give_their_dimensions(tmp_path: Path) -> None:
    nodes = [Node("Pow", ["x", "two"], ["p"]), Node("Mul", ["x", "x"], ["q"]), Node("ReduceMean", ["q", "axes"], ["m"])]
    nodes += [Node("Add", ["m", "epsilon"], ["v"]), Node("Sqrt", ["v"], ["r"]), Node("Div", ["x", "r"], ["y"])]
    ones = (1, 1, 1, 1)
    constants = {"two": np.full(ones, 2, np.float32), "epsilon": np.full(ones, 1e-5, np.float32), "axes": np.array([-1])}
    power, normed = run(from_graph(graph(nodes, constants, ["p", "y"])), [X], tmp_path, results=2)
    np.testing.assert_array_equal(power, X[None] ** 2)
    np.testing.assert_allclose(normed, X[None] / np.sqrt((X[None] ** 2).mean(-1, keepdims=True) + 1e-5), rtol=1e-6)


def test_an_open_size_is_removed_where_it_is_1(tmp_path: Path) -> None:
    made = graph([Node("Squeeze", ["x", "axes"], ["y"])], {"axes": np.array([0])})
    (found,) = run(from_graph(made), [X[:1]], tmp_path)
    np.testing.assert_array_equal(found, X[0])
    with pytest.raises(AssertionError, match="size"):
        run(from_graph(made), [X], tmp_path)
    with pytest.raises(Unsupported, match=r"Squeeze 'y': sizes \[batch, 5, 8\].* expected axes"):
        from_graph(graph([Node("Squeeze", ["x"], ["y"])], {}))


def test_what_the_exporter_recorded_is_compared() -> None:
    """Type, rank and sizes of each value, by the node that computes it; and a result that is no node's."""
    wrong = {
        ("f16", (None, 5, 8)): r"Neg 'first': expected tensor<\?x5x8xf16> for 'a', as the exporter recorded it, but got tensor<\?x5x8xf32>",
        ("f32", (None, 5)): "Neg 'first': expected tensor<.x5xf32>",
        ("f32", (None, 8, 5)): "Neg 'first': expected tensor<.x8x5xf32>",
    }
    for recorded, message in wrong.items():
        made = graph([Node("Neg", ["x"], ["a"], {}, "first"), Node("Neg", ["a"], ["y"])], {})
        made.recorded = {"a": recorded}
        with pytest.raises(ModelError, match=message):
            from_graph(made)
    made = graph([], {}, ["x"])
    made.recorded = {"x": ("", (None, 6, 8))}
    with pytest.raises(ModelError, match="expected tensor<.x6x8xf32> for 'x'"):
        from_graph(made)


def test_programs_that_the_compiler_refuses_name_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(e: Emitter, node: Node) -> Tensor:
        wide = e.program.op("tensor.cast %x : tensor<?x5x8xf32> to tensor<?x7x8xf32>", "f32", e.input(node, 0).dims)
        return e.program.op(f"tensor.cast {wide.ssa} : tensor<?x7x8xf32> to tensor<?x5x8xf32>", "f32", e.input(node, 0).dims)

    monkeypatch.setitem(HANDLERS, "Neg", (wrong, ()))
    nodes = [Node("Abs", ["x"], ["a"]), Node("Neg", ["a"], ["b"], {}, "second"), Node("Abs", ["b"], ["y"])]
    with pytest.raises(ModelError, match="^Neg 'second': the compiler refuses what was imported: .*cast incompatible"):
        from_graph(graph(nodes, {}))


def fits(imported: Imported, *calls: tuple[int, ...]) -> list[bool]:
    """Whether each call, on vectors of these sizes, is let in."""
    function = resid.compile(imported.text, use_cache=False)[imported.function]
    results = []
    for sizes in calls:
        try:
            function(*(np.ones(size, np.float32) for size in sizes))
            results.append(True)
        except resid.ShapeError:
            results.append(False)
    return results


def test_sizes_are_what_they_are_said_to_be() -> None:
    """The same name twice, a multiple whose factor has no argument of its own, and conditions."""
    n, m = symbol("n"), symbol("m")
    made = Graph("g")
    made.arguments = [Argument(name, "f32", [dim]) for name, dim in zip("xyz", (n, n, m * 2 + 1))]
    made.nodes = [Node("ReduceSum", [name], [f"{name}1"], {"keepdims": 0}) for name in "xyz"]
    made.nodes += [Node("Add", ["x1", "y1"], ["a"]), Node("Add", ["a", "z1"], ["b"])]
    made.results = ["b"]
    made.conditions = ["x.shape[0] > 2 and m % 2 == 0", "(m + n - 9) // 2 != -1 or not n < 100"]
    made.index()
    calls = ((3, 3, 5), (3, 4, 5), (3, 3, 6), (3, 3, 7), (2, 2, 5), (4, 4, 9))
    assert fits(from_graph(made), *calls) == [True, False, False, False, False, False]


@pytest.mark.parametrize(
    ("condition", "holds"),
    {
        "math.trunc(0.5*torch.sym_float(x.shape[0])) == 2": lambda n: n in (4, 5),
        "torch.sym_float(n) ** 0.5 > 2.5": lambda n: n > 6,
        "CeilToInt(IntTrueDiv(n, 4)) == 2": lambda n: 4 < n <= 8,
        "math.floor(n / 4) == 1": lambda n: 4 <= n < 8,
        "2*torch.sym_min(5, n) > 9": lambda n: n >= 5,
        "Max(n, 4) - 4 < 2": lambda n: n < 6,
        "(n - 7) % 3 == 2": lambda n: (n - 7) % 3 == 2,
        "Eq(Mod(n, 2), 0) & Ne(FloorDiv(n - 5, 2), -1) | (n**2 > 63)": lambda n: n % 2 == 0 and (n - 5) // 2 != -1 or n > 7,
        "(-1)*n <= -5": lambda n: n >= 5,
    }.items(),
)
def test_conditions(condition: str, holds: Callable[[int], bool]) -> None:
    made = Graph("g")
    made.arguments = [Argument("x", "f32", ["n"])]
    made.nodes, made.results, made.conditions = [Node("Neg", ["x"], ["y"])], ["y"], [condition]
    made.index()
    sizes = range(3, 10)
    assert fits(from_graph(made), *((n,) for n in sizes)) == [holds(n) for n in sizes]


def test_conditions_that_cannot_be_said() -> None:
    for condition in ("n.bit_length() > 2", "n ** 0.3 > 2", "x.stride()[0] == 1", "(n", "y.shape[0] > 1", "n % 0 == 1"):
        made = Graph("g")
        made.arguments, made.conditions = [Argument("x", "f32", ["n"])], [condition]
        made.results = ["x"]
        made.index()
        with pytest.raises(Unsupported, match=f"the condition '{re.escape(condition)}' of the exported program: "):
            from_graph(made)
    made.conditions = ["n - n > 0"]
    with pytest.raises(ModelError, match="holds for no size"):
        from_graph(made)


@pytest.mark.parametrize("name", ["3d-model v1.5", "model", "größe", ""])
def test_names_become_those_of_mlir(name: str, tmp_path: Path) -> None:
    made = graph([Node("Add", ["7:x", "a/b.c"], ["y"])], {"a/b.c": np.ones(8, np.float32)})
    made.name, made.arguments[0].name = name, "7:x"
    imported = from_graph(made)
    assert imported.weights.keys() == {"a/b.c"}
    (found,) = run(imported, [X], tmp_path)
    np.testing.assert_array_equal(found, X + 1)


def norm_nodes(second_axis: str = "axes") -> list[Node]:
    return [
        Node("ReduceMean", ["x", "axes"], ["mean"]),
        Node("Sub", ["x", "mean"], ["d"]),
        Node("Pow", ["d", "two"], ["squares"]),
        Node("ReduceMean", ["squares", second_axis], ["variance"]),
        Node("Add", ["variance", "epsilon"], ["more"]),
        Node("Sqrt", ["more"], ["root"]),
        Node("Div", ["d", "root"], ["n"]),
        Node("Mul", ["gamma", "n"], ["scaled"]),
        Node("Add", ["scaled", "beta"], ["y"]),
    ]


def norm_constants(**others: object) -> dict[str, object]:
    vector = np.linspace(0.5, 1.5, 8, dtype=np.float32)
    axes = {"axes": np.array([-1]), "axes1": np.array([1])}
    return {**axes, "two": 2.0, "epsilon": 1e-5, "gamma": vector, "beta": vector - 1, **others}


def layer_norm(x: np.ndarray) -> np.ndarray:
    vector, wide = np.linspace(0.5, 1.5, 8), x.astype(np.float64)
    d = wide - wide.mean(-1, keepdims=True)
    return d / np.sqrt((d**2).mean(-1, keepdims=True) + 1e-5) * vector + vector - 1


def test_layer_norm_is_recognised(tmp_path: Path) -> None:
    imported = from_graph(graph(norm_nodes(), norm_constants()))
    assert count(imported, "resid.layer_norm") == 1 and count(imported, "linalg.generic") == 0
    assert set(imported.weights) == {"gamma", "beta"}
    (found,) = run(imported, [X], tmp_path)
    np.testing.assert_allclose(found, layer_norm(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("change", ["another axis in the variance", "a power of 3", "the input is divided"])
def test_what_is_nearly_a_layer_norm_stays(change: str, tmp_path: Path) -> None:
    nodes, constants = norm_nodes(), norm_constants()
    if change == "another axis in the variance":
        nodes = norm_nodes("axes1")
    elif change == "a power of 3":
        constants["two"] = np.float32(3.0)
    else:
        nodes[6] = Node("Div", ["x", "root"], ["n"])
    imported = from_graph(graph(nodes, constants))
    assert count(imported, "resid.layer_norm") == 0 and count(imported, "resid.rms_norm") == 0
    by_itself = from_graph(graph(nodes, constants), recognised=False)
    (found,), (expected,) = run(imported, [np.abs(X) + 1], tmp_path), run(by_itself, [np.abs(X) + 1], tmp_path)
    np.testing.assert_array_equal(found, expected)


GELU = [
    Node("Div", ["x", "root"], ["a"]),
    Node("Erf", ["a"], ["b"]),
    Node("Add", ["b", "one"], ["c"]),
    Node("Mul", ["x", "c"], ["d"]),
    Node("Mul", ["d", "half"], ["y"]),
]


@pytest.mark.parametrize(
    ("root", "half", "recognised"),
    [(2**0.5, 0.5, True), (1.414, 0.5, False), (2**0.5, 0.501, False)],
    ids=["gelu", "root", "half"],
)
def test_activations_are_judged_by_value(root: float, half: float, recognised: bool) -> None:
    imported = from_graph(graph(GELU, {"root": root, "half": half, "one": 1.0}))
    assert count(imported, "resid.activation") == int(recognised)


def test_what_something_else_reads_is_kept(tmp_path: Path) -> None:
    """A value inside of what is recognised, which is a result too."""
    imported = from_graph(graph(norm_nodes(), norm_constants(), ["y", "n"]))
    found, inner = run(imported, [X], tmp_path, results=2)
    np.testing.assert_allclose(found, layer_norm(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(inner, (layer_norm(X) + 1) / np.linspace(0.5, 1.5, 8) - 1, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "shape", [["batch*5", "4", "2"], ["batch", "40"], ["5", "batch", "8"], ["batch", "1", "5", "2", "4", "1"]]
)
def test_reshapes_of_open_sizes(shape: list[str], tmp_path: Path) -> None:
    sizes = [eval(size, {"batch": symbol("batch")}) for size in shape]  # noqa: S307
    made = graph([Node("Reshape", ["x", "sizes"], ["y"])], {})
    made.constants["sizes"] = np.array(sizes, object)
    (found,) = run(from_graph(made), [X], tmp_path)
    np.testing.assert_array_equal(found, X.reshape([eval(size, {"batch": 3}) for size in shape]))  # noqa: S307


def test_files_of_weights(tmp_path: Path) -> None:
    """safetensors, .npz of ours and of NumPy give the same; a compressed one is refused."""
    imported = from_graph(graph(norm_nodes(), norm_constants()))
    (tmp_path / "m.mlir").write_text(imported.text)
    np.save(tmp_path / "x.npy", X)
    write_weights(tmp_path / "w.safetensors", imported.weights)
    write_weights(tmp_path / "w.npz", imported.weights)
    np.savez(tmp_path / "numpy.npz", **imported.weights)
    np.savez_compressed(tmp_path / "small.npz", **imported.weights)
    for name, array in read(tmp_path / "w.safetensors").items():
        np.testing.assert_array_equal(array, imported.weights[name])
    base = [tool("resid-run"), str(tmp_path / "m.mlir"), f"--arg={tmp_path / 'x.npy'}"]
    for file in ("w.safetensors", "w.npz", "numpy.npz"):
        out = tmp_path / "y.npy"
        subprocess.run([*base, f"--weights={tmp_path / file}", f"--out={out}"], check=True)
        np.testing.assert_allclose(np.load(out), layer_norm(X), rtol=1e-6, atol=1e-6)
        out.unlink()
    done = subprocess.run([*base, f"--weights={tmp_path / 'small.npz'}"], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "expected a member that is stored" in done.stderr


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    path.write_text("old")
    with pytest.raises(Exception, match="complex64"):
        write_weights(path, {"a": np.zeros(2, np.complex64)})
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("family", FAMILIES)
def test_presets_compile(family: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIGS[family]))
    assert main(["model", family, f"--config={tmp_path / 'config.json'}", "-o", str(tmp_path / "m.mlir")]) == 0
    text = (tmp_path / "m.mlir").read_text()
    assert text == write_model(family, CONFIGS[family]) and text.count("resid.block ") == 2
    command = [
        tool("residc"),
        str(tmp_path / "m.mlir"),
        *([] if family == "modernbert" else ["--placement=peri"]),
        "--weights-struct",
        "-o",
        str(tmp_path / "m.o"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ({"hidden_size": None}, 1, "field 'hidden_size': expected an integer from 1 to 2147483647, found null"),
        ({"hidden_size": "8"}, 1, "field 'hidden_size': expected an integer from 1 to 2147483647, found \"8\""),
        ({"hidden_size": 9}, 1, "'hidden_size' is 9, which 'num_attention_heads', 2, does not divide"),
        ({"hidden_act": "mish"}, 4, "field 'hidden_act': expected one of gelu"),
        ({"position_embedding_type": "relative_key"}, 4, 'expected "absolute" or null, found "relative_key"'),
        ({"model_type": "t5"}, 1, "field 'model_type': expected 'bert', found \"t5\""),
        ({"torch_dtype": "int8"}, 4, "field 'torch_dtype': expected one of float32"),
    ],
)
def test_configurations_that_are_wrong(
    changes: dict, code: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**CONFIGS["bert"], **changes}))
    assert main(["model", "bert", f"--config={tmp_path / 'config.json'}", "-o", str(tmp_path / "m.mlir")]) == code
    assert message in capsys.readouterr().err and not (tmp_path / "m.mlir").exists()


def test_files_and_flags(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    config = tmp_path / "config.json"
    assert main(["model", "bert", f"--config={config}", "-o", "-"]) == 3
    config.write_text("{")
    assert main(["model", "bert", f"--config={config}", "-o", "-"]) == 3
    for flags in (["model", "t5", f"--config={config}", "-o", "-"], ["model", "bert", "-o", "-"], ["modle"], []):
        with pytest.raises(SystemExit) as caught:
            main(flags)
        assert caught.value.code == 2
    config.write_text(json.dumps(CONFIGS["bert"]))
    assert main(["model", "bert", f"--config={config}", "-o", "-"]) == 0
    assert capsys.readouterr().out == write_model("bert", CONFIGS["bert"])
    assert main(["model", "bert", f"--config={config}", "--output=logits", "-o", "-"]) == 2


def test_the_page_lists_every_operator() -> None:
    """And no other: the table of docs/import.md is that of the handlers."""
    page = (ROOT / "docs" / "import.md").read_text()
    table = page[page.index("| family | operators of ONNX |") :].split("\n\n")[0]
    listed = {name for row in table.splitlines()[2:] for name in re.findall(r"`([\w.]+)`", row.split("|")[2])}
    covered = {name for name in HANDLERS if not name.startswith("resid.")} | set(RULES) | {"Constant"}
    assert listed == covered
