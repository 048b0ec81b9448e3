# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes assembly ask fake_cpuid.c instead of the processor. Usage: fake_cpuid.py <assembly in> <assembly out>

import pathlib
import re
import sys

text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
for instruction in ["cpuid", "xgetbv"]:
    # The call must spare what a leaf function keeps below the stack pointer.
    call = f"\tleaq\t-128(%rsp), %rsp\n\tcallq\tfake_{instruction}\n\tleaq\t128(%rsp), %rsp"
    text, count = re.subn(rf"^\t{instruction}$", call, text, flags=re.MULTILINE)
    if count == 0:
        sys.exit(f"expected code that asks by {instruction}")
pathlib.Path(sys.argv[2]).write_text(text, encoding="utf-8")
