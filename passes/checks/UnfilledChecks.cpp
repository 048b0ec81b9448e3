// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "passes/checks/StreamChecks.h"

using namespace mlir;
using namespace mlir::resid;

/// Whether `reader`, which stands in `loop`, may be left out of its first turn.
static bool mayBeLeftOut(Operation *reader, Operation *loop) {
  for (Operation *op = reader->getParentOp(); op != loop; op = op->getParentOp())
    if (!isa<LoopLikeOpInterface, linalg::LinalgOp>(op))
      return true;
  return false;
}

/// The op that made the array of which `value` is all or a part, where nothing was written to it before `reader` runs
/// for the first time. Where that is not known, null.
static Operation *findUnfilled(Value value, Operation *reader) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    return init && !mayBeLeftOut(reader, loop) ? findUnfilled(init->get(), loop) : nullptr;
  }
  Operation *op = value.getDefiningOp();
  if (isa<tensor::EmptyOp>(op))
    return op;
  if (auto allocation = dyn_cast<bufferization::AllocTensorOp>(op))
    return allocation.getCopy() ? nullptr : op;
  if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp>(op))
    return findUnfilled(op->getOperand(0), reader);
  return nullptr;
}

static void check(linalg::LinalgOp op, OpOperand &operand) {
  if (!isa<RankedTensorType>(operand.get().getType()) || !op.payloadUsesValueFromOperand(&operand))
    return;
  Operation *made = findUnfilled(operand.get(), op);
  if (!made)
    return;
  InFlightDiagnostic warning = emitWarning(op->getLoc()) << "'" << op->getName() << "' reads ";
  warning << (op.isDpsInit(&operand) ? "its output array, which nobody filled" : "an array that nobody filled");
  warning.attachNote(made->getLoc()) << "the array is made here, and holds any numbers";
  warning.attachNote() << "mend: fill the array first, by linalg.fill with 0 for a sum";
}

void resid::checkUnfilled(ModuleOp module) {
  module.walk([](linalg::LinalgOp op) {
    for (OpOperand &operand : op->getOpOperands())
      check(op, operand);
  });
}
