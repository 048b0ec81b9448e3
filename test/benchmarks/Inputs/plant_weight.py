# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs products.py with one bit of the weights changed in one of their forms. It has to stop.
# Usage: plant_weight.py <benchmarks folder> <form> <flags of products.py…>

import ctypes
import sys

folder, form, *flags = sys.argv[1:]
sys.path.insert(0, folder)
sys.argv = ["products.py", *flags]
import products  # noqa: E402
from harness.products import cases  # noqa: E402

fill = cases.ProductArrays.fill


def fill_and_change(arrays, case):
    fill(arrays, case)
    first = (ctypes.c_uint8 * case.size).from_address(arrays[form])
    first[case.size - 1] ^= 0x80


cases.ProductArrays.fill = fill_and_change
products.main()
