# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Calls `add` of each of the shared libraries for GPUs by ctypes, in a context that the library itself makes, on the
# driver of RESID_CUDA_DRIVER. Prints the status and the last element of 1, 2, 3 … + 0.5.

import ctypes
import os
import pathlib
import sys

ROWS, WIDTH = 3, 40
driver = ctypes.CDLL(os.environ["RESID_CUDA_DRIVER"])


def ask(name, *arguments):
    if error := getattr(driver, name)(*arguments):
        sys.exit(f"{name} answered {error}")


def allocate(numbers):
    memory = ctypes.c_uint64()
    ask("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(ctypes.sizeof(numbers)))
    ask("cuMemcpyHtoD_v2", memory, numbers, ctypes.c_size_t(ctypes.sizeof(numbers)))
    return memory


context, stream = ctypes.c_void_p(), ctypes.c_void_p()
ask("cuInit", 0)
ask("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
ask("cuStreamCreate", ctypes.byref(stream), 0)
Array = ctypes.c_float * (ROWS * WIDTH)
x, f = (allocate(Array(*numbers)) for numbers in (range(1, 1 + ROWS * WIDTH), [0.5] * (ROWS * WIDTH)))
for path in sys.argv[1:]:
    library, lent, y = ctypes.CDLL(path), ctypes.create_string_buffer(256), allocate(Array())
    status = library.resid_cuda_ctx_init(lent, stream)
    status = status or library.add(lent, x, ctypes.c_int64(ROWS), f, ctypes.c_int64(ROWS), y)
    found = Array()
    ask("cuMemcpyDtoH_v2", found, y, ctypes.c_size_t(ctypes.sizeof(found)))
    print(f"{pathlib.Path(path).name}: {status} {found[ROWS * WIDTH - 1]}")
    library.resid_cuda_unload(lent)
