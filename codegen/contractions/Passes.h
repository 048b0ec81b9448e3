// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes and registrations of the contraction dialect.

#ifndef RESID_CODEGEN_CONTRACTIONS_PASSES_H
#define RESID_CODEGEN_CONTRACTIONS_PASSES_H

#include "codegen/contractions/ContractionDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace mlir::resid::contraction {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/contractions/Passes.h.inc"

} // namespace mlir::resid::contraction

#endif // RESID_CODEGEN_CONTRACTIONS_PASSES_H
