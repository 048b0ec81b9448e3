// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Size expressions in normal form beside the same arithmetic on numbers: values, bounds and texts.

#include "codegen/boundary/SizeExpression.h"

#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace mlir::resid::boundary;

namespace {

using Number = std::optional<int64_t>;

/// An expression, and its value for some sizes; no value where a step has none.
struct Both {
  SizeExpr expression;
  Number value;
};

class SizeExpressionTest : public ::testing::Test {
protected:
  SizeExpr size(unsigned index) { return SizeExpr::size(&context, index); }
  SizeExpr constant(int64_t value) { return SizeExpr::constant(&context, value); }
  std::string print(SizeExpr expression) {
    return printSize(expression, [](unsigned index) { return std::string(1, char('n' - index)); });
  }
  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }
  Both draw(ArrayRef<int64_t> sizes, unsigned depth);
  Both combine(unsigned operation, Both a, Both b, Both c);

  MLIRContext context;
  std::mt19937 random{1};
};

Both SizeExpressionTest::combine(unsigned operation, Both a, Both b, Both c) {
  if (!a.value || !b.value || !c.value || !a.expression || !b.expression || !c.expression)
    return {};
  int64_t x = *a.value, y = *b.value;
  SizeExpr e = a.expression, f = b.expression;
  uint64_t u = x, v = y;
  bool divides = operation >= 3 && operation <= 9;
  if (divides && y == 0)
    return {};
  switch (operation) {
  case 0:
    return {e + f, x + y};
  case 1:
    return {e - f, x - y};
  case 2:
    return {e * f, x * y};
  case 3:
    return {floorDivide(e, f), llvm::divideFloorSigned(x, y)};
  case 4:
    return {ceilDivide(e, f), llvm::divideCeilSigned(x, y)};
  case 5:
    return {truncateDivide(e, f), x / y};
  case 6:
    return {floorRemainder(e, f), x - llvm::divideFloorSigned(x, y) * y};
  case 7:
    return {truncateRemainder(e, f), x % y};
  case 8:
    return {divideUnsigned(e, f), u / v > uint64_t(kSizeLimit) ? Number() : int64_t(u / v)};
  case 9:
    return {remainderUnsigned(e, f), u % v > uint64_t(kSizeLimit) ? Number() : int64_t(u % v)};
  case 10:
    return {minimum(e, f), std::min(x, y)};
  case 11:
    return {maximum(e, f), std::max(x, y)};
  case 12:
    return {select(isLess(e, f), c.expression, a.expression), x < y ? *c.value : x};
  default:
    return {select(isEqual(e, f), c.expression, b.expression), x == y ? *c.value : y};
  }
}

Both SizeExpressionTest::draw(ArrayRef<int64_t> sizes, unsigned depth) {
  if (depth == 0 || pick(0, 5) == 0) {
    unsigned index = pick(0, 3);
    int64_t number = pick(-9, 9);
    return index < sizes.size() ? Both{size(index), sizes[index]} : Both{constant(number), number};
  }
  return combine(pick(0, 13), draw(sizes, depth - 1), draw(sizes, depth - 1), draw(sizes, depth - 1));
}

TEST_F(SizeExpressionTest, HasTheValueOfItsSteps) {
  unsigned compared = 0;
  for (unsigned round = 0; round < 8000; ++round) {
    SmallVector<int64_t> sizes = {pick(0, 12), pick(0, 5)};
    Both both = draw(sizes, 1 + round % 4);
    if (!both.expression || !both.value)
      continue;
    ++compared;
    ASSERT_EQ(evaluateSize(both.expression, sizes), both.value) << print(both.expression);
    SizeBounds bounds = getBounds(both.expression);
    ASSERT_LE(bounds.low, *both.value) << print(both.expression);
    ASSERT_GE(bounds.high, *both.value) << print(both.expression);
    // Symbols that are replaced by themselves leave the same expression.
    ASSERT_EQ(both.expression.replaceSizes([&](unsigned index) { return size(index); }), both.expression);
  }
  EXPECT_GT(compared, 4000u);
}

/// All spellings of what a multiple of four needs, and of the multiple, are one expression.
TEST_F(SizeExpressionTest, PadsToMultiplesInAllSpellings) {
  SizeExpr n = size(0), four = constant(4);
  SizeExpr multiple = ceilDivide(n, four) * 4;
  for (SizeExpr padding : {truncateRemainder(constant(4) - truncateRemainder(n, four), four),
                           floorRemainder(constant(4) - floorRemainder(n, four), four), floorRemainder(n * -1, four),
                           remainderUnsigned(constant(4) - remainderUnsigned(n, four), four), multiple - n,
                           truncateDivide(n + 3, four) * 4 - n, floorDivide(n * -1, four) * -4 - n}) {
    EXPECT_EQ(n + padding, multiple) << print(padding);
    EXPECT_TRUE(isNeverNegative(padding)) << print(padding);
  }
  EXPECT_EQ(print(multiple), "ceil(n / 4) * 4");
  EXPECT_EQ(print(multiple - n), "3 - (n + 3) % 4");
  EXPECT_EQ(print(truncateRemainder(n, four)), "n % 4");
}

TEST_F(SizeExpressionTest, PrintsWhatCComputes) {
  SizeExpr n = size(0), m = size(1);
  EXPECT_EQ(print(truncateRemainder(n - m, constant(4))), "(n - m) % 4");
  EXPECT_EQ(print(floorRemainder(n - m, constant(4))), "mod(n - m, 4)");
  EXPECT_EQ(print(floorDivide(n - m, constant(4))), "floor((n - m) / 4)");
  EXPECT_EQ(print(truncateDivide(n - m, constant(4)) * 3), "((n - m) / 4) * 3");
  EXPECT_EQ(print(floorDivide(n, m)), "n / m");
  EXPECT_EQ(print(truncateRemainder(n, m)), "n % m");
  EXPECT_EQ(print(floorRemainder(n - constant(7), constant(3))), "(n + 2) % 3");
  EXPECT_EQ(print(maximum(minimum(n, m), constant(3)) * 2), "max(min(n, m), 3) * 2");
  EXPECT_EQ(print(select(isLess(n, constant(5)), n * -1, m + 2)), "((n < 5) ? -n : m + 2)");
  EXPECT_EQ(print(m * -1 + 3), "3 - m");
  EXPECT_EQ(print(m * n * -1), "-n * m");
}

/// Nothing that is always true, and no number beyond what sizes can be, is left.
TEST_F(SizeExpressionTest, DropsWhatBoundsDecide) {
  SizeExpr n = size(0), m = size(1);
  EXPECT_EQ(maximum(n, constant(0)), n);
  EXPECT_EQ(minimum(n * m, constant(INT64_MAX)), n * m);
  EXPECT_EQ(select(isLess(n, constant(0)), n + m, n), n);
  EXPECT_EQ(minimum(n, n + 1), n);
  EXPECT_EQ(floorDivide(truncateRemainder(n, constant(3)), constant(3)), constant(0));
  EXPECT_EQ(floorDivide(floorDivide(n, constant(3)) + 1, constant(2)), floorDivide(n + 3, constant(6)));
  EXPECT_EQ(truncateRemainder(n, m) + truncateDivide(n, m) * m, n);
}

TEST_F(SizeExpressionTest, HasNoValueBeyondTheLimits) {
  SizeExpr n = size(0), m = size(1);
  EXPECT_EQ(evaluateSize(floorDivide(n, m), {5, 0}), std::nullopt);
  EXPECT_EQ(evaluateSize(n * m, {int64_t(1) << 40, int64_t(1) << 40}), std::nullopt);
  EXPECT_EQ(evaluateSize(n + m, {kSizeLimit, 1}), std::nullopt);
  EXPECT_FALSE(floorDivide(n, constant(0)));
  EXPECT_FALSE(n * INT64_MAX * 2);
}

} // namespace
