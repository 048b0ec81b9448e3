// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines each contraction.kernel into functions, which equal kernels share, and calls them.

#include "codegen/cpu/Passes.h"
#include "codegen/cpu/contractions/ContractionFunctions.h"
#include <deque>

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_LOWERCONTRACTIONS
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

namespace {
struct LowerContractions : public cpu::impl::LowerContractionsBase<LowerContractions> {
  using LowerContractionsBase::LowerContractionsBase;

  void runOnOperation() override {
    SmallVector<contraction::KernelOp> kernels;
    getOperation().walk([&](contraction::KernelOp kernel) { kernels.push_back(kernel); });
    FailureOr<CPUTarget> target = readCPUTarget(getOperation(), vectorBits, isX86, schedule);
    if (failed(target))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    MicroKernels microKernels(symbols);
    std::deque<ContractionFunctions> codes;
    std::vector<std::pair<ContractionUse, ContractionFunctions *>> uses;
    for (contraction::KernelOp kernel : kernels) {
      FailureOr<ContractionUse> use = ContractionUse::prepare(kernel);
      if (failed(use))
        return signalPassFailure();
      auto known = llvm::find_if(codes, [&](ContractionFunctions &code) { return code.getFirst().isLike(*use); });
      ContractionFunctions *code =
          known != codes.end() ? &*known : &codes.emplace_back(*use, symbols, *target, microKernels);
      uses.emplace_back(std::move(*use), code);
    }
    for (ContractionFunctions &code : codes)
      code.outline();
    for (auto &[use, code] : uses)
      code->emitCalls(use);
    for (contraction::KernelOp kernel : kernels)
      kernel.erase();
  }
};
} // namespace
