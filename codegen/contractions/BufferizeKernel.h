// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel on tensors as the same kernel on buffers. Not: what its analysis has to know, which each kernel says itself.

#ifndef RESID_CODEGEN_CONTRACTIONS_BUFFERIZEKERNEL_H
#define RESID_CODEGEN_CONTRACTIONS_BUFFERIZEKERNEL_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"

namespace mlir::resid::contraction {

/// Replaces a destination-style op whose results are all tensors by the same op on the buffers of its operands, with
/// its regions, and its results by those of its inits.
LogicalResult bufferizeKernel(Operation *kernel, RewriterBase &rewriter,
                              const bufferization::BufferizationOptions &options,
                              bufferization::BufferizationState &state);

} // namespace mlir::resid::contraction

#endif // RESID_CODEGEN_CONTRACTIONS_BUFFERIZEKERNEL_H
