// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one-shot bufferization sees rows.kernel: a destination-style op that reads its inputs and overwrites its inits.

#include "codegen/rows/Passes.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::resid;
using namespace mlir::resid::rows;

/// Whether the row of an operand is loaded before anything is stored to it: then its old content matters.
static bool isReadFirst(KernelOp kernel, OpOperand &operand) {
  unsigned position = operand.getOperandNumber() - kernel.getRowDims().size() - kernel.getColumnDims().size();
  if (kernel.isAccumulated(position))
    return true; // the sum is added to it
  BlockArgument row = kernel.getRowArgument(position);
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op); load && load.getRow() == row)
      return WalkResult::interrupt();
    auto store = dyn_cast<StoreOp>(op);
    return store && store.getRow() == row ? WalkResult::skip() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

namespace {
struct KernelInterface : DstBufferizableOpInterfaceExternalModel<KernelInterface, KernelOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    auto kernel = cast<KernelOp>(op);
    return !kernel.isDpsInit(&operand) || isReadFirst(kernel, operand);
  }

  /// A row program keeps to the rule that an init's buffer may be exactly an input's, where both are the same element
  /// of every row and column.
  bool isNotConflicting(Operation *op, OpOperand *read, OpOperand *write, const AnalysisState &state) const {
    auto kernel = cast<KernelOp>(op);
    if (read->getOwner() != op || write->getOwner() != op || kernel.isDpsInit(read) || !kernel.isDpsInit(write))
      return false;
    unsigned first = kernel.getRowDims().size() + kernel.getColumnDims().size();
    if (kernel.isAccumulated(write->getOperandNumber() - first))
      return false;
    return read->get().getType() == write->get().getType() &&
           kernel.getIndexingMap(read->getOperandNumber() - first) ==
               kernel.getIndexingMap(write->getOperandNumber() - first) &&
           state.areEquivalentBufferizedValues(read->get(), write->get());
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto kernel = cast<KernelOp>(op);
    if (!kernel.hasPureTensorSemantics())
      return kernel.emitOpError("expected tensors only or buffers only");
    SmallVector<Value> inputs, inits;
    auto collect = [&](ValueRange tensors, SmallVector<Value> &buffers) {
      for (Value tensor : tensors) {
        FailureOr<Value> buffer = getBuffer(rewriter, tensor, options, state);
        if (failed(buffer))
          return failure();
        buffers.push_back(*buffer);
      }
      return success();
    };
    rewriter.setInsertionPoint(op);
    if (failed(collect(kernel.getInputs(), inputs)) || failed(collect(kernel.getInits(), inits)))
      return failure();
    auto onBuffers = KernelOp::create(rewriter, op->getLoc(), TypeRange(), kernel.getRowDims(), kernel.getColumnDims(),
                                      inputs, inits, kernel.getIndexingMaps());
    onBuffers->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
    rewriter.inlineRegionBefore(kernel.getBody(), onBuffers.getBody(), onBuffers.getBody().end());
    replaceOpWithBufferizedValues(rewriter, op, inits);
    return success();
  }
};
} // namespace

void rows::registerRowsBufferization(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, RowsDialect *) { KernelOp::attachInterface<KernelInterface>(*context); });
}
