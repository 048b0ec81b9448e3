// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes and the pipelines from bufferization to LLVM-dialect code for CPUs.

#ifndef RESID_CODEGEN_CPU_PASSES_H
#define RESID_CODEGEN_CPU_PASSES_H

#include "codegen/cpu/CPUTarget.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::resid::cpu {

#define GEN_PASS_DECL
#include "codegen/cpu/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/cpu/Passes.h.inc"

/// On a function with a body: it is lowered once per CPU, in modules of their own. On one without: the body for one CPU,
/// which is linked later.
constexpr llvm::StringLiteral kPerCPUAttribute = "resid.per_cpu";

/// Tensors to memrefs: functions whose tensors come from bufferization.to_tensor and leave by
/// bufferization.materialize_in_destination. Kernels write into the destinations themselves.
void buildBufferizationPipeline(OpPassManager &manager);

/// Bufferized functions with rows.kernel, linalg, scf … to the LLVM dialect; nothing else and no library call is left,
/// or an error says what.
void buildCPULoweringPipeline(OpPassManager &manager, const CPUTarget &target);

/// Registers the passes and, as `resid-bufferize` and `resid-lower-to-cpu`, the pipelines.
void registerCPUPassesAndPipelines();

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_PASSES_H
