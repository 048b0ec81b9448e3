# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The tables of generation: what is asked, and tokens in a second of resid beside peers; and everything as CSV.

import csv

from .. import bars

COLUMNS = ("layers", "hidden", "past", "threads", "variant", "samples", "median_ns", "first_quartile_ns", "third_quartile_ns",
           "tokens_per_second")
BARS = (bars.Bar("tokens in a second over those of the best peer", 1.0, "peer", lambda case, _: True),)


def write_csv(results, path):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for record in results.records.values():
            case = record.case
            writer.writerow([case.decoder.layers, case.decoder.hidden, case.past, case.threads, record.name, len(record.samples),
                             *(f"{value:.1f}" for value in (record.median, *record.quartiles())), f"{1e9 / record.median:.1f}"])


def heading(case):
    return f"after {case.past}, {'one thread' if case.threads == 1 else f'{case.threads} threads'}"


def speed(record):
    first, third = record.quartiles()
    return f"{1e9 / record.median:.0f} ±{100 * (third - first) / record.median / 2:.0f}%"


def markdown(results):
    """Variants down, cases across: tokens in a second."""
    names = {record.name: record.title for record in results.records.values()}
    lines = ["| tokens in a second | " + " | ".join(map(heading, results.cases)) + " |", "|---|" + "---:|" * len(results.cases)]
    for name, title in names.items():
        records = [results.records.get((case, name)) for case in results.cases]
        lines.append(f"| {title} | " + " | ".join(speed(record) if record else "" for record in records) + " |")
    return f"### Generation\n\n{bars.markdown(results, 0, BARS)}\n\n" + "\n".join(lines)
