// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ops with a quantised result mean: the op on floats, then resid.quantize. The interface stands in
// QuantizedResult.td. Not: the op resid.quantize itself (Quantize.td).

#ifndef RESID_DIALECT_QUANTIZEDRESULT_H
#define RESID_DIALECT_QUANTIZEDRESULT_H

#include "dialect/ResidEnums.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace mlir::resid {

/// Whether the first result of `op`, which may be quantised, is of i8.
bool hasQuantizedResult(Operation *op);

/// Of an op that may have a quantised result: with one, the types of results and scale are those of the expansion;
/// without one, there is no granularity and no operand scale.
LogicalResult verifyQuantizedResult(Operation *op);

/// Rewrites each op within `root` that has a quantised result into the op on floats and a resid.quantize. Requires a
/// verified program.
void expandQuantizedResults(Operation *root);

/// The type of the scales of a tensor; null where it has none.
RankedTensorType getScaleType(Type quantized, Granularity granularity, std::optional<int64_t> group);

/// A group is there exactly for that granularity, and its size and that of the last dimension are right.
LogicalResult verifyGroup(function_ref<InFlightDiagnostic()> emitError, RankedTensorType type, Granularity granularity,
                          std::optional<int64_t> group);

/// An operand scale agrees with the type that the granularity gives it.
LogicalResult verifyScaleShape(Operation *op, RankedTensorType expected, RankedTensorType scale);

} // namespace mlir::resid

#endif // RESID_DIALECT_QUANTIZEDRESULT_H
