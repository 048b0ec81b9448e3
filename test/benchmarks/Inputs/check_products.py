# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads what a run of products.py wrote: every way of every case with positive times, rectangular tables; and puts it into a
# page twice, for two processors.
# Usage: check_products.py <benchmarks folder> <folder of results>

import csv
import pathlib
import sys

sys.path.insert(0, sys.argv[1])
from harness import pages  # noqa: E402

SHAPES = (("9", "24", "48", "0"), ("5", "7", "35", "0"), ("1", "32", "48", "1"))
LEAST = {"resid", "resid-in-out", "resid-out-in", "hand-chain", "hand-two-chains"}


def check_csv(path):
    rows = list(csv.DictReader(path.open()))
    for element in ("f32", "bf16"):
        for threads in ("1", "2"):
            for shape in SHAPES:
                case = dict(zip(("rows", "terms", "columns", "decoding"), shape), type=element, threads=threads)
                names = [row["variant"] for row in rows if case.items() <= row.items()]
                limit = "limit-read" if shape[3] == "1" else "limit-fma"
                assert LEAST | {limit} <= set(names) and len(set(names)) == len(names), (case, names)
                check_limits([row for row in rows if case.items() <= row.items()], limit)
    for row in rows:
        assert float(row["median_ns"]) > 0 and float(row["gflop_per_second"]) > 0, row


def check_limits(rows, limit):
    """A way's part of the limit is what its time says, which has one digit after the point."""
    least = next(float(row["median_ns"]) for row in rows if row["variant"] == limit)
    for row in rows:
        part = least / float(row["median_ns"])
        assert abs(float(row["of_limit"]) - part) <= 0.02 * part + 1e-3, row


def check_tables(text, count):
    tables, width = 0, 0
    for line in text.splitlines():
        cells = line.count("|") - 1 if line.startswith("|") else 0
        tables += bool(cells) and not width
        assert not cells or width in (0, cells), line
        width = cells
    assert tables == count, tables


def check_pages(folder):
    page = folder / "page.md"
    page.write_text("# Page\n\n## Results\n\n<!-- results: written by hand -->\n\n<!-- end of results -->\n\nAfter.\n")
    for processor in ("first", "second", "first"):
        pages.put_section(page, processor, folder / "products.md", [folder / "products.csv"])
    text = page.read_text()
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert heads == ["## Results", "## Results: first", "## Results: second"], heads
    assert text.startswith("# Page\n") and text.endswith("\n<!-- end of results -->\n\nAfter.\n"), text[-200:]
    assert text.count("Measured on: ") == 2 and text.count("#### Products, f32, one thread") == 2
    assert (folder / "page" / "first.csv").read_text() == (folder / "products.csv").read_text()


def main():
    folder = pathlib.Path(sys.argv[2])
    check_csv(folder / "products.csv")
    text = (folder / "products.md").read_text()
    # Bars; then products and decoding, of two types, on one and two threads.
    check_tables(text, 1 + 2 * 2 * 2)
    check_tables((folder / "products-all.md").read_text(), 2 * 2 * 2)
    assert "Command: `make bench-products BENCH_FLAGS='--smoke " in text and "Peers: none." in text, text[:300]
    assert "1x32x48" in text and ("reached" in text), text
    check_pages(folder)


main()
