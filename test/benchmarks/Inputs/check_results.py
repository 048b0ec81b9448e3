# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads what a run of the benchmarks wrote: the table has every variant of every case with positive times, the tables in
# Markdown are rectangular, the pictures are XML with curves inside of the picture.
# Usage: check_results.py <folder>

import csv
import importlib.util
import pathlib
import sys
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"
# With the least number of variants.
KERNELS = {"add_layer_norm": 7, "dropout_add_layer_norm": 7, "layer_norm": 6, "column_sums": 4, "layer_norm_backward": 8,
           "rms_norm_backward": 8, "dropout_add_layer_norm_backward": 9}
READ = 3  # so many of them are measured with a reader of their results, too


def check_csv(path):
    rows = list(csv.DictReader(path.open()))
    for kernel, least in KERNELS.items():
        for element in ("f32", "bf16"):
            for rows_, width in (("3", "64"), ("2", "1089")):
                for threads in ("1", "2"):
                    case = {"kernel": kernel, "type": element, "rows": rows_, "width": width, "threads": threads,
                            "reader": "0"}
                    found = [row for row in rows if case.items() <= row.items()]
                    names = [row["variant"] for row in found]
                    assert len(found) >= least and len(set(names)) == len(names), (kernel, element, width, names)
                    if kernel == "column_sums":
                        # By hand there are widths of whole vectors only, in the order of the definition and in others.
                        assert ({"hand-cascade", "hand-running", "hand-wide"} <= set(names)) == (width == "64"), names
                        assert {"resid", "resid-any-width", "resid-scalar", "limit-read"} <= set(names), names
                        continue
                    assert {"resid", "limit-plain", "hand-streamed"} <= set(names), names
                    assert ("resid-unfused" in names) == ("add_" in kernel), names
    # With a reader of the results: what the caller could have told the kernel stands beside it, and no peer.
    read = {row["variant"] for row in rows if row["reader"] == "1"}
    assert {"resid", "resid-hint-read-soon", "resid-hint-stream", "limit-plain", "hand-plain"} <= read, read
    for row in rows:
        assert float(row["median_ns"]) > 0 and float(row["gigabytes_per_second"]) > 0, row
        assert float(row["first_quartile_ns"]) <= float(row["median_ns"]) <= float(row["third_quartile_ns"]), row
        assert None not in row and None not in row.values(), row


def check_markdown(path):
    tables, width = 0, 0
    for line in path.read_text().splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        cells = line.count("|") - 1
        tables += width == 0
        assert width in (0, cells), line
        width = cells
    # As a reader would give it: the flags of the test, less those that the Makefile gives.
    assert "Command: `make bench BENCH_FLAGS='--smoke --row-orders --cc=" in path.read_text(), path.read_text()[:400]
    assert "Peers: none." in path.read_text()
    # Bars, single numbers, the limit; then kernels of two types on one and two threads, alone and, some of them, with a
    # reader.
    assert tables == 3 + (len(KERNELS) + READ) * 2 * 2, tables


def check_pictures(folder):
    """They are there where Matplotlib is, each with its panels, axes and marks explained."""
    pictures = sorted(path.name for path in folder.glob("*.svg"))
    if importlib.util.find_spec("matplotlib") is None:
        assert not pictures, pictures
        return
    names = [f"{kernel}{read}-{threads}t.svg" for kernel in KERNELS for read in ("", "-read") for threads in (1, 2)
             if (kernel, read) != ("column_sums", "-read")]
    assert pictures == sorted([*names, "limit.svg"]), pictures
    for name in names:
        root = xml.etree.ElementTree.parse(folder / name).getroot()
        text = " ".join(element.text or "" for element in root.iter(f"{SVG}text"))
        for part in ("f32", "bf16", "GB/s of compulsory bytes", "limit: copies of the same arrays", "middle half"):
            assert part in text, (name, part, text)
        assert "prefers-color-scheme: dark" in (folder / name).read_text(), name


def main():
    folder = pathlib.Path(sys.argv[1])
    check_csv(folder / "results.csv")
    check_markdown(folder / "results.md")
    check_pictures(folder)


main()
