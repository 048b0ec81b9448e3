# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs a program on the GPU that RESID_CUDA_DRIVER names, which is an interpreter in tests, and on the CPU.

import subprocess


def run(command, environment=None):
    """What resid-run says. Raises RuntimeError with that where it fails, or where a result has other bits than on the CPU."""
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    text = done.stdout + done.stderr
    if done.returncode or "other bits" in text:
        raise RuntimeError(text.strip() or f"exit code {done.returncode}")
    return text


def count_equal(program, arguments, *flags, resid_run="resid-run", environment=None):
    """How many results a program has, all of them with the bits of the CPU, or within their bounds where products are relaxed. Else raises RuntimeError."""
    command = [resid_run, program, "--backend=cuda", "--check", *flags, *(f"--arg={argument}" for argument in arguments)]
    return run(command, environment).count(": ok, " if "--relax-rounding=products" in flags else "the bits of the CPU")
