// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/raise/Softmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/raise/Polynomial.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::resid;

bool resid::anyNode(const ElementNode *node, function_ref<bool(const ElementNode *)> predicate) {
  SmallVector<const ElementNode *> open = {node};
  SmallPtrSet<const ElementNode *, 16> seen;
  while (!open.empty()) {
    const ElementNode *next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (predicate(next))
      return true;
    llvm::append_range(open, next->operands);
  }
  return false;
}

//===------------------------------------------- softmax ----------------------------------------------------------===//

static bool isNegativeInfinity(const ElementNode *node) {
  node = skipCasts(node);
  return node->constant && node->constant->isInfinity() && node->constant->isNegative();
}

/// Whether all elements of a row have the number. A scalar of an op's body may be made of anything.
static bool isSameInRow(const ElementNode *node, unsigned last) {
  switch (node->kind) {
  case ElementNode::Constant:
  case ElementNode::RowSum:
    return true;
  case ElementNode::Input:
    return node->tensor && !node->map.isFunctionOfDim(last);
  case ElementNode::Place:
    return !node->map.isFunctionOfDim(last);
  case ElementNode::Operator:
    return llvm::all_of(node->operands, [&](const ElementNode *operand) { return isSameInRow(operand, last); });
  }
  llvm_unreachable("kind of a node");
}

/// e and d of e/d, or of e·(1/d).
static std::pair<const ElementNode *, const ElementNode *> getQuotient(const ElementNode *node) {
  if (isa_and_present<arith::DivFOp>(node->op))
    return {skipCasts(node->operands[0]), skipCasts(node->operands[1])};
  if (isa_and_present<arith::MulFOp>(node->op))
    for (unsigned i : {0, 1}) {
      const ElementNode *inverse = skipCasts(node->operands[i]);
      if (isa_and_present<arith::DivFOp>(inverse->op) && getNumber(inverse->operands[0]) == 1.0)
        return {skipCasts(node->operands[1 - i]), skipCasts(inverse->operands[1])};
    }
  return {nullptr, nullptr};
}

/// Whether the number is a sum for each place along the last dimension.
static bool isSumOverOther(const ElementNode *node, unsigned last) {
  auto reduction = node->tensor ? node->tensor.getDefiningOp<linalg::LinalgOp>() : linalg::LinalgOp();
  return reduction && reduction.getNumReductionLoops() == 1 && node->map.isFunctionOfDim(last);
}

/// Whether `all` is whether all of the scores of a row are -Inf.
static bool isWhereAllAbsent(const ElementNode *all, const ElementNode *scores, unsigned last) {
  auto reduction = all->tensor ? all->tensor.getDefiningOp<linalg::LinalgOp>() : linalg::LinalgOp();
  if (!reduction || all->map.isFunctionOfDim(last) || reduction.getNumReductionLoops() != 1 ||
      reduction.getIteratorTypesArray().back() != utils::IteratorType::reduction || reduction.getNumDpsInputs() != 1 ||
      reduction.getNumDpsInits() != 1 ||
      !reduction.getMatchingIndexingMap(reduction.getDpsInputOperand(0)).isIdentity())
    return false;
  // The rows that are asked for are the rows that were looked at.
  for (auto [asked, written] :
       llvm::zip_equal(all->map.getResults(), reduction.getIndexingMapsArray().back().getResults()))
    if (asked != written)
      return false;
  auto start = reduction.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  auto both = reduction.getBlock()->getTerminator()->getOperand(0).getDefiningOp<arith::AndIOp>();
  if (!start || !matchPattern(start.value(), m_One()) || !both ||
      !llvm::all_of(both->getOperands(), llvm::IsaPred<BlockArgument>) || both.getLhs() == both.getRhs())
    return false;
  ElementExpression expression(reduction.getDpsInputs().front());
  const ElementNode *equal = expression.getRoot();
  auto comparison = dyn_cast_or_null<arith::CmpFOp>(equal->op);
  if (!comparison || comparison.getPredicate() != arith::CmpFPredicate::OEQ || !isNegativeInfinity(equal->operands[1]))
    return false;
  const ElementNode *compared = skipCasts(equal->operands[0]);
  return compared->tensor && compared->tensor == scores->tensor && compared->map == scores->map;
}

std::optional<SoftmaxForm> resid::matchSoftmax(Value weights) {
  auto expression = std::make_unique<ElementExpression>(weights);
  unsigned last = cast<RankedTensorType>(weights.getType()).getRank() - 1;
  const ElementNode *root = skipCasts(expression->getRoot());
  if (root->kind == ElementNode::Input && root->tensor && root->map.isIdentity())
    if (auto softmax = root->tensor.getDefiningOp<linalg::SoftmaxOp>()) {
      expression = std::make_unique<ElementExpression>(softmax.getInput());
      const ElementNode *scores = expression->getRoot();
      return SoftmaxForm{std::move(expression), scores, softmax.getDimension() == last};
    }
  // PyTorch puts zeros in place of rows without a present key, as attention does.
  const ElementNode *isAllAbsent = nullptr;
  if (isa_and_present<arith::SelectOp>(root->op) && getNumber(root->operands[1]) == 0.0) {
    isAllAbsent = root->operands[0];
    root = skipCasts(root->operands[2]);
  }
  auto [power, sum] = getQuotient(root);
  if (!power || !isa_and_present<math::ExpOp>(power->op))
    return std::nullopt;
  bool isOverLast = sum->kind == ElementNode::RowSum && sum->summed == 1 && skipCasts(sum->operands.front()) == power;
  if (!isOverLast && !isSumOverOther(sum, last))
    return std::nullopt;
  // What is subtracted from a whole row, such as its maximum, is a factor of power and sum.
  const ElementNode *scores = skipCasts(power->operands.front());
  if (isa_and_present<arith::SubFOp>(scores->op) && isSameInRow(scores->operands[1], last))
    scores = scores->operands[0];
  if (isAllAbsent && !isWhereAllAbsent(isAllAbsent, skipCasts(scores), last))
    return std::nullopt;
  return SoftmaxForm{std::move(expression), scores, isOverLast};
}

//===------------------------------------------- scores -----------------------------------------------------------===//

/// The logical constant that the node is.
static bool isTrue(const ElementNode *node) {
  return matchPattern(node->value, m_One()) && getElementTypeOrSelf(node->value.getType()).isInteger(1);
}

/// Conditions of which all have to hold are one by one.
static void addCondition(ScoreForm &form, const ElementNode *node, bool isNegated) {
  if (isa_and_present<arith::XOrIOp>(node->op))
    for (unsigned i : {0, 1})
      if (isTrue(node->operands[i]))
        return addCondition(form, node->operands[1 - i], !isNegated);
  if ((isa_and_present<arith::AndIOp>(node->op) && !isNegated) ||
      (isa_and_present<arith::OrIOp>(node->op) && isNegated)) {
    addCondition(form, node->operands[0], isNegated);
    return addCondition(form, node->operands[1], isNegated);
  }
  form.conditions.push_back({node, isNegated});
}

bool resid::addMask(ScoreForm &form, const ElementNode *mask, std::string &refusal) {
  mask = skipCasts(mask);
  if (form.scale != 1.0) {
    refusal = "its mask is added before the scores are scaled";
    return false;
  }
  if (isa_and_present<arith::SelectOp>(mask->op))
    for (bool isNegated : {false, true}) {
      const ElementNode *taken = mask->operands[isNegated ? 2 : 1], *hidden = mask->operands[isNegated ? 1 : 2];
      if (isNegativeInfinity(hidden) && getNumber(taken) == 0.0) {
        addCondition(form, mask->operands[0], isNegated);
        return true;
      }
    }
  if (form.added) {
    refusal = "two masks are added to its scores";
    return false;
  }
  form.added = mask;
  return true;
}

namespace {
class ScoreMatcher {
public:
  ScoreMatcher(function_ref<bool(const ElementNode *)> isProduct, std::string &refusal)
      : isProduct(isProduct), refusal(refusal) {}

  std::optional<ScoreForm> match(const ElementNode *node);

private:
  bool holdsProduct(const ElementNode *node) { return anyNode(node, isProduct); }
  /// The operand of a step that goes on, or null.
  const ElementNode *step(const ElementNode *node);
  const ElementNode *stepOverChoice(const ElementNode *node);
  const ElementNode *refuse(const Twine &reason) {
    refusal = reason.str();
    return nullptr;
  }

  function_ref<bool(const ElementNode *)> isProduct;
  std::string &refusal;
  ScoreForm form;
};
} // namespace

const ElementNode *ScoreMatcher::stepOverChoice(const ElementNode *node) {
  for (bool isNegated : {false, true}) {
    const ElementNode *taken = node->operands[isNegated ? 2 : 1], *hidden = node->operands[isNegated ? 1 : 2];
    if (!holdsProduct(taken))
      continue;
    if (holdsProduct(node->operands[0]))
      return refuse("its mask depends on its scores");
    if (!isNegativeInfinity(hidden) || form.scale <= 0.0)
      return refuse("its mask puts something else than -Inf in place of scores");
    addCondition(form, node->operands[0], isNegated);
    return taken;
  }
  return nullptr;
}

const ElementNode *ScoreMatcher::step(const ElementNode *node) {
  if (isa_and_present<arith::SelectOp>(node->op))
    return stepOverChoice(node);
  if (!isa_and_present<arith::AddFOp, arith::MulFOp, arith::DivFOp>(node->op))
    return refuse("its scores are something else than a product with a scale and a mask");
  unsigned inner = holdsProduct(node->operands[0]) ? 0 : 1;
  const ElementNode *other = node->operands[1 - inner];
  if (isa<arith::AddFOp>(node->op)) {
    if (holdsProduct(other))
      return refuse("its scores are a sum of products");
    return addMask(form, other, refusal) ? node->operands[inner] : nullptr;
  }
  std::optional<double> number = getNumber(other);
  if (!number || *number == 0.0 || (isa<arith::DivFOp>(node->op) && inner == 1))
    return refuse("its scores are scaled by something else than a constant");
  form.scale = isa<arith::MulFOp>(node->op) ? form.scale * *number : form.scale / *number;
  return node->operands[inner];
}

std::optional<ScoreForm> ScoreMatcher::match(const ElementNode *node) {
  if (!holdsProduct(node))
    return std::nullopt;
  while (node && !isProduct(skipCasts(node)))
    node = step(skipCasts(node));
  if (!node)
    return std::nullopt;
  form.product = skipCasts(node);
  return form;
}

std::optional<ScoreForm> resid::matchScores(const ElementNode *scores,
                                            function_ref<bool(const ElementNode *)> isProduct, std::string &refusal) {
  return ScoreMatcher(isProduct, refusal).match(scores);
}
