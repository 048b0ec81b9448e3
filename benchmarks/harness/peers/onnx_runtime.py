# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ONNX Runtime on the harness's arrays: one node per kernel, bound inputs and outputs.

from . import Unavailable, settle_time, timed
from ..variants import EPSILON, Variant

# Kernel -> (domain, op, inputs, outputs with None for those not asked, attributes)
NODES = {
    "layer_norm": ("", "LayerNormalization", ("x", "gamma", "beta"), ("y",), {"axis": -1}),
    "rms_norm": ("", "SimplifiedLayerNormalization", ("x", "gamma"), ("y",), {"axis": -1}),
    "add_layer_norm": ("com.microsoft", "SkipLayerNormalization", ("x", "f", "gamma", "beta"), ("y", "", "", "s"), {}),
    "add_rms_norm": ("com.microsoft", "SkipSimplifiedLayerNormalization", ("x", "f", "gamma"), ("y", "", "", "s"), {}),
}
OPSET = 17


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

    def model(self, case):
        helper, kind = self.onnx.helper, self.onnx.TensorProto.FLOAT
        domain, op, inputs, outputs, attributes = NODES[case.kernel.name]

        def value(name):
            shape = [case.width] if name in ("gamma", "beta") else [case.rows, case.width]
            return helper.make_tensor_value_info(name, kind, shape)
        node = helper.make_node(op, inputs, outputs, domain=domain, epsilon=EPSILON, **attributes)
        graph = helper.make_graph([node], "kernel", [value(name) for name in inputs],
                                  [value(name) for name in outputs if name])
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()

    def bound_session(self, case, arrays):
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = case.threads, 1
        options.log_severity_level = 3
        session = self.runtime.InferenceSession(self.model(case), options, providers=["CPUExecutionProvider"])
        binding, kind = session.io_binding(), self.numpy.float32
        for value in session.get_inputs():
            binding.bind_input(value.name, "cpu", 0, kind, value.shape, arrays[value.name])
        for value in session.get_outputs():
            binding.bind_output(value.name, "cpu", 0, kind, value.shape, arrays[value.name])
        return session, binding

    def variants(self, case, arrays):
        if case.type != "f32":
            raise Unavailable("bf16 is not in its CPU kernels")
        if case.kernel.name not in NODES:
            raise Unavailable("dropout is not among its kernels for inference")
        if case not in self.sessions:
            self.sessions[case] = self.bound_session(case, arrays)
        session, binding = self.sessions[case]
        run = timed(lambda: session.run_with_iobinding(binding), case.threads)
        return [Variant("onnx-runtime", "ONNX Runtime", "peer", run, is_close=True, settle=settle_time(case))]
