// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of norm placements; see Placement.h.

#include "dialect/Placement.h"

using namespace mlir;
using namespace mlir::resid;

const PlacementRule &resid::getPlacementRule(Placement placement) {
  static constexpr NormPosition beforeSubLayer[] = {NormPosition::BeforeSubLayer};
  static constexpr NormPosition beforeBranch[] = {NormPosition::BeforeBranch};
  static constexpr NormPosition afterBranch[] = {NormPosition::AfterBranch};
  static constexpr NormPosition aroundBranch[] = {NormPosition::BeforeBranch, NormPosition::AfterBranch};
  static constexpr NormPosition afterAdd[] = {NormPosition::AfterAdd};
  static const PlacementRule rules[] = {
      {Placement::Post, afterAdd, /*wantsFinalNorm=*/false},
      {Placement::Pre, beforeBranch, /*wantsFinalNorm=*/true},
      {Placement::BranchPost, afterBranch, /*wantsFinalNorm=*/true},
      {Placement::Peri, aroundBranch, /*wantsFinalNorm=*/true},
      {Placement::PostShifted, beforeSubLayer, /*wantsFinalNorm=*/true},
      {Placement::None, {}, /*wantsFinalNorm=*/false},
  };
  for (const PlacementRule &rule : rules)
    if (rule.placement == placement)
      return rule;
  llvm_unreachable("a placement without a rule");
}

int64_t BlockNorm::getRank() const {
  return gamma ? cast<RankedTensorType>(gamma.getType()).getRank() : attribute.getNormRank();
}

size_t resid::getParameterCount(NormAttr norm) {
  return (norm.getKind() == NormKind::DyT) + static_cast<bool>(norm.getGamma()) + static_cast<bool>(norm.getBeta());
}

SmallVector<BlockNorm> resid::getNorms(BlockOp block) {
  SmallVector<BlockNorm> norms;
  ValueRange parameters = block.getNormParameters();
  auto take = [&](bool isGiven) {
    if (!isGiven)
      return Value();
    Value first = parameters.front();
    parameters = parameters.drop_front();
    return first;
  };
  for (NormAttr attribute : block.getNorms().getAsRange<NormAttr>()) {
    BlockNorm norm{attribute, {}, {}, {}};
    norm.alpha = take(attribute.getKind() == NormKind::DyT);
    norm.gamma = take(static_cast<bool>(attribute.getGamma()));
    norm.beta = take(static_cast<bool>(attribute.getBeta()));
    norms.push_back(norm);
  }
  return norms;
}

std::optional<BlockNorm> resid::getNormAt(BlockOp block, NormPosition position) {
  ArrayRef<NormPosition> positions = getPlacementRule(block.getPlacement()).positions;
  const NormPosition *found = llvm::find(positions, position);
  if (found == positions.end())
    return std::nullopt;
  return getNorms(block)[found - positions.begin()];
}
