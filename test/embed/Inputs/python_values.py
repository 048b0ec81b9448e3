# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What people have when they call functions through examples/python: parameters, mapped and read-only arrays, bf16,
# batches, numbers. Prints the refusals; a wrong result ends it. Arguments: the example's folder, a library of
# python_values.mlir, a file to write.

import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from resid_kernels import Kernels

kernels = Kernels(sys.argv[2])
random = np.random.default_rng(1)
x = random.standard_normal((2, 3, 8), dtype=np.float32)
gamma = random.standard_normal(8, dtype=np.float32)


def norm(rows):
    return rows / np.sqrt((rows * rows).mean(axis=-1, keepdims=True) + 1e-5) * gamma


def expect(what, got, wanted):
    if type(got) is not np.ndarray or got.shape != wanted.shape or not np.allclose(got, wanted, atol=1e-5):
        sys.exit(f"{what}: expected {wanted} but got {got}")
    print(what, "accepted")


def refused(what, *values, name="norm"):
    try:
        kernels.call(name, *values)
    except (TypeError, ValueError) as refusal:
        return print(f"{what}: {type(refusal).__name__}: {refusal}")
    sys.exit(f"expected {what} to be refused")


class Parameter:
    """What torch.nn.Parameter does, as far as it is asked: no __dlpack__ while it requires gradients, no NumPy."""

    def __init__(self, array, requires_grad=True):
        self.array, self.requires_grad, self.shape = array, requires_grad, array.shape

    def detach(self):
        return Parameter(self.array, requires_grad=False)

    def new_empty(self, shape):
        return np.empty(shape, self.array.dtype)

    def __dlpack__(self):
        if self.requires_grad:
            raise BufferError("cannot export a tensor that requires gradients")
        return self.array.__dlpack__()


def check_arrays():
    expect("a batch", kernels.call("norm", x, gamma), norm(x))
    expect("more dimensions", kernels.call("norm", x[None, :, None], gamma), norm(x[None, :, None]))
    expect("an empty batch", kernels.call("norm", x[:0], gamma), x[:0])
    y = np.zeros_like(x)
    expect("a result of the caller", kernels.call("norm", x, gamma, y), norm(x))
    expect("the same array", y, norm(x))
    frozen = gamma.copy()
    frozen.flags.writeable = False
    expect("a read-only array", kernels.call("norm", x, frozen), norm(x))
    x.tofile(sys.argv[3])
    mapped = np.memmap(sys.argv[3], np.float32, "r", shape=x.shape)
    expect("a mapped file", kernels.call("norm", mapped, gamma), norm(x))
    expect("parameters", kernels.call("norm", Parameter(x), Parameter(gamma)), norm(x))

    refused("a width", np.zeros((2, 3, 9), np.float32), gamma)
    refused("a vector", x, x)
    refused("one row", x[0, 0], gamma)
    refused("a type", x, gamma.astype(np.float64))
    refused("the other byte order", x, gamma.astype(">f4"))
    refused("gaps in a batch", np.zeros((2, 4, 8), np.float32)[:, :3], gamma)
    refused("a field", x, np.zeros(8, "f4,i1")["f0"])
    refused("a list", [1.0], gamma)
    refused("a number for an array", 1.0, gamma)
    refused("a read-only result", x, gamma, mapped)
    refused("a result with gradients", x, gamma, Parameter(y))
    refused("another batch", x, gamma, y[:1])
    refused("too few", x)


def check_bf16():
    """Numbers of 8 bits in all are exact in bf16, as their upper halves in f32."""
    ints = random.integers(-100, 100, (2, 3, 8)).astype(np.float32)
    bits = (ints.view(np.uint32) >> 16).astype(np.uint16)
    got = kernels.call("sum", bits, np.zeros_like(bits))
    expect("bits of bf16", got, bits)
    expect("elements of two bytes", kernels.call("sum", bits.view("V2"), np.zeros_like(bits), got), bits)
    refused("i16 for bf16", bits.view(np.int16), bits, name="sum")
    try:
        import ml_dtypes
    except ImportError:
        return print("ml_dtypes is not here: its bf16 was not tried")
    values = ints.astype(ml_dtypes.bfloat16)
    got = kernels.call("sum", values, values)
    if got.dtype != values.dtype:
        sys.exit(f"expected bf16 but got {got.dtype}")
    expect("bf16 of ml_dtypes", got.astype(np.float32), (values + values).astype(np.float32))


def check_numbers():
    types = [np.float32, np.uint16, np.float16, np.int8, np.int64, np.bool_]
    results = [np.zeros((), type) for type in types]
    # 1 + 2^-8 + 2^-9 lies three quarters of the way from 1 to the next number of bf16, 0x3f81.
    kernels.call("numbers", 0.5, 1 + 2**-8 + 2**-9, np.float32(2.5), -3, np.int64(2**40), True, *results)
    got = [result.item() for result in results]
    if got != [0.5, 0x3F81, 2.5, -3, 2**40, True]:
        sys.exit(f"numbers: got {got}")
    kernels.call("numbers", np.array(7, np.float32), 1, 2, 3, 4, 0, *results)
    if [result.item() for result in results] != [7, 0x3F80, 2, 3, 4, False]:
        sys.exit(f"whole numbers: got {results}")
    print("numbers accepted")
    numbers = [0.5, 1.0, 2.0, 3, 4, True]
    for place, wrong in (0, "1"), (2, 1e6), (3, 200), (4, 1.5), (5, 2), (0, np.zeros(2, np.float32)):
        refused("number", *numbers[:place], wrong, *numbers[place + 1 :], *results, name="numbers")
    refused("a scalar of NumPy as a result", *numbers, np.float32(1), *results[1:], name="numbers")
    refused("results that look like no argument", *numbers, name="numbers")


def check_torch():
    try:
        import torch
    except ImportError:
        return print("PyTorch is not here: its tensors were not tried")
    parameter = torch.nn.Parameter(torch.from_numpy(gamma.copy()))
    got = kernels.call("norm", torch.from_numpy(x), parameter)
    expect("parameters of PyTorch", got.numpy(), norm(x))
    half = torch.ones(2, 3, 8, dtype=torch.bfloat16, requires_grad=True)
    expect("bf16 of PyTorch", kernels.call("sum", half, half).float().numpy(), np.full((2, 3, 8), 2, np.float32))
    refused("a parameter as a result", torch.from_numpy(x), parameter, torch.zeros(2, 3, 8, requires_grad=True))


check_arrays()
check_bf16()
check_numbers()
check_torch()
