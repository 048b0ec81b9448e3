#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A token after some others, with small models of `transformers` and random weights: the program of `resid model --cache` with packed
# weights, PyTorch eager and compiled with a static cache, and ONNX Runtime and OpenVINO on what torch.onnx.export makes of one step, whose
# caches are inputs. All by turns in this process; numbers of the peers are compared with resid's. Each call is made from Python.
# Needs the packages resid, torch, transformers and onnxscript. A peer that is not there is named.

import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np
import resid
import torch
import transformers
from resid.models import write_model

PLACES, LAYERS, GROUPS, SIZE, WORDS = 1024, 6, 4, 64, 8192
SMALL = {"hidden_size": 512, "num_attention_heads": 8, "num_key_value_heads": GROUPS, "head_dim": SIZE, "num_hidden_layers": LAYERS,
         "intermediate_size": 1536, "vocab_size": WORDS, "max_position_embeddings": PLACES}
MODELS = {
    "qwen3": ("Qwen3Config", "Qwen3ForCausalLM", {}),
    "gemma3": ("Gemma3TextConfig", "Gemma3ForCausalLM",
               {"sliding_window": 256, "layer_types": ["sliding_attention", "full_attention"] * (LAYERS // 2)}),
}


class Step:
    """One model, the caches of its first `past` tokens, and the next token."""

    def __init__(self, family, past, threads, build):
        config, model, more = MODELS[family]
        torch.manual_seed(0)
        self.config = getattr(transformers, config)(**SMALL, **more)
        self.model = getattr(transformers, model)(self.config).eval()
        self.past, self.threads = past, threads
        self.ids = torch.randint(WORDS, (1, past))
        self.token, self.place = torch.tensor([[5]]), torch.tensor([[past]])
        self.load(family, {**self.config.to_dict(), "architectures": [model]}, build)

    def load(self, family, config, build):
        """resid's program with packed weights, and its caches after the first tokens."""
        command = [build / "bin" / "resid-opt", "-", "--keep-argument-names", "--resid-inline-calls", "--resid-pack-weights"]
        text = subprocess.run(command, input=write_model(family, config, cache=True), capture_output=True, text=True, check=True).stdout
        module = resid.compile(text, quiet=True)
        self.function, prepare = getattr(module, family), getattr(module, f"{family}_prepare")
        weights = {re.sub(r"\W", "_", name): array.detach().numpy() for name, array in self.model.state_dict().items()}
        packed = prepare(*(weights[value.name] for value in prepare.signature.arguments))
        made = dict(re.findall(r'resid\.name = "(\w+)", resid\.prepared = (\d+)', text))
        caches = [np.zeros((1, GROUPS, PLACES, SIZE), np.float32) for _ in range(2 * LAYERS)]

        def arguments(ids, past, caches):
            held, names = iter(caches), [value.name for value in self.function.signature.arguments]
            given = {"ids": ids, "past": past} | {name: next(held) for name in names if re.match(r"(keys|values)_\d", name)}
            return [given[name] if name in given else packed[int(made[name])] if name in made else weights[name] for name in names]
        _, *caches = self.function(*arguments(self.ids.numpy(), 0, caches))
        self.caches = [np.ascontiguousarray(cache) for cache in caches]
        self.logits = np.empty((1, 1, WORDS), np.float32)
        self.arguments = arguments(self.token.numpy(), self.past, self.caches)

    def run(self):
        self.function(*self.arguments, threads=self.threads, out=[self.logits, *self.caches])
        return self.logits

    def filled(self, cache):
        with torch.inference_mode():
            self.model(self.ids, past_key_values=cache, use_cache=True)
        return cache

    def eager(self):
        cache = self.filled(transformers.DynamicCache(config=self.config))

        def run():  # The cache grows by a token with each call.
            with torch.inference_mode():
                return self.model(self.token, past_key_values=cache, use_cache=True).logits.numpy()
        return run

    def compiled(self):
        import torch._inductor.config as inductor
        inductor.freezing = True
        cache = self.filled(transformers.StaticCache(config=self.config, max_cache_len=PLACES))
        forward = torch.compile(self.model.forward, dynamic=False)

        def run():
            with torch.inference_mode():
                for layer in cache.layers:
                    layer.cumulative_length = self.past if isinstance(layer.cumulative_length, int) else layer.cumulative_length.fill_(self.past)
                return forward(self.token, past_key_values=cache, use_cache=True, position_ids=self.place).logits.numpy()
        return run

    def export(self, path):
        """One step whose caches are inputs, of the places that are filled; names and arrays of its inputs."""
        model = self.model

        class Exported(torch.nn.Module):
            def forward(self, ids, place, *held):
                cache = transformers.DynamicCache()
                for layer in range(LAYERS):
                    cache.update(held[2 * layer], held[2 * layer + 1], layer)
                return (model(ids, position_ids=place, past_key_values=cache, use_cache=True).logits,)
        held = [torch.from_numpy(np.ascontiguousarray(cache[:, :, : self.past])) for cache in self.caches]
        inputs = (self.token, self.place, *held)
        with torch.no_grad():
            torch.onnx.export(Exported(), inputs, dynamo=True, opset_version=20, verbose=False).save(path)
        return [array.numpy() for array in inputs]

    def onnx_runtime(self, path, arrays):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.threads, 1
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        given = dict(zip((value.name for value in session.get_inputs()), arrays))
        return lambda: session.run(None, given)[0]

    def openvino(self, path, arrays):
        import openvino
        settings = {"INFERENCE_NUM_THREADS": self.threads, "INFERENCE_PRECISION_HINT": "f32"}
        request = openvino.Core().compile_model(path, "CPU", settings).create_infer_request()
        for index, given in enumerate(arrays):
            request.set_input_tensor(index, openvino.Tensor(given))

        def run():
            request.infer()
            return request.get_output_tensor(0).data
        return run


def compare(step, title, options):
    path = str(options.scratch / "step.onnx")
    arrays = step.export(path)
    ways = {"resid": step.run}
    for name, make in (("PyTorch eager", step.eager), ("PyTorch compiled", step.compiled),
                       ("ONNX Runtime", lambda: step.onnx_runtime(path, arrays)), ("OpenVINO", lambda: step.openvino(path, arrays))):
        try:
            run = make()
            error = np.abs(run() - step.run()).max()
        except Exception as reason:  # whatever a peer throws
            print(f"{title}: skipped: {name}: {str(reason).splitlines()[0]}", flush=True)
            continue
        if error > 1e-4:
            sys.exit(f"{title}: {name} has other numbers: {error}")
        ways[name] = run
    times = {name: [] for name in ways}
    for _ in range(2 + options.samples):
        for name, run in ways.items():
            start = time.perf_counter()
            for _ in range(options.repeats):
                run()
            times[name].append((time.perf_counter() - start) / options.repeats)
    medians = {name: statistics.median(taken[2:]) for name, taken in times.items()}
    for name, median in medians.items():
        print(f"{title}: {name} {median * 1e3:.2f} ms a token, {median / medians['resid']:.2f} times resid's", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Times of a token with models of transformers.")
    parser.add_argument("build", type=pathlib.Path, help="the build folder")
    parser.add_argument("models", nargs="*", default=list(MODELS), help=f"of {', '.join(MODELS)}")
    parser.add_argument("--past", type=int, default=300, help="how many tokens came before")
    parser.add_argument("--threads", type=int, default=1, help="one number, since peers keep theirs for a process")
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--repeats", type=int, default=5, help="calls in a sample")
    parser.add_argument("--scratch", type=pathlib.Path, default=pathlib.Path("/tmp"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    warnings.filterwarnings("ignore")
    for family in options.models:
        compare(Step(family, options.past, options.threads, options.build), f"{family} after {options.past}, threads {options.threads}", options)


main()
