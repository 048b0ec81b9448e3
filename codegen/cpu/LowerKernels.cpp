// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines each rows.kernel into functions over a range of rows, and calls what this call of the kernel needs.

#include "codegen/contractions/ContractionDialect.h"
#include "codegen/cpu/KernelPass.h"
#include "codegen/cpu/rows/RowCalls.h"

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_LOWERKERNELS
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

namespace {

struct LowerKernels : KernelPass<cpu::impl::LowerKernelsBase<LowerKernels>> {
  using KernelPass::KernelPass;

  LogicalResult lower(const CPUTarget &target) override {
    SmallVector<rows::KernelOp> kernels;
    getOperation().walk([&](rows::KernelOp kernel) {
      if (!isa<contraction::RowBlocksOp>(kernel->getParentOp()))
        kernels.push_back(kernel);
    });
    SymbolTable symbols(getOperation());
    RowKernels lowering(symbols, target);
    std::vector<RowCall> calls;
    for (rows::KernelOp kernel : kernels) {
      FailureOr<RowCall> call = lowering.add(kernel);
      if (failed(call))
        return failure();
      calls.push_back(std::move(*call));
    }
    lowering.outline();
    for (RowCall &call : calls)
      lowering.emitCalls(call);
    for (rows::KernelOp kernel : kernels)
      kernel.erase();
    return success();
  }
};

} // namespace
