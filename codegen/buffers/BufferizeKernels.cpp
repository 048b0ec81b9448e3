// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one-shot bufferization sees kernels: destination-style ops that read their inputs and overwrite their inits.

#include "codegen/attention/AttentionDialect.h"
#include "codegen/buffers/Passes.h"
#include "codegen/contractions/ContractionDialect.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::resid;
using kernels::KernelOpInterface;

/// Replaces a kernel whose results are all tensors by the same kernel on the buffers of its operands, with its regions,
/// and its results by the buffers of its inits.
static LogicalResult bufferizeKernel(KernelOpInterface kernel, RewriterBase &rewriter,
                                     const BufferizationOptions &options, BufferizationState &state) {
  if (kernel->getNumResults() != kernel.getNumDpsInits())
    return kernel->emitOpError("expected tensors only or buffers only");
  rewriter.setInsertionPoint(kernel);
  SmallVector<Value> operands;
  for (Value operand : kernel->getOperands()) {
    if (isa<TensorType>(operand.getType())) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      operand = *buffer;
    }
    operands.push_back(operand);
  }
  OperationState onBuffers(kernel->getLoc(), kernel->getName(), operands, TypeRange(), kernel->getAttrs());
  onBuffers.propertiesAttr = kernel->getPropertiesAsAttribute();
  for (unsigned region = 0; region < kernel->getNumRegions(); ++region)
    onBuffers.addRegion();
  auto created = cast<KernelOpInterface>(rewriter.create(onBuffers));
  for (auto [from, to] : llvm::zip_equal(kernel->getRegions(), created->getRegions()))
    rewriter.inlineRegionBefore(from, to, to.end());
  replaceOpWithBufferizedValues(rewriter, kernel, SmallVector<Value>(created.getDpsInits()));
  return success();
}

namespace {
template <typename OpTy>
struct BufferizedKernel : DstBufferizableOpInterfaceExternalModel<BufferizedKernel<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    auto kernel = cast<KernelOpInterface>(op);
    return !kernel.isDpsInit(&operand) || kernel.readsInit(operand);
  }

  bool isNotConflicting(Operation *op, OpOperand *read, OpOperand *write, const AnalysisState &state) const {
    auto kernel = cast<KernelOpInterface>(op);
    return read->getOwner() == op && write->getOwner() == op && !kernel.isDpsInit(read) && kernel.isDpsInit(write) &&
           read->get().getType() == write->get().getType() && kernel.mayOverwrite(*read, *write) &&
           state.areEquivalentBufferizedValues(read->get(), write->get());
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    return bufferizeKernel(cast<KernelOpInterface>(op), rewriter, options, state);
  }
};
} // namespace

template <typename DialectTy, typename... Ops> static void attach(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DialectTy *) {
    (Ops::template attachInterface<BufferizedKernel<Ops>>(*context), ...);
  });
}

void buffers::registerKernelBufferization(DialectRegistry &registry) {
  attach<attention::AttentionDialect, attention::KernelOp, attention::BackwardOp>(registry);
  attach<contraction::ContractionDialect, contraction::KernelOp>(registry);
  attach<rows::RowsDialect, rows::KernelOp>(registry);
}
