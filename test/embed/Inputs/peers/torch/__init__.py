# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Stands in for a PyTorch with CUDA, for tests of gpu-check without a GPU: tensors of f32 in the memory of the library that
# takes the place of the driver, and the few functions that peers.py calls. Loops over Python's numbers.

import contextlib
import ctypes
import math
import os
import random
import time

from . import nn

float32, bfloat16 = "f32", "bf16"
driver = ctypes.CDLL(os.environ["RESID_CUDA_DRIVER"])
numbers = random.Random(1)


def ask(name, *arguments):
    if answer := getattr(driver, name)(*arguments):
        raise RuntimeError(f"{name} answered {answer}")


context = ctypes.c_void_p()
ask("cuInit", 0)
ask("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
ask("cuCtxSetCurrent", context)


class Tensor:
    def __init__(self, shape, values):
        self.shape, count = shape, math.prod(shape)
        address = ctypes.c_uint64()
        ask("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(4 * count))
        self.address, self.type = address, ctypes.c_float * count
        self.set(values)

    def set(self, values):
        ask("cuMemcpyHtoD_v2", self.address, self.type(*values), ctypes.c_size_t(ctypes.sizeof(self.type)))

    def get(self):
        values = self.type()
        ask("cuMemcpyDtoH_v2", values, self.address, ctypes.c_size_t(ctypes.sizeof(self.type)))
        return list(values)

    def data_ptr(self):
        return self.address.value

    def copy_(self, other):
        self.set(other.get())

    def float(self):
        return self

    def abs(self):
        return Tensor(self.shape, [abs(value) for value in self.get()])

    def max(self):
        return max(self.get())

    def __mul__(self, number):
        return Tensor(self.shape, [number * value for value in self.get()])

    def __add__(self, other):
        return Tensor(self.shape, [a + b for a, b in zip(self.get(), other.get())])

    def __sub__(self, other):
        return Tensor(self.shape, [a - b for a, b in zip(self.get(), other.get())])


def randn(shape, dtype, device):
    assert (dtype, device) == (float32, "cuda")
    return Tensor(shape, [numbers.gauss(0, 1) for _ in range(math.prod(shape))])


def empty(shape, dtype, device):
    assert (dtype, device) == (float32, "cuda")
    return Tensor(shape, [math.nan] * math.prod(shape))


def empty_like(tensor):
    return empty(tensor.shape, float32, "cuda")


def compile(function, dynamic, fullgraph):
    return function


class compiler:
    @staticmethod
    def reset():
        pass


no_grad = contextlib.nullcontext


class backends:
    class cuda:
        class matmul:
            pass


class cuda:
    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            self.at = time.perf_counter()

        def synchronize(self):
            pass

        def elapsed_time(self, other):
            return 1000 * (other.at - self.at)

    class Stream:
        cuda_stream = 0

    @staticmethod
    def is_available():
        return True

    @staticmethod
    def synchronize():
        ask("cuCtxSynchronize")

    @staticmethod
    def current_stream():
        return cuda.Stream
