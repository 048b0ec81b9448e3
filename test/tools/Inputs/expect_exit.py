# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# expect_exit.py CODE COMMAND ...: runs the command and fails unless it ends with the exit code CODE.
import subprocess
import sys

found = subprocess.run(sys.argv[2:]).returncode
if found != int(sys.argv[1]):
    sys.exit(f"expected exit code {sys.argv[1]} but got {found}")
