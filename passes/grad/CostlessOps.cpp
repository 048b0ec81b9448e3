// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CostlessOps.h.

#include "passes/grad/CostlessOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::resid;

SetVector<Value> resid::getReads(Operation *op) {
  SetVector<Value> reads(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), reads);
  return reads;
}

static bool isMadeOfNumbers(Operation *op) {
  return isMemoryEffectFree(op) && llvm::all_of(getReads(op), [](Value read) {
           return !isa<ShapedType>(read.getType()) || (read.getDefiningOp() && isMadeOfNumbers(read.getDefiningOp()));
         });
}

/// Whether all results of the op are numbers.
static bool givesNumbers(Operation *op) {
  return isMemoryEffectFree(op) && llvm::none_of(op->getResultTypes(), [](Type type) { return isa<ShapedType>(type); });
}

/// An op that writes elements of an input at other places: a broadcast or a transpose.
static bool isMove(linalg::GenericOp op) {
  auto yielded = dyn_cast<BlockArgument>(op.getBody()->getTerminator()->getOperand(0));
  return op.getNumResults() == 1 && llvm::hasSingleElement(*op.getBody()) && yielded &&
         yielded.getArgNumber() < op.getNumDpsInputs() && op.getOutputs().front().getDefiningOp<tensor::EmptyOp>();
}

/// A slice of what the backward sees anyway. Of another tensor the slice is less to save than the whole.
static bool isSliceOfArgument(tensor::ExtractSliceOp op) {
  Value source = op.getSource();
  while (auto slice = source.getDefiningOp<tensor::ExtractSliceOp>())
    source = slice.getSource();
  auto argument = dyn_cast<BlockArgument>(source);
  return argument && isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

static bool hasElementsOfAnother(Operation *op) {
  if (isa<arith::ExtFOp, tensor::EmptyOp, tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return true;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return isSliceOfArgument(slice);
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && isMove(generic);
}

bool resid::isCostless(Operation *op) { return givesNumbers(op) || isMadeOfNumbers(op) || hasElementsOfAnother(op); }
