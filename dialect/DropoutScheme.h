// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of the dropout scheme that follow from p alone. Does not own the mask: that is made where ops are
// lowered.

#ifndef RESID_DIALECT_DROPOUTSCHEME_H
#define RESID_DIALECT_DROPOUTSCHEME_H

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

/// Takes the dropout clause off an op that has one (resid.add_norm, resid.attention, resid.block).
template <typename OpTy> void removeDropoutClause(OpTy op) {
  op.getSeedMutable().clear();
  op.getStepMutable().clear();
  op.getOriginRowMutable().clear();
  op.getOriginSiteMutable().clear();
  op.removePAttr();
  op.removeSiteAttr();
}

} // namespace mlir::resid

#endif // RESID_DIALECT_DROPOUTSCHEME_H
