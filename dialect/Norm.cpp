// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders, verifiers, canonical forms and helpers of the family Norm.

#include "dialect/Canonical.h"
#include "dialect/Verification.h"

using namespace mlir;
using namespace mlir::resid;

/// The rank of gamma says how many dimensions are normalised; without gamma the attribute does.
static int64_t normalizedRank(LayerNormOp op) {
  return op.getGamma() ? op.getGamma().getType().getRank() : op.getNormRank();
}

/// The attribute of an RMS or L2 norm says how many dimensions are normalised; without it, all of gamma's, or one.
template <typename NormOp> static int64_t normalizedRank(NormOp op) {
  return op.getNormRank().value_or(op.getGamma() ? op.getGamma().getType().getRank() : 1);
}

/// The parts that an op of every kind has; the others are null.
template <typename NormOp> static NormParts getCommonParts(NormKind kind, NormOp op, int64_t rank) {
  return {kind,
          op.getX(),
          /*alpha=*/Value(),
          op.getGamma(),
          op.getBeta(),
          /*epsilon=*/FloatAttr(),
          /*normRank=*/IntegerAttr(),
          /*groups=*/IntegerAttr(),
          op.getZeroCenteredGamma(),
          op.getNarrowAffine(),
          rank};
}

template <typename NormOp> static NormParts getStatisticsNormParts(NormKind kind, NormOp op) {
  NormParts parts = getCommonParts(kind, op, op.getNormalizedRank());
  parts.epsilon = op.getEpsilonAttr();
  parts.normRank = Builder(op.getContext()).getI64IntegerAttr(op.getGamma() ? 1 : parts.rank);
  return parts;
}

/// Names the results of a norm that was asked for its statistics.
template <typename NormOp> static void nameResults(NormOp op, OpAsmSetValueNameFn setName) {
  ArrayRef<NormStatistic> statistics = getNormRule(op.getNormParts().kind).statistics;
  if (hasQuantizedResult(op) || op.getStatistics().size() != statistics.size())
    return;
  setName(op.getResult(), "normalized");
  for (auto [value, statistic] : llvm::zip_equal(op.getStatistics(), statistics))
    setName(value, stringifyNormStatistic(statistic));
}

/// The result types of a norm of x: x's own, and count statistics.
static SmallVector<Type> resultTypes(Value x, int64_t rank, size_t count) {
  SmallVector<Type> types(1, x.getType());
  types.append(count, getStatisticsType(cast<RankedTensorType>(x.getType()), rank));
  return types;
}

template <typename NormOp>
static void buildNorm(OpBuilder &builder, OperationState &state, Value x, Value gamma, Value beta, double epsilon,
                      NormKind kind, bool withStatistics) {
  int64_t rank = gamma ? cast<RankedTensorType>(gamma.getType()).getRank() : 1;
  SmallVector<Type> types = resultTypes(x, rank, withStatistics ? getNormRule(kind).statistics.size() : 0);
  NormOp::build(builder, state, types.front(), ArrayRef<Type>(types).drop_front(), x, gamma, beta,
                /*static_scale=*/Value(), builder.getF64FloatAttr(epsilon), /*norm_rank=*/IntegerAttr(),
                /*zero_centered_gamma=*/UnitAttr(), /*narrow_affine=*/UnitAttr(), GranularityAttr(),
                /*group=*/IntegerAttr());
}

static LogicalResult verifyNormRankAttribute(LayerNormOp op) {
  return op.getGamma() ? resid::verifyNormRankAttribute(op, op.getNormRank(), op.getNormalizedRank()) : success();
}

template <typename NormOp> static LogicalResult verifyNormRankAttribute(NormOp op) {
  return verifyWiderGamma(op, op.getGamma(), op.getNormalizedRank());
}

/// Layer, RMS and L2 norm obey the same numbered constraints, except for how many statistics there are.
template <typename NormOp> static LogicalResult verifyNorm(NormOp op) {
  RankedTensorType x = op.getX().getType();
  int64_t rank = op.getNormalizedRank();
  if (failed(
          verifyNormalizedType(op, x, op.getResult().getType(), "result")) || // layer_norm.C2, rms_norm.C2, l2_norm.C2
      failed(verifyEpsilon(op, x.getElementType(), op.getEpsilon())) ||       // layer_norm.C3, rms_norm.C3, l2_norm.C3
      failed(verifyNormalizedRank(op, x, rank)))                              // layer_norm.C4, rms_norm.C4, l2_norm.C4
    return failure();
  if (failed(verifyNormRankAttribute(op))) // layer_norm.C5, rms_norm.C5, l2_norm.C5
    return failure();
  return failure(failed(verifyTrailingShape(op, x, op.getGamma(), "gamma")) || // layer_norm.C6, rms_norm.C6, l2_norm.C6
                 failed(verifyBeta(op, x, op.getGamma(), op.getBeta())) ||     // layer_norm.C7, rms_norm.C7, l2_norm.C7
                 failed(verifyParameterType(op, x, op.getGamma(), "gamma")) || // layer_norm.C8, rms_norm.C8, l2_norm.C8
                 failed(verifyParameterType(op, x, op.getBeta(), "beta")) ||   // layer_norm.C8, rms_norm.C8, l2_norm.C8
                 failed(verifyGammaAttributes(op, op.getGamma(),
                                              op.getZeroCenteredGamma(), // layer_norm.C9, rms_norm.C9, l2_norm.C9
                                              op.getNarrowAffine())) ||
                 failed(verifyStatistics(op, x, op.getNormParts(),
                                         op.getStatistics().getTypes()))); // layer_norm.C10, rms_norm.C10, l2_norm.C10
}

//===----------------------------------------------------------------------===//
// LayerNormOp
//===----------------------------------------------------------------------===//

int64_t LayerNormOp::getNormalizedRank() { return normalizedRank(*this); }

SmallVector<Type> LayerNormOp::getUnquantizedTypes() { return {getX().getType()}; }

NormParts LayerNormOp::getNormParts() { return getStatisticsNormParts(NormKind::Layer, *this); }

void LayerNormOp::build(OpBuilder &builder, OperationState &state, Value x, Value gamma, Value beta, double epsilon,
                        bool withStatistics) {
  buildNorm<LayerNormOp>(builder, state, x, gamma, beta, epsilon, NormKind::Layer, withStatistics);
}

void LayerNormOp::getAsmResultNames(OpAsmSetValueNameFn setName) { nameResults(*this, setName); }

LogicalResult LayerNormOp::verify() { return verifyNorm(*this); }

LogicalResult LayerNormOp::canonicalize(LayerNormOp op, PatternRewriter &rewriter) {
  return leaveOutStatistics(op, rewriter);
}

//===----------------------------------------------------------------------===//
// RMSNormOp
//===----------------------------------------------------------------------===//

int64_t RMSNormOp::getNormalizedRank() { return normalizedRank(*this); }

SmallVector<Type> RMSNormOp::getUnquantizedTypes() { return {getX().getType()}; }

NormParts RMSNormOp::getNormParts() { return getStatisticsNormParts(NormKind::RMS, *this); }

void RMSNormOp::build(OpBuilder &builder, OperationState &state, Value x, Value gamma, Value beta, double epsilon,
                      bool withStatistics) {
  buildNorm<RMSNormOp>(builder, state, x, gamma, beta, epsilon, NormKind::RMS, withStatistics);
}

void RMSNormOp::getAsmResultNames(OpAsmSetValueNameFn setName) { nameResults(*this, setName); }

LogicalResult RMSNormOp::verify() { return verifyNorm(*this); }

LogicalResult RMSNormOp::canonicalize(RMSNormOp op, PatternRewriter &rewriter) {
  return leaveOutStatistics(op, rewriter);
}

//===----------------------------------------------------------------------===//
// L2NormOp
//===----------------------------------------------------------------------===//

int64_t L2NormOp::getNormalizedRank() { return normalizedRank(*this); }

SmallVector<Type> L2NormOp::getUnquantizedTypes() { return {getX().getType()}; }

NormParts L2NormOp::getNormParts() { return getStatisticsNormParts(NormKind::L2, *this); }

void L2NormOp::build(OpBuilder &builder, OperationState &state, Value x, Value gamma, Value beta, double epsilon,
                     bool withStatistics) {
  buildNorm<L2NormOp>(builder, state, x, gamma, beta, epsilon, NormKind::L2, withStatistics);
}

void L2NormOp::getAsmResultNames(OpAsmSetValueNameFn setName) { nameResults(*this, setName); }

LogicalResult L2NormOp::verify() { return verifyNorm(*this); }

LogicalResult L2NormOp::canonicalize(L2NormOp op, PatternRewriter &rewriter) {
  return leaveOutStatistics(op, rewriter);
}

//===----------------------------------------------------------------------===//
// DyTOp
//===----------------------------------------------------------------------===//

void DyTOp::build(OpBuilder &builder, OperationState &state, Value x, Value alpha, Value gamma, Value beta) {
  build(builder, state, x.getType(), x, alpha, gamma, beta, /*zero_centered_gamma=*/UnitAttr(),
        /*narrow_affine=*/UnitAttr());
}

NormParts DyTOp::getNormParts() {
  NormParts parts = getCommonParts(NormKind::DyT, *this, getGamma() ? getGamma().getType().getRank() : 1);
  parts.alpha = getAlpha();
  return parts;
}

LogicalResult DyTOp::verify() {
  RankedTensorType x = getX().getType();
  if (failed(verifyNormalizedType(*this, x, getResult().getType(), "result")) || // dyt.C2
      failed(verifyParameterShape(*this, x, getAlpha(), /*rank=*/0, "alpha")))   // dyt.C3
    return failure();
  if (getGamma() &&
      failed(verifyNormalizedRank(*this, x, cast<RankedTensorType>(getGamma().getType()).getRank()))) // dyt.C4
    return failure();
  return failure(failed(verifyTrailingShape(*this, x, getGamma(), "gamma")) ||                                 // dyt.C5
                 failed(verifyBeta(*this, x, getGamma(), getBeta())) ||                                        // dyt.C6
                 failed(verifyParameterType(*this, x, getAlpha(), "alpha")) ||                                 // dyt.C7
                 failed(verifyParameterType(*this, x, getGamma(), "gamma")) ||                                 // dyt.C7
                 failed(verifyParameterType(*this, x, getBeta(), "beta")) ||                                   // dyt.C7
                 failed(verifyGammaAttributes(*this, getGamma(), getZeroCenteredGamma(), getNarrowAffine()))); // dyt.C8
}

//===----------------------------------------------------------------------===//
// GroupNormOp
//===----------------------------------------------------------------------===//

void GroupNormOp::build(OpBuilder &builder, OperationState &state, Value x, int64_t groups, Value gamma, Value beta,
                        double epsilon) {
  build(builder, state, x.getType(), /*statistics=*/TypeRange(), x, gamma, beta, builder.getF64FloatAttr(epsilon),
        builder.getI64IntegerAttr(groups), /*zero_centered_gamma=*/UnitAttr(), /*narrow_affine=*/UnitAttr());
}

NormParts GroupNormOp::getNormParts() {
  NormParts parts = getCommonParts(NormKind::Group, *this, /*rank=*/1);
  parts.epsilon = getEpsilonAttr();
  parts.groups = getGroupsAttr();
  return parts;
}

void GroupNormOp::getAsmResultNames(OpAsmSetValueNameFn setName) { nameResults(*this, setName); }

LogicalResult GroupNormOp::verify() {
  RankedTensorType x = getX().getType();
  return failure(
      failed(verifyNormalizedType(*this, x, getResult().getType(), "result")) ||                     // group_norm.C2
      failed(verifyEpsilon(*this, x.getElementType(), getEpsilon())) ||                              // group_norm.C3
      failed(verifyGroups(*this, x, getGroups(), {getGamma(), getBeta()})) ||                        // group_norm.C4
      failed(verifyParameterShape(*this, x, getGamma(), /*rank=*/1, "gamma")) ||                     // group_norm.C5
      failed(verifyBeta(*this, x, getGamma(), getBeta())) ||                                         // group_norm.C6
      failed(verifyParameterType(*this, x, getGamma(), "gamma")) ||                                  // group_norm.C7
      failed(verifyParameterType(*this, x, getBeta(), "beta")) ||                                    // group_norm.C7
      failed(verifyGammaAttributes(*this, getGamma(), getZeroCenteredGamma(), getNarrowAffine())) || // group_norm.C8
      failed(verifyStatistics(*this, x, getNormParts(), getStatistics().getTypes())));               // group_norm.C9
}

LogicalResult GroupNormOp::canonicalize(GroupNormOp op, PatternRewriter &rewriter) {
  return leaveOutStatistics(op, rewriter);
}
