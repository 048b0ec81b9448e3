# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The step of a decoder in PyTorch and ONNX Runtime, on the harness's weights and caches, which all write in place. Each as its
# documentation advises for generation: a static cache for PyTorch, GroupQueryAttention with shared buffers for ONNX Runtime.

from . import model
from ..compiled import Unavailable
from ..layers import peers as layers
from ..peers import spins, timed
from ..peers.onnx_runtime import CONTRIBUTED, OPSET
from ..products.peers import bytes_at, first_line
from ..variants import Variant

# Module and class of each, for peers.find.
PEERS = (("peers", "PyTorch"), ("peers", "PyTorchCompiled"), ("peers", "ONNXRuntime"), ("openvino", "OpenVINO"))


def run_step(torch, weights, caches, decoder, token, attend):
    """One step; attend(q, k, v, keys, values) puts the new key and value into the caches."""
    functional, heads, norm_shape = torch.nn.functional, decoder.heads, (decoder.hidden,)

    def linear(x, name):
        return functional.linear(x, weights[f"{name}_weight"], weights[f"{name}_bias"])

    def norm(x, name):
        return functional.layer_norm(x, norm_shape, weights[f"{name}_gamma"], weights[f"{name}_beta"], model.EPSILON)

    x = token
    for layer in range(decoder.layers):
        of = f"l{layer}_"
        q, k, v = (part.view(1, heads, 1, decoder.size) for part in linear(norm(x, f"{of}norm1"), f"{of}qkv").chunk(3, dim=-1))
        context = attend(q, k, v, caches[2 * layer], caches[2 * layer + 1]).view(1, decoder.hidden)
        x = x + linear(context, f"{of}output")
        inner = functional.gelu(linear(norm(x, f"{of}norm2"), f"{of}up"), approximate="tanh")
        x = x + linear(inner, f"{of}down")
    return functional.linear(norm(x, "norm"), weights["head_weight"])


class PyTorch(layers.PyTorch):
    """Ops called one by one. Attention reads the filled part of the caches, a view."""

    def load(self, case, arrays):
        decoder = case.decoder
        weights = {name: self.tensor(arrays[name], *shape) for name, shape in decoder.parameters.items()}
        caches = [self.tensor(arrays[name], 1, decoder.heads, decoder.places, decoder.size) for name in decoder.caches]
        token = self.torch.frombuffer(bytes_at(arrays["id"], 8), dtype=self.torch.int64)
        return weights, caches, token

    def function(self, case, arrays):
        torch, (weights, caches, token) = self.torch, self.load(case, arrays)
        past, decoder = case.past, case.decoder

        def attend(q, k, v, keys, values):
            keys[:, :, past : past + 1], values[:, :, past : past + 1] = k, v
            return torch.nn.functional.scaled_dot_product_attention(q, keys[:, :, : past + 1], values[:, :, : past + 1])

        def run():
            x = torch.nn.functional.embedding(token, weights["words"]) + weights["positions"][past]
            return run_step(torch, weights, caches, decoder, x, attend)
        return run

    def variants(self, case, arrays):
        self.torch.set_num_threads(case.threads)
        function = self.function(case, arrays)
        y = self.tensor(arrays["y"], 1, case.decoder.words)
        yield Variant(self.name, f"PyTorch{self.form}", "peer", timed(function, case.threads), is_close=True, spins=spins(case),
                      fetch=lambda: y.copy_(function()))


class PyTorchCompiled(PyTorch):
    """torch.compile of a step whose place is a number at run time, with a static cache and a mask, and weights as constants."""
    name, form = "pytorch-compiled", ", compiled"

    def __init__(self, native, options):
        super().__init__(native, options)
        self.compiled = {}

    def function(self, case, arrays):
        key = case.decoder, case.threads
        if key not in self.compiled:
            self.compiled[key] = self.compile(case, arrays)
        step, (weights, caches, token) = self.compiled[key], self.load(case, arrays)
        place = self.torch.tensor([case.past])
        return lambda: step(token, place, caches)

    def compile(self, case, arrays):
        torch, decoder, (weights, caches, token) = self.torch, case.decoder, self.load(case, arrays)

        class Step(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.names = list(weights)
                self.values = torch.nn.ParameterList([torch.nn.Parameter(value, requires_grad=False) for value in weights.values()])

            def forward(self, token, place, caches):
                found = dict(zip(self.names, self.values))
                mask = torch.arange(decoder.places)[None, None, None, :] <= place

                def attend(q, k, v, keys, values):
                    keys.index_copy_(2, place, k)
                    values.index_copy_(2, place, v)
                    return torch.nn.functional.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
                x = torch.nn.functional.embedding(token, found["words"]) + found["positions"][place]
                return run_step(torch, found, caches, decoder, x, attend)
        try:
            torch.compiler.reset()
            with torch._inductor.config.patch(freezing=True):
                compiled = torch.compile(Step().eval(), dynamic=False)
                compiled(token, torch.tensor([case.past]), caches)
        except Exception as error:  # whatever the compiler stack of PyTorch throws
            raise Unavailable(first_line(error)) from error
        return compiled


class ONNXRuntime:
    def __init__(self, native, options):
        try:
            import numpy
            import onnx
            import onnxruntime
        except ImportError as error:
            raise Unavailable(f"not installed ({error})") from error
        self.numpy, self.onnx, self.runtime = numpy, onnx, onnxruntime
        self.title = f"ONNX Runtime {onnxruntime.__version__}"
        self.sessions = {}

    def constants(self, decoder, arrays):
        """Matrices as [in, out], as MatMul takes them."""
        for name, shape in decoder.parameters.items():
            is_matrix = name.endswith("_weight")
            count = shape[0] * (shape[1] if len(shape) == 2 else 1)
            memory = bytes_at(arrays[f"in-out {name}" if is_matrix else name], 4 * count)
            value = self.numpy.frombuffer(memory, dtype=self.numpy.float32).reshape(shape[::-1] if is_matrix else shape)
            yield self.onnx.numpy_helper.from_array(value, name)

    def graph(self, decoder, arrays):
        helper, types, nodes = self.onnx.helper, self.onnx.TensorProto, []

        def node(op, inputs, outputs, domain="", **attributes):
            nodes.append(helper.make_node(op, inputs, outputs, domain=domain, **attributes))
            return outputs[0]

        def norm(name, x, result):
            return node("LayerNormalization", [x, f"{name}_gamma", f"{name}_beta"], [result], axis=-1, epsilon=model.EPSILON)

        def linear(name, x):
            return node("Add", [node("MatMul", [x, f"{name}_weight"], [f"{name}_product"]), f"{name}_bias"], [f"{name}_made"])

        rows = [node("Gather", ["words", "id"], ["word"]), node("Gather", ["positions", "place"], ["position"])]
        x = node("Add", rows, ["x"])
        for layer in range(decoder.layers):
            of, keys, values = f"l{layer}_", f"keys{layer}", f"values{layer}"
            parts = [f"{of}{part}" for part in ("q", "k", "v")]
            node("Split", [linear(f"{of}qkv", norm(f"{of}norm1", x, f"{of}h"))], parts, axis=-1)
            node("GroupQueryAttention", [*parts, keys, values, "filled", "total"], [f"{of}a", f"new_{keys}", f"new_{values}"], CONTRIBUTED,
                 num_heads=decoder.heads, kv_num_heads=decoder.heads)
            middle = node("Add", [x, linear(f"{of}output", f"{of}a")], [f"{of}middle"])
            raised = node("MatMul", [norm(f"{of}norm2", middle, f"{of}g"), f"{of}up_weight"], [f"{of}raised"])
            inner = node("FastGelu", [raised, f"{of}up_bias"], [f"{of}inner"], CONTRIBUTED)
            x = node("Add", [middle, linear(f"{of}down", inner)], [f"{of}y"])
        node("MatMul", [norm("norm", x, "last"), "head_weight"], ["y"])
        cache = [1, decoder.heads, decoder.places, decoder.size]
        inputs = [("id", types.INT64, [1, 1]), ("place", types.INT64, [1, 1]), ("filled", types.INT32, [1]), ("total", types.INT32, [1])]
        inputs += [(name, types.FLOAT, cache) for name in decoder.caches]
        outputs = [("y", types.FLOAT, [1, 1, decoder.words])] + [(f"new_{name}", types.FLOAT, cache) for name in decoder.caches]
        infos = [[helper.make_tensor_value_info(*value) for value in values] for values in (inputs, outputs)]
        return helper.make_graph(nodes, "step", *infos, list(self.constants(decoder, arrays)))

    def session(self, case, arrays):
        opsets = [self.onnx.helper.make_opsetid("", OPSET), self.onnx.helper.make_opsetid(CONTRIBUTED, 1)]
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = case.threads, 1
        options.log_severity_level = 3
        text = self.onnx.helper.make_model(self.graph(case.decoder, arrays), opset_imports=opsets, ir_version=8).SerializeToString()
        return self.runtime.InferenceSession(text, options, providers=["CPUExecutionProvider"])

    def variants(self, case, arrays):
        key, decoder, numpy, kind = (case.decoder, case.threads), case.decoder, self.numpy, self.onnx.TensorProto.FLOAT
        if key not in self.sessions:
            self.sessions[key] = self.session(case, arrays)
        session, binding = self.sessions[key], self.sessions[key].io_binding()
        binding.bind_input("id", "cpu", 0, self.onnx.TensorProto.INT64, [1, 1], arrays["id"])
        for name, value in (("place", numpy.array([[case.past]])), ("filled", numpy.array([case.past], dtype=numpy.int32)),
                            ("total", numpy.array([case.past + 1], dtype=numpy.int32))):
            binding.bind_cpu_input(name, value)
        cache = [1, decoder.heads, decoder.places, decoder.size]
        for name in decoder.caches:
            binding.bind_input(name, "cpu", 0, kind, cache, arrays[name])
            binding.bind_output(f"new_{name}", "cpu", 0, kind, cache, arrays[name])
        binding.bind_output("y", "cpu", 0, kind, [1, 1, decoder.words], arrays["y"])
        yield Variant("onnx-runtime", "ONNX Runtime", "peer", timed(lambda: session.run_with_iobinding(binding), case.threads),
                      is_close=True, spins=spins(case))
