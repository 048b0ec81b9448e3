// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last check before the translation to LLVM IR, and the marks that make functions kernels.

#include "codegen/cuda/Passes.h"
#include "codegen/cuda/rows/Shuffles.h"

namespace mlir::resid::cuda {
#define GEN_PASS_DEF_FINISHDEVICEMODULE
#include "codegen/cuda/Passes.h.inc"
} // namespace mlir::resid::cuda

using namespace mlir;
using namespace mlir::resid;

namespace {

bool isOfDevice(Operation *op) {
  return isa<ModuleOp>(op) || isa_and_present<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect());
}

/// All operations that are left over are named, each place once. Casts between types that they need are reported only
/// where they are all that is left.
LogicalResult checkOperations(ModuleOp module) {
  SmallVector<Operation *> leftOver;
  module.walk([&](Operation *op) {
    if (!isOfDevice(op))
      leftOver.push_back(op);
  });
  auto isCast = [](Operation *op) { return isa<UnrealizedConversionCastOp>(op); };
  if (llvm::all_of(leftOver, isCast))
    leftOver.truncate(std::min<size_t>(1, leftOver.size()));
  else
    llvm::erase_if(leftOver, isCast);
  llvm::SetVector<std::pair<StringRef, Location>> named;
  for (Operation *op : leftOver)
    if (named.insert({op->getName().getStringRef(), op->getLoc()}))
      op->emitOpError("is not available on CUDA targets: expected an op that has a form in PTX");
  return failure(!leftOver.empty());
}

/// Blocks of threads that a processor of a chip has room for: each of its four parts has registers for its own warps.
/// ptxas takes some bytes of memory instead of registers where that makes room for one more block, unless a kernel says
/// how many there should be room for.
int32_t countBlocks(int64_t threads, int64_t registers) {
  constexpr int64_t parts = 4, partRegisters = 16384;
  int64_t warps = parts * (partRegisters / (cuda::kWarpThreads * registers));
  return int32_t(std::max<int64_t>(1, warps / llvm::divideCeil(threads, cuda::kWarpThreads)));
}

LogicalResult finishFunction(LLVM::LLVMFuncOp function) {
  if (function.isExternal())
    return function.emitError("expected code that needs no library, but it calls '") << function.getName() << "'";
  auto threads = dyn_cast_or_null<IntegerAttr>(function->removeDiscardableAttr(cuda::kKernelAttribute));
  if (!threads) {
    function.setLinkage(LLVM::Linkage::Internal);
    return success();
  }
  function->removeDiscardableAttr(cuda::kNumberAttribute);
  function.setLinkage(LLVM::Linkage::External);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), UnitAttr::get(function.getContext()));
  function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    DenseI32ArrayAttr::get(function.getContext(), {int32_t(threads.getInt())}));
  if (auto registers = dyn_cast_or_null<IntegerAttr>(function->removeDiscardableAttr(cuda::kRegistersAttribute)))
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      Builder(function).getI32IntegerAttr(countBlocks(threads.getInt(), registers.getInt())));
  return success();
}

struct FinishDeviceModule : public cuda::impl::FinishDeviceModuleBase<FinishDeviceModule> {
  void runOnOperation() override {
    if (failed(checkOperations(getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (failed(finishFunction(function)))
        signalPassFailure();
  }
};

} // namespace
