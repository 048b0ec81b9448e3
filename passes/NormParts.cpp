// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norm ops and the norms of blocks by their parts; see NormParts.h.

#include "passes/NormParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;

SmallVector<Value> NormParts::getParameters() const {
  SmallVector<Value> parameters;
  for (Value parameter : {alpha, gamma, beta})
    if (parameter)
      parameters.push_back(parameter);
  return parameters;
}

NormParts NormParts::withParameters(ValueRange parameters) const {
  NormParts parts = *this;
  for (Value *parameter : {&parts.alpha, &parts.gamma, &parts.beta})
    if (*parameter) {
      *parameter = parameters.front();
      parameters = parameters.drop_front();
    }
  assert(parameters.empty() && "more parameters than the norm has");
  return parts;
}

bool NormParts::isSameNorm(const NormParts &other) const {
  return kind == other.kind && alpha == other.alpha && gamma == other.gamma && beta == other.beta &&
         epsilon == other.epsilon && zeroCenteredGamma == other.zeroCenteredGamma &&
         narrowAffine == other.narrowAffine && rank == other.rank;
}

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

SmallVector<NormParts> resid::getBlockNorms(BlockOp block) {
  Builder builder(block.getContext());
  SmallVector<NormParts> norms;
  for (const BlockNorm &norm : getNorms(block)) {
    NormAttr attribute = norm.attribute;
    norms.push_back({attribute.getKind(), Value(), norm.alpha, norm.gamma, norm.beta, attribute.getEpsilon(),
                     builder.getI64IntegerAttr(attribute.getNormRank()),
                     static_cast<bool>(attribute.getZeroCenteredGamma()), block.getNarrowAffine() && norm.gamma,
                     norm.getRank()});
  }
  return norms;
}

/// A branch that took the narrower result of a norm takes the stream and narrows it itself.
static void widenBranchInput(BlockOp block) {
  BlockArgument input = block.getBranch().getArgument(0);
  Type narrow = input.getType(), wide = block.getX().getType();
  if (narrow == wide)
    return;
  input.setType(wide);
  OpBuilder builder = OpBuilder::atBlockBegin(input.getOwner());
  auto truncated = arith::TruncFOp::create(builder, block.getLoc(), narrow, input);
  input.replaceAllUsesExcept(truncated, truncated);
}

void resid::setNorms(BlockOp block, Placement placement, ArrayRef<NormParts> norms) {
  ArrayRef<NormPosition> positions = getPlacementRule(placement).positions;
  assert(norms.size() == positions.size() && "a norm for each position of the placement");
  Builder builder(block.getContext());
  auto flag = [&](bool isSet) { return isSet ? builder.getUnitAttr() : UnitAttr(); };
  SmallVector<Attribute> attributes;
  SmallVector<Value> parameters;
  bool narrowAffine = false;
  for (const NormParts &norm : norms) {
    attributes.push_back(NormAttr::get(block.getContext(), norm.kind, norm.epsilon, flag(!!norm.gamma),
                                       flag(!!norm.beta), flag(norm.zeroCenteredGamma),
                                       norm.normRank ? norm.normRank.getInt() : 1));
    parameters.append(norm.getParameters());
    narrowAffine |= norm.narrowAffine;
  }
  assert(
      (!narrowAffine || llvm::all_of(norms, [](const NormParts &norm) { return norm.narrowAffine || !norm.gamma; })) &&
      "narrow_affine holds for every norm of a block");
  block.setPlacement(placement);
  block.setNormsAttr(builder.getArrayAttr(attributes));
  block.getNormParametersMutable().assign(parameters);
  block.setNarrowAffine(narrowAffine);
  if (!llvm::is_contained(positions, NormPosition::BeforeBranch))
    widenBranchInput(block);
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
