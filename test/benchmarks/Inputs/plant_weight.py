# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs products.py or layer.py with the sign of one weight changed in one of its forms, of its layers or of the decoder that
# generates tokens. It has to stop. Usage: plant_weight.py <benchmarks folder> <products|layer|generation> <name of the array> <flags…>

import ctypes
import importlib
import sys

folder, program, name, *flags = sys.argv[1:]
sys.path.insert(0, folder)
sys.argv = [f"{program}.py", *flags]
module = importlib.import_module("products" if program == "products" else "layer")
arrays = (module.cases.ProductArrays if program == "products" else module.model.LayerArrays if program == "layer"
          else module.generation.model.StepArrays)
fill = arrays.fill


def fill_and_change(self, case):
    fill(self, case)
    last_byte = 3 if case.type == "f32" else 1
    ctypes.c_uint8.from_address(self[name] + last_byte).value ^= 0x80


arrays.fill = fill_and_change
module.main()
