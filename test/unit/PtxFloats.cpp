// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Float instructions and conversions of the PTX interpreter, against the host and against llvm::APFloat, which computes
// narrow floats in another way.

#include "PtxTest.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include <cmath>

using namespace resid::ptx;
using llvm::APFloat;
using llvm::APInt;

namespace {

const std::vector<uint64_t> kFloats = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f800001, 0x4b800000,
                                       0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
                                       0x7fa00001, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x3eaaaaab};
const std::vector<Operands> kFloatCases = triples(kFloats, 4000);

std::vector<Operands> doubleCases() {
  std::vector<uint64_t> values;
  for (uint64_t bits : kFloats)
    // NaNs of f64 have no bits that NVIDIA states.
    if (asFloat(bits) == asFloat(bits))
      values.push_back(llvm::bit_cast<uint64_t>(double(asFloat(bits))));
  values.push_back(1);
  values.push_back(0x0010000000000000);
  values.push_back(0x7fefffffffffffff);
  return triples(values, 0);
}
const std::vector<Operands> kDoubleCases = doubleCases();

template <typename F> auto onFloats(F function) {
  return [=](uint64_t a, uint64_t b, uint64_t c) { return bitsOf(function(asFloat(a), asFloat(b), asFloat(c))); };
}

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

APFloat narrowFloat(const llvm::fltSemantics &semantics, uint64_t bits) {
  return APFloat(semantics, APInt(64, bits).trunc(16));
}
uint64_t bitsOf(const APFloat &value) { return value.isNaN() ? 0x7fff : value.bitcastToAPInt().getZExtValue(); }

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

// === Conversions =======================================================================================================

uint64_t convert(APFloat value, const llvm::fltSemantics &semantics, uint64_t nan) {
  bool isInexact;
  value.convert(semantics, APFloat::rmNearestTiesToEven, &isInexact);
  return value.isNaN() ? nan : value.bitcastToAPInt().getZExtValue();
}

TEST(PtxFloats, Narrowing) {
  std::vector<Operands> cases = kFloatCases;
  // All halves of ties of both types.
  for (uint64_t bits = 0; bits < 0x10000; bits += 3) {
    cases.push_back({bits << 16 | 0x8000, bits << 16 | 0x7fff, 0});
    cases.push_back({llvm::bit_cast<uint32_t>(float(bits) * 0x1.004p-12f), bits << 13 | 0x1000, 0});
  }
  auto half = [](uint64_t a) { return convert(APFloat(asFloat(a)), APFloat::IEEEhalf(), 0x7fff); };
  auto bfloat = [](uint64_t a) { return convert(APFloat(asFloat(a)), APFloat::BFloat(), 0x7fff); };
  expectEach("cvt.rn.f16.f32 %hy, %r0;", 'h', cases, [=](uint64_t a, uint64_t, uint64_t) { return half(a); });
  expectEach("cvt.rn.bf16.f32 %hy, %r0;", 'h', cases, [=](uint64_t a, uint64_t, uint64_t) { return bfloat(a); });
  expectEach("cvt.rn.bf16x2.f32 %ry, %r0, %r1;", 'r', cases,
             [=](uint64_t a, uint64_t b, uint64_t) { return bfloat(a) << 16 | bfloat(b); });
  expectEach("cvt.rn.f16x2.f32 %ry, %r0, %r1;", 'r', cases,
             [=](uint64_t a, uint64_t b, uint64_t) { return half(a) << 16 | half(b); });
  expectEach("cvt.rn.f16.f64 %hy, %d0;", 'h', kDoubleCases,
             [](uint64_t a, uint64_t, uint64_t) { return convert(APFloat(asDouble(a)), APFloat::IEEEhalf(), 0x7fff); });
  expectEach("cvt.rn.f32.f64 %ry, %d0;", 'r', kDoubleCases,
             [](uint64_t a, uint64_t, uint64_t) { return resid::ptx::bitsOf(float(asDouble(a))); });
}

TEST(PtxFloats, Widening) {
  std::vector<Operands> all;
  for (uint64_t bits = 0; bits < 0x10000; ++bits)
    all.push_back({bits, 0, 0});
  expectEach("cvt.f32.f16 %ry, %h0;", 'r', all, [](uint64_t a, uint64_t, uint64_t) {
    return convert(narrowFloat(APFloat::IEEEhalf(), a), APFloat::IEEEsingle(), 0x7fffffff);
  });
  expectEach("cvt.f32.bf16 %ry, %h0;", 'r', all, [](uint64_t a, uint64_t, uint64_t) { return a << 16; });
  expectEach("cvt.f64.f32 %dy, %r0;", 'd', kFloatCases, [](uint64_t a, uint64_t, uint64_t) {
    return std::isnan(asFloat(a)) ? llvm::bit_cast<uint64_t>(double(asFloat(a | 0x400000)))
                                  : llvm::bit_cast<uint64_t>(double(asFloat(a)));
  });
}

TEST(PtxFloats, FromIntegers) {
  std::vector<Operands> cases = triples({0, 1, 0xff, 0x7f, 0x1000001, 0x1000003, 0x7fffffff, 0x80000000, 0xffffffff,
                                         0x20000000000001, 0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000401,
                                         0x4000000000000080, 0x4080000000000001, ~uint64_t(0)},
                                        1000);
  auto expect = [&](const std::string &text, char kind, auto function) {
    expectEach(text, kind, cases, [=](uint64_t a, uint64_t, uint64_t) { return function(a); });
  };
  expect("cvt.rn.f32.u32 %ry, %r0;", 'r', [](uint64_t a) { return llvm::bit_cast<uint32_t>(float(uint32_t(a))); });
  expect("cvt.rn.f32.s32 %ry, %r0;", 'r', [](uint64_t a) { return llvm::bit_cast<uint32_t>(float(int32_t(a))); });
  expect("cvt.rn.f32.u16 %ry, %h0;", 'r', [](uint64_t a) { return llvm::bit_cast<uint32_t>(float(uint16_t(a))); });
  expect("cvt.rn.f32.s8 %ry, %r0;", 'r', [](uint64_t a) { return llvm::bit_cast<uint32_t>(float(int8_t(a))); });
  expect("cvt.rn.f32.u64 %ry, %d0;", 'r', [](uint64_t a) { return llvm::bit_cast<uint32_t>(float(a)); });
  expect("cvt.rn.f64.s64 %dy, %d0;", 'd', [](uint64_t a) { return llvm::bit_cast<uint64_t>(double(int64_t(a))); });
  for (bool isSigned : {false, true})
    for (bool isHalf : {false, true})
      expect(std::string("cvt.rn.") + (isHalf ? "f16." : "bf16.") + (isSigned ? "s64" : "u64") + " %hy, %d0;", 'h',
             [=](uint64_t a) {
               APFloat value(isHalf ? APFloat::IEEEhalf() : APFloat::BFloat());
               value.convertFromAPInt(APInt(64, a), isSigned, APFloat::rmNearestTiesToEven);
               return bitsOf(value);
             });
}

TEST(PtxFloats, ToIntegers) {
  struct Mode {
    const char *name;
    llvm::RoundingMode rounding;
  };
  for (Mode mode : {Mode{"rni", APFloat::rmNearestTiesToEven}, Mode{"rzi", APFloat::rmTowardZero},
                    Mode{"rmi", APFloat::rmTowardNegative}, Mode{"rpi", APFloat::rmTowardPositive}}) {
    auto expect = [&](const std::string &types, char kind, unsigned width, bool isSigned, uint64_t nan) {
      bool isDouble = types.find("f64") != std::string::npos;
      expectEach("cvt." + std::string(mode.name) + "." + types, kind, isDouble ? kDoubleCases : kFloatCases,
                 [&](uint64_t a, uint64_t, uint64_t) {
                   APFloat value = isDouble ? APFloat(asDouble(a)) : APFloat(asFloat(a));
                   if (value.isNaN())
                     return nan;
                   bool isExact;
                   llvm::APSInt result(width, !isSigned);
                   value.convertToInteger(result, mode.rounding, &isExact);
                   // Narrow results are extended in the register.
                   return uint64_t(isSigned ? result.getSExtValue() : result.getZExtValue());
                 });
    };
    expect("s32.f32 %ry, %r0;", 'r', 32, true, 0);
    expect("u32.f32 %ry, %r0;", 'r', 32, false, 0);
    expect("s8.f32 %ry, %r0;", 'r', 8, true, 0);
    expect("u16.f32 %hy, %r0;", 'h', 16, false, 0);
    expect("s64.f32 %dy, %r0;", 'd', 64, true, 0x8000000000000000);
    expect("u64.f32 %dy, %r0;", 'd', 64, false, 0x8000000000000000);
    expect("s32.f64 %ry, %d0;", 'r', 32, true, 0x80000000);
    expectEach("cvt." + std::string(mode.name) + ".f32.f32 %ry, %r0;", 'r', kFloatCases,
               [&](uint64_t a, uint64_t, uint64_t) {
                 APFloat value(asFloat(a));
                 value.roundToIntegral(mode.rounding);
                 return value.isNaN() ? 0x7fffffff : value.bitcastToAPInt().getZExtValue();
               });
  }
}

TEST(PtxFloats, IntegersToIntegers) {
  std::vector<Operands> cases =
      triples({0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x80000000, ~uint64_t(0)}, 500);
  expectEach("cvt.s64.s8 %dy, %r0;", 'd', cases, [](uint64_t a, uint64_t, uint64_t) { return int64_t(int8_t(a)); });
  expectEach("cvt.u32.u8 %ry, %h0;", 'r', cases, [](uint64_t a, uint64_t, uint64_t) { return uint8_t(a); });
  expectEach("cvt.s32.s16 %ry, %h0;", 'r', cases, [](uint64_t a, uint64_t, uint64_t) { return int32_t(int16_t(a)); });
  expectEach("cvt.s8.s32 %ry, %r0;", 'r', cases, [](uint64_t a, uint64_t, uint64_t) { return int32_t(int8_t(a)); });
  expectEach("cvt.sat.s8.s32 %ry, %r0;", 'r', cases,
             [](uint64_t a, uint64_t, uint64_t) { return std::max(-128, std::min(127, int32_t(a))); });
  expectEach("cvt.sat.u8.s32 %ry, %r0;", 'r', cases,
             [](uint64_t a, uint64_t, uint64_t) { return std::max(0, std::min(255, int32_t(a))); });
  expectEach("cvt.sat.u32.s64 %ry, %d0;", 'r', cases, [](uint64_t a, uint64_t, uint64_t) {
    return std::max<int64_t>(0, std::min<int64_t>(0xffffffff, int64_t(a)));
  });
}

TEST(PtxFloats, SaturatedConversions) {
  expectEach("cvt.sat.f32.f32 %ry, %r0;", 'r', kFloatCases,
             onFloats([](float a, float, float) { return a > 0 ? std::min(a, 1.0f) : 0.0f; }));
  expectEach("cvt.rn.relu.bf16.f32 %hy, %r0;", 'h', kFloatCases, [](uint64_t a, uint64_t, uint64_t) {
    return asFloat(a) < 0 ? 0 : convert(APFloat(asFloat(a)), APFloat::BFloat(), 0x7fff);
  });
}

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
