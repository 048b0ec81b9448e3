# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the step of the small decoder that layer.py --smoke measures, or the flags of resid-run for it.
# Usage: print_step.py <benchmarks folder> <program|flags>

import sys

folder, what = sys.argv[1:]
sys.path.insert(0, folder)

from harness.generation import Decoder, model

decoder = Decoder(2, 32, 2, 48, 16, 40)
if what == "program":
    print(model.Program(decoder, "out-in").text(), end="")
else:
    print("--arg=i64[1]=7\n--arg=5")
    shapes = [(1, decoder.heads, decoder.places, decoder.size)] * len(decoder.caches) + list(decoder.parameters.values())
    for seed, shape in enumerate(shapes):
        scale = shape[1] ** -0.5 if len(shape) == 2 else 1.0
        print(f"--arg=f32[{'x'.join(map(str, shape))}]=random:{seed + 1}*{scale:.6f}")
