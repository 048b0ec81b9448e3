# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Arguments for the functions of examples/placements: FOLDER/FUNCTION/NAME.npy, and FUNCTION.args, the flags of resid-run.
# vectors/NUMBER.npy are norm parameters for arguments that a conversion adds. No two arrays of a function are equal.
# Usage: write_placement_arguments.py FOLDER

import math
import os
import random
import sys

import npy

folder = os.path.abspath(sys.argv[1])
rng = random.Random(3)


def array(shape, scale, mean=0.0):
    return shape, [rng.gauss(mean, scale) for _ in range(math.prod(shape))]


def gamma(*shape):
    return array(shape, 0.2, 1.0)


def beta(*shape):
    return array(shape, 0.2)


def weights(attentions, mlps):
    return {
        "qkv": array((attentions, 3, 32, 4, 8), 32**-0.5),
        "out": array((attentions, 4, 8, 32), 32**-0.5),
        "fc1": array((mlps, 32, 64), 32**-0.5),
        "fc2": array((mlps, 64, 32), 64**-0.5),
    }


def norms(count):
    return {f"{name}{i}": make(32) for i in range(count) for name, make in (("gamma", gamma), ("beta", beta))}


def write(function, arrays):
    """Arguments in the order of the function, seed and step last."""
    os.makedirs(f"{folder}/{function}")
    with open(f"{folder}/{function}.args", "w") as file:
        for name, (shape, values) in arrays.items():
            npy.write(f"{folder}/{function}/{name}.npy", shape, values)
            file.write(f"--arg={folder}/{function}/{name}.npy\n")
        file.write("--arg=42\n--arg=7\n")


stream = array((7, 32), 1.0)
write("encoder", {"x": stream, **weights(6, 6), **norms(12)})
write("decoder_layer", {"x": stream, "memory": array((5, 32), 1.0), **weights(2, 1), **norms(3)})
stacked = {"gammas": gamma(6, 2, 32), "betas": beta(6, 2, 32), "final_gamma": gamma(32), "final_beta": beta(32)}
write("gpt", {"x": stream, **weights(6, 6), **stacked})
mlp = {"fc1": array((32, 64), 32**-0.5), "fc2": array((64, 32), 64**-0.5)}
write("mlp_sublayer", {"x": array((9, 5, 32), 1.0), "gamma": gamma(32), "beta": beta(32), **mlp})
os.makedirs(f"{folder}/vectors")
for number in range(32):
    npy.write(f"{folder}/vectors/{number:02}.npy", *(beta if number % 2 else gamma)(32))
