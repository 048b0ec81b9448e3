// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces math functions by arithmetic that needs no library, and names what cannot be replaced.

#include "codegen/cpu/MathFunctions.h"
#include "codegen/cpu/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_EXPANDMATH
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;

namespace {

using EmitFunction = Value (*)(OpBuilder &, Location, Value);

template <typename OpTy, EmitFunction emit> struct ExpandFunction : public OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64())
      return rewriter.notifyMatchFailure(op, "expected f32 or f64");
    rewriter.replaceOp(op, emit(rewriter, op.getLoc(), op.getOperand()));
    return success();
  }
};

/// 1/sqrt(x), each operation rounded.
Value emitReciprocalSquareRoot(OpBuilder &builder, Location loc, Value x) {
  TypedAttr one = builder.getFloatAttr(getElementTypeOrSelf(x.getType()), 1.0);
  if (auto shaped = dyn_cast<ShapedType>(x.getType()))
    one = DenseElementsAttr::get(shaped, ArrayRef<Attribute>(one));
  Value numerator = arith::ConstantOp::create(builder, loc, one);
  return arith::DivFOp::create(builder, loc, numerator, math::SqrtOp::create(builder, loc, x));
}

struct SplitFMA : public OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FmaOp op, PatternRewriter &rewriter) const override {
    Value product = arith::MulFOp::create(rewriter, op.getLoc(), op.getA(), op.getB());
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, product, op.getC());
    return success();
  }
};

/// Operations that are instructions, or short sequences of them, on every supported target.
bool isInstruction(Operation *op, bool hasFMA) {
  if (isa<math::FmaOp>(op))
    return hasFMA;
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp, math::CtPopOp,
             math::CountTrailingZerosOp, math::FloorOp, math::IsFiniteOp, math::IsInfOp, math::IsNaNOp,
             math::IsNormalOp, math::RoundEvenOp, math::RoundOp, math::SqrtOp, math::TruncOp>(op);
}

bool isApproximatedUpstream(StringRef name) {
  return llvm::is_contained({"math.acos", "math.asin", "math.atan", "math.atan2", "math.cbrt", "math.cos", "math.expm1",
                             "math.log", "math.log1p", "math.log2", "math.sin"},
                            name);
}

struct ExpandMath : public cpu::impl::ExpandMathBase<ExpandMath> {
  using ExpandMathBase::ExpandMathBase;

  void runOnOperation() override {
    SmallVector<Operation *> functions;
    getOperation()->walk([&](Operation *op) {
      if (isFunction(op))
        functions.push_back(op);
    });
    if (failed(expand(functions)) || failed(checkNoCallIsLeft()))
      signalPassFailure();
  }

  bool isFunction(Operation *op) const {
    return isa_and_present<math::MathDialect>(op->getDialect()) && !isInstruction(op, hasFMA);
  }

  /// Rewrites `functions` and what they become, and visits nothing else: most programs are kernels without any.
  LogicalResult expand(ArrayRef<Operation *> functions) {
    if (functions.empty())
      return success();
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<ExpandFunction<math::ExpOp, cpu::emitExp>, ExpandFunction<math::TanhOp, cpu::emitTanh>,
                 ExpandFunction<math::ErfOp, cpu::emitErf>, ExpandFunction<math::RsqrtOp, emitReciprocalSquareRoot>>(
        context, /*benefit=*/2);
    if (!hasFMA)
      patterns.add<SplitFMA>(context);
    populateMathPolynomialApproximationPatterns(patterns, isApproximatedUpstream);
    math::populateExpansionPatterns(
        patterns, {"acosh", "asinh", "atanh", "clampf", "cosh", "exp2", "fpowi", "powf", "sinh", "tan"});
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    return applyOpPatternsGreedily(functions, std::move(patterns), config);
  }

  LogicalResult checkNoCallIsLeft() {
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (!isFunction(op) && !isa<arith::RemFOp>(op))
        return WalkResult::advance();
      op->emitOpError("on ") << op->getResult(0).getType() << " is not available on CPU targets";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
