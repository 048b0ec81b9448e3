// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the backward ops of norms and their like have in common: checks of their verifiers, names of their results, and
// sizes that are equal. Does not own what one of them means.

#ifndef RESID_DIALECT_GRADVERIFICATION_H
#define RESID_DIALECT_GRADVERIFICATION_H

#include "dialect/ResidDialect.h"

namespace mlir::resid {

/// Names pairs of dimensions of one size, as EqualSizesOpInterface does.
using UniteSizes = function_ref<void(Value, int64_t, Value, int64_t)>;

/// A value has the type of x. An absent one passes.
LogicalResult verifyTypeOfX(Operation *op, Type x, Value value, StringRef name);

/// dgamma and dbeta are there exactly where gamma is, have its shape, and are of f64 only where x is.
LogicalResult verifyParameterGradients(Operation *op, RankedTensorType x, Value gamma, ValueRange parameters);

/// Names dgamma and dbeta.
void nameParameterGradients(ValueRange parameters, OpAsmSetValueNameFn setName);

/// The first dimensions of a value are `count` dimensions of another, from its dimension `first` on. An absent value
/// has none.
void uniteDimensions(UniteSizes unite, Value value, Value other, int64_t first, int64_t count);

} // namespace mlir::resid

#endif // RESID_DIALECT_GRADVERIFICATION_H
