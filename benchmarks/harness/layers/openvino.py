# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Layers in OpenVINO, from the ops that its own converters make of a checkpoint of BERT.

from . import model
from ..peers import spins, timed
from ..peers.openvino import Builder
from ..products.peers import bytes_at
from ..variants import Variant


class OpenVINO:
    def __init__(self, native, options):
        self.build = Builder()
        self.title = self.build.title
        self.requests = {}

    def parameters(self, case, arrays, number):
        """A function from a linear layer's or a norm's name to its two arrays."""
        def array(name, *shape):
            count = shape[0] * shape[1] if len(shape) == 2 else shape[0]
            return self.build.array(bytes_at(arrays[name], 4 * count), *shape)

        def find(name):
            if name in model.NORM_NAMES:
                return tuple(array(f"l{number}_{name}_{part}", case.sizes.hidden) for part in ("gamma", "beta"))
            inputs, outputs = case.sizes.linears[name]
            return array(f"out-in l{number}_{name}_weight", outputs, inputs), array(f"l{number}_{name}_bias", outputs)
        return find

    def add_layer(self, x, of, sizes):
        build = self.build
        q, k, v = (build.split_heads(build.linear(x, *of(name)), sizes.heads, sizes.hidden // sizes.heads)
                   for name in ("query", "key", "value"))
        context = build.join_heads(build.ops.scaled_dot_product_attention(q, k, v, causal=False), sizes.hidden)
        middle = build.norm(build.ops.add(x, build.linear(context, *of("output"))), *of("norm1"), model.EPSILON)
        inner = build.ops.gelu(build.linear(middle, *of("up")), "erf")
        return build.norm(build.ops.add(middle, build.linear(inner, *of("down"))), *of("norm2"), model.EPSILON)

    def request(self, case, arrays, change=None):
        build, shape = self.build, (1, case.tokens, case.sizes.hidden)
        x = value = build.ops.parameter(list(shape), build.numpy.float32, name="x")
        for number in range(case.layers):
            value = self.add_layer(value, self.parameters(case, arrays, number), case.sizes)
        request = build.request([value], [x], case.threads, change=change)
        size = case.bytes_of("x")
        request.set_input_tensor(0, build.bind(build.array(bytes_at(arrays["x"], size), *shape)))
        request.set_output_tensor(0, build.bind(build.array(bytes_at(arrays["y"], size), *shape)))
        return request

    def variants(self, case, arrays):
        if case not in self.requests:
            self.requests[case] = self.request(case, arrays)
        yield Variant("openvino", "OpenVINO", "peer", timed(self.requests[case].infer, case.threads), is_close=True,
                      spins=spins(case))
