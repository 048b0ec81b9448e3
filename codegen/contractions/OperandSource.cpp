// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads through ops that only move or widen elements, or that unpack panels.

#include "codegen/contractions/OperandSource.h"

#include "dialect/WeightPanels.h"
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

linalg::UnPackOp contraction::findPanels(const OperandSource &matrix, unsigned parallelLoops) {
  auto unpack = matrix.tensor.getDefiningOp<linalg::UnPackOp>();
  auto type = dyn_cast<RankedTensorType>(matrix.tensor.getType());
  // Only of static sizes is it known that the panels have all columns.
  if (!unpack || !type || type.getRank() != 2 || !type.hasStaticShape() || !unpack.getSourceType().hasStaticShape())
    return nullptr;
  auto isColumns = [&](unsigned d) {
    return cast<AffineDimExpr>(matrix.map.getResult(d)).getPosition() < parallelLoops;
  };
  if (isColumns(0) == isColumns(1))
    return nullptr;
  int64_t columns = isColumns(0) ? 0 : 1;
  ArrayRef<int64_t> tiles = unpack.getStaticInnerTiles();
  if (tiles.front() != kPanelColumns && tiles.front() != getPanelColumns(type.getDimSize(columns)))
    return nullptr;
  PanelLayout layout = getPanelLayout(type.getElementType(), columns, tiles.front());
  ArrayRef<int64_t> outer = unpack.getOuterDimsPerm();
  bool isOrdered = outer.empty() ? columns == 0 : outer == ArrayRef(layout.outerOrder);
  bool isPanels =
      isOrdered && unpack.getInnerDimsPos() == ArrayRef(layout.innerDimensions) && tiles == ArrayRef(layout.innerTiles);
  return isPanels ? unpack : nullptr;
}
