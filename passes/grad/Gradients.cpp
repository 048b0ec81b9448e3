// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is made again and what is saved, and sums of gradients; see Gradients.h.

#include "passes/grad/Gradients.h"

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::resid;

#include "passes/grad/GradientInterface.cpp.inc"

/// Constants, and numbers made of numbers, such as the step of a dropout, are made again: no memory holds them.
static bool isMadeAgain(Operation *op) {
  if (!op || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return false;
  return op->hasTrait<OpTrait::ConstantLike>() ||
         llvm::none_of(op->getResultTypes(), [](Type type) { return isa<ShapedType>(type); });
}

Value Gradients::getPrimal(Value value) {
  if (!value)
    return value;
  if (Value known = primals.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!isMadeAgain(op))
    return primals[value] = getSaved(value);
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, getPrimal(operand));
  Operation *copy = builder.clone(*op, mapping);
  for (auto [result, copied] : llvm::zip_equal(op->getResults(), copy->getResults()))
    primals[result] = copied;
  return primals.lookup(value);
}

Value Gradients::take(Value value) {
  Value gradient = get(value);
  gradients.erase(value);
  return gradient;
}

void Gradients::add(Value value, Value gradient) {
  if (!gradient || !isNeeded(value))
    return;
  assert(gradient.getType() == value.getType() && "expected a gradient of the type of its value");
  Value &sum = gradients[value];
  auto rows = dyn_cast<RankedTensorType>(value.getType());
  if (!sum)
    sum = gradient;
  else if (rows && rows.getRank() > 0)
    sum = AddOp::create(builder, sum, gradient);
  else
    sum = arith::AddFOp::create(builder, sum, gradient);
}
