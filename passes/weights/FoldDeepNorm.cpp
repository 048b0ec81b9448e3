// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-fold-deepnorm: the factor on the stream before a norm becomes part of the branch's factor and of the norm.

#include "dialect/Shapes.h"
#include "passes/Passes.h"
#include "passes/stream/Stacks.h"
#include "passes/stream/Sums.h"
#include "passes/weights/FoldRecord.h"
#include "passes/weights/Prepare.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::resid {
#define GEN_PASS_DEF_FOLDDEEPNORM
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

static std::string print(double number) { return llvm::formatv("{0}", llvm::format("%g", number)); }

namespace {
/// Folds skip_scale of one a·x + s·(gate ⊙ f), `SumOp` being resid.add or resid.block, into the norm of it.
template <typename SumOp> class DeepNormFolder {
public:
  DeepNormFolder(SumOp sum, Preparation &preparation)
      : sum(sum), preparation(preparation), skip(sum.getSkipScale().convertToDouble()) {}

  /// The norm of the sum, if there is one and a is not 1. Says what else reads the sum, if anything does.
  std::optional<NormSite> findNorm(std::string &reason);
  /// Why the scale cannot become part of `norm`, else nothing.
  std::optional<std::string> refuse(const NormSite &norm);
  void fold(NormSite &norm);
  double getSkip() const { return skip; }

private:
  /// Whether the arithmetic type has `folded` where it has `number`: it is finite, and 0 only if that is.
  static bool survives(double number, double folded, Type elementType);
  Type getElementType() { return sum.getX().getType().getElementType(); }
  static bool isSquared(const NormSite &norm) {
    return getNormRule(norm.parts.kind).factor == NormFactor::SquaredEpsilon;
  }
  double foldEpsilon(const NormSite &norm) {
    return norm.parts.epsilon.getValueAsDouble() / (isSquared(norm) ? skip * skip : skip);
  }
  double foldBranch() { return sum.getBranchScale().convertToDouble() / skip; }

  SumOp sum;
  Preparation &preparation;
  double skip;
};
} // namespace

template <typename SumOp> std::optional<NormSite> DeepNormFolder<SumOp>::findNorm(std::string &reason) {
  if (skip == 1.0)
    return std::nullopt;
  if (auto block = dyn_cast<BlockOp>(sum.getOperation()))
    if (std::optional<NormSite> norm = getNormSiteAt(block, NormPosition::AfterAdd))
      return norm;
  SmallVector<OpOperand *> readers = getReaders(sum.getResult());
  std::optional<NormSite> found;
  for (OpOperand *reader : readers)
    if (std::optional<NormSite> norm = getNormSiteOf(*reader); norm && !found)
      found = norm;
  if (found && readers.size() != 1)
    reason = "expected the norm as the only reader of the sum, but got " + std::to_string(readers.size()) + " readers";
  return found;
}

template <typename SumOp> bool DeepNormFolder<SumOp>::survives(double number, double folded, Type elementType) {
  APFloat rounded = roundToArithmetic(APFloat(folded), elementType);
  return rounded.isFinite() && (number == 0.0 || !rounded.isZero());
}

template <typename SumOp> std::optional<std::string> DeepNormFolder<SumOp>::refuse(const NormSite &norm) {
  if (skip <= 0.0)
    return "expected skip_scale to be positive, but got " + print(skip);
  if (sum.getAlso())
    return std::string("expected no second operand beside skip_scale, but got one");
  for (Value statistic : llvm::drop_begin(norm.op->getResults()))
    if (!statistic.use_empty())
      return std::string("expected no reader of the norm's statistics, which change, but got one");
  if (!survives(sum.getBranchScale().convertToDouble(), foldBranch(), getElementType()))
    return "expected branch_scale divided by skip_scale to be finite and not to vanish, but got " + print(foldBranch());
  if (getNormRule(norm.parts.kind).factor == NormFactor::Alpha)
    return preparation.refuse(norm.parts.alpha);
  if (!survives(norm.parts.epsilon.getValueAsDouble(), foldEpsilon(norm), getElementType()))
    return std::string("expected epsilon divided by ") + (isSquared(norm) ? "the square of " : "") +
           "skip_scale to be finite and not to vanish, but got " + print(foldEpsilon(norm));
  return std::nullopt;
}

template <typename SumOp> void DeepNormFolder<SumOp>::fold(NormSite &norm) {
  NormParts parts = norm.parts;
  switch (getNormRule(parts.kind).factor) {
  case NormFactor::Alpha: {
    auto type = cast<FloatType>(getElementTypeOrSelf(parts.alpha.getType()));
    WeightTerm scaled{{{parts.alpha, {}}}, skip};
    parts.alpha = preparation.compute({{scaled}, 0, type}, parts.alpha, Preparation::getName(parts.alpha, "alpha"));
    break;
  }
  case NormFactor::Epsilon:
  case NormFactor::SquaredEpsilon:
    parts.epsilon = Builder(sum.getContext()).getF64FloatAttr(foldEpsilon(norm));
    break;
  }
  replaceNorm(norm, parts);
  sum.setBranchScale(APFloat(foldBranch()));
  sum.setSkipScale(APFloat(1.0));
}

namespace {
struct FoldDeepNorm : resid::impl::FoldDeepNormBase<FoldDeepNorm> {
  using FoldDeepNormBase::FoldDeepNormBase;

  void runOnOperation() override {
    for (func::FuncOp function : getFunctionsToPrepare(getOperation())) {
      Preparation preparation(function);
      FoldRecord record(function);
      forEachSum(function, [&](auto sum) { foldSum(sum, preparation, record); });
      record.finish();
      preparation.finish();
    }
  }

  template <typename SumOp> void foldSum(SumOp sum, Preparation &preparation, FoldRecord &record) {
    DeepNormFolder<SumOp> folder(sum, preparation);
    std::string reason;
    std::optional<NormSite> norm = folder.findNorm(reason);
    if (!norm)
      return;
    if (reason.empty())
      reason = folder.refuse(*norm).value_or("");
    if (!reason.empty()) {
      if (report)
        sum.emitRemark() << "not folded: " << reason;
      return;
    }
    if (report)
      sum.emitRemark() << "folded (exact in real arithmetic): skip_scale " << print(folder.getSkip())
                       << " into branch_scale and "
                       << (getNormRule(norm->parts.kind).factor == NormFactor::Alpha ? "alpha" : "epsilon");
    record.addNormParameter(*norm, norm->parts.alpha, /*staysInNorm=*/true);
    folder.fold(*norm);
  }
};
} // namespace
