// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces math functions by arithmetic that needs no library, and names what cannot be replaced.

#include "codegen/arithmetic/MathFunctions.h"
#include "codegen/arithmetic/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::resid::arithmetic {
#define GEN_PASS_DEF_EXPANDMATH
#include "codegen/arithmetic/Passes.h.inc"
} // namespace mlir::resid::arithmetic

using namespace mlir;
using namespace mlir::resid;

namespace {

using EmitFunction = Value (*)(Code &, Value);

template <typename OpTy, EmitFunction emit> struct ExpandFunction : public OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64())
      return rewriter.notifyMatchFailure(op, "expected f32 or f64");
    Code code(rewriter, op.getLoc());
    rewriter.replaceOp(op, emit(code, op.getOperand()));
    return success();
  }
};

/// Computes in f64, and rounds to f32 where that is the result: two roundings, of which the first hardly ever matters.
struct InDouble {
  InDouble(PatternRewriter &rewriter, Operation *op, bool hasFMA)
      : code(rewriter, op->getLoc(), hasFMA), element(getElementTypeOrSelf(op->getResult(0))),
        precision(element.isF64() ? arithmetic::Precision::Double : arithmetic::Precision::Single) {}

  Value widen(Value value) { return code.castFloat(value, code.getF64Type()); }
  Value round(Value value) { return code.castFloat(value, element); }

  Code code;
  Type element;
  arithmetic::Precision precision;
};

template <typename OpTy> struct ExpandInDouble : public OpRewritePattern<OpTy> {
  ExpandInDouble(MLIRContext *context, bool hasFMA) : OpRewritePattern<OpTy>(context), hasFMA(hasFMA) {}

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64())
      return rewriter.notifyMatchFailure(op, "expected f32 or f64");
    InDouble in(rewriter, op, hasFMA);
    rewriter.replaceOp(op, in.round(emit(op, in)));
    return success();
  }

protected:
  virtual Value emit(OpTy op, InDouble &in) const = 0;

private:
  bool hasFMA;
};

template <typename OpTy, arithmetic::UnaryFunction function> struct ExpandUnary : public ExpandInDouble<OpTy> {
  using ExpandInDouble<OpTy>::ExpandInDouble;
  Value emit(OpTy op, InDouble &in) const override {
    return function(in.code, in.widen(op.getOperand()), in.precision);
  }
};

struct ExpandAtan2 : public ExpandInDouble<math::Atan2Op> {
  using ExpandInDouble::ExpandInDouble;
  Value emit(math::Atan2Op op, InDouble &in) const override {
    return arithmetic::emitAtan2(in.code, in.widen(op.getLhs()), in.widen(op.getRhs()), in.precision);
  }
};

/// Exact, so the result fits into the type; without a fused multiply-add only where that is f32.
struct ExpandRemF : public OpRewritePattern<arith::RemFOp> {
  ExpandRemF(MLIRContext *context, bool hasFMA) : OpRewritePattern(context), hasFMA(hasFMA) {}

  LogicalResult matchAndRewrite(arith::RemFOp op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !(element.isF64() && hasFMA))
      return rewriter.notifyMatchFailure(op, "expected f32, or f64 and a fused multiply-add");
    InDouble in(rewriter, op, hasFMA);
    rewriter.replaceOp(
        op, in.round(arithmetic::emitRemainder(in.code, in.widen(op.getLhs()), in.widen(op.getRhs()), in.precision)));
    return success();
  }

private:
  bool hasFMA;
};

struct ExpandPowF : public ExpandInDouble<math::PowFOp> {
  using ExpandInDouble::ExpandInDouble;
  Value emit(math::PowFOp op, InDouble &in) const override {
    return arithmetic::emitPow(in.code, in.widen(op.getLhs()), in.widen(op.getRhs()), /*isOdd=*/Value(), in.precision);
  }
};

/// The exponent as a float may be even where the integer is odd, so that its last bit is asked.
struct ExpandFPowI : public ExpandInDouble<math::FPowIOp> {
  using ExpandInDouble::ExpandInDouble;
  Value emit(math::FPowIOp op, InDouble &in) const override {
    Value power = op.getRhs();
    Value exponent = in.code.create<arith::SIToFPOp>(Code::withShape(power, in.code.getF64Type()), power);
    Type bit = Code::withShape(power, in.code.getI1Type());
    Value isOdd = power.getType() == bit ? power : Value(in.code.create<arith::TruncIOp>(bit, power));
    return arithmetic::emitPow(in.code, in.widen(op.getLhs()), exponent, isOdd, in.precision);
  }
};

/// 1/sqrt(x), each operation rounded.
Value emitReciprocalSquareRoot(Code &a, Value x) { return a.divide(1, a.squareRoot(x)); }

/// Upstream's expansion takes the least of the value and the lower end, and so gives the upper end for all values.
struct ExpandClamp : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ClampFOp op, PatternRewriter &rewriter) const override {
    Value raised = arith::MaximumFOp::create(rewriter, op.getLoc(), op.getValue(), op.getMin());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, raised, op.getMax());
    return success();
  }
};

struct SplitFMA : public OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FmaOp op, PatternRewriter &rewriter) const override {
    Value product = arith::MulFOp::create(rewriter, op.getLoc(), op.getA(), op.getB());
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, product, op.getC());
    return success();
  }
};

/// maxnumf and minnumf: a where b is a NaN, else the one that is ahead, b where none is. LLVM's own ops would be calls
/// into a library for what was f16, take +0 for the larger zero on some targets, and lose the last steps of a loop that
/// is vectorised for several of them.
template <typename OpTy, arith::CmpFPredicate isAhead> struct ExpandChoice : public OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value a = op.getLhs(), b = op.getRhs();
    Value ahead = arith::CmpFOp::create(rewriter, loc, isAhead, a, b);
    Value chosen = arith::SelectOp::create(rewriter, loc, ahead, a, b);
    Value isNaN = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::UNO, b, b);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNaN, a, chosen);
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

template <typename OpTy, arithmetic::UnaryFunction function> void addUnary(RewritePatternSet &patterns, bool hasFMA) {
  patterns.add<ExpandUnary<OpTy, function>>(patterns.getContext(), hasFMA);
}

void addFunctionsInDouble(RewritePatternSet &patterns, bool hasFMA) {
  addUnary<math::AcosOp, arithmetic::emitAcos>(patterns, hasFMA);
  addUnary<math::AcoshOp, arithmetic::emitAcosh>(patterns, hasFMA);
  addUnary<math::AsinOp, arithmetic::emitAsin>(patterns, hasFMA);
  addUnary<math::AsinhOp, arithmetic::emitAsinh>(patterns, hasFMA);
  addUnary<math::AtanOp, arithmetic::emitAtan>(patterns, hasFMA);
  addUnary<math::AtanhOp, arithmetic::emitAtanh>(patterns, hasFMA);
  addUnary<math::CbrtOp, arithmetic::emitCbrt>(patterns, hasFMA);
  addUnary<math::CosOp, arithmetic::emitCos>(patterns, hasFMA);
  addUnary<math::CoshOp, arithmetic::emitCosh>(patterns, hasFMA);
  addUnary<math::ErfcOp, arithmetic::emitErfc>(patterns, hasFMA);
  addUnary<math::Exp2Op, arithmetic::emitExp2>(patterns, hasFMA);
  addUnary<math::ExpM1Op, arithmetic::emitExpM1>(patterns, hasFMA);
  addUnary<math::LogOp, arithmetic::emitLog>(patterns, hasFMA);
  addUnary<math::Log10Op, arithmetic::emitLog10>(patterns, hasFMA);
  addUnary<math::Log1pOp, arithmetic::emitLog1p>(patterns, hasFMA);
  addUnary<math::Log2Op, arithmetic::emitLog2>(patterns, hasFMA);
  addUnary<math::SinOp, arithmetic::emitSin>(patterns, hasFMA);
  addUnary<math::SinhOp, arithmetic::emitSinh>(patterns, hasFMA);
  addUnary<math::TanOp, arithmetic::emitTan>(patterns, hasFMA);
  patterns.add<ExpandAtan2, ExpandFPowI, ExpandPowF, ExpandRemF>(patterns.getContext(), hasFMA);
}

struct ExpandMath : public arithmetic::impl::ExpandMathBase<ExpandMath> {
  using ExpandMathBase::ExpandMathBase;

  void runOnOperation() override {
    SmallVector<Operation *> functions, quotients;
    getOperation()->walk([&](Operation *op) {
      if (isFunction(op))
        functions.push_back(op);
      else if (hasFMA && arithmetic::isSharedRoundedQuotient(op))
        quotients.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *quotient : quotients) {
      rewriter.setInsertionPoint(quotient);
      rewriter.replaceOp(quotient, arithmetic::emitSharedRoundedQuotient(rewriter, quotient));
    }
    if (failed(expand(functions)) || failed(checkNoCallIsLeft()))
      signalPassFailure();
  }

  bool isFunction(Operation *op) const {
    return isa<arith::MaxNumFOp, arith::MinNumFOp, arith::RemFOp>(op) ||
           (isa_and_present<math::MathDialect>(op->getDialect()) && !isInstruction(op, hasFMA));
  }

  /// Rewrites `functions` and what they become, and visits nothing else: most programs are kernels without any.
  LogicalResult expand(ArrayRef<Operation *> functions) {
    if (functions.empty())
      return success();
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns
        .add<ExpandFunction<math::ExpOp, arithmetic::emitExp>, ExpandFunction<math::TanhOp, arithmetic::emitTanh>,
             ExpandFunction<math::ErfOp, arithmetic::emitErf>, ExpandFunction<math::RsqrtOp, emitReciprocalSquareRoot>>(
            context, /*benefit=*/2);
    if (!hasFMA)
      patterns.add<SplitFMA>(context);
    patterns.add<ExpandChoice<arith::MaxNumFOp, arith::CmpFPredicate::OGT>,
                 ExpandChoice<arith::MinNumFOp, arith::CmpFPredicate::OLT>>(context);
    addFunctionsInDouble(patterns, hasFMA);
    patterns.add<ExpandClamp>(context);
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    return applyOpPatternsGreedily(functions, std::move(patterns), config);
  }

  LogicalResult checkNoCallIsLeft() {
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (!isFunction(op))
        return WalkResult::advance();
      op->emitOpError("on ") << op->getResult(0).getType() << " is not available on any target";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
