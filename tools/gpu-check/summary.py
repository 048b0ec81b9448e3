#!/usr/bin/env python3
# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Short tables of what gpu-check timed: a line for each kernel and type, a column for each width. As a program, it prints
# those of results.csv files.

import csv
import sys


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def pivot(lines, name, value):
    """`lines` begin with block, type, columns and rows. Of each name, type and width, the line with the most rows counts."""
    cells = {}
    for line in sorted(lines, key=lambda line: int(line[3])):
        cells[name(line), line[1], int(line[2])] = value(line)
    widths = sorted({width for *_, width in cells})
    keys = dict.fromkeys((name(line), line[1]) for line in lines)
    header = ["kernel", "type", *(f"{width:,}" for width in widths)]
    return table(header, [[*key, *(cells.get((*key, width), "") for width in widths)] for key in keys])


def get_kernel(line):
    """The block's name without type and width, in words; of a whole program, with its sizes."""
    kind, _, sizes = line[0].rsplit("_", 2)
    return f"{kind} {sizes}".replace("_", " ") if is_whole(line) else kind.replace("_", " ")


def is_whole(line):
    """Whether a line is of a whole program, which is named after its sizes."""
    return "x" in line[0].rsplit("_", 1)[1]


def summarize(times, peers):
    """The table of times, and one for each other library; and of whole programs, what those take beside resid."""
    parts, whole = [], [line for line in peers if is_whole(line)]
    times, peers = ([line for line in lines if not is_whole(line)] for lines in (times, peers))
    if whole:
        cells = [[get_kernel(line), line[1], line[4], f"{float(line[9]):.2f}"] for line in whole]
        parts.append("Whole programs:\n\n" + table(["program", "type", "other library", "its time divided by resid's"], cells))
    if times:
        parts.append("Speed divided by that of a copy:\n\n" + pivot(times, get_kernel, lambda line: f"{float(line[7]):.2f}"))
    for peer in dict.fromkeys(line[4] for line in peers):
        lines = [line for line in peers if line[4] == peer]
        parts.append(f"Time of {peer} divided by resid's:\n\n" + pivot(lines, get_kernel, lambda line: f"{float(line[9]):.2f}"))
    return "\n\n".join(parts)


def main():
    lines = [line for path in sys.argv[1:] for line in csv.reader(open(path))]
    choose = lambda kind: [line[1:] for line in lines if line[0] == kind]
    print(summarize(choose("time"), choose("peer")))


if __name__ == "__main__":
    main()
