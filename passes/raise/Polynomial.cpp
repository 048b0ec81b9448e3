// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/raise/Polynomial.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace mlir::resid;

/// The longest polynomial, and the largest power of a number.
static constexpr size_t kMaximumTerms = 24;
static constexpr int kMaximumPower = 4;

const ElementNode *resid::skipCasts(const ElementNode *node) {
  while (isa_and_present<arith::ExtFOp, arith::TruncFOp>(node->op))
    node = node->operands.front();
  return node;
}

static Polynomial add(const Polynomial &a, const Polynomial &b, double factor) {
  Polynomial sum = a;
  for (const auto &[atoms, coefficient] : b)
    if ((sum[atoms] += factor * coefficient) == 0.0)
      sum.erase(atoms);
  return sum;
}

static Polynomial multiply(const Polynomial &a, const Polynomial &b) {
  Polynomial product;
  for (const auto &[first, x] : a)
    for (const auto &[second, y] : b) {
      std::vector<unsigned> atoms = first;
      atoms.insert(atoms.end(), second.begin(), second.end());
      std::sort(atoms.begin(), atoms.end());
      product[atoms] += x * y;
    }
  return product;
}

std::optional<double> resid::getNumber(const ElementNode *node) {
  node = skipCasts(node);
  if (!node->constant)
    return std::nullopt;
  APFloat value = *node->constant;
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

double resid::shorten(double value) {
  for (int digits = 1; digits != 9; ++digits) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    double candidate = std::strtod(text, nullptr);
    if (static_cast<float>(candidate) == static_cast<float>(value))
      return candidate;
  }
  return value;
}

bool PolynomialRing::areEqual(double a, double b) const {
  return std::fabs(a - b) <= tolerance * std::max(std::fabs(a), std::fabs(b));
}

bool PolynomialRing::areEqual(const Polynomial &a, const Polynomial &b) const {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](const auto &x, const auto &y) {
           return x.first == y.first && areEqual(x.second, y.second);
         });
}

Polynomial PolynomialRing::getAtomOf(const ElementNode *node, PolynomialAtom::Function function) {
  auto found = std::find_if(atoms.begin(), atoms.end(),
                            [&](const PolynomialAtom &atom) { return atom.node == node && atom.function == function; });
  unsigned number = found - atoms.begin();
  if (found == atoms.end())
    atoms.push_back({node, function, {}});
  return {{{number}, 1.0}};
}

/// Programs take the mean of a row twice, so that sums of one thing are one.
Polynomial PolynomialRing::getRowSum(const ElementNode *node, const Polynomial &sum) {
  for (auto [number, atom] : llvm::enumerate(atoms))
    if (atom.node->kind == ElementNode::RowSum && atom.node->summed == node->summed && areEqual(atom.sum, sum))
      return {{{unsigned(number)}, 1.0}};
  atoms.push_back({node, PolynomialAtom::Value, sum});
  return {{{unsigned(atoms.size() - 1)}, 1.0}};
}

std::optional<Polynomial> PolynomialRing::divide(const ElementNode *dividend, const ElementNode *divisor) {
  std::optional<Polynomial> product = expand(dividend);
  if (!product)
    return std::nullopt;
  if (std::optional<double> number = getNumber(divisor))
    return multiply(*product, {{{}, 1.0 / *number}});
  divisor = skipCasts(divisor);
  bool isRoot = isa_and_present<math::SqrtOp>(divisor->op);
  return multiply(*product, isRoot ? getAtomOf(divisor->operands.front(), PolynomialAtom::ReciprocalRoot)
                                   : getAtomOf(divisor, PolynomialAtom::Reciprocal));
}

/// The exponent of a power, if that is a small integer.
static std::optional<int> getExponent(const ElementNode *node) {
  if (APInt integer; matchPattern(node->value, m_ConstantInt(&integer)))
    return integer.sge(1) && integer.sle(kMaximumPower) ? std::optional<int>(integer.getSExtValue()) : std::nullopt;
  std::optional<double> number = getNumber(node);
  if (!number || *number != std::floor(*number) || *number < 1.0 || *number > kMaximumPower)
    return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<Polynomial> PolynomialRing::expandOperation(const ElementNode *node) {
  auto sum = [&](double factor) -> std::optional<Polynomial> {
    std::optional<Polynomial> a = expand(node->operands[0]), b = expand(node->operands[1]);
    return a && b ? std::optional(add(*a, *b, factor)) : std::nullopt;
  };
  auto product = [&]() -> std::optional<Polynomial> {
    std::optional<Polynomial> a = expand(node->operands[0]), b = expand(node->operands[1]);
    return a && b ? std::optional(multiply(*a, *b)) : std::nullopt;
  };
  using Result = std::optional<Polynomial>;
  return llvm::TypeSwitch<Operation *, Result>(node->op)
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return expand(node->operands[0]); })
      .Case<arith::AddFOp>([&](auto) { return sum(1.0); })
      .Case<arith::SubFOp>([&](auto) { return sum(-1.0); })
      .Case<arith::MulFOp>([&](auto) { return product(); })
      .Case<arith::DivFOp>([&](auto) { return divide(node->operands[0], node->operands[1]); })
      .Case<arith::NegFOp>([&](auto) -> Result {
        Result operand = expand(node->operands[0]);
        return operand ? Result(multiply(*operand, {{{}, -1.0}})) : std::nullopt;
      })
      .Case<math::FmaOp>([&](auto) -> Result {
        Result first = product(), last = expand(node->operands[2]);
        return first && last ? Result(add(*first, *last, 1.0)) : std::nullopt;
      })
      .Case<math::RsqrtOp>(
          [&](auto) -> Result { return getAtomOf(skipCasts(node->operands[0]), PolynomialAtom::ReciprocalRoot); })
      .Case<math::PowFOp, math::FPowIOp>([&](auto) -> Result {
        std::optional<int> exponent = getExponent(node->operands[1]);
        Result base = exponent ? expand(node->operands[0]) : std::nullopt;
        if (!base)
          return exponent ? std::nullopt : Result(getAtomOf(node, PolynomialAtom::Value));
        Polynomial power = *base;
        for (int i = 1; i != *exponent; ++i)
          power = multiply(power, *base);
        return power;
      })
      .Default([&](Operation *) -> Result { return getAtomOf(node, PolynomialAtom::Value); });
}

std::optional<Polynomial> PolynomialRing::expand(const ElementNode *node) {
  if (skipCasts(node) == skipCasts(atoms.front().node))
    return Polynomial{{{x}, 1.0}};
  if (auto found = known.find(node); found != known.end())
    return found->second;
  std::optional<Polynomial> result;
  if (node->constant) {
    double number = *getNumber(node);
    result = number == 0.0 ? Polynomial() : Polynomial{{{}, number}};
  } else if (node->kind == ElementNode::RowSum) {
    std::optional<Polynomial> sum = expand(node->operands.front());
    result = sum ? std::optional(getRowSum(node, *sum)) : std::nullopt;
  } else if (node->kind == ElementNode::Operator) {
    result = expandOperation(node);
  } else {
    result = getAtomOf(node, PolynomialAtom::Value);
  }
  if (result && result->size() > kMaximumTerms)
    result = std::nullopt;
  return known[node] = result;
}
