// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/grad/Gradients.h"

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/grad/CostlessOps.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

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
