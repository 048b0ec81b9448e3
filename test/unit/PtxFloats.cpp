// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Float instructions of the PTX interpreter, against the host and against llvm::APFloat, which computes narrow floats in
// another way.

#include "PtxFloatTest.h"

#include <cmath>

using namespace resid::ptx;
using llvm::APFloat;

namespace {

/// NaN is NaN, whatever its bits.
template <typename F> void expectDoubles(const std::string &instruction, F function) {
  std::vector<uint64_t> results = apply(instruction, 'd', kDoubleCases);
  ASSERT_GE(results.size(), kDoubleCases.size());
  for (size_t index = 0; index < kDoubleCases.size(); ++index) {
    double a = asDouble(kDoubleCases[index][0]), b = asDouble(kDoubleCases[index][1]);
    double should = function(a, b, asDouble(kDoubleCases[index][2])), is = asDouble(results[index]);
    if (std::isnan(should))
      EXPECT_TRUE(std::isnan(is));
    else
      EXPECT_EQ(results[index], llvm::bit_cast<uint64_t>(should)) << instruction << " of " << a << ", " << b;
  }
}

TEST(PtxFloats, Single) {
  expectEach("add.rn.f32 %ry, %r0, %r1;", 'r', kFloatCases, onFloats([](float a, float b, float) { return a + b; }));
  expectEach("sub.rn.f32 %ry, %r0, %r1;", 'r', kFloatCases, onFloats([](float a, float b, float) { return a - b; }));
  expectEach("mul.rn.f32 %ry, %r0, %r1;", 'r', kFloatCases, onFloats([](float a, float b, float) { return a * b; }));
  expectEach("div.rn.f32 %ry, %r0, %r1;", 'r', kFloatCases, onFloats([](float a, float b, float) { return a / b; }));
  expectEach("fma.rn.f32 %ry, %r0, %r1, %r2;", 'r', kFloatCases,
             onFloats([](float a, float b, float c) { return std::fma(a, b, c); }));
  expectEach("sqrt.rn.f32 %ry, %r0;", 'r', kFloatCases, onFloats([](float a, float, float) { return std::sqrt(a); }));
  expectEach("rcp.rn.f32 %ry, %r0;", 'r', kFloatCases, onFloats([](float a, float, float) { return 1 / a; }));
  expectEach("neg.f32 %ry, %r0;", 'r', kFloatCases, [](uint64_t a, uint64_t, uint64_t) { return a ^ 0x80000000; });
  expectEach("abs.f32 %ry, %r0;", 'r', kFloatCases, [](uint64_t a, uint64_t, uint64_t) { return a & 0x7fffffff; });
  expectEach("copysign.f32 %ry, %r0, %r1;", 'r', kFloatCases,
             [](uint64_t a, uint64_t b, uint64_t) { return (a & 0x80000000) | (b & 0x7fffffff); });
}

TEST(PtxFloats, Double) {
  expectDoubles("add.rn.f64 %dy, %d0, %d1;", [](double a, double b, double) { return a + b; });
  expectDoubles("sub.rn.f64 %dy, %d0, %d1;", [](double a, double b, double) { return a - b; });
  expectDoubles("mul.rn.f64 %dy, %d0, %d1;", [](double a, double b, double) { return a * b; });
  expectDoubles("div.rn.f64 %dy, %d0, %d1;", [](double a, double b, double) { return a / b; });
  expectDoubles("fma.rn.f64 %dy, %d0, %d1, %d2;", [](double a, double b, double c) { return std::fma(a, b, c); });
  expectDoubles("sqrt.rn.f64 %dy, %d0;", [](double a, double, double) { return std::sqrt(a); });
  expectDoubles("rcp.rn.f64 %dy, %d0;", [](double a, double, double) { return 1 / a; });
  expectDoubles("neg.f64 %dy, %d0;", [](double a, double, double) { return -a; });
}

TEST(PtxFloats, PairsAndMixedTypes) {
  // Two singles in a register of 64 bits.
  auto both = [](uint64_t low, uint64_t high) { return high << 32 | low; };
  expectEach("mov.b64 %d20, {%r0, %r1};\nmov.b64 %d21, {%r1, %r2};\nmov.b64 %d22, {%r2, %r0};\n"
             "fma.rn.f32x2 %dy, %d20, %d21, %d22;",
             'd', kFloatCases, [=](uint64_t a, uint64_t b, uint64_t c) {
               return both(bitsOf(std::fma(asFloat(a), asFloat(b), asFloat(c))),
                           bitsOf(std::fma(asFloat(b), asFloat(c), asFloat(a))));
             });
  expectEach("mov.b64 %d20, {%r0, %r1};\nmov.b64 %d21, {%r1, %r2};\nadd.rn.f32x2 %dy, %d20, %d21;", 'd', kFloatCases,
             [=](uint64_t a, uint64_t b, uint64_t c) {
               return both(bitsOf(asFloat(a) + asFloat(b)), bitsOf(asFloat(b) + asFloat(c)));
             });
  // A narrow operand is made wide, and the sum is rounded to single.
  auto bfloat = [](uint64_t bits) { return asFloat(bits << 16); };
  expectEach("add.rn.f32.bf16 %ry, %h0, %r1;", 'r', kFloatCases,
             [=](uint64_t a, uint64_t b, uint64_t) { return bitsOf(bfloat(a) + asFloat(b)); });
  expectEach("sub.rn.f32.bf16 %ry, %h0, %r1;", 'r', kFloatCases,
             [=](uint64_t a, uint64_t b, uint64_t) { return bitsOf(bfloat(a) - asFloat(b)); });
  expectEach("fma.rn.f32.bf16 %ry, %h0, %h1, %r2;", 'r', kFloatCases,
             [=](uint64_t a, uint64_t b, uint64_t c) { return bitsOf(std::fma(bfloat(a), bfloat(b), asFloat(c))); });
  // One predicate for each half.
  auto less = [=](uint64_t a, uint64_t b) { return bfloat(a & 0xffff) < bfloat(b & 0xffff); };
  expectEach("setp.lt.bf16x2 %py|%p9, %r0, %r1;", 'p', kFloatCases,
             [=](uint64_t a, uint64_t b, uint64_t) { return less(a, b); });
  expectEach("setp.lt.bf16x2 %p9|%py, %r0, %r1;", 'p', kFloatCases,
             [=](uint64_t a, uint64_t b, uint64_t) { return less(a >> 16, b >> 16); });
}

/// -0 is less than +0.
float lesser(float a, float b) { return a < b || (a == b && std::signbit(a)) ? a : b; }
float greater(float a, float b) { return a > b || (a == b && !std::signbit(a)) ? a : b; }

TEST(PtxFloats, Extremes) {
  auto numbers = [](auto function) {
    return onFloats([=](float a, float b, float) { return a != a ? b : b != b ? a : function(a, b); });
  };
  auto nans = [](auto function) {
    return onFloats([=](float a, float b, float) { return a != a || b != b ? NAN : function(a, b); });
  };
  expectEach("min.f32 %ry, %r0, %r1;", 'r', kFloatCases, numbers(lesser));
  expectEach("max.f32 %ry, %r0, %r1;", 'r', kFloatCases, numbers(greater));
  expectEach("min.NaN.f32 %ry, %r0, %r1;", 'r', kFloatCases, nans(lesser));
  expectEach("max.NaN.f32 %ry, %r0, %r1;", 'r', kFloatCases, nans(greater));
}

TEST(PtxFloats, Comparisons) {
  auto expect = [](const std::string &name, auto function) {
    expectEach("setp." + name + ".f32 %py, %r0, %r1;", 'p', kFloatCases,
               [=](uint64_t a, uint64_t b, uint64_t) { return function(asFloat(a), asFloat(b)); });
  };
  expect("eq", [](float a, float b) { return a == b; });
  expect("ne", [](float a, float b) { return a < b || a > b; });
  expect("lt", [](float a, float b) { return a < b; });
  expect("le", [](float a, float b) { return a <= b; });
  expect("gt", [](float a, float b) { return a > b; });
  expect("ge", [](float a, float b) { return a >= b; });
  expect("equ", [](float a, float b) { return !(a < b || a > b); });
  expect("neu", [](float a, float b) { return a != b; });
  expect("ltu", [](float a, float b) { return !(a >= b); });
  expect("leu", [](float a, float b) { return !(a > b); });
  expect("gtu", [](float a, float b) { return !(a <= b); });
  expect("geu", [](float a, float b) { return !(a < b); });
  expect("num", [](float a, float b) { return a == a && b == b; });
  expect("nan", [](float a, float b) { return a != a || b != b; });
  auto expectTest = [](const std::string &name, auto function) {
    expectEach("testp." + name + ".f32 %py, %r0;", 'p', kFloatCases,
               [=](uint64_t a, uint64_t, uint64_t) { return function(asFloat(a)); });
  };
  expectTest("finite", [](float a) { return std::isfinite(a); });
  expectTest("infinite", [](float a) { return std::isinf(a); });
  expectTest("notanumber", [](float a) { return std::isnan(a); });
  expectTest("normal", [](float a) { return std::isnormal(a); });
  expectTest("subnormal", [](float a) { return a != 0 && std::fabs(a) < 0x1p-126f; });
}

// === Narrow floats =====================================================================================================

/// Random bits, and sums whose exact value lies next to a tie.
std::vector<Operands> narrowCases() {
  std::vector<Operands> cases = triples({0, 0x8000, 1, 0x8001, 0x3c00, 0x3f80, 0x7bff, 0x7c00, 0xfc00, 0x7f7f, 0x7f80,
                                         0xff80, 0x7fc1, 0x0400, 0x0080, 0x3c01, 0x1001},
                                        20000);
  for (unsigned index = 0; index < 2000; ++index)
    cases.push_back({0x3f80 + index % 7, 0x3f80 + index % 11, 0x8001 + 37 * index % 0x4000});
  return cases;
}

void expectNarrow(const std::string &type, const llvm::fltSemantics &semantics) {
  std::vector<Operands> cases = narrowCases();
  auto nearest = APFloat::rmNearestTiesToEven;
  auto expect = [&](const std::string &name, const std::string &operands, auto function) {
    expectEach(name + type + operands, 'h', cases, [&](uint64_t a, uint64_t b, uint64_t c) {
      APFloat x = narrowFloat(semantics, a);
      function(x, narrowFloat(semantics, b), narrowFloat(semantics, c));
      return bitsOf(x);
    });
  };
  expect("add.rn.", " %hy, %h0, %h1;", [=](APFloat &a, APFloat b, APFloat) { a.add(b, nearest); });
  expect("sub.rn.", " %hy, %h0, %h1;", [=](APFloat &a, APFloat b, APFloat) { a.subtract(b, nearest); });
  expect("mul.rn.", " %hy, %h0, %h1;", [=](APFloat &a, APFloat b, APFloat) { a.multiply(b, nearest); });
  expect("fma.rn.", " %hy, %h0, %h1, %h2;",
         [=](APFloat &a, APFloat b, APFloat c) { a.fusedMultiplyAdd(b, c, nearest); });
  // Both halves of a register, each on its own.
  expectEach("fma.rn." + type + "x2 %ry, %r0, %r1, %r2;", 'r', cases, [&](uint64_t a, uint64_t b, uint64_t c) {
    APFloat low = narrowFloat(semantics, a), high = narrowFloat(semantics, a >> 16);
    low.fusedMultiplyAdd(narrowFloat(semantics, b), narrowFloat(semantics, c), nearest);
    high.fusedMultiplyAdd(narrowFloat(semantics, b >> 16), narrowFloat(semantics, c >> 16), nearest);
    return bitsOf(high) << 16 | bitsOf(low);
  });
  expectEach("setp.lt." + type + " %py, %h0, %h1;", 'p', cases, [&](uint64_t a, uint64_t b, uint64_t) {
    return narrowFloat(semantics, a).compare(narrowFloat(semantics, b)) == APFloat::cmpLessThan;
  });
}

TEST(PtxFloats, Half) { expectNarrow("f16", APFloat::IEEEhalf()); }
TEST(PtxFloats, BFloat) { expectNarrow("bf16", APFloat::BFloat()); }

// === Approximations ====================================================================================================

TEST(PtxFloats, ApproximationsErrWithinTheirBounds) {
  ParseOptions options;
  options.approximations = {"rcp.approx.ftz.f32"};
  std::vector<uint64_t> first = apply("rcp.approx.ftz.f32 %ry, %r0;", 'r', kFloatCases, options);
  options.seed = 2;
  std::vector<uint64_t> second = apply("rcp.approx.ftz.f32 %ry, %r0;", 'r', kFloatCases, options);
  unsigned different = 0, checked = 0;
  for (size_t index = 0; index < kFloatCases.size(); ++index) {
    double exact = 1 / double(asFloat(kFloatCases[index][0]));
    if (!std::isfinite(exact) || std::fabs(exact) < 0x1p-126 || std::fabs(exact) > 0x1p126)
      continue;
    ++checked;
    EXPECT_LE(std::fabs(asFloat(first[index]) - exact), 0x1.8p-23 * std::fabs(exact));
    different += first[index] != second[index];
  }
  EXPECT_GT(checked, 1000u);
  EXPECT_GT(different, checked / 10) << "another seed should err otherwise";
}

} // namespace
