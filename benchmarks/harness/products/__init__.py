# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The parts of products.py: cases and programs, ways to compute a product, peers, tables. Does not own: how samples are taken
# (harness/measure.py).
