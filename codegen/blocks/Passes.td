// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that puts kernels together which may run by blocks of rows.

#ifndef RESID_CODEGEN_BLOCKS_PASSES
#define RESID_CODEGEN_BLOCKS_PASSES

include "mlir/Pass/PassBase.td"

def FormRowBlocks : Pass<"resid-form-row-blocks"> {
  let summary = "put products and the row kernels around them together, so that they may run by blocks of rows";
  let description = [{
    On buffers. A `contraction.kernel` whose result a `rows.kernel` reads row by row, or one of whose factors a
    `rows.kernel` writes row by row, goes with it into a `contraction.row_blocks`: linear, dropout, add, norm after a
    product, or a norm before one. Several row kernels may join one product; one that stands between two joins the
    first. What stands between them moves in front of them, or after them, where that touches nothing they use.

    A product of at most 64 columns or 64 terms takes little longer than to read and write its rows. All row kernels in
    front of it join that write what it or another of them reads, and a kernel may have several rows for one of the
    product: each of several streams, or each pair of them.

    With `record`, a product notes why a row kernel that reads its result or writes its factor did not join.

    Class: bit-exact.
  }];
  let options = [Option<"record", "record", "bool", "false", "note at products what stood in the way, for a report">];
}

#endif
