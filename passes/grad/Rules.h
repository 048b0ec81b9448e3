// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of all families, and the ops that they are made with. A rule whose formula is no op yet belongs to an op of
// its own (dialect/Grad.td).

#ifndef RESID_PASSES_GRAD_RULES_H
#define RESID_PASSES_GRAD_RULES_H

#include "passes/grad/Gradients.h"

namespace mlir::resid {

/// Give the ops of a family their rules, once the dialect is loaded.
void registerResidualRules(DialectRegistry &registry);
void registerNormRules(DialectRegistry &registry);
void registerCastRules(DialectRegistry &registry);

/// The tensor rounded or widened to another element type.
Value createCast(ImplicitLocOpBuilder &builder, Value tensor, Type elementType);

/// factor·tensor, with one rounding to `elementType` behind the arithmetic of that type. Where the factor is 1 nothing
/// is multiplied.
Value createScaled(ImplicitLocOpBuilder &builder, Value tensor, const APFloat &factor, Type elementType);

/// The sum of the tensor over its leading dimensions, in the order of all sums down the rows; rounded to f32, or f64
/// where the tensor is of it, and then to the element type of `type`, which has the last dimensions.
Value createColumnSum(ImplicitLocOpBuilder &builder, Value tensor, RankedTensorType type);

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_RULES_H
