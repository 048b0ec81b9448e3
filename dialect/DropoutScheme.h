// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of the dropout scheme that follow from p alone. Does not own the mask: that is made where ops are
// lowered.

#ifndef RESID_DIALECT_DROPOUTSCHEME_H
#define RESID_DIALECT_DROPOUTSCHEME_H

#include "mlir/IR/Value.h"
#include <cstdint>

namespace mlir::resid {

/// The threshold at which every element is dropped.
constexpr int64_t dropoutDropsAll = 65536;

/// T = round(p·65536), half away from zero. An element is kept where its 16 random bits are at least T: 0 is the
/// identity, 65536 drops all. p lies in [0, 1].
int64_t getDropoutThreshold(double p);

/// What kept elements are multiplied by, before rounding to the arithmetic type: 65536/(65536-T); 0 where T = 65536,
/// since nothing is kept.
double getDropoutScale(int64_t threshold);

/// Columns whose numbers one call of the generator makes.
constexpr int64_t dropoutColumnsPerCall = 8;

/// The counters are words of 32 bits: rows, and calls for a row, are fewer than this many.
constexpr int64_t dropoutWordLimit = int64_t(1) << 32;
constexpr int64_t dropoutColumnLimit = dropoutWordLimit * dropoutColumnsPerCall;

/// Where a tensor lies in the whole whose mask is drawn (i64, null where left out): what is added to row, site and
/// column, and how many rows of the tensor stand for how many of the whole.
struct DropoutOrigin {
  Value row, site, col, local, global;
};

/// That of an op, or of an adaptor of one.
template <typename OpTy> DropoutOrigin getDropoutOrigin(OpTy op) {
  return {op.getOriginRow(), op.getOriginSite(), op.getOriginCol(), op.getExtentLocal(), op.getExtentGlobal()};
}

/// Whether a dropout in `root` has an origin or an extent that is a constant out of its range. Calls and folds bring
/// constants to where the text had none: the program does not verify any more then, and no pass is to blame.
bool hasOriginOutOfRange(Operation *root);

/// Takes the dropout clause off an op that has one (resid.add_norm, resid.attention, resid.block).
template <typename OpTy> void removeDropoutClause(OpTy op) {
  op.getSeedMutable().clear();
  op.getStepMutable().clear();
  op.getOriginRowMutable().clear();
  op.getOriginSiteMutable().clear();
  op.getOriginColMutable().clear();
  op.getExtentLocalMutable().clear();
  op.getExtentGlobalMutable().clear();
  op.removePAttr();
  op.removeSiteAttr();
}

} // namespace mlir::resid

#endif // RESID_DIALECT_DROPOUTSCHEME_H
