# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The README's table: one shape beyond the cache, on one thread, out of results.csv.

import csv

from . import cases

SHAPE = ("16384", "1024")
PEERS = {"pytorch": "PyTorch", "pytorch-compiled": "PyTorch, compiled", "onnx-runtime": "ONNX Runtime",
         "onnx-runtime-two-nodes": "ONNX Runtime", "onednn": "oneDNN"}


def read(path, shape=SHAPE):
    """(kernel, type) -> variant -> row of the table, for a shape on one thread; empty where it was not measured."""
    found = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            # Older tables have no readers.
            if (row["rows"], row["width"], row["threads"], row.get("reader", "0")) == (*shape, "1", "0"):
                found.setdefault((row["kernel"], row["type"]), {})[row["variant"]] = row
    return found


def line(title, element, variants):
    own = variants["resid"]
    times = {PEERS[name]: float(row["median_ns"]) for name, row in variants.items() if name in PEERS}
    best = min(times, key=times.get, default=None)
    peer = f"{times[best] / float(own['median_ns']):.1f}x {best}" if best else ""
    return (f"| {title}, {element} | {float(own['gigabytes_per_second']):.0f} GB/s | {own['of_limit'][:-1]} | "
            f"{own['of_hand_written'][:-1]} | {peer} |")


def markdown(path):
    """The table, or nothing where that shape was not measured."""
    found = read(path)
    lines = [line(kernel.title, element, found[kernel.name, element]) for kernel in cases.ALL_KERNELS
             for element in cases.SIZES if (kernel.name, element) in found]
    if not lines:
        return None
    head = "| rows " + " x ".join(SHAPE) + ", one thread | speed | of the limit | of hand-written | against the best peer |"
    return "\n".join([head, "|---|---:|---:|---:|---:|", *lines])
