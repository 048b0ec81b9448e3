# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_depth_study.py FOLDER: what a short run of examples/depth_study wrote says something true of gradients: before
# training, those of pre-norm stay about as large from block to block, and those of f(x) shrink. The plots are XML with curves.

import csv
import math
import pathlib
import sys
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"
PLOTS = {"depth": 1, "rates": 2, "warm-up": 1, "gradient": 2, "passed": 2}


def read_start(folder, block):
    with (folder / "gradients.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if (row["block"], row["gain"], row["step"]) == (block, "1", "0")]
    assert [int(row["number"]) for row in rows] == list(range(1, 13)), rows
    return rows


def check_gradients(folder):
    ratio = {}
    for block, factor in (("alone", 0), ("pre", 1)):
        rows = read_start(folder, block)
        # What stands after a block stands before the next one.
        for row, after in zip(rows, rows[1:]):
            assert math.isclose(float(row["gradient_behind"]), float(after["gradient_before"]), rel_tol=1e-4), (row, after)
        assert all(abs(float(row["passed"]) - factor) < 0.25 for row in rows), rows
        ratio[block] = float(rows[0]["gradient_behind"]) / float(rows[-1]["gradient_behind"])
    assert ratio["alone"] < 0.01 and 1 < ratio["pre"] < 20, ratio


def check_losses(folder):
    with (folder / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    # 3 and 12 blocks; 12 of pre-norm without warm-up; 12 of f(x) with larger weights.
    assert len(rows) == 6 and all(row["steps"] == "60" for row in rows), rows
    # A byte at random has 5.55; one in 60 steps learns which bytes are frequent.
    assert all(2 < float(row[kind]) < 4 for row in rows for kind in ("training_loss", "held_out_loss")), rows


def check_plots(folder):
    for name, panels in PLOTS.items():
        root = xml.etree.ElementTree.parse(folder / f"{name}.svg").getroot()
        width, height = float(root.get("width")), float(root.get("height"))
        lines = [line.get("points").split() for line in root.iter(f"{SVG}polyline")]
        # Two blocks, or one with and without warm-up; each has a line in the legend.
        assert len(lines) == 2 * panels + 2, (name, len(lines))
        for x, y in (point.split(",") for line in lines for point in line):
            assert 0 <= float(x) <= width and 0 <= float(y) <= height, (name, x, y)
        assert "prefers-color-scheme: dark" in (folder / f"{name}.svg").read_text(), name


folder = pathlib.Path(sys.argv[1])
check_gradients(folder)
check_losses(folder)
check_plots(folder)
