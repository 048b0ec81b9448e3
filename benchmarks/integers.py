#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures products of i8 by i8 as resid compiles them beside its own f32 and beside peers, whose weights are prepared ahead, all
# in this process and by turns. Prints medians, and ratios to the first line: above 1, resid's integers are faster. Peers that
# are not installed are named. Needs numpy: PYTHONPATH=build/python python3 benchmarks/integers.py

import argparse
import pathlib
import statistics
import subprocess
import time

import numpy
import resid

from harness.peers import Unavailable
from harness.peers.openvino import Builder

BUILD = pathlib.Path(__file__).resolve().parents[1] / "build"
SHAPES = ("128x384x1536", "128x1536x384", "512x768x3072", "2048x2048x2048")

PROGRAM = """
func.func @integers(%q: tensor<{m}x{k}xi8>, %w: tensor<{n}x{k}xi8> {{resid.weight = "w"}}, %r: tensor<{m}xf32>, %s: tensor<{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %y = resid.linear %q, %w x_scale(%r) weight_scale(%s) : tensor<{m}x{k}xi8>, tensor<{n}x{k}xi8>, tensor<{m}xf32>, tensor<{n}xf32>
  return %y : tensor<{m}x{n}xf32>
}}
func.func @floats(%x: tensor<{m}x{k}xf32>, %w: tensor<{n}x{k}xf32> {{resid.weight = "w"}}) -> tensor<{m}x{n}xf32> {{
  %y = resid.linear %x, %w : tensor<{m}x{k}xf32>, tensor<{n}x{k}xf32>
  return %y : tensor<{m}x{n}xf32>
}}
"""


def own_ways(arrays, sizes, threads, cpu):
    packed = subprocess.run([BUILD / "bin/resid-opt", "-", "--resid-pack-weights"], input=PROGRAM.format(**sizes), text=True,
                            check=True, capture_output=True).stdout
    module = resid.compile(packed, cpu=cpu)
    integers, floats = module.integers_prepare(arrays["w"]), module.floats_prepare(arrays["fw"])
    result = numpy.empty((sizes["m"], sizes["n"]), numpy.float32)
    yield f"resid, integers, {cpu}", lambda: module.integers(arrays["q"], integers, arrays["r"], arrays["s"], out=result, threads=threads)
    yield f"resid, f32, {cpu}", lambda: module.floats(arrays["x"], floats, out=result, threads=threads)


def runtime_ways(arrays, sizes, threads):
    import onnx
    import onnxruntime
    helper, kinds = onnx.helper, onnx.TensorProto
    weights = helper.make_tensor("w", kinds.INT8, [sizes["k"], sizes["n"]], numpy.ascontiguousarray(arrays["w"].T).tobytes(), raw=True)
    graph = helper.make_graph([helper.make_node("MatMulInteger", ["q", "w"], ["y"])], "product",
                              [helper.make_tensor_value_info("q", kinds.INT8, [sizes["m"], sizes["k"]])],
                              [helper.make_tensor_value_info("y", kinds.INT32, [sizes["m"], sizes["n"]])], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding, result = session.io_binding(), numpy.zeros((sizes["m"], sizes["n"]), numpy.int32)
    binding.bind_input("q", "cpu", 0, numpy.int8, arrays["q"].shape, arrays["q"].ctypes.data)
    binding.bind_output("y", "cpu", 0, numpy.int32, result.shape, result.ctypes.data)
    session.run_with_iobinding(binding)
    expected = arrays["q"].astype(numpy.int64) @ arrays["w"].astype(numpy.int64).T
    exact = "" if (result == expected).all() else ", of which some sums saturate"
    yield f"ONNX Runtime {onnxruntime.__version__}, MatMulInteger{exact}", lambda kept=result: session.run_with_iobinding(binding)


def torch_ways(arrays, sizes, threads):
    import torch
    torch.set_num_threads(threads)
    q, w = torch.from_numpy(arrays["q"]), torch.from_numpy(arrays["w"]).t().contiguous()
    yield f"PyTorch {torch.__version__}, _int_mm", lambda: torch._int_mm(q, w)
    scales, zeros = torch.from_numpy(arrays["s"]), torch.zeros(sizes["n"], dtype=torch.int64)
    unsigned = (torch.from_numpy(arrays["q"]).to(torch.int16) + 128).to(torch.uint8)
    packed = torch.ops.onednn.qlinear_prepack(w.t().contiguous(), list(unsigned.shape))

    def linear():
        return torch.ops.onednn.qlinear_pointwise(unsigned, 0.01, 128, packed, scales, zeros, None, 1.0, 0, torch.float32, "none", [], "")
    linear()
    yield f"PyTorch {torch.__version__}, oneDNN's qlinear", linear


def openvino_ways(arrays, sizes, threads):
    """Its products of integers are those after a FakeQuantize, as its tools write them; so the rows come as floats."""
    build = Builder()
    ops, least, most = build.ops, numpy.float32(-1.28), numpy.float32(1.27)
    x = ops.parameter([sizes["m"], sizes["k"]], numpy.float32)
    weight = ops.multiply(ops.convert(ops.constant(arrays["w"]), "f32"), ops.constant(arrays["s"].reshape(-1, 1)))
    product = ops.matmul(ops.fake_quantize(x, least, most, least, most, 256), weight, False, True)
    request = build.request([product], [x], threads)
    rows = arrays["x"] * numpy.float32(0.01)
    request.set_input_tensor(0, build.bind(rows))
    request.infer()
    used = {str(node.get_rt_info()["primitiveType"].astype(str)) for node in request.get_compiled_model().get_runtime_model().get_ops()
            if node.get_rt_info()["layerType"].astype(str) == "FullyConnected"}
    yield f"{build.title}, FakeQuantize and MatMul, {', '.join(used)}", lambda kept=rows: request.infer()


def measure(ways, seconds, pause=0.0, clock=time.perf_counter, of=statistics.median):
    """The median time of each, by turns, or what `of` makes of the times. With a pause, threads of others have stopped to spin, and a call comes before."""
    times = [[] for _ in ways]
    for _, run in ways:
        run()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 5:
        for (_, run), taken in zip(ways, times):
            if pause:
                time.sleep(pause)
                run()
            start = clock()
            run()
            taken.append(clock() - start)
    return [of(taken) for taken in times]


def main():
    parser = argparse.ArgumentParser(description="Measures products of integers beside f32 and peers, by turns.")
    parser.add_argument("--shapes", default=",".join(SHAPES), help="ROWSxTERMSxCOLUMNS,…")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cpus", default="native", help="of resid's own, such as native,x86-64-v3")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each shape")
    flags = parser.parse_args()
    for shape in flags.shapes.split(","):
        m, k, n = map(int, shape.split("x"))
        sizes, draw = {"m": m, "k": k, "n": n}, numpy.random.default_rng(1)
        # Of resid.quantize, which gives no -128.
        arrays = {"q": draw.integers(-127, 128, (m, k), numpy.int8), "w": draw.integers(-127, 128, (n, k), numpy.int8)}
        for name, size in (("r", m), ("s", n)):
            arrays[name] = draw.random(size, numpy.float32)
        arrays["x"], arrays["fw"] = arrays["q"].astype(numpy.float32), arrays["w"].astype(numpy.float32)
        ways = []
        for cpu in flags.cpus.split(","):
            ways += own_ways(arrays, sizes, flags.threads, cpu)
        for find in (runtime_ways, torch_ways, openvino_ways):
            try:
                ways += find(arrays, sizes, flags.threads)
            except (ImportError, AttributeError, RuntimeError, Unavailable) as error:
                print(f"skipped: {find.__name__}: {str(error).strip().splitlines()[0]}")
        medians = measure(ways, flags.seconds)
        print(f"{shape}, {flags.threads} thread(s):")
        for (name, _), median in zip(ways, medians):
            print(f"  {median * 1e6:10.1f} us  {median / medians[0]:5.2f}  {2 * m * k * n / median / 1e9:8.1f} Gop/s  {name}")


if __name__ == "__main__":
    main()
