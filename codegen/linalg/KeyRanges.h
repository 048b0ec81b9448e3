// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which keys each query of an attention sees, as numbers: where samples have caches of their own length, or several
// sequences lie in a pack. Calls with numbers that mean nothing are refused.

#ifndef RESID_CODEGEN_LINALG_KEYRANGES_H
#define RESID_CODEGEN_LINALG_KEYRANGES_H

#include "codegen/builder/Code.h"
#include "dialect/SeenKeys.h"

namespace mlir::resid {

/// The sizes that ranges are made for.
struct RangeSizes {
  OpFoldResult batch, queries, keys;
};

/// Refuses a call with `text` where the new keys of a sample, `added`, do not fit into `places` after its old ones.
void requirePasts(Code &builder, StringRef text, Value pasts, Value added, Value places);
/// Whether those of one sample fit.
Value fitsPast(Code &builder, Value past, Value added, Value places);

/// The operands `ranges` of an attention.kernel: [batch, queries], i64. `pasts`: [batch].
SmallVector<Value> createRangesOfCaches(Code &builder, const SeenKeys &seen, const RangeSizes &sizes, Value pasts);
/// `ofQueries`: [batch, queries]; `ofKeys`: [batch, keys].
SmallVector<Value> createRangesOfSegments(Code &builder, const SeenKeys &seen, const RangeSizes &sizes, Value ofQueries,
                                          Value ofKeys);

} // namespace mlir::resid

#endif // RESID_CODEGEN_LINALG_KEYRANGES_H
