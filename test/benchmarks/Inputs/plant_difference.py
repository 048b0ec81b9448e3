# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Lets the harness compare two results of which the second differs in one bit of one element. It has to stop.
# Usage: plant_difference.py <benchmarks folder> <build folder> <scratch folder>

import ctypes
import pathlib
import sys

sys.path.insert(0, sys.argv[1])
from harness import cases, measure, native, variants  # noqa: E402

side = native.Native(pathlib.Path(sys.argv[2]) / "lib" / "libresid-benchmarks.so")
arrays = native.Arrays(side, [(2, 512)])
case = cases.Case(cases.KERNELS[3], "f32", 2, 16, 1)


def write(bit):
    def run(_):
        values = (ctypes.c_uint32 * case.elements).from_address(arrays["y"])
        values[:] = range(case.elements)
        values[16 + 5] ^= bit
        return 1.0
    return run


found = [variants.Variant("first", "first", "resid", write(0), is_exact=True),
         variants.Variant("second", "second", "resid", write(1), is_exact=True)]
measure.check(found[:1] * 2, case, arrays)
print("same bits pass", flush=True)
measure.check(found, case, arrays)
