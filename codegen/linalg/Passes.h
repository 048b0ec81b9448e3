// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes from resid to linalg and around it, and the pipeline from resid ops to row kernels, both on tensors.

#ifndef RESID_CODEGEN_LINALG_PASSES_H
#define RESID_CODEGEN_LINALG_PASSES_H

#include "codegen/attention/AttentionDialect.h"
#include "codegen/contractions/Passes.h"
#include "codegen/rows/Passes.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace mlir::resid {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/linalg/Passes.h.inc"

/// From resid ops and the elementwise ops around them, on tensors, to rows.kernel on tensors. What is not row-wise
/// stays as it is. Ends with a check: afterwards no resid op and no op on whole tensors of the rows dialect is left.
/// `options` and `contractions` are those of the passes that form kernels.
void buildRowKernelPipeline(OpPassManager &pm, const rows::FormKernelsOptions &options = {},
                            const contraction::FormContractionsOptions &contractions = {});

/// Makes the passes named above and the pipeline resid-row-kernels known by name.
void registerRowKernelPasses();

} // namespace mlir::resid

#endif // RESID_CODEGEN_LINALG_PASSES_H
