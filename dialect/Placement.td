// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of norm placements, for the dialect and for the flags of the tools. What a placement means stands in
// Placement.cpp.

#ifndef RESID_DIALECT_PLACEMENT
#define RESID_DIALECT_PLACEMENT

include "mlir/IR/EnumAttr.td"

def Resid_Placement : I32EnumAttr<"Placement", "where the norm stands in a residual sub-layer", [
  I32EnumAttrCase<"Post", 0, "post">, I32EnumAttrCase<"Pre", 1, "pre">,
  I32EnumAttrCase<"BranchPost", 2, "branch_post">, I32EnumAttrCase<"Peri", 3, "peri">,
  I32EnumAttrCase<"PostShifted", 4, "post_shifted">, I32EnumAttrCase<"None", 5, "none">]> {
  let cppNamespace = "::mlir::resid";
  let genSpecializedAttr = 0;
}

#endif
