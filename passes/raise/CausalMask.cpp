// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/raise/CausalMask.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;

namespace {
/// A sum of multiples of places, and a number.
struct PlaceSum {
  SmallVector<int64_t, 4> factors;
  int64_t number = 0;
};
} // namespace

std::optional<int64_t> resid::getInteger(const ElementNode *node) {
  APInt value;
  return matchPattern(node->value, m_ConstantInt(&value)) ? std::optional(value.getSExtValue()) : std::nullopt;
}

static std::optional<PlaceSum> getPlaceSum(const ElementNode *node, unsigned rank) {
  PlaceSum sum;
  sum.factors.resize(rank);
  if (std::optional<int64_t> number = getInteger(node)) {
    sum.number = *number;
    return sum;
  }
  if (node->kind == ElementNode::Place) {
    auto place = dyn_cast<AffineDimExpr>(node->map.getResult(0));
    if (place)
      sum.factors[place.getPosition()] = 1;
    return sum;
  }
  if (isa_and_present<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp>(node->op))
    return getPlaceSum(node->operands[0], rank);
  if (!isa_and_present<arith::AddIOp, arith::SubIOp, arith::MulIOp>(node->op))
    return std::nullopt;
  std::optional<PlaceSum> a = getPlaceSum(node->operands[0], rank), b = getPlaceSum(node->operands[1], rank);
  if (!a || !b)
    return std::nullopt;
  int64_t first = 1, second = isa<arith::SubIOp>(node->op) ? -1 : 1;
  if (isa<arith::MulIOp>(node->op)) {
    std::optional<int64_t> left = getInteger(node->operands[0]), right = getInteger(node->operands[1]);
    if (!left && !right)
      return std::nullopt;
    first = right.value_or(0);
    second = right ? 0 : *left;
  }
  for (unsigned i = 0; i != rank; ++i)
    sum.factors[i] = first * a->factors[i] + second * b->factors[i];
  sum.number = first * a->number + second * b->number;
  return sum;
}

static bool isNotNegative(const PlaceSum &sum) {
  return sum.number >= 0 && llvm::all_of(sum.factors, [](int64_t factor) { return factor >= 0; });
}

static arith::CmpIPredicate getSigned(arith::CmpIPredicate predicate) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::ult:
    return Predicate::slt;
  case Predicate::ule:
    return Predicate::sle;
  case Predicate::ugt:
    return Predicate::sgt;
  case Predicate::uge:
    return Predicate::sge;
  default:
    return predicate;
  }
}

/// key - query ≤ n or query - key ≤ n.
std::optional<PlaceBound> resid::getPlaceBound(const MaskCondition &condition, unsigned queries, unsigned rank) {
  auto comparison = dyn_cast_or_null<arith::CmpIOp>(condition.node->op);
  if (!comparison)
    return std::nullopt;
  std::optional<PlaceSum> a = getPlaceSum(condition.node->operands[0], rank),
                          b = getPlaceSum(condition.node->operands[1], rank);
  if (!a || !b)
    return std::nullopt;
  using Predicate = arith::CmpIPredicate;
  Predicate predicate =
      condition.isNegated ? arith::invertPredicate(comparison.getPredicate()) : comparison.getPredicate();
  // Places count from 0.
  if (isNotNegative(*a) && isNotNegative(*b))
    predicate = getSigned(predicate);
  if (predicate == Predicate::sge || predicate == Predicate::sgt) {
    std::swap(a, b);
    predicate = predicate == Predicate::sge ? Predicate::sle : Predicate::slt;
  }
  if (predicate != Predicate::sle && predicate != Predicate::slt)
    return std::nullopt;
  // a < b is a + 1 ≤ b.
  if (predicate == Predicate::slt)
    ++a->number;
  int64_t sign = a->factors[rank - 1] - b->factors[rank - 1];
  for (unsigned i = 0; i != rank; ++i)
    if (std::abs(sign) != 1 || a->factors[i] - b->factors[i] != (i == rank - 1 ? sign : i == queries ? -sign : 0))
      return std::nullopt;
  return PlaceBound{sign == 1, b->number - a->number};
}
