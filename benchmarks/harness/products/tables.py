# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The tables of products: what is asked, resid beside limits and peers, all ways, and everything as CSV.

import csv

from .. import bars

COLUMNS = ("type", "rows", "terms", "columns", "threads", "decoding", "variant", "samples", "median_ns", "first_quartile_ns",
           "third_quartile_ns", "gflop_per_second", "weights_gigabytes_per_second", "of_limit", "of_best_peer")

BARS = (
    bars.Bar("f32, of the best peer", 1.0, "peer", lambda case, _: case.type == "f32" and not case.decodes),
    bars.Bar("f32, of the peak, divisible shapes", 0.88, "peak",
             lambda case, _: case.type == "f32" and not case.decodes and case.is_even),
    bars.Bar("decoding, of the limit of reading", 0.9, "limit", lambda case, _: case.decodes),
)


def gigaflops(record):
    return record.case.operations / record.median


def limit_group(case):
    return "limit" if case.decodes else "peak"


def spread(record):
    first, third = record.quartiles()
    return f"±{100 * (third - first) / record.median / 2:.0f}%"


def write_csv(results, path):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for record in results.records.values():
            case = record.case
            ratios = [results.relative(record, group) for group in (limit_group(case), "peer")]
            writer.writerow([case.type, case.rows, case.terms, case.width, case.threads, int(case.decodes), record.name,
                             len(record.samples), *(f"{value:.1f}" for value in (record.median, *record.quartiles())),
                             f"{gigaflops(record):.2f}", f"{record.gigabytes():.2f}",
                             *("" if ratio is None else f"{ratio:.3f}" for ratio in ratios)])


def speed(record, case):
    """What counts of a case: GFLOP/s, or GB/s of weights."""
    return "" if record is None else f"{record.gigabytes() if case.decodes else gigaflops(record):.1f}"


def judged(results, case, group):
    """The ratio to the best of a group, and whether the bar that asks for it is reached."""
    ratio = bars.best_ratio(results, case, group)
    if ratio is None:
        return ""
    for bar in BARS:
        if bar.group == group and bar.applies(case, False):
            return f"{ratio:.2f}, {'reached' if ratio >= bar.required else 'not reached'}"
    return f"{ratio:.2f}"


def line_of(results, case):
    def named(name):
        return speed(results.records.get((case, name)), case)
    own = results.records[case, bars.OWN]
    peer = results.best(case, "peer")
    cells = [case.shape, f"{speed(own, case)} {spread(own)}", judged(results, case, limit_group(case)),
             judged(results, case, "peer"), f"{peer.title}, {speed(peer, case)}" if peer else "", named("resid-in-out"),
             named("resid-out-in"), named("hand-chain"), named("hand-two-chains")]
    return cells + ([named("hand-dot")] if case.type == "bf16" else [])


def summary_table(results, chosen):
    """A line per case, of one type and number of threads."""
    decodes, unit = chosen[0].decodes, "GB/s of weights" if chosen[0].decodes else "GFLOP/s"
    heads = [unit, "resid", "of the limit of reading" if decodes else "of the peak", "of the best peer", "best peer",
             "resid, [in, out]", "resid, [out, in]", "by hand, one chain", "two chains"]
    heads += ["dot products"] if chosen[0].type == "bf16" else []
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    return "\n".join(lines + ["| " + " | ".join(line_of(results, case)) + " |" for case in chosen])


def all_ways_table(results, chosen):
    titles = {record.name: record.title for case in chosen for record in results.of(case)}
    unit = "GB/s of weights" if chosen[0].decodes else "GFLOP/s"
    lines = [f"| {unit} | " + " | ".join(case.shape for case in chosen) + " |", "|---|" + "---:|" * len(chosen)]
    for name, title in titles.items():
        records = [results.records.get((case, name)) for case in chosen]
        lines.append(f"| {title} | " + " | ".join(f"{speed(record, case)} {spread(record)}" if record else ""
                                                for case, record in zip(chosen, records)) + " |")
    return "\n".join(lines)


def heading(case):
    threads = "one thread" if case.threads == 1 else f"{case.threads} threads"
    return f"{'Decoding' if case.decodes else 'Products'}, {case.type}, {threads}"


def grouped(results):
    """Heading -> its cases."""
    groups = {}
    for case in results.cases:
        groups.setdefault(heading(case), []).append(case)
    return groups


def order_sentence(results):
    """What one chain per element costs: the two hand-written forms beside each other."""
    ratios = []
    for case in results.cases:
        chain, two = (results.records.get((case, f"hand-{name}")) for name in ("chain", "two-chains"))
        if chain and two and case.type == "f32" and not case.decodes:
            ratios.append(two.median / chain.median)
    if not ratios:
        return ""
    return (f"By hand in f32, one chain per element takes between {1 / max(ratios):.2f} and {1 / min(ratios):.2f} of the time "
            "of two chains.")


def markdown(results, tables):
    """`tables`: summary_table or all_ways_table."""
    return "\n\n".join(f"### {title}\n\n{tables(results, chosen)}" for title, chosen in grouped(results).items())
