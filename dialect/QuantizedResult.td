// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of the ops whose first result may be quantised in place, and what shares a scale. What such an op
// means, and its expansion, stand in QuantizedResult.cpp.

#ifndef RESID_DIALECT_QUANTIZEDRESULT
#define RESID_DIALECT_QUANTIZEDRESULT

include "dialect/ResidBase.td"

def Resid_Granularity : I32EnumAttr<"Granularity", "what shares a scale: a row, a whole tensor, or a group of a row", [
  I32EnumAttrCase<"Row", 0, "row">, I32EnumAttrCase<"Tensor", 1, "tensor">, I32EnumAttrCase<"Group", 2, "group">]> {
  let cppNamespace = "::mlir::resid";
  let genSpecializedAttr = 0;
}
def Resid_GranularityAttr : EnumAttr<Resid_Dialect, Resid_Granularity, "granularity">;

def Resid_FloatsOrBytes
    : Resid_TensorOf<[F16, BF16, F32, F64, I8], "ranked tensor of f16, bf16, f32, f64 or i8, of rank 1 or more",
                     [CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() >= 1">]>;

def Resid_QuantizedResultOpInterface : OpInterface<"QuantizedResultOpInterface"> {
  let cppNamespace = "::mlir::resid";
  let description = [{
    An op whose first result may be of i8. It then stands for the op with a result of floats, and a `resid.quantize` of
    that. The last result is the scale, unless the scale is an operand. `expandQuantizedResults` writes both ops. Tools
    do so as they read a program, so that passes and lowerings see floats.
  }];
  let methods = [
    InterfaceMethod<"The types of the results, were the first not quantised.", "::llvm::SmallVector<::mlir::Type>",
                    "getUnquantizedTypes">,
    InterfaceMethod<"What shares a scale; nothing: a row.", "::std::optional<::mlir::resid::Granularity>",
                    "getGranularity">,
    InterfaceMethod<"How many elements share one, with the granularity group.", "::std::optional<uint64_t>",
                    "getGroup">,
    InterfaceMethod<"The scale as an operand, or null.", "::mlir::Value", "getStaticScale", (ins), [{
      return $_op.getStaticScale();
    }]>,
    InterfaceMethod<"Takes off the granularity and the operand scale.", "void", "clearQuantization", (ins), [{
      $_op.getStaticScaleMutable().clear();
      $_op.removeGranularityAttr();
      $_op.removeGroupAttr();
    }]>];
  let verify = "return ::mlir::resid::verifyQuantizedResult($_op);";
}

#endif
