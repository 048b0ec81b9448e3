// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/ResidDialect.h"

using namespace mlir;
using namespace mlir::resid;

#include "dialect/NormInterface.cpp.inc"

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static UnitAttr getFlag(OpBuilder &builder, bool isSet) { return isSet ? builder.getUnitAttr() : UnitAttr(); }

/// Makes an op with an epsilon and statistics.
template <typename NormOp>
static Operation *createStatisticsNorm(OpBuilder &builder, Location loc, const NormParts &parts, Type normalized,
                                       TypeRange statistics) {
  IntegerAttr normRank = parts.hasWiderGamma() ? builder.getI64IntegerAttr(parts.rank) : parts.normRank;
  // An RMS or L2 norm that is not told how many dimensions it normalises goes by gamma.
  if (!std::is_same_v<NormOp, LayerNormOp> && normRank && normRank.getInt() == 1 && !parts.hasWiderGamma())
    normRank = IntegerAttr();
  return NormOp::create(builder, loc, normalized, statistics, parts.x, parts.gamma, parts.beta,
                        /*static_scale=*/Value(), parts.epsilon, normRank, getFlag(builder, parts.zeroCenteredGamma),
                        getFlag(builder, parts.narrowAffine), GranularityAttr(), /*group=*/IntegerAttr());
}

static Operation *createDyT(OpBuilder &builder, Location loc, const NormParts &parts, Type normalized,
                            TypeRange statistics) {
  assert(statistics.empty() && "dyt has no statistics");
  return DyTOp::create(builder, loc, normalized, parts.x, parts.alpha, parts.gamma, parts.beta,
                       getFlag(builder, parts.zeroCenteredGamma), getFlag(builder, parts.narrowAffine));
}

static Operation *createGroupNorm(OpBuilder &builder, Location loc, const NormParts &parts, Type normalized,
                                  TypeRange statistics) {
  return GroupNormOp::create(builder, loc, normalized, statistics, parts.x, parts.gamma, parts.beta, parts.epsilon,
                             parts.groups, getFlag(builder, parts.zeroCenteredGamma),
                             getFlag(builder, parts.narrowAffine));
}

static constexpr NormStatistic layerStatistics[] = {NormStatistic::Mean, NormStatistic::MeanCorrection,
                                                    NormStatistic::Rstd};
static constexpr NormStatistic rmsStatistics[] = {NormStatistic::Rstd};

/// In the order of the kinds.
static const NormRule rules[] = {
    {NormKind::Layer, "LayerNorm", /*hasAlpha=*/false, /*hasEpsilon=*/true, /*hasGroups=*/false, layerStatistics,
     NormFactor::SquaredEpsilon,
     /*centersRows=*/true, /*onCenteredRows=*/NormKind::RMS, createStatisticsNorm<LayerNormOp>},
    {NormKind::RMS, "RMSNorm", /*hasAlpha=*/false, /*hasEpsilon=*/true, /*hasGroups=*/false, rmsStatistics,
     NormFactor::SquaredEpsilon,
     /*centersRows=*/false, /*onCenteredRows=*/std::nullopt, createStatisticsNorm<RMSNormOp>},
    {NormKind::DyT,
     "DyT",
     /*hasAlpha=*/true,
     /*hasEpsilon=*/false,
     /*hasGroups=*/false,
     {},
     NormFactor::Alpha,
     /*centersRows=*/false,
     /*onCenteredRows=*/std::nullopt,
     createDyT},
    {NormKind::Group, "GroupNorm", /*hasAlpha=*/false, /*hasEpsilon=*/true, /*hasGroups=*/true, layerStatistics,
     NormFactor::SquaredEpsilon, /*centersRows=*/true, /*onCenteredRows=*/std::nullopt, createGroupNorm},
    {NormKind::L2, "L2Norm", /*hasAlpha=*/false, /*hasEpsilon=*/true, /*hasGroups=*/false, rmsStatistics,
     NormFactor::Epsilon,
     /*centersRows=*/false, /*onCenteredRows=*/std::nullopt, createStatisticsNorm<L2NormOp>},
};
static_assert(std::size(rules) == getMaxEnumValForNormKind() + 1, "a rule for each kind");

const NormRule &resid::getNormRule(NormKind kind) {
  const NormRule &rule = rules[static_cast<uint32_t>(kind)];
  assert(rule.kind == kind && "rules in the order of the kinds");
  return rule;
}

StringRef resid::stringifyNormStatistic(NormStatistic statistic) {
  switch (statistic) {
  case NormStatistic::Mean:
    return "mean";
  case NormStatistic::MeanCorrection:
    return "mean_correction";
  case NormStatistic::Rstd:
    return "rstd";
  }
  llvm_unreachable("a statistic without a name");
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

int64_t NormParts::getParameterRank() const {
  return groups || !gamma ? rank + (groups ? 1 : 0) : cast<RankedTensorType>(gamma.getType()).getRank();
}

RankedTensorType NormParts::getStatisticsType(RankedTensorType x) const {
  RankedTensorType type = resid::getStatisticsType(x, rank);
  if (!groups)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(getGroupCount());
  return type.clone(shape);
}

SmallVector<Value> NormParts::getParameters() const {
  SmallVector<Value> parameters;
  for (const NormParameter &parameter : normParameters)
    if (Value given = this->*parameter.value)
      parameters.push_back(given);
  return parameters;
}

NormParts NormParts::withOperands(ValueRange from, ValueRange to) const {
  NormParts parts = *this;
  auto replace = [&](Value &operand) {
    if (auto found = llvm::find(from, operand); operand && found != from.end())
      operand = to[found - from.begin()];
  };
  replace(parts.x);
  for (const NormParameter &parameter : normParameters)
    replace(parts.*parameter.value);
  return parts;
}

bool NormParts::isSameNorm(const NormParts &other) const {
  auto isSame = [&](const NormParameter &parameter) { return this->*parameter.value == other.*parameter.value; };
  return kind == other.kind && llvm::all_of(normParameters, isSame) && epsilon == other.epsilon &&
         groups == other.groups && zeroCenteredGamma == other.zeroCenteredGamma && narrowAffine == other.narrowAffine &&
         rank == other.rank;
}

std::optional<NormParts> resid::getNormParts(Operation *op) {
  auto norm = dyn_cast<NormOpInterface>(op);
  return norm ? std::optional(norm.getNormParts()) : std::nullopt;
}

NormAttr resid::getNormAttr(MLIRContext *context, const NormParts &parts) {
  auto flag = [&](bool isSet) { return isSet ? UnitAttr::get(context) : UnitAttr(); };
  return NormAttr::get(context, parts.kind, parts.epsilon, flag(static_cast<bool>(parts.gamma)),
                       flag(static_cast<bool>(parts.beta)), flag(parts.zeroCenteredGamma),
                       parts.normRank ? parts.normRank.getInt() : 1, parts.groups);
}

Operation *resid::createNorm(OpBuilder &builder, Location loc, const NormParts &parts, Value x, Type normalized,
                             TypeRange statistics) {
  NormParts ofX = parts;
  ofX.x = x;
  return getNormRule(parts.kind).create(builder, loc, ofX, normalized, statistics);
}
