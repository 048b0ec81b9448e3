// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ops say of the sizes of their operands and results, where these are not aligned with the stream's last axes.

#ifndef RESID_DIALECT_EQUALSIZES
#define RESID_DIALECT_EQUALSIZES

include "mlir/IR/OpBase.td"

def Resid_EqualSizesOpInterface : OpInterface<"EqualSizesOpInterface"> {
  let cppNamespace = "::mlir::resid";
  let description = [{
    An op that knows which dimensions of its tensors have the same size. A function whose arguments disagree refuses the
    call.
  }];
  let methods = [InterfaceMethod<"Names pairs of dimensions that have one size.", "void", "forEachEqualSize",
    (ins "::llvm::function_ref<void(::mlir::Value, int64_t, ::mlir::Value, int64_t)>":$unite)>];
}

#endif
