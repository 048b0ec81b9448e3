// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RESID_CODEGEN_CUDA_PASSES_H
#define RESID_CODEGEN_CUDA_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::resid::cuda {

#define GEN_PASS_DECL
#include "codegen/cuda/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/cuda/Passes.h.inc"

/// On a function that a GPU runs: the number of threads of a block (i32).
constexpr llvm::StringLiteral kKernelAttribute = "resid.cuda_kernel";
/// On the same, where it says so: how many registers a thread may have at most (i32).
constexpr llvm::StringLiteral kRegistersAttribute = "resid.cuda_registers";
/// On the same: its number among the kernels of the object (i32).
constexpr llvm::StringLiteral kNumberAttribute = "resid.cuda_number";

/// Functions that a GPU runs, in a module of their own, to the LLVM and NVVM dialects.
void buildDeviceLoweringPipeline(OpPassManager &manager);

/// Registers the passes.
void registerCUDAPasses();

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_PASSES_H
