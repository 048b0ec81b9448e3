// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Placement.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/checks/StreamChecks.h"
#include "passes/stream/NormParts.h"
#include "passes/stream/Stacks.h"

using namespace mlir;
using namespace mlir::resid;

static bool isCalled(func::FuncOp function) {
  auto uses = SymbolTable::getSymbolUses(function, function->getParentOp());
  return !uses || !uses->empty();
}

static void collectReaders(Value value, llvm::DenseSet<Value> &seen, ExitReaders &readers);

/// What a call makes of its operand: what the function's body does with the argument; whatever it likes without a body.
static void collectReaders(func::CallOp call, OpOperand &operand, llvm::DenseSet<Value> &seen, ExitReaders &readers) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    readers.isHandled = true;
  else
    collectReaders(callee.getArgument(operand.getOperandNumber()), seen, readers);
}

static void collectReader(OpOperand &use, llvm::DenseSet<Value> &seen, ExitReaders &readers) {
  Operation *op = use.getOwner();
  auto linear = dyn_cast<linalg::LinalgOp>(op);
  if (isa<arith::ExtFOp, arith::TruncFOp, tensor::CastOp, tensor::ExtractSliceOp>(op)) {
    collectReaders(op->getResult(0), seen, readers);
  } else if (auto call = dyn_cast<func::CallOp>(op)) {
    collectReaders(call, use, seen, readers);
  } else if (isa<func::ReturnOp>(op)) {
    auto function = op->getParentOfType<func::FuncOp>();
    // The caller of a function may normalise its result.
    if (function.isPublic() && !isCalled(function))
      readers.raw = op;
  } else if (linear && linalg::isaContractionOpInterface(linear)) {
    readers.raw = op;
    readers.isReturnedOnly = false;
  } else {
    readers.isHandled = true;
  }
}

static void collectReaders(Value value, llvm::DenseSet<Value> &seen, ExitReaders &readers) {
  if (!seen.insert(value).second)
    return;
  for (OpOperand *use : getReaders(value))
    collectReader(*use, seen, readers);
}

ExitReaders resid::findExitReaders(Value end) {
  ExitReaders readers;
  llvm::DenseSet<Value> seen;
  collectReaders(end, seen, readers);
  return readers;
}

/// One sub-layer may be all of a kernel; a stack has two, or a loop.
static bool isStack(const Stack &stack) { return stack.blocks.size() > 1 || !stack.loops.empty(); }

/// One layer of a Transformer as a function of its own, whose caller has the final norm: self-attention, feed-forward
/// and, in a decoder, cross-attention.
static bool isLayer(const Stack &stack, const ExitReaders &readers) {
  auto argument = dyn_cast<BlockArgument>(stack.entry);
  return stack.loops.empty() && stack.blocks.size() <= kMostSubLayersOfLayer && readers.isReturnedOnly && argument &&
         isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

static void checkFinalNorm(const Stack &stack) {
  BlockOp last = stack.blocks.back();
  // Streams without a head are a mistake of their own (ConnectionChecks.cpp).
  if (!isStack(stack) || (stack.isOnStreams() && !stack.head) || !getPlacementRule(last.getPlacement()).wantsFinalNorm)
    return;
  ExitReaders readers = findExitReaders(stack.getEnd());
  if (readers.isHandled || !readers.raw || isLayer(stack, readers))
    return;
  InFlightDiagnostic warning = last.emitWarning() << "a stack of '" << stringifyPlacement(last.getPlacement())
                                                  << "' sub-layers ends here without a final norm";
  warning.attachNote(readers.raw->getLoc()) << "the stream leaves the stack as it is here";
  warning.attachNote() << "mend: put a norm between the last sub-layer and what reads the stream";
}

void resid::checkFinalNorms(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      for (const Stack &stack : findStacks(function))
        checkFinalNorm(stack);
}
