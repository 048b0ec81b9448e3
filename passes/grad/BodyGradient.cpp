// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BodyGradient.h.

#include "passes/grad/BodyGradient.h"

#include "dialect/Shapes.h"
#include "mlir/IR/IRMapping.h"
#include "passes/grad/Activity.h"
#include "passes/grad/ScalarRules.h"

using namespace mlir;
using namespace mlir::resid;

BodyGradient::BodyGradient(linalg::GenericOp op, Gradients &gradients, BodyBuilder &body)
    : op(op), gradients(gradients), body(body) {
  for (OpOperand &operand : op->getOpOperands())
    if (gradients.isNeeded(operand.get()))
      needed.insert(op.getMatchingBlockArgument(&operand));
  for (Operation &nested : op.getBody()->without_terminator()) {
    bool isReached = false;
    nested.walk([&](Operation *inner) {
      isReached |= llvm::any_of(inner->getOperands(), [&](Value operand) { return needed.contains(operand); });
    });
    for (Value result : nested.getResults())
      if (isReached && hasGradient(result.getType()))
        needed.insert(result);
  }
}

/// The ops that compute a value are copied, with what they read from outside of the body.
Value BodyGradient::recompute(Operation *nested, Value value) {
  IRMapping mapping;
  nested->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!nested->isAncestor(operand.getParentBlock()->getParentOp()))
        mapping.map(operand, getPrimal(operand));
  });
  Operation *copy = body.getBuilder().clone(*nested, mapping);
  for (auto [result, copied] : llvm::zip_equal(nested->getResults(), copy->getResults()))
    primals[result] = copied;
  return primals.lookup(value);
}

Value BodyGradient::getPrimal(Value value) {
  if (Value known = primals.lookup(value))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == op.getBody()) {
    OpOperand &operand = op->getOpOperand(argument.getArgNumber());
    return primals[value] = body.read(gradients.getPrimal(operand.get()), op.getMatchingIndexingMap(&operand));
  }
  Operation *producer = value.getDefiningOp();
  if (!producer || producer->getBlock() != op.getBody())
    return primals[value] = gradients.getPrimal(value);
  return recompute(producer, value);
}

void BodyGradient::add(Value value, Value gradient) {
  if (!gradient || !needed.contains(value))
    return;
  ImplicitLocOpBuilder &builder = body.getBuilder();
  gradient = convertElements(builder, gradient, getArithmeticType(value.getType()));
  Value &sum = adjoints[value];
  sum = sum ? Value(arith::AddFOp::create(builder, sum, gradient)) : gradient;
}

/// The bits of a float as an integer are a way on which a gradient would be lost.
LogicalResult BodyGradient::verifyBits() const {
  for (arith::BitcastOp cast : op.getRegion().getOps<arith::BitcastOp>())
    if (needed.contains(cast.getIn()))
      return cast.emitOpError("has no gradient: expected arithmetic on floats, but got their bits");
  return success();
}

LogicalResult BodyGradient::run() {
  if (failed(verifyBits()))
    return failure();
  for (Operation &nested : llvm::reverse(op.getBody()->without_terminator())) {
    Value dy;
    for (Value result : nested.getResults())
      if (Value adjoint = get(result))
        dy = adjoint;
    if (!dy)
      continue;
    const ScalarRule *rule = findScalarRule(&nested);
    if (!rule)
      return nested.emitOpError("has no rule for its gradient in a body, and a result depends on it");
    body.getBuilder().setLoc(nested.getLoc());
    auto getForward = [&](Value value) { return getPrimal(value); };
    auto addTerm = [&](Value operand, function_ref<Value()> term) {
      if (needed.contains(operand))
        add(operand, term());
    };
    ScalarGradient gradient(body.getBuilder(), dy, getForward, addTerm);
    (*rule)(&nested, gradient);
  }
  return success();
}
