# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Arguments for the functions of examples/placements: FUNCTION.args holds the flags of resid-run, vectors/NUMBER.npy are
# norm parameters for arguments that a conversion adds. No two arrays are equal.
# Usage: write_placement_arguments.py FOLDER

import math
import os
import random
import sys

import npy

folder = os.path.abspath(sys.argv[1])
rng = random.Random(3)
os.makedirs(f"{folder}/vectors")
files = 0


def array(shape, scale, mean=0.0):
    """The flag for a new array of normal values."""
    global files
    files += 1
    path = f"{folder}/{files}.npy"
    npy.write(path, shape, [rng.gauss(mean, scale) for _ in range(math.prod(shape))])
    return f"--arg={path}"


def gamma(*shape):
    return array(shape, 0.2, 1.0)


def beta(*shape):
    return array(shape, 0.2)


def weights(attentions, mlps):
    return [
        array((attentions, 3, 32, 4, 8), 32**-0.5),
        array((attentions, 4, 8, 32), 32**-0.5),
        array((mlps, 32, 64), 32**-0.5),
        array((mlps, 64, 32), 64**-0.5),
    ]


def norms(count):
    return [make(32) for _ in range(count) for make in (gamma, beta)]


def write(function, *flags):
    with open(f"{folder}/{function}.args", "w") as file:
        file.write("\n".join(flags) + "\n")


SEED, STEP = "--arg=42", "--arg=7"
x = array((7, 32), 1.0)
write("encoder", x, *weights(6, 6), *norms(12), SEED, STEP)
write("decoder_layer", x, array((5, 32), 1.0), *weights(2, 1), *norms(3), SEED, STEP)
write("gpt", x, *weights(6, 6), gamma(6, 2, 32), beta(6, 2, 32), *norms(1), SEED, STEP)
write("mlp_sublayer", array((9, 5, 32), 1.0), *norms(1), array((32, 64), 32**-0.5), array((64, 32), 0.125), SEED, STEP)
for number in range(32):
    values = [rng.gauss(1.0 - number % 2, 0.2) for _ in range(32)]
    npy.write(f"{folder}/vectors/{number:02}.npy", (32,), values)
