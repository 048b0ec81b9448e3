// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/SizeExpression.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid::boundary;

using Kind = SizeExpr::Kind;

namespace {

class SizePrinter {
public:
  explicit SizePrinter(llvm::function_ref<std::string(unsigned)> nameOf) : nameOf(nameOf) {}

  std::string print(SizeExpr expression);

private:
  /// As an operand of * / %.
  std::string printFactor(SizeExpr expression);
  std::string printQuotient(SizeExpr quotient);
  std::string printRemainder(const SizeRemainder &remainder);
  std::string printProduct(ArrayRef<std::string> factors, int64_t coefficient);
  std::string printSum(SizeTerms terms);
  std::string printCall(llvm::StringRef name, ArrayRef<SizeExpr> operands);

  llvm::function_ref<std::string(unsigned)> nameOf;
};

} // namespace

static bool isPlain(Kind kind) {
  return llvm::is_contained({Kind::Size, Kind::Number, Kind::Constant, Kind::DivideUnsigned, Kind::RemainderUnsigned,
                             Kind::Min, Kind::Max, Kind::Less, Kind::Equal, Kind::Select},
                            kind);
}

std::string SizePrinter::printFactor(SizeExpr expression) {
  std::string text = print(expression);
  llvm::StringRef start = text;
  bool isCall = expression.getKind() == Kind::Floor && (start.starts_with("ceil(") || start.starts_with("floor("));
  return isPlain(expression.getKind()) || isCall ? text : "(" + text + ")";
}

std::string SizePrinter::printCall(llvm::StringRef name, ArrayRef<SizeExpr> operands) {
  auto texts = llvm::map_to_vector(operands, [&](SizeExpr operand) { return print(operand); });
  return (name + "(" + llvm::join(texts, ", ") + ")").str();
}

/// C rounds quotients to 0, which is down where nothing is negative.
std::string SizePrinter::printQuotient(SizeExpr quotient) {
  SizeExpr dividend = quotient.getOperand(0), divisor = quotient.getOperand(1);
  std::optional<int64_t> number = divisor.getConstant();
  SizeTerms terms = getTerms(dividend);
  bool roundsDown = quotient.getKind() == Kind::Floor;
  if (roundsDown && number && terms.back().factors.empty() && terms.back().coefficient == *number - 1)
    return "ceil(" + printFactor(dividend + (1 - *number)) + " / " + printFactor(divisor) + ")";
  std::string text = printFactor(dividend) + " / " + printFactor(divisor);
  return !roundsDown || (isNeverNegative(dividend) && isNeverNegative(divisor)) ? text : "floor(" + text + ")";
}

std::string SizePrinter::printRemainder(const SizeRemainder &remainder) {
  auto [dividend, divisor, coefficient, roundsDown] = remainder;
  if (roundsDown && !(isNeverNegative(dividend) && isNeverNegative(divisor)))
    return printCall("mod", {dividend, divisor});
  return printFactor(dividend) + " % " + printFactor(divisor);
}

/// Of a coefficient of at least 0.
std::string SizePrinter::printProduct(ArrayRef<std::string> factors, int64_t coefficient) {
  SmallVector<std::string> all(factors);
  if (coefficient != 1 || factors.empty())
    all.push_back(std::to_string(coefficient));
  return llvm::join(all, " * ");
}

std::string SizePrinter::printSum(SizeTerms terms) {
  SmallVector<std::pair<bool, std::string>> parts; // whether it is taken away
  auto add = [&](ArrayRef<std::string> factors, int64_t coefficient) {
    parts.push_back({coefficient < 0, printProduct(factors, coefficient < 0 ? -coefficient : coefficient)});
  };
  SmallVector<SizeRemainder, 1> remainders = takeRemainders(terms);
  for (const SizeTerm &term : terms) {
    bool isAlone = term.factors.size() == 1 && std::abs(term.coefficient) == 1;
    add(llvm::map_to_vector(term.factors,
                            [&](SizeExpr factor) { return isAlone ? print(factor) : printFactor(factor); }),
        term.coefficient);
  }
  for (const SizeRemainder &remainder : remainders) {
    std::string text = printRemainder(remainder);
    bool isAlone = std::abs(remainder.coefficient) == 1 || llvm::StringRef(text).starts_with("mod(");
    add(isAlone ? text : "(" + text + ")", remainder.coefficient);
  }
  // Something that is added goes first.
  auto first = llvm::find_if(parts, [](const auto &part) { return !part.first; });
  std::rotate(parts.begin(), first == parts.end() ? parts.begin() : first,
              first == parts.end() ? parts.begin() : first + 1);
  std::string text = parts.front().first ? "-" : "";
  for (auto [index, part] : llvm::enumerate(parts))
    text += (index == 0 ? "" : part.first ? " - " : " + ") + part.second;
  return text;
}

std::string SizePrinter::print(SizeExpr expression) {
  SmallVector<SizeExpr, 2> operands = expression.getOperands();
  switch (expression.getKind()) {
  case Kind::Size:
    return nameOf(expression.getIndex());
  case Kind::Number:
    return "number" + std::to_string(expression.getIndex());
  case Kind::Constant:
    return std::to_string(*expression.getConstant());
  case Kind::Sum:
  case Kind::Product:
    return printSum(getTerms(expression));
  case Kind::Floor:
  case Kind::Truncate:
    return printQuotient(expression);
  case Kind::DivideUnsigned:
    return printCall("udiv", operands);
  case Kind::RemainderUnsigned:
    return printCall("urem", operands);
  case Kind::Min:
    return printCall("min", operands);
  case Kind::Max:
    return printCall("max", operands);
  case Kind::Less:
    return "(" + print(operands[0]) + " < " + print(operands[1]) + ")";
  case Kind::Equal:
    return "(" + print(operands[0]) + " == " + print(operands[1]) + ")";
  case Kind::Select:
    return "(" + print(operands[0]) + " ? " + print(operands[1]) + " : " + print(operands[2]) + ")";
  }
  llvm_unreachable("expected a kind of expression");
}

std::string mlir::resid::boundary::printSize(SizeExpr expression, llvm::function_ref<std::string(unsigned)> nameOf) {
  return SizePrinter(nameOf).print(expression);
}
