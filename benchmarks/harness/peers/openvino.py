# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# OpenVINO: what its graphs of layers and of decoders have in common, and how they are compiled. Set up as its documentation advises
# for one request at a time: the latency hint, one stream, as many threads as the case. Its own choice where a processor has bf16
# would be bf16, and 8 bits for caches of keys and values, so f32 is asked for. Weights are constants, which it packs.

from . import Unavailable


class Builder:
    """Nodes of OpenVINO by short names."""

    def __init__(self):
        try:
            import numpy
            import openvino
            from openvino import opset13
        except ImportError as error:
            raise Unavailable(f"not installed ({error})") from error
        self.numpy, self.openvino, self.ops = numpy, openvino, opset13
        self.title = f"OpenVINO {openvino.__version__.split('-')[0]}"

    def array(self, memory, *shape):
        """An array over these bytes, not a copy."""
        return self.numpy.frombuffer(memory, dtype=self.numpy.float32).reshape(shape)

    def integers(self, *values):
        return self.ops.constant(self.numpy.array(values, dtype=self.numpy.int64))

    def linear(self, x, weight, bias=None):
        """A layer with a weight [out, in]."""
        product = self.ops.matmul(x, self.ops.constant(weight), False, True)
        return product if bias is None else self.ops.add(product, self.ops.constant(bias))

    def norm(self, x, gamma, beta, epsilon):
        scaled = self.ops.mvn(x, self.integers(-1), True, epsilon, "inside_sqrt")
        return self.ops.add(self.ops.multiply(scaled, self.ops.constant(gamma)), self.ops.constant(beta))

    def split_heads(self, x, heads, size):
        """[1, tokens, heads·size] as [1, heads, tokens, size]."""
        return self.ops.transpose(self.ops.reshape(x, self.integers(0, 0, heads, size), True), self.integers(0, 2, 1, 3))

    def join_heads(self, x, width):
        return self.ops.reshape(self.ops.transpose(x, self.integers(0, 2, 1, 3)), self.integers(0, 0, width), True)

    def request(self, results, parameters, threads, sinks=(), change=None):
        """A request for one call at a time. `sinks`: what is assigned to variables. `change` makes another model of it."""
        model = self.openvino.Model([result.output(0) for result in results], list(sinks), parameters, "measured")
        model = change(model) if change else model
        options = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads,
                   "NUM_STREAMS": 1, "KV_CACHE_PRECISION": "f32"}
        return self.openvino.Core().compile_model(model, "CPU", options).create_infer_request()

    def bind(self, array):
        return self.openvino.Tensor(array, shared_memory=True)
