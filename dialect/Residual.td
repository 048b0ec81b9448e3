// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Residual: how a branch joins the stream.

#ifndef RESID_DIALECT_RESIDUAL
#define RESID_DIALECT_RESIDUAL

include "dialect/ResidBase.td"

def Resid_AddOp : Resid_Op<"add"> {
  let summary = "adds a branch to the residual stream";
  let description = [{
    y = skip_scale·x + branch_scale·(gate ⊙ f).
  }];
  let arguments = (ins Resid_Tensor:$x, Resid_Tensor:$f, Optional<Resid_Tensor>:$gate,
                       DefaultValuedAttr<F64Attr, "1.0">:$skip_scale, DefaultValuedAttr<F64Attr, "1.0">:$branch_scale);
  let results = (outs Resid_Tensor:$result);
  let assemblyFormat = [{
    $x `,` $f (`gate` `(` $gate^ `)`)? attr-dict `:`
    custom<AddTypes>(ref($gate), type($x), type($f), type($gate), type($result))
  }];
  let hasVerifier = 1;
}

def Resid_AddBiasOp : Resid_Op<"add_bias", [AllTypesMatch<["f", "result"]>]> {
  let summary = "adds a bias along the feature axis";
  let description = [{
    y = f + b, b of the feature shape.
  }];
  let arguments = (ins Resid_Tensor:$f, Resid_Tensor:$bias);
  let results = (outs Resid_Tensor:$result);
  let assemblyFormat = "$f `,` $bias attr-dict `:` type($f) `,` type($bias)";
  let hasVerifier = 1;
}

#endif
