// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Placement.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid;

ArrayRef<StringRef> resid::getPlacementNames() {
  static const SmallVector<StringRef> names = [] {
    SmallVector<StringRef> all;
    for (unsigned value = 0; value <= getMaxEnumValForPlacement(); ++value)
      all.push_back(stringifyPlacement(static_cast<Placement>(value)));
    return all;
  }();
  return names;
}

const PlacementRule &resid::getPlacementRule(Placement placement) {
  static constexpr NormPosition beforeSubLayer[] = {NormPosition::BeforeSubLayer};
  static constexpr NormPosition beforeBranch[] = {NormPosition::BeforeBranch};
  static constexpr NormPosition afterBranch[] = {NormPosition::AfterBranch};
  static constexpr NormPosition aroundBranch[] = {NormPosition::BeforeBranch, NormPosition::AfterBranch};
  static constexpr NormPosition afterAdd[] = {NormPosition::AfterAdd};
  static const PlacementRule post = {Placement::Post, afterAdd, /*wantsFinalNorm=*/false},
                             pre = {Placement::Pre, beforeBranch, /*wantsFinalNorm=*/true},
                             branchPost = {Placement::BranchPost, afterBranch, /*wantsFinalNorm=*/true},
                             peri = {Placement::Peri, aroundBranch, /*wantsFinalNorm=*/true},
                             postShifted = {Placement::PostShifted, beforeSubLayer, /*wantsFinalNorm=*/true},
                             none = {Placement::None, {}, /*wantsFinalNorm=*/false};
  switch (placement) {
  case Placement::Post:
    return post;
  case Placement::Pre:
    return pre;
  case Placement::BranchPost:
    return branchPost;
  case Placement::Peri:
    return peri;
  case Placement::PostShifted:
    return postShifted;
  case Placement::None:
    return none;
  }
  llvm_unreachable("expected a placement");
}

bool resid::normalizesStream(Placement placement) {
  return llvm::any_of(getPlacementRule(placement).positions, [](NormPosition position) {
    return position == NormPosition::BeforeSubLayer || position == NormPosition::AfterAdd;
  });
}

std::string resid::listPlacementsOnStreams() {
  SmallVector<StringRef> names;
  for (StringRef name : getPlacementNames())
    if (!normalizesStream(*symbolizePlacement(name)))
      names.push_back(name);
  return llvm::join(ArrayRef(names).drop_back(), ", ") + " or " + names.back().str();
}

size_t resid::getParameterCount(NormAttr norm) {
  return getNormRule(norm.getKind()).hasAlpha + static_cast<bool>(norm.getGamma()) + static_cast<bool>(norm.getBeta());
}

/// A norm of a block, which takes its operands from the front of `parameters`.
static NormParts takeNorm(BlockOp block, NormAttr attribute, ValueRange &parameters) {
  auto take = [&](bool isGiven) {
    if (!isGiven)
      return Value();
    Value first = parameters.front();
    parameters = parameters.drop_front();
    return first;
  };
  NormParts norm{};
  norm.kind = attribute.getKind();
  norm.alpha = take(getNormRule(norm.kind).hasAlpha);
  norm.gamma = take(static_cast<bool>(attribute.getGamma()));
  norm.beta = take(static_cast<bool>(attribute.getBeta()));
  norm.epsilon = attribute.getEpsilon();
  norm.normRank = Builder(block.getContext()).getI64IntegerAttr(attribute.getNormRank());
  norm.groups = attribute.getGroups();
  norm.zeroCenteredGamma = static_cast<bool>(attribute.getZeroCenteredGamma());
  norm.narrowAffine = block.getNarrowAffine() && norm.gamma;
  norm.rank = norm.gamma ? cast<RankedTensorType>(norm.gamma.getType()).getRank() : attribute.getNormRank();
  return norm;
}

SmallVector<NormParts> resid::getBlockNorms(BlockOp block) {
  SmallVector<NormParts> norms;
  ValueRange parameters = block.getNormParameters();
  for (NormAttr attribute : block.getNorms().getAsRange<NormAttr>())
    norms.push_back(takeNorm(block, attribute, parameters));
  return norms;
}

std::optional<NormParts> resid::getNormAt(BlockOp block, NormPosition position) {
  ArrayRef<NormPosition> positions = getPlacementRule(block.getPlacement()).positions;
  const NormPosition *found = llvm::find(positions, position);
  if (found == positions.end())
    return std::nullopt;
  return getBlockNorms(block)[found - positions.begin()];
}
