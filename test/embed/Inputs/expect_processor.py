# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares what kernels said about this processor with what the system says. Usage: expect_processor.py <folder>

import pathlib
import sys

LEVEL2 = {"ssse3", "sse4_1", "sse4_2", "popcnt"}
LEVEL3 = LEVEL2 | {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
LEVEL4 = LEVEL3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
NEEDED = {
    "x86-64": set(),
    "x86-64-v2": LEVEL2,
    "x86-64-v3": LEVEL3,
    "x86-64-v4": LEVEL4,
    "sapphirerapids": LEVEL4 | {"avx512_fp16", "avx512_bf16", "avx_vnni"},
    "znver4": LEVEL4 | {"avx512_bf16", "sse4a", "gfni", "vaes"},
}


def read_flags():
    """The features that the system reports."""
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        for line in cpuinfo:
            if line.startswith("flags"):
                return set(line.split(":", 1)[1].split())
    return set()


if __name__ == "__main__":
    for cpu, needed in NEEDED.items():
        expected = "0" if needed <= read_flags() else "-6"
        found = (pathlib.Path(sys.argv[1]) / f"{cpu}.status").read_text(encoding="utf-8").split()
        print(f"{cpu}: " + ("right" if found == [expected] * 2 else f"expected {expected} twice but got {found}"))
