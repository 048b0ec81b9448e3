// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer and bit instructions of the PTX interpreter, against the arithmetic of the host and of llvm::APInt.

#include "PtxTest.h"

#include "llvm/ADT/APInt.h"

using namespace resid::ptx;
using llvm::APInt;

namespace {

const std::vector<uint64_t> kEdges = {0,
                                      1,
                                      2,
                                      7,
                                      31,
                                      32,
                                      33,
                                      63,
                                      64,
                                      0x7fff,
                                      0x8000,
                                      0xffff,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      ~uint64_t(0)};
const std::vector<Operands> kCases = triples(kEdges);

APInt of(uint64_t bits, unsigned width) { return APInt(64, bits).trunc(width); }

template <typename F> void expectBinary(const char *name, F function) {
  for (unsigned width : {16, 32, 64}) {
    char kind = width == 16 ? 'h' : width == 32 ? 'r' : 'd';
    std::string k(1, kind), text = name + std::to_string(width) + " %" + k + "y, %" + k + "0, %" + k + "1;";
    expectEach(text, kind, kCases,
               [&](uint64_t a, uint64_t b, uint64_t) { return function(of(a, width), of(b, width)).getZExtValue(); });
  }
}

TEST(PtxIntegers, Sums) {
  expectBinary("add.s", [](APInt a, APInt b) { return a + b; });
  expectBinary("sub.u", [](APInt a, APInt b) { return a - b; });
  expectBinary("min.s", [](APInt a, APInt b) { return a.slt(b) ? a : b; });
  expectBinary("min.u", [](APInt a, APInt b) { return a.ult(b) ? a : b; });
  expectBinary("max.s", [](APInt a, APInt b) { return a.sgt(b) ? a : b; });
  expectBinary("max.u", [](APInt a, APInt b) { return a.ugt(b) ? a : b; });
  expectEach("add.sat.s32 %ry, %r0, %r1;", 'r', kCases,
             [](uint64_t a, uint64_t b, uint64_t) { return of(a, 32).sadd_sat(of(b, 32)).getZExtValue(); });
  expectEach("neg.s32 %ry, %r0;", 'r', kCases, [](uint64_t a, uint64_t, uint64_t) { return -a; });
  expectEach("abs.s64 %dy, %d0;", 'd', kCases, [](uint64_t a, uint64_t, uint64_t) { return int64_t(a) < 0 ? -a : a; });
}

/// Both halves of 32 bits, each on its own.
template <typename T, typename F> uint64_t halves(uint64_t a, uint64_t b, F function) {
  uint16_t low = function(T(a), T(b)), high = function(T(a >> 16), T(b >> 16));
  return uint64_t(high) << 16 | low;
}

TEST(PtxIntegers, PairsOfHalves) {
  auto expect = [](const char *mnemonic, auto function) {
    expectEach(std::string(mnemonic) + " %ry, %r0, %r1;", 'r', kCases, function);
  };
  expect("add.s16x2", [](uint64_t a, uint64_t b, uint64_t) {
    return halves<uint16_t>(a, b, [](unsigned x, unsigned y) { return x + y; });
  });
  expect("min.s16x2", [](uint64_t a, uint64_t b, uint64_t) {
    return halves<int16_t>(a, b, [](int x, int y) { return std::min(x, y); });
  });
  expect("max.u16x2", [](uint64_t a, uint64_t b, uint64_t) {
    return halves<uint16_t>(a, b, [](int x, int y) { return std::max(x, y); });
  });
}

TEST(PtxIntegers, Products) {
  expectBinary("mul.lo.u", [](APInt a, APInt b) { return a * b; });
  expectBinary("mul.hi.u", [](APInt a, APInt b) { return llvm::APIntOps::mulhu(a, b); });
  expectBinary("mul.hi.s", [](APInt a, APInt b) { return llvm::APIntOps::mulhs(a, b); });
  expectEach("mul.wide.s32 %dy, %r0, %r1;", 'd', kCases,
             [](uint64_t a, uint64_t b, uint64_t) { return int64_t(int32_t(a)) * int32_t(b); });
  expectEach("mul.wide.u16 %ry, %h0, %h1;", 'r', kCases,
             [](uint64_t a, uint64_t b, uint64_t) { return (a & 0xffff) * (b & 0xffff); });
  expectEach("mad.lo.s32 %ry, %r0, %r1, %r2;", 'r', kCases,
             [](uint64_t a, uint64_t b, uint64_t c) { return a * b + c; });
  expectEach("mad.hi.u32 %ry, %r0, %r1, %r2;", 'r', kCases,
             [](uint64_t a, uint64_t b, uint64_t c) { return (((a & 0xffffffff) * (b & 0xffffffff)) >> 32) + c; });
  expectEach("mad.wide.u32 %dy, %r0, %r1, %d2;", 'd', kCases,
             [](uint64_t a, uint64_t b, uint64_t c) { return (a & 0xffffffff) * (b & 0xffffffff) + c; });
}

TEST(PtxIntegers, Quotients) {
  std::vector<Operands> cases = kCases;
  // Divisors of 16 bits must not be 0 either.
  llvm::erase_if(cases, [](const Operands &x) { return (x[1] & 0xffff) == 0; });
  for (unsigned width : {16, 32, 64}) {
    char kind = width == 16 ? 'h' : width == 32 ? 'r' : 'd';
    std::string k(1, kind), operands = std::to_string(width) + " %" + k + "y, %" + k + "0, %" + k + "1;";
    auto expect = [&](const std::string &name, auto function) {
      expectEach(name + operands, kind, cases,
                 [&](uint64_t a, uint64_t b, uint64_t) { return function(of(a, width), of(b, width)).getZExtValue(); });
    };
    expect("div.s", [](APInt a, APInt b) { return a.sdiv(b); });
    expect("div.u", [](APInt a, APInt b) { return a.udiv(b); });
    expect("rem.s", [](APInt a, APInt b) { return a.srem(b); });
    expect("rem.u", [](APInt a, APInt b) { return a.urem(b); });
  }
}

TEST(PtxIntegers, Carries) {
  // 64 bits in two halves.
  auto halves = [](const std::string &first, const std::string &second) {
    return "shr.u64 %d20, %d0, 32;\ncvt.u32.u64 %r20, %d20;\nshr.u64 %d21, %d1, 32;\ncvt.u32.u64 %r21, %d21;\n" +
           first + ".u32 %r22, %r0, %r1;\n" + second + ".u32 %r23, %r20, %r21;\nmov.b64 %dy, {%r22, %r23};";
  };
  expectEach(halves("add.cc", "addc"), 'd', kCases, [](uint64_t a, uint64_t b, uint64_t) { return a + b; });
  expectEach(halves("sub.cc", "subc"), 'd', kCases, [](uint64_t a, uint64_t b, uint64_t) { return a - b; });
  expectEach("add.cc.s64 %d20, %d0, %d1;\naddc.cc.s64 %d21, %d0, %d1;\naddc.s64 %dy, %d2, 0;", 'd', kCases,
             [](uint64_t a, uint64_t b, uint64_t c) {
               uint64_t carry = a + b < a;
               return c + (((unsigned __int128)a + b + carry) >> 64);
             });
}

TEST(PtxIntegers, Logic) {
  expectBinary("and.b", [](APInt a, APInt b) { return a & b; });
  expectBinary("or.b", [](APInt a, APInt b) { return a | b; });
  expectBinary("xor.b", [](APInt a, APInt b) { return a ^ b; });
  expectEach("not.b32 %ry, %r0;", 'r', kCases, [](uint64_t a, uint64_t, uint64_t) { return ~a; });
  expectEach("and.pred %py, %p0, %p1;", 'p', kCases, [](uint64_t a, uint64_t b, uint64_t) { return a & b & 1; });
  expectEach("or.pred %py, %p0, !%p1;", 'p', kCases, [](uint64_t a, uint64_t b, uint64_t) { return (a | ~b) & 1; });
  expectEach("xor.pred %py, %p0, %p1;", 'p', kCases, [](uint64_t a, uint64_t b, uint64_t) { return (a ^ b) & 1; });
  expectEach("not.pred %py, %p0;", 'p', kCases, [](uint64_t a, uint64_t, uint64_t) { return ~a & 1; });
  for (unsigned table : {0x80, 0xfe, 0x96, 0xca, 0x01})
    expectEach("lop3.b32 %ry, %r0, %r1, %r2, " + std::to_string(table) + ";", 'r', kCases,
               [&](uint64_t a, uint64_t b, uint64_t c) {
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
  for (unsigned width : {16, 32, 64}) {
    char kind = width == 16 ? 'h' : width == 32 ? 'r' : 'd';
    std::string k(1, kind), operands = std::to_string(width) + " %" + k + "y, %" + k + "0, %r1;";
    auto expect = [&](const std::string &name, auto function) {
      expectEach(name + operands, kind, kCases, [&](uint64_t a, uint64_t b, uint64_t) {
        unsigned by = std::min<uint64_t>(uint32_t(b), width);
        return function(of(a, width), by).getZExtValue();
      });
    };
    expect("shl.b", [](APInt a, unsigned by) { return a.shl(by); });
    expect("shr.u", [](APInt a, unsigned by) { return a.lshr(by); });
    expect("shr.s", [](APInt a, unsigned by) { return a.ashr(by); });
  }
  auto expectFunnel = [](const std::string &mode, bool left, bool wraps) {
    expectEach("shf." + mode + ".b32 %ry, %r0, %r1, %r2;", 'r', kCases, [&](uint64_t a, uint64_t b, uint64_t c) {
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
  expectEach("bfe.u32 %ry, %r0, %r1, %r2;", 'r', kCases, [](uint64_t a, uint64_t b, uint64_t c) {
    uint64_t shifted = (b & 255) < 32 ? (a & 0xffffffff) >> (b & 255) : 0;
    return (c & 255) < 32 ? shifted & ((uint64_t(1) << (c & 255)) - 1) : shifted;
  });
  // Bit by bit, as the manual writes it.
  expectEach("bfe.s64 %dy, %d0, %r1, %r2;", 'd', kCases, [](uint64_t a, uint64_t b, uint64_t c) {
    unsigned position = b & 255, length = c & 255;
    bool sign = length && (a >> std::min(position + length - 1, 63u) & 1);
    uint64_t result = 0;
    for (unsigned i = 0; i < 64; ++i)
      result |= uint64_t(i < length && position + i <= 63 ? a >> (position + i) & 1 : sign) << i;
    return result;
  });
  expectEach("bfi.b32 %ry, %r0, %r1, %r2, 9;", 'r', kCases, [](uint64_t a, uint64_t b, uint64_t c) {
    uint64_t result = b;
    for (unsigned i = 0, position = c & 255; i < 9 && position + i < 32; ++i)
      result = (result & ~(uint64_t(1) << (position + i))) | (a >> i & 1) << (position + i);
    return result;
  });
  expectEach("prmt.b32 %ry, %r0, %r1, %r2;", 'r', kCases, [](uint64_t a, uint64_t b, uint64_t c) {
    uint8_t bytes[8], result[4];
    for (unsigned i = 0; i < 8; ++i)
      bytes[i] = (i < 4 ? a : b) >> (8 * (i & 3));
    for (unsigned i = 0; i < 4; ++i) {
      unsigned digit = c >> (4 * i) & 15;
      result[i] = digit < 8 ? bytes[digit] : bytes[digit - 8] >> 7 ? 0xff : 0;
    }
    return result[0] | result[1] << 8 | result[2] << 16 | uint64_t(result[3]) << 24;
  });
  expectEach("prmt.b32 %ry, %r0, %r1, 0x7632U;", 'r', kCases,
             [](uint64_t a, uint64_t b, uint64_t) { return (a >> 16 & 0xffff) | (b & 0xffff0000); });
}

TEST(PtxIntegers, Counts) {
  expectEach("clz.b32 %ry, %r0;", 'r', kCases, [](uint64_t a, uint64_t, uint64_t) { return of(a, 32).countl_zero(); });
  expectEach("clz.b64 %ry, %d0;", 'r', kCases, [](uint64_t a, uint64_t, uint64_t) { return of(a, 64).countl_zero(); });
  expectEach("popc.b32 %ry, %r0;", 'r', kCases, [](uint64_t a, uint64_t, uint64_t) { return of(a, 32).popcount(); });
  expectEach("popc.b64 %ry, %d0;", 'r', kCases, [](uint64_t a, uint64_t, uint64_t) { return of(a, 64).popcount(); });
  expectEach("brev.b32 %ry, %r0;", 'r', kCases,
             [](uint64_t a, uint64_t, uint64_t) { return of(a, 32).reverseBits().getZExtValue(); });
}

TEST(PtxIntegers, Comparisons) {
  auto expect = [](const std::string &name, auto function) {
    expectEach("setp." + name + " %py, " + (name.find("64") == std::string::npos ? "%r0, %r1;" : "%d0, %d1;"), 'p',
               kCases, [&](uint64_t a, uint64_t b, uint64_t) { return function(a, b); });
  };
  expect("lt.s32", [](int32_t a, int32_t b) { return a < b; });
  expect("lt.u32", [](uint32_t a, uint32_t b) { return a < b; });
  expect("ge.s64", [](int64_t a, int64_t b) { return a >= b; });
  expect("gt.u64", [](uint64_t a, uint64_t b) { return a > b; });
  expect("le.s32", [](int32_t a, int32_t b) { return a <= b; });
  expect("hs.u32", [](uint32_t a, uint32_t b) { return a >= b; });
  expect("eq.b32", [](uint32_t a, uint32_t b) { return a == b; });
  expect("ne.s64", [](uint64_t a, uint64_t b) { return a != b; });
  expectEach("setp.lt.s16 %py, %h0, %h1;", 'p', kCases,
             [](uint64_t a, uint64_t b, uint64_t) { return int16_t(a) < int16_t(b); });
  expectEach("setp.lt.and.s32 %py|%p9, %r0, %r1, %p2;", 'p', kCases,
             [](uint64_t a, uint64_t b, uint64_t c) { return int32_t(a) < int32_t(b) && (c & 1); });
  // The second predicate is the opposite comparison, joined likewise.
  expectEach("setp.lt.or.s32 %p9|%py, %r0, %r1, !%p2;", 'p', kCases,
             [](uint64_t a, uint64_t b, uint64_t c) { return int32_t(a) >= int32_t(b) || !(c & 1); });
  expectEach("set.lt.u32.s32 %ry, %r0, %r1;", 'r', kCases,
             [](uint64_t a, uint64_t b, uint64_t) { return int32_t(a) < int32_t(b) ? ~0u : 0u; });
  expectEach("selp.b64 %dy, %d0, %d1, %p2;", 'd', kCases,
             [](uint64_t a, uint64_t b, uint64_t c) { return c & 1 ? a : b; });
  expectEach("slct.u32.s32 %ry, %r0, %r1, %r2;", 'r', kCases,
             [](uint64_t a, uint64_t b, uint64_t c) { return int32_t(c) >= 0 ? a : b; });
}

TEST(PtxIntegers, Moves) {
  expectEach("mov.b64 %dy, {%r0, %r1};", 'd', kCases,
             [](uint64_t a, uint64_t b, uint64_t) { return b << 32 | (a & 0xffffffff); });
  expectEach("mov.b32 {%h10, %h11}, %r0;\nmov.b32 %ry, {%h11, %h10};", 'r', kCases,
             [](uint64_t a, uint64_t, uint64_t) { return (a & 0xffff) << 16 | (a >> 16 & 0xffff); });
  // Of a part, only the bits of its width count.
  expectEach("cvt.s32.s8 %r20, %r0;\nmov.b64 %dy, {%r20, %r1};", 'd', kCases,
             [](uint64_t a, uint64_t b, uint64_t) { return b << 32 | uint32_t(int32_t(int8_t(a))); });
  expectEach("mov.b64 {_, %ry}, %d0;", 'r', kCases, [](uint64_t a, uint64_t, uint64_t) { return a >> 32; });
  expectEach("mov.b64 {%h10, %h11, %h12, %h13}, %d0;\nmov.b64 %dy, {%h13, %h12, %h11, %h10};", 'd', kCases,
             [](uint64_t a, uint64_t, uint64_t) {
               return a << 48 | (a >> 16 & 0xffff) << 32 | (a >> 32 & 0xffff) << 16 | a >> 48;
             });
  expectEach("mov.b32 %ry, -5;", 'r', kCases, [](uint64_t, uint64_t, uint64_t) { return uint32_t(-5); });
}

TEST(PtxIntegers, DivisionByZeroIsAnError) {
  Runner run;
  EXPECT_EQ(run(kernelText("mov.b32 %r1, 0;\ndiv.u32 %r2, %r1, %r1;")),
            "kernel 'k', block 0, thread 0, line 15: division by 0: div.u32 %r2, %r1, %r1");
}

} // namespace
