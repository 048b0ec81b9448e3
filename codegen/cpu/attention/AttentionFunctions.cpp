// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cpu/attention/AttentionFunctions.h"

#include "codegen/cpu/contractions/ContractionFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::attention;

/// The function over a range of units. Its last arguments are the range and how many units a task has, which tells the
/// task's slot.
void AttentionFunction::emit() {
  OpBuilder builder(getFirst().op->getContext());
  SmallVector<Type> range(3, builder.getI64Type());
  StringRef suffix = getShape().isBackward ? "__attention_backward" : "__attention";
  function = functions.outline(suffix, range, [&](OpBuilder &at, kernels::KernelBody &body) {
    Code code(at, getFirst().op->getLoc());
    AttentionView view(code, body.entry, body.as<AttentionShape>());
    Value low = body.getArgumentFromEnd(3), high = body.getArgumentFromEnd(2), perTask = body.getArgumentFromEnd(1);
    Value offset = view.code.multiply(view.code.divide(low, perTask), countSlotBytes(view));
    view.slot = view.code.at(view.shape.scratch, at.getI8Type(), offset);
    if (view.shape.isBackward)
      BackwardEmitter(view, shape, microKernels).emit(low, high);
    else
      AttentionEmitter(view, shape, vectorBits, microKernels).emit(low, high);
  });
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "no-builtins", kVectorLoopsAttribute}));
}

Value AttentionFunction::countSlotBytes(AttentionView &view) {
  if (!view.shape.isBackward)
    return view.code.constant(view.memory.bytes);
  return BackwardMemory(view.shape).countBytes(view.code, view.code.getLoc(), view.shape).value;
}

/// Units are cut into tasks by the terms of their products, of which each has about as many.
LogicalResult AttentionFunction::launch(kernels::KernelUse &use) {
  OpBuilder builder(use.op);
  Location loc = use.op->getLoc();
  Code code(builder, loc);
  const auto &shape = use.as<AttentionShape>();
  bool isBackward = shape.isBackward;
  Value units =
      (isBackward ? BackwardMemory::countUnits(builder, loc, shape) : AttentionMemory::countUnits(builder, loc, shape))
          .value;
  Value rows = code.multiply(shape.group.value, shape.queries.value);
  if (!isBackward)
    rows = code.min(rows, kUnitRows);
  Value keys = isBackward ? shape.keys.value : shape.countSeenKeys(builder, loc, kUnitRows).value;
  Value pairs = code.multiply(code.max(rows, 1), keys);
  Value terms = code.multiply(pairs, shape.countTerms());
  Value perTask = countTaskUnits(code, units, terms, taskTerms);
  SmallVector<Value> arguments = functions.getArguments(builder, use);
  arguments.push_back(perTask);
  task.emitCalls(use, arguments, {units, perTask}, [&](OpBuilder &at, ValueRange visible, Value low, Value high) {
    SmallVector<Value> operands(visible.drop_back());
    operands.append({low, high, visible.back()});
    func::CallOp::create(at, loc, function, operands);
  });
  return success();
}
