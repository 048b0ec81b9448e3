// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form of size expressions, and sums and products of them; see SizeExpression.h. Quotients and what compares stand
// in SizeQuotients.cpp.

#include "codegen/boundary/SizeExpression.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::resid::boundary;

using Kind = SizeExpr::Kind;

//===------------------------------------------- form -------------------------------------------------------------===//

/// In the order of Kind.
static constexpr llvm::StringLiteral kKindNames[] = {"size", "number", "floor", "truncate", "divideu", "remu", "min",
                                                     "max",  "less",   "equal", "select",   "product", "sum"};

SizeExpr SizeExpr::constant(MLIRContext *context, int64_t value) {
  return SizeExpr(Builder(context).getI64IntegerAttr(value));
}

static SizeExpr makeSymbol(MLIRContext *context, Kind kind, unsigned index) {
  Builder builder(context);
  return SizeExpr(builder.getArrayAttr(
      {builder.getStringAttr(kKindNames[unsigned(kind)]), builder.getI64IntegerAttr(int64_t(index))}));
}

SizeExpr SizeExpr::size(MLIRContext *context, unsigned index) { return makeSymbol(context, Kind::Size, index); }
SizeExpr SizeExpr::number(MLIRContext *context, unsigned index) { return makeSymbol(context, Kind::Number, index); }

SizeExpr mlir::resid::boundary::makeSizeNode(Kind kind, ArrayRef<SizeExpr> operands) {
  MLIRContext *context = operands.front().getContext();
  SmallVector<Attribute> parts = {StringAttr::get(context, kKindNames[unsigned(kind)])};
  for (SizeExpr operand : operands)
    parts.push_back(operand.getAttribute());
  return SizeExpr(ArrayAttr::get(context, parts));
}

Kind SizeExpr::getKind() const {
  auto parts = dyn_cast<ArrayAttr>(attribute);
  if (!parts)
    return Kind::Constant;
  StringRef name = cast<StringAttr>(parts[0]).getValue();
  return Kind(llvm::find(kKindNames, name) - std::begin(kKindNames));
}

std::optional<int64_t> SizeExpr::getConstant() const {
  auto constant = dyn_cast<IntegerAttr>(attribute);
  return constant ? std::optional(constant.getInt()) : std::nullopt;
}

unsigned SizeExpr::getIndex() const { return unsigned(cast<IntegerAttr>(cast<ArrayAttr>(attribute)[1]).getInt()); }

SmallVector<SizeExpr, 2> SizeExpr::getOperands() const {
  SmallVector<SizeExpr, 2> operands;
  if (getKind() != Kind::Constant && getKind() > Kind::Number)
    for (Attribute operand : cast<ArrayAttr>(attribute).getValue().drop_front())
      operands.push_back(SizeExpr(operand));
  return operands;
}

bool SizeExpr::hasNumbers() const {
  return getKind() == Kind::Number ||
         llvm::any_of(getOperands(), [](SizeExpr operand) { return operand.hasNumbers(); });
}

/// The same operation on other operands.
static SizeExpr remake(Kind kind, ArrayRef<SizeExpr> operands) {
  SizeExpr a = operands[0], b = operands[1];
  auto fold = [&](auto operation) {
    SizeExpr all = a;
    for (SizeExpr operand : operands.drop_front())
      all = operation(all, operand);
    return all;
  };
  switch (kind) {
  case Kind::Floor:
    return floorDivide(a, b);
  case Kind::Truncate:
    return truncateDivide(a, b);
  case Kind::DivideUnsigned:
    return divideUnsigned(a, b);
  case Kind::RemainderUnsigned:
    return remainderUnsigned(a, b);
  case Kind::Min:
    return fold(minimum);
  case Kind::Max:
    return fold(maximum);
  case Kind::Less:
    return isLess(a, b);
  case Kind::Equal:
    return isEqual(a, b);
  case Kind::Select:
    return select(a, b, operands[2]);
  case Kind::Product:
    return fold([](SizeExpr x, SizeExpr y) { return x * y; });
  case Kind::Sum:
    return fold([](SizeExpr x, SizeExpr y) { return x + y; });
  case Kind::Size:
  case Kind::Number:
  case Kind::Constant:
    break;
  }
  llvm_unreachable("expected an operation");
}

SizeExpr SizeExpr::replaceSizes(llvm::function_ref<SizeExpr(unsigned)> replacement) const {
  Kind kind = getKind();
  if (kind == Kind::Size)
    return replacement(getIndex());
  if (kind == Kind::Constant || kind == Kind::Number)
    return *this;
  SmallVector<SizeExpr, 2> operands;
  for (SizeExpr operand : getOperands()) {
    operands.push_back(operand.replaceSizes(replacement));
    if (!operands.back())
      return {};
  }
  return remake(kind, operands);
}

//===------------------------------------------- sums of products -------------------------------------------------===//

/// More terms are no size that anyone would read.
static constexpr size_t kMaximumTerms = 32;

/// An order that is the same in every run, which pointers would not give: below 0, 0 or above.
static int compare(SizeExpr a, SizeExpr b) {
  if (a == b)
    return 0;
  auto order = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : 0; };
  Kind kind = a.getKind();
  if (int byKind = order(kind, b.getKind()))
    return byKind;
  if (kind == Kind::Constant)
    return order(*a.getConstant(), *b.getConstant());
  if (kind <= Kind::Number)
    return order(a.getIndex(), b.getIndex());
  auto left = a.getOperands(), right = b.getOperands();
  for (auto [x, y] : llvm::zip(left, right))
    if (int byOperand = compare(x, y))
      return byOperand;
  return order(left.size(), right.size());
}

bool mlir::resid::boundary::isBefore(SizeExpr a, SizeExpr b) { return compare(a, b) < 0; }

/// The constant is last.
static bool isTermBefore(const SizeTerm &a, const SizeTerm &b) {
  if (a.factors.empty() || b.factors.empty())
    return !a.factors.empty() && b.factors.empty();
  return std::lexicographical_compare(a.factors.begin(), a.factors.end(), b.factors.begin(), b.factors.end(), isBefore);
}

static SizeTerm getTerm(SizeExpr expression) {
  if (std::optional<int64_t> constant = expression.getConstant())
    return {{}, *constant};
  if (expression.getKind() != Kind::Product)
    return {{expression}, 1};
  SizeTerm term{expression.getOperands(), 1};
  if (std::optional<int64_t> coefficient = term.factors.back().getConstant()) {
    term.coefficient = *coefficient;
    term.factors.pop_back();
  }
  return term;
}

SizeTerms mlir::resid::boundary::getTerms(SizeExpr expression) {
  if (expression.getKind() != Kind::Sum)
    return {getTerm(expression)};
  SizeTerms terms;
  for (SizeExpr operand : expression.getOperands())
    terms.push_back(getTerm(operand));
  return terms;
}

static SizeExpr makeProduct(MLIRContext *context, const SizeTerm &term) {
  SmallVector<SizeExpr, 2> operands = term.factors;
  if (term.coefficient != 1 || operands.empty())
    operands.push_back(SizeExpr::constant(context, term.coefficient));
  return operands.size() == 1 ? operands.front() : makeSizeNode(Kind::Product, operands);
}

SizeExpr mlir::resid::boundary::makeSum(MLIRContext *context, SizeTerms terms) {
  llvm::sort(terms, isTermBefore);
  SizeTerms merged;
  for (SizeTerm &term : terms) {
    if (merged.empty() || merged.back().factors != term.factors)
      merged.push_back(std::move(term));
    else if (llvm::AddOverflow(merged.back().coefficient, term.coefficient, merged.back().coefficient))
      return {};
  }
  llvm::erase_if(merged, [](const SizeTerm &term) { return term.coefficient == 0; });
  if (merged.size() > kMaximumTerms)
    return {};
  auto operands = llvm::map_to_vector(merged, [&](const SizeTerm &term) { return makeProduct(context, term); });
  if (operands.empty())
    return SizeExpr::constant(context, 0);
  return operands.size() == 1 ? operands.front() : makeSizeNode(Kind::Sum, operands);
}

SizeExpr mlir::resid::boundary::operator+(SizeExpr a, SizeExpr b) {
  if (!a || !b)
    return {};
  SizeTerms terms = getTerms(a);
  llvm::append_range(terms, getTerms(b));
  return makeSum(a.getContext(), std::move(terms));
}

SizeExpr mlir::resid::boundary::operator*(SizeExpr a, SizeExpr b) {
  if (!a || !b)
    return {};
  SizeTerms product;
  for (const SizeTerm &left : getTerms(a))
    for (const SizeTerm &right : getTerms(b)) {
      SizeTerm &both = product.emplace_back(left);
      llvm::append_range(both.factors, right.factors);
      llvm::sort(both.factors, isBefore);
      if (both.factors.size() > kMaximumTerms ||
          llvm::MulOverflow(left.coefficient, right.coefficient, both.coefficient))
        return {};
    }
  return makeSum(a.getContext(), std::move(product));
}

SizeExpr mlir::resid::boundary::operator+(SizeExpr a, int64_t b) {
  return a ? a + SizeExpr::constant(a.getContext(), b) : SizeExpr();
}

SizeExpr mlir::resid::boundary::operator*(SizeExpr a, int64_t b) {
  return a ? a * SizeExpr::constant(a.getContext(), b) : SizeExpr();
}

SizeExpr mlir::resid::boundary::operator-(SizeExpr a, SizeExpr b) { return a + b * -1; }

std::pair<int64_t, SizeExpr> mlir::resid::boundary::splitCoefficient(SizeExpr expression) {
  SizeTerms terms = getTerms(expression);
  int64_t divisor = 0;
  for (const SizeTerm &term : terms)
    divisor = std::gcd(divisor, term.coefficient);
  if (divisor == 0 || expression.getConstant())
    return {expression.getConstant().value_or(0), SizeExpr::constant(expression.getContext(), 1)};
  for (SizeTerm &term : terms)
    term.coefficient /= divisor;
  return {divisor, makeSum(expression.getContext(), std::move(terms))};
}

//===------------------------------------------- value ------------------------------------------------------------===//

static std::optional<int64_t> inLimits(std::optional<int64_t> value) {
  return value && *value >= -kSizeLimit && *value <= kSizeLimit ? value : std::nullopt;
}

/// Of an operation on two values or more, which are within the limits but for constants.
static std::optional<int64_t> compute(Kind kind, ArrayRef<int64_t> values) {
  int64_t a = values[0], b = values[1];
  bool divides = llvm::is_contained({Kind::Floor, Kind::Truncate, Kind::DivideUnsigned, Kind::RemainderUnsigned}, kind);
  if (divides && (b == 0 || (a == INT64_MIN && b == -1)))
    return std::nullopt;
  switch (kind) {
  case Kind::Floor:
    return llvm::divideFloorSigned(a, b);
  case Kind::Truncate:
    return a / b;
  case Kind::DivideUnsigned:
    return int64_t(uint64_t(a) / uint64_t(b));
  case Kind::RemainderUnsigned:
    return int64_t(uint64_t(a) % uint64_t(b));
  case Kind::Min:
    return *llvm::min_element(values);
  case Kind::Max:
    return *llvm::max_element(values);
  case Kind::Less:
    return a < b;
  case Kind::Equal:
    return a == b;
  case Kind::Sum:
  case Kind::Product: {
    std::optional<int64_t> result = a;
    for (int64_t value : values.drop_front())
      result = !result                 ? std::nullopt
               : kind == Kind::Product ? inLimits(llvm::checkedMul(*result, value))
                                       : llvm::checkedAdd(*result, value);
    return result;
  }
  case Kind::Size:
  case Kind::Number:
  case Kind::Constant:
  case Kind::Select:
    break;
  }
  llvm_unreachable("expected an operation whose operands all count");
}

std::optional<int64_t> mlir::resid::boundary::evaluateSize(SizeExpr expression, llvm::ArrayRef<int64_t> sizes) {
  Kind kind = expression.getKind();
  if (kind == Kind::Constant)
    return expression.getConstant();
  if (kind == Kind::Size)
    return inLimits(sizes[expression.getIndex()]);
  if (kind == Kind::Select) {
    std::optional<int64_t> condition = evaluateSize(expression.getOperand(0), sizes);
    return condition ? evaluateSize(expression.getOperand(*condition != 0 ? 1 : 2), sizes) : std::nullopt;
  }
  SmallVector<int64_t> values;
  for (SizeExpr operand : expression.getOperands()) {
    std::optional<int64_t> value = evaluateSize(operand, sizes);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return inLimits(compute(kind, values));
}
