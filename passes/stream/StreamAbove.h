// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A residual stream seen upwards from one value, through blocks and flat ops alike. Looks at the program only.

#ifndef RESID_PASSES_STREAM_STREAMABOVE_H
#define RESID_PASSES_STREAM_STREAMABOVE_H

#include "dialect/ResidDialect.h"

namespace mlir::resid {

/// The values of the stream that `value` is on, up to where it begins, `value` first: sums, what norms and dropout make
/// of them, what loops carry.
SmallVector<Value> findStreamAbove(Value value);

/// Whether a residual add made the stream that `value` is on, in an earlier iteration of a loop perhaps.
bool comesOutOfSubLayer(Value value);

/// The value before conversions of its element type and casts of its type.
Value skipCasts(Value value);

} // namespace mlir::resid

#endif // RESID_PASSES_STREAM_STREAMABOVE_H
