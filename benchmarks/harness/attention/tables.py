# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The tables of attention: what is asked, resid beside peers, and everything as CSV.

import csv

from .. import bars

COLUMNS = ("type", "heads", "key_heads", "queries", "keys", "size", "causal", "threads", "variant", "samples", "median_ns", "first_quartile_ns",
           "third_quartile_ns", "gflop_per_second")
BARS = (bars.Bar("f32 against PyTorch", 1.2, "peer", lambda case, _: case.type == "f32" and case.queries > 1),
        bars.Bar("one query, f32 against PyTorch", 1.0, "peer", lambda case, _: case.type == "f32" and case.queries == 1),
        bars.Bar("bf16 against PyTorch (told, not asked)", 0.0, "peer", lambda case, _: case.type == "bf16"))


def write_csv(results, path):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for record in results.records.values():
            case = record.case
            writer.writerow([case.type, case.heads, case.key_heads, case.queries, case.keys, case.head_size, int(case.is_causal), case.threads,
                             record.name, len(record.samples),
                             *(f"{value:.1f}" for value in (record.median, *record.quartiles())),
                             f"{case.operations / record.median:.2f}"])


def cell(record):
    first, third = record.quartiles()
    return f"{record.median / 1e6:.3f} ±{100 * (third - first) / record.median / 2:.0f}%"


def table(results, element, threads):
    """Variants across, cases down: milliseconds."""
    chosen = [case for case in results.cases if (case.type, case.threads) == (element, threads)]
    titles = {record.name: record.title for case in chosen for record in results.of(case)}
    lines = ["| ms | " + " | ".join(titles.values()) + " | resid, GFLOP/s | of the peer's speed |",
             "|---|" + "---:|" * (len(titles) + 2)]
    for case in chosen:
        own, ratio = results.records[case, bars.OWN], bars.best_ratio(results, case, "peer")
        cells = [cell(results.records[case, name]) if (case, name) in results.records else "" for name in titles]
        cells += [f"{case.operations / own.median:.1f}", "" if ratio is None else f"{ratio:.2f}"]
        lines.append(f"| {case.shape} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def markdown(results):
    parts = []
    for element, threads in dict.fromkeys((case.type, case.threads) for case in results.cases):
        parts.append(f"### Attention, {element}, {'one thread' if threads == 1 else f'{threads} threads'}\n\n"
                     f"{table(results, element, threads)}")
    return "\n\n".join(parts)
