// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the kernel on buffers.

#include "codegen/contractions/BufferizeKernel.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::bufferization;

LogicalResult resid::contraction::bufferizeKernel(Operation *kernel, RewriterBase &rewriter,
                                                  const BufferizationOptions &options, BufferizationState &state) {
  auto destination = cast<DestinationStyleOpInterface>(kernel);
  if (kernel->getNumResults() != destination.getNumDpsInits())
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
  Operation *created = rewriter.create(onBuffers);
  for (auto [from, to] : llvm::zip_equal(kernel->getRegions(), created->getRegions()))
    rewriter.inlineRegionBefore(from, to, to.end());
  SmallVector<Value> results(cast<DestinationStyleOpInterface>(created).getDpsInits());
  replaceOpWithBufferizedValues(rewriter, kernel, results);
  return success();
}
