// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RESID_CODEGEN_BOUNDARY_PASSES_H
#define RESID_CODEGEN_BOUNDARY_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/Pass.h"

namespace mlir::resid::boundary {

#define GEN_PASS_DECL
#include "codegen/boundary/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/boundary/Passes.h.inc"

// Helpers of exported functions have a dot in their names, which C identifiers, and so exported functions, never have.

/// What the name of a function's implementation ends with.
constexpr llvm::StringLiteral kImplementationSuffix = ".impl";
/// What the name of the function that computes a function's scratch bytes ends with.
constexpr llvm::StringLiteral kScratchSuffix = ".scratch";
/// After the name of F: the function that loads the kernels of a GPU ahead of calls.
constexpr llvm::StringLiteral kPreloadSuffix = "_preload";
/// The attribute on an implementation that names the function which computes its scratch bytes.
constexpr llvm::StringLiteral kScratchAttribute = "resid.scratch";

} // namespace mlir::resid::boundary

#endif // RESID_CODEGEN_BOUNDARY_PASSES_H
