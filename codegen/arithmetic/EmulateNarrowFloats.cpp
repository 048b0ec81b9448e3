// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on bf16 and f16 in f32, and from conversions between floats the permission to be skipped. Kernels convert
// by themselves, so that programs of kernels alone pay for one walk.

#include "codegen/arithmetic/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"

namespace mlir::resid::arithmetic {
#define GEN_PASS_DEF_EMULATENARROWFLOATS
#include "codegen/arithmetic/Passes.h.inc"
} // namespace mlir::resid::arithmetic

using namespace mlir;
using namespace mlir::resid;

namespace {

bool needsEmulation(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType>(element) && !element.isF32() && !element.isF64();
}

/// Whether the upstream passes may have to rewrite `op`.
bool computesOnNarrowFloats(Operation *op) {
  if (!isa_and_present<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      isa<arith::BitcastOp, arith::ConstantOp, arith::ExtFOp, arith::TruncFOp>(op))
    return false;
  return llvm::any_of(op->getOperandTypes(), needsEmulation) || llvm::any_of(op->getResultTypes(), needsEmulation);
}

/// The fast-math flags of conversions go before anything folds.
void keepRoundings(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto extension = dyn_cast<arith::ExtFOp>(op))
      extension.removeFastmathAttr();
    else if (auto truncation = dyn_cast<arith::TruncFOp>(op))
      truncation.removeFastmathAttr();
  });
}

/// Upstream leaves fma as it is. It too is computed in f32 and rounded once more.
void widen(math::FmaOp op) {
  OpBuilder builder(op);
  Type type = op.getType(), wide = builder.getF32Type();
  if (auto shaped = dyn_cast<ShapedType>(type))
    wide = shaped.clone(wide);
  auto extend = [&](Value value) -> Value { return arith::ExtFOp::create(builder, op.getLoc(), wide, value); };
  Value result = math::FmaOp::create(builder, op.getLoc(), extend(op.getA()), extend(op.getB()), extend(op.getC()),
                                     op.getFastmath());
  op.replaceAllUsesWith(arith::TruncFOp::create(builder, op.getLoc(), type, result).getResult());
  op.erase();
}

struct EmulateNarrowFloats : public arithmetic::impl::EmulateNarrowFloatsBase<EmulateNarrowFloats> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    WalkResult result = module.walk(
        [](Operation *op) { return computesOnNarrowFloats(op) ? WalkResult::interrupt() : WalkResult::advance(); });
    if (result.wasInterrupted() && failed(emulate(module)))
      return signalPassFailure();
    keepRoundings(module);
  }

  LogicalResult emulate(ModuleOp module) {
    arith::ArithEmulateUnsupportedFloatsOptions options;
    options.sourceTypeStrs = {"bf16", "f16"};
    OpPassManager arithmetic(ModuleOp::getOperationName()), functions(ModuleOp::getOperationName());
    arithmetic.addPass(arith::createArithEmulateUnsupportedFloats(options));
    functions.addPass(math::createMathExtendToSupportedTypes());
    if (failed(runPipeline(arithmetic, module)))
      return failure();
    keepRoundings(module);
    module.walk([](math::FmaOp op) {
      if (needsEmulation(op.getType()))
        widen(op);
    });
    return runPipeline(functions, module);
  }
};

} // namespace
