// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of norm kinds, and the interface of the ops that are one norm each. What a kind means stands in
// NormKinds.cpp, one entry per kind.

#ifndef RESID_DIALECT_NORMKINDS
#define RESID_DIALECT_NORMKINDS

include "dialect/ResidBase.td"

def Resid_NormKind : I32EnumAttr<"NormKind", "kind of a norm", [
  I32EnumAttrCase<"Layer", 0, "layer">, I32EnumAttrCase<"RMS", 1, "rms">, I32EnumAttrCase<"DyT", 2, "dyt">,
  I32EnumAttrCase<"Group", 3, "group">, I32EnumAttrCase<"L2", 4, "l2">]> {
  let cppNamespace = "::mlir::resid";
  let genSpecializedAttr = 0;
}
def Resid_NormKindAttr : EnumAttr<Resid_Dialect, Resid_NormKind, "norm_kind">;

def Resid_NormOpInterface : OpInterface<"NormOpInterface"> {
  let cppNamespace = "::mlir::resid";
  let description = [{
    An op that is one norm. Its first operand is what it normalises. Its first result is the normalised value, and the
    statistics of its kind follow, all or none.
  }];
  let methods = [
    InterfaceMethod<"The norm, x among its parts.", "::mlir::resid::NormParts", "getNormParts">];
}

#endif
