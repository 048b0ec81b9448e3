// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions over run-time sizes: sums, products, quotients, minima and choices of sizes and numbers. Owns their
// normal form, what they can be at most, their text and their value; does not own which size has which expression.

#ifndef RESID_CODEGEN_BOUNDARY_SIZEEXPRESSION_H
#define RESID_CODEGEN_BOUNDARY_SIZEEXPRESSION_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>

namespace mlir::resid::boundary {

/// No number in the value of an expression, on the way or in the end, is beyond this in either direction.
constexpr int64_t kSizeLimit = int64_t(1) << 47;

/// An integer expression in normal form, so that equal polynomials are one expression. It is an attribute, which makes
/// it unique within its context. Null stands for what is no expression: where an operand is null, a constant divisor is
/// 0, a coefficient overflows, or there are too many terms.
class SizeExpr {
public:
  enum class Kind {
    Size,           // the size of this index, which is at least 0
    Number,         // any integer, known by this index
    Floor,          // a / b, rounded down
    Truncate,       // a / b, rounded to 0, where it may be below 0
    DivideUnsigned, // a / b and a % b of the 64 bits as an unsigned number, where they may be below 0
    RemainderUnsigned,
    Min, // of two or more
    Max,
    Less, // a < b as 1 or 0
    Equal,
    Select,  // a != 0 ? b : c
    Product, // of factors that are none of the two below, and of a constant, which is last
    Sum,     // of products and a constant, which is last
    Constant,
  };

  SizeExpr() = default;
  explicit SizeExpr(Attribute attribute) : attribute(attribute) {}
  static SizeExpr constant(MLIRContext *context, int64_t value);
  static SizeExpr size(MLIRContext *context, unsigned index);
  static SizeExpr number(MLIRContext *context, unsigned index);

  explicit operator bool() const { return bool(attribute); }
  bool operator==(SizeExpr other) const { return attribute == other.attribute; }
  bool operator!=(SizeExpr other) const { return attribute != other.attribute; }
  Attribute getAttribute() const { return attribute; }
  MLIRContext *getContext() const { return attribute.getContext(); }

  Kind getKind() const;
  std::optional<int64_t> getConstant() const;
  bool isConstant(int64_t value) const { return getConstant() == value; }
  /// Of a size or a number.
  unsigned getIndex() const;
  /// Of all others but constants.
  SmallVector<SizeExpr, 2> getOperands() const;
  SizeExpr getOperand(unsigned index) const { return getOperands()[index]; }

  /// With another expression for each size; null where `replacement` gives null.
  SizeExpr replaceSizes(llvm::function_ref<SizeExpr(unsigned)> replacement) const;
  /// Whether it, or an operand of it, is a number that only an index tells.
  bool hasNumbers() const;

private:
  Attribute attribute;
};

/// For the functions below, which bring operands into normal form first.
SizeExpr makeSizeNode(SizeExpr::Kind kind, ArrayRef<SizeExpr> operands);
/// An order that is the same in every run.
bool isBefore(SizeExpr a, SizeExpr b);

/// What an expression is at least and at most, whatever the sizes are.
struct SizeBounds {
  int64_t low, high;
};
SizeBounds getBounds(SizeExpr expression);
inline bool isNeverNegative(SizeExpr expression) { return getBounds(expression).low >= 0; }

SizeExpr operator+(SizeExpr a, SizeExpr b);
SizeExpr operator-(SizeExpr a, SizeExpr b);
SizeExpr operator*(SizeExpr a, SizeExpr b);
SizeExpr operator+(SizeExpr a, int64_t b);
SizeExpr operator*(SizeExpr a, int64_t b);
/// Rounded down, up and to 0. Remainders go with the quotient of the same name: a - a / b * b.
SizeExpr floorDivide(SizeExpr a, SizeExpr b);
SizeExpr ceilDivide(SizeExpr a, SizeExpr b);
SizeExpr truncateDivide(SizeExpr a, SizeExpr b);
SizeExpr floorRemainder(SizeExpr a, SizeExpr b);
SizeExpr truncateRemainder(SizeExpr a, SizeExpr b);
/// Of 64 bits without a sign.
SizeExpr divideUnsigned(SizeExpr a, SizeExpr b);
SizeExpr remainderUnsigned(SizeExpr a, SizeExpr b);
SizeExpr minimum(SizeExpr a, SizeExpr b);
SizeExpr maximum(SizeExpr a, SizeExpr b);
/// 1 or 0.
SizeExpr isLess(SizeExpr a, SizeExpr b);
SizeExpr isEqual(SizeExpr a, SizeExpr b);
/// `condition` is 1 or 0. The one that is not chosen need not have a value.
SizeExpr select(SizeExpr condition, SizeExpr a, SizeExpr b);

/// A polynomial, term by term: products of factors that are no sums or products, each by a coefficient. The constant is
/// last, and has no factors.
struct SizeTerm {
  SmallVector<SizeExpr, 2> factors;
  int64_t coefficient;
};
using SizeTerms = SmallVector<SizeTerm, 4>;
SizeTerms getTerms(SizeExpr expression);
/// Null where a coefficient overflows, or where there are too many terms.
SizeExpr makeSum(MLIRContext *context, SizeTerms terms);

/// dividend % divisor, by a coefficient, where terms a - a / b * b are one.
struct SizeRemainder {
  SizeExpr dividend, divisor;
  int64_t coefficient;
  bool roundsDown;
};
/// Takes pairs of terms away that together are a remainder.
SmallVector<SizeRemainder, 1> takeRemainders(SizeTerms &terms);

/// The greatest number that divides all terms, and the expression that it multiplies. Of a constant, that is the
/// constant, and 1.
std::pair<int64_t, SizeExpr> splitCoefficient(SizeExpr expression);

/// What index arithmetic in 64 bits computes, and conditions on it as 1 or 0; `operand` gives the expressions of its
/// operands, or null. Null for every other operation. Where arithmetic overflows, or a divisor is 0, the expression has
/// no value.
SizeExpr toSizeExpression(Operation *op, llvm::function_ref<SizeExpr(Value)> operand);
/// The divisor of an operation that divides such numbers, or null.
Value getDivisor(Operation *op);

/// The text in C's notation; `nameOf` names the sizes. `a / b` and `a % b` are rounded as in C. Where that matters,
/// other ones are `floor(a / b)` and `mod(a, b)`; a quotient that rounds up is `ceil(a / b)`.
std::string printSize(SizeExpr expression, llvm::function_ref<std::string(unsigned)> nameOf);

/// The value for these sizes. Nothing where a divisor is 0, or a number is beyond kSizeLimit.
std::optional<int64_t> evaluateSize(SizeExpr expression, llvm::ArrayRef<int64_t> sizes);

} // namespace mlir::resid::boundary

template <> struct llvm::DenseMapInfo<mlir::resid::boundary::SizeExpr> {
  using SizeExpr = mlir::resid::boundary::SizeExpr;
  using Info = llvm::DenseMapInfo<mlir::Attribute>;
  static SizeExpr getEmptyKey() { return SizeExpr(Info::getEmptyKey()); }
  static SizeExpr getTombstoneKey() { return SizeExpr(Info::getTombstoneKey()); }
  static unsigned getHashValue(SizeExpr expression) { return Info::getHashValue(expression.getAttribute()); }
  static bool isEqual(SizeExpr a, SizeExpr b) { return a == b; }
};

#endif // RESID_CODEGEN_BOUNDARY_SIZEEXPRESSION_H
