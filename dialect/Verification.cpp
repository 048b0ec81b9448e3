// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Verification.h"
#include "dialect/Shapes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstdlib>

using namespace mlir;
using namespace mlir::resid;

static std::string printShape(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "[";
  llvm::interleaveComma(shape, stream, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      stream << "?";
    else
      stream << size;
  });
  stream << "]";
  return text;
}

std::string resid::printFloat(const llvm::APFloat &value) {
  double number = value.convertToDouble();
  std::string text = llvm::formatv("{0}", llvm::format("%.15g", number));
  if (std::isfinite(number) && std::strtod(text.c_str(), nullptr) != number)
    text = llvm::formatv("{0}", llvm::format("%.17g", number));
  return text;
}

bool resid::agree(int64_t first, int64_t second) {
  return first == second || ShapedType::isDynamic(first) || ShapedType::isDynamic(second);
}

LogicalResult resid::verifyBranchType(Operation *op, RankedTensorType x, RankedTensorType f) {
  if (f == x)
    return success();
  return op->emitOpError("expected f of the type of x, ") << x << ", but got " << f;
}

LogicalResult resid::verifySumType(Operation *op, RankedTensorType x, RankedTensorType sum, StringRef name) {
  Type element = sum.getElementType();
  bool widens = element.isF32() && x.getElementTypeBitWidth() < 32;
  if (sum.getShape() == x.getShape() && (element == x.getElementType() || widens))
    return success();
  return op->emitOpError("expected ") << name << " of shape " << printShape(x.getShape()) << " and of "
                                      << x.getElementType() << (x.getElementTypeBitWidth() < 32 ? " or 'f32'" : "")
                                      << ", but got " << sum;
}

LogicalResult resid::verifyNormalizedType(Operation *op, RankedTensorType x, RankedTensorType normalized,
                                          StringRef name) {
  if (hasQuantizedResult(op)) // verifyQuantizedResult
    return success();
  bool narrows = normalized.getElementTypeBitWidth() < x.getElementTypeBitWidth();
  if (normalized.getShape() == x.getShape() && (normalized.getElementType() == x.getElementType() || narrows))
    return success();
  return op->emitOpError("expected ") << name << " of shape " << printShape(x.getShape()) << " and of "
                                      << x.getElementType() << " or a narrower type, but got " << normalized;
}

LogicalResult resid::verifyParameterType(Operation *op, RankedTensorType x, Value parameter, StringRef name) {
  if (!parameter)
    return success();
  auto type = cast<RankedTensorType>(parameter.getType());
  if (!type.getElementType().isF64() || x.getElementType().isF64())
    return success();
  return op->emitOpError("expected ") << name << " of f16, bf16 or f32 beside x of " << x.getElementType()
                                      << ", but got " << type;
}

LogicalResult resid::verifyTrailingShape(Operation *op, RankedTensorType x, Value parameter, StringRef name) {
  if (!parameter)
    return success();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(parameter.getType()).getShape();
  assert(static_cast<int64_t>(shape.size()) <= x.getRank() && "expected a parameter whose rank was verified before");
  ArrayRef<int64_t> trailing = x.getShape().take_back(shape.size());
  if (llvm::all_of_zip(shape, trailing, agree))
    return success();
  return op->emitOpError("expected ") << name << " of shape " << printShape(trailing)
                                      << ", that of the last dimensions, but got " << printShape(shape);
}

LogicalResult resid::verifyParameterShape(Operation *op, RankedTensorType x, Value parameter, int64_t rank,
                                          StringRef name) {
  if (!parameter)
    return success();
  auto type = cast<RankedTensorType>(parameter.getType());
  if (type.getRank() != rank)
    return op->emitOpError("expected ") << name << " of rank " << rank << " but got " << type;
  return verifyTrailingShape(op, x, parameter, name);
}

LogicalResult resid::verifyGateShape(Operation *op, RankedTensorType x, Value gate, StringRef name) {
  if (!gate)
    return success();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(gate.getType()).getShape();
  bool broadcasts = static_cast<int64_t>(shape.size()) <= x.getRank() &&
                    llvm::all_of_zip(shape, x.getShape().take_back(shape.size()), [](int64_t gateSize, int64_t size) {
                      return gateSize == 1 || agree(gateSize, size);
                    });
  if (broadcasts)
    return success();
  return op->emitOpError("expected a ") << name << " that broadcasts to shape " << printShape(x.getShape())
                                        << " but got " << printShape(shape);
}

LogicalResult resid::verifyScale(Operation *op, Type elementType, const llvm::APFloat &scale, StringRef name) {
  if (roundToArithmetic(scale, elementType).isFinite())
    return success();
  return op->emitOpError("expected ") << name << " to be finite in " << getArithmeticType(elementType) << " but got "
                                      << printFloat(scale);
}

LogicalResult resid::verifyPositive(Operation *op, Type elementType, const llvm::APFloat &number, StringRef name) {
  llvm::APFloat rounded = roundToArithmetic(number, elementType);
  if (rounded.isFinite() && !rounded.isNegative() && !rounded.isZero())
    return success();
  return op->emitOpError("expected ") << name << " to be finite and greater than 0 in "
                                      << getArithmeticType(elementType) << " but got " << printFloat(number);
}

LogicalResult resid::verifyEpsilon(Operation *op, Type elementType, const llvm::APFloat &epsilon) {
  llvm::APFloat rounded = roundToArithmetic(epsilon, elementType);
  // -0 compares equal to 0 but would print as a negative number; it is refused with the negative ones.
  if (!rounded.isFinite() || epsilon.isNegative())
    return op->emitOpError("expected epsilon to be finite and not negative in ")
           << getArithmeticType(elementType) << " but got " << printFloat(epsilon);
  if (rounded.isZero() && !epsilon.isZero())
    return op->emitOpError("expected epsilon to be 0 or to stay above 0 in ")
           << getArithmeticType(elementType) << " but got " << printFloat(epsilon);
  return success();
}

LogicalResult resid::verifyProbability(Operation *op, const llvm::APFloat &p) {
  double value = p.convertToDouble();
  if (value >= 0.0 && value <= 1.0)
    return success();
  return op->emitOpError("expected p in [0, 1] but got ") << printFloat(p);
}

LogicalResult resid::verifySite(Operation *op, int64_t site) {
  if (site >= 0 && site < (int64_t(1) << 32))
    return success();
  return op->emitOpError("expected site in [0, 4294967296) but got ") << site;
}

/// Two operands are given together, or none of them.
static LogicalResult verifyTogether(Operation *op, std::pair<StringRef, Value> first,
                                    std::pair<StringRef, Value> second) {
  if (static_cast<bool>(first.second) == static_cast<bool>(second.second))
    return success();
  return op->emitOpError("expected ") << first.first << " and " << second.first << " together but got only "
                                      << (first.second ? first.first : second.first);
}

static std::optional<int64_t> getConstant(Value value) {
  llvm::APInt constant;
  if (!value || !matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

/// What is known only when the program runs is checked there.
static LogicalResult verifyOriginColumn(Operation *op, Value column, int64_t columns) {
  std::optional<int64_t> first = getConstant(column);
  if (!first)
    return success();
  if (*first % dropoutColumnsPerCall != 0)
    return op->emitOpError("expected origin_col to be a multiple of ")
           << dropoutColumnsPerCall << " but got " << *first;
  int64_t last = dropoutColumnLimit - (ShapedType::isDynamic(columns) ? 0 : columns);
  if (*first < 0 || *first > last)
    return op->emitOpError("expected origin_col in [0, ") << last << "] but got " << *first;
  return success();
}

static LogicalResult verifyExtent(Operation *op, Value local, Value global) {
  std::optional<int64_t> part = getConstant(local), whole = getConstant(global);
  if (part && *part < 1)
    return op->emitOpError("expected extent_local of at least 1 but got ") << *part;
  if (whole && (*whole < 1 || *whole > dropoutWordLimit))
    return op->emitOpError("expected extent_global in [1, ") << dropoutWordLimit << "] but got " << *whole;
  int64_t limit = whole.value_or(dropoutWordLimit);
  if (part && *part > limit)
    return op->emitOpError("expected extent_local of at most ")
           << limit << (whole ? ", which is extent_global," : "") << " but got " << *part;
  return success();
}

LogicalResult resid::verifyOrigin(Operation *op, const DropoutOrigin &origin, int64_t columns) {
  if (failed(verifyTogether(op, {"origin_row", origin.row}, {"origin_site", origin.site})) ||
      failed(verifyTogether(op, {"extent_local", origin.local}, {"extent_global", origin.global})))
    return failure();
  if (!origin.row && (origin.col || origin.local))
    return op->emitOpError("expected origin_row and origin_site beside ")
           << (origin.col ? "origin_col" : "an extent") << " but got none";
  return failure(failed(verifyOriginColumn(op, origin.col, columns)) ||
                 failed(verifyExtent(op, origin.local, origin.global)));
}

LogicalResult resid::verifyRandomPositions(Operation *op, ArrayRef<int64_t> shape) {
  constexpr int64_t maximalRows = dropoutWordLimit, maximalColumns = dropoutColumnLimit;
  int64_t columns = shape.back();
  if (!ShapedType::isDynamic(columns) && columns > maximalColumns)
    return op->emitOpError("expected at most ") << maximalColumns << " columns under dropout but got " << columns;
  // Cannot overflow: the type constraint bounds the product of the static non-zero sizes.
  int64_t rows = 1;
  for (int64_t size : shape.drop_back())
    rows *= ShapedType::isDynamic(size) ? 1 : size;
  if (rows > maximalRows)
    return op->emitOpError("expected at most ") << maximalRows << " rows under dropout but got " << rows;
  return success();
}

LogicalResult resid::verifyDropoutClause(Operation *op, const DropoutClause &clause, ArrayRef<int64_t> shape) {
  bool seed = static_cast<bool>(clause.seed), step = static_cast<bool>(clause.step);
  bool p = clause.p.has_value(), site = clause.site.has_value();
  if (seed != step || seed != p || seed != site) {
    InFlightDiagnostic diagnostic = op->emitOpError("expected seed, step, p and site together but got only ");
    SmallVector<StringRef> given;
    for (auto [present, name] : {std::pair(seed, "seed"), {step, "step"}, {p, "p"}, {site, "site"}})
      if (present)
        given.push_back(name);
    return diagnostic << llvm::join(given, " and ");
  }
  const DropoutOrigin &origin = clause.origin;
  bool hasOrigin = origin.row || origin.site || origin.col;
  if (!seed && (hasOrigin || origin.local || origin.global))
    return op->emitOpError("expected a dropout clause beside ")
           << (hasOrigin ? "origin" : "an extent") << " but got none";
  if (!seed)
    return success();
  return failure(failed(verifyProbability(op, *clause.p)) || failed(verifySite(op, *clause.site)) ||
                 failed(verifyRandomPositions(op, shape)) || failed(verifyOrigin(op, origin, shape.back())));
}

LogicalResult resid::verifyPresence(Operation *op, NormKind kind, StringRef name, bool isExpected, bool isPresent) {
  if (isExpected == isPresent)
    return success();
  bool isPlural = name.ends_with("s");
  return op->emitOpError("expected ") << (!isExpected ? "no "
                                          : isPlural  ? ""
                                                      : "an ")
                                      << name << " for " << stringifyNormKind(kind) << " but got "
                                      << (!isPresent ? "none"
                                          : isPlural ? "some"
                                                     : "one");
}

LogicalResult resid::verifyNormalizedRank(Operation *op, RankedTensorType x, int64_t normalizedRank) {
  if (normalizedRank >= 1 && normalizedRank <= x.getRank())
    return success();
  return op->emitOpError("expected between 1 and ")
         << x.getRank() << " normalised dimensions but got " << normalizedRank;
}

LogicalResult resid::verifyNormRankAttribute(Operation *op, int64_t normRank, int64_t normalizedRank) {
  if (normRank == 1 || normRank == normalizedRank)
    return success();
  return op->emitOpError("expected norm_rank to be left out or to be ") << normalizedRank << " but got " << normRank;
}

LogicalResult resid::verifyWiderGamma(Operation *op, Value gamma, int64_t normalizedRank) {
  auto type = gamma ? cast<RankedTensorType>(gamma.getType()) : RankedTensorType();
  if (!type || normalizedRank <= type.getRank())
    return success();
  return op->emitOpError("expected norm_rank of at most gamma's rank, ")
         << type.getRank() << ", but got " << normalizedRank;
}

LogicalResult resid::verifyBeta(Operation *op, RankedTensorType x, Value gamma, Value beta) {
  if (!beta)
    return success();
  if (!gamma)
    return op->emitOpError("expected gamma beside beta but got none");
  return verifyParameterShape(op, x, beta, cast<RankedTensorType>(gamma.getType()).getRank(), "beta");
}

LogicalResult resid::verifyGammaAttributes(Operation *op, Value gamma, bool zeroCenteredGamma, bool narrowAffine) {
  if (gamma || (!zeroCenteredGamma && !narrowAffine))
    return success();
  return op->emitOpError("expected gamma beside ")
         << (zeroCenteredGamma ? "zero_centered_gamma" : "narrow_affine") << " but got none";
}

LogicalResult resid::verifyGroups(Operation *op, RankedTensorType x, int64_t groups, ValueRange parameters) {
  if (groups < 1)
    return op->emitOpError("expected 1 group or more but got ") << groups;
  SmallVector<int64_t> sizes(1, x.getShape().back());
  for (Value parameter : parameters)
    if (auto type = parameter ? cast<RankedTensorType>(parameter.getType()) : nullptr; type && type.getRank() == 1)
      sizes.push_back(type.getDimSize(0));
  for (int64_t columns : sizes)
    if (!ShapedType::isDynamic(columns) && columns % groups != 0)
      return op->emitOpError("expected a number of groups that divides ") << columns << " but got " << groups;
  return success();
}

LogicalResult resid::verifyStatistics(Operation *op, RankedTensorType x, const NormParts &norm, TypeRange statistics) {
  if (hasQuantizedResult(op)) // its scale stands in their place
    return success();
  size_t count = getNormRule(norm.kind).statistics.size();
  if (!statistics.empty() && statistics.size() != count) {
    InFlightDiagnostic diagnostic = op->emitOpError("expected no statistics");
    if (count)
      diagnostic << " or " << count;
    return diagnostic << " but got " << statistics.size();
  }
  RankedTensorType expected = norm.getStatisticsType(x);
  for (Type type : statistics)
    if (type != expected)
      return op->emitOpError("expected statistics of type ") << expected << " but got " << type;
  return success();
}
