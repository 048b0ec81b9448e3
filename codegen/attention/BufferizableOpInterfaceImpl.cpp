// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one-shot bufferization sees attention.kernel and attention.backward: destination-style ops that read their inputs
// and overwrite their inits.

#include "codegen/attention/Passes.h"
#include "codegen/contractions/BufferizeKernel.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::resid;
using namespace mlir::resid::attention;

namespace {
struct KernelInterface : DstBufferizableOpInterfaceExternalModel<KernelInterface, KernelOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return !cast<KernelOp>(op).isDpsInit(&operand);
  }

  /// The queries of a block are read before its results are stored.
  bool isNotConflicting(Operation *op, OpOperand *read, OpOperand *write, const AnalysisState &state) const {
    auto kernel = cast<KernelOp>(op);
    if (read != &kernel.getQMutable() || write != &kernel.getInitsMutable()[0])
      return false;
    AffineMap result = kernel.getMap(kernel.getMask() ? 4 : 3);
    return read->get().getType() == write->get().getType() && kernel.getMap(0) == result &&
           state.areEquivalentBufferizedValues(read->get(), write->get());
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    return contraction::bufferizeKernel(op, rewriter, options, state);
  }
};

struct BackwardInterface : DstBufferizableOpInterfaceExternalModel<BackwardInterface, BackwardOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return !cast<BackwardOp>(op).isDpsInit(&operand);
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    return contraction::bufferizeKernel(op, rewriter, options, state);
  }
};
} // namespace

void attention::registerAttentionBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AttentionDialect *) {
    KernelOp::attachInterface<KernelInterface>(*context);
    BackwardOp::attachInterface<BackwardInterface>(*context);
  });
}
