// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer and bit instructions of the PTX interpreter, against the arithmetic of the host and of llvm::APInt.

#include "PtxTest.h"

#include "llvm/ADT/APInt.h"

using namespace resid::ptx;
using llvm::APInt;

namespace {

const std::vector<Operands> kCases =
    triples({0, 1, 2, 7, 31, 32, 33, 63, 64, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
             0x7fffffffffffffff, 0x8000000000000000, ~uint64_t(0)});

template <typename F> void expect(const std::string &instruction, F function) {
  expectEach(instruction, kCases, function);
}

APInt of(uint64_t bits, unsigned width) { return APInt(64, bits).trunc(width); }

/// In 16, 32 and 64 bits. The second operand is as wide as the first, or of 32 bits.
template <typename F>
void expectWidths(const std::string &name, F function, bool isShift = false,
                  const std::vector<Operands> &cases = kCases) {
  for (unsigned width : {16, 32, 64}) {
    std::string k = width == 16 ? "h" : width == 32 ? "r" : "d";
    expectEach(
        name + std::to_string(width) + " %" + k + "y, %" + k + "0, %" + (isShift ? "r" : k) + "1;", cases,
        [&](uint64_t a, uint64_t b) { return function(of(a, width), of(b, isShift ? 32 : width)).getZExtValue(); });
  }
}

TEST(PtxIntegers, Sums) {
  expectWidths("add.s", [](APInt a, APInt b) { return a + b; });
  expectWidths("sub.u", [](APInt a, APInt b) { return a - b; });
  expectWidths("min.s", [](APInt a, APInt b) { return a.slt(b) ? a : b; });
  expectWidths("min.u", [](APInt a, APInt b) { return a.ult(b) ? a : b; });
  expectWidths("max.s", [](APInt a, APInt b) { return a.sgt(b) ? a : b; });
  expectWidths("max.u", [](APInt a, APInt b) { return a.ugt(b) ? a : b; });
  expect("add.sat.s32 %ry, %r0, %r1;",
         [](uint64_t a, uint64_t b) { return of(a, 32).sadd_sat(of(b, 32)).getZExtValue(); });
  expect("neg.s32 %ry, %r0;", [](uint64_t a) { return -a; });
  expect("abs.s64 %dy, %d0;", [](uint64_t a) { return int64_t(a) < 0 ? -a : a; });
}

/// Both halves of 32 bits, each on its own.
template <typename T, typename F> auto onHalves(F function) {
  return [=](uint32_t a, uint32_t b) {
    uint16_t low = function(T(a), T(b)), high = function(T(a >> 16), T(b >> 16));
    return uint32_t(high) << 16 | low;
  };
}

TEST(PtxIntegers, PairsOfHalves) {
  expect("add.s16x2 %ry, %r0, %r1;", onHalves<uint16_t>([](unsigned x, unsigned y) { return x + y; }));
  expect("min.s16x2 %ry, %r0, %r1;", onHalves<int16_t>([](int x, int y) { return std::min(x, y); }));
  expect("max.u16x2 %ry, %r0, %r1;", onHalves<uint16_t>([](int x, int y) { return std::max(x, y); }));
}

TEST(PtxIntegers, Products) {
  expectWidths("mul.lo.u", [](APInt a, APInt b) { return a * b; });
  expectWidths("mul.hi.u", [](APInt a, APInt b) { return llvm::APIntOps::mulhu(a, b); });
  expectWidths("mul.hi.s", [](APInt a, APInt b) { return llvm::APIntOps::mulhs(a, b); });
  expect("mul.wide.s32 %dy, %r0, %r1;", [](int32_t a, int32_t b) { return int64_t(a) * b; });
  expect("mul.wide.u16 %ry, %h0, %h1;", [](uint16_t a, uint16_t b) { return uint32_t(a) * b; });
  expect("mad.lo.s32 %ry, %r0, %r1, %r2;", [](uint64_t a, uint64_t b, uint64_t c) { return a * b + c; });
  expect("mad.hi.u32 %ry, %r0, %r1, %r2;",
         [](uint32_t a, uint32_t b, uint64_t c) { return (uint64_t(a) * b >> 32) + c; });
  expect("mad.wide.u32 %dy, %r0, %r1, %d2;", [](uint32_t a, uint32_t b, uint64_t c) { return uint64_t(a) * b + c; });
}

TEST(PtxIntegers, Quotients) {
  std::vector<Operands> cases = kCases;
  // Divisors of 16 bits must not be 0 either.
  llvm::erase_if(cases, [](const Operands &x) { return (x[1] & 0xffff) == 0; });
  expectWidths(
      "div.s", [](APInt a, APInt b) { return a.sdiv(b); }, false, cases);
  expectWidths(
      "div.u", [](APInt a, APInt b) { return a.udiv(b); }, false, cases);
  expectWidths(
      "rem.s", [](APInt a, APInt b) { return a.srem(b); }, false, cases);
  expectWidths(
      "rem.u", [](APInt a, APInt b) { return a.urem(b); }, false, cases);
}

TEST(PtxIntegers, Carries) {
  // 64 bits in two halves.
  auto halves = [](const std::string &first, const std::string &second) {
    return "shr.u64 %d20, %d0, 32;\ncvt.u32.u64 %r20, %d20;\nshr.u64 %d21, %d1, 32;\ncvt.u32.u64 %r21, %d21;\n" +
           first + ".u32 %r22, %r0, %r1;\n" + second + ".u32 %r23, %r20, %r21;\nmov.b64 %dy, {%r22, %r23};";
  };
  expect(halves("add.cc", "addc"), [](uint64_t a, uint64_t b) { return a + b; });
  expect(halves("sub.cc", "subc"), [](uint64_t a, uint64_t b) { return a - b; });
  expect("add.cc.s64 %d20, %d0, %d1;\naddc.cc.s64 %d21, %d0, %d1;\naddc.s64 %dy, %d2, 0;",
         [](uint64_t a, uint64_t b, uint64_t c) {
           uint64_t carry = a + b < a;
           return c + uint64_t(((unsigned __int128)a + b + carry) >> 64);
         });
}

TEST(PtxIntegers, Logic) {
  expectWidths("and.b", [](APInt a, APInt b) { return a & b; });
  expectWidths("or.b", [](APInt a, APInt b) { return a | b; });
  expectWidths("xor.b", [](APInt a, APInt b) { return a ^ b; });
  expect("not.b32 %ry, %r0;", [](uint64_t a) { return ~a; });
  expect("and.pred %py, %p0, %p1;", [](uint64_t a, uint64_t b) { return a & b & 1; });
  expect("or.pred %py, %p0, !%p1;", [](uint64_t a, uint64_t b) { return (a | ~b) & 1; });
  expect("xor.pred %py, %p0, %p1;", [](uint64_t a, uint64_t b) { return (a ^ b) & 1; });
  expect("not.pred %py, %p0;", [](uint64_t a) { return ~a & 1; });
  for (unsigned table : {0x80, 0xfe, 0x96, 0xca, 0x01})
    expect("lop3.b32 %ry, %r0, %r1, %r2, " + std::to_string(table) + ";", [&](uint64_t a, uint64_t b, uint64_t c) {
      // The manual: the table is the result for a = 0xf0, b = 0xcc, c = 0xaa.
      switch (table) {
      case 0x80:
        return a & b & c;
      case 0xfe:
        return a | b | c;
      case 0x96:
        return a ^ b ^ c;
      case 0xca:
        return (a & b) | (~a & c);
      default:
        return ~(a | b | c);
      }
    });
}

TEST(PtxIntegers, Shifts) {
  // A shift by more than the width is one by the width.
  auto by = [](const APInt &a, const APInt &b) { return unsigned(b.getLimitedValue(a.getBitWidth())); };
  expectWidths(
      "shl.b", [=](APInt a, APInt b) { return a.shl(by(a, b)); }, true);
  expectWidths(
      "shr.u", [=](APInt a, APInt b) { return a.lshr(by(a, b)); }, true);
  expectWidths(
      "shr.s", [=](APInt a, APInt b) { return a.ashr(by(a, b)); }, true);
  auto expectFunnel = [](const std::string &mode, bool left, bool wraps) {
    expect("shf." + mode + ".b32 %ry, %r0, %r1, %r2;", [&](uint64_t a, uint64_t b, uint64_t c) {
      unsigned by = wraps ? c & 31 : std::min<uint64_t>(uint32_t(c), 32);
      APInt both = APInt(64, (b & 0xffffffff) << 32 | (a & 0xffffffff));
      return left ? both.shl(by).lshr(32).getZExtValue() : both.lshr(by).getZExtValue();
    });
  };
  expectFunnel("l.wrap", true, true);
  expectFunnel("l.clamp", true, false);
  expectFunnel("r.wrap", false, true);
  expectFunnel("r.clamp", false, false);
}

TEST(PtxIntegers, Fields) {
  expect("bfe.u32 %ry, %r0, %r1, %r2;", [](uint64_t a, uint64_t b, uint64_t c) {
    uint64_t shifted = (b & 255) < 32 ? (a & 0xffffffff) >> (b & 255) : 0;
    return (c & 255) < 32 ? shifted & ((uint64_t(1) << (c & 255)) - 1) : shifted;
  });
  // Bit by bit, as the manual writes it.
  expect("bfe.s64 %dy, %d0, %r1, %r2;", [](uint64_t a, uint64_t b, uint64_t c) {
    unsigned position = b & 255, length = c & 255;
    bool sign = length && (a >> std::min(position + length - 1, 63u) & 1);
    uint64_t result = 0;
    for (unsigned i = 0; i < 64; ++i)
      result |= uint64_t(i < length && position + i <= 63 ? a >> (position + i) & 1 : sign) << i;
    return result;
  });
  expect("bfi.b32 %ry, %r0, %r1, %r2, 9;", [](uint64_t a, uint64_t b, uint64_t c) {
    uint64_t result = b;
    for (unsigned i = 0, position = c & 255; i < 9 && position + i < 32; ++i)
      result = (result & ~(uint64_t(1) << (position + i))) | (a >> i & 1) << (position + i);
    return result;
  });
  expect("prmt.b32 %ry, %r0, %r1, %r2;", [](uint64_t a, uint64_t b, uint64_t c) {
    uint8_t bytes[8], result[4];
    for (unsigned i = 0; i < 8; ++i)
      bytes[i] = (i < 4 ? a : b) >> (8 * (i & 3));
    for (unsigned i = 0; i < 4; ++i) {
      unsigned digit = c >> (4 * i) & 15;
      result[i] = digit < 8 ? bytes[digit] : bytes[digit - 8] >> 7 ? 0xff : 0;
    }
    return result[0] | result[1] << 8 | result[2] << 16 | uint64_t(result[3]) << 24;
  });
  expect("prmt.b32 %ry, %r0, %r1, 0x7632U;",
         [](uint64_t a, uint64_t b) { return (a >> 16 & 0xffff) | (b & 0xffff0000); });
}

TEST(PtxIntegers, Counts) {
  expect("clz.b32 %ry, %r0;", [](uint64_t a) { return of(a, 32).countl_zero(); });
  expect("clz.b64 %ry, %d0;", [](uint64_t a) { return of(a, 64).countl_zero(); });
  expect("popc.b32 %ry, %r0;", [](uint64_t a) { return of(a, 32).popcount(); });
  expect("popc.b64 %ry, %d0;", [](uint64_t a) { return of(a, 64).popcount(); });
  expect("brev.b32 %ry, %r0;", [](uint64_t a) { return of(a, 32).reverseBits().getZExtValue(); });
}

TEST(PtxIntegers, Comparisons) {
  expect("setp.lt.s32 %py, %r0, %r1;", [](int32_t a, int32_t b) { return a < b; });
  expect("setp.lt.u32 %py, %r0, %r1;", [](uint32_t a, uint32_t b) { return a < b; });
  expect("setp.ge.s64 %py, %d0, %d1;", [](int64_t a, int64_t b) { return a >= b; });
  expect("setp.gt.u64 %py, %d0, %d1;", [](uint64_t a, uint64_t b) { return a > b; });
  expect("setp.le.s32 %py, %r0, %r1;", [](int32_t a, int32_t b) { return a <= b; });
  expect("setp.hs.u32 %py, %r0, %r1;", [](uint32_t a, uint32_t b) { return a >= b; });
  expect("setp.eq.b32 %py, %r0, %r1;", [](uint32_t a, uint32_t b) { return a == b; });
  expect("setp.ne.s64 %py, %d0, %d1;", [](uint64_t a, uint64_t b) { return a != b; });
  expect("setp.lt.s16 %py, %h0, %h1;", [](int16_t a, int16_t b) { return a < b; });
  expect("setp.lt.and.s32 %py|%p9, %r0, %r1, %p2;", [](int32_t a, int32_t b, int32_t c) { return a < b && (c & 1); });
  // The second predicate is the opposite comparison, joined likewise.
  expect("setp.lt.or.s32 %p9|%py, %r0, %r1, !%p2;", [](int32_t a, int32_t b, int32_t c) { return a >= b || !(c & 1); });
  expect("set.lt.u32.s32 %ry, %r0, %r1;", [](int32_t a, int32_t b) { return a < b ? ~0u : 0u; });
  expect("selp.b64 %dy, %d0, %d1, %p2;", [](uint64_t a, uint64_t b, uint64_t c) { return c & 1 ? a : b; });
  expect("slct.u32.s32 %ry, %r0, %r1, %r2;", [](uint64_t a, uint64_t b, int32_t c) { return c >= 0 ? a : b; });
}

TEST(PtxIntegers, Moves) {
  expect("mov.b64 %dy, {%r0, %r1};", [](uint32_t a, uint64_t b) { return b << 32 | a; });
  expect("mov.b32 {%h10, %h11}, %r0;\nmov.b32 %ry, {%h11, %h10};",
         [](uint64_t a) { return (a & 0xffff) << 16 | (a >> 16 & 0xffff); });
  // Of a part, only the bits of its width count.
  expect("cvt.s32.s8 %r20, %r0;\nmov.b64 %dy, {%r20, %r1};",
         [](int8_t a, uint64_t b) { return b << 32 | uint32_t(int32_t(a)); });
  expect("mov.b64 {_, %ry}, %d0;", [](uint64_t a) { return a >> 32; });
  expect("mov.b64 {%h10, %h11, %h12, %h13}, %d0;\nmov.b64 %dy, {%h13, %h12, %h11, %h10};",
         [](uint64_t a) { return a << 48 | (a >> 16 & 0xffff) << 32 | (a >> 32 & 0xffff) << 16 | a >> 48; });
  expect("mov.b32 %ry, -5;", [](uint32_t) { return -5; });
}

TEST(PtxIntegers, DivisionByZeroIsAnError) {
  Runner run;
  EXPECT_EQ(run(kernelText("mov.b32 %r1, 0;\ndiv.u32 %r2, %r1, %r1;")),
            "kernel 'k', block 0, thread 0, line 15: division by 0: div.u32 %r2, %r1, %r1");
}

} // namespace
