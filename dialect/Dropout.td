// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Dropout: the same mask everywhere.

#ifndef RESID_DIALECT_DROPOUT
#define RESID_DIALECT_DROPOUT

include "dialect/ResidBase.td"

def Resid_DropoutOp : Resid_Op<"dropout", [AttrSizedOperandSegments, AllTypesMatch<["x", "result"]>]> {
  let summary = "dropout with a mask that depends on the logical position alone";
  let description = [{
    Kept elements times 65536/(65536-T), dropped ones +0.
  }];
  let arguments = (ins Resid_Tensor:$x, I64:$seed, I64:$step, Optional<I64>:$origin_row, Optional<I64>:$origin_site,
                       F64Attr:$p, I64Attr:$site);
  let results = (outs Resid_Tensor:$result);
  let assemblyFormat = [{
    $x `seed` `(` $seed `,` $step `)` (`origin` `(` $origin_row^ `,` $origin_site `)`)? attr-dict `:` type($x)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// T = round(p·65536), half away from zero: 0 is the identity, 65536 drops all.
    int64_t getThreshold();
  }];
}

#endif
