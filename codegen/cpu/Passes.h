// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes and the pipeline from bufferized functions to LLVM-dialect code for CPUs.

#ifndef RESID_CODEGEN_CPU_PASSES_H
#define RESID_CODEGEN_CPU_PASSES_H

#include "codegen/cpu/choice/CPUTarget.h"
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

/// Bufferized functions with rows.kernel, linalg, scf … to the LLVM dialect; nothing else and no library call is left,
/// or an error says what.
void buildCPULoweringPipeline(OpPassManager &manager, const CPUTarget &target);

/// Registers the passes and, as `resid-lower-to-cpu`, the pipeline.
void registerCPUPassesAndPipelines();

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_PASSES_H
