// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on the elements of rows, of which the coefficients of connections are made.

#ifndef RESID_PASSES_CONNECTION_ROWARITHMETIC_H
#define RESID_PASSES_CONNECTION_ROWARITHMETIC_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace mlir::resid {

/// The last dimension, of `rows`·`columns` elements, as two.
Value splitLast(OpBuilder &builder, Location loc, Value value, int64_t rows, int64_t columns);

/// What `body` gives for each element of `x` and those of `more` at the maps of `maps`, in x's element type.
Value mapElements(OpBuilder &builder, Location loc, Value x, ValueRange more, ArrayRef<AffineMap> maps,
                  function_ref<Value(OpBuilder &, ValueRange)> body);

/// factor·x, rounded once from the arithmetic type.
Value scaleElements(OpBuilder &builder, Location loc, Value x, double factor);

/// factor·σ(x) + offset, where σ is rounded to x's element type.
Value squash(OpBuilder &builder, Location loc, Value x, double factor = 1.0, double offset = 0.0);

} // namespace mlir::resid

#endif // RESID_PASSES_CONNECTION_ROWARITHMETIC_H
