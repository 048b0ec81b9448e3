# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures resid.torch beside PyTorch, eager and compiled: DropoutAddNorm forward and backward, an encoder of torch.nn with and
# without optimize, and whole models of transformers with random weights by backend="resid", with what is around a call of their
# graphs. Writes torch.md into the folder of --out. Needs resid and PyTorch, and transformers for the models.

from __future__ import annotations

import argparse
import functools
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

SIZES = ((2048, 4096), (16384, 1024))
TYPES = ("float32", "bfloat16")
KINDS = ("chain", "encoder", "gpt", "model", "autocast", "overhead")
MODELS = ("MiniLM 128", "BERT-base 128", "BERT-base 512", "ViT-B/16", "GPT-2 256")
WARM_UP = 2


def by_turns(ways: dict[str, Callable[[], None]], samples: int, clock: Callable[[], float] = time.perf_counter) -> dict[str, list[float]]:
    """Seconds of each way; one call of each by turns, so that what else runs on the machine disturbs all alike."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(samples + WARM_UP):
        for name, way in ways.items():
            start = clock()
            way()
            if turn >= WARM_UP:
                times[name].append(clock() - start)
    return times


def row(what: str, threads: int, times: dict[str, list[float]], peers: list[str], own: list[str]) -> str:
    """A line of the table: medians in ms with their spread, and the median of the ratios within a turn."""
    cells = []
    for values in times.values():
        middle = statistics.median(values)
        quartiles = statistics.quantiles(values, n=4)
        cells.append(f"{middle * 1e3:.1f} ±{(quartiles[2] - quartiles[0]) / 2 / middle:.0%}")
    ratios = [min(times[peer][turn] for peer in peers) / min(times[name][turn] for name in own)
              for turn in range(len(times[own[0]]))]
    return f"| {what} | {threads} | {' | '.join(cells)} | {statistics.median(ratios):.2f} |"


def measure_chain(rows: int, width: int, dtype_name: str, threads: int, samples: int) -> str:
    import torch
    from torch import nn

    import resid.torch

    class Eager(nn.Module):
        def __init__(self, p: float):
            super().__init__()
            self.norm, self.dropout = nn.LayerNorm(width, dtype=dtype), nn.Dropout(p)

        def forward(self, x: torch.Tensor, f: torch.Tensor) -> torch.Tensor:
            return self.norm(x + self.dropout(f))

    dtype = getattr(torch, dtype_name)
    x, f, dy = (torch.randn(rows, width, dtype=dtype) for _ in range(3))
    x.requires_grad_(), f.requires_grad_()

    def step(module: nn.Module) -> Callable[[], None]:
        def run() -> None:
            module(x, f).backward(dy)
            for tensor in (x, f, *module.parameters()):
                tensor.grad = None

        return run

    check = resid.torch.DropoutAddNorm(width, 0.0, dtype=dtype)(x, f)
    tolerance = {"float32": 1e-4, "bfloat16": 5e-2}[dtype_name]
    torch.testing.assert_close(check, Eager(0.0)(x, f), rtol=tolerance, atol=tolerance)
    torch._dynamo.reset()
    ways = {"eager": step(Eager(0.1)), "compiled": step(torch.compile(Eager(0.1))),
            "resid": step(resid.torch.DropoutAddNorm(width, 0.1, dtype=dtype))}
    return row(f"{dtype_name} {rows}x{width}", threads, by_turns(ways, samples), ["eager", "compiled"], ["resid"])


def measure_encoder(threads: int, samples: int, batch: int) -> str:
    import torch
    from torch import nn

    import resid.torch

    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(384, 6, 1536, 0.1, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).train()
    x = torch.randn(batch, 128, 384)
    optimized = resid.torch.optimize(encoder, (x,), report=None)

    def step(module: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[], None]:
        return functools.partial(train, encoder, lambda: module(x).sum())

    torch._dynamo.reset()
    ways = {"eager": step(encoder), "compiled": step(torch.compile(encoder)), "optimized": step(optimized),
            "optimized, compiled": step(torch.compile(optimized)), "whole graph": step(torch.compile(encoder, backend="resid"))}
    return row(f"float32 {batch}x128x384", threads, by_turns(ways, samples), ["eager", "compiled"],
               ["optimized", "optimized, compiled", "whole graph"])


def train(model: Any, loss: Callable[[], Any]) -> None:
    """A step without the optimizer's."""
    loss().backward()
    for parameter in model.parameters():
        parameter.grad = None


def measure_gpt(threads: int, samples: int) -> str:
    """A step of training: a GPT-2 of 6 layers and 384 columns, 8 sequences of 128 tokens, dropout 0.1."""
    import torch
    import transformers

    import resid.torch  # noqa: F401  (knows the backend)

    torch.manual_seed(0)
    config = transformers.GPT2Config(vocab_size=1024, n_positions=128, n_embd=384, n_layer=6, n_head=6, use_cache=False)
    model, ids = transformers.GPT2LMHeadModel(config).train(), torch.randint(0, 1024, (8, 129))

    def step(module: Any) -> Callable[[], None]:
        logits = lambda: module(ids[:, :-1]).logits.flatten(0, 1)  # noqa: E731
        return functools.partial(train, model, lambda: torch.nn.functional.cross_entropy(logits(), ids[:, 1:].flatten()))

    torch._dynamo.reset()
    ways = {"eager": step(model), "compiled": step(torch.compile(model)), "whole graph": step(torch.compile(model, backend="resid"))}
    times = by_turns(ways, samples)
    return row("GPT-2 8x128x384", threads, times, ["eager", "compiled"], ["whole graph"])


def make_model(name: str) -> tuple[Any, Any]:
    """A model of published sizes in evaluation, and one input."""
    import torch
    import transformers

    torch.manual_seed(0)
    if name == "ViT-B/16":
        return transformers.ViTModel(transformers.ViTConfig()).eval(), torch.randn(1, 3, 224, 224)
    if name == "GPT-2 256":
        return transformers.GPT2Model(transformers.GPT2Config(use_cache=False)).eval(), torch.randint(0, 1000, (1, 256))
    minilm = dict(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
    config = transformers.BertConfig(**(minilm if name == "MiniLM 128" else {}))
    return transformers.BertModel(config).eval(), torch.randint(0, 1000, (1, int(name.split()[1])))


def measure_model(name: str, threads: int, samples: int, autocast: bool = False) -> str:
    """Evaluation in f32, or with autocast to bf16 around each call, and with integers of 8 bits. The first call of resid is after
    that of backend="eager", which pays for PyTorch's tracing as well."""
    import torch

    import resid.torch

    model, given = make_model(name)

    def call(module: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            return module(given)[0]

    ways: dict[str, Callable[[], Any]] = {"eager": functools.partial(call, model)}
    first = {}
    with torch.no_grad():
        for backend in ("eager", "inductor", "resid"):
            torch._dynamo.reset()
            start = time.perf_counter()
            result = call(torch.compile(model, backend=backend))
            first[backend] = time.perf_counter() - start
        torch.testing.assert_close(result, call(model), **dict.fromkeys(("rtol", "atol"), 5e-2 if autocast else 1e-4))
        torch._dynamo.reset()
        for title, compiled in (("compiled", torch.compile(model)), ("resid", torch.compile(model, backend="resid")),
                                ("w8a8", resid.torch.compile(model, quantize="w8a8"))):
            ways[title] = functools.partial(call, compiled)
            ways[title]()
        times = by_turns(ways, samples)
    text = row(name + " autocast" * autocast, threads, times, ["compiled"], ["resid"])
    over_eager = statistics.median(a / b for a, b in zip(times["eager"], times["resid"]))
    floats = [min(turn) for turn in zip(times["eager"], times["compiled"], times["resid"])]
    over_floats = statistics.median(a / b for a, b in zip(floats, times["w8a8"]))
    return f"{text} {over_eager:.2f} | {over_floats:.2f} | {first['resid'] - first['eager']:.1f} s |"


def measure_overhead(layers: int, threads: int, samples: int) -> str:
    """What a call costs beside its work: a BERT of eight columns, compiled for a graph that does nothing, by resid, by resid without
    Dynamo ("alone") and by eager. In µs of processor time per call; the difference is the median of those within a turn, and that of
    the fastest turns."""
    import torch
    import transformers

    import resid.torch

    def nothing(module: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        results = module.forward(*inputs)
        return lambda *values: results

    def beside(module: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        compiled = resid.torch.backend.resid_backend(module, inputs)
        ways["alone"] = functools.partial(repeat, functools.partial(compiled, *inputs), calls)
        return compiled

    config = transformers.BertConfig(vocab_size=8, hidden_size=8, num_hidden_layers=layers, num_attention_heads=1, intermediate_size=8)
    model, given = transformers.BertModel(config).eval(), torch.zeros(1, 1, dtype=torch.int64)
    torch._dynamo.reset()
    calls, ways = 20, dict[str, Callable[[], None]]()
    with torch.no_grad():
        for title, backend in (("nothing", nothing), ("resid", beside), ("eager", "eager")):
            compiled = torch.compile(model, backend=backend)
            compiled(given)
            ways[title] = functools.partial(repeat, functools.partial(compiled, given), calls)
        eager = {"eager": ways.pop("eager")}  # so long that the others would not fit between what else runs
        times = by_turns(ways, 50 * samples, time.thread_time) | by_turns(eager, samples, time.thread_time)
    times = {name: [1e6 * seconds / calls for seconds in found] for name, found in times.items()}
    cells = [f"{statistics.median(times[name]):.1f} ({min(times[name]):.1f})" for name in ("nothing", "resid", "alone", "eager")]
    beyond = statistics.median(own - other for own, other in zip(times["resid"], times["nothing"]))
    cells.append(f"{beyond:.1f} ({min(times['resid']) - min(times['nothing']):.1f})")
    return f"| {sum(1 for _ in model.parameters())} | {threads} | {' | '.join(cells)} |"


def repeat(way: Callable[[], Any], calls: int) -> None:
    for _ in range(calls):
        way()


def processor() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(": ")[2]
    return platform.machine()


def measure_all(options: argparse.Namespace) -> None:
    """A process for each number of threads: PyTorch's compiler writes that number into what it makes."""
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for threads in options.threads:
        cache = options.out / f"inductor-{threads}"
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "TORCHINDUCTOR_CACHE_DIR": str(cache)}
        command = [sys.executable, __file__, f"--one={threads}", f"--samples={options.samples}", f"--batch={options.batch}",
                   f"--only={options.only}"]
        output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
        for line in output.splitlines():
            kind, _, text = line.partition(" ")
            if kind in found:
                found[kind].append(text)
                print(text, flush=True)
    import torch

    lines = [f"- Measured on: {processor()}, {os.cpu_count()} processors, PyTorch {torch.__version__}.",
             f"- Medians in ms of {options.samples} turns ± half the distance of the quartiles; the ratio is the median of those within a turn.",
             "", "| DropoutAddNorm | threads | eager | compiled | resid | of the better one's speed |", "|---|---:|---:|---:|---:|---:|",
             *found["chain"], "", "| encoder | threads | eager | compiled | optimized | optimized, compiled | whole graph | best of these to better of those |",
             "|---|---:|---:|---:|---:|---:|---:|---:|", *found["encoder"], "",
             "| step of training | threads | eager | compiled | whole graph | over the better one |", "|---|---:|---:|---:|---:|---:|", *found["gpt"], "",
             "| model | threads | eager | compiled | resid | w8a8 | over compiled | over eager | w8a8 over the best | first result beyond backend=\"eager\" |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|", *found["model"], *found["autocast"], "",
             "| weights | threads | µs of a call that does nothing (fastest) | resid | alone | eager | resid beyond nothing |",
             "|---|---:|---:|---:|---:|---:|---:|", *found["overhead"], ""]
    (options.out / "torch.md").write_text("\n".join(lines))
    print(f"written: {options.out / 'torch.md'}")


def measure_one(threads: int, samples: int, batch: int, only: str) -> None:
    import torch

    torch.set_num_threads(threads)
    measures: list[tuple[str, Callable[[], str]]] = []
    for rows, width in SIZES:
        measures += [("chain", functools.partial(measure_chain, rows, width, dtype, threads, samples)) for dtype in TYPES]
    measures.append(("encoder", functools.partial(measure_encoder, threads, samples, batch)))
    measures.append(("gpt", functools.partial(measure_gpt, threads, samples)))
    measures += [("model", functools.partial(measure_model, name, threads, samples)) for name in MODELS]
    measures += [("autocast", functools.partial(measure_model, name, threads, samples, True)) for name in MODELS[:2]]
    measures += [("overhead", functools.partial(measure_overhead, layers, threads, samples)) for layers in (1, 12)]
    for kind, measure in measures:
        if kind in only.split(","):
            print(kind, measure(), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/benchmarks"), help="folder of the results")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2])
    parser.add_argument("--samples", type=int, default=11)
    parser.add_argument("--batch", type=int, default=8, help="sequences of the encoder")
    parser.add_argument("--only", default=",".join(KINDS), help="which tables: some of %(default)s")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return measure_one(options.one, options.samples, options.batch, options.only)
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    measure_all(options)


main()
