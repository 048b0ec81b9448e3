# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Calls compiled functions on NumPy arrays, on tensors of PyTorch and on anything else with __dlpack__. ctypes and the
# DLPack entries are all it takes. Nothing is copied: the function reads and writes the arrays where they are.

import ctypes
import math
import re
import struct

RESID_OK = 0
STATUSES = {-1: "BAD_POINTER", -2: "BAD_SHAPE", -3: "BAD_DTYPE", -4: "BAD_VALUE", -5: "ALIAS", -6: "UNSUPPORTED",
            -7: "OOM", -8: "NO_DEVICE", -9: "LAUNCH", -10: "VERSION", -11: "INTERNAL"}

# The element types of resid as DLPack's type code and bits, and the letters by which struct packs one number.
INT, UINT, FLOAT, BFLOAT, BOOL = 0, 1, 2, 4, 6
ELEMENTS = {"f16": (FLOAT, 16), "bf16": (BFLOAT, 16), "f32": (FLOAT, 32), "f64": (FLOAT, 64), "i1": (BOOL, 8),
            "i8": (INT, 8), "i16": (INT, 16), "i32": (INT, 32), "i64": (INT, 64), "index": (INT, 64)}
LETTERS = {"f16": "e", "bf16": "f", "f32": "f", "f64": "d", "i1": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q",
           "index": "q"}
# NumPy's letters for kinds of elements. It has no bf16: the package ml_dtypes calls its own V (void), others take u2.
KINDS = {"i": INT, "u": UINT, "f": FLOAT, "b": BOOL}

_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Value:
    """One argument or result: its type in the program, what the caller handed over, and a DLTensor of that."""

    def __init__(self, where, type_text, value, is_written=False):
        self.where, self.is_written, self.value = f"{where} ({type_text})", is_written, value
        *sizes, self.element = re.split(r"(?<=[\d?])x", type_text.removeprefix("tensor<").rstrip(">"))
        self.expected = [None if size == "?" else int(size) for size in sizes]
        # A scalar of NumPy has __array_interface__ too, but is no array: what it points to does not live.
        if hasattr(value, "__dlpack__") and hasattr(value, "__array_interface__"):
            self._read_array(value.__array_interface__)
        elif hasattr(value, "__dlpack__"):
            self._read_dlpack(value)
        elif hasattr(value, "__float__") and not self.expected and not is_written:
            self._read_number(value)
        else:
            wanted = "an array" if self.expected or is_written else "a number"
            raise TypeError(f"{self.where}: expected {wanted} but got {type(value).__name__}")
        self._check_element()
        self._fit_shape()

    def _read_number(self, number):
        try:
            if self.element == "i1" and number not in (0, 1):
                raise OverflowError
            packed = struct.pack("=" + LETTERS[self.element], number)
        except (struct.error, OverflowError):
            raise TypeError(f"{self.where}: expected a number of {self.element} but got {number!r}") from None
        if self.element == "bf16":
            bits = struct.unpack("=I", packed)[0]
            # To the nearest, ties to even; a NaN stays one.
            bits = bits >> 16 | 0x40 if number != number else (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
            packed = struct.pack("=H", bits)
        self.owner = ctypes.create_string_buffer(packed, len(packed))
        self.tensor = _Tensor(ctypes.addressof(self.owner), 1, 0, 0, *ELEMENTS[self.element], 1)
        self.shape = self.strides = []

    def _read_array(self, interface):
        """NumPy's own description. Its __dlpack__ refuses read-only arrays and elements of other packages."""
        order, kind, size = re.fullmatch(r"(.)(.)(\d+)", interface["typestr"]).groups()
        data, is_read_only = interface["data"]
        if order == ">":
            raise TypeError(f"{self.where}: expected the byte order of this machine, but the array has the other one")
        if self.is_written and is_read_only:
            raise ValueError(f"{self.where}: expected an array that can be written, but it is read-only")
        code, bits = KINDS.get(kind), int(size) * 8
        if self.element == "bf16" and kind + size in ("V2", "u2"):
            code = BFLOAT
        if code is None:
            raise TypeError(f"{self.where}: expected elements of {self.element} but got '{kind}{size}' of NumPy")
        self.owner, self.shape = self.value, list(interface["shape"])
        strides = interface.get("strides")
        if strides and any(stride % int(size) for stride in strides):
            raise ValueError(f"{self.where}: expected strides of whole elements but got {strides} bytes; make a copy")
        self.strides = strides and [stride // int(size) for stride in strides]
        self.tensor = _Tensor(data, 1, 0, 0, code, bits, 1)

    def _read_dlpack(self, value):
        if getattr(value, "requires_grad", False):
            if self.is_written:
                raise ValueError(f"{self.where}: expected a tensor without gradients to write to; hand over .detach()")
            value = value.detach()
        # The capsule owns what it points to, a DLManagedTensor; that begins with its DLTensor.
        self.owner = value.__dlpack__()
        self.tensor = _Tensor.from_buffer_copy(_Tensor.from_address(_get_pointer(self.owner, b"dltensor")))
        rank = self.tensor.ndim
        self.shape = self.tensor.shape[:rank]
        self.strides = self.tensor.strides[:rank] if self.tensor.strides else None

    def _check_element(self):
        if (self.tensor.code, self.tensor.bits) != ELEMENTS[self.element]:
            names = {INT: "i", UINT: "u", FLOAT: "f", BFLOAT: "bf", BOOL: "bool"}
            got = f"{names.get(self.tensor.code, 'type code ' + str(self.tensor.code))}{self.tensor.bits}"
            raise TypeError(f"{self.where}: expected elements of {self.element} but got {got}")

    def _fit_shape(self):
        """Compares sizes. [B, S, D] fits rows of [?, D]: what stands before the other dimensions becomes the first."""
        given, extra = self.shape, len(self.shape) - len(self.expected)
        shape, strides = list(given), self.strides
        if extra > 0 and len(self.expected) > 1 and self.expected[0] is None:
            shape = [math.prod(given[: extra + 1]), *given[extra + 1 :]]
            strides = strides and [self._fold(strides, extra), *strides[extra + 1 :]]
        if len(shape) != len(self.expected):
            raise ValueError(f"{self.where}: expected rank {len(self.expected)} but got {given}")
        for place, (size, expected) in enumerate(zip(shape, self.expected)):
            if expected not in (None, size):
                place += len(given) - len(shape)
                raise ValueError(f"{self.where}: expected {expected} in dimension {place} but got {size} of {given}")
        numbers = ctypes.c_int64 * len(shape)
        self.tensor.ndim, self.tensor.shape = len(shape), numbers(*shape)
        self.tensor.strides = numbers(*strides) if strides else None

    def _fold(self, strides, last):
        """The stride of the dimensions up to `last` as one."""
        sizes = [(place, size) for place, size in enumerate(self.shape[: last + 1]) if size != 1]
        for (place, _), (inner, size) in zip(sizes, sizes[1:]):
            if strides[place] != strides[inner] * size and 0 not in self.shape:
                raise ValueError(f"{self.where}: expected dimensions {place} and {inner} without gaps between them, "
                                 f"but their strides are {strides[place]} and {strides[inner]}; make a copy")
        return strides[sizes[-1][0]] if sizes else strides[last]


def _split_types(text):
    return re.findall(r"tensor<[^>]*>|\w+", re.sub(r"\{.*?\}", "", text))


def _empty_like(tensor):
    """A new array with the shape and the elements of `tensor`, of NumPy or of PyTorch."""
    if hasattr(tensor, "new_empty"):
        return tensor.new_empty(tensor.shape)
    import numpy

    return numpy.empty(tensor.shape, tensor.dtype)


_Alloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_Free = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class Context(ctypes.Structure):
    """resid_ctx of resid.h with scratch memory, for the calling thread alone."""

    _fields_ = [("abi_version", ctypes.c_uint32), ("hints", ctypes.c_uint32), ("user", ctypes.c_void_p),
                ("parallel_for", ctypes.c_void_p), ("alloc", _Alloc), ("free", _Free), ("stream", ctypes.c_void_p),
                ("log", ctypes.c_void_p)]

    def __init__(self, abi_version):
        super().__init__(abi_version=abi_version, alloc=_Alloc(self._allocate), free=_Free(self._release))
        self.blocks = {}

    def _allocate(self, _, size, alignment):
        try:
            block = (ctypes.c_char * (size + alignment))()
        except MemoryError:
            return None
        address = -(-ctypes.addressof(block) // alignment) * alignment
        self.blocks[address] = block
        return address

    def _release(self, _, address):
        del self.blocks[address]


class Kernels:
    """The functions of a shared library that was linked from objects of residc."""

    def __init__(self, path):
        self.functions = ctypes.CDLL(str(path))
        self.context = None

    def signature(self, name):
        """The types of a function's arguments and results, as in the MLIR file."""
        return self._info(name).signature.decode()

    def _info(self, name):
        class Info(ctypes.Structure):
            _fields_ = [("abi_version", ctypes.c_uint32), ("target", ctypes.c_char_p), ("cpu", ctypes.c_char_p),
                        ("signature", ctypes.c_char_p)]

        get_info = self.functions[f"{name}_info"]
        get_info.restype = ctypes.POINTER(Info)
        return get_info().contents

    def call(self, name, *values, context=None):
        """Calls `name` on its arguments, or on its arguments and the arrays to write its results to.

        Returns the results: one, or a tuple. Where they are not handed over, each is a new array with the shape of the
        first argument of its type. A scalar is a number or an array without dimensions. `context` is the address of a
        resid_ctx with threads and memory of the caller's; without one, this thread does all the work. Raises TypeError
        and ValueError where something does not fit, and ValueError with the status where the function refuses the call.
        """
        arguments, results = map(_split_types, self.signature(name).split(" -> "))
        if len(values) not in (len(arguments), len(arguments) + len(results)):
            raise TypeError(f"{name}: expected {len(arguments)} arguments, or these and {len(results)} results, but "
                            f"got {len(values)} values")
        given, written = values[: len(arguments)], values[len(arguments) :]
        tensors = [_Value(f"{name}: argument {place}", *pair) for place, pair in enumerate(zip(arguments, given))]
        for place, type_text in enumerate(results if not written else ()):
            if type_text not in arguments:
                raise TypeError(f"{name}: result {place} ({type_text}): no argument has this type; hand over an array")
            written += (_empty_like(given[arguments.index(type_text)]),)
        tensors += [_Value(f"{name}: result {place}", *pair, is_written=True)
                    for place, pair in enumerate(zip(results, written))]
        pointers = (ctypes.c_void_p * len(tensors))(*(ctypes.addressof(value.tensor) for value in tensors))
        function = self.functions[f"{name}_dl"]
        function.restype = ctypes.c_int32
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32]
        self.context = self.context or Context(self._info(name).abi_version)
        status = function(context or ctypes.addressof(self.context), pointers, len(tensors))
        if status != RESID_OK:
            got = ", ".join(str(list(value.shape)) for value in tensors)
            raise ValueError(f"{name}: {STATUSES.get(status, status)}, expected {self.signature(name)} but got {got}")
        return written[0] if len(written) == 1 else written
