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

using Names = ArrayRef<StringLiteral>;
/// What the norm gives, of which it may be handed the first two; and what its backward reads.
static constexpr StringLiteral givenNames[] = {"mean", "variance", "mean_correction", "rstd"};
static constexpr StringLiteral gradNames[] = {"mean", "mean_correction", "rstd"};

/// One of each for a feature; by these names or, where they are fewer, by those others.
static LogicalResult verifyColumnStatistics(Operation *op, RankedTensorType x, ValueRange statistics, Names most,
                                            Names fewest) {
  Names names = statistics.size() == fewest.size() ? fewest : most;
  if (statistics.size() != names.size()) {
    InFlightDiagnostic error = op->emitOpError("expected the statistics ");
    llvm::interleaveComma(fewest, error);
    if (most != fewest)
      llvm::interleaveComma(most, error << ", or ");
    return error << " but got " << statistics.size();
  }
  auto type = RankedTensorType::get(x.getShape().take_back(), getArithmeticType(x.getElementType()));
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
  Names all(givenNames), some = all.take_front(2);
  return failure(
      (!getGiven().empty() && failed(verifyColumnStatistics(*this, x, getGiven(), some, some))) || // batch_norm.C7
      (!getStatistics().empty() &&
       failed(verifyColumnStatistics(*this, x, getStatistics(), all, some)))); // batch_norm.C7
}

void BatchNormOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getStatistics().empty())
    return;
  setName(getResult(), "normalized");
  for (auto [statistic, name] : llvm::zip(getStatistics(), givenNames))
    setName(statistic, name);
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
  return failure(failed(verifyRows(*this, x)) ||                                    // batch_norm_grad.C2
                 failed(verifyNormalizedType(*this, x, getDy().getType(), "dy")) || // batch_norm_grad.C2
                 failed(verifyEpsilon(*this, x.getElementType(), getEpsilon())) ||  // batch_norm_grad.C3
                 failed(verifyColumnStatistics(*this, x, getStatistics(), gradNames,
                                               Names(givenNames).take_front(2))) ||         // batch_norm_grad.C4
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
