// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and helpers of the backward ops of a gate and of a dynamic tanh.

#include "dialect/GradVerification.h"
#include "dialect/Verification.h"

using namespace mlir;
using namespace mlir::resid;

//===----------------------------------------------------------------------===//
// GateGradOp
//===----------------------------------------------------------------------===//

LogicalResult GateGradOp::verify() {
  RankedTensorType f = getF().getType(), gate = getDgate().getType();
  if (failed(verifySumType(*this, f, getDy().getType(), "dy"))) // gate_grad.C2
    return failure();
  if (gate.getElementType().isF64() && !f.getElementType().isF64()) // gate_grad.C3
    return emitOpError("expected dgate of f16, bf16 or f32 beside f of ") << f.getElementType() << ", but got " << gate;
  return failure(failed(verifyGateShape(*this, f, getDgate())) ||                                   // gate_grad.C4
                 failed(verifyScale(*this, f.getElementType(), getBranchScale(), "branch_scale"))); // gate_grad.C5
}

void GateGradOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getDgate(), "dgate"); }

void GateGradOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  RankedTensorType f = getF().getType(), gate = getDgate().getType();
  uniteDimensions(unite, getDy(), getF(), 0, f.getRank());
  for (int64_t dimension = 0; dimension < gate.getRank(); ++dimension)
    if (gate.getDimSize(dimension) != 1)
      unite(getDgate(), dimension, getF(), f.getRank() - gate.getRank() + dimension);
}

//===----------------------------------------------------------------------===//
// DyTGradOp
//===----------------------------------------------------------------------===//

LogicalResult DyTGradOp::verify() {
  RankedTensorType x = getX().getType();
  if (failed(verifyNormalizedType(*this, x, getDy().getType(), "dy"))) // dyt_grad.C2
    return failure();
  for (auto [number, name] : {std::pair<Value, StringRef>(getAlpha(), "alpha"), {getDalpha(), "dalpha"}})
    if (failed(verifyParameterShape(*this, x, number, /*rank=*/0, name)) || // dyt_grad.C3
        failed(verifyParameterType(*this, x, number, name)))                // dyt_grad.C3
      return failure();
  if (getGamma() && failed(verifyNormalizedRank(*this, x, getGamma().getType().getRank()))) // dyt_grad.C4
    return failure();
  return failure(failed(verifyTrailingShape(*this, x, getGamma(), "gamma")) ||              // dyt_grad.C5
                 failed(verifyParameterType(*this, x, getGamma(), "gamma")) ||              // dyt_grad.C5
                 failed(verifyTypeOfX(*this, x, getDsum(), "sum")) ||                       // dyt_grad.C6
                 failed(verifyTypeOfX(*this, x, getDx(), "dx")) ||                          // dyt_grad.C6
                 failed(verifyParameterGradients(*this, x, getGamma(), getParameters())) || // dyt_grad.C7
                 failed(verifyGammaAttributes(*this, getGamma(), getZeroCenteredGamma(),    // dyt_grad.C8
                                              /*narrowAffine=*/false)));
}

void DyTGradOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getDx(), "dx");
  setName(getDalpha(), "dalpha");
  nameParameterGradients(getParameters(), setName);
}

/// dy, x, sum and dx have one shape; parameters have its last dimensions.
void DyTGradOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  int64_t rank = getX().getType().getRank();
  for (Value value : {Value(getDy()), Value(getDsum()), Value(getDx())})
    uniteDimensions(unite, value, getX(), 0, rank);
  int64_t columns = getGamma() ? getGamma().getType().getRank() : 0;
  uniteDimensions(unite, getGamma(), getX(), rank - columns, columns);
  for (Value parameter : getParameters())
    uniteDimensions(unite, parameter, getX(), rank - columns, columns);
}
