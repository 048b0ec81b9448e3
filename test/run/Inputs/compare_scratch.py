# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compare_scratch.py FUNCTION FEW.mlir MANY.mlir FACTOR: fails unless the function of MANY takes at least the scratch memory
# of the one of FEW, and at most FACTOR times as much. The files are planned and canonical, and all sizes are known.
import re
import sys


def scratch_bytes(function, path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = re.search(rf"func\.func private @{function}\.scratch\(\) -> i64 {{\s*"
                      r"%(\w+) = arith\.constant (\d+) : i64\s*return %\1", text)
    if not found:
        sys.exit(f"{path}: expected a function @{function}.scratch that returns a constant")
    return int(found.group(2))


function, few, many, factor = sys.argv[1:]
less, more = scratch_bytes(function, few), scratch_bytes(function, many)
print(f"{less} and {more} bytes, {more / less:.3f} times as many")
if not less <= more <= float(factor) * less:
    sys.exit(f"expected {less} to {float(factor) * less:.0f} bytes but got {more}")
