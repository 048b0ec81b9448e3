// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last check before the translation to LLVM IR: only LLVM operations, no undefined function, private ones internal.

#include "codegen/cpu/Passes.h"
#include "codegen/kernels/DisjointBuffers.h"

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_FINISHLLVMMODULE
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;

namespace {

/// The functions that generated objects may import.
bool isAllowedImport(StringRef name) {
  return name == "memcpy" || name == "memset" || name == "memmove" || name == "getauxval" ||
         name.starts_with("resid_cuda_");
}

/// Casts between types that a left-over operation needs are reported only where they are all that is left.
LogicalResult checkOperations(ModuleOp module) {
  Operation *leftOver = nullptr;
  module.walk([&](Operation *op) {
    bool isLLVM = op == module.getOperation() || isa_and_present<LLVM::LLVMDialect>(op->getDialect());
    if (!isLLVM && (!leftOver || isa<UnrealizedConversionCastOp>(leftOver)))
      leftOver = op;
  });
  if (!leftOver)
    return success();
  return leftOver->emitOpError("is not available on CPU targets: expected an op that has a form in machine code");
}

LogicalResult finishFunction(LLVM::LLVMFuncOp function, ModuleOp module) {
  // Known to the passes on kernels; LLVM would warn of it.
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
    function.removeArgAttr(argument, kernels::kTemporaryAttribute);
  if (!function.isExternal()) {
    if (function.isPrivate())
      function.setLinkage(LLVM::Linkage::Internal);
    return success();
  }
  // What is hidden belongs to this object: its body comes when the module is LLVM's.
  if (function.getVisibility_() == LLVM::Visibility::Hidden)
    return success();
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(function, module);
  if (uses && uses->empty()) {
    function.erase();
    return success();
  }
  if (isAllowedImport(function.getName()) || function->hasAttr(cpu::kPerCPUAttribute))
    return success();
  return function.emitError("expected code that needs no library, but it calls '") << function.getName() << "'";
}

struct FinishLLVMModule : public cpu::impl::FinishLLVMModuleBase<FinishLLVMModule> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkOperations(module)))
      return signalPassFailure();
    for (auto function : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>()))
      if (failed(finishFunction(function, module)))
        signalPassFailure();
  }
};

} // namespace
