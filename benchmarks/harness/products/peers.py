# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Products of other libraries, on the harness's arrays; weights are prepared ahead in each way that a library has. What is not
# installed, and what a library does not have, is Unavailable with the reason.

import ctypes

from ..compiled import Unavailable
from ..native import address_of, make_call
from ..peers import onednn, pytorch, spins, timed
from ..peers.onnx_runtime import OPSET
from ..variants import Variant
from .ways import in_turn, share

# Module and class of each, for peers.find.
PEERS = (("peers", "PyTorch"), ("peers", "PyTorchOneDNN"), ("peers", "PyTorchMKL"),
         ("peers", "ONNXRuntime"), ("peers", "OneDNN"), ("peers", "OpenBLAS"))


def bytes_at(address, size):
    return (ctypes.c_byte * size).from_address(address)


def first_line(error):
    return str(error).strip().splitlines()[0]


def one_by_one(functions, threads):
    """Times functions that take turns: nanoseconds of one call."""
    def run():
        for function in functions:
            function()
    return share(timed(run, threads), len(functions))


class PyTorch:
    """Its linear layer, whose weights are [out, in]."""
    name, form = "pytorch", ""

    def __init__(self, native, options):
        self.torch = pytorch.load(options)
        pytorch.keep_freed_memory()
        pytorch.enter_inference_mode(self.torch)
        self.title = f"PyTorch {self.torch.__version__}{self.form}"

    def tensor(self, address, case, name, shape):
        kind = {"f32": self.torch.float32, "bf16": self.torch.bfloat16}[case.type]
        return self.torch.frombuffer(bytes_at(address, case.bytes_of(name)), dtype=kind).view(shape)

    def variants(self, case, arrays):
        self.torch.set_num_threads(case.threads)
        a = self.tensor(arrays["a"], case, "a", (case.rows, case.terms))
        y = self.tensor(arrays["y"], case, "y", (case.rows, case.width))
        functions = [self.linear(case, a, self.tensor(address, case, "out-in", (case.width, case.terms)))
                     for address in arrays.weights(case, "out-in")]
        yield Variant(self.name, f"PyTorch{self.form}", "peer", one_by_one(functions, case.threads), is_close=True,
                      spins=spins(case), fetch=lambda: y.copy_(functions[-1]()))

    def linear(self, case, a, weights):
        linear = self.torch.nn.functional.linear
        return lambda: linear(a, weights)


class PyTorchOneDNN(PyTorch):
    """What torch.compile makes of a linear layer whose weights are constant."""
    name, form = "pytorch-onednn", ", packed by oneDNN"

    def linear(self, case, a, weights):
        try:
            packed = self.torch.ops.mkldnn._reorder_linear_weight(weights, case.rows)
            linear = self.torch.ops.mkldnn._linear_pointwise
            linear(a, packed, None, "none", [], "")
        except (AttributeError, RuntimeError) as error:
            raise Unavailable(first_line(error)) from error
        return lambda: linear(a, packed, None, "none", [], "")


class PyTorchMKL(PyTorch):
    name, form = "pytorch-mkl", ", packed by MKL"

    def linear(self, case, a, weights):
        if case.type != "f32":
            raise Unavailable(f"it has no {case.type}")
        try:
            packed = self.torch.ops.mkl._mkl_reorder_linear_weight(weights, case.rows)
            linear = self.torch.ops.mkl._mkl_linear
        except (AttributeError, RuntimeError) as error:
            raise Unavailable(first_line(error)) from error
        return lambda: linear(a, packed, weights, None, case.rows)


class ONNXRuntime:
    """A graph of one MatMul per copy of the weights, which are constants: a session packs them. It would keep one of equal
    constants alone, so copies differ in one element, and only the results of the last one are looked at."""

    def __init__(self, native, options):
        try:
            import onnx
            import onnxruntime
        except ImportError as error:
            raise Unavailable(f"not installed ({error})") from error
        self.onnx, self.runtime = onnx, onnxruntime
        self.title = f"ONNX Runtime {onnxruntime.__version__}"

    def model(self, case, addresses):
        helper, types = self.onnx.helper, self.onnx.TensorProto
        kind = {"f32": types.FLOAT, "bf16": types.BFLOAT16}[case.type]
        nodes = [helper.make_node("MatMul", ["a", f"w{i}"], [f"y{i}"]) for i in range(len(addresses))]
        constants = []
        for i, address in enumerate(addresses):
            content = bytearray(bytes_at(address, case.bytes_of("in-out")))
            if i + 1 < len(addresses):
                content[(i + 1) * case.size - 1] ^= 0x80
            constants.append(helper.make_tensor(f"w{i}", kind, [case.terms, case.width], bytes(content), raw=True))
        graph = helper.make_graph(nodes, "products", [helper.make_tensor_value_info("a", kind, [case.rows, case.terms])],
                                  [helper.make_tensor_value_info(node.output[0], kind, [case.rows, case.width])
                                   for node in nodes], constants)
        return kind, helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)

    def variants(self, case, arrays):
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = case.threads, 1
        options.log_severity_level = 3
        addresses = arrays.weights(case, "in-out")
        kind, model = self.model(case, addresses)
        try:
            session = self.runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        except self.runtime.capi.onnxruntime_pybind11_state.NotImplemented as error:
            raise Unavailable(f"it has no kernel for {case.type}") from error
        binding = session.io_binding()
        binding.bind_input("a", "cpu", 0, kind, [case.rows, case.terms], arrays["a"])
        for i in range(len(addresses)):
            binding.bind_output(f"y{i}", "cpu", 0, kind, [case.rows, case.width],
                                arrays["y" if i + 1 == len(addresses) else "other_y"])
        run = timed(lambda: session.run_with_iobinding(binding), case.threads)
        yield Variant("onnx-runtime", "ONNX Runtime", "peer", share(run, len(addresses)), is_close=True,
                      spins=spins(case))


class OneDNN(onednn.Wrapper):
    """Its matmul primitive, with weights in the form that it chooses."""

    def variants(self, case, arrays):
        primitives = [self.product(case, address, arrays) for address in arrays.weights(case, "in-out")]
        if not all(primitives):
            raise Unavailable(f"it refuses the primitive for {case.type}")
        calls = [make_call(address_of(self.functions, "onednn_execute"), [primitive.address]) for primitive in primitives]
        time = in_turn(self.native, calls, case)
        # The primitives live as long as the function that calls them.
        yield Variant("onednn", "oneDNN", "peer", lambda repeats, kept=primitives: time(repeats), is_close=True,
                      spins=spins(case))

    def product(self, case, weights, arrays):
        address = self.functions.onednn_create_product(case.rows, case.terms, case.width, case.size, case.threads,
                                                       arrays["a"], weights, arrays["y"])
        return onednn.Primitive(self.functions, address) if address else None


class OpenBLAS:
    """NumPy's product, which has no way to pack ahead."""

    def __init__(self, native, options):
        try:
            import numpy
            import threadpoolctl
        except ImportError as error:
            raise Unavailable(f"not installed ({error})") from error
        self.numpy, self.pools = numpy, threadpoolctl
        kinds = {pool["internal_api"]: pool for pool in threadpoolctl.threadpool_info()}
        if "openblas" not in kinds:
            raise Unavailable(f"NumPy {numpy.__version__} brings no OpenBLAS")
        self.title = f"OpenBLAS {kinds['openblas']['version']} of NumPy {numpy.__version__}"

    def variants(self, case, arrays):
        if case.type != "f32":
            raise Unavailable(f"it has no {case.type}")
        self.pools.threadpool_limits(case.threads, user_api="blas")

        def array(address, name, shape):
            return self.numpy.frombuffer(bytes_at(address, case.bytes_of(name)), dtype=self.numpy.float32).reshape(shape)
        a = array(arrays["a"], "a", (case.rows, case.terms))
        y = array(arrays["y"], "y", (case.rows, case.width))
        functions = [lambda w=array(address, "in-out", (case.terms, case.width)): self.numpy.matmul(a, w, out=y)
                     for address in arrays.weights(case, "in-out")]
        yield Variant("openblas", "OpenBLAS", "peer", one_by_one(functions, case.threads), is_close=True,
                      spins=spins(case))
