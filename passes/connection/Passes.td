// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversion between one residual stream and several.

#ifndef RESID_PASSES_CONNECTION_PASSES
#define RESID_PASSES_CONNECTION_PASSES

include "passes/PassOptions.td"

def WidenStream : Pass<"resid-widen-stream", "::mlir::ModuleOp"> {
  let summary = "gives stacks of resid.block several residual streams, or one again";
  let description = [{
    Class: **bit-exact** for `static` and `gated` with 2 or 4 streams, else **exact in real arithmetic**. Bit-exact holds for elements
    of the streams that are 0 or at least 2^-124, and 2^-1020 in f64: a quarter of a smaller one is rounded. Back to one
    stream it **changes the function** where parameters are dropped.

    A *stack* is the row of `resid.block` ops on one residual stream. With `streams=n`, n from 2 to 16, this pass copies
    the stream that enters each stack n times, gives each block a clause `streams`, and reads one row of the streams
    after the last block. At the initial values of the new parameters, the program computes what it computed before. So a
    trained network can be grown. What was done is recorded in the module attribute `resid.manifest`, with the initial
    values.

    New parameters are arguments at the end of the function, of the arithmetic type of the stream. Block i has:

    | connection | parameters | coefficients of a row |
    |---|---|---|
    | `static` | `connection_i_read`, `connection_i_write`: n x 1 | the parameters |
    | `gated` | `connection_i_norm`: n x D, `_down`: 320 x n·D, `_up`: n·D x 320, `_write`: n x n·D | h: RMS norm of each stream with its γ; gates: σ(up·silu(down·h/n)); row: mean(gates ⊙ h); write: 2σ(write·h/n) |
    | `ihc` | `connection_i_weight`: 2n x n·D, `_scale`: 2, `_base`: 2n | read: σ(z·scale₀ + base) + e; write: 2σ(z·scale₁ + base) + e |
    | `mhc` | `connection_i_weight`: (2n + n²) x n·D, `_scale`: 3, `_base`: 2n + n² | read: as ihc; write: 2σ(z·scale₁ + base); mix: Sinkhorn(z·scale₂ + base), 20 iterations |

    A gated read is a norm, so it takes the place of the RMS norm before the branch. The clause `streams` of the block has
    the write alone, and the branch reads the row from outside. The other norms stay.

    z is `resid.project` of the streams and the weight, with the epsilon 1.0e-6, and e is 1.0e-6. The first n rows of the
    weight are for the read, the next n for the write, and the others for the mix, row by row. The read after the last
    block has `head_read`, or `head_weight`, `head_scale` and `head_base` of the first n rows alone.
    `gated` has `head_read`, since the final norm after it stays.

    Initial values: `static` reads 1/n of each of 2 or 4 streams, else the first stream alone, and writes 1 to each.
    `ihc` and `mhc` have the weight 0, the scale 1, and a base that makes the read 1/n and the write 1. The columns of
    mhc's first mix sum to a little less than 1, so the base of block i makes up for the i mixes before it.

    `gated` has an `up` and a `write` of 0, so that gates are 1/2 and the write is 1, and γ is twice that of the norm. `down`
    is random: the function does not depend on it yet, but would never learn with zeros.

    With `streams=1`, a stack whose connection is static and does not mix gets one stream again: its streams begin as
    copies (`linalg.broadcast`), each block has weights that are constants or arguments of n x 1, and no mix. Constant
    weights of a read have to sum to 1, and those of a write have to be 1. Arguments are dropped from the stack and stay
    in the signature. The function is the same where their values are such.

    **Does not fire** in these cases, which are errors:
    - The stack is on several streams already, or for `streams=1` on one.
    - A block has the placement `post` or `post_shifted`, or a `skip_scale`.
    - A loop carries the stream, or something reads it between the blocks (an auxiliary head, a branch that captures it).
    - `gated`, `ihc` and `mhc`: the number of features is not static.
    - `gated`: a block has no RMS norm of one dimension before its branch, or the γ of that is neither an argument nor a
      constant.
    - The function has callers. Inlining removes them.

    Effect on rounding: as its class says.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [Option<"streams", "streams", "int64_t", /*default=*/"4", "how many streams: 1 to 16">,
                 ChoiceOption<"connection", "connection", Resid_ConnectionKind, "Static">,
                 ReportOption<>];
}

#endif
