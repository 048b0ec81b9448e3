# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes minilm.mlir small enough for the stored weights: 24 columns, 2 heads, a feed-forward of 48 columns, 40 words, 16 places.
s/30522x384/40x24/
s/512x384/16x24/
s/constant 512/constant 16/
s/x12x32x/x2x12x/
s/x12x?x32x/x2x?x12x/
s/12, 32\]/2, 12]/
s/1536/48/g
s/384/24/g
