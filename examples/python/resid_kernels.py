# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Calls compiled functions on NumPy arrays, or on anything else with __dlpack__. ctypes and the DLPack entries are all
# it takes: the function reads types, shapes and strides from the tensors and checks them itself.

import ctypes

RESID_OK = 0
STATUSES = {-1: "BAD_POINTER", -2: "BAD_SHAPE", -3: "BAD_DTYPE", -4: "BAD_VALUE", -5: "ALIAS", -6: "UNSUPPORTED",
            -7: "OOM", -8: "NO_DEVICE", -9: "LAUNCH", -10: "VERSION", -11: "INTERNAL"}

_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Kernels:
    """The functions of a shared library that was linked from objects of residc."""

    def __init__(self, path):
        self.functions = ctypes.CDLL(str(path))

    def signature(self, name):
        """The types of a function's arguments and results, as in the MLIR file."""

        class Info(ctypes.Structure):
            _fields_ = [("abi_version", ctypes.c_uint32), ("target", ctypes.c_char_p), ("cpu", ctypes.c_char_p),
                        ("signature", ctypes.c_char_p)]

        get_info = self.functions[f"{name}_info"]
        get_info.restype = ctypes.POINTER(Info)
        return get_info().contents.signature.decode()

    def call(self, name, *tensors, context=None):
        """Calls `name` on its arguments, then its results; a scalar is an array without dimensions.

        Raises ValueError with the status where the function refuses them. Arrays have to be writable, since NumPy
        hands out no others.
        """
        # A capsule owns what it points to: they have to live until the call has returned.
        capsules = [tensor.__dlpack__() for tensor in tensors]
        # A DLManagedTensor begins with its DLTensor.
        pointers = (ctypes.c_void_p * len(capsules))(*(_get_pointer(capsule, b"dltensor") for capsule in capsules))
        function = self.functions[f"{name}_dl"]
        function.restype = ctypes.c_int32
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32]
        status = function(context, pointers, len(capsules))
        if status != RESID_OK:
            raise ValueError(f"{name}: {STATUSES.get(status, status)}, expected {self.signature(name)}")
