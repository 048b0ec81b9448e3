// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear layers that are written out: a product with a weight of two dimensions, and a bias.

#ifndef RESID_PASSES_RAISE_LINEARFORM_H
#define RESID_PASSES_RAISE_LINEARFORM_H

#include "dialect/Contraction.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/raise/ElementExpression.h"
#include <string>

namespace mlir::resid {

struct LinearForm {
  Value x, weight, bias;
  /// Whether the weight is [in, out].
  bool isTransposed;
  /// What splits the rows of the product before the bias is added, or null.
  tensor::ExpandShapeOp split;
  /// Whether the op has the bits of the chain.
  bool isExact;
};

/// Reads x, the weight, and whether that is [in, out], of a product of rows with a matrix. False for another product.
bool readProduct(Contraction &product, LinearForm &form);

/// The linear layer that the expression is, whose root is an element of the result of an elementwise op, or of a
/// product that starts from its bias. Where it is nearly that, `refusal` says what is in the way.
std::optional<LinearForm> matchLinear(const ElementExpression &expression, std::string &refusal);

/// Makes the op. Returns what takes the place of a value of type `type`.
Value buildLinear(OpBuilder &builder, Location location, LinearForm form, Type type);

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_LINEARFORM_H
