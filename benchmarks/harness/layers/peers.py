# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Layers in other libraries, on the harness's weights: PyTorch as written by hand, its own encoder layer and torch.compile; and
# ONNX Runtime with the fused ops of its optimizer. What is not installed says so.

from . import model
from ..compiled import Unavailable
from ..peers import pytorch, spins, timed
from ..peers.onnx_runtime import CONTRIBUTED, OPSET, TWO_NODES
from ..products.peers import bytes_at, first_line
from ..variants import Variant

# Module and class of each, for peers.find.
PEERS = (("peers", "PyTorch"), ("peers", "PyTorchEncoder"), ("peers", "PyTorchCompiled"), ("peers", "ONNXRuntime"),
         ("openvino", "OpenVINO"))


def attend(torch, x, layer, heads):
    """Self-attention less its projection, in plain operations."""
    linear, (tokens, width) = torch.nn.functional.linear, x.shape
    q, k, v = (linear(x, *layer[name]).view(tokens, heads, width // heads).transpose(0, 1)
               for name in ("query", "key", "value"))
    return torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(0, 1).reshape(tokens, width)


def run_layers(torch, x, layers, heads):
    functional = torch.nn.functional
    for layer in layers:
        context = functional.linear(attend(torch, x, layer, heads), *layer["output"])
        middle = functional.layer_norm(x + context, x.shape[-1:], *layer["norm1"], model.EPSILON)
        inner = functional.gelu(functional.linear(middle, *layer["up"]))
        x = functional.layer_norm(middle + functional.linear(inner, *layer["down"]), x.shape[-1:], *layer["norm2"], model.EPSILON)
    return x


class PyTorch:
    """Linear layers, scaled_dot_product_attention, gelu and layer_norm, called one by one."""
    name, form = "pytorch", ""

    def __init__(self, native, options):
        self.torch = pytorch.load(options)
        pytorch.keep_freed_memory()
        pytorch.enter_inference_mode(self.torch)
        self.title = f"PyTorch {self.torch.__version__}{self.form}"

    def tensor(self, address, *shape):
        count = 1
        for size in shape:
            count *= size
        return self.torch.frombuffer(bytes_at(address, 4 * count), dtype=self.torch.float32).view(shape)

    def layers(self, case, arrays):
        """The parameters of each layer: weight and bias, or gamma and beta, by name."""
        found = []
        for number in range(case.layers):
            of = f"l{number}_"
            found.append({name: (self.tensor(arrays[f"out-in {of}{name}_weight"], outputs, inputs),
                                 self.tensor(arrays[f"{of}{name}_bias"], outputs))
                          for name, (inputs, outputs) in case.sizes.linears.items()})
            found[-1].update({name: tuple(self.tensor(arrays[f"{of}{name}_{part}"], case.sizes.hidden)
                                          for part in ("gamma", "beta")) for name in model.NORM_NAMES})
        return found

    def function(self, case, arrays):
        x, layers = self.tensor(arrays["x"], case.tokens, case.sizes.hidden), self.layers(case, arrays)
        return lambda: run_layers(self.torch, x, layers, case.sizes.heads)

    def variants(self, case, arrays):
        self.torch.set_num_threads(case.threads)
        function = self.function(case, arrays)
        y = self.tensor(arrays["y"], case.tokens, case.sizes.hidden)
        yield Variant(self.name, f"PyTorch{self.form}", "peer", timed(function, case.threads), is_close=True,
                      spins=spins(case), fetch=lambda: y.copy_(function().view(y.shape)))

    def exact(self, case, arrays):
        """The result of the same operations in f64."""
        layers = [{name: tuple(tensor.double() for tensor in pair) for name, pair in layer.items()}
                  for layer in self.layers(case, arrays)]
        x = self.tensor(arrays["x"], case.tokens, case.sizes.hidden).double()
        return run_layers(self.torch, x, layers, case.sizes.heads)


class PyTorchEncoder(PyTorch):
    """nn.TransformerEncoderLayer, which has a fast path for inference."""
    name, form = "pytorch-encoder", ", nn.TransformerEncoderLayer"

    def function(self, case, arrays):
        sizes, made = case.sizes, []
        for layer in self.layers(case, arrays):
            module = self.torch.nn.TransformerEncoderLayer(sizes.hidden, sizes.heads, sizes.inner, 0.0, "gelu", model.EPSILON,
                                                           batch_first=True).eval()
            projections = [layer[name] for name in ("query", "key", "value")]
            attention = module.self_attn
            for parameter, value in (
                    (attention.in_proj_weight, self.torch.cat([weight for weight, _ in projections])),
                    (attention.in_proj_bias, self.torch.cat([bias for _, bias in projections])),
                    *zip((attention.out_proj.weight, attention.out_proj.bias), layer["output"]),
                    *zip((module.linear1.weight, module.linear1.bias), layer["up"]),
                    *zip((module.linear2.weight, module.linear2.bias), layer["down"]),
                    *zip((module.norm1.weight, module.norm1.bias), layer["norm1"]),
                    *zip((module.norm2.weight, module.norm2.bias), layer["norm2"])):
                parameter.copy_(value)
            made.append(module)
        x = self.tensor(arrays["x"], 1, case.tokens, sizes.hidden)

        def run():
            value = x
            for module in made:
                value = module(value)
            return value
        return run


class PyTorchCompiled(PyTorch):
    """torch.compile for the very shape, with weights as constants, which it packs."""
    name, form = "pytorch-compiled", ", compiled"

    def __init__(self, native, options):
        super().__init__(native, options)
        self.compiled = {}

    def function(self, case, arrays):
        if case not in self.compiled:
            self.compiled[case] = self.compile(case, arrays)
        return self.compiled[case]

    def compile(self, case, arrays):
        torch, layers, heads = self.torch, self.layers(case, arrays), case.sizes.heads
        x = self.tensor(arrays["x"], case.tokens, case.sizes.hidden)

        class Layers(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.names = [list(layer) for layer in layers]
                self.values = torch.nn.ParameterList([torch.nn.Parameter(value, requires_grad=False) for layer in layers
                                                      for pair in layer.values() for value in pair])

            def forward(self, value):
                pairs = iter(self.values)
                return run_layers(torch, value, [{name: (next(pairs), next(pairs)) for name in names}
                                                 for names in self.names], heads)
        try:
            torch.compiler.reset()
            with torch._inductor.config.patch(freezing=True):
                compiled = torch.compile(Layers().eval(), dynamic=False)
                compiled(x)
        except Exception as error:  # whatever the compiler stack of PyTorch throws
            raise Unavailable(first_line(error)) from error
        return lambda: compiled(x)


class ONNXRuntime:
    """Attention, BiasGelu and SkipLayerNormalization, as its optimizer makes them of an exported model. The last is slow in
    f32 (docs/benchmarks.md), so that it is measured as nodes for the bias, the residual add and the norm, too."""

    def __init__(self, native, options):
        try:
            import onnx
            import onnxruntime
        except ImportError as error:
            raise Unavailable(f"not installed ({error})") from error
        self.onnx, self.runtime = onnx, onnxruntime
        self.title = f"ONNX Runtime {onnxruntime.__version__}"

    def add_norm(self, node, number, skip, name, bias, target, is_fused):
        """Nodes for norm(`name` + bias + skip)."""
        gamma, beta = f"l{number}_{target}_gamma", f"l{number}_{target}_beta"
        result = f"l{number}_{target}_result"
        if is_fused:
            node("SkipLayerNormalization", [name, skip, gamma, beta, bias], result, CONTRIBUTED, epsilon=model.EPSILON)
            return result
        node("Add", [name, bias], f"{result}_biased")
        node("Add", [f"{result}_biased", skip], f"{result}_sum")
        node("LayerNormalization", [f"{result}_sum", gamma, beta], result, axis=-1, epsilon=model.EPSILON)
        return result

    def add_layer(self, node, number, stream, heads, is_fused):
        of = f"l{number}_"
        node("Attention", [stream, f"{of}attention_weight", f"{of}attention_bias"], f"{of}context", CONTRIBUTED, num_heads=heads)
        node("MatMul", [f"{of}context", f"{of}output_weight"], f"{of}projected")
        middle = self.add_norm(node, number, stream, f"{of}projected", f"{of}output_bias", "norm1", is_fused)
        node("MatMul", [middle, f"{of}up_weight"], f"{of}raised")
        node("BiasGelu", [f"{of}raised", f"{of}up_bias"], f"{of}inner", CONTRIBUTED)
        node("MatMul", [f"{of}inner", f"{of}down_weight"], f"{of}lowered")
        return self.add_norm(node, number, middle, f"{of}lowered", f"{of}down_bias", "norm2", is_fused)

    def constants(self, case, arrays):
        """Every parameter; those of query, key and value beside each other, as Attention takes them."""
        import numpy

        def array(address, *shape):
            return numpy.frombuffer(bytes_at(address, 4 * int(numpy.prod(shape))), dtype=numpy.float32).reshape(shape)
        for number in range(case.layers):
            of, found = f"l{number}_", {}
            for name, shape in case.sizes.linears.items():
                found[f"{of}{name}_weight"] = array(arrays[f"in-out {of}{name}_weight"], *shape)
                found[f"{of}{name}_bias"] = array(arrays[f"{of}{name}_bias"], shape[1])
            for part in ("weight", "bias"):
                found[f"{of}attention_{part}"] = numpy.concatenate([found.pop(f"{of}{name}_{part}")
                                                                    for name in ("query", "key", "value")], axis=-1)
            for name in model.NORM_NAMES:
                for part in ("gamma", "beta"):
                    found[f"{of}{name}_{part}"] = array(arrays[f"{of}{name}_{part}"], case.sizes.hidden)
            yield from found.items()

    def graph(self, case, arrays, is_fused):
        helper, kind = self.onnx.helper, self.onnx.TensorProto.FLOAT
        nodes, stream, shape = [], "x", [1, case.tokens, case.sizes.hidden]

        def node(op, inputs, output, domain="", **attributes):
            nodes.append(helper.make_node(op, inputs, [output], domain=domain, **attributes))
        for number in range(case.layers):
            stream = self.add_layer(node, number, stream, case.sizes.heads, is_fused)
        constants = [self.onnx.numpy_helper.from_array(value, name) for name, value in self.constants(case, arrays)]
        graph = helper.make_graph(nodes, "layers", [helper.make_tensor_value_info("x", kind, shape)],
                                  [helper.make_tensor_value_info(stream, kind, shape)], constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIBUTED, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def session(self, case, arrays, network, disabled=()):
        kind, shape = self.onnx.TensorProto.FLOAT, [1, case.tokens, case.sizes.hidden]
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = case.threads, 1
        options.log_severity_level = 3
        session = self.runtime.InferenceSession(network.SerializeToString(), options, disabled_optimizers=list(disabled),
                                                providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        binding.bind_input("x", "cpu", 0, kind, shape, arrays["x"])
        binding.bind_output(network.graph.output[0].name, "cpu", 0, kind, shape, arrays["y"])
        return session, binding

    def variants(self, case, arrays):
        for is_fused in (True, False):
            session, binding = self.session(case, arrays, self.graph(case, arrays, is_fused),
                                            () if is_fused else ("SkipLayerNormFusion",))
            name, title = ("", "") if is_fused else ("-two-nodes", f", {TWO_NODES}")
            yield Variant(f"onnx-runtime{name}", f"ONNX Runtime{title}", "onnx-runtime",
                          timed(lambda s=session, b=binding: s.run_with_iobinding(b), case.threads), is_close=True,
                          spins=spins(case))
