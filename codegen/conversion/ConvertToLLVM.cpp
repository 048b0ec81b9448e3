// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One conversion of all that is left beside structured loops to the LLVM dialect. A pass per dialect would walk, and
// rewrite the casts between what is converted and what is not yet, as often as there are dialects.

#include "codegen/conversion/Passes.h"
#include "codegen/kernels/ArgumentBuffers.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"

namespace mlir::resid::conversion {
#define GEN_PASS_DEF_CONVERTTOLLVM
#include "codegen/conversion/Passes.h.inc"
} // namespace mlir::resid::conversion

using namespace mlir;
using namespace mlir::resid;

namespace {

/// Kernels use no vector op but the broadcast of a scalar, which LLVM has; others need passes that break them down.
bool isBrokenDown(Operation *op) {
  if (!isa_and_present<vector::VectorDialect>(op->getDialect()))
    return true;
  auto broadcast = dyn_cast<vector::BroadcastOp>(op);
  return broadcast && !isa<VectorType>(broadcast.getSourceType()) && broadcast.getResultVectorType().getRank() == 1;
}

struct ConvertToLLVM : public conversion::impl::ConvertToLLVMBase<ConvertToLLVM> {
  void runOnOperation() override {
    kernels::createArgumentDescriptors(getOperation());
    OpPassManager preparation = buildPreparation();
    if (failed(runPipeline(preparation, getOperation())) || failed(convert()))
      signalPassFailure();
  }

  OpPassManager buildPreparation() {
    bool breaksDown = false;
    getOperation().walk([&](Operation *op) { breaksDown |= !isBrokenDown(op); });
    OpPassManager manager(ModuleOp::getOperationName());
    if (breaksDown)
      manager.addPass(createConvertVectorToSCFPass());
    manager.addPass(createSCFToControlFlowPass());
    if (breaksDown)
      manager.addPass(createConvertVectorToLLVMPass());
    return manager;
  }

  LogicalResult convert() {
    MLIRContext *context = &getContext();
    LLVMTypeConverter types(context);
    RewritePatternSet patterns(context);
    SymbolTableCollection symbols;
    populateVectorToLLVMConversionPatterns(types, patterns);
    populateMathToLLVMConversionPatterns(types, patterns);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(types, patterns, &symbols);
    populateFuncToLLVMConversionPatterns(types, patterns, &symbols);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    cf::populateAssertToLLVMConversionPattern(types, patterns, /*abortOnFailure=*/true, &symbols);
    index::populateIndexToLLVMConversionPatterns(types, patterns);
    ub::populateUBToLLVMConversionPatterns(types, patterns);
    LLVMConversionTarget target(*context);
    // What folds has been folded. Patterns that change ops and then fail, which rollback is for, there are none.
    ConversionConfig config;
    config.foldingMode = DialectConversionFoldingMode::Never;
    config.allowPatternRollback = false;
    return applyPartialConversion(getOperation(), target, std::move(patterns), config);
  }
};

} // namespace
