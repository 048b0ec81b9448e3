#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures layers of all-MiniLM-L6-v2 with integers of 8 bits, as resid.quantize makes them, beside resid's f32 and beside models of 8
# bits in other libraries, all in this process and by turns. Prints medians (of several threads the least), ratios to the first line
# (above 1, resid's integers are faster), and errors against PyTorch in f64. Peers that are not installed are named. Needs numpy,
# and the target resid-benchmarks: PYTHONPATH=build/python python3 benchmarks/integer_layers.py

import argparse
import pathlib
import re
import subprocess
import tempfile
import time

import numpy
import resid
from harness import native
from harness.layers import model, openvino, peers
from harness.products.peers import bytes_at
from integers import BUILD, measure

import transformer


def array_at(arrays, name, *shape):
    return numpy.frombuffer(bytes_at(arrays[name], 4 * int(numpy.prod(shape))), numpy.float32).reshape(shape)


def own_ways(case, arrays, y):
    """w8a8 and f32, with weights in panels."""
    text = transformer.Model(transformer.parse_options([
        f"--layers={case.layers}", f"--tokens={case.tokens}", "--weights=out-in", "--attention=op", "--linear=op", "--mark-weights"])).text()
    weights = {}
    for number in range(case.layers):
        for name, (inputs, outputs) in case.sizes.linears.items():
            weights[f"l{number}_{name}_weight"] = array_at(arrays, f"out-in l{number}_{name}_weight", outputs, inputs)
            weights[f"l{number}_{name}_bias"] = array_at(arrays, f"l{number}_{name}_bias", outputs)
        weights |= {f"l{number}_{name}_{part}": array_at(arrays, f"l{number}_{name}_{part}", case.sizes.hidden)
                    for name in model.NORM_NAMES for part in ("gamma", "beta")}
    x = array_at(arrays, "x", case.tokens, case.sizes.hidden)
    plain, smooth = resid.quantize(text, weights), resid.quantize(text, weights, calibrate=[{"x": x}], smooth="rows")
    for title, program, given in (("w8a8", plain.text, plain.weights), ("w8a8, factors of rows", smooth.text, smooth.weights),
                                  ("f32", text, weights)):
        yield f"resid, {title}", own_way(program, {**given, "x": x}, y, case.threads)


def own_way(program, given, y, threads):
    packed = subprocess.run([BUILD / "bin" / "resid-opt", "-", "--keep-argument-names", "--resid-inline-calls", "--resid-pack-weights"],
                            input=program, text=True, check=True, capture_output=True).stdout
    module = resid.compile(packed)
    prepared = module.model_prepare(*(given[value.name] for value in module.model_prepare.signature.arguments))
    places = dict(re.findall(r'resid.name = "(\w+)", resid.prepared = (\d+)', packed))
    arguments = [prepared[int(places[value.name])] if value.name in places else given[value.name]
                 for value in module.model.signature.arguments]
    return lambda: module.model(*arguments, out=y, threads=threads)


def runtime_ways(case, arrays, y):
    from onnxruntime import quantization
    runtime = peers.ONNXRuntime(None, None)
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "f32.onnx", pathlib.Path(folder) / "i8.onnx"
        source.write_bytes(runtime.graph(case, arrays, is_fused=False).SerializeToString())
        more = {"DefaultTensorType": runtime.onnx.TensorProto.FLOAT}
        for title, options in (("", {}), (", scale per output", {"per_channel": True})):
            quantization.quantize_dynamic(source, target, weight_type=quantization.QuantType.QInt8, extra_options=more, **options)
            session, binding = runtime.session(case, arrays, runtime.onnx.load(target))
            yield f"{runtime.title}, quantize_dynamic{title}", lambda s=session, b=binding: s.run_with_iobinding(b)


def torch_ways(case, arrays, y):
    own = peers.PyTorch(None, argparse.Namespace(peers=BUILD / "peers"))
    torch, layers = own.torch, own.layers(case, arrays)

    class Layers(torch.nn.Module):
        """run_layers, with linear layers as modules, which quantize_dynamic finds."""

        def __init__(self):
            super().__init__()
            for number, layer in enumerate(layers):
                for name in case.sizes.linears:
                    weight, bias = layer[name]
                    linear = torch.nn.Linear(weight.shape[1], weight.shape[0])
                    linear.weight, linear.bias = torch.nn.Parameter(weight), torch.nn.Parameter(bias)
                    self.add_module(f"{name}{number}", linear)

        def forward(self, x):
            for number, layer in enumerate(layers):
                of = {name: getattr(self, f"{name}{number}") for name in case.sizes.linears}
                q, k, v = (of[name](x).view(case.tokens, case.sizes.heads, -1).transpose(0, 1) for name in ("query", "key", "value"))
                context = torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(0, 1).reshape(x.shape)
                middle = torch.nn.functional.layer_norm(x + of["output"](context), x.shape[-1:], *layer["norm1"], model.EPSILON)
                inner = of["down"](torch.nn.functional.gelu(of["up"](middle)))
                x = torch.nn.functional.layer_norm(middle + inner, x.shape[-1:], *layer["norm2"], model.EPSILON)
            return x
    torch.set_num_threads(case.threads)
    quantised = torch.ao.quantization.quantize_dynamic(Layers().eval(), {torch.nn.Linear}, dtype=torch.qint8)
    x, result = torch.from_numpy(array_at(arrays, "x", case.tokens, case.sizes.hidden).copy()), torch.from_numpy(y)

    def run():
        result.copy_(quantised(x))
    yield f"{own.title}, quantize_dynamic", run


def openvino_ways(case, arrays, y):
    import nncf
    own = openvino.OpenVINO(None, None)
    x = array_at(arrays, "x", 1, case.tokens, case.sizes.hidden).copy()

    def quantise(f32):
        return nncf.quantize(f32, nncf.Dataset([x]), model_type=nncf.ModelType.TRANSFORMER, subset_size=1)
    request = own.request(case, arrays, quantise)
    yield f"{own.title}, nncf.quantize", request.infer


def main():
    parser = argparse.ArgumentParser(description="Measures layers of integers beside f32 and peers, by turns.")
    parser.add_argument("--layers", default="1,6")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seconds", type=float, default=8.0, help="for each case")
    flags = parser.parse_args()
    side = native.Native(BUILD / "lib" / "libresid-benchmarks.so")
    network, counts = model.NETWORKS["MiniLM"], [int(word) for word in flags.layers.split(",")]
    weights, reason = model.find_weights(network.sizes)
    print(f"{weights.title} {reason}")
    arrays = model.LayerArrays(side, network.sizes, max(counts), network.tokens, weights)
    y = array_at(arrays, "y", network.tokens, network.sizes.hidden)
    for threads in map(int, flags.threads.split(",")):
        for case in (model.LayerCase(network, count, threads) for count in counts):
            ways = []
            for find in (own_ways, runtime_ways, torch_ways, openvino_ways):
                try:
                    ways += find(case, arrays, y)
                except (ImportError, RuntimeError) as error:
                    print(f"skipped: {find.__name__}: {str(error).strip().splitlines()[0]}")
            exact, errors = find_exact(case, arrays), []
            for _, run in ways:
                y[:] = 0
                run()
                errors.append(numpy.linalg.norm(y - exact) / numpy.linalg.norm(exact))
            # The median of processor times, where they are one thread's alone; else the least, since other work delays threads.
            how = (0.005, time.perf_counter, min) if threads > 1 else (1e-4, time.thread_time)
            times = measure(ways, flags.seconds, *how)
            print(f"{case.title}, {case.tokens} tokens, {threads} thread(s):")
            for (name, _), taken, error in zip(ways, times, errors):
                print(f"  {taken * 1e6:10.1f} us  {taken / times[0]:5.2f}  relative error {error:.1e}  {name}", flush=True)


def find_exact(case, arrays):
    try:
        return peers.PyTorch(None, argparse.Namespace(peers=BUILD / "peers")).exact(case, arrays).numpy()
    except ImportError:
        return numpy.full((case.tokens, case.sizes.hidden), numpy.nan)


if __name__ == "__main__":
    main()
