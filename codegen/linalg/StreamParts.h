// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowerings of the family Streams share: one stream of several as an operand, and sums of weighted streams.

#ifndef RESID_CODEGEN_LINALG_STREAMPARTS_H
#define RESID_CODEGEN_LINALG_STREAMPARTS_H

#include "codegen/linalg/Elementwise.h"

namespace mlir::resid {

/// One stream of x, or of what broadcasts to it. Of streams that were joined, it is the one that was there before.
Value takeStream(Code &builder, Value tensor, int64_t stream);

/// Whether there is nothing to take a slice of: not even an empty one of static size is allowed then.
inline bool hasNoElements(RankedTensorType type) { return llvm::is_contained(type.getShape(), 0); }

/// sum + factor·value with one rounding. Without a factor it is 1; without a sum there is only the product.
Value addProduct(Code &builder, Value factor, Value value, Value sum);

} // namespace mlir::resid

#endif // RESID_CODEGEN_LINALG_STREAMPARTS_H
