// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asynchronous copies and matrices of warps in the PTX interpreter.

#include "PtxTest.h"
#include "test/ptx/FloatMath.h"
#include "test/ptx/Matrix.h"
#include <numeric>

using namespace resid::ptx;

namespace {

/// A thread's own 16 bytes of `a` are at %d0 and of `b` at %d1; its place in shared memory is %r20.
const std::string kPlaces = ".shared .align 16 .b8 s[2048];\nmov.u32 %r10, %tid.x;\nshl.b32 %r11, %r10, 4;\n"
                            "mov.b32 %r19, s;\nadd.s32 %r20, %r19, %r11;\ncvt.u64.u32 %d10, %r11;\n"
                            "ld.param.b64 %d0, [a];\nadd.s64 %d0, %d0, %d10;\nld.param.b64 %d1, [b];\n"
                            "add.s64 %d1, %d1, %d10;\n";
const std::string kCopy = "cp.async.cg.shared.global [%r20], [%d0], 16;\n";
/// Neighbouring threads change places.
const std::string kExchange = "xor.b32 %r21, %r11, 16;\nadd.s32 %r21, %r19, %r21;\n"
                              "ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%r21];\n";
const std::string kStore = "st.global.v4.b32 [%d1], {%r0, %r1, %r2, %r3};";

std::string runBody(Runner &run, const std::string &body, unsigned threads, const std::string &head = kHead) {
  run.launch.blockX = threads;
  std::string text = kernelText(body);
  text.replace(0, std::string(kHead).size(), head);
  return run(text);
}

void expectError(const std::string &body, const std::string &message, unsigned threads = 64) {
  for (Order order : {Order::forward(), Order::backward(), Order::random(4)}) {
    Runner run;
    run.launch.order = order;
    std::string error = runBody(run, kPlaces + body, threads);
    EXPECT_NE(error.find(message), std::string::npos) << body << error;
  }
}

TEST(PtxMatrices, AsynchronousCopies) {
  for (const char *wait : {"cp.async.commit_group;\ncp.async.wait_group 0;\n", "cp.async.wait_all;\n"}) {
    Runner run;
    std::iota(run.a.begin(), run.a.end(), 1);
    ASSERT_EQ(runBody(run, kPlaces + kCopy + wait + "bar.sync 0;\n" + kExchange + kStore, 64), "");
    for (unsigned i = 0; i < 256; ++i)
      EXPECT_EQ(run.b[i], run.a[i ^ 4]);
    EXPECT_EQ(run.counts.loads.bytes, 1024u);
    EXPECT_EQ(run.counts.loads.sectors, 32u);
  }
}

TEST(PtxMatrices, CopiesOfAPart) {
  // 6 of 16 bytes, and none from an address where nothing is; the others become zeros.
  Runner run;
  std::fill(run.a.begin(), run.a.end(), 0x12345678);
  ASSERT_EQ(runBody(run,
                    kPlaces +
                        "setp.eq.s32 %p0, %r10, 0;\nselp.b32 %r5, 6, 0, %p0;\nselp.b64 %d3, %d0, 64, %p0;\n"
                        "cp.async.ca.shared.global [%r20], [%d3], 16, %r5;\ncp.async.wait_all;\n"
                        "ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%r20];\n" +
                        kStore,
                    2),
            "");
  run.b.resize(8);
  EXPECT_EQ(run.b, (std::vector<uint32_t>{0x12345678, 0x5678, 0, 0, 0, 0, 0, 0}));
}

TEST(PtxMatrices, GroupsOfCopies) {
  // The first of two groups has come, the second one has not.
  const std::string two = kCopy + "cp.async.commit_group;\ncp.async.cg.shared.global [%r20+1024], [%d0], 16;\n"
                                  "cp.async.commit_group;\ncp.async.wait_group 1;\n";
  Runner run;
  EXPECT_EQ(runBody(run, kPlaces + two + "ld.shared.b32 %r0, [%r20];", 64), "");
  expectError(two + "ld.shared.b32 %r0, [%r20+1024];", "race: an asynchronous copy to byte");
}

TEST(PtxMatrices, RacesWithCopies) {
  // Without a wait; with one of one's own thread, but no barrier; with a barrier, but no wait.
  expectError(kCopy + "ld.shared.b32 %r0, [%r20];", "race: an asynchronous copy to byte");
  expectError(kCopy + "cp.async.wait_all;\n" + kExchange, "shared memory that", 64);
  expectError(kCopy + "cp.async.commit_group;\nbar.sync 0;\n" + kExchange, "race: an asynchronous copy to byte");
  // Over what others still read, or what is on its way already.
  expectError("st.shared.v4.b32 [%r20], {%r10, %r10, %r10, %r10};\nbar.sync 0;\n" + kExchange + kCopy, "race: ");
  expectError(kCopy + kCopy, "race: an asynchronous copy to byte 0 of shared memory is on its way", 1);
  // The array that it is read from must stay as it is.
  expectError(kCopy + "xor.b32 %r21, %r11, 16;\ncvt.u64.u32 %d10, %r21;\nld.param.b64 %d3, [a];\n"
                      "add.s64 %d3, %d3, %d10;\nst.global.b32 [%d3], %r10;",
              "race: ");
}

TEST(PtxMatrices, BadCopies) {
  expectError("cp.async.cg.shared.global [%r20], [%d0+4], 16;", "misaligned access of 16 bytes");
  expectError("cp.async.cg.shared.global [%r20+8], [%d0], 16;", "misaligned access of 16 bytes");
  expectError("cp.async.cg.shared.global [%r20], [%d0+4096], 16;", "global memory out of bounds");
  expectError("cp.async.cg.shared.global [%r20+4096], [%d0], 16;", "shared memory out of bounds");
  expectError("cp.async.cg.shared.global [%r20], [%d0], 8;", "unknown size");
  expectError("cp.async.ca.shared.global [%r20], [%d0], 8, 12;", "a copy of 12 bytes into 8");
  expectError("cp.async.bulk.shared.global [%r20], [%d0], 16;", "unknown instruction");
}

/// 16 bytes of a row of `a` for each lane, in shared memory.
const std::string kRows = kPlaces + kCopy + "cp.async.wait_all;\nbar.sync 0;\n";

TEST(PtxMatrices, Loads) {
  for (bool isTransposed : {false, true}) {
    Runner run;
    // Element (row, column) of matrix m is 1000 m + 10 row + column.
    auto *elements = reinterpret_cast<uint16_t *>(run.a.data());
    for (unsigned i = 0; i < 256; ++i)
      elements[i] = 1000 * (i / 64) + 10 * (i / 8 % 8) + i % 8;
    std::string load = std::string("ldmatrix.sync.aligned.m8n8.x4") + (isTransposed ? ".trans" : "") +
                       ".shared.b16 {%r0, %r1, %r2, %r3}, [%r20];\n";
    ASSERT_EQ(runBody(run, kRows + load + kStore, 32), "");
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned matrix = 0; matrix < 4; ++matrix)
        for (unsigned i = 0; i < 2; ++i) {
          unsigned line = lane / 4, place = 2 * (lane % 4) + i;
          EXPECT_EQ(run.b[4 * lane + matrix] >> 16 * i & 0xffff,
                    1000 * matrix + (isTransposed ? 10 * place + line : 10 * line + place));
        }
  }
}

TEST(PtxMatrices, BadLoads) {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, ";
  expectError("setp.eq.s32 %p0, %r10, 3;\n@%p0 ret;\n" + load + "[%r20];", "a matrix needs all lanes of its warp", 32);
  expectError(load + "[%r20];", "shared memory that the block has not written", 32);
  expectError("st.shared.v4.b32 [%r20], {%r10, %r10, %r10, %r10};\n" + load + "[%r20];", "race: reads", 32);
  expectError(load + "[%r20+65536];", "shared memory out of bounds", 32);
  expectError("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1}, [%r20];", "expected 4 registers but got 2", 32);
  expectError("ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r0, %r1}, [%r20];", "unknown instruction", 32);
}

/// Products of 16 x 8 elements by all lanes. Registers of a lane are in `a`: four of the first factor, two of the
/// second one, and the four sums.
std::vector<uint32_t> multiply(const std::string &kind, const std::vector<uint32_t> &registers,
                               const std::string &head = kHead) {
  Runner run;
  run.a = registers;
  run.a.resize(512);
  std::string body = "mov.u32 %r10, %tid.x;\nmul.wide.u32 %d10, %r10, 40;\nld.param.b64 %d0, [a];\nadd.s64 %d0, %d0, "
                     "%d10;\nmul.wide.u32 %d10, %r10, 16;\nld.param.b64 %d1, [b];\nadd.s64 %d1, %d1, %d10;\n";
  for (unsigned i = 0; i < 10; ++i)
    body += "ld.global.b32 %r" + std::to_string(i) + ", [%d0+" + std::to_string(4 * i) + "];\n";
  body += "mma.sync.aligned." + kind + " {%r20, %r21, %r22, %r23}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, " +
          "{%r6, %r7, %r8, %r9};\nst.global.v4.b32 [%d1], {%r20, %r21, %r22, %r23};";
  EXPECT_EQ(runBody(run, body, 32, head), "");
  run.b.resize(128);
  return run.b;
}

/// Where the elements of a fragment are: `each` to a register.
struct Fragment {
  unsigned each;
  unsigned depth() const { return 8 * each; }
  void setA(std::vector<uint32_t> &registers, unsigned row, unsigned k, uint32_t bits) const {
    unsigned half = k / (4 * each), inHalf = k % (4 * each);
    set(registers[10 * (row % 8 * 4 + inHalf / each) + row / 8 + 2 * half], k % each, bits);
  }
  void setB(std::vector<uint32_t> &registers, unsigned column, unsigned k, uint32_t bits) const {
    unsigned half = k / (4 * each), inHalf = k % (4 * each);
    set(registers[10 * (column * 4 + inHalf / each) + 4 + half], k % each, bits);
  }
  static unsigned sumOf(unsigned row, unsigned column) { return row % 8 * 4 + column / 2; }
  static unsigned registerOf(unsigned row, unsigned column) { return row / 8 * 2 + column % 2; }
  void set(uint32_t &word, unsigned part, uint32_t bits) const { word |= bits << part * (32 / each); }
};

TEST(PtxMatrices, BytesAreExact) {
  std::mt19937 next(3);
  Fragment fragment{4};
  std::vector<uint32_t> registers(320);
  int8_t a[16][32], b[8][32];
  for (unsigned k = 0; k < 32; ++k) {
    for (unsigned row = 0; row < 16; ++row)
      fragment.setA(registers, row, k, uint8_t(a[row][k] = row == 0 ? -128 : int8_t(next())));
    for (unsigned column = 0; column < 8; ++column)
      fragment.setB(registers, column, k, uint8_t(b[column][k] = column == 0 ? -128 : int8_t(next())));
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      registers[10 * lane + 6 + i] = lane == 0 ? 0x7fffffff : 1000 * lane + i;
  std::vector<uint32_t> found = multiply("m16n8k32.row.col.s32.s8.s8.s32", registers);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      unsigned lane = Fragment::sumOf(row, column), i = Fragment::registerOf(row, column);
      uint32_t expected = registers[10 * lane + 6 + i];
      for (unsigned k = 0; k < 32; ++k)
        expected += int(a[row][k]) * int(b[column][k]);
      EXPECT_EQ(found[4 * lane + i], expected) << row << ' ' << column;
    }
}

/// Errors keep within the bound that resid promises, (k + 16) 2^-22 times the sum of absolute products, and show that
/// sums are cut off.
TEST(PtxMatrices, FloatsKeepTheirBound) {
  Fragment fragment{2};
  for (const char *chip : {"sm_80", "sm_90"})
    for (bool isHalf : {false, true}) {
      std::mt19937 next(7);
      std::uniform_int_distribution<int> exponents(-9, 9);
      std::vector<uint32_t> registers(320);
      double a[16][16], b[8][16];
      auto draw = [&](double &value) {
        double wide = std::ldexp(double(int32_t(next())) * 0x1p-31, exponents(next));
        uint16_t bits = isHalf ? narrow<Half>(wide).bits : narrow<BFloat>(wide).bits;
        value = isHalf ? widen(Half{bits}) : widen(BFloat{bits});
        return bits;
      };
      for (unsigned k = 0; k < 16; ++k) {
        for (unsigned row = 0; row < 16; ++row)
          fragment.setA(registers, row, k, draw(a[row][k]));
        for (unsigned column = 0; column < 8; ++column)
          fragment.setB(registers, column, k, draw(b[column][k]));
      }
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < 4; ++i)
          registers[10 * lane + 6 + i] = bitsOf(float(int32_t(next())) * 0x1p-28f);
      std::string type = isHalf ? "f16" : "bf16",
                  head = ".version 7.8\n.target " + std::string(chip) + "\n.address_size 64\n";
      std::vector<uint32_t> found = multiply("m16n8k16.row.col.f32." + type + "." + type + ".f32", registers, head);
      unsigned inexact = 0;
      for (unsigned row = 0; row < 16; ++row)
        for (unsigned column = 0; column < 8; ++column) {
          unsigned lane = Fragment::sumOf(row, column), i = Fragment::registerOf(row, column);
          double start = asFloat(registers[10 * lane + 6 + i]), sum = start, size = std::fabs(start);
          for (unsigned k = 0; k < 16; ++k)
            sum += a[row][k] * b[column][k], size += std::fabs(a[row][k] * b[column][k]);
          double got = asFloat(found[4 * lane + i]);
          EXPECT_LE(std::fabs(got - sum), 32 * 0x1p-22 * size) << chip << row << ' ' << column;
          inexact += float(sum) != float(got);
        }
      EXPECT_GT(inexact, 20u);
    }
}

TEST(PtxMatrices, SumsAreCutOff) {
  // 8 products of 1 beside 2^24: each is worth half of the last bit of an f32.
  std::vector<double> ones(16, 1.0), factors(16, 0.0);
  std::fill_n(factors.begin(), 2, 1.0);
  MatrixUnit ampere = MatrixUnit::ofChip("sm_86"), hopper = MatrixUnit::ofChip("sm_90");
  EXPECT_EQ(ampere.add(0x1p24f, ones, factors), 0x1p24f + 2);
  factors[1] = 0;
  EXPECT_EQ(hopper.add(0x1p24f, ones, factors), 0x1p24f); // To nearest even as well.
  factors[1] = 0.5;
  EXPECT_EQ(hopper.add(0x1p24f, ones, factors), 0x1p24f);       // To nearest, 2 more.
  EXPECT_EQ(hopper.add(-0x1p24f, ones, factors), -0x1p24f + 2); // To nearest, 1 more.
  double infinity = HUGE_VAL;
  factors[0] = infinity;
  EXPECT_EQ(hopper.add(1.0f, ones, factors), HUGE_VALF);
  EXPECT_TRUE(std::isnan(hopper.add(-HUGE_VALF, ones, factors)));
  ones[0] = 0;
  EXPECT_TRUE(std::isnan(hopper.add(1.0f, ones, factors)));
}

} // namespace
