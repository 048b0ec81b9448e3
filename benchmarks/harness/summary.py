# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The README's table and its plot: one shape beyond the cache, on one thread, out of results.csv.

import csv

from . import cases

SHAPE = ("16384", "1024")
PEERS = {"pytorch": "PyTorch", "pytorch-compiled": "PyTorch, compiled", "onnx-runtime": "ONNX Runtime",
         "onnx-runtime-two-nodes": "ONNX Runtime", "onednn": "oneDNN"}
# Letters are dark on light pages and light on dark ones; the page shines through.
STYLE = """<style>
    .speed text { font: 12px sans-serif; fill: #1f2937; }
    .speed .head { font-size: 13px; font-weight: bold; }
    .speed .note { font-size: 10px; fill: #57606a; }
    .speed .resid { fill: #3b6fe0; }
    .speed .hand { fill: #c2600c; }
    .speed .peer { fill: #c8347a; }
    .speed .limit { stroke: #7c8594; stroke-width: 1.5; stroke-dasharray: 4 3; }
    @media (prefers-color-scheme: dark) { .speed text { fill: #e5e7eb; } .speed .note { fill: #9da7b3; } }
  </style>"""


def read(path, shape=SHAPE):
    """(kernel, type) -> variant -> row of the table, for a shape on one thread; empty where it was not measured."""
    found = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            # Older tables have no readers.
            if (row["rows"], row["width"], row["threads"], row.get("reader", "0")) == (*shape, "1", "0"):
                found.setdefault((row["kernel"], row["type"]), {})[row["variant"]] = row
    return found


def best_peer(variants):
    """The title of the fastest peer, and how many times as long it takes as resid; None where none was measured."""
    times = {PEERS[name]: float(row["median_ns"]) for name, row in variants.items() if name in PEERS}
    best = min(times, key=times.get, default=None)
    return best and (best, times[best] / float(variants["resid"]["median_ns"]))


def line(title, element, variants):
    own, best = variants["resid"], best_peer(variants)
    peer = f"{best[1]:.1f}x {best[0]}" if best else ""
    return (f"| {title}, {element} | {float(own['gigabytes_per_second']):.0f} GB/s | {own['of_limit'][:-1]} | "
            f"{own['of_hand_written'][:-1]} | {peer} |")


def bars(variants):
    """What is drawn for a kernel: (class, speed in GB/s, text) of resid, of hand-written code and of the best peer."""
    own, best = variants["resid"], best_peer(variants)
    speed = float(own["gigabytes_per_second"])
    yield "resid", speed, f"{speed:.0f} GB/s"
    yield "hand", speed / float(own["of_hand_written"]), ""
    if best:
        yield "peer", speed / best[1], best[0]


def drawing(path, element="f32"):
    """The plot as SVG, or nothing where that shape was not measured. It is as high as docs/pictures/layer.svg."""
    found = read(path)
    rows = [(kernel.title, found[kernel.name, element]) for kernel in cases.ALL_KERNELS if (kernel.name, element) in found]
    if not rows:
        return None
    limits = [float(row["resid"]["gigabytes_per_second"]) / float(row["resid"]["of_limit"]) for _, row in rows]
    scale, y = 310 / max(limits), 44
    parts = [f'<text x="12" y="24" class="head">rows {" x ".join(SHAPE)}, {element}, one thread</text>']
    for (title, variants), limit in zip(rows, limits):
        parts.append(f'<text x="12" y="{y + 10}">{title}</text>')
        for place, (kind, speed, text) in enumerate(bars(variants)):
            top, width = y + 16 + 10 * place, speed * scale
            parts.append(f'<rect x="12" y="{top}" width="{width:.1f}" height="9" class="{kind}"/>')
            end = max(width, limit * scale) if kind == "resid" else width
            parts.append(f'<text x="{17 + end:.1f}" y="{top + 8}" class="note">{text}</text>' if text else "")
        parts.append(f'<path d="M{12 + limit * scale:.1f} {y + 13}v34" class="limit"/>')
        y += 54
    for place, (kind, text) in enumerate((("resid", "resid"), ("hand", "hand-written"), ("peer", "best peer"))):
        parts.append(f'<rect x="{(12, 72, 172)[place]}" y="{y + 6}" width="9" height="9" class="{kind}"/>')
        parts.append(f'<text x="{(25, 85, 185)[place]}" y="{y + 14}" class="note">{text}</text>')
    parts.append(f'<path d="M262 {y + 4}v13" class="limit"/><text x="268" y="{y + 14}" class="note">limit of the memory</text>')
    body = "\n  ".join(part for part in parts if part)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" class="speed" role="img" width="400" height="{y + 28}" '
            f'viewBox="0 0 400 {y + 28}">\n  <title>speed of the kernels</title>\n  {STYLE}\n  {body}\n</svg>\n')


def markdown(path):
    """The table, or nothing where that shape was not measured."""
    found = read(path)
    lines = [line(kernel.title, element, found[kernel.name, element]) for kernel in cases.ALL_KERNELS
             for element in cases.SIZES if (kernel.name, element) in found]
    if not lines:
        return None
    head = "| rows " + " x ".join(SHAPE) + ", one thread | speed | of the limit | of hand-written | against the best peer |"
    return "\n".join([head, "|---|---:|---:|---:|---:|", *lines])
