// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as llc 22 writes them, against plain loops of the host; and what a mistake in one of them is reported as.

#include "PtxMixed.h"
#include "PtxRms.h"
#include "PtxTest.h"

#include <algorithm>
#include <cmath>

using namespace resid::ptx;

namespace {

// === A row kernel ======================================================================================================

constexpr unsigned kRows = 5, kColumns = 256;
constexpr float kEpsilon = 1e-5f;

std::vector<float> input() {
  std::vector<float> x(kRows * kColumns);
  std::mt19937 next(3);
  for (float &value : x)
    value = int32_t(next()) * 0x1p-28f;
  // A row whose squares overflow, one of subnormals, and one with a NaN.
  for (unsigned column = 0; column < kColumns; ++column) {
    x[1 * kColumns + column] *= 1e20f;
    x[2 * kColumns + column] *= 1e-38f;
  }
  x[3 * kColumns + 17] = NAN;
  return x;
}

/// The sums in the order of the kernel.
std::vector<float> expectedRms(const std::vector<float> &x) {
  std::vector<float> y(x.size());
  for (unsigned row = 0; row < kRows; ++row) {
    const float *in = x.data() + row * kColumns;
    float warps[4];
    for (unsigned warp = 0; warp < 4; ++warp) {
      float lanes[32];
      for (unsigned lane = 0; lane < 32; ++lane) {
        const float *pair = in + 2 * (32 * warp + lane);
        float first = pair[0] * pair[0], second = pair[1] * pair[1];
        lanes[lane] = first + second;
      }
      for (unsigned half : {16, 8, 4, 2, 1})
        for (unsigned lane = 0; lane < half; ++lane)
          lanes[lane] += lanes[lane + half];
      warps[warp] = lanes[0];
    }
    float mean = (((warps[0] + warps[1]) + warps[2]) + warps[3]) * (1.0f / 256);
    float root = std::sqrt(mean + kEpsilon);
    for (unsigned column = 0; column < kColumns; ++column)
      y[row * kColumns + column] = in[column] / root;
  }
  return y;
}

struct Rms {
  std::vector<float> x = input(), y = std::vector<float>(x.size());
  Order order = Order::forward();
  Counts counts;

  std::string operator()(const std::string &text) {
    auto module = Module::parse(text);
    if (!module)
      return "parse: " + messageOf(module.takeError());
    Memory memory;
    memory.add(x.data(), x.size() * 4, "x");
    memory.add(y.data(), y.size() * 4, "y");
    std::vector<uint8_t> parameters = pack(x.data(), y.data(), kEpsilon);
    Launch launch;
    launch.gridX = kRows;
    launch.blockX = 128;
    launch.parameters = parameters;
    launch.order = order;
    auto result = run(*module->find("rms"), launch, memory);
    if (!result)
      return messageOf(result.takeError());
    counts = *result;
    return "";
  }
};

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

unsigned lineOf(const std::string &part) {
  std::string text = kRms;
  return 1 + std::count(text.begin(), text.begin() + text.find(part), '\n');
}

bool areSame(const std::vector<float> &a, const std::vector<float> &b) {
  for (size_t index = 0; index < a.size(); ++index)
    if (bitsOf(a[index]) != bitsOf(b[index]))
      return false;
  return true;
}

TEST(PtxPrograms, RowKernelInEveryOrder) {
  for (Order order : {Order::forward(), Order::backward(), Order::random(1), Order::random(2)}) {
    Rms rms;
    rms.order = order;
    ASSERT_EQ(rms(kRms), "");
    EXPECT_TRUE(areSame(rms.y, expectedRms(rms.x)));
  }
}

TEST(PtxPrograms, CountsOfTheRowKernel) {
  Rms rms;
  ASSERT_EQ(rms(kRms), "");
  // 128 threads of each row run 41 instructions, and the first lane of each warp 6 more.
  EXPECT_EQ(rms.counts.instructions, kRows * (128 * 41 + 4 * 6u));
  EXPECT_EQ(rms.counts.opcodes["shfl.sync.bfly.b32"], kRows * 128 * 5);
  EXPECT_EQ(rms.counts.opcodes["st.shared.b32"], kRows * 4);
  EXPECT_EQ(rms.counts.opcodes["bar.sync"], kRows * 128);
  // A warp reads 256 bytes: 8 sectors where rows are aligned to 32 bytes, else 9.
  EXPECT_EQ(rms.counts.loads.requests, kRows * 4);
  EXPECT_EQ(rms.counts.loads.bytes, kRows * 1024);
  unsigned sectors = reinterpret_cast<uintptr_t>(rms.x.data()) % 32 ? 9 : 8;
  EXPECT_EQ(rms.counts.loads.sectors, kRows * 4 * sectors);
  EXPECT_EQ(rms.counts.stores.bytes, kRows * 1024);
}

TEST(PtxPrograms, CountsOfThreadsThatLeave) {
  Runner run;
  run.launch.blockX = 64;
  ASSERT_EQ(run(kernelText("mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 24;\n@%p0 ret;\nnot.b32 %r1, %r0;\n"
                           "@%p0 exit;\n@!%p0 neg.s32 %r1, %r0;")),
            "");
  EXPECT_EQ(run.counts.opcodes["not.b32"], 40u);
  EXPECT_EQ(run.counts.opcodes["neg.s32"], 40u);
  EXPECT_EQ(run.counts.opcodes.count("exit"), 0u);
  EXPECT_EQ(run.counts.opcodes["ret"], 64u);
  EXPECT_EQ(run.counts.instructions, 64u * 2 + 24 + 40 * 3);
}

TEST(PtxPrograms, MistakesInTheRowKernel) {
  auto expectError = [](const std::string &from, const std::string &to, const std::string &message) {
    for (Order order : {Order::forward(), Order::backward(), Order::random(1)}) {
      Rms rms;
      rms.order = order;
      std::string error = rms(replaced(kRms, from, to));
      EXPECT_NE(error.find(message), std::string::npos) << from << " -> " << to << ": " << error;
    }
  };
  auto expectWrong = [](const std::string &from, const std::string &to) {
    Rms rms;
    EXPECT_EQ(rms(replaced(kRms, from, to)), "");
    EXPECT_FALSE(areSame(rms.y, expectedRms(rms.x))) << from << " -> " << to;
  };
  // Threads that run early see nothing, and later ones see what others wrote.
  Rms rms;
  EXPECT_NE(rms(replaced(kRms, "bar.sync \t0;", "")).find("that the block has not written"), std::string::npos);
  rms.order = Order::backward();
  EXPECT_NE(rms(replaced(kRms, "bar.sync \t0;", "")).find("that the block has not written"), std::string::npos);
  expectError("add.rn.f32 \t%r28", "add.f32 \t%r28",
              "line " + std::to_string(lineOf("add.rn.f32 \t%r28")) +
                  ": a float operation rounds without .rn: add.f32 \t%r28");
  expectError("div.rn.f32 \t%r34", "div.approx.f32 \t%r34", "an approximation that is not allowed");
  expectError("mul.rn.f32 \t%r10", "mul.rn.ftz.f32 \t%r10", "subnormals are flushed");
  expectError("{%r1, %r2}, [%rd6];", "{%r1, %r2}, [%rd6+4];", "misaligned access of 8 bytes");
  expectError("{%r1, %r2}, [%rd6];", "{%r1, %r2}, [%rd6+8];", "global memory out of bounds");
  expectError("[%rd10], {%r34, %r35};", "[%rd10+-8], {%r34, %r35};", "global memory out of bounds");
  expectError("st.global.v2.b32 \t[%rd10]", "st.global.v2.b32 \t[%rd6]", "that ld.global.nc has read in this launch");
  expectError("st.shared.b32 \t[%rd2]", "st.shared.b32 \t[%rd8]", "race: writes byte 0 of shared memory");
  expectError("setp.ne.b32 \t%p1, %r23, 0", "setp.gt.u32 \t%p1, %r23, 1", "race: writes byte");
  expectError("[slots];", "[slots+4];", "misaligned access of 16 bytes");
  expectError("[slots];", "[slots+16];", "shared memory out of bounds: 16 bytes at 16 of 16");
  expectError("%r15, %r14, 8, 31, -1", "%r15, %r14, 8, 31, 65535", "lacks the lane itself");
  expectError("bar.sync \t0;", "@%p1 bar.sync \t0;", "that the block has not written");
  expectError("$L__BB0_2:", "bar.sync \t1;\n$L__BB0_2:", "threads wait at different barriers: thread ");
  expectWrong("%r15, %r14, 8, 31, -1", "%r15, %r14, 16, 31, -1");
  expectWrong("%r30, %r29, %r27", "%r30, %r29, %r26");
}

// === Calls, tables, jumps ==============================================================================================

TEST(PtxPrograms, CallsTablesAndJumps) {
  auto module = Module::parse(kMixed);
  ASSERT_TRUE(bool(module)) << messageOf(module.takeError());
  EXPECT_EQ(module->target(), "sm_80");
  EXPECT_EQ(module->version(), "7.0");
  ASSERT_EQ(module->variables().size(), 3u);
  EXPECT_EQ(module->variables()[1].bytes, 8u);
  const Kernel &kernel = *module->find("k");
  EXPECT_EQ(kernel.staticSharedBytes(), 256u);
  ASSERT_EQ(kernel.parameters().size(), 8u);
  EXPECT_EQ(kernel.parameters()[7].offset, 32u);
  EXPECT_EQ(kernel.parameterBytes(), 48u);

  constexpr unsigned threads = 64;
  std::vector<float> a(threads), b(threads);
  for (unsigned index = 0; index < threads; ++index)
    a[index] = index * 0.37f;
  const float table[] = {1, 2, 3, NAN}, vector[] = {5, 6, 7.5f, 8};
  for (uint32_t way = 0; way < 8; ++way) {
    std::vector<uint8_t> parameters =
        pack(a.data(), b.data(), way, uint16_t(0x4100), uint16_t(0x4020), uint8_t(9), uint8_t(1));
    parameters.resize(32);
    for (float element : vector) {
      std::vector<uint8_t> bytes = pack(element);
      parameters.insert(parameters.end(), bytes.begin(), bytes.end());
    }
    Memory memory;
    memory.add(a.data(), a.size() * 4, "a");
    memory.add(b.data(), b.size() * 4, "b");
    Launch launch;
    launch.blockX = threads;
    launch.sharedBytes = 4 * threads;
    launch.parameters = parameters;
    auto counts = run(kernel, launch, memory);
    // All threads write the same first bytes, in ways 0 to 5.
    if (way < 6) {
      std::string error = counts ? "" : messageOf(counts.takeError());
      EXPECT_NE(error.find("race: writes byte 0 of 'b'"), std::string::npos) << error;
      continue;
    }
    ASSERT_TRUE(bool(counts)) << messageOf(counts.takeError());
    EXPECT_EQ(counts->opcodes["call.uni"], threads);
    auto f = [&](unsigned t) { return (a[t] + 1) / float(t) + vector[2]; };
    for (unsigned t = 0; t < threads; ++t) {
      float expected = ((f(t ^ 1) + table[t & 3]) + 2.5f) + 2.5f;
      EXPECT_EQ(bitsOf(b[t]), bitsOf(expected)) << t;
    }
  }
}

TEST(PtxPrograms, JumpTableTakesEachWay) {
  // One thread, so that nothing races; it shuffles with itself.
  std::string text = replaced(kMixed, "st.global.b32 \t[%rd17], %r1;", "");
  auto module = Module::parse(replaced(text, "%r13, %r9, 1, 31, -1", "%r13, %r9, 0, 31, -1"));
  ASSERT_TRUE(bool(module)) << messageOf(module.takeError());
  const uint32_t expected[] = {0x55555509, 0x55555504, 0x55550005, 0, 0x55554100, 0x55554020, 0x55555555};
  for (uint32_t way = 0; way < 7; ++way) {
    float a = 1;
    uint64_t b = 0x5555555555555555;
    std::vector<uint8_t> parameters = pack(&a, &b, way, uint16_t(0x4100), uint16_t(0x4020), uint8_t(9), uint8_t(0));
    parameters.resize(48);
    Memory memory;
    memory.add(&a, 4, "a");
    memory.add(&b, 8, "b");
    Launch launch;
    launch.sharedBytes = 4;
    launch.parameters = parameters;
    auto counts = run(*module->find("k"), launch, memory);
    ASSERT_TRUE(bool(counts)) << messageOf(counts.takeError());
    EXPECT_EQ(uint32_t(b), expected[way]) << way;
    EXPECT_EQ(b >> 32, way == 3 ? 0u : 0x55555555u);
  }
}

} // namespace
