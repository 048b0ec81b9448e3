// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values and their gradients, and what the forward saves. Ops that cost next to nothing are no part of that: the
// backward makes them again.

#include "passes/grad/Gradients.h"

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

/// What an op reads, in its regions too, and does not make itself.
static SetVector<Value> getReads(Operation *op) {
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

/// Constants, numbers made of numbers, such as the step of a dropout, and tensors made of both; and what has the
/// elements of another tensor, at other places or in a wider type.
static bool isCostless(Operation *op) { return givesNumbers(op) || isMadeOfNumbers(op) || hasElementsOfAnother(op); }

#include "passes/grad/GradientInterface.cpp.inc"

/// An operand of what is made again. A size is that of another tensor where it can be.
Value Gradients::getPrimalOperand(Value operand) {
  if (!operand.getType().isIndex())
    return getPrimal(operand);
  return getValueOrCreateConstantIndexOp(builder, builder.getLoc(), createSize(*this, OpFoldResult(operand)));
}

Value Gradients::clone(OpResult value) {
  IRMapping mapping;
  for (Value read : getReads(value.getOwner()))
    mapping.map(read, getPrimalOperand(read));
  Operation *copy = builder.clone(*value.getOwner(), mapping);
  for (auto [result, copied] : llvm::zip_equal(value.getOwner()->getResults(), copy->getResults()))
    primals[result] = copied;
  return primals.lookup(value);
}

Value Gradients::recompute(OpResult value) {
  Operation *op = value.getOwner();
  if (isCostless(op))
    return clone(value);
  // The carries of a loop are what it computes; it is not run again.
  if (forward.save == GradSave::Min && isMemoryEffectFree(op) && !isa<LoopLikeOpInterface>(op))
    return clone(value);
  auto rule = dyn_cast<GradientOpInterface>(op);
  return rule && forward.save == GradSave::Default ? rule.recompute(value.getResultNumber(), *this) : Value();
}

Value Gradients::getPrimal(Value value) {
  if (!value)
    return value;
  if (Value known = primals.lookup(value))
    return known;
  auto result = dyn_cast<OpResult>(value);
  bool isInside = result && region.isAncestor(value.getParentRegion());
  bool isHere = result && result.getOwner()->getBlock() == builder.getInsertionBlock();
  Value made = isInside && !isHere ? recompute(result) : Value();
  return primals[value] = made ? made : getSaved(value);
}

Value Gradients::take(Value value) {
  Value gradient = get(value);
  gradients.erase(value);
  return gradient;
}

Value resid::createGradientSum(ImplicitLocOpBuilder &builder, Value a, Value b) {
  auto rows = dyn_cast<RankedTensorType>(a.getType());
  return rows && rows.getRank() > 0 ? Value(AddOp::create(builder, a, b)) : arith::AddFOp::create(builder, a, b);
}

void Gradients::add(Value value, Value gradient) {
  if (!gradient || !isNeeded(value))
    return;
  assert(gradient.getType() == value.getType() && "expected a gradient of the type of its value");
  Value &sum = gradients[value];
  sum = sum ? createGradientSum(builder, sum, gradient) : gradient;
}
