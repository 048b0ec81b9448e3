// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions over run-time sizes: affine expressions whose symbols are sizes, products and quotients of symbols
// included. Owns their normal form, their text and their value; does not own which size has which expression.

#ifndef RESID_CODEGEN_BOUNDARY_SIZEEXPRESSION_H
#define RESID_CODEGEN_BOUNDARY_SIZEEXPRESSION_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>

namespace mlir::resid::boundary {

/// The expression as a sum of products in a fixed order, so that equal polynomials are one expression; quotients and
/// remainders count as factors. Null where a coefficient overflows, or where there are too many terms.
AffineExpr normalizeSize(AffineExpr expression);

/// The greatest number that divides all terms of a normal form, and the expression that it multiplies. Of a constant,
/// that is the constant, and 1.
std::pair<int64_t, AffineExpr> splitCoefficient(AffineExpr expression);

/// What index arithmetic in 64 bits computes; `operand` gives the expressions of its operands, or null. Null for every
/// other operation. Where sizes let the arithmetic overflow, or a dividend is negative, the expression has no value.
AffineExpr toSizeExpression(Operation *op, llvm::function_ref<AffineExpr(Value)> operand);

/// The text in C's notation; `nameOf` names the symbols. A quotient that rounds up is `ceil(a / b)`.
std::string printSize(AffineExpr expression, llvm::function_ref<std::string(unsigned)> nameOf);

/// The value for these symbols. Nothing where a divisor is not positive, a dividend is negative, or a product is beyond
/// 2^47 in either direction; symbols beyond that are none either.
std::optional<int64_t> evaluateSize(AffineExpr expression, llvm::ArrayRef<int64_t> symbols);

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_SIZEEXPRESSION_H
