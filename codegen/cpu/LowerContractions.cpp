// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines each contraction.kernel into functions, which equal kernels share, and calls them.

#include "codegen/cpu/KernelPass.h"
#include "codegen/cpu/blocks/RowBlockCalls.h"
#include "llvm/ADT/MapVector.h"
#include <deque>

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_LOWERCONTRACTIONS
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

namespace {
struct LowerContractions : KernelPass<cpu::impl::LowerContractionsBase<LowerContractions>> {
  using KernelPass::KernelPass;

  LogicalResult lower(const CPUTarget &target) override {
    SmallVector<contraction::RowBlocksOp> groups;
    getOperation().walk([&](contraction::RowBlocksOp blocks) { groups.push_back(blocks); });
    llvm::MapVector<Operation *, RowBlockCalls> blocksOfProducts;
    for (contraction::RowBlocksOp group : groups) {
      Operation *product = group.getProduct();
      blocksOfProducts.try_emplace(product, group);
    }
    SmallVector<contraction::KernelOp> kernels;
    getOperation().walk([&](contraction::KernelOp kernel) { kernels.push_back(kernel); });
    SymbolTable symbols(getOperation());
    MicroKernels microKernels(symbols);
    RowKernels rowKernels(symbols, target);
    std::deque<ContractionFunctions> codes;
    std::vector<std::pair<ContractionUse, ContractionFunctions *>> uses;
    for (contraction::KernelOp kernel : kernels) {
      FailureOr<ContractionUse> use = ContractionUse::prepare(kernel);
      if (failed(use))
        return failure();
      auto known = llvm::find_if(codes, [&](ContractionFunctions &code) { return code.getFirst().isLike(*use); });
      ContractionFunctions *code =
          known != codes.end() ? &*known : &codes.emplace_back(*use, symbols, target, microKernels);
      uses.emplace_back(std::move(*use), code);
    }
    for (auto &[product, blocks] : blocksOfProducts)
      if (failed(blocks.prepare(rowKernels)))
        return failure();
    for (ContractionFunctions &code : codes)
      code.outline();
    rowKernels.outline();
    for (auto &[use, code] : uses) {
      auto blocks = blocksOfProducts.find(use.kernel);
      if (blocks == blocksOfProducts.end())
        code->emitCalls(use);
      else
        blocks->second.emitCalls(use, *code, rowKernels, target.schedule.table.productRowBlocks);
    }
    for (auto &[product, blocks] : blocksOfProducts)
      blocks.eraseRowKernels();
    for (contraction::KernelOp kernel : kernels)
      kernel.erase();
    return success();
  }
};
} // namespace
