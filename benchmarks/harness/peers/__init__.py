# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Libraries that do the same work, each with a title and variants(case, arrays). What is not installed, and what a
# library does not have, is Unavailable with the reason.

import importlib
import time

from ..compiled import Unavailable

# Module and class of each.
PEERS = (("pytorch", "PyTorch"), ("pytorch", "PyTorchCompiled"), ("onnx_runtime", "ONNXRuntime"), ("onednn", "OneDNN"))


def spins(case):
    """Whether a peer's threads go on spinning after its calls, on processors that others need."""
    return case.threads > 1


def timed(function, threads):
    """Times calls from Python, by the clock that native calls are timed by."""
    clock = time.thread_time_ns if threads == 1 else time.perf_counter_ns

    def run(repeats):
        start = clock()
        for _ in range(repeats):
            function()
        return (clock() - start) / repeats
    return run


def find(native, options, classes=PEERS, package=__name__):
    """The installed ones of these peers, which are given by module and class."""
    found = []
    for module, name in classes:
        peer = getattr(importlib.import_module(f".{module}", package), name)
        try:
            found.append(peer(native, options))
            print(f"peer: {found[-1].title}", flush=True)
        except Unavailable as reason:
            print(f"skipped: {name}: {reason}", flush=True)
    return found
