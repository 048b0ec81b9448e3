# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_depth_study_streams.py: gradients of examples/depth_study on one stream and on four, as pre.csv, static.csv and mhc.csv, agree as their
# derivation says.

import csv


def read(block, step):
    """By number of the block: the norms of the gradient behind and before it, and the share that is passed on."""
    with open(f"{block}.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["step"] == step]
    assert [row["block"] for row in rows] == ["1", "2", "3", "4", "5", "6"], rows
    return [[float(row[name]) for name in ("gradient_behind", "gradient_before", "passed")] for row in rows]


pre, static, mhc = (read(block, "0") for block in ("pre", "static", "mhc"))
for one, many in zip(pre, mhc):
    assert abs(many[0] / one[0] - 0.5) < 0.01 and abs(many[1] / one[1] - 0.5) < 0.01, (one, many)
    assert abs(many[2] - one[2]) < 0.02, (one, many)
# The last block hands all streams the same gradient.
assert abs(static[-1][0] / pre[-1][0] - 0.5) < 1e-3, (static, pre)
# One stream alone gets the branch's, so that the streams' together is more than half.
assert all(many[1] / one[1] > 0.505 for one, many in zip(pre, static)), (static, pre)
# Streams do not stay equal: after training, the static ones pass on other gradients than those of one stream.
assert abs(read("static", "60")[0][2] - read("pre", "60")[0][2]) > 1e-3
