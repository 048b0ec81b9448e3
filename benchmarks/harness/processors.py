# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The page on which the results of several processors stand side by side. `take` keeps a few figures of a run for it, in
# docs/measurements/processors.json; `markdown` makes the page of them.

import json

from . import cases, summary

SHAPES = (("32", "768"), ("16384", "1024"))
HEAD = """# Benchmarks on several processors

**Measurements** · [all pages](../README.md)

This page has results of several processors side by side, on one thread. [Benchmarks](../benchmarks.md) explains what is
measured and how to read it, and has all results of the newest processor. All results of another one come from the command
that stands beside it, on that processor. The runs are of different dates, and so of different versions of resid.
`make bench-docs BENCH_FLAGS=--processor=NAME` makes the last run a column here. A dash says that something was not measured.

The runs of Zen 3, Zen 4 and Zen 5 measured samples after one unmeasured round. Since then, each way is run until the cache is
steady before it is measured. What was measured after a way that writes past the cache gained by this: copies with plain stores
most of all, and with them the limit in the cache."""
BLANK = "–"


def against_peer(variants):
    """The time of the best peer over that of resid."""
    times = [float(variants[name]["median_ns"]) for name in summary.PEERS if name in variants]
    return f"{min(times) / float(variants['resid']['median_ns']):.2f}" if times else ""


# Heading -> the cell of a case's variants.
MEASURES = {
    "Speed, GB/s of compulsory bytes": lambda variants: f"{float(variants['resid']['gigabytes_per_second']):.1f}",
    "Part of the machine's limit": lambda variants: variants["resid"]["of_limit"][:-1],
    "Part of the hand-written speed": lambda variants: variants["resid"]["of_hand_written"][:-1],
    "Speed over that of the best peer": against_peer,
}


def get_store(docs):
    return docs / "measurements" / "processors.json"


def read_bars(page):
    """Title -> what is asked, and how many cases reach it on one thread."""
    found = {}
    for line in page.partition("| what | bar |")[2].splitlines()[2:]:
        if not line.startswith("|"):
            break
        title, required, reached = [cell.strip() for cell in line.split("|")[1:4]]
        found[title] = [required, reached]
    return found


def read_cells(table):
    """Kernel, type and shape -> a cell for each measure."""
    cells = {}
    for shape in SHAPES:
        for (kernel, element), variants in summary.read(table, shape).items():
            if "resid" in variants:
                cells[f"{kernel} {element} {'x'.join(shape)}"] = [measure(variants) for measure in MEASURES.values()]
    return cells


def take(docs, name, out):
    """Keeps the last run, whose results.md and results.csv are in `out`, as that of a processor."""
    page = (out / "results.md").read_text()
    line = next(line for line in page.splitlines() if line.startswith("Measured on: "))
    measured, _, rest = line.removeprefix("Measured on: ").partition(". Command: ")
    stored = json.loads(get_store(docs).read_text())
    stored[name] = {"measured": measured, "command": rest.partition(";")[0], "bars": read_bars(page),
                    "cells": read_cells(out / "results.csv")}
    get_store(docs).write_text(json.dumps(stored, ensure_ascii=False, indent=1) + "\n")


def table(heads, lines, aligned="---:|"):
    return "\n".join(["| " + " | ".join(heads) + " |", "|---|" + aligned * (len(heads) - 1),
                      *("| " + " | ".join(line) + " |" for line in lines)])


def table_of(measure, stored):
    """Kernels and types down, processors and shapes across; `measure` is the place of a cell."""
    columns = [("x".join(shape), name) for shape in SHAPES for name in stored]
    lines = []
    for kernel in cases.ALL_KERNELS:
        for element in cases.SIZES:
            found = [stored[name]["cells"].get(f"{kernel.name} {element} {shape}") for shape, name in columns]
            cells = [cell[measure] if cell else "" for cell in found]
            if any(cells):
                lines.append([f"{kernel.title}, {element}", *(cell or BLANK for cell in cells)])
    return table(["kernel"] + [f"{name} {shape}" for shape, name in columns], lines)


def table_of_bars(stored):
    bars = [machine["bars"] for machine in stored.values()]
    titles = dict.fromkeys(title for found in bars for title in found)
    lines = []
    for title in titles:
        required = next(found[title][0] for found in bars if title in found)
        lines.append([title, required, *(found.get(title, ("", ""))[1] or BLANK for found in bars)])
    return table(["what", "bar", *stored], lines)


def markdown(docs):
    stored = json.loads(get_store(docs).read_text())
    seen = [[name, machine["measured"], machine["command"]] for name, machine in stored.items()]
    parts = [HEAD, "## The processors", table(["results", "processor", "command"], seen, "---|"),
             "## Bars, reached by", "Cases that reach the bar, of those that were measured.", table_of_bars(stored)]
    for place, heading in enumerate(MEASURES):
        parts += [f"## {heading}", table_of(place, stored)]
    return "\n\n".join(parts) + "\n"
