// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads through ops that only move or widen elements.

#include "codegen/contractions/OperandSource.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::contraction;

/// The map on the dimensions of an elementwise op's input, where it yields that input's element, possibly widened.
std::optional<OperandSource> contraction::readThrough(const OperandSource &source, FloatType arithmetic) {
  auto op = source.tensor.getDefiningOp<linalg::LinalgOp>();
  if (!op || !op.hasPureTensorSemantics() || op.getNumParallelLoops() != op.getNumLoops() ||
      op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || !op.hasOnlyProjectedPermutations())
    return std::nullopt;
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  // A factor that is widened to f64 makes the arithmetic what it is.
  if (auto widening = yielded.getDefiningOp<arith::ExtFOp>(); widening && !arithmetic.isF64())
    yielded = widening.getIn();
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (yielded != op.getBlock()->getArgument(0) || !result.isPermutation() ||
      !isa<RankedTensorType>(op.getDpsInputOperand(0)->get().getType()))
    return std::nullopt;
  AffineMap input = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  return OperandSource{op.getDpsInputOperand(0)->get(), input.compose(inversePermutation(result)).compose(source.map)};
}
