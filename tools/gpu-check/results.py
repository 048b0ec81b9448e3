# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What gpu-check found: files that are written after each answer, so that they hold all of it when the process is killed.

import csv
import datetime
import sys
import time

import drawing
import summary
from summary import table

# What is said of a peer; the last ratio is its time divided by resid's.
PEER_COLUMNS = ["block", "type", "columns", "rows", "peer", "microseconds", "GB/s", "ratio to the copy", "resid, microseconds", "resid is faster by", "least", "most"]
TIME_COLUMNS = ["block", "type", "columns", "rows", "microseconds", "GB/s", "GB/s of the copy", "ratio", "least", "most"]


def list_under(header, lines):
    return f"{header}\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""


class Results:
    def __init__(self, folder, requests):
        self.folder, self.start, self.has_no_device = folder, time.monotonic(), False
        # In the order of the requests, whatever that of the answers is.
        self.answers = {request.text: [] for request in requests}
        self.labels = {(request.label, case): None for request in requests for case in request.cases}  # and what was done of it
        self.own = {}  # lines that processes say of themselves, each once: of their device, and what is absent there
        self.file = open(folder / "results.csv", "w", newline="")

    def take(self, request, lines, problem):
        """Whether to go on."""
        for line in (line for line in lines if line[0] == "done"):
            self.labels[request.label, line[1]] = "done"
        missing = [case for case in request.cases if self.labels[request.label, case] is None]
        if missing and problem is None:
            problem = "expected to be done, but the answer has none of it"
        if problem:
            lines = [*lines, ["ended", request.label, ", ".join(missing), problem]]
            self.labels |= {(request.label, case): "ended" for case in missing}
            print(f"gpu-check: {request.label}, {', '.join(missing)}: {problem}", file=sys.stderr, flush=True)
        is_own = lambda line: line[0] in ("device", "absent", "local")
        self.answers[request.text] = [line for line in lines if not is_own(line)]
        new = [line for line in lines if not is_own(line) or tuple(line) not in self.own]
        self.own |= {tuple(line): None for line in lines if is_own(line)}
        csv.writer(self.file, lineterminator="\n").writerows(new)
        self.file.flush()
        self.write()
        self.has_no_device |= bool(problem) and "exit code 4" in problem
        return not self.has_no_device

    def choose(self, *kinds):
        """Lines of these kinds without that word."""
        return [list(line[1:]) for line in [*self.own, *(line for lines in self.answers.values() for line in lines)] if line[0] in kinds]

    def get_exit_code(self):
        has_failed = any(label != "peers" for label, _, _ in self.choose("ended"))
        has_mistakes = any(line[-1] != "0" for line in self.choose("check"))
        is_local = any("__registers_" in kernel for kernel, _ in self.choose("local"))
        if has_failed or has_mistakes or is_local:
            return 1
        return 3 if any(label.startswith("checks") and done is None for (label, _), done in self.labels.items()) else 0

    def summarize_checks(self):
        found = {}
        for _, element, _, _, what, others in self.choose("check"):
            cases, bad = found.get((what, element), (0, 0))
            found[what, element] = cases + 1, bad + (others != "0")
        return table(["check", "type", "cases", "with other bits"], [[*key, *value] for key, value in found.items()])

    def summarize_errors(self):
        """The largest error of each type, beside float64, in units in the last place of the row's largest element."""
        largest = {}
        for line in self.choose("error"):
            largest[line[1]] = max(largest.get(line[1], 0), float(line[5]))
        return table(["type", "largest error, in the last place of the row's largest element"], largest.items())

    def summarize_local_memory(self):
        found = self.choose("local")
        return table(["kernel with local memory", "bytes per thread"], found) if found else "No kernel has local memory."

    def describe_left_out(self):
        left = {}
        for (label, case), done in self.labels.items():
            if done is None:
                left.setdefault(label, []).append(case)
        return list_under("The time was over before:", [f"{label}: {', '.join(cases)}" for label, cases in left.items()])

    def write(self):
        """The text of results.md."""
        device, version = next(iter(self.choose("device")), ["an unknown device", "of an unknown version"])
        times, peers = self.choose("time"), self.choose("peer")
        parts = [
            f"{device}, driver {version}, {datetime.date.today()}, {time.monotonic() - self.start:.0f} s.",
            self.summarize_checks() if self.choose("check") else "",
            self.summarize_errors() if self.choose("error") else "",
            self.summarize_local_memory(),
            list_under("Failed:", [f"{label}, {cases}: {problem}" for label, cases, problem in self.choose("ended")]),
            self.describe_left_out(),
            summary.summarize(times, peers),
            table(["program", "type", "TFLOP/s"], self.choose("rate")) if self.choose("rate") else "",
            table(TIME_COLUMNS, times) if times else "",
            table(PEER_COLUMNS, peers) if peers else "",
            list_under("Not timed:", [f"{what}: {why}" for what, why in self.choose("absent", "failed")]),
        ]
        text = "\n\n".join(part for part in parts if part) + "\n"
        (self.folder / "results.md").write_text(text)
        drawn = [[line for line in lines if not summary.is_whole(line)] for lines in (times, peers)]
        if any(drawn):
            (self.folder / "results.svg").write_text(drawing.draw(*drawn))
        return text
