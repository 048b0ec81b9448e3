// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Float instructions of the PTX interpreter, against the host and against llvm::APFloat, which computes narrow floats
// in another way.

#include "PtxFloatTest.h"

#include <cmath>

using namespace resid::ptx;
using llvm::APFloat;

namespace {

template <typename F> void expect(const std::string &instruction, F function) {
  expectEach(instruction, kFloatCases, function);
}

TEST(PtxFloats, Single) {
  expect("add.rn.f32 %ry, %r0, %r1;", [](float a, float b) { return a + b; });
  expect("sub.rn.f32 %ry, %r0, %r1;", [](float a, float b) { return a - b; });
  expect("mul.rn.f32 %ry, %r0, %r1;", [](float a, float b) { return a * b; });
  expect("div.rn.f32 %ry, %r0, %r1;", [](float a, float b) { return a / b; });
  expect("fma.rn.f32 %ry, %r0, %r1, %r2;", [](float a, float b, float c) { return std::fma(a, b, c); });
  expect("sqrt.rn.f32 %ry, %r0;", [](float a) { return std::sqrt(a); });
  expect("rcp.rn.f32 %ry, %r0;", [](float a) { return 1 / a; });
  expect("neg.f32 %ry, %r0;", [](uint64_t a) { return a ^ 0x80000000; });
  expect("abs.f32 %ry, %r0;", [](uint64_t a) { return a & 0x7fffffff; });
  expect("neg.bf16x2 %ry, %r0;", [](uint64_t a) { return a ^ 0x80008000; });
  expect("copysign.f32 %ry, %r0, %r1;", [](uint64_t a, uint64_t b) { return (a & 0x80000000) | (b & 0x7fffffff); });
}

TEST(PtxFloats, Double) {
  expectEach("add.rn.f64 %dy, %d0, %d1;", kDoubleCases, [](double a, double b) { return a + b; });
  expectEach("sub.rn.f64 %dy, %d0, %d1;", kDoubleCases, [](double a, double b) { return a - b; });
  expectEach("mul.rn.f64 %dy, %d0, %d1;", kDoubleCases, [](double a, double b) { return a * b; });
  expectEach("div.rn.f64 %dy, %d0, %d1;", kDoubleCases, [](double a, double b) { return a / b; });
  expectEach("fma.rn.f64 %dy, %d0, %d1, %d2;", kDoubleCases,
             [](double a, double b, double c) { return std::fma(a, b, c); });
  expectEach("sqrt.rn.f64 %dy, %d0;", kDoubleCases, [](double a) { return std::sqrt(a); });
  expectEach("rcp.rn.f64 %dy, %d0;", kDoubleCases, [](double a) { return 1 / a; });
  expectEach("neg.f64 %dy, %d0;", kDoubleCases, [](double a) { return -a; });
}

TEST(PtxFloats, PairsAndMixedTypes) {
  // Two singles in a register of 64 bits.
  auto both = [](uint64_t low, uint64_t high) { return high << 32 | low; };
  expectEach("mov.b64 %d20, {%r0, %r1};\nmov.b64 %d21, {%r1, %r2};\nmov.b64 %d22, {%r2, %r0};\n"
             "fma.rn.f32x2 %dy, %d20, %d21, %d22;",
             kFloatCases,
             [=](float a, float b, float c) { return both(bitsOf(std::fma(a, b, c)), bitsOf(std::fma(b, c, a))); });
  expect("mov.b64 %d20, {%r0, %r1};\nmov.b64 %d21, {%r1, %r2};\nadd.rn.f32x2 %dy, %d20, %d21;",
         [=](float a, float b, float c) { return both(bitsOf(a + b), bitsOf(b + c)); });
  // A narrow operand is made wide, and the sum is rounded to single.
  auto bfloat = [](uint64_t bits) { return asFloat(bits << 16); };
  expect("add.rn.f32.bf16 %ry, %h0, %r1;", [=](uint64_t a, float b) { return bfloat(a) + b; });
  expect("sub.rn.f32.bf16 %ry, %h0, %r1;", [=](uint64_t a, float b) { return bfloat(a) - b; });
  expect("fma.rn.f32.bf16 %ry, %h0, %h1, %r2;",
         [=](uint64_t a, uint64_t b, float c) { return std::fma(bfloat(a), bfloat(b), c); });
  // One predicate for each half.
  auto less = [=](uint64_t a, uint64_t b) { return bfloat(a & 0xffff) < bfloat(b & 0xffff); };
  expect("setp.lt.bf16x2 %py|%p9, %r0, %r1;", [=](uint64_t a, uint64_t b) { return less(a, b); });
  expect("setp.lt.bf16x2 %p9|%py, %r0, %r1;", [=](uint64_t a, uint64_t b) { return less(a >> 16, b >> 16); });
}

/// -0 is less than +0.
float lesser(float a, float b) { return a < b || (a == b && std::signbit(a)) ? a : b; }
float greater(float a, float b) { return a > b || (a == b && !std::signbit(a)) ? a : b; }

TEST(PtxFloats, Extremes) {
  auto numbers = [](auto function) {
    return [=](float a, float b) { return a != a ? b : b != b ? a : function(a, b); };
  };
  auto nans = [](auto function) { return [=](float a, float b) { return a != a || b != b ? NAN : function(a, b); }; };
  expect("min.f32 %ry, %r0, %r1;", numbers(lesser));
  expect("max.f32 %ry, %r0, %r1;", numbers(greater));
  expect("min.NaN.f32 %ry, %r0, %r1;", nans(lesser));
  expect("max.NaN.f32 %ry, %r0, %r1;", nans(greater));
}

TEST(PtxFloats, Comparisons) {
  expect("setp.eq.f32 %py, %r0, %r1;", [](float a, float b) { return a == b; });
  expect("setp.ne.f32 %py, %r0, %r1;", [](float a, float b) { return a < b || a > b; });
  expect("setp.lt.f32 %py, %r0, %r1;", [](float a, float b) { return a < b; });
  expect("setp.le.f32 %py, %r0, %r1;", [](float a, float b) { return a <= b; });
  expect("setp.gt.f32 %py, %r0, %r1;", [](float a, float b) { return a > b; });
  expect("setp.ge.f32 %py, %r0, %r1;", [](float a, float b) { return a >= b; });
  expect("setp.equ.f32 %py, %r0, %r1;", [](float a, float b) { return !(a < b || a > b); });
  expect("setp.neu.f32 %py, %r0, %r1;", [](float a, float b) { return a != b; });
  expect("setp.ltu.f32 %py, %r0, %r1;", [](float a, float b) { return !(a >= b); });
  expect("setp.leu.f32 %py, %r0, %r1;", [](float a, float b) { return !(a > b); });
  expect("setp.gtu.f32 %py, %r0, %r1;", [](float a, float b) { return !(a <= b); });
  expect("setp.geu.f32 %py, %r0, %r1;", [](float a, float b) { return !(a < b); });
  expect("setp.num.f32 %py, %r0, %r1;", [](float a, float b) { return a == a && b == b; });
  expect("setp.nan.f32 %py, %r0, %r1;", [](float a, float b) { return a != a || b != b; });
  expect("testp.finite.f32 %py, %r0;", [](float a) { return std::isfinite(a); });
  expect("testp.infinite.f32 %py, %r0;", [](float a) { return std::isinf(a); });
  expect("testp.notanumber.f32 %py, %r0;", [](float a) { return std::isnan(a); });
  expect("testp.normal.f32 %py, %r0;", [](float a) { return std::isnormal(a); });
  expect("testp.subnormal.f32 %py, %r0;", [](float a) { return a != 0 && std::fabs(a) < 0x1p-126f; });
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
    expectEach(name + type + operands, cases, [&](uint64_t a, uint64_t b, uint64_t c) {
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
  expectEach("fma.rn." + type + "x2 %ry, %r0, %r1, %r2;", cases, [&](uint64_t a, uint64_t b, uint64_t c) {
    APFloat low = narrowFloat(semantics, a), high = narrowFloat(semantics, a >> 16);
    low.fusedMultiplyAdd(narrowFloat(semantics, b), narrowFloat(semantics, c), nearest);
    high.fusedMultiplyAdd(narrowFloat(semantics, b >> 16), narrowFloat(semantics, c >> 16), nearest);
    return bitsOf(high) << 16 | bitsOf(low);
  });
  expectEach("setp.lt." + type + " %py, %h0, %h1;", cases, [&](uint64_t a, uint64_t b) {
    return narrowFloat(semantics, a).compare(narrowFloat(semantics, b)) == APFloat::cmpLessThan;
  });
}

TEST(PtxFloats, Half) { expectNarrow("f16", APFloat::IEEEhalf()); }
TEST(PtxFloats, BFloat) { expectNarrow("bf16", APFloat::BFloat()); }

} // namespace
