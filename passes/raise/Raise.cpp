// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-raise: sub-layers, norms and residual connections that are written out become ops of resid.

#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/raise/AttentionBuilder.h"
#include "passes/raise/Forms.h"
#include "passes/raise/LinearForm.h"
#include "passes/raise/Polynomial.h"
#include "passes/raise/ProjectForm.h"
#include "passes/raise/ResidualForm.h"
#include "passes/raise/StreamForm.h"

namespace mlir::resid {
#define GEN_PASS_DEF_RAISE
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// How far a constant of f32 may be from what it stands for, and how far from that it is a mistake, or another
/// function.
static constexpr double kTolerance = 1e-6, kNear = 0.02;

static constexpr const char *kNotItsBits = "equal in real arithmetic, but not in its bits; level=all raises it";

/// Whether an op is the last that puts a tensor together.
static bool isLastInsertion(Operation *op) {
  return isa<tensor::InsertSliceOp>(op) && llvm::none_of(op->getUsers(), llvm::IsaPred<tensor::InsertSliceOp>);
}

/// An op whose result may be the last of a chain: elementwise, a product, or what puts streams together.
static bool isCandidate(Operation *op) {
  auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
  if (!type || !isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type.getElementType()) ||
      type.getRank() == 0 || type.getEncoding())
    return false;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return !isa<linalg::FillOp>(op) && structured.getNumParallelLoops() + 1 >= structured.getNumLoops();
  return isLastInsertion(op) || (isa_and_present<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
                                 OpTrait::hasElementwiseMappableTraits(op));
}

/// Whether the expression has an op that no form is without.
static bool mayHaveForm(const ElementExpression &expression) {
  return expression.contains([](Operation *op) {
    return isa<math::ErfOp, math::TanhOp, math::ExpOp, math::RsqrtOp, math::SqrtOp, arith::MaximumFOp, arith::MaxNumFOp,
               arith::SelectOp>(op);
  });
}

namespace {
struct Raise : resid::impl::RaiseBase<Raise> {
  using RaiseBase::RaiseBase;

  void runOnOperation() override {
    if (level == RaiseLevel::Off)
      return;
    SmallVector<Operation *> candidates;
    getOperation()->walk([&](Operation *op) {
      if (isCandidate(op))
        candidates.push_back(op);
    });
    // The end of a chain comes before its parts, which are then gone.
    for (Operation *op : llvm::reverse(candidates)) {
      if (isOpTriviallyDead(op)) {
        op->erase();
        continue;
      }
      if (auto structured = dyn_cast<linalg::LinalgOp>(op); structured && structured.getNumReductionLoops() != 0) {
        raiseProduct(structured);
        continue;
      }
      if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
        raiseSlices(insert);
        continue;
      }
      ElementExpression expression(op->getResult(0));
      const ElementNode *root = expression.getRoot();
      if (root->kind != ElementNode::Operator || root->tensor != op->getResult(0) ||
          raiseWrite(op, matchStreamWrite(expression)) || raiseRead(op, expression) || raiseProject(op, expression) ||
          raiseLinear(op, expression) || raiseResidual(op, expression))
        continue;
      if (mayHaveForm(expression))
        raise(op, expression);
    }
    eraseDead();
  }

  /// Parts of chains that are no candidates, such as reshapes. Passes that ask who reads a value would see them.
  void eraseDead() {
    getOperation()->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
  }

  void raiseProduct(linalg::LinalgOp op) {
    if (raiseWrite(op, matchStreamMix(op)))
      return;
    if ((level != RaiseLevel::All && !report) || raiseLinear(op, ElementExpression(op->getResult(0))))
      return;
    std::string refusal;
    std::optional<AttentionForm> form = matchAttention(op, refusal);
    if (!form)
      return remarkRefusal(op, "attention", refusal);
    if (level != RaiseLevel::All) {
      op->emitRemark() << "not raised: 'attention' is " << kNotItsBits;
      return;
    }
    emitRemark(op->getLoc()) << "raised (exact in real arithmetic): resid.attention";
    OpBuilder builder(op);
    op->getResult(0).replaceAllUsesWith(buildAttention(builder, *form, kTolerance));
    op->erase();
  }

  /// Whether a form is to be raised at this level. Says so, or why not.
  bool mayRaise(Operation *op, StringRef name, bool isExact) {
    if (!isExact && level != RaiseLevel::All) {
      if (report)
        op->emitRemark() << "not raised: '" << name << "' is " << kNotItsBits;
      return false;
    }
    if (report || !isExact)
      emitRemark(op->getLoc()) << "raised (" << (isExact ? "bit-exact" : "exact in real arithmetic") << "): resid."
                               << name;
    return true;
  }

  /// Puts what `build` makes of a form in the op's place, if there is a form and the level allows it. Whether there is
  /// one; if not, `refusal` is said.
  template <typename FormT>
  bool raiseForm(Operation *op, StringRef name, const std::optional<FormT> &form, StringRef refusal, bool isExact,
                 function_ref<Value(OpBuilder &)> build) {
    if (!form) {
      remarkRefusal(op, name, refusal);
      return false;
    }
    if (!mayRaise(op, name, isExact))
      return true;
    OpBuilder builder(op);
    op->getResult(0).replaceAllUsesWith(build(builder));
    op->erase();
    return true;
  }

  /// Whether the op is a linear layer, raised or not.
  bool raiseLinear(Operation *op, const ElementExpression &expression) {
    std::string refusal;
    std::optional<LinearForm> form = matchLinear(expression, refusal);
    return raiseForm(op, "linear", form, refusal, form && form->isExact, [&](OpBuilder &builder) {
      return buildLinear(builder, op->getLoc(), *form, op->getResult(0).getType());
    });
  }

  /// Whether the op is a read of several streams, raised or not.
  bool raiseRead(Operation *op, const ElementExpression &expression) {
    std::string refusal;
    std::optional<StreamReadForm> form = matchStreamRead(expression, refusal);
    return raiseForm(op, "read", form, refusal, form && form->isExact, [&](OpBuilder &builder) {
      return buildStreamRead(builder, op->getLoc(), *form, op->getResult(0).getType());
    });
  }

  /// Whether the op is a projection of several streams, raised or not.
  bool raiseProject(Operation *op, const ElementExpression &expression) {
    std::string refusal;
    std::optional<ProjectForm> form = matchProject(expression, kTolerance, refusal);
    return raiseForm(op, "project", form, refusal, /*isExact=*/false, [&](OpBuilder &builder) -> Value {
      return ProjectOp::create(builder, op->getLoc(), form->x, form->weight, shorten(form->epsilon))->getResult(0);
    });
  }

  /// Whether the op is a write into several streams, raised or not.
  bool raiseWrite(Operation *op, const std::optional<StreamWriteForm> &form) {
    if (!form || !mayRaise(op, "write", form->isExact))
      return form.has_value();
    OpBuilder builder(op);
    Value result = op->getResult(0);
    result.replaceAllUsesWith(buildStreamWrite(builder, op->getLoc(), *form, result.getType()));
    // What put the streams together before the last of them is no candidate, and would keep them.
    while (op && isOpTriviallyDead(op)) {
      auto insert = dyn_cast<tensor::InsertSliceOp>(op);
      Operation *before = insert ? insert.getDest().getDefiningOp<tensor::InsertSliceOp>() : nullptr;
      op->erase();
      op = before;
    }
    return true;
  }

  void raiseSlices(tensor::InsertSliceOp last) {
    std::string refusal;
    std::optional<StreamWriteForm> form = matchStreamWrite(last, refusal);
    if (!raiseWrite(last, form))
      remarkRefusal(last, "write", refusal);
  }

  bool raiseResidual(Operation *op, const ElementExpression &expression) {
    std::optional<ResidualForm> form = matchResidual(expression);
    if (!form)
      return false;
    if (report)
      emitRemark(op->getLoc()) << "raised (bit-exact): resid.add";
    OpBuilder builder(op);
    op->getResult(0).replaceAllUsesWith(buildResidual(builder, op->getLoc(), *form));
    op->erase();
    return true;
  }

  void remarkRefusal(Operation *op, StringRef name, StringRef refusal) {
    if (report && level == RaiseLevel::All && !refusal.empty())
      op->emitRemark() << "not raised: '" << name << "' is nearly that, but " << refusal;
  }

  void raise(Operation *op, const ElementExpression &expression) {
    if (std::optional<ActivationForm> form = matchExactActivation(expression))
      return replaceByActivation(op, *form, "bit-exact");
    if (level != RaiseLevel::All) {
      if (report)
        remarkNear(op, expression, kTolerance, kNotItsBits);
      return;
    }
    if (std::optional<ActivationForm> form = matchActivation(expression, kTolerance))
      return replaceByActivation(op, *form, "exact in real arithmetic");
    if (std::optional<NormForm> form = matchNorm(expression, kTolerance))
      return replaceByNorm(op, *form);
    if (report)
      remarkNear(op, expression, kNear, "nearly that, but with another constant");
  }

  void remarkNear(Operation *op, const ElementExpression &expression, double tolerance, StringRef how) {
    if (std::optional<ActivationForm> form = matchActivation(expression, tolerance))
      op->emitRemark() << "not raised: '" << stringifyActivationKind(form->kind) << "' is " << how;
    else if (std::optional<NormForm> form = matchNorm(expression, tolerance))
      op->emitRemark() << "not raised: '" << stringifyNormKind(form->kind) << "_norm' is " << how;
  }

  void replaceByActivation(Operation *op, const ActivationForm &form, StringRef effect) {
    if (report || effect != "bit-exact")
      emitRemark(op->getLoc()) << "raised (" << effect << "): resid.activation " << stringifyActivationKind(form.kind);
    OpBuilder builder(op);
    replace(op,
            ActivationOp::create(builder, op->getLoc(), form.kind, form.x->whole, form.up ? form.up->whole : Value()));
  }

  void replaceByNorm(Operation *op, const NormForm &form) {
    emitRemark(op->getLoc()) << "raised (exact in real arithmetic): resid." << stringifyNormKind(form.kind) << "_norm";
    OpBuilder builder(op);
    NormParts parts;
    parts.kind = form.kind;
    parts.x = form.x->whole;
    parts.gamma = form.gamma ? form.gamma->tensor : Value();
    parts.beta = form.beta ? form.beta->tensor : Value();
    parts.epsilon = builder.getF64FloatAttr(shorten(form.epsilon));
    parts.normRank = builder.getI64IntegerAttr(form.gamma ? 1 : form.rank);
    parts.zeroCenteredGamma = parts.narrowAffine = false;
    parts.rank = form.rank;
    replace(op, createNorm(builder, op->getLoc(), parts, parts.x, op->getResult(0).getType()));
  }

  static void replace(Operation *op, Operation *raised) {
    op->getResult(0).replaceAllUsesWith(raised->getResult(0));
    op->erase();
  }
};
} // namespace
