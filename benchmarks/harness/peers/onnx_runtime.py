# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ONNX Runtime on the harness's arrays: a graph of one node or two per kernel, bound inputs and outputs.

from . import Unavailable, spins, timed
from .. import cases
from ..cases import EPSILON
from ..variants import Variant

OPSET = 17
CONTRIBUTED = "com.microsoft"
NORM = {"axis": -1, "epsilon": EPSILON}
ADD = ("", "Add", ("x", "f"), ("s",), {})
SUMS = ("", "ReduceSum", ("x", "axes"), (cases.COLUMN_SUMS,), {"keepdims": 0})


def layer_norm(name):
    return "", "LayerNormalization", (name, "gamma", "beta"), ("y",), NORM


def rms_norm(name):
    return "", "SimplifiedLayerNormalization", (name, "gamma"), ("y",), NORM


def skip_norm(op, *parameters):
    """The sum is the last of its outputs, of which those between are not asked for."""
    return CONTRIBUTED, op, ("x", "f", *parameters), ("y", "", "", "s"), {"epsilon": EPSILON}


# Kernel -> graphs, each with what is added to the title, and its nodes: domain, op, inputs, outputs, attributes. The fused
# op is what the optimizer makes of an add and a norm. Its layer norm is several times slower than the two.
TWO_NODES = "add and norm as two nodes"
GRAPHS = {
    "layer_norm": {"": [layer_norm("x")]},
    "rms_norm": {"": [rms_norm("x")]},
    "add_layer_norm": {"": [skip_norm("SkipLayerNormalization", "gamma", "beta")], TWO_NODES: [ADD, layer_norm("s")]},
    "add_rms_norm": {"": [skip_norm("SkipSimplifiedLayerNormalization", "gamma")], TWO_NODES: [ADD, rms_norm("s")]},
    "column_sums": {"": [SUMS]},
}
# What would make one node of the two.
FUSIONS = ["SkipLayerNormFusion"]


class ONNXRuntime:
    def __init__(self, native, options):
        try:
            import onnx
            import onnxruntime
        except ImportError as error:
            raise Unavailable(f"not installed ({error})") from error
        self.onnx, self.runtime = onnx, onnxruntime
        self.title = f"ONNX Runtime {onnxruntime.__version__}"
        self.sessions = {}

    def model(self, case, nodes):
        helper, types = self.onnx.helper, self.onnx.TensorProto
        rows_type = {"f32": types.FLOAT, "bf16": types.BFLOAT16}[case.type]

        def value(name):
            shape = [case.rows, case.width] if name in cases.ROW_ARRAYS else [case.width]
            return helper.make_tensor_value_info(name, types.FLOAT if name == cases.COLUMN_SUMS else rows_type, shape)
        made = [helper.make_node(op, inputs, outputs, domain=domain, **attributes)
                for domain, op, inputs, outputs, attributes in nodes]
        read = [name for node in nodes for name in node[2] if name not in ("s", "axes")]
        written = [name for node in nodes for name in node[3] if name]
        graph = helper.make_graph(made, "kernel", [value(name) for name in dict.fromkeys(read)],
                                  [value(name) for name in written],
                                  [helper.make_tensor("axes", types.INT64, [1], [0])] if nodes == [SUMS] else [])
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIBUTED, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def bound_session(self, case, arrays, nodes):
        """A session with as many threads as the case, which works on the harness's arrays; None where it has no kernel."""
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = case.threads, 1
        options.log_severity_level = 3
        model = self.model(case, nodes)
        try:
            session = self.runtime.InferenceSession(model.SerializeToString(), options, disabled_optimizers=FUSIONS,
                                                    providers=["CPUExecutionProvider"])
        except self.runtime.capi.onnxruntime_pybind11_state.NotImplemented:
            return None
        binding = session.io_binding()
        for values, bind in ((model.graph.input, binding.bind_input), (model.graph.output, binding.bind_output)):
            for value in values:
                kind = value.type.tensor_type
                bind(value.name, "cpu", 0, kind.elem_type, [size.dim_value for size in kind.shape.dim], arrays[value.name])
        return session, binding

    def variants(self, case, arrays):
        if case.kernel.is_backward:
            raise Unavailable("it is set up for inference, which has no gradients")
        if case.kernel.name not in GRAPHS:
            raise Unavailable("dropout is not among its kernels for inference")
        if case.kernel.name == "column_sums" and case.type != "f32":
            raise Unavailable("its sums have the type of their terms")
        found = [self.variant(case, arrays, *graph) for graph in GRAPHS[case.kernel.name].items()]
        if not any(found):
            raise Unavailable(f"it has no kernel for {case.type}")
        return [variant for variant in found if variant]

    def variant(self, case, arrays, form, nodes):
        """A way of a kernel; None where one of its ops has no kernel."""
        if (case, form) not in self.sessions:
            self.sessions[case, form] = self.bound_session(case, arrays, nodes)
        if self.sessions[case, form] is None:
            return None
        session, binding = self.sessions[case, form]
        run = timed(lambda: session.run_with_iobinding(binding), case.threads)
        name, title = ("onnx-runtime-two-nodes", f"ONNX Runtime, {form}") if form else ("onnx-runtime", "ONNX Runtime")
        return Variant(name, title, "peer", run, is_close=case.kernel.name != "column_sums", spins=spins(case))
