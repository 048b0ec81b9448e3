// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and helpers of batch norm and its backward op.

#include "dialect/GradVerification.h"
#include "dialect/Verification.h"

using namespace mlir;
using namespace mlir::resid;

/// There are rows to normalise over.
static LogicalResult verifyRows(Operation *op, RankedTensorType x) {
  if (x.getRank() >= 2)
    return success();
  return op->emitOpError("expected x of rank 2 or more, since a batch norm goes down the rows, but got ") << x;
}

/// Mean and variance, one of each for a feature.
static LogicalResult verifyColumnStatistics(Operation *op, RankedTensorType x, ValueRange statistics) {
  if (statistics.size() != 2)
    return op->emitOpError("expected the statistics mean, variance but got ") << statistics.size();
  auto type = RankedTensorType::get(x.getShape().take_back(), getArithmeticType(x.getElementType()));
  static constexpr StringLiteral names[] = {"mean", "variance"};
  for (auto [statistic, name] : llvm::zip_equal(statistics, names))
    if (statistic.getType() != type)
      return op->emitOpError("expected ") << name << " of type " << type << " but got " << statistic.getType();
  return success();
}

static void uniteColumns(UniteSizes unite, ValueRange values, Value x) {
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  for (Value value : values)
    uniteDimensions(unite, value, x, rank - 1, 1);
}

//===----------------------------------------------------------------------===//
// BatchNormOp
//===----------------------------------------------------------------------===//

LogicalResult BatchNormOp::verify() {
  RankedTensorType x = getX().getType();
  if (failed(verifyRows(*this, x)) ||                                            // batch_norm.C2
      failed(verifyNormalizedType(*this, x, getResult().getType(), "result")) || // batch_norm.C3
      failed(verifyEpsilon(*this, x.getElementType(), getEpsilon())) ||          // batch_norm.C4
      failed(verifyParameterShape(*this, x, getGamma(), /*rank=*/1, "gamma")) || // batch_norm.C5
      failed(verifyBeta(*this, x, getGamma(), getBeta())) ||                     // batch_norm.C5
      failed(verifyParameterType(*this, x, getGamma(), "gamma")) ||              // batch_norm.C6
      failed(verifyParameterType(*this, x, getBeta(), "beta")))                  // batch_norm.C6
    return failure();
  if (!getGiven().empty() && !getStatistics().empty()) // batch_norm.C7
    return emitOpError("expected no statistics as results where they are operands, but got ") << getStatistics().size();
  for (ValueRange statistics : {ValueRange(getGiven()), ValueRange(getStatistics())}) // batch_norm.C7
    if (!statistics.empty() && failed(verifyColumnStatistics(*this, x, statistics)))
      return failure();
  return success();
}

void BatchNormOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getStatistics().size() != 2)
    return;
  setName(getResult(), "normalized");
  setName(getStatistics()[0], "mean");
  setName(getStatistics()[1], "variance");
}

void BatchNormOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  uniteDimensions(unite, getResult(), getX(), 0, getX().getType().getRank());
  uniteColumns(unite, getOperands().drop_front(), getX());
  uniteColumns(unite, getStatistics(), getX());
}

//===----------------------------------------------------------------------===//
// BatchNormGradOp
//===----------------------------------------------------------------------===//

LogicalResult BatchNormGradOp::verify() {
  RankedTensorType x = getX().getType();
  return failure(failed(verifyRows(*this, x)) ||                                            // batch_norm_grad.C2
                 failed(verifyNormalizedType(*this, x, getDy().getType(), "dy")) ||         // batch_norm_grad.C2
                 failed(verifyEpsilon(*this, x.getElementType(), getEpsilon())) ||          // batch_norm_grad.C3
                 failed(verifyColumnStatistics(*this, x, getStatistics())) ||               // batch_norm_grad.C4
                 failed(verifyParameterShape(*this, x, getGamma(), /*rank=*/1, "gamma")) || // batch_norm_grad.C5
                 failed(verifyParameterType(*this, x, getGamma(), "gamma")) ||              // batch_norm_grad.C5
                 failed(verifyTypeOfX(*this, x, getDsum(), "sum")) ||                       // batch_norm_grad.C6
                 failed(verifyTypeOfX(*this, x, getDx(), "dx")) ||                          // batch_norm_grad.C6
                 failed(verifyParameterGradients(*this, x, getGamma(), getParameters())));  // batch_norm_grad.C7
}

void BatchNormGradOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getDx(), "dx");
  nameParameterGradients(getParameters(), setName);
}

void BatchNormGradOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  for (Value value : {Value(getDy()), Value(getDsum()), Value(getDx())})
    uniteDimensions(unite, value, getX(), 0, getX().getType().getRank());
  uniteColumns(unite, getStatistics(), getX());
  if (getGamma())
    uniteColumns(unite, getGamma(), getX());
  uniteColumns(unite, getParameters(), getX());
}
