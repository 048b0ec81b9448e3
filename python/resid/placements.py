# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The norm placements of resid.block, for all of the package; dialect/Block.td has them first.

PLACEMENTS = ("post", "pre", "branch_post", "peri", "post_shifted", "none")
