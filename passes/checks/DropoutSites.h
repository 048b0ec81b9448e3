// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where dropout draws its masks: what a mask depends on beside the element's place, as far as it is known in one
// function, and how that reads from a caller.

#ifndef RESID_PASSES_CHECKS_DROPOUTSITES_H
#define RESID_PASSES_CHECKS_DROPOUTSITES_H

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::resid {

/// An integer as factor·base + offset; without a base it is the offset. Wraps like i64.
struct LinearValue {
  Value base;
  int64_t factor = 0, offset = 0;

  /// The form of `value` through casts, sums, differences and products with constants; of null, 0.
  static LinearValue of(Value value);
  /// This form with another one in the place of the base.
  LinearValue substitute(const LinearValue &other) const;
  bool isConstant() const { return !base; }
  bool operator==(const LinearValue &other) const {
    return base == other.base && factor == other.factor && offset == other.offset;
  }
};

/// One use of a site in a function, by a dropout of its own or in a function that it calls.
struct SiteUse {
  /// What draws the mask.
  Operation *dropout;
  /// The site as it is stated there.
  uint64_t statedSite;
  /// The dropout, or the call that leads to it.
  Operation *place;
  LinearValue seed, step, row, site, col, local, global;

  /// That of `op`; nothing where it draws no mask, also where its p rounds to 0 or to 1.
  static std::optional<SiteUse> of(Operation *op);
  /// This use as the caller sees it; nothing where it hangs on more than the callee's arguments, since then nobody
  /// knows how it differs between calls.
  std::optional<SiteUse> seenFrom(func::CallOp call) const;
  /// Whether both draw the same mask, wherever they stand.
  bool isSameMask(const SiteUse &other) const { return site == other.site && getRest() == other.getRest(); }
  /// All that the mask depends on but the site.
  std::array<LinearValue, 6> getRest() const { return {seed, step, row, col, local, global}; }
  /// Whether the mask may differ between the iterations of `loop`, which is around the place.
  bool variesIn(LoopLikeOpInterface loop) const;
};

/// The loop whose counter the site of `use` follows, if one does.
scf::ForOp getCountingLoop(const SiteUse &use);

/// Whether two uses have the same site in different iterations of the loop that both count with: the difference of
/// their sites is a multiple of what the counter advances the site.
bool meetInLoop(const SiteUse &left, const SiteUse &right);

llvm::hash_code hash_value(const LinearValue &value);

} // namespace mlir::resid

#endif // RESID_PASSES_CHECKS_DROPOUTSITES_H
