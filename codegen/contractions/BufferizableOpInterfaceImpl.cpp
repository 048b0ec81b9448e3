// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one-shot bufferization sees contraction.kernel: a destination-style op that reads its inputs and overwrites its
// init.

#include "codegen/contractions/BufferizeKernel.h"
#include "codegen/contractions/Passes.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::resid;
using namespace mlir::resid::contraction;

namespace {
struct KernelInterface : DstBufferizableOpInterfaceExternalModel<KernelInterface, KernelOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return !cast<KernelOp>(op).isDpsInit(&operand);
  }

  /// Initial values and inputs of the body are read for each element before that is stored, so their buffers may be the
  /// result's if their maps are.
  bool isNotConflicting(Operation *op, OpOperand *read, OpOperand *write, const AnalysisState &state) const {
    auto kernel = cast<KernelOp>(op);
    if (read->getOwner() != op || write->getOwner() != op || kernel.isDpsInit(read) || !kernel.isDpsInit(write) ||
        read == &kernel.getAMutable() || read == &kernel.getBMutable())
      return false;
    return read->get().getType() == write->get().getType() && kernel.getMap(*read) == kernel.getInitMap() &&
           state.areEquivalentBufferizedValues(read->get(), write->get());
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    return contraction::bufferizeKernel(op, rewriter, options, state);
  }
};
} // namespace

void contraction::registerContractionBufferization(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, ContractionDialect *) { KernelOp::attachInterface<KernelInterface>(*context); });
}
