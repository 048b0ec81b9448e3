// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Run-time conditions that programs write themselves, cf.assert, and those of loops: each becomes a rows.require.

#include "codegen/linalg/ElementConditions.h"
#include "codegen/linalg/Patterns.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "runtime/resid.h"

using namespace mlir;
using namespace mlir::resid;

/// Whether a condition follows from sizes alone, so that what is wrong with a call where it is false is a shape.
static bool followsFromSizes(Value condition) {
  SmallVector<Value> waiting = {condition};
  llvm::SmallPtrSet<Operation *, 16> seen;
  bool hasSize = false;
  while (!waiting.empty()) {
    Operation *op = waiting.pop_back_val().getDefiningOp();
    if (!op)
      return false;
    if (!seen.insert(op).second)
      continue;
    if (isa<tensor::DimOp>(op))
      hasSize = true;
    else if (isMemoryEffectFree(op) && op->getNumRegions() == 0)
      waiting.append(op->operand_begin(), op->operand_end());
    else
      return false;
  }
  return hasSize;
}

/// An assertion in the body of a linalg op holds for all elements, or the call is refused; what the op computes is
/// right where it holds, and stays inside of arrays where it does not. Else, what runs in parallel has no place for a
/// status.
static LogicalResult lowerAssertion(cf::AssertOp op) {
  auto elements = op->getParentOfType<linalg::GenericOp>();
  bool isAvailable = elements ? elements.hasPureTensorSemantics() && hasStatus(elements) : hasStatus(op);
  Code builder(OpBuilder(elements ? elements.getOperation() : op.getOperation()), op.getLoc());
  Value condition = op.getArg();
  if (elements && isAvailable)
    condition = holdsForAllElements(builder, elements, holdsWhere(op, elements, condition));
  if (!condition || !isAvailable)
    return op.emitError() << "an assertion in '" << op->getParentOp()->getName()
                          << "' is not available: expected it in a function, an scf.for, an scf.if, or computed from "
                             "the inputs of a linalg op";
  std::string text = ("assertion failed: " + op.getMsg()).str();
  resid_status status = followsFromSizes(condition) ? RESID_BAD_SHAPE : RESID_BAD_VALUE;
  rows::RequireOp::create(builder, condition, status, text, Value());
  op.erase();
  return success();
}

/// A loop without a step forward would never end; where the step is refused, the loop has no iterations.
static void requireStep(scf::ForOp loop) {
  if (getConstantIntValue(loop.getStep()))
    return;
  Code builder(OpBuilder(loop), loop.getLoc());
  Value step = loop.getStep();
  Type type = step.getType();
  auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ne : arith::CmpIPredicate::sgt;
  Value isForward = builder.compare(predicate, step, 0);
  Type i64 = builder.getI64Type();
  Value number = step;
  if (type.isIndex())
    number = arith::IndexCastOp::create(builder, i64, step);
  else if (type.getIntOrFloatBitWidth() < 64)
    number = arith::ExtSIOp::create(builder, i64, step);
  else if (type != i64)
    number = builder.castInteger(step, i64);
  rows::RequireOp::create(builder, isForward, RESID_BAD_VALUE, "step of scf.for is {0}, expected 1 or more", number);
  loop.setStep(builder.select(isForward, step, 1));
  loop.setUpperBound(builder.select(isForward, loop.getUpperBound(), loop.getLowerBound()));
}

LogicalResult resid::lowerConditions(Operation *root) {
  root->walk(requireStep);
  WalkResult result = root->walk([](cf::AssertOp op) { return WalkResult(lowerAssertion(op)); });
  return failure(result.wasInterrupted());
}
