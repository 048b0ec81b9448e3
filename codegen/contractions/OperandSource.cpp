// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads through ops that only move or widen elements, or that unpack panels.

#include "codegen/contractions/OperandSource.h"

#include "dialect/WeightPanels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::contraction;

/// The map on the dimensions of an elementwise op's input, where it yields that input's element, possibly widened.
std::optional<OperandSource> contraction::readThrough(const OperandSource &source, Type arithmetic) {
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

/// An array of its own: a slice may have gaps.
static bool isContiguous(Value tensor) {
  return isa_and_nonnull<bufferization::ToTensorOp, arith::ConstantOp>(tensor.getDefiningOp());
}

std::optional<IntegerSource> contraction::findIntegers(const OperandSource &factor, unsigned parallelLoops) {
  auto whole = factor.tensor.getDefiningOp<tensor::CollapseShapeOp>();
  auto weight = whole ? whole.getSrc().getDefiningOp<linalg::GenericOp>() : nullptr;
  auto group = weight ? weight->getAttrOfType<IntegerAttr>(kIntegerWeightNote) : nullptr;
  auto split = group ? weight.getInputs().front().getDefiningOp<tensor::ExpandShapeOp>() : nullptr;
  auto isContracted = [&](unsigned dimension) {
    return cast<AffineDimExpr>(factor.map.getResult(dimension)).getPosition() >= parallelLoops;
  };
  if (!split || group.getInt() % kIntegerTerms != 0 || isContracted(0) || !isContracted(1))
    return std::nullopt;
  IntegerSource source{split.getSrc(), factor.tensor, false, group.getInt(),
                       SmallVector<Value>(weight.getInputs().drop_front())};
  auto unpack = source.tensor.getDefiningOp<linalg::GenericOp>();
  if (unpack && unpack->hasAttr(kNibblesNote)) {
    source.tensor = unpack.getInputs().front();
    source.areNibbles = true;
  }
  bool isRead = getElementTypeOrSelf(source.tensor.getType()).isInteger(8) && isContiguous(source.tensor) &&
                llvm::all_of(source.parameters, isContiguous);
  return isRead ? std::optional(source) : std::nullopt;
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
