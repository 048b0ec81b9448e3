# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The step of a decoder in OpenVINO, stateful, as its converters make decoders: keys and values are variables that grow by
# concatenation, which its CPU plugin fuses with the attention. Before each sample the variables are set to the caches; that is not timed.

import time

from . import model
from ..peers import spins
from ..peers.openvino import Builder
from ..products.peers import bytes_at
from ..variants import Variant


class OpenVINO:
    def __init__(self, native, options):
        self.build = Builder()
        self.title = self.build.title
        self.requests = {}

    def request(self, case, arrays):
        build, ops, decoder, sinks = self.build, self.build.ops, case.decoder, []
        from openvino.op import util
        weights = {name: build.array(bytes_at(arrays[name], 4 * shape[0] * (shape[1] if len(shape) == 2 else 1)), *shape)
                   for name, shape in decoder.parameters.items()}
        token, place = (ops.parameter([1, 1], build.numpy.int64, name=name) for name in ("id", "place"))
        batch = ops.parameter([1], build.numpy.int32, name="beam_idx")

        def pair(name, *parts):
            return (weights[f"{name}_{part}"] for part in parts)

        def grow(name, new):
            """The variable with the new key or value after it."""
            info = util.VariableInfo()
            info.data_shape = build.openvino.PartialShape([1, decoder.heads, -1, decoder.size])
            info.data_type, info.variable_id = build.openvino.Type.f32, name
            variable = util.Variable(info)
            start = ops.constant(build.numpy.zeros((1, decoder.heads, 0, decoder.size), dtype=build.numpy.float32))
            whole = ops.concat([ops.gather(ops.read_value(start, variable), batch, build.integers(0)), new], 2)
            sinks.append(ops.assign(whole, variable))
            return whole

        rows = [ops.gather(ops.constant(weights[name]), index, build.integers(0)) for name, index in (("words", token), ("positions", place))]
        x = ops.add(*rows)
        for layer in range(decoder.layers):
            of = f"l{layer}_"
            made = build.linear(build.norm(x, *pair(f"{of}norm1", "gamma", "beta"), model.EPSILON), *pair(f"{of}qkv", "weight", "bias"))
            parts = ops.split(made, ops.constant(2, build.numpy.int64), 3).outputs()
            q, k, v = (build.split_heads(part, decoder.heads, decoder.size) for part in parts)
            a = ops.scaled_dot_product_attention(q, grow(f"keys{layer}", k), grow(f"values{layer}", v), causal=False)
            x = ops.add(x, build.linear(build.join_heads(a, decoder.hidden), *pair(f"{of}output", "weight", "bias")))
            g = build.norm(x, *pair(f"{of}norm2", "gamma", "beta"), model.EPSILON)
            inner = ops.gelu(build.linear(g, *pair(f"{of}up", "weight", "bias")), "tanh")
            x = ops.add(x, build.linear(inner, *pair(f"{of}down", "weight", "bias")))
        y = build.linear(build.norm(x, *pair("norm", "gamma", "beta"), model.EPSILON), weights["head_weight"])
        return build.request([y], [token, place, batch], case.threads, sinks)

    def variants(self, case, arrays):
        key, build, decoder = (case.decoder, case.threads), self.build, case.decoder
        if key not in self.requests:
            self.requests[key] = self.request(case, arrays)
        request, numpy = self.requests[key], build.numpy
        size = 4 * decoder.heads * decoder.places * decoder.size
        caches = {name: build.array(bytes_at(arrays[name], size), 1, decoder.heads, decoder.places, decoder.size) for name in decoder.caches}
        inputs = [build.bind(value) for value in (
            numpy.frombuffer(bytes_at(arrays["id"], 8), dtype=numpy.int64).reshape(1, 1), numpy.array([[case.past]]),
            numpy.zeros(1, dtype=numpy.int32))]
        y = build.bind(build.array(bytes_at(arrays["y"], case.bytes_of("y")), 1, 1, decoder.words))
        clock = time.thread_time_ns if case.threads == 1 else time.perf_counter_ns

        def run(repeats):
            for index, tensor in enumerate(inputs):
                request.set_input_tensor(index, tensor)
            request.set_output_tensor(0, y)
            for state in request.query_state():
                state.state = build.openvino.Tensor(numpy.ascontiguousarray(caches[state.name][:, :, : case.past]))
            start = clock()
            for _ in range(repeats):
                request.infer()
            return (clock() - start) / repeats
        yield Variant("openvino", "OpenVINO", "peer", run, is_close=True, spins=spins(case))
