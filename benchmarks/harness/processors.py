# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The page on which the stored results of several machines stand side by side. Their tables of samples are CSV; what they
# were measured on, and which bars they reach, is read from the page that holds the rest of each run.

import dataclasses
import pathlib

from . import cases, summary

SHAPES = (("32", "768"), ("16384", "1024"))
HEAD = """# Benchmarks on several processors

**Measurements** · [all pages](../README.md)

This page has the results of several machines side by side, on one thread. [Benchmarks](../benchmarks.md) explains what is
measured and how to read it. The runs are of different dates, and so of different versions of resid. `make bench-docs` writes
this page from the results that are stored beside the pages of the machines. A dash says that something was not measured.

The runs of Zen 3, Zen 4 and Zen 5 measured samples after one unmeasured round. Since then, each way is run until the cache is
steady before it is measured. What was measured after a way that writes past the cache gained by this: copies with plain stores
most of all, and with them the limit in the cache."""
BLANK = "–"


@dataclasses.dataclass(frozen=True)
class Machine:
    """A run whose results are stored: its page, and the folder of its CSV."""
    name: str
    page: pathlib.Path
    folder: pathlib.Path

    @property
    def measured(self):
        """What it was measured on, and by which command."""
        line = next(line for line in self.page.read_text().splitlines() if line.startswith("Measured on: "))
        machine, _, rest = line.removeprefix("Measured on: ").partition(". Command: ")
        return machine, rest.partition(";")[0]

    def bars(self):
        """Title -> what is asked, and how many cases reach it on one thread."""
        found = {}
        for line in self.page.read_text().partition("| what | bar |")[2].splitlines()[2:]:
            if not line.startswith("|"):
                break
            title, required, reached = [cell.strip() for cell in line.split("|")[1:4]]
            found[title] = required, reached
        return found


def find_machines(docs):
    """Those of pages of their own by name, then the run of docs/benchmarks.md, which is of a Zen 5."""
    measurements = docs / "measurements"
    found = [Machine(path.parent.name, path.parent.with_suffix(".md"), path.parent)
             for path in sorted(measurements.glob("*/results.csv"))]
    if (docs / "benchmarks" / "results.csv").exists():
        found.append(Machine("zen5", docs / "benchmarks.md", docs / "benchmarks"))
    return found


def link(machine, measurements):
    inside = machine.page.parent == measurements
    return f"[{machine.name}]({'' if inside else '../'}{machine.page.name})"


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


def table(heads, lines, aligned="---:|"):
    return "\n".join(["| " + " | ".join(heads) + " |", "|---|" + aligned * (len(heads) - 1),
                      *("| " + " | ".join(line) + " |" for line in lines)])


def table_of(measure, results, machines):
    """Kernels and types down, machines and shapes across."""
    heads = ["kernel"] + [f"{machine.name} {'x'.join(shape)}" for shape in SHAPES for machine in machines]
    lines = []
    for kernel in cases.ALL_KERNELS:
        for element in cases.SIZES:
            found = [results[machine, shape].get((kernel.name, element), {}) for shape in SHAPES for machine in machines]
            cells = [measure(variants) if "resid" in variants else "" for variants in found]
            if any(cells):
                lines.append([f"{kernel.title}, {element}", *(cell or BLANK for cell in cells)])
    return table(heads, lines)


def table_of_bars(machines):
    bars = [machine.bars() for machine in machines]
    titles = dict.fromkeys(title for found in bars for title in found)
    lines = []
    for title in titles:
        required = next(found[title][0] for found in bars if title in found)
        lines.append([title, required, *(found.get(title, ("", ""))[1] or BLANK for found in bars)])
    return table(["what", "bar", *(machine.name for machine in machines)], lines)


def markdown(docs):
    machines = find_machines(docs)
    results = {(machine, shape): summary.read(machine.folder / "results.csv", shape)
               for machine in machines for shape in SHAPES}
    seen = [[link(machine, docs / "measurements"), *machine.measured] for machine in machines]
    parts = [HEAD, "## The machines", table(["results", "machine", "command"], seen, "---|"),
             "## Bars, reached by", "Cases that reach the bar, of those that were measured.", table_of_bars(machines)]
    for heading, measure in MEASURES.items():
        parts += [f"## {heading}", table_of(measure, results, machines)]
    return "\n\n".join(parts) + "\n"
