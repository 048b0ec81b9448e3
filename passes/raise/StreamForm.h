// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of several residual streams and writes into them that are written with slices, one for each stream. Looks at
// the program only.

#ifndef RESID_PASSES_RAISE_STREAMFORM_H
#define RESID_PASSES_RAISE_STREAMFORM_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/raise/ElementExpression.h"
#include <string>

namespace mlir::resid {

/// Weights of each stream, or of each pair of them: `[n]` or `[n, n]`, after the leading dimensions of the streams or
/// none.
struct StreamWeights {
  Value tensor;
  /// Whether `[n]` is followed by the features, or by a 1.
  bool hasLast = false;
  /// Whether [i, j] is what goes to stream i from stream j.
  bool isTransposed = false;

  explicit operator bool() const { return tensor != nullptr; }
  bool operator==(const StreamWeights &other) const {
    return tensor == other.tensor && isTransposed == other.isTransposed;
  }
};

struct StreamReadForm {
  Value x;
  StreamWeights weights; ///< may be null
  double scale = 1;
  /// Whether every rounding is that of resid.read.
  bool isExact = true;
};

struct StreamWriteForm {
  Value x, y;
  StreamWeights weights, mix;
  /// Whether the mix is a diagonal.
  bool isDiagonal = false;
  /// Whether every rounding is that of resid.write.
  bool isExact = true;
};

/// The read that the expression is. If it is nearly one, `refusal` says why it is not.
std::optional<StreamReadForm> matchStreamRead(const ElementExpression &expression, std::string &refusal);

/// The write whose streams are put together by a chain of tensor.insert_slice that ends in `last`.
std::optional<StreamWriteForm> matchStreamWrite(tensor::InsertSliceOp last, std::string &refusal);

/// The write of all streams at once that the expression is: of a branch with weights, to streams that are kept or
/// multiplied by one weight each.
std::optional<StreamWriteForm> matchStreamWrite(const ElementExpression &expression);

/// The write with a mix that a product is which starts from a branch with weights.
std::optional<StreamWriteForm> matchStreamMix(linalg::LinalgOp op);

/// The op, of the result type `type`.
Value buildStreamRead(OpBuilder &builder, Location location, const StreamReadForm &form, Type type);
Value buildStreamWrite(OpBuilder &builder, Location location, const StreamWriteForm &form, Type type);

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_STREAMFORM_H
