# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What of resid.torch on CUDA can be tested without a GPU: its programs, run by the driver that interprets PTX, have the bits of
# the CPU; and tensors on CUDA choose the chip and the stream. With a GPU, the modules themselves run there.

import os
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

import resid.torch as rt  # noqa: E402
from resid.torch import engine, programs  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test/gpu"))
import beside_cpu  # noqa: E402
import programs as gpu_programs  # noqa: E402

BUILD = pathlib.Path(os.environ.get("RESID_BUILD", ROOT / "build"))
DRIVER, RUN = BUILD / "test/lib/libresid-fake-cuda.so", BUILD / "bin/resid-run"
needs_driver = pytest.mark.skipif(not (DRIVER.exists() and RUN.exists()),
                                  reason=f"needs {DRIVER} and {RUN}: build resid-fake-cuda and resid-run")

CHAIN = programs.Chain("layer", 96, "f32", "f32", "f32", "f32", "f32", p=0.25, skip_scale=1.5, branch_scale=0.5)
NARROW = programs.Chain("rms", 128, "bf16", "bf16", None, "bf16", None, p=0.1)
MIXED = programs.Chain("layer", 96, "f32", "bf16", None, "f32", "f32")
ROWS = 5
CASES = {
    "layer": CHAIN, "layer backward": programs.Backward(CHAIN, True, True, True, True, True, True, True),
    "backward of the sum": programs.Backward(CHAIN, False, True, True, True, True),
    "rms": NARROW, "rms backward": programs.Backward(NARROW, True, False, True, True, False, True),
    "mixed": MIXED, "mixed backward": programs.Backward(MIXED, True, True, True, True, False, True, True),
    "norm": programs.Chain("rms", 96, "f16", weight="f32"), "dropout": programs.Dropout(96, "bf16", 0.5)}


@needs_driver
@pytest.mark.parametrize("case", CASES)
def test_bits_on_the_interpreter(case, tmp_path):
    text = CASES[case].text()
    path = tmp_path / "program.mlir"
    path.write_text(text)
    head = next(line for line in text.splitlines() if line.startswith("func.func"))
    found = beside_cpu.count_equal(path, gpu_programs.read_arguments(text, ROWS), resid_run=RUN, environment={**os.environ, "RESID_CUDA_DRIVER": str(DRIVER)})
    assert found == head.partition(") -> (")[2].count("tensor<")


def test_chip_and_stream(monkeypatch):
    compiled, called = [], []

    def compile_(text, **options):
        compiled.append(options)
        return type("Module", (), {"dropout": staticmethod(lambda *arguments, **options: called.append(options))})

    class Stream:
        cuda_stream = 1234

    monkeypatch.setattr(engine.resid, "compile", compile_)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda index: (9, 0))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: Stream)
    engine._kernel.cache_clear(), engine._chip.cache_clear()
    try:
        with FakeTensorMode():
            x = torch.empty(4, 96, device="cuda:0")
            y = torch.empty(4, 96, device="cuda:0")
            engine.call(programs.Dropout(96, "f32", 0.5), [x, 1, 2, 0, 0], [y])
    finally:
        engine._kernel.cache_clear(), engine._chip.cache_clear()
    assert compiled == [{"target": "cuda", "chip": "sm_90"}]
    assert called[0]["stream"] == 1234 and len(called[0]["out"]) == 1 and "threads" not in called[0]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU: the modules were not run on one")
def test_modules_on_a_gpu():
    module = rt.DropoutAddNorm(768, p=0.1, seed=3)
    on_gpu = rt.DropoutAddNorm(768, p=0.1, seed=3).cuda()
    x, f = torch.randn(33, 768, requires_grad=True), torch.randn(33, 768, requires_grad=True)
    gx, gf = (t.detach().cuda().requires_grad_() for t in (x, f))
    y, gy = module(x, f), on_gpu(gx, gf)
    assert torch.equal(gy.cpu(), y)
    got = torch.autograd.grad(gy.square().sum(), (gx, gf, on_gpu.weight, on_gpu.bias))
    want = torch.autograd.grad(y.square().sum(), (x, f, module.weight, module.bias))
    assert all(torch.equal(a.cpu(), b) for a, b in zip(got, want))
    torch.testing.assert_close(rt.LayerNorm(768).cuda()(gx), F.layer_norm(gx, (768,)))


WHOLE_CALL = """
import numpy as np
import torch
from fake_device import Device, DeviceArray
from resid.torch import engine, programs

torch.cuda.get_device_capability = lambda index: (8, 0)
torch.cuda.current_stream = lambda device: type("Stream", (), {"cuda_stream": 0})
random, device = np.random.default_rng(1), Device()
chain = programs.Chain("layer", 96, "f32", "f32", None, "f32", "f32", p=0.25)
backward = programs.Backward(chain, True, True, True, True, False, True, True)
x, f, dy, ds = (random.standard_normal((7, 96), dtype=np.float32) for _ in range(4))
gamma, beta = (random.standard_normal(96, dtype=np.float32) for _ in range(2))

def run(program, arguments, shapes):
    found = []
    for wrap in (torch.from_numpy, lambda values: DeviceArray(device, values)):
        given = [wrap(value) if isinstance(value, np.ndarray) else value for value in arguments]
        results = [wrap(np.zeros(shape, np.float32)) for shape in shapes]
        engine.call(program, given, results)
        found.append([result.numpy() for result in results])
    for on_cpu, on_device in zip(*found):
        assert on_cpu.any() and np.array_equal(on_cpu.view(np.int32), on_device.view(np.int32))
    return found[0]

numbers = [5, 6, 0, 1]
y, mean, correction, rstd, s = run(chain, [x, f, gamma, beta, *numbers], [(7, 96), (7,), (7,), (7,), (7, 96)])
run(backward, [dy, s, mean, correction, rstd, gamma, ds, *numbers], [(7, 96), (7, 96), (96,), (96,)])
print("the same bits")
"""


@needs_driver
def test_whole_call_on_the_interpreter():
    """Compiled for a GPU in this process, loaded, and called as the ops call it: all but PyTorch's own tensors on CUDA."""
    environment = {**os.environ, "RESID_CUDA_DRIVER": str(DRIVER), "PYTHONPATH": os.pathsep.join(
        [str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", WHOLE_CALL], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "the same bits" in done.stdout, done.stderr
