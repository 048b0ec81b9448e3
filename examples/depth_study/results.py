# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the runs of the study came to: reads runs.csv and gradients.csv, takes medians, and makes the tables.

import collections
import csv
import math
import statistics

Run = collections.namedtuple("Run", "block depth rate warm_up gain seed")
Loss = collections.namedtuple("Loss", "steps training held_out")
Gradient = collections.namedtuple("Gradient", "after before passed stream")

# The blocks, and how tables and plots call them.
TITLES = {"alone": "f(x)", "norm_alone": "f(N(x))", "none": "x + f(x)", "pre": "x + f(N(x)), pre-norm",
          "post": "N(x + f(x)), post-norm", "multiply": "x · f(N(x))",
          "static": "static, four streams", "ihc": "ihc, four streams", "mhc": "mhc, four streams"}


def read_runs(folder):
    """Each run with its losses; a loss that left the numbers is infinite, so that it is the worst."""
    with (folder / "runs.csv").open() as file:
        found = {}
        for row in csv.DictReader(file):
            run = Run(row["block"], int(row["depth"]), row["rate"], int(row["warm_up"]), row["gain"], int(row["seed"]))
            losses = [float(row[name]) for name in ("training_loss", "held_out_loss")]
            found[run] = Loss(int(row["steps"]), *(loss if math.isfinite(loss) else math.inf for loss in losses))
        return found


def read_gradients(folder):
    """By block and gain, and whether training is over: for each number of a block, the lines of all seeds."""
    with (folder / "gradients.csv").open() as file:
        found = {}
        for row in csv.DictReader(file):
            numbers = Gradient(*(float(row[name]) for name in
                                 ("gradient_behind", "gradient_before", "passed", "stream_behind")))
            lines = found.setdefault((row["block"], row["gain"], row["step"] != "0"), {})
            lines.setdefault(int(row["number"]), []).append(numbers)
        return found


def usual_warm_up(measured):
    return max(run.warm_up for run in measured)


def select(measured, block, depth, rate=None, warm_up=None, gain="1"):
    warm_up = usual_warm_up(measured) if warm_up is None else warm_up
    return [run for run in measured if (run.block, run.depth, run.warm_up, run.gain) == (block, depth, warm_up, gain)
            and rate in (None, run.rate)]


def rates_of(measured):
    return sorted({run.rate for run in measured}, key=float)


def median_loss(measured, runs, kind="training"):
    return statistics.median(getattr(measured[run], kind) for run in runs)


def best_runs(measured, block, depth, warm_up=None, gain="1"):
    """The runs of the rate with the least median of the loss of training."""
    by_rate = [select(measured, block, depth, rate, warm_up, gain) for rate in rates_of(measured)]
    return min((runs for runs in by_rate if runs), key=lambda runs: median_loss(measured, runs))


def place(gain, block):
    """The order of tables: blocks, then those that begin otherwise."""
    return float(gain), list(TITLES).index(block)


def blocks_of(measured):
    return [block for block in TITLES if any(run.block == block for run in measured)]


def depths_of(measured):
    return sorted({run.depth for run in measured})


def format_loss(loss):
    return f"{loss:.{2 if loss < 100 else 0}f}" if math.isfinite(loss) else "no number"


def make_table(head, rows):
    """The first column is text, the others are numbers."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines).replace("---:", "--:") + "\n"


def tabulate_depth(measured, kind):
    depths = depths_of(measured)
    rows = []
    for block in blocks_of(measured):
        best = [best_runs(measured, block, depth) for depth in depths]
        rows.append([TITLES[block], *(f"{format_loss(median_loss(measured, runs, kind))} at {runs[0].rate}" for runs in best)])
    return make_table(["block", *(f"depth {depth}" for depth in depths)], rows)


def tabulate_rates(measured, depth):
    rates = rates_of(measured)
    rows = [[TITLES[block], *(format_loss(median_loss(measured, select(measured, block, depth, rate))) for rate in rates)]
            for block in blocks_of(measured)]
    return make_table([f"block, depth {depth}", *(f"rate {rate}" for rate in rates)], rows)


def format_range(measured, runs):
    losses = sorted(measured[run].training for run in runs)
    return f"{format_loss(statistics.median(losses))} ({format_loss(losses[0])} to {format_loss(losses[-1])})"


def tabulate_warm_up(measured, depth):
    rates, rows = rates_of(measured), []
    for block in blocks_of(measured):
        for warm_up in (0, usual_warm_up(measured)):
            runs = [select(measured, block, depth, rate, warm_up) for rate in rates]
            if select(measured, block, depth, warm_up=0):
                rows.append([f"{TITLES[block]}, {f'warm-up of {warm_up} steps' if warm_up else 'no warm-up'}",
                             *(format_range(measured, of_rate) for of_rate in runs)])
    return make_table([f"block, depth {depth}", *(f"rate {rate}" for rate in rates)], rows)


def format_median(values, form):
    """A dead network has no ratios: 0/0."""
    numbers = [value for value in values if not math.isnan(value)]
    text = f"{statistics.median(numbers):{form}}" if numbers else "-"
    return "0.00" if text == "-0.00" else text


def summarise(lines):
    """Of all blocks: the gradient after the first over that after the last, how much of it each passes on, and the
    size of the stream that the last hands out."""
    ratios = [first.after / last.after if last.after else math.nan for first, last in zip(lines[1], lines[max(lines)])]
    passed = [line.passed for of_block in lines.values() for line in of_block]
    return [format_median(ratios, ".2g"), format_median(passed, ".2f"),
            format_median([line.stream for line in lines[max(lines)]], ".2g")]


def name_block(block, gain):
    return TITLES[block] + (f", weights {gain} times as large" if gain != "1" else "")


def tabulate_gradients(gradients):
    rows = []
    for block, gain in dict.fromkeys((block, gain) for block, gain, _ in gradients):
        before, after = gradients[block, gain, False], gradients.get((block, gain, True))
        rows.append([name_block(block, gain), *summarise(before), *(summarise(after) if after else ["-"] * 3)])
    return make_table(["block", "ratio, start", "passed, start", "stream, start", "ratio, end", "passed, end", "stream, end"],
                      rows)


def tabulate_gain(measured, depth):
    rates, rows = rates_of(measured), []
    for block in blocks_of(measured):
        gains = sorted({run.gain for run in measured if run.block == block}, key=float)
        for gain in gains if len(gains) > 1 else ():
            of_rates = [select(measured, block, depth, rate, gain=gain) for rate in rates]
            rows.append([name_block(block, gain), *(format_loss(median_loss(measured, runs)) for runs in of_rates)])
    return make_table([f"block, depth {depth}", *(f"rate {rate}" for rate in rates)], rows)


def has_other_warm_ups(measured):
    return any(run.warm_up != usual_warm_up(measured) for run in measured)


def has_other_gains(measured):
    return any(run.gain != "1" for run in measured)


def make_tables(folder):
    """By name, in Markdown. Those of warm-up and gain are only there where something was run for them."""
    measured = read_runs(folder)
    deepest = max(depths_of(measured))
    tables = {"run": (folder / "run.txt").read_text(),
              "depth": tabulate_depth(measured, "training"),
              "held out": tabulate_depth(measured, "held_out"),
              "rates": tabulate_rates(measured, deepest),
              "gradients": tabulate_gradients(read_gradients(folder))}
    if has_other_warm_ups(measured):
        tables["warm-up"] = tabulate_warm_up(measured, deepest)
    if has_other_gains(measured):
        tables["gain"] = tabulate_gain(measured, deepest)
    return tables
