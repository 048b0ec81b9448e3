// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes and registrations of the rows dialect.

#ifndef RESID_CODEGEN_ROWS_PASSES_H
#define RESID_CODEGEN_ROWS_PASSES_H

#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace mlir::resid::rows {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/rows/Passes.h.inc"

/// Attributes of kernels that were formed with `record`: the row program as text, and an array of dictionaries with the
/// reason and the two locations of each refusal.
constexpr llvm::StringLiteral kProgramAttribute = "rows.program", kRefusalsAttribute = "rows.refusals";
constexpr llvm::StringLiteral kReasonKey = "reason", kOpKey = "op", kOtherKey = "other";

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_PASSES_H
