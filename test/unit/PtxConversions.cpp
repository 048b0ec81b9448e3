// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions of the PTX interpreter, against the host and against llvm::APFloat, which computes narrow floats in
// another way.

#include "PtxFloatTest.h"

#include "llvm/ADT/APSInt.h"
#include <cmath>

using namespace resid::ptx;
using llvm::APFloat;
using llvm::APInt;

namespace {

uint64_t convert(APFloat value, const llvm::fltSemantics &semantics, uint64_t nan) {
  bool isInexact;
  value.convert(semantics, APFloat::rmNearestTiesToEven, &isInexact);
  return value.isNaN() ? nan : value.bitcastToAPInt().getZExtValue();
}

TEST(PtxConversions, Narrowing) {
  std::vector<Operands> cases = kFloatCases;
  // All halves of ties of both types.
  for (uint64_t bits = 0; bits < 0x10000; bits += 3) {
    cases.push_back({bits << 16 | 0x8000, bits << 16 | 0x7fff, 0});
    cases.push_back({llvm::bit_cast<uint32_t>(float(bits) * 0x1.004p-12f), bits << 13 | 0x1000, 0});
  }
  auto half = [](uint64_t a) { return convert(APFloat(asFloat(a)), APFloat::IEEEhalf(), 0x7fff); };
  auto bfloat = [](uint64_t a) { return convert(APFloat(asFloat(a)), APFloat::BFloat(), 0x7fff); };
  expectEach("cvt.rn.f16.f32 %hy, %r0;", cases, [=](uint64_t a) { return half(a); });
  expectEach("cvt.rn.bf16.f32 %hy, %r0;", cases, [=](uint64_t a) { return bfloat(a); });
  expectEach("cvt.rn.bf16x2.f32 %ry, %r0, %r1;", cases,
             [=](uint64_t a, uint64_t b) { return bfloat(a) << 16 | bfloat(b); });
  expectEach("cvt.rn.f16x2.f32 %ry, %r0, %r1;", cases, [=](uint64_t a, uint64_t b) { return half(a) << 16 | half(b); });
  expectEach("cvt.rn.f16.f64 %hy, %d0;", kDoubleCases,
             [](uint64_t a) { return convert(APFloat(asDouble(a)), APFloat::IEEEhalf(), 0x7fff); });
  expectEach("cvt.rn.f32.f64 %ry, %d0;", kDoubleCases, [](double a) { return float(a); });
}

TEST(PtxConversions, Widening) {
  std::vector<Operands> all;
  for (uint64_t bits = 0; bits < 0x10000; ++bits)
    all.push_back({bits, 0, 0});
  expectEach("cvt.f32.f16 %ry, %h0;", all, [](uint64_t a) {
    return convert(narrowFloat(APFloat::IEEEhalf(), a), APFloat::IEEEsingle(), 0x7fffffff);
  });
  expectEach("cvt.f32.bf16 %ry, %h0;", all, [](uint64_t a) { return a << 16; });
  expectEach("cvt.f64.f32 %dy, %r0;", kFloatCases, [](uint64_t a) {
    return std::isnan(asFloat(a)) ? llvm::bit_cast<uint64_t>(double(asFloat(a | 0x400000)))
                                  : llvm::bit_cast<uint64_t>(double(asFloat(a)));
  });
}

TEST(PtxConversions, FromIntegers) {
  std::vector<Operands> cases = triples({0, 1, 0xff, 0x7f, 0x1000001, 0x1000003, 0x7fffffff, 0x80000000, 0xffffffff,
                                         0x20000000000001, 0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000401,
                                         0x4000000000000080, 0x4040000000000001, 0x40c0000000000001, ~uint64_t(0)},
                                        1000);
  expectEach("cvt.rn.f32.u32 %ry, %r0;", cases, [](uint32_t a) { return float(a); });
  expectEach("cvt.rn.f32.s32 %ry, %r0;", cases, [](int32_t a) { return float(a); });
  expectEach("cvt.rn.f32.u16 %ry, %h0;", cases, [](uint16_t a) { return float(a); });
  expectEach("cvt.rn.f32.s8 %ry, %r0;", cases, [](int8_t a) { return float(a); });
  expectEach("cvt.rn.f32.u64 %ry, %d0;", cases, [](uint64_t a) { return float(a); });
  expectEach("cvt.rn.f64.s64 %dy, %d0;", cases, [](int64_t a) { return double(a); });
  for (bool isSigned : {false, true})
    for (bool isHalf : {false, true})
      expectEach(std::string("cvt.rn.") + (isHalf ? "f16." : "bf16.") + (isSigned ? "s64" : "u64") + " %hy, %d0;",
                 cases, [=](uint64_t a) {
                   APFloat value(isHalf ? APFloat::IEEEhalf() : APFloat::BFloat());
                   value.convertFromAPInt(APInt(64, a), isSigned, APFloat::rmNearestTiesToEven);
                   return bitsOf(value);
                 });
}

TEST(PtxConversions, ToIntegers) {
  struct Mode {
    const char *name;
    llvm::RoundingMode rounding;
  };
  for (Mode mode : {Mode{"rni", APFloat::rmNearestTiesToEven}, Mode{"rzi", APFloat::rmTowardZero},
                    Mode{"rmi", APFloat::rmTowardNegative}, Mode{"rpi", APFloat::rmTowardPositive}}) {
    auto expect = [&](const std::string &types, unsigned width, bool isSigned, uint64_t nan) {
      bool isDouble = types.find("f64") != std::string::npos;
      expectEach("cvt." + std::string(mode.name) + "." + types, isDouble ? kDoubleCases : kFloatCases, [&](uint64_t a) {
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
    expect("s32.f32 %ry, %r0;", 32, true, 0);
    expect("u32.f32 %ry, %r0;", 32, false, 0);
    expect("s8.f32 %ry, %r0;", 8, true, 0);
    expect("u16.f32 %hy, %r0;", 16, false, 0);
    expect("s64.f32 %dy, %r0;", 64, true, 0x8000000000000000);
    expect("u64.f32 %dy, %r0;", 64, false, 0x8000000000000000);
    expect("s32.f64 %ry, %d0;", 32, true, 0x80000000);
    expectEach("cvt." + std::string(mode.name) + ".f32.f32 %ry, %r0;", kFloatCases, [&](uint64_t a) {
      APFloat value(asFloat(a));
      value.roundToIntegral(mode.rounding);
      return value.isNaN() ? 0x7fffffff : value.bitcastToAPInt().getZExtValue();
    });
  }
}

TEST(PtxConversions, NaNToIntegers) {
  auto expect = [](const std::string &instruction, uint64_t expected) {
    expectEach(instruction, {{0x7ff8000000000000, 0, 0}}, [=](uint64_t) { return expected; });
  };
  // The leading bit, where one of the types has 64 bits.
  expect("cvt.rzi.s32.f64 %ry, %d0;", 0x80000000);
  expect("cvt.rzi.u16.f64 %hy, %d0;", 0x8000);
  expect("cvt.rzi.u64.f64 %dy, %d0;", 0x8000000000000000);
  expect("mov.b32 %r3, 0x7fc00000;\ncvt.rzi.u32.f32 %ry, %r3;", 0);
}

TEST(PtxConversions, IntegersToIntegers) {
  std::vector<Operands> cases =
      triples({0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x80000000, ~uint64_t(0)}, 500);
  expectEach("cvt.s64.s8 %dy, %r0;", cases, [](int8_t a) { return a; });
  expectEach("cvt.u32.u8 %ry, %h0;", cases, [](uint8_t a) { return a; });
  expectEach("cvt.s32.s16 %ry, %h0;", cases, [](int16_t a) { return a; });
  expectEach("cvt.s8.s32 %ry, %r0;", cases, [](int8_t a) { return a; });
  expectEach("cvt.sat.s8.s32 %ry, %r0;", cases, [](int32_t a) { return std::max(-128, std::min(127, a)); });
  expectEach("cvt.sat.u8.s32 %ry, %r0;", cases, [](int32_t a) { return std::max(0, std::min(255, a)); });
  expectEach("cvt.sat.u32.s64 %ry, %d0;", cases,
             [](int64_t a) { return std::max<int64_t>(0, std::min<int64_t>(0xffffffff, a)); });
}

TEST(PtxConversions, SaturatedConversions) {
  expectEach("cvt.sat.f32.f32 %ry, %r0;", kFloatCases, [](float a) { return a > 0 ? std::min(a, 1.0f) : 0.0f; });
  expectEach("cvt.rn.relu.bf16.f32 %hy, %r0;", kFloatCases,
             [](uint64_t a) { return asFloat(a) < 0 ? 0 : convert(APFloat(asFloat(a)), APFloat::BFloat(), 0x7fff); });
}

} // namespace
