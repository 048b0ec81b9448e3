// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Dropout: the same mask everywhere.

#ifndef RESID_DIALECT_DROPOUT
#define RESID_DIALECT_DROPOUT

include "dialect/ResidBase.td"

// dropout.C2: the inferred result type.
def Resid_DropoutOp : Resid_Op<"dropout", [AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "dropout with a mask that depends on the logical position alone";
  let description = [{
    Drops elements with probability `p`. It scales the kept elements so that the expectation stays the same.

    **Formula.** With `T = round(p·65536)`, halves away from zero:
    `y[row, col] = half(row, col) ≥ T ? x[row, col]·65536/(65536-T) : +0`

    `row` counts the leading dimensions, flattened, and `col` counts along the last axis. `half` is 16 random bits from
    the generator Philox4x32-10, which makes eight of them per call:
    - The key is the seed: its low word, then its high word.
    - The counter is `((col + origin_col) div 8, row', site + origin_site, step)`. Without an extent, `row'` is
      `row + origin_row`. With one it is `origin_row + (row div extent_local)·extent_global + row mod extent_local`.
    - Element `col mod 8` takes that 16-bit half of the four output words, low half first.

    **Operands and results.**
    - `x`: `[…, D]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `seed`: i64, of which all 64 bits are used.
    - `step`: i64 in [0, 2^32), the training step.
    - `origin_row`, `origin_site`: optional i64, added to row and site. They serve shards of one batch, and layers in a
      loop.
    - `origin_col`: optional i64, added to the column. It serves shards of the features, and is a multiple of 8.
    - `extent_local`, `extent_global`: optional i64. Each `extent_local` rows of this tensor are neighbours in a group of
      `extent_global` rows of the whole. They serve shards of the sequence or of the heads: see the example.
    - `p`: float attribute in [0, 1].
    - `site`: integer attribute. It says which of the program's dropouts this is.
    - result: the type of `x`.

    **Constraints.**
    - `dropout.C1`: tensors are ranked, of f16, bf16, f32 or f64, and of rank 1 or more. Their types have no encoding,
      and they hold at most 2^47 bytes.
    - `dropout.C2`: the result has the type of `x`.
    - `dropout.C3`: `p` is in [0, 1].
    - `dropout.C4`: `site` is in [0, 2^32).
    - `dropout.C5`: `origin_row` and `origin_site` are given together.
    - `dropout.C6`: the static sizes amount to at most 2^32 rows and 2^35 columns, since counters are 32 bits wide.
    - `dropout.C7`: `origin_col` is given only with `origin_row`. So is the extent, whose two numbers are given together.
    - `dropout.C8`: a constant `origin_col` is a multiple of 8 and not negative, and at most 2^35 columns end after it.
    - `dropout.C9`: constant extents hold to `1 ≤ extent_local ≤ extent_global ≤ 2^32`.

    **Not allowed.** A row, site or step that is negative or reaches 2^32 is an error at run time. So are numbers that
    do not hold to `dropout.C8` and `dropout.C9` and are no constants. There is no hidden source of randomness. Equal operands and attributes give equal masks, whatever the threads, tiles, vector width or
    target.

    **Gradient.** `dx = dropout(dy)` with the same operands and attributes. The mask is computed again and never stored.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. The scale is rounded to it once. `x` is
    widened to it and multiplied, and the product is rounded once to the type of `x`. Dropped elements are `+0` whatever
    their value, also for NaN and infinity. `T = 0` is the identity and folds away. `T = 65536` drops everything. It
    does not fold, since the program may still be compiled for inference.

    **Shards.** A process that has a part of a tensor draws the part of the whole's mask that belongs to it:

    | what is split | origin_row | origin_col | extent_local | extent_global |
    |---|---|---|---|---|
    | the batch | the first of its rows in the whole | | | |
    | the sequence, of `[batch, sequence, D]` | the first of its positions | | its positions | all positions |
    | the features | | the first of its features | | |
    | the heads, of weights `[batch, heads, queries, keys]` | the first of its heads · queries | | its heads · queries | all heads · queries |

    **Example.**
    ```mlir
    func.func @dropout(%x: tensor<?x768xf32>, %seed: i64, %step: i64, %row: i64, %layer: i64)
        -> tensor<?x768xf32> {
      %a = resid.dropout %x seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
      %b = resid.dropout %a seed(%seed, %step) origin(%row, %layer) {p = 0.1, site = 1}
          : tensor<?x768xf32>
      return %b : tensor<?x768xf32>
    }
    // Positions %first to %first + 128 of sequences of 512.
    func.func @sequence_shard(%x: tensor<?x128x768xf32>, %seed: i64, %step: i64, %first: i64)
        -> tensor<?x128x768xf32> {
      %site = arith.constant 0 : i64
      %local = arith.constant 128 : i64
      %global = arith.constant 512 : i64
      %y = resid.dropout %x seed(%seed, %step) origin(%first, %site) extent(%local, %global)
           {p = 0.1, site = 0}
           : tensor<?x128x768xf32>
      return %y : tensor<?x128x768xf32>
    }
    // Features %first to %first + 384, a multiple of 8.
    func.func @feature_shard(%x: tensor<?x384xf32>, %seed: i64, %step: i64, %first: i64)
        -> tensor<?x384xf32> {
      %zero = arith.constant 0 : i64
      %y = resid.dropout %x seed(%seed, %step) origin(%zero, %zero, %first) {p = 0.1, site = 0}
          : tensor<?x384xf32>
      return %y : tensor<?x384xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, I64:$seed, I64:$step, Optional<I64>:$origin_row, Optional<I64>:$origin_site,
                       Optional<I64>:$origin_col, Optional<I64>:$extent_local, Optional<I64>:$extent_global,
                       Resid_F64Attr:$p, Resid_I64Attr:$site); // dropout.C1
  let results = (outs Resid_Rows:$result);               // dropout.C1
  let assemblyFormat = [{
    $x `seed` `(` $seed `,` $step `)` (`origin` `(` $origin_row^ `,` $origin_site (`,` $origin_col^)? `)`)?
    (`extent` `(` $extent_local^ `,` $extent_global `)`)? attr-dict `:` type($x)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$seed, "::mlir::Value":$step, "double":$p, "int64_t":$site,
                   CArg<"const ::mlir::resid::DropoutOrigin &", "{}">:$origin)>];
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// T = round(p·65536), half away from zero: 0 is the identity, 65536 drops all.
    int64_t getThreshold();
  }];
}

#endif
