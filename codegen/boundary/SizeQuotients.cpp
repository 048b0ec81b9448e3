// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quotients, minima and choices of size expressions in normal form, and what expressions are at least and at most; see
// SizeExpression.h.

#include "codegen/boundary/SizeExpression.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::resid::boundary;

using Kind = SizeExpr::Kind;

//===------------------------------------------- bounds -----------------------------------------------------------===//

/// Nothing that has a value is beyond it, and sums of two of them fit into 64 bits.
static constexpr int64_t kUnbounded = int64_t(1) << 60;
static constexpr SizeBounds kAnything = {-kUnbounded, kUnbounded};

static int64_t clamp(int64_t value) { return std::clamp(value, -kUnbounded, kUnbounded); }

static int64_t multiplyBounds(int64_t a, int64_t b) {
  int64_t product;
  if (llvm::MulOverflow(a, b, product))
    return (a < 0) == (b < 0) ? kUnbounded : -kUnbounded;
  return clamp(product);
}

static SizeBounds operator+(SizeBounds a, SizeBounds b) { return {clamp(a.low + b.low), clamp(a.high + b.high)}; }

static SizeBounds operator*(SizeBounds a, SizeBounds b) {
  auto corners = {multiplyBounds(a.low, b.low), multiplyBounds(a.low, b.high), multiplyBounds(a.high, b.low),
                  multiplyBounds(a.high, b.high)};
  return {std::min(corners), std::max(corners)};
}

/// Of a quotient with any rounding, whose divisor is not 0.
static SizeBounds getQuotientBounds(SizeBounds a, SizeBounds b) {
  if (b.low == b.high && b.low > 0)
    return {llvm::divideFloorSigned(a.low, b.low), llvm::divideFloorSigned(a.high, b.low)};
  int64_t most = std::max(std::abs(a.low), std::abs(a.high));
  if (a.low >= 0 && b.low >= 0)
    return {0, most};
  return {-most, most};
}

static SizeBounds getRemainderBounds(const SizeRemainder &remainder) {
  SizeBounds divisor = getBounds(remainder.divisor);
  int64_t most = std::max(std::abs(divisor.low), std::abs(divisor.high)) - 1;
  bool isPositive = divisor.low >= 0 && (remainder.roundsDown || isNeverNegative(remainder.dividend));
  return {isPositive ? 0 : -most, most};
}

static SizeBounds getSumBounds(SizeExpr expression) {
  SizeTerms terms = getTerms(expression);
  SizeBounds sum = {0, 0};
  for (const SizeRemainder &remainder : takeRemainders(terms))
    sum = sum + getRemainderBounds(remainder) * SizeBounds{remainder.coefficient, remainder.coefficient};
  for (const SizeTerm &term : terms) {
    SizeBounds product = {clamp(term.coefficient), clamp(term.coefficient)};
    for (SizeExpr factor : term.factors)
      product = product * getBounds(factor);
    sum = sum + product;
  }
  return sum;
}

SizeBounds mlir::resid::boundary::getBounds(SizeExpr expression) {
  Kind kind = expression.getKind();
  SmallVector<SizeBounds> operands;
  if (kind != Kind::Sum && kind != Kind::Product)
    operands = llvm::map_to_vector(expression.getOperands(), getBounds);
  auto join = [](SizeBounds a, SizeBounds b) { return SizeBounds{std::min(a.low, b.low), std::max(a.high, b.high)}; };
  switch (kind) {
  case Kind::Size:
    return {0, kSizeLimit};
  case Kind::Constant:
    return {clamp(*expression.getConstant()), clamp(*expression.getConstant())};
  case Kind::Sum:
  case Kind::Product:
    return getSumBounds(expression);
  case Kind::Floor:
  case Kind::Truncate:
    return getQuotientBounds(operands[0], operands[1]);
  case Kind::Less:
  case Kind::Equal:
    return {0, 1};
  case Kind::Select:
    return join(operands[1], operands[2]);
  case Kind::Min:
  case Kind::Max: {
    SizeBounds bounds = operands[0];
    for (SizeBounds other : operands)
      bounds = kind == Kind::Min ? SizeBounds{std::min(bounds.low, other.low), std::min(bounds.high, other.high)}
                                 : SizeBounds{std::max(bounds.low, other.low), std::max(bounds.high, other.high)};
    return bounds;
  }
  case Kind::Number:
  case Kind::DivideUnsigned:
  case Kind::RemainderUnsigned:
    return kAnything;
  }
  llvm_unreachable("expected a kind of expression");
}

//===------------------------------------------- remainders -------------------------------------------------------===//

/// Takes `parts` times `coefficient` away, where the terms have them; the constant is what then is left.
static bool takeTerms(SizeTerms &terms, const SizeTerms &parts, int64_t coefficient) {
  SizeTerms left = terms;
  for (const SizeTerm &part : parts) {
    int64_t wanted;
    if (llvm::MulOverflow(part.coefficient, coefficient, wanted))
      return false;
    auto found = llvm::find_if(left, [&](const SizeTerm &term) { return term.factors == part.factors; });
    if (!part.factors.empty() && (found == left.end() || found->coefficient != wanted))
      return false;
    if (found == left.end())
      left.push_back({{}, -wanted});
    else if (llvm::SubOverflow(found->coefficient, wanted, found->coefficient))
      return false;
  }
  llvm::erase_if(left, [](const SizeTerm &term) { return term.coefficient == 0; });
  terms = std::move(left);
  return true;
}

static std::optional<SizeRemainder> takeRemainder(SizeTerms &terms) {
  for (const SizeTerm &term : terms)
    for (SizeExpr quotient : term.factors) {
      if (quotient.getKind() != Kind::Floor && quotient.getKind() != Kind::Truncate)
        continue;
      SizeExpr dividend = quotient.getOperand(0), divisor = quotient.getOperand(1), whole = divisor * quotient;
      if (!whole)
        continue;
      SizeTerms wholeTerms = getTerms(whole);
      auto same = llvm::find_if(wholeTerms, [&](const SizeTerm &part) { return part.factors == term.factors; });
      if (same == wholeTerms.end() || term.coefficient % same->coefficient != 0)
        continue;
      int64_t coefficient = -(term.coefficient / same->coefficient);
      SizeTerms left = terms;
      if (!takeTerms(left, wholeTerms, -coefficient) || !takeTerms(left, getTerms(dividend), coefficient))
        continue;
      terms = std::move(left);
      return SizeRemainder{dividend, divisor, coefficient, quotient.getKind() == Kind::Floor};
    }
  return std::nullopt;
}

SmallVector<SizeRemainder, 1> mlir::resid::boundary::takeRemainders(SizeTerms &terms) {
  SmallVector<SizeRemainder, 1> remainders;
  while (std::optional<SizeRemainder> remainder = takeRemainder(terms))
    remainders.push_back(*remainder);
  return remainders;
}

//===------------------------------------------- quotients --------------------------------------------------------===//

/// Of terms whose coefficients the divisor (above 1) does not divide, with a constant of at least 0 and below it.
static SizeExpr floorDivideRest(MLIRContext *context, SizeTerms terms, int64_t rest, int64_t divisor) {
  int64_t common = divisor;
  for (const SizeTerm &term : terms)
    common = std::gcd(common, term.coefficient);
  rest /= common;
  divisor /= common;
  // Of a quotient and its opposite, which rounds up, the one whose dividend begins with a positive term is taken.
  bool isNegated = terms.front().coefficient < 0;
  for (SizeTerm &term : terms)
    term.coefficient /= isNegated ? -common : common;
  rest = isNegated ? divisor - 1 - rest : rest;
  SizeExpr open = makeSum(context, std::move(terms)), dividend = open + rest;
  if (!dividend)
    return {};
  SizeExpr quotient;
  if (open.getKind() == Kind::Floor && open.getOperand(1).getConstant()) {
    SizeExpr inner = open.getOperand(1);
    quotient = floorDivide(open.getOperand(0) + inner * rest, inner * divisor);
  } else {
    SizeBounds bounds = getBounds(dividend);
    int64_t low = llvm::divideFloorSigned(bounds.low, divisor), high = llvm::divideFloorSigned(bounds.high, divisor);
    quotient = low == high ? SizeExpr::constant(context, low)
                           : makeSizeNode(Kind::Floor, {dividend, SizeExpr::constant(context, divisor)});
  }
  return isNegated ? quotient * -1 : quotient;
}

SizeExpr mlir::resid::boundary::floorDivide(SizeExpr a, SizeExpr b) {
  if (!a || !b || b.isConstant(0))
    return {};
  std::optional<int64_t> divisor = b.getConstant();
  if (!divisor)
    return makeSizeNode(Kind::Floor, {a, b});
  if (*divisor < 0)
    return floorDivide(a * -1, b * -1);
  SizeTerms whole, open;
  int64_t rest = 0;
  for (const SizeTerm &term : getTerms(a)) {
    if (term.coefficient % *divisor == 0 || term.factors.empty()) {
      whole.push_back({term.factors, llvm::divideFloorSigned(term.coefficient, *divisor)});
      rest += term.coefficient - whole.back().coefficient * *divisor;
    } else {
      open.push_back(term);
    }
  }
  MLIRContext *context = a.getContext();
  SizeExpr quotient = makeSum(context, std::move(whole));
  return open.empty() ? quotient : quotient + floorDivideRest(context, std::move(open), rest, *divisor);
}

SizeExpr mlir::resid::boundary::ceilDivide(SizeExpr a, SizeExpr b) { return floorDivide(a * -1, b) * -1; }

SizeExpr mlir::resid::boundary::truncateDivide(SizeExpr a, SizeExpr b) {
  if (!a || !b || b.isConstant(0))
    return {};
  if (b.getConstant() && *b.getConstant() < 0)
    return truncateDivide(a, b * -1) * -1;
  if (isNeverNegative(b) && isNeverNegative(a))
    return floorDivide(a, b);
  if (isNeverNegative(b) && getBounds(a).high <= 0)
    return ceilDivide(a, b);
  return makeSizeNode(Kind::Truncate, {a, b});
}

SizeExpr mlir::resid::boundary::floorRemainder(SizeExpr a, SizeExpr b) { return a - floorDivide(a, b) * b; }
SizeExpr mlir::resid::boundary::truncateRemainder(SizeExpr a, SizeExpr b) { return a - truncateDivide(a, b) * b; }

SizeExpr mlir::resid::boundary::divideUnsigned(SizeExpr a, SizeExpr b) {
  if (!a || !b || b.isConstant(0))
    return {};
  return isNeverNegative(a) && isNeverNegative(b) ? floorDivide(a, b) : makeSizeNode(Kind::DivideUnsigned, {a, b});
}

SizeExpr mlir::resid::boundary::remainderUnsigned(SizeExpr a, SizeExpr b) {
  if (!a || !b || b.isConstant(0))
    return {};
  return isNeverNegative(a) && isNeverNegative(b) ? floorRemainder(a, b)
                                                  : makeSizeNode(Kind::RemainderUnsigned, {a, b});
}

//===------------------------------------------- minima and choices -----------------------------------------------===//

/// Without operands that another one makes idle.
static SizeExpr chooseAmong(Kind kind, SizeExpr a, SizeExpr b) {
  if (!a || !b)
    return {};
  SmallVector<SizeExpr> operands;
  for (SizeExpr operand : {a, b}) {
    if (operand.getKind() == kind)
      llvm::append_range(operands, operand.getOperands());
    else
      operands.push_back(operand);
  }
  llvm::sort(operands, isBefore);
  operands.erase(llvm::unique(operands), operands.end());
  auto isIdleBeside = [&](SizeExpr operand, SizeExpr other) {
    SizeExpr difference = kind == Kind::Min ? operand - other : other - operand;
    return difference && isNeverNegative(difference);
  };
  for (unsigned index = 0; index < operands.size();) {
    bool isIdle = llvm::any_of(
        operands, [&](SizeExpr other) { return other != operands[index] && isIdleBeside(operands[index], other); });
    isIdle ? void(operands.erase(operands.begin() + index)) : void(++index);
  }
  return operands.size() == 1 ? operands.front() : makeSizeNode(kind, operands);
}

SizeExpr mlir::resid::boundary::minimum(SizeExpr a, SizeExpr b) { return chooseAmong(Kind::Min, a, b); }
SizeExpr mlir::resid::boundary::maximum(SizeExpr a, SizeExpr b) { return chooseAmong(Kind::Max, a, b); }

SizeExpr mlir::resid::boundary::isLess(SizeExpr a, SizeExpr b) {
  SizeExpr difference = b - a;
  if (!difference)
    return {};
  SizeBounds bounds = getBounds(difference);
  if (bounds.low > 0 || bounds.high <= 0)
    return SizeExpr::constant(a.getContext(), bounds.low > 0);
  return makeSizeNode(Kind::Less, {a, b});
}

SizeExpr mlir::resid::boundary::isEqual(SizeExpr a, SizeExpr b) {
  SizeExpr difference = b - a;
  if (!difference)
    return {};
  SizeBounds bounds = getBounds(difference);
  if (difference.getConstant() || bounds.low > 0 || bounds.high < 0)
    return SizeExpr::constant(a.getContext(), difference.isConstant(0));
  return isBefore(b, a) ? makeSizeNode(Kind::Equal, {b, a}) : makeSizeNode(Kind::Equal, {a, b});
}

SizeExpr mlir::resid::boundary::select(SizeExpr condition, SizeExpr a, SizeExpr b) {
  if (!condition || !a || !b)
    return {};
  if (std::optional<int64_t> known = condition.getConstant())
    return *known ? a : b;
  if (a == b)
    return a;
  SizeExpr opposite = condition * -1 + 1;
  if (condition.getKind() == Kind::Sum && opposite && opposite.getKind() != Kind::Sum)
    return select(opposite, b, a);
  if (condition.getKind() == Kind::Less) {
    SizeExpr less = condition.getOperand(0), more = condition.getOperand(1);
    if (a == less && b == more)
      return minimum(a, b);
    if (a == more && b == less)
      return maximum(a, b);
  }
  return makeSizeNode(Kind::Select, {condition, a, b});
}
