// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normal form, text and value of size expressions; see SizeExpression.h.

#include "codegen/boundary/SizeExpression.h"

#include "codegen/boundary/Signature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::resid::boundary;

//===------------------------------------------- normal form ------------------------------------------------------===//

/// A product of factors that are no products or sums, in the order of their texts. The text decides, since pointers
/// would give another order in another run.
using Monomial = std::vector<std::pair<std::string, AffineExpr>>;
/// Coefficients by products.
using Polynomial = std::map<std::vector<std::string>, std::pair<int64_t, Monomial>>;

/// More terms are no size that anyone would read.
static constexpr size_t kMaximumTerms = 32;

static bool addTerm(Polynomial &sum, Monomial monomial, int64_t coefficient) {
  llvm::sort(monomial, [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<std::string> key;
  for (const auto &[text, factor] : monomial)
    key.push_back(text);
  auto &entry = sum[key];
  entry.second = std::move(monomial);
  return !llvm::AddOverflow(entry.first, coefficient, entry.first) && sum.size() <= kMaximumTerms;
}

static std::optional<Polynomial> expand(AffineExpr expression);

static std::optional<Polynomial> multiply(const Polynomial &a, const Polynomial &b) {
  Polynomial product;
  for (const auto &[keyOfA, termOfA] : a)
    for (const auto &[keyOfB, termOfB] : b) {
      Monomial both = termOfA.second;
      llvm::append_range(both, termOfB.second);
      int64_t coefficient;
      if (both.size() > kMaximumTerms || llvm::MulOverflow(termOfA.first, termOfB.first, coefficient) ||
          !addTerm(product, std::move(both), coefficient))
        return std::nullopt;
    }
  return product;
}

static AffineExpr rebuild(const Polynomial &polynomial, MLIRContext *context) {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (const auto &[key, term] : polynomial) {
    if (term.first == 0)
      continue;
    AffineExpr product = getAffineConstantExpr(1, context);
    for (const auto &[text, factor] : term.second)
      product = product * factor;
    sum = sum + product * term.first;
  }
  return sum;
}

static std::optional<Polynomial> expand(AffineExpr expression) {
  Polynomial result;
  if (auto constant = dyn_cast<AffineConstantExpr>(expression)) {
    addTerm(result, {}, constant.getValue());
    return result;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  AffineExpr factor = expression;
  if (binary) {
    std::optional<Polynomial> left = expand(binary.getLHS()), right = expand(binary.getRHS());
    if (!left || !right)
      return std::nullopt;
    if (binary.getKind() == AffineExprKind::Mul)
      return multiply(*left, *right);
    if (binary.getKind() == AffineExprKind::Add) {
      for (const auto &[key, term] : *right)
        if (!addTerm(*left, term.second, term.first))
          return std::nullopt;
      return left;
    }
    MLIRContext *context = expression.getContext();
    factor = getAffineBinaryOpExpr(binary.getKind(), rebuild(*left, context), rebuild(*right, context));
    if (!isa<AffineBinaryOpExpr>(factor) || factor.getKind() != binary.getKind())
      return expand(factor);
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  factor.print(stream);
  addTerm(result, {{text, factor}}, 1);
  return result;
}

AffineExpr mlir::resid::boundary::normalizeSize(AffineExpr expression) {
  std::optional<Polynomial> polynomial = expand(expression);
  return polynomial ? rebuild(*polynomial, expression.getContext()) : AffineExpr();
}

std::pair<int64_t, AffineExpr> mlir::resid::boundary::splitCoefficient(AffineExpr expression) {
  std::optional<Polynomial> polynomial = expand(expression);
  assert(polynomial && "expected a normal form");
  int64_t divisor = 0;
  for (const auto &[key, term] : *polynomial)
    divisor = std::gcd(divisor, term.first);
  if (divisor == 0)
    return {0, getAffineConstantExpr(1, expression.getContext())};
  for (auto &[key, term] : *polynomial)
    term.first /= divisor;
  return {divisor, rebuild(*polynomial, expression.getContext())};
}

//===------------------------------------------- of operations ----------------------------------------------------===//

AffineExpr mlir::resid::boundary::toSizeExpression(Operation *op, llvm::function_ref<AffineExpr(Value)> operand) {
  Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
  if (!type || !(type.isIndex() || type.isInteger(64)))
    return {};
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Type from = op->getOperand(0).getType();
    return from.isIndex() || from.isInteger(64) ? operand(op->getOperand(0)) : AffineExpr();
  }
  if (op->getNumOperands() != 2 || !isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
    return {};
  AffineExpr a = operand(op->getOperand(0)), b = a ? operand(op->getOperand(1)) : AffineExpr();
  if (!b)
    return {};
  return llvm::TypeSwitch<Operation *, AffineExpr>(op)
      .Case([&](arith::AddIOp) { return a + b; })
      .Case([&](arith::SubIOp) { return a - b; })
      .Case([&](arith::MulIOp) { return a * b; })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>([&](auto) { return a.floorDiv(b); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto) { return a.ceilDiv(b); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return a % b; })
      .Default([](Operation *) { return AffineExpr(); });
}

//===------------------------------------------- text -------------------------------------------------------------===//

/// As an operand of * / %.
static std::string printFactor(AffineExpr expression, llvm::function_ref<std::string(unsigned)> nameOf) {
  std::string text = printSize(expression, nameOf);
  return isa<AffineBinaryOpExpr>(expression) && expression.getKind() != AffineExprKind::CeilDiv ? "(" + text + ")"
                                                                                                : text;
}

std::string mlir::resid::boundary::printSize(AffineExpr expression, llvm::function_ref<std::string(unsigned)> nameOf) {
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return nameOf(symbol.getPosition());
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return std::to_string(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expression);
  AffineExpr left = binary.getLHS(), right = binary.getRHS();
  auto constant = dyn_cast<AffineConstantExpr>(right);
  switch (binary.getKind()) {
  case AffineExprKind::Add: {
    if (constant && constant.getValue() < 0)
      return printSize(left, nameOf) + " - " + std::to_string(-constant.getValue());
    return printSize(left, nameOf) + " + " + printSize(right, nameOf);
  }
  case AffineExprKind::Mul:
    // A product of products needs no parentheses on its left.
    return (left.getKind() == AffineExprKind::Mul ? printSize(left, nameOf) : printFactor(left, nameOf)) + " * " +
           printFactor(right, nameOf);
  case AffineExprKind::Mod:
    return printFactor(left, nameOf) + " % " + printFactor(right, nameOf);
  case AffineExprKind::FloorDiv:
    return printFactor(left, nameOf) + " / " + printFactor(right, nameOf);
  default:
    return "ceil(" + printFactor(left, nameOf) + " / " + printFactor(right, nameOf) + ")";
  }
}

//===------------------------------------------- value ------------------------------------------------------------===//

static std::optional<int64_t> inLimits(std::optional<int64_t> value) {
  return value && *value >= -kByteLimit && *value <= kByteLimit ? value : std::nullopt;
}

std::optional<int64_t> mlir::resid::boundary::evaluateSize(AffineExpr expression, llvm::ArrayRef<int64_t> symbols) {
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return inLimits(symbols[symbol.getPosition()]);
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expression);
  std::optional<int64_t> left = evaluateSize(binary.getLHS(), symbols), right = evaluateSize(binary.getRHS(), symbols);
  if (!left || !right)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Add)
    return inLimits(llvm::checkedAdd(*left, *right));
  if (binary.getKind() == AffineExprKind::Mul)
    return inLimits(llvm::checkedMul(*left, *right));
  if (*left < 0 || *right <= 0)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Mod)
    return *left % *right;
  return binary.getKind() == AffineExprKind::FloorDiv ? *left / *right : llvm::divideCeilSigned(*left, *right);
}
