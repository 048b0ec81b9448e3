// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines each attention.kernel and attention.backward into a function, which equal kernels share, and calls it.

#include "codegen/cpu/KernelPass.h"
#include "codegen/cpu/attention/AttentionFunctions.h"
#include <deque>

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_LOWERATTENTION
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

namespace {
struct LowerAttention : KernelPass<cpu::impl::LowerAttentionBase<LowerAttention>> {
  using KernelPass::KernelPass;

  LogicalResult lower(const CPUTarget &target) override {
    SmallVector<Operation *> kernels;
    getOperation().walk([&](Operation *op) {
      if (isa<attention::KernelOp, attention::BackwardOp>(op))
        kernels.push_back(op);
    });
    SymbolTable symbols(getOperation());
    MicroKernels microKernels(symbols);
    std::deque<AttentionFunction> functions;
    std::vector<std::pair<AttentionUse, AttentionFunction *>> uses;
    for (Operation *kernel : kernels) {
      auto backward = dyn_cast<attention::BackwardOp>(kernel);
      FailureOr<AttentionUse> use =
          backward ? AttentionUse::prepare(backward) : AttentionUse::prepare(cast<attention::KernelOp>(kernel));
      if (failed(use))
        return failure();
      auto known =
          llvm::find_if(functions, [&](AttentionFunction &code) { return code.getFirst().shape.isLike(use->shape); });
      AttentionFunction *code =
          known != functions.end() ? &*known : &functions.emplace_back(*use, symbols, target, microKernels);
      uses.emplace_back(std::move(*use), code);
    }
    for (AttentionFunction &code : functions)
      code.outline();
    for (auto &[use, code] : uses)
      code->emitCalls(use);
    for (Operation *kernel : kernels)
      kernel->erase();
    return success();
  }
};
} // namespace
