// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear layers, resid.linear or as they are written in linalg: y = x·W + b. Finds those that read a value and the one
// that makes a value, and where their weight and bias are read. Looks at the program only.
//
// A layer is a contraction (linalg.matmul and its kin, linalg.contract, linalg.generic) of rows with a weight that all
// rows share, in any order of axes; a weight that linalg.broadcast repeats per sample counts as shared. Its bias is
// added by resid.add_bias, by an elementwise op whose other operand is one vector for all rows, or as what the
// contraction accumulates onto. Casts of the element type and reshapes that keep the feature axis may stand before, in
// and after it.

#ifndef RESID_PASSES_WEIGHTS_LINEARLAYERS_H
#define RESID_PASSES_WEIGHTS_LINEARLAYERS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>
#include <string>

namespace mlir::resid {

struct LinearLayer {
  /// resid.linear, or a contraction in linalg.
  Operation *contraction;
  /// Where the rows are read.
  OpOperand *input;
  /// Where the weight is read: by the contraction, or by the cast, linalg.transpose or linalg.broadcast before it.
  OpOperand *weight;
  /// The axes of the weight that are summed over, and those that are features of the output, in the order of the
  /// output.
  SmallVector<int64_t> inputAxes, outputAxes;
  /// Where biases, each of the shape [output features], are read; usually none or one.
  SmallVector<OpOperand *> biases;
  /// y, with its biases.
  Value result;
  /// Whether the output has one axis of features, and that is its last: a bias is a vector then.
  bool endsInFeatures = false;
};

/// Where a search for those who read or make a weight's matrix ended, and why ("expected … but got …").
struct LinearRefusal {
  LogicalResult set(Operation *op, const Twine &reason);

  Operation *op = nullptr;
  std::string reason;
};

/// All layers that read the rows of `value`, whose last axis is the feature axis that the layer sums over. Fails where
/// anything else reads it, or nothing does.
LogicalResult findReadingLayers(Value value, SmallVectorImpl<LinearLayer> &layers, LinearRefusal &refusal);

/// The layer that makes `value`, whose last axis is its output features, and whose every number depends on nothing but
/// weight and biases beside the input: nothing else is accumulated onto. Fails where another op makes it, or where
/// anything else reads the layer's result or a step between it and `value`; `value` itself has one reader.
FailureOr<LinearLayer> findWritingLayer(Value value, LinearRefusal &refusal);

} // namespace mlir::resid

#endif // RESID_PASSES_WEIGHTS_LINEARLAYERS_H
