// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is made again and what is saved, and sums of gradients; see Gradients.h.

#include "passes/grad/Gradients.h"

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::resid;

#include "passes/grad/GradientInterface.cpp.inc"

/// What an op reads, in its regions too, and does not make itself.
static SetVector<Value> getReads(Operation *op) {
  SetVector<Value> reads(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), reads);
  return reads;
}

/// Constants, numbers made of numbers, such as the step of a dropout, and tensors made of both: no memory holds them.
static bool isMadeOfNumbers(Operation *op) {
  return isMemoryEffectFree(op) && llvm::all_of(getReads(op), [](Value read) {
           return !isa<ShapedType>(read.getType()) || (read.getDefiningOp() && isMadeOfNumbers(read.getDefiningOp()));
         });
}

/// Whether all results of the op are numbers.
static bool givesNumbers(Operation *op) {
  return isMemoryEffectFree(op) && llvm::none_of(op->getResultTypes(), [](Type type) { return isa<ShapedType>(type); });
}

Value Gradients::clone(OpResult value) {
  IRMapping mapping;
  for (Value read : getReads(value.getOwner()))
    mapping.map(read, getPrimal(read));
  Operation *copy = builder.clone(*value.getOwner(), mapping);
  for (auto [result, copied] : llvm::zip_equal(value.getOwner()->getResults(), copy->getResults()))
    primals[result] = copied;
  return primals.lookup(value);
}

Value Gradients::recompute(OpResult value) {
  Operation *op = value.getOwner();
  if (givesNumbers(op) || isMadeOfNumbers(op))
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
  Value made;
  if (auto result = dyn_cast<OpResult>(value); result && region.isAncestor(value.getParentRegion()))
    made = recompute(result);
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
