# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The tables: all samples' medians and spread as CSV, and one Markdown table per kernel and type.

import csv

COLUMNS = ("kernel", "type", "rows", "width", "threads", "reader", "variant", "samples", "median_ns", "first_quartile_ns",
           "third_quartile_ns", "ns_per_element", "gigabytes_per_second", "of_limit", "of_hand_written")


class Results:
    """All records, by case and variant."""

    def __init__(self, records):
        self.records = records
        self.cases = list(dict.fromkeys(case for case, _ in records))
        self.tries = max((len(record.tries) for record in records.values()), default=0)
        self.samples_per_try = max((len(record.tries[0]) for record in records.values()), default=0)

    def of(self, case):
        return [record for (other, _), record in self.records.items() if other == case]

    def best(self, case, group, attempt=None):
        """The fastest record of a group, or of several, over all samples or in one try. None where nothing of it was
        measured."""
        groups = group if isinstance(group, tuple) else (group,)
        found = [record for record in self.of(case) if record.group in groups]
        key = (lambda record: record.median) if attempt is None else (lambda record: record.median_of(attempt))
        return min(found, key=key, default=None)

    def relative(self, record, group):
        """The speed of a record as a part of the best of a group, or None."""
        best = self.best(record.case, group)
        return best.median / record.median if best else None


def write_csv(results, path):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for record in results.records.values():
            case, (first, third) = record.case, record.quartiles()
            ratios = [results.relative(record, group) for group in ("limit", "hand")]
            writer.writerow([case.kernel.name, case.type, case.rows, case.width, case.threads, int(case.is_read),
                             record.name,
                             len(record.samples), *(f"{value:.1f}" for value in (record.median, first, third)),
                             f"{record.median / case.elements:.4f}", f"{record.gigabytes():.2f}",
                             *("" if ratio is None else f"{ratio:.3f}" for ratio in ratios)])


def cell(record, results):
    """GB/s, the spread of the middle half of the samples, and the part of the limit."""
    if record is None:
        return ""
    first, third = record.quartiles()
    spread = (third - first) / record.median / 2
    text = f"{record.gigabytes():.1f} ±{100 * spread:.0f}%"
    ratio = results.relative(record, "limit")
    return text if ratio is None or record.group == "limit" else f"{text} ({ratio:.2f})"


def key_of(case):
    return case.kernel, case.type, case.threads, case.is_read


def markdown_table(results, key):
    chosen = [case for case in results.cases if key_of(case) == key]
    titles = {record.name: record.title for case in chosen for record in results.of(case)}
    lines = ["| " + " | ".join(["GB/s (of the limit)"] + [case.shape for case in chosen]) + " |",
             "|---|" + "---:|" * len(chosen)]
    for name, title in titles.items():
        cells = [cell(results.records.get((case, name)), results) for case in chosen]
        lines.append("| " + " | ".join([title] + cells) + " |")
    return "\n".join(lines)


def markdown(results):
    """Tables of all cases, with a heading each: kernels alone, then those with a reader of their results."""
    parts = []
    for key in sorted(dict.fromkeys(map(key_of, results.cases)), key=lambda key: key[3]):
        kernel, element, threads, is_read = key
        count = "one thread" if threads == 1 else f"{threads} threads"
        reader = ", and a reader of its results" if is_read else ""
        parts.append(f"### {kernel.title}{reader}, {element}, {count}\n\n{markdown_table(results, key)}\n")
    return "\n".join(parts)
