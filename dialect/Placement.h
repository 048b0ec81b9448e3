// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a norm placement means: which norms a sub-layer has and where each of them stands. The one place that says so;
// expansion, conversion, checks and pictures ask here.

#ifndef RESID_DIALECT_PLACEMENT_H
#define RESID_DIALECT_PLACEMENT_H

#include "dialect/ResidDialect.h"
#include <optional>

namespace mlir::resid {

/// A place for a norm in a sub-layer. A sub-layer with norms at all four would be, line by line,
///   h = N(x)            BeforeSubLayer: the norm's value becomes the stream
///   u = f(N(h))         BeforeBranch
///   s = a·h + B(N(u))   AfterBranch, where B is scale, gate and dropout
///   y = N(s)            AfterAdd
/// and a norm that is not there is the identity.
enum class NormPosition { BeforeSubLayer, BeforeBranch, AfterBranch, AfterAdd };

/// One line of the table of placements.
struct PlacementRule {
  Placement placement;
  /// Where the norms stand, in the order of the block's norm clauses.
  ArrayRef<NormPosition> positions;
  /// Whether a stack of such blocks hands out a stream that no norm has seen, so that a final norm belongs after it.
  bool wantsFinalNorm;
};

/// The names of all placements, as programs and flags write them.
ArrayRef<StringRef> getPlacementNames();

/// The rule of a placement.
const PlacementRule &getPlacementRule(Placement placement);

/// Whether a norm of the placement normalises the stream itself, before the sub-layer or after the add.
bool normalizesStream(Placement placement);

/// The placements that do not, as messages list them.
std::string listPlacementsOnStreams();

/// The norms of a block in the order of its clauses, without x. Requires block.C3.
SmallVector<NormParts> getBlockNorms(BlockOp block);

/// The norm that stands at `position`, if the block's placement has one there. Requires block.C2 and C3.
std::optional<NormParts> getNormAt(BlockOp block, NormPosition position);

/// How many operands a norm has.
size_t getParameterCount(NormAttr norm);

} // namespace mlir::resid

#endif // RESID_DIALECT_PLACEMENT_H
