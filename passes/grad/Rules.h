// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of all families, and the ops that they are made with. A rule whose formula is no op yet belongs to an op of
// its own (dialect/Grad.td).

#ifndef RESID_PASSES_GRAD_RULES_H
#define RESID_PASSES_GRAD_RULES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/grad/Gradients.h"

namespace mlir::resid {

/// Give the ops of each family their rules, once the dialect is loaded.
#define RESID_RULE_FAMILY(NAME) void register##NAME##Rules(DialectRegistry &registry);
#include "passes/grad/RuleFamilies.def"

/// The rule of every sum of products (dialect/Contraction.h), which a linalg.generic may be, too.
LogicalResult differentiateContraction(linalg::LinalgOp op, Gradients &gradients);

/// Gives linalg.softmax its rule.
void attachSoftmaxRule(MLIRContext &context);

/// The tensor rounded or widened to another element type.
Value createCast(ImplicitLocOpBuilder &builder, Value tensor, Type elementType);

/// factor·(gate ⊙ tensor), with one rounding to `elementType` after the arithmetic of that type. The gate may be null,
/// and broadcasts as that of resid.add. Where the factor is 1 nothing is multiplied by it.
Value createScaled(ImplicitLocOpBuilder &builder, Value tensor, Value gate, const APFloat &factor, Type elementType);

/// The sum of the tensor over its leading dimensions, in the order of all sums down the rows; rounded to f32, or f64
/// where the tensor is of it, and then to the element type of `type`, which has the last dimensions.
Value createColumnSum(ImplicitLocOpBuilder &builder, Value tensor, RankedTensorType type);

/// A factor of a product, and how the loops read it: a projected permutation.
struct Factor {
  Value tensor;
  AffineMap map;
};

/// a·b, summed over the loops that `map`, that of the result, lacks. f64 if the element type of one of the three is it,
/// else f32, is the arithmetic type; there is one rounding, to the element type of `type`. Where no factor knows the
/// size of a loop, `getLike` gives a tensor with the sizes of the result.
Value createProductSum(ImplicitLocOpBuilder &builder, Factor a, Factor b, RankedTensorType type, AffineMap map,
                       function_ref<Value()> getLike);

/// The sum of a tensor, whose dimensions are the loops, over those that `map` leaves out: the gradient of an operand of
/// `type` that is broadcast by the map. Leading dimensions are summed down the rows, and the rest after, in the
/// arithmetic type.
Value createBroadcastSum(ImplicitLocOpBuilder &builder, Value tensor, AffineMap map, RankedTensorType type);

/// A tensor of zeros; one of the type and sizes of a value of the forward.
Value createZeros(ImplicitLocOpBuilder &builder, ArrayRef<OpFoldResult> sizes, Type elementType);
Value createZeros(Gradients &gradients, Value like);

/// The value whose size along the dimension is that of `value`: where its shape comes from.
Value getShapeSource(Value value, int64_t dimension);

/// The sizes of a value of the forward, in the backward. The value itself is saved only where they follow from nothing
/// else.
OpFoldResult createSize(Gradients &gradients, Value value, int64_t dimension);
SmallVector<OpFoldResult> createSizes(Gradients &gradients, Value value);
/// An index of the forward, which may be such a size.
OpFoldResult createSize(Gradients &gradients, OpFoldResult size);

/// An error where the gradient of a value is needed that the op's regions read from outside.
LogicalResult verifyCaptures(Operation *op, Gradients &gradients);

} // namespace mlir::resid

#endif // RESID_PASSES_GRAD_RULES_H
