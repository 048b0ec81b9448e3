# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# PyTorch on the harness's arrays: eager ops, and torch.compile for the very shape of a case.

import ctypes
import os
import types

from . import Unavailable, spins, timed
from .. import cases
from ..cases import DROPOUT, EPSILON
from ..variants import Variant


MODES = []


def load(options):
    # What it compiles is kept, so that only the first run pays.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str((options.peers / "inductor").resolve()))
    try:
        import torch
    except ImportError as error:
        raise Unavailable(f"not installed ({error})") from error
    return torch


def enter_inference_mode(torch):
    """For the rest of the process: the mode ends where nobody holds its object any more."""
    if not torch.is_inference_mode_enabled():
        MODES.append(torch.inference_mode(True))
        MODES[-1].__enter__()


def keep_freed_memory():
    """Lets the C library reuse large blocks instead of returning them, so that no call pays for fresh pages."""
    M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_MAX, 0)
    libc.mallopt(M_TRIM_THRESHOLD, ctypes.c_int(2**31 - 1))


def eager_function(torch, case, t):
    """Results go into the harness's arrays where an op has an out form, else into memory that the allocator reuses."""
    norm, shape = torch.nn.functional, (case.width,)
    if case.kernel.name == "layer_norm":
        return lambda: norm.layer_norm(t["x"], shape, t["gamma"], t["beta"], EPSILON)
    if case.kernel.name == "rms_norm":
        return lambda: norm.rms_norm(t["x"], shape, t["gamma"], EPSILON)
    if case.kernel.name == "add_rms_norm":
        return lambda: norm.rms_norm(torch.add(t["x"], t["f"], out=t["s"]), shape, t["gamma"], EPSILON)
    if case.kernel.name == "add_layer_norm":
        return lambda: norm.layer_norm(torch.add(t["x"], t["f"], out=t["s"]), shape, t["gamma"], t["beta"], EPSILON)
    if case.kernel.name == "column_sums":
        return lambda: torch.sum(t["x"], 0, dtype=torch.float32, out=t["sums"])
    assert case.kernel.name == "dropout_add_layer_norm"

    def run():
        dropped = norm.dropout(t["f"], DROPOUT, training=True)
        norm.layer_norm(torch.add(t["x"], dropped, out=t["s"]), shape, t["gamma"], t["beta"], EPSILON)
    return run


def compiled_source(torch):
    """Kernel -> a function of arrays that writes its results in place, for torch.compile."""
    norm = torch.nn.functional

    def layer_norm(x, gamma, beta, y):
        y.copy_(norm.layer_norm(x, x.shape[-1:], gamma, beta, EPSILON))

    def rms_norm(x, gamma, y):
        y.copy_(norm.rms_norm(x, x.shape[-1:], gamma, EPSILON))

    def add_layer_norm(x, f, gamma, beta, y, s):
        total = x + f
        s.copy_(total)
        y.copy_(norm.layer_norm(total, x.shape[-1:], gamma, beta, EPSILON))

    def add_rms_norm(x, f, gamma, y, s):
        total = x + f
        s.copy_(total)
        y.copy_(norm.rms_norm(total, x.shape[-1:], gamma, EPSILON))

    def dropout_add_layer_norm(x, f, gamma, beta, y, s):
        total = x + norm.dropout(f, DROPOUT, training=True)
        s.copy_(total)
        y.copy_(norm.layer_norm(total, x.shape[-1:], gamma, beta, EPSILON))

    def column_sums(x, sums):
        sums.copy_(torch.sum(x, 0, dtype=torch.float32))

    return {function.__name__: function for function in
            (layer_norm, rms_norm, add_layer_norm, add_rms_norm, dropout_add_layer_norm, column_sums)}


def make_tensors(torch, case, arrays):
    """The harness's arrays, not copies."""
    kinds = {"f32": torch.float32, "bf16": torch.bfloat16}
    found = {}
    for name in ("x", "f", "t", "gamma", "beta", "y", "s", cases.COLUMN_SUMS):
        shape = (case.rows, case.width) if name in cases.ROW_ARRAYS else (case.width,)
        memory = (ctypes.c_byte * case.bytes_of(name)).from_address(arrays[name])
        kind = kinds["f32" if name == cases.COLUMN_SUMS else case.type]
        found[name] = torch.frombuffer(memory, dtype=kind).view(shape)
    return found


def forward_functions(torch):
    """Kernel -> what its backward is the backward of: a function of x, f and parameters."""
    norm = torch.nn.functional

    def dropout_add_layer_norm(x, f, gamma, beta):
        total = x + norm.dropout(f, DROPOUT, training=True)
        return norm.layer_norm(total, x.shape[-1:], gamma, beta, EPSILON), total

    return {"layer_norm_backward": lambda x, gamma, beta: norm.layer_norm(x, x.shape[-1:], gamma, beta, EPSILON),
            "rms_norm_backward": lambda x, gamma: norm.rms_norm(x, x.shape[-1:], gamma, EPSILON),
            "dropout_add_layer_norm_backward": dropout_add_layer_norm}


def backward_function(torch, case, arrays, forward):
    """The gradients by the graph of one forward, which every call goes through again; their results are new tensors."""
    inputs = {"layer_norm_backward": ("x", "gamma", "beta"), "rms_norm_backward": ("x", "gamma"),
              "dropout_add_layer_norm_backward": ("x", "f", "gamma", "beta")}[case.kernel.name]
    # Tensors that are made in inference mode have no gradients.
    with torch.inference_mode(False), torch.enable_grad():
        tensors = make_tensors(torch, case, arrays)
        leaves = [tensors[name].detach().requires_grad_() for name in inputs]
        results = forward(*leaves)
        results = results if isinstance(results, tuple) else (results,)
    gradients = [tensors[name] for name in ("f", "t")[:len(results)]]

    def run():
        with torch.inference_mode(False):
            return torch.autograd.grad(results, leaves, gradients, retain_graph=True)
    return run


class PyTorch:
    def __init__(self, native, options):
        self.torch = load(options)
        keep_freed_memory()
        enter_inference_mode(self.torch)
        self.title = f"PyTorch {self.torch.__version__}"

    def variants(self, case, arrays):
        self.torch.set_num_threads(case.threads)
        if case.kernel.is_backward:
            function = backward_function(self.torch, case, arrays, forward_functions(self.torch)[case.kernel.name])
        else:
            function = eager_function(self.torch, case, make_tensors(self.torch, case, arrays))
        run = timed(function, case.threads)
        return [Variant("pytorch", "PyTorch", "peer", run, spins=spins(case))]


class PyTorchCompiled:
    def __init__(self, native, options):
        self.torch = load(options)
        self.title = f"torch.compile of PyTorch {self.torch.__version__}"
        self.sources = compiled_source(self.torch)
        self.compiled, self.failure = {}, None

    def compile(self, case):
        """A function of its own for each case: many shapes in one would slow down the search for the right one."""
        if case not in self.compiled:
            source = self.sources[case.kernel.name]
            own = types.FunctionType(source.__code__.replace(co_name=f"{source.__name__}_{len(self.compiled)}"),
                                     source.__globals__, closure=source.__closure__)
            self.compiled[case] = self.torch.compile(own, dynamic=False)
        return self.compiled[case]

    def variants(self, case, arrays):
        self.torch.set_num_threads(case.threads)
        if case.kernel.is_backward:
            return self.backward_variants(case, arrays)
        tensors, compiled = make_tensors(self.torch, case, arrays), self.compile(case)
        arguments = [tensors[name] for name in (*case.kernel.arguments, *case.kernel.results) if name in tensors]
        self.first_call(compiled, arguments)
        run = timed(lambda: compiled(*arguments), case.threads)
        # Dropout has masks of its own, and sums of many terms are off by more than what is close for one.
        is_close = "dropout" not in case.kernel.name and case.kernel.name != "column_sums"
        return [Variant("pytorch-compiled", "PyTorch, compiled", "peer", run, is_close=is_close,
                        spins=spins(case))]

    def backward_variants(self, case, arrays):
        if case not in self.compiled:
            forward = forward_functions(self.torch)[case.kernel.name]
            own = types.FunctionType(forward.__code__.replace(co_name=f"{case.kernel.name}_{len(self.compiled)}"),
                                     forward.__globals__, closure=forward.__closure__)
            self.compiled[case] = self.torch.compile(own, dynamic=False)
        function = backward_function(self.torch, case, arrays, self.compiled[case])
        self.first_call(function, ())
        return [Variant("pytorch-compiled", "PyTorch, compiled", "peer", timed(function, case.threads), spins=spins(case))]

    def first_call(self, compiled, arguments):
        """The call that compiles; where that fails (no C++ compiler) it fails for all cases."""
        if self.failure is None:
            try:
                compiled(*arguments)
            except Exception as error:  # whatever the compiler stack of PyTorch throws
                self.failure = str(error).strip().splitlines()[0]
        if self.failure is not None:
            raise Unavailable(self.failure)
