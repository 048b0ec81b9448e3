// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that turn arithmetic into what every target has; see Passes.td. They know neither kernels nor targets.

#ifndef RESID_CODEGEN_ARITHMETIC_PASSES_H
#define RESID_CODEGEN_ARITHMETIC_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::resid::arithmetic {

#define GEN_PASS_DECL
#include "codegen/arithmetic/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/arithmetic/Passes.h.inc"

} // namespace mlir::resid::arithmetic

#endif // RESID_CODEGEN_ARITHMETIC_PASSES_H
