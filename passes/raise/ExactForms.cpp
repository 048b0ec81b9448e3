// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activations by their steps: what the definition of resid.activation says, operation by operation.

#include "dialect/ActivationKinds.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/raise/Forms.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
/// Matches the nodes of one expression. A null node matches nothing, so that matches chain.
class ExactMatcher {
public:
  ExactMatcher(const ElementExpression &expression)
      : root(expression.getRoot()), stored(root->type), arithmetic(getArithmeticType(stored)) {}

  std::optional<ActivationForm> match() const;

private:
  using Node = const ElementNode *;

  template <typename OpTy> static bool is(Node node) { return node && isa_and_present<OpTy>(node->op); }
  template <typename OpTy> static Node operandOf(Node node) { return is<OpTy>(node) ? node->operands[0] : nullptr; }
  bool isNumber(Node node, double value) const;
  /// The other operand of a commutative operation in the arithmetic type, of which one is `number`, or is `node`.
  template <typename OpTy> Node besideNumber(Node node, double number) const;
  template <typename OpTy> Node besideNode(Node node, Node other) const;

  Node matchGELU(Node node) const;
  Node matchGELUTanh(Node half, Node sum) const;
  Node matchSiLU(Node node) const;
  Node matchReLU(Node node) const;
  /// The element of the stored type that `wide` is, if it is one of a tensor.
  Node narrow(Node wide) const;
  /// An activation in the arithmetic type.
  std::optional<ActivationForm> matchWide(Node wide) const;

  Node root;
  Type stored;
  FloatType arithmetic;
};
} // namespace

bool ExactMatcher::isNumber(Node node, double value) const {
  if (!node || !node->constant)
    return false;
  APFloat rounded(value);
  bool losesInfo;
  rounded.convert(node->constant->getSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.bitwiseIsEqual(*node->constant);
}

template <typename OpTy> const ElementNode *ExactMatcher::besideNumber(Node node, double number) const {
  if (!is<OpTy>(node) || node->type != arithmetic)
    return nullptr;
  for (unsigned i : {0, 1})
    if (isNumber(node->operands[i], number))
      return node->operands[1 - i];
  return nullptr;
}

template <typename OpTy> const ElementNode *ExactMatcher::besideNode(Node node, Node other) const {
  if (!is<OpTy>(node) || !other || node->type != arithmetic)
    return nullptr;
  for (unsigned i : {0, 1})
    if (node->operands[i] == other)
      return node->operands[1 - i];
  return nullptr;
}

/// x of h·(1 + e) with h = 0.5·x, e = erf(x·(1/√2)), or of what has tanh in place of erf.
const ElementNode *ExactMatcher::matchGELU(Node node) const {
  if (!is<arith::MulFOp>(node) || node->type != arithmetic)
    return nullptr;
  for (unsigned i : {0, 1}) {
    Node x = besideNumber<arith::MulFOp>(node->operands[i], 0.5);
    Node function = besideNumber<arith::AddFOp>(node->operands[1 - i], 1.0);
    if (x && besideNumber<arith::MulFOp>(operandOf<math::ErfOp>(function), llvm::numbers::inv_sqrt2) == x)
      return x;
  }
  return nullptr;
}

/// x of 0.5·x, if `sum` is 1 + tanh(√(2/π)·(x + 0.044715·((x·x)·x))).
const ElementNode *ExactMatcher::matchGELUTanh(Node half, Node sum) const {
  Node x = besideNumber<arith::MulFOp>(half, 0.5);
  Node tanh = besideNumber<arith::AddFOp>(sum, 1.0);
  Node inner = besideNumber<arith::MulFOp>(operandOf<math::TanhOp>(tanh), 0.79788456080286535588);
  Node cube = besideNumber<arith::MulFOp>(besideNode<arith::AddFOp>(inner, x), 0.044715);
  return x && besideNode<arith::MulFOp>(besideNode<arith::MulFOp>(cube, x), x) == x ? x : nullptr;
}

/// x of x/(1 + exp(-x)).
const ElementNode *ExactMatcher::matchSiLU(Node node) const {
  if (!is<arith::DivFOp>(node) || node->type != arithmetic)
    return nullptr;
  Node power = operandOf<math::ExpOp>(besideNumber<arith::AddFOp>(node->operands[1], 1.0));
  return operandOf<arith::NegFOp>(power) == node->operands[0] ? node->operands[0] : nullptr;
}

/// x of a maximum with +0 that hands NaN on, or of a choice that is the same.
const ElementNode *ExactMatcher::matchReLU(Node node) const {
  if (is<arith::MaximumFOp>(node))
    for (unsigned i : {0, 1})
      if (isNumber(node->operands[i], 0.0))
        return node->operands[1 - i];
  if (!is<arith::SelectOp>(node) || !is<arith::CmpFOp>(node->operands[0]))
    return nullptr;
  // The comparison with x on its left, and whether it holds where x is kept.
  Node comparison = node->operands[0], x = node->operands[1], zero = node->operands[2];
  auto predicate = cast<arith::CmpFOp>(comparison->op).getPredicate();
  bool keepsX = isNumber(zero, 0.0);
  if (!keepsX)
    std::swap(x, zero);
  auto isZero = [&](Node value) { return isNumber(value, 0.0) || isNumber(value, -0.0); };
  if (!isNumber(zero, 0.0))
    return nullptr;
  using Predicate = arith::CmpFPredicate;
  bool isLeft = comparison->operands[0] == x && isZero(comparison->operands[1]);
  bool isRight = comparison->operands[1] == x && isZero(comparison->operands[0]);
  bool isKnown = (isLeft && predicate == (keepsX ? Predicate::UGT : Predicate::OLE)) ||
                 (isRight && predicate == (keepsX ? Predicate::ULT : Predicate::OGE));
  return isKnown ? x : nullptr;
}

const ElementNode *ExactMatcher::narrow(Node wide) const {
  Node x = wide && wide->type != stored ? operandOf<arith::ExtFOp>(wide) : wide;
  bool isElement = x && x->type == stored && x->whole && x->whole.getType() == root->whole.getType();
  return isElement ? x : nullptr;
}

std::optional<ActivationForm> ExactMatcher::matchWide(Node wide) const {
  if (Node x = narrow(matchGELU(wide)))
    return ActivationForm{ActivationKind::GELU, x};
  if (Node x = narrow(matchSiLU(wide)))
    return ActivationForm{ActivationKind::SiLU, x};
  if (is<arith::MulFOp>(wide) && wide->type == arithmetic)
    for (unsigned i : {0, 1})
      if (Node x = narrow(matchGELUTanh(wide->operands[i], wide->operands[1 - i])))
        return ActivationForm{ActivationKind::GELUTanh, x};
  return std::nullopt;
}

std::optional<ActivationForm> ExactMatcher::match() const {
  // Nothing is rounded in ReLU, so that casts around it change nothing.
  if (Node x = narrow(matchReLU(root)))
    return ActivationForm{ActivationKind::ReLU, x};
  Node wide = stored == arithmetic ? root : operandOf<arith::TruncFOp>(root);
  if (!wide || wide->type != arithmetic)
    return std::nullopt;
  if (Node x = narrow(matchReLU(wide)))
    return ActivationForm{ActivationKind::ReLU, x};
  if (std::optional<ActivationForm> form = matchWide(wide))
    return form;
  // f·up, with f not rounded.
  if (is<arith::MulFOp>(wide))
    for (unsigned i : {0, 1}) {
      std::optional<ActivationForm> form = matchWide(wide->operands[i]);
      Node up = form ? narrow(wide->operands[1 - i]) : nullptr;
      if (up)
        return ActivationForm{*getGatedKind(form->kind), form->x, up};
    }
  return std::nullopt;
}

std::optional<ActivationForm> resid::matchExactActivation(const ElementExpression &expression) {
  return ExactMatcher(expression).match();
}
