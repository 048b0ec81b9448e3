// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RESID_CODEGEN_BUFFERS_PASSES_H
#define RESID_CODEGEN_BUFFERS_PASSES_H

#include "codegen/kernels/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::resid::buffers {

#define GEN_PASS_DECL
#include "codegen/buffers/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/buffers/Passes.h.inc"

struct BufferizationOptions {
  /// Kernels note for a report why others do not run with them.
  bool record = false;
};

/// Gives each kernel on buffers that takes scratch memory a temporary as its operand `scratch`, of the size that
/// `target` asks for.
std::unique_ptr<Pass> createAllocateScratch(std::shared_ptr<const kernels::Target> target);

/// Tensors to memrefs: functions whose tensors come from bufferization.to_tensor and leave by
/// bufferization.materialize_in_destination. Kernels write into the destinations themselves.
void buildBufferizationPipeline(OpPassManager &manager, std::shared_ptr<const kernels::Target> target,
                                const BufferizationOptions &options = {});

/// Lets one-shot bufferization handle kernels of all kinds.
void registerKernelBufferization(DialectRegistry &registry);

/// Registers the passes and, as `resid-bufferize`, the pipeline; both for kernels of `target`.
void registerBufferPassesAndPipelines(std::shared_ptr<const kernels::Target> target);

} // namespace mlir::resid::buffers

#endif // RESID_CODEGEN_BUFFERS_PASSES_H
