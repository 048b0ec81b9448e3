# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Arrays in the memory of the driver that interprets PTX. They look like PyTorch's tensors on CUDA as far as a call reads them,
# and hand their memory over by DLPack. RESID_CUDA_DRIVER has to name that driver before resid is called.

import ctypes
import os

import numpy as np


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Device:
    """The driver with a current context on its device."""

    type, index = "cuda", 0

    def __init__(self):
        self.driver = ctypes.CDLL(os.environ["RESID_CUDA_DRIVER"])
        context = ctypes.c_void_p()
        for status in (self.driver.cuInit(0), self.driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
                       self.driver.cuCtxSetCurrent(context)):
            assert status == 0, status


class DeviceArray:
    """An f32 array on the device."""

    dtype = np.dtype(np.float32)

    def __init__(self, device, values):
        self.device, self.shape = device, values.shape
        self.address = ctypes.c_void_p()
        assert device.driver.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(max(1, values.nbytes))) == 0
        values = np.ascontiguousarray(values, np.float32)
        self._copy("HtoD", self.address, values.ctypes.data_as(ctypes.c_void_p), values.nbytes)
        self.sizes = (ctypes.c_int64 * len(self.shape))(*self.shape)
        self.managed = _Managed(_Tensor(self.address, 2, 0, len(self.shape), 2, 32, 1, self.sizes, None, 0), None, None)

    def numpy(self):
        values = np.empty(self.shape, np.float32)
        assert self.device.driver.cuCtxSynchronize() == 0
        self._copy("DtoH", values.ctypes.data_as(ctypes.c_void_p), self.address, values.nbytes)
        return values

    def _copy(self, direction, target, source, count):
        status = self.device.driver[f"cuMemcpy{direction}_v2"](target, source, ctypes.c_size_t(count))
        assert status == 0, status

    def __dlpack__(self, **options):
        return _new_capsule(ctypes.addressof(self.managed), b"dltensor", None)

    def __dlpack_device__(self):
        return 2, 0
