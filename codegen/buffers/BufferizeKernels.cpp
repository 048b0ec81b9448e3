// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one-shot bufferization sees kernels: destination-style ops that read their inputs and overwrite their inits.

#include "codegen/attention/AttentionDialect.h"
#include "codegen/buffers/Passes.h"
#include "codegen/contractions/ContractionDialect.h"
#include "codegen/rows/RowsDialect.h"
#include "dialect/Slices.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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

/// Whether `read` reads a result of the kernel that lies apart from what the kernel writes to `init`, in one tensor.
static bool readsApart(KernelOpInterface kernel, OpOperand &read, OpOperand &init, const AnalysisState &state) {
  auto written = init.get().getDefiningOp<tensor::ExtractSliceOp>();
  return written && llvm::any_of(kernel.getDpsInitsMutable(), [&](OpOperand &other) {
           auto part = other.get().getDefiningOp<tensor::ExtractSliceOp>();
           return part && part.getSource() == written.getSource() && areApart(part, written) &&
                  state.areEquivalentBufferizedValues(read.get(), kernel.getTiedOpResult(&other));
         });
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
    if (write->getOwner() == op && kernel.isDpsInit(write) && readsApart(kernel, *read, *write, state))
      return true;
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

/// Whether `slice` is stream `number` of its source.
static bool isStream(tensor::ExtractSliceOp slice, int64_t number) {
  int64_t streams = slice.getSourceType().getRank() - 2;
  return streams >= 0 && slice.getDroppedDims().count() == 1 && slice.getDroppedDims().test(streams) &&
         llvm::all_of(llvm::enumerate(slice.getMixedOffsets()), [&](auto offset) {
           return isConstantIntValue(offset.value(), int64_t(offset.index()) == streams ? number : 0);
         });
}

namespace {
/// Streams that are in their places already: what the op writes there is what is there.
struct BufferizedStreams : DstBufferizableOpInterfaceExternalModel<BufferizedStreams, rows::JoinStreamsOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return !cast<rows::JoinStreamsOp>(op).isDpsInit(&operand);
  }

  static bool isInPlace(rows::JoinStreamsOp op, OpOperand &stream, const AnalysisState &state) {
    auto isPlace = [&](Value value) {
      auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
      return slice && isStream(slice, stream.getOperandNumber()) &&
             state.areEquivalentBufferizedValues(slice.getSource(), op.getInit());
    };
    return llvm::all_of(state.findValueInReverseUseDefChain(&stream, isPlace), isPlace);
  }

  bool isNotConflicting(Operation *op, OpOperand *read, OpOperand *write, const AnalysisState &state) const {
    auto join = cast<rows::JoinStreamsOp>(op);
    if (write->getOwner() != op || !join.isDpsInit(write))
      return false;
    return llvm::any_of(join.getStreamsMutable(), [&](OpOperand &stream) {
      return state.areEquivalentBufferizedValues(read->get(), stream.get()) && isInPlace(join, stream, state);
    });
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto join = cast<rows::JoinStreamsOp>(op);
    FailureOr<Value> init = getBuffer(rewriter, join.getInit(), options, state);
    if (failed(init))
      return failure();
    SmallVector<OpFoldResult> sizes = memref::getMixedSizes(rewriter, op->getLoc(), *init);
    SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0)),
        steps(sizes.size(), rewriter.getIndexAttr(1));
    sizes.end()[-2] = rewriter.getIndexAttr(1);
    for (auto [number, stream] : llvm::enumerate(join.getStreams())) {
      FailureOr<Value> buffer = getBuffer(rewriter, stream, options, state);
      if (failed(buffer))
        return failure();
      offsets.end()[-2] = rewriter.getIndexAttr(number);
      auto type =
          memref::SubViewOp::inferRankReducedResultType(cast<RankedTensorType>(stream.getType()).getShape(),
                                                        cast<MemRefType>(init->getType()), offsets, sizes, steps);
      Value place =
          memref::SubViewOp::create(rewriter, op->getLoc(), cast<MemRefType>(type), *init, offsets, sizes, steps);
      if (failed(options.createMemCpy(rewriter, op->getLoc(), *buffer, place)))
        return failure();
    }
    replaceOpWithBufferizedValues(rewriter, op, *init);
    return success();
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
  registry.addExtension(+[](MLIRContext *context, rows::RowsDialect *) {
    rows::JoinStreamsOp::attachInterface<BufferizedStreams>(*context);
  });
}
