# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The tables of training: steps and their parts beside peers, and everything as CSV.

import csv

from .. import bars

COLUMNS = ("placement", "dropout", "rows", "layers", "threads", "variant", "samples", "median_ns", "first_quartile_ns",
           "third_quartile_ns")
BARS = (bars.Bar("a step with dropout", 1.2, "peer", lambda case, _: case.dropout > 0),
        bars.Bar("a step without dropout", 1.2, "peer", lambda case, _: case.dropout == 0))


def write_csv(results, path):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for record in results.records.values():
            case = record.case
            writer.writerow([case.placement, case.dropout, case.rows, case.layers, case.threads, record.name, len(record.samples),
                             *(f"{value:.1f}" for value in (record.median, *record.quartiles()))])


def cell(record):
    if record is None:
        return ""
    first, third = record.quartiles()
    return f"{record.median / 1e6:.2f} ±{100 * (third - first) / record.median / 2:.0f}%"


def table(results, case):
    """Ways across: a step, and its parts."""
    ways = {record.name: record.title for record in results.of(case) if record.group in ("resid", "peer")}
    parts = dict.fromkeys(record.group.removeprefix("part: ") for record in results.of(case) if record.group.startswith("part: "))
    lines = ["| ms | " + " | ".join(ways.values()) + " | of the better peer's speed |", "|---|" + "---:|" * (len(ways) + 1)]
    for part in ("a step", *parts):
        names = [name if part == "a step" else f"{name}-{part.replace(' ', '-')}" for name in ways]
        cells = [cell(results.records.get((case, name))) for name in names]
        ratio = bars.best_ratio(results, case, "peer") if part == "a step" else None
        lines.append(f"| {part} | " + " | ".join(cells) + f" | {'' if ratio is None else f'{ratio:.2f}'} |")
    return "\n".join(lines)


def heading(case):
    return f"{case.network[0].upper()}{case.network[1:]}, {'one thread' if case.threads == 1 else f'{case.threads} threads'}"


def markdown(results):
    return "\n\n".join(f"### {heading(case)}\n\n{table(results, case)}" for case in results.cases)
