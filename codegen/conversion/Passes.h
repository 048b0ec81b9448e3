// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RESID_CODEGEN_CONVERSION_PASSES_H
#define RESID_CODEGEN_CONVERSION_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::resid::conversion {

#define GEN_PASS_DECL
#include "codegen/conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/conversion/Passes.h.inc"

} // namespace mlir::resid::conversion

#endif // RESID_CODEGEN_CONVERSION_PASSES_H
