# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The tables of layers: what is asked, resid beside peers, the parts of a layer, errors, memory and compile times; and everything
# as CSV.

import csv

from .. import bars

COLUMNS = ("network", "layers", "tokens", "hidden", "threads", "variant", "samples", "median_ns", "first_quartile_ns", "third_quartile_ns",
           "error")
BARS = (bars.Bar("speed over that of ONNX Runtime (0.83: 1.2 times its time)", 1 / 1.2, "onnx-runtime", lambda case, _: True),
        bars.Bar("speed over that of the best peer", 1.15, ("onnx-runtime", "peer"), lambda case, _: True))


def milliseconds(record):
    first, third = record.quartiles()
    return f"{record.median / 1e6:.3f} ±{100 * (third - first) / record.median / 2:.0f}%"


def write_csv(results, errors, path):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for record in results.records.values():
            case, error = record.case, errors.get((record.case, record.name))
            writer.writerow([case.network.name, case.layers, case.tokens, case.sizes.hidden, case.threads, record.name, len(record.samples),
                             *(f"{value:.1f}" for value in (record.median, *record.quartiles())),
                             "" if error is None else f"{error:.2e}"])


def time_over_onnx(results, case):
    """resid's time over that of ONNX Runtime, in the best try; and whether that is what is asked."""
    ratio = bars.best_ratio(results, case, "onnx-runtime")
    if ratio is None:
        return ""
    return f"{1 / ratio:.2f}, {'reached' if ratio >= BARS[0].required else 'not reached'}"


def heading(case):
    return f"{case.title}, {'one thread' if case.threads == 1 else f'{case.threads} threads'}"


def whole_table(results, network):
    """Variants down, cases across: milliseconds."""
    cases = [case for case in results.cases if case.network == network]
    names = {record.name: record.title for case in cases for record in results.of(case) if record.group != "part"}
    lines = ["| ms | " + " | ".join(heading(case).split(", ", 1)[1] for case in cases) + " |", "|---|" + "---:|" * len(cases)]
    for name, title in names.items():
        records = [results.records.get((case, name)) for case in cases]
        lines.append(f"| {title} | " + " | ".join(milliseconds(record) if record else "" for record in records) + " |")
    ratios = [time_over_onnx(results, case) for case in cases]
    if any(ratios):
        lines.append("| resid's time over ONNX Runtime's | " + " | ".join(ratios) + " |")
    return "\n".join(lines)


def operations(case):
    """Multiplications and additions of a part, by its name, where products are in it."""
    sizes, tokens = case.sizes, case.tokens
    linear = {name: 2 * tokens * inputs * outputs for name, (inputs, outputs) in sizes.linears.items()}
    attention = 4 * tokens * tokens * sizes.hidden
    return {"part-query-key-value": sum(linear[name] for name in ("query", "key", "value")), "part-attention": attention,
            "part-attention-output": linear["output"], "part-up": linear["up"],
            "part-down": linear["down"]}


def parts_table(results, case):
    """Each part alone, by its time and by its share of their sum."""
    parts = [record for record in results.of(case) if record.group == "part"]
    total, whole = sum(record.median for record in parts), results.records[case, bars.OWN].median
    lines = ["| part | µs | share | GFLOP/s |", "|---|---:|---:|---:|"]
    for record in parts:
        count = operations(case).get(record.name)
        lines.append(f"| {record.title} | {record.median / 1e3:.1f} | {100 * record.median / total:.0f} % | "
                     f"{'' if count is None else f'{count / record.median:.1f}'} |")
    lines.append(f"| all of them | {total / 1e3:.1f} | {100 * total / whole:.0f} % of the layer | |")
    return "\n".join(lines)


def errors_table(results, errors):
    """The largest error of each way, against the same operations in f64."""
    cases = list(dict.fromkeys(case for case, _ in errors))
    titles = {name: results.records[case, name].title for case, name in errors}
    lines = ["| largest error | " + " | ".join(case.title for case in cases) + " |", "|---|" + "---:|" * len(cases)]
    for name, title in titles.items():
        cells = [f"{errors[case, name]:.1e}" if (case, name) in errors else "" for case in cases]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def compiler_table(found):
    lines = ["| layers | scratch memory, MB | compile time, s | object, KB |", "|---:|---:|---:|---:|"]
    return "\n".join(lines + [f"| {one.layers} | {one.scratch / 1e6:.2f} | {one.seconds:.2f} | {one.object_bytes / 1e3:.0f} |"
                              for one in found])
