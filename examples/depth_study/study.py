# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trains the networks of the study, several at a time, writes runs.csv, gradients.csv and run.txt, prints tables and draws plots.
#   study.py FOLDER TEXT [--jobs=N] [--quick | --streams]    FOLDER has a program for each block: FOLDER/BLOCK/train
#   study.py FOLDER --docs=PAGE                              puts what is in FOLDER into the page, and into the folder beside it
# Does not own: what a run does (main.c), what tables and plots say (results.py, plots.py).

import argparse
import collections
import concurrent.futures
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import plots
import results

# What is run: every block at every depth and rate; then the deepest of some without warm-up, and of some with larger weights at the start.
Plan = collections.namedtuple("Plan", "depths rates warm_up seeds steps rows without_warm_up gains")
WHOLE = Plan((6, 12, 24), ("1e-4", "3e-4", "1e-3", "5e-3"), 50, (1, 2, 3), 500, 128, ("pre", "post"), {"alone": "1.25"})
QUICK = Plan((3, 12), ("1e-3",), 10, (1,), 60, 32, WHOLE.without_warm_up, WHOLE.gains)
STREAMS = Plan((24,), ("3e-4", "1e-3", "5e-3"), 50, (1, 2, 3), 500, 128, (), {})
RESULTS = ("runs.csv", "gradients.csv", "run.txt")

OUTPUT = re.compile(r"steps (\d+), training loss (\S+), held out (\S+)\n")


def list_runs(plan, blocks):
    deepest = max(plan.depths)
    for block in blocks:
        points = [(depth, plan.warm_up, "1") for depth in plan.depths]
        points += [(deepest, 0, "1")] if block in plan.without_warm_up else []
        points += [(deepest, plan.warm_up, plan.gains[block])] if block in plan.gains else []
        for depth, warm_up, gain in points:
            for rate in plan.rates:
                for seed in plan.seeds:
                    yield results.Run(block, depth, rate, warm_up, gain, seed)


def gradients_of(folder, run):
    return folder / "gradients" / ("-".join(map(str, run)) + ".csv")


def train(folder, text, plan, run):
    """One network: the steps that were done, and the two losses."""
    command = [folder / run.block / "train", text, f"--steps={plan.steps}", f"--rows={plan.rows}", f"--depth={run.depth}",
               f"--rate={run.rate}", f"--warm-up={run.warm_up}", f"--gain={run.gain}", f"--seed={run.seed}"]
    if run.depth == max(plan.depths):
        command.append(f"--gradients={gradients_of(folder, run)}")
    done = subprocess.run(command, capture_output=True, text=True)
    found = OUTPUT.fullmatch(done.stdout)
    if done.returncode or not found:
        raise RuntimeError(f"{run}: {done.stderr or done.stdout or done.returncode}")
    return found.groups()


def print_progress(done, runs, run, loss, start):
    """Deep networks take longer, so what is left is counted in blocks."""
    left = (time.monotonic() - start) * sum(other.depth for other in runs[done:]) / sum(other.depth for other in runs[:done])
    print(f"run {done} of {len(runs)}: {run.block}, depth {run.depth}, rate {run.rate}, warm-up {run.warm_up}, gain {run.gain}, "
          f"seed {run.seed}: training loss {loss}; about {left:.0f} s left", flush=True)


def train_all(folder, text, plan, runs, jobs):
    start = time.monotonic()
    (folder / "gradients").mkdir(exist_ok=True)
    ended = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for run, numbers in zip(runs, pool.map(lambda run: train(folder, text, plan, run), runs)):
            ended.append((*run, *numbers))
            print_progress(len(ended), runs, run, numbers[1], start)
    write_csv(folder / "runs.csv", [*results.Run._fields, "steps", "training_loss", "held_out_loss"], ended)
    return time.monotonic() - start


def write_csv(path, names, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


def gather_gradients(folder, measured):
    """The gradients of the deepest networks, of each block at its own best rate."""
    rows, names = [], ()
    deepest = max(results.depths_of(measured))
    for gain, block in sorted(dict.fromkeys((run.gain, run.block) for run in measured), key=lambda pair: results.place(*pair)):
        for run in results.best_runs(measured, block, deepest, gain=gain):
            with gradients_of(folder, run).open() as file:
                first, *lines = csv.reader(file)
            names = ("block", "gain", "rate", "seed", "step", "number", *first[2:])
            rows += [(run.block, run.gain, run.rate, run.seed, *line) for line in lines]
    write_csv(folder / "gradients.csv", names, rows)


def name_processor():
    try:
        found = dict(re.findall(r"^(model name|cpu family|model)\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M))
        return f"{found['model name']} (family {found['cpu family']}, model {found['model']})"
    except (OSError, KeyError):
        return os.uname().machine


def fill_tables(folder, page):
    """The text of a page with the tables of these results."""
    text = page.read_text()
    for name, table in results.make_tables(folder).items():
        text, count = re.subn(rf"(<!-- table: {name} -->\n).*?(\n<!-- end of table -->)",
                              lambda marks: marks[1] + "\n" + table + marks[2], text, flags=re.S)
        if count != 1:
            sys.exit(f"{page}: expected one table '{name}', but got {count}")
    return text


def update_page(folder, page):
    """Fills the tables of a page, and puts the numbers and plots into the folder with its name."""
    depths = tuple(results.depths_of(results.read_runs(folder)))
    if depths == QUICK.depths:
        sys.exit(f"{folder}: expected results of depth {WHOLE.depths} for a page, but got {depths}, as a quick run has")
    text = fill_tables(folder, page)
    beside = page.with_suffix("")
    beside.mkdir(exist_ok=True)
    for name in RESULTS:
        if folder.resolve() != beside.resolve():
            shutil.copyfile(folder / name, beside / name)
    page.write_text(text)
    plots.write_plots(beside)


def main():
    parser = argparse.ArgumentParser(description="Trains networks of several depths, with and without the residual add.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("text", nargs="?", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--quick", dest="plan", action="store_const", const=QUICK, default=WHOLE)
    parser.add_argument("--streams", dest="plan", action="store_const", const=STREAMS)
    parser.add_argument("--docs", type=pathlib.Path)
    asked = parser.parse_args()
    if asked.docs:
        for file in (*(asked.folder / name for name in RESULTS), asked.docs):
            if not file.is_file():
                sys.exit(f"{file}: expected a file, but there is none")
        return update_page(asked.folder, asked.docs)
    if not asked.text or asked.jobs < 1:
        parser.error("expected a text, and one job or more")
    plan = asked.plan
    blocks = [block for block in results.TITLES if (asked.folder / block / "train").exists()]
    if not blocks:
        sys.exit(f"{asked.folder}: expected a program for a block, such as {asked.folder}/pre/train, but there is none")
    runs = list(list_runs(plan, blocks))
    # The longest first, so that all cores have work to the end.
    runs.sort(key=lambda run: -run.depth)
    seconds = train_all(asked.folder, asked.text, plan, runs, asked.jobs)
    gather_gradients(asked.folder, results.read_runs(asked.folder))
    (asked.folder / "run.txt").write_text(
        f"{len(runs)} networks, {plan.steps} steps each, {plan.rows} places of the text a step, in {seconds:.0f} s, "
        f"{asked.jobs} at a time, on: {name_processor()}\n")
    for name, table in results.make_tables(asked.folder).items():
        print(f"\n{name}:\n\n{table}")
    plots.write_plots(asked.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
