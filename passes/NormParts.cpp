// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norm ops by their parts; see NormParts.h.

#include "passes/NormParts.h"

using namespace mlir;
using namespace mlir::resid;

template <typename NormOp> static NormParts getStatisticsNormParts(NormKind kind, NormOp op) {
  return {kind,
          op.getX(),
          Value(),
          op.getGamma(),
          op.getBeta(),
          op.getEpsilonAttr(),
          op.getNormRankAttr(),
          op.getZeroCenteredGamma(),
          op.getNarrowAffine(),
          op.getNormalizedRank()};
}

std::optional<NormParts> resid::getNormParts(Operation *op) {
  if (auto layer = dyn_cast<LayerNormOp>(op))
    return getStatisticsNormParts(NormKind::Layer, layer);
  if (auto rms = dyn_cast<RMSNormOp>(op))
    return getStatisticsNormParts(NormKind::RMS, rms);
  if (auto dyt = dyn_cast<DyTOp>(op)) {
    int64_t rank = dyt.getGamma() ? cast<RankedTensorType>(dyt.getGamma().getType()).getRank() : 1;
    return NormParts{NormKind::DyT,         dyt.getX(),  dyt.getAlpha(), dyt.getGamma(),
                     dyt.getBeta(),         FloatAttr(), IntegerAttr(),  dyt.getZeroCenteredGamma(),
                     dyt.getNarrowAffine(), rank};
  }
  return std::nullopt;
}

Operation *resid::createNorm(OpBuilder &builder, Location loc, const NormParts &parts, Value x, Type normalized,
                             TypeRange statistics) {
  UnitAttr zeroCentered = parts.zeroCenteredGamma ? builder.getUnitAttr() : UnitAttr();
  UnitAttr narrowAffine = parts.narrowAffine ? builder.getUnitAttr() : UnitAttr();
  switch (parts.kind) {
  case NormKind::Layer:
    return LayerNormOp::create(builder, loc, normalized, statistics, x, parts.gamma, parts.beta, parts.epsilon,
                               parts.normRank, zeroCentered, narrowAffine);
  case NormKind::RMS:
    return RMSNormOp::create(builder, loc, normalized, statistics, x, parts.gamma, parts.beta, parts.epsilon,
                             parts.normRank, zeroCentered, narrowAffine);
  case NormKind::DyT:
    return DyTOp::create(builder, loc, normalized, x, parts.alpha, parts.gamma, parts.beta, zeroCentered, narrowAffine);
  }
  llvm_unreachable("a norm kind without an op");
}
