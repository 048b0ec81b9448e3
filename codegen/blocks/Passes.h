// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Putting kernels together that may run by blocks of rows. Not: whether a target does run them so.

#ifndef RESID_CODEGEN_BLOCKS_PASSES_H
#define RESID_CODEGEN_BLOCKS_PASSES_H

#include "codegen/contractions/ContractionDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::resid::blocks {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/blocks/Passes.h.inc"

/// At a product, with `record`: why a row kernel at its side does not run by blocks of rows with it.
inline constexpr llvm::StringLiteral kRowBlocksRefusal = "contraction.row_blocks_refusal";

} // namespace mlir::resid::blocks

#endif // RESID_CODEGEN_BLOCKS_PASSES_H
