# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Turns two rows of 16 numbers by @rotary, by the evaluator and as machine code, and compares with numbers that were
# computed by hand: small integers, which nothing rounds.
# Usage: rotary_numbers.py PROGRAM DIRECTORY

import os
import subprocess
import sys

import npy

# The pairs of position 0 are turned by cos 0.5 and sin 2, those of position 1 by cos 1 and sin -4.
COS, SIN = [0.5] * 8 + [1] * 8, [2] * 8 + [-4] * 8
X = list(range(32))
HALVES = [-16, -17.5, -19, -20.5, -22, -23.5, -25, -26.5, 4, 6.5, 9, 11.5, 14, 16.5, 19, 21.5]
HALVES += [112, 117, 122, 127, 132, 137, 142, 147, -40, -43, -46, -49, -52, -55, -58, -61]
PAIRS = [-2, 0.5, -5, 5.5, -8, 10.5, -11, 15.5, -14, 20.5, -17, 25.5, -20, 30.5, -23, 35.5]
PAIRS += [84, -47, 94, -53, 104, -59, 114, -65, 124, -71, 134, -77, 144, -83, 154, -89]


def main():
    program, directory = sys.argv[1:]
    paths = [os.path.join(directory, name) for name in ("halves.npy", "pairs.npy")]
    arguments = [f"--arg=f32[{shape}]=" + ",".join(map(str, values)) for shape, values in
                 (("1x1x2x16", X), ("2x8", COS), ("2x8", SIN))]
    for backend in ("cpu", "reference"):
        subprocess.run(["resid-run", program, "--entry=rotary", "--backend=" + backend, *arguments,
                        *("--out=" + path for path in paths)], check=True, stdout=subprocess.DEVNULL)
        for path, expected in zip(paths, (HALVES, PAIRS)):
            found = list(npy.read(path)[1])
            if found != expected:
                sys.exit(f"{path} by {backend}: expected {expected} but got {found}")


main()
