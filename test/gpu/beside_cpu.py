# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs a program on the GPU that RESID_CUDA_DRIVER names, which is an interpreter in tests, and on the CPU.

import subprocess
import sys


def count_equal(program, arguments, *flags, resid_run="resid-run", environment=None):
    """How many results a program has, all of them with the bits of the CPU. Else raises RuntimeError with what resid-run says."""
    command = [resid_run, program, "--backend=cuda", "--check", *flags, *(f"--arg={argument}" for argument in arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    text = done.stdout + done.stderr
    if done.returncode or "other bits" in text:
        raise RuntimeError(text.strip() or f"exit code {done.returncode}")
    return text.count("the bits of the CPU")


def compare(name, program, arguments, *flags):
    """Runs a program, and prints how many results it has. Ends the process where one has other bits."""
    try:
        print(f"{name}: {count_equal(program, arguments, *flags)} results with the bits of the CPU", flush=True)
    except RuntimeError as error:
        sys.exit(f"{name}: {program} {' '.join([*flags, *arguments])}: {error}")
