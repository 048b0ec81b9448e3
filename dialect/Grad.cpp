// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and helpers of the family Grad.

#include "dialect/GradVerification.h"
#include "dialect/NormGrad.h"
#include "dialect/ResidDialect.h"
#include "dialect/Verification.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid;

template <typename NormGradOp> static NormGradParts getParts(NormKind kind, NormGradOp op, int64_t rank) {
  return {kind,
          op.getDy(),
          op.getX(),
          llvm::to_vector(ValueRange(op.getStatistics())),
          op.getGamma(),
          op.getDsum(),
          op.getZeroCenteredGamma(),
          rank,
          /*groups=*/IntegerAttr(),
          /*epsilon=*/FloatAttr()};
}

/// The attribute says how many dimensions are normalised; without it, all of gamma's, or one.
template <typename NormGradOp> static int64_t getNormalizedRank(NormGradOp op) {
  return op.getNormRank().value_or(op.getGamma() ? op.getGamma().getType().getRank() : 1);
}

std::optional<NormGradParts> resid::getNormGradParts(Operation *op) {
  if (auto layer = dyn_cast_if_present<LayerNormGradOp>(op))
    return getParts(NormKind::Layer, layer, getNormalizedRank(layer));
  if (auto rms = dyn_cast_if_present<RMSNormGradOp>(op))
    return getParts(NormKind::RMS, rms, getNormalizedRank(rms));
  if (auto l2 = dyn_cast_if_present<L2NormGradOp>(op)) {
    NormGradParts parts = getParts(NormKind::L2, l2, getNormalizedRank(l2));
    parts.epsilon = l2.getEpsilonAttr();
    return parts;
  }
  if (auto group = dyn_cast_if_present<GroupNormGradOp>(op)) {
    NormGradParts parts = getParts(NormKind::Group, group, /*rank=*/1);
    parts.groups = group.getGroupsAttr();
    return parts;
  }
  return std::nullopt;
}

APFloat resid::getStatisticOfShortRows(FloatAttr epsilon, FloatType arithmetic) {
  APFloat one = roundToArithmetic(APFloat(1.0), arithmetic);
  one.divide(roundToArithmetic(epsilon.getValue(), arithmetic), APFloat::rmNearestTiesToEven);
  return one;
}

int64_t NormGradParts::getParameterRank() const {
  return gamma ? cast<RankedTensorType>(gamma.getType()).getRank() : rank;
}

RankedTensorType NormGradParts::getStatisticsType() const {
  RankedTensorType type = resid::getStatisticsType(cast<RankedTensorType>(x.getType()), rank);
  if (!groups)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(getGroupCount());
  return type.clone(shape);
}

NormGradParts NormGradParts::withOperands(ValueRange from, ValueRange to) const {
  NormGradParts parts = *this;
  SmallVector<Value *> operands{&parts.dy, &parts.x, &parts.gamma, &parts.dsum};
  for (Value &statistic : parts.statistics)
    operands.push_back(&statistic);
  for (Value *operand : operands)
    if (auto found = llvm::find(from, *operand); *operand && found != from.end())
      *operand = to[std::distance(from.begin(), found)];
  return parts;
}

Operation *resid::createNormGrad(OpBuilder &builder, Location loc, const NormGradParts &parts, TypeRange parameters) {
  auto create = [&](auto tag, auto... attributes) -> Operation * {
    using Op = decltype(tag);
    return Op::create(builder, loc, parts.x.getType(), parts.gamma ? parameters : TypeRange(), parts.dy, parts.x,
                      parts.statistics, parts.gamma, parts.dsum, attributes...,
                      parts.zeroCenteredGamma ? builder.getUnitAttr() : UnitAttr());
  };
  int64_t byDefault = parts.gamma ? cast<RankedTensorType>(parts.gamma.getType()).getRank() : 1;
  IntegerAttr rank = parts.rank == byDefault ? IntegerAttr() : builder.getI64IntegerAttr(parts.rank);
  switch (parts.kind) {
  case NormKind::Layer:
    return create(LayerNormGradOp(), rank);
  case NormKind::RMS:
    return create(RMSNormGradOp(), rank);
  case NormKind::L2:
    return create(L2NormGradOp(), parts.epsilon, rank);
  case NormKind::Group:
    return create(GroupNormGradOp(), parts.groups);
  case NormKind::DyT:
    return nullptr;
  }
  llvm_unreachable("a norm kind without an answer");
}

//===----------------------------------------------------------------------===//
// What the ops have in common
//===----------------------------------------------------------------------===//

static LogicalResult verifyStatistics(Operation *op, const NormGradParts &parts) {
  ArrayRef<NormStatistic> expected = getNormRule(parts.kind).statistics;
  if (parts.statistics.size() != expected.size())
    return op->emitOpError("expected the statistics ")
           << llvm::join(llvm::map_range(expected, stringifyNormStatistic), ", ") << " but got "
           << parts.statistics.size();
  RankedTensorType type = parts.getStatisticsType();
  for (auto [statistic, which] : llvm::zip_equal(parts.statistics, expected))
    if (statistic.getType() != type)
      return op->emitOpError("expected ")
             << stringifyNormStatistic(which) << " of type " << type << " but got " << statistic.getType();
  return success();
}

static LogicalResult verifyNormRankAttribute(LayerNormGradOp op) {
  if (!op.getGamma() || getNormalizedRank(op) == op.getGamma().getType().getRank())
    return success();
  return op.emitOpError("expected norm_rank to be left out or to be ")
         << op.getGamma().getType().getRank() << " but got " << *op.getNormRank();
}

template <typename NormGradOp> static LogicalResult verifyNormRankAttribute(NormGradOp op) {
  return verifyWiderGamma(op, op.getGamma(), getNormalizedRank(op));
}

/// The backward ops obey the same numbered constraints.
template <typename NormGradOp> static LogicalResult verifyNormGrad(NormGradOp op) {
  NormGradParts parts = *getNormGradParts(op);
  RankedTensorType x = op.getX().getType();
  if (failed(verifyNormalizedType(op, x, op.getDy().getType(),
                                  "dy")) ||              // layer_norm_grad.C2, rms_norm_grad.C2, l2_norm_grad.C2
      failed(verifyNormalizedRank(op, x, parts.rank)) || // layer_norm_grad.C3, rms_norm_grad.C3, l2_norm_grad.C3
      failed(verifyNormRankAttribute(op)))
    return failure();
  return failure(
      failed(verifyStatistics(op, parts)) || // layer_norm_grad.C4, rms_norm_grad.C4, l2_norm_grad.C4
      failed(
          verifyTrailingShape(op, x, parts.gamma, "gamma")) || // layer_norm_grad.C5, rms_norm_grad.C5, l2_norm_grad.C5
      failed(
          verifyParameterType(op, x, parts.gamma, "gamma")) || // layer_norm_grad.C5, rms_norm_grad.C5, l2_norm_grad.C5
      failed(verifyTypeOfX(op, x, parts.dsum, "sum")) ||       // layer_norm_grad.C6, rms_norm_grad.C6, l2_norm_grad.C6
      failed(verifyTypeOfX(op, x, op.getDx(), "dx")) ||        // layer_norm_grad.C6, rms_norm_grad.C6, l2_norm_grad.C6
      failed(verifyParameterGradients(op, x, parts.gamma,
                                      op.getParameters())) || // layer_norm_grad.C7, rms_norm_grad.C7, l2_norm_grad.C7
      failed(verifyGammaAttributes(op, parts.gamma,
                                   parts.zeroCenteredGamma, // layer_norm_grad.C8, rms_norm_grad.C8, l2_norm_grad.C8
                                   /*narrowAffine=*/false)));
}

template <typename NormGradOp> static void nameGradients(NormGradOp op, OpAsmSetValueNameFn setName) {
  setName(op.getDx(), "dx");
  nameParameterGradients(op.getParameters(), setName);
}

/// dy, x, sum and dx have one shape; statistics have its first dimensions, parameters its last.
template <typename NormGradOp>
static void visitEqualSizes(NormGradOp op, function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  NormGradParts parts = *getNormGradParts(op);
  int64_t rank = cast<RankedTensorType>(parts.x.getType()).getRank(), rows = rank - parts.rank;
  for (Value value : {parts.dy, parts.dsum, Value(op.getDx())})
    uniteDimensions(unite, value, parts.x, 0, rank);
  for (Value statistic : parts.statistics)
    uniteDimensions(unite, statistic, parts.x, 0, rows);
  int64_t columns = parts.getParameterRank();
  uniteDimensions(unite, parts.gamma, parts.x, rank - columns, columns);
  for (Value parameter : op.getParameters())
    uniteDimensions(unite, parameter, parts.x, rank - columns, columns);
}

//===----------------------------------------------------------------------===//
// LayerNormGradOp
//===----------------------------------------------------------------------===//

LogicalResult LayerNormGradOp::verify() { return verifyNormGrad(*this); }

void LayerNormGradOp::getAsmResultNames(OpAsmSetValueNameFn setName) { nameGradients(*this, setName); }

void LayerNormGradOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  visitEqualSizes(*this, unite);
}

//===----------------------------------------------------------------------===//
// RMSNormGradOp
//===----------------------------------------------------------------------===//

LogicalResult RMSNormGradOp::verify() { return verifyNormGrad(*this); }

void RMSNormGradOp::getAsmResultNames(OpAsmSetValueNameFn setName) { nameGradients(*this, setName); }

void RMSNormGradOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  visitEqualSizes(*this, unite);
}

//===----------------------------------------------------------------------===//
// L2NormGradOp
//===----------------------------------------------------------------------===//

LogicalResult L2NormGradOp::verify() {
  if (failed(verifyNormGrad(*this)))
    return failure();
  return verifyEpsilon(*this, getX().getType().getElementType(), getEpsilon()); // l2_norm_grad.C9
}

void L2NormGradOp::getAsmResultNames(OpAsmSetValueNameFn setName) { nameGradients(*this, setName); }

void L2NormGradOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  visitEqualSizes(*this, unite);
}

//===----------------------------------------------------------------------===//
// GroupNormGradOp
//===----------------------------------------------------------------------===//

LogicalResult GroupNormGradOp::verify() {
  NormGradParts parts = *getNormGradParts(*this);
  RankedTensorType x = getX().getType();
  return failure(
      failed(verifyNormalizedType(*this, x, getDy().getType(), "dy")) ||                  // group_norm_grad.C2
      failed(verifyGroups(*this, x, getGroups(), {getGamma()})) ||                        // group_norm_grad.C3
      failed(::verifyStatistics(*this, parts)) ||                                         // group_norm_grad.C4
      failed(verifyParameterShape(*this, x, parts.gamma, /*rank=*/1, "gamma")) ||         // group_norm_grad.C5
      failed(verifyParameterType(*this, x, parts.gamma, "gamma")) ||                      // group_norm_grad.C5
      failed(verifyTypeOfX(*this, x, parts.dsum, "sum")) ||                               // group_norm_grad.C6
      failed(verifyTypeOfX(*this, x, getDx(), "dx")) ||                                   // group_norm_grad.C6
      failed(verifyParameterGradients(*this, x, parts.gamma, getParameters())) ||         // group_norm_grad.C7
      failed(verifyGammaAttributes(*this, parts.gamma, parts.zeroCenteredGamma, false))); // group_norm_grad.C8
}

void GroupNormGradOp::getAsmResultNames(OpAsmSetValueNameFn setName) { nameGradients(*this, setName); }

void GroupNormGradOp::forEachEqualSize(function_ref<void(Value, int64_t, Value, int64_t)> unite) {
  visitEqualSizes(*this, unite);
}
