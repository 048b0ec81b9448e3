// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory in the PTX interpreter: what loads and stores move, and what their checks report.

#include "PtxTest.h"

using namespace resid::ptx;

namespace {

/// Each thread points %d0, %d1, %d2 to its word of the arrays a, b, c.
const std::string kPointers = "mov.u32 %r10, %tid.x;\nmov.u32 %r11, %ctaid.x;\nmov.u32 %r12, %ntid.x;\n"
                              "mad.lo.u32 %r13, %r11, %r12, %r10;\nmul.wide.u32 %d10, %r13, 4;\n"
                              "ld.param.b64 %d0, [a];\nadd.s64 %d0, %d0, %d10;\nld.param.b64 %d1, [b];\n"
                              "add.s64 %d1, %d1, %d10;\nld.param.b64 %d2, [c];\nadd.s64 %d2, %d2, %d10;\n";
const std::string kShared = ".shared .align 16 .b8 s[1024];\nmov.b32 %r20, s;\nshl.b32 %r21, %r10, 2;\n"
                            "add.s32 %r20, %r20, %r21;\n";

/// Runs a body with the pointers, in an order. Returns the error.
std::string runBody(const std::string &body, unsigned grid, unsigned block, Order order = Order::forward()) {
  Runner run;
  run.launch.gridX = grid;
  run.launch.blockX = block;
  run.launch.order = order;
  return run(kernelText(kPointers + body));
}

void expectError(const std::string &body, unsigned grid, unsigned block, const std::string &message) {
  for (Order order : {Order::forward(), Order::backward(), Order::random(4)}) {
    std::string error = runBody(body, grid, block, order);
    EXPECT_NE(error.find(message), std::string::npos) << body << error;
  }
}

void expectFine(const std::string &body, unsigned grid, unsigned block) {
  for (Order order : {Order::forward(), Order::backward(), Order::random(4)})
    EXPECT_EQ(runBody(body, grid, block, order), "") << body;
}

TEST(PtxMemory, WidthsAndSigns) {
  Runner run;
  run.a = {0x80ff7f01, 0x00008765, 0xfedcba98, 4, 5, 6, 7, 8};
  run.b.assign(32, 0);
  run.launch.gridX = run.launch.blockX = 1;
  // The arrays have the alignment that an allocator gives, of 16 bytes at least.
  ASSERT_EQ(run(kernelText(
                "ld.param.b64 %d0, [a];\nld.param.b64 %d1, [b];\n"
                "ld.global.s8 %r0, [%d0+1];\nld.global.u8 %r1, [%d0+3];\nst.global.v2.b32 [%d1], {%r0, %r1};\n"
                "ld.global.s16 %r0, [%d0+4];\nld.global.b16 %h0, [%d0+4];\nst.global.b32 [%d1+8], %r0;\n"
                "st.global.b16 [%d1+14], %h0;\nld.global.v4.b32 {%r0, %r1, %r2, _}, [%d0+16];\n"
                "st.global.v4.b32 [%d1+16], {%r2, %r1, %r0, 9};\nld.global.nc.v2.b64 {%d2, %d3}, [%d0];\n"
                "st.global.v2.u64 [%d1+32], {%d3, %d2};\nst.global.s8 [%d1+48], %r2;\nld.global.s32 %d4, [%d0+8];\n"
                "st.global.b64 [%d1+56], %d4;\nld.volatile.global.v4.u8 {%h0, %h1, %h2, %h3}, [%d0];\n"
                "st.global.v4.b8 [%d1+64], {%h3, %h2, %h1, %h0};")),
            "");
  run.b.resize(17);
  EXPECT_EQ(run.b, (std::vector<uint32_t>{0x7f, 0x80, 0xffff8765, 0x87650000, 7, 6, 5, 9, 0xfedcba98, 4, 0x80ff7f01,
                                          0x8765, 7, 0, 0xfedcba98, 0xffffffff, 0x017fff80}));
}

TEST(PtxMemory, GenericAddresses) {
  Runner run;
  run.launch.blockX = 1;
  ASSERT_EQ(run(kernelText(".shared .align 8 .b8 other[8];\n.shared .align 8 .b8 s[8];\nmov.b64 %d0, s;\n"
                           "cvta.shared.u64 %d1, %d0;\nmov.b32 %r0, 77;\nst.b32 [%d1+4], %r0;\n"
                           "ld.shared.b32 %r1, [s+4];\nld.param.b64 %d2, [a];\ncvta.to.global.u64 %d3, %d2;\n"
                           "cvta.to.shared.u64 %d4, %d1;\nld.shared.b32 %r2, [%d4+4];\nadd.s32 %r1, %r1, %r2;\n"
                           "st.b32 [%d3], %r1;")),
            "");
  EXPECT_EQ(run.a[0], 154u);
}

TEST(PtxMemory, WritableVariables) {
  auto module = Module::parse(kernelText("ld.global.b32 %r0, [n];\nadd.s32 %r0, %r0, 1;\nst.global.b32 [n], %r0;",
                                         ".global .align 4 .u32 n = 41;\n"));
  ASSERT_TRUE(bool(module)) << messageOf(module.takeError());
  for (unsigned expected : {42, 43}) {
    ASSERT_EQ(messageOf(runKernel(*module, Memory(), std::vector<uint8_t>(24)).takeError()), "");
    EXPECT_EQ(*static_cast<uint32_t *>(module->variables()[0].address), expected);
  }
}

/// A prefetch reads nothing: it may be anywhere, and is no load.
TEST(PtxMemory, Prefetches) {
  Runner run;
  ASSERT_EQ(run(kernelText(kPointers + "prefetch.global.L2 [%d0];\nprefetch.global.L1 [%d0+1000000];")), "");
  EXPECT_EQ(run.counts.opcodes["prefetch.global.L2"], run.counts.opcodes["prefetch.global.L1"]);
  EXPECT_GT(run.counts.opcodes["prefetch.global.L2"], 0u);
  EXPECT_EQ(run.counts.loads.requests, 0u);
}

TEST(PtxMemory, Bounds) {
  expectFine("ld.global.b32 %r0, [%d0];", 2, 128);
  expectError("ld.global.b32 %r0, [%d0+4];", 2, 128, "global memory out of bounds: 4 bytes at");
  expectError("ld.global.b32 %r0, [%d0+4];", 2, 128, "that is 1024 bytes from the start of 'a', which has 1024");
  expectError("st.global.b32 [%d1+-4], %r0;", 2, 128, "global memory out of bounds");
  expectError("mov.b64 %d0, 0;\nld.global.b32 %r0, [%d0];", 1, 1, "global memory out of bounds");
  expectError("ld.const.b32 %r0, [%d0];", 1, 1, "constant memory out of bounds");
  expectError("ld.global.b32 %r0, [%d0+2];", 1, 1, "misaligned access of 4 bytes");
  expectError("ld.global.nc.v2.b32 {%r0, %r1}, [%d0+4];", 1, 1, "misaligned access of 8 bytes");
  expectError(kShared + "ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [s+4];", 1, 1, "misaligned access of 16 bytes");
  expectError(kShared + "st.shared.b32 [%r20+1024], %r0;", 1, 1,
              "shared memory out of bounds: 4 bytes at 1024 of 1024");
  expectError(kShared + "st.shared.b32 [%r20+-4], %r0;", 1, 1, "shared memory out of bounds: 4 bytes at -4 of 1024");
  expectError(kShared + "st.shared.b64 [%r20+4], %d0;", 1, 1, "misaligned access of 8 bytes");
  expectError(".shared .align 16 .b8 s[20];\nst.shared.b64 [s+16], %d0;", 1, 1,
              "shared memory out of bounds: 8 bytes at 16 of 20");
  expectError(kShared + "mov.b32 %r20, 0;\nst.shared.b32 [%r20], %r0;", 1, 1, "shared memory out of bounds");
}

TEST(PtxMemory, RemovedArrays) {
  std::vector<uint32_t> a(4);
  auto module = Module::parse(kernelText("ld.param.b64 %d0, [a];\nst.global.b32 [%d0], 1;"));
  ASSERT_TRUE(bool(module));
  std::vector<uint8_t> parameters = pack(a.data(), a.data(), a.data());
  Memory memory;
  memory.add(a.data(), 16, "a");
  EXPECT_EQ(messageOf(runKernel(*module, memory, parameters).takeError()), "");
  memory.remove(a.data());
  EXPECT_NE(messageOf(runKernel(*module, memory, parameters).takeError()).find("out of bounds"), std::string::npos);
}

TEST(PtxMemory, UnwrittenSharedMemory) {
  expectError(kShared + "ld.shared.b32 %r0, [%r20];", 1, 1,
              "read of byte 0 of shared memory that the block has not written");
  // What an earlier block wrote is gone.
  expectError(kShared + "setp.ne.s32 %p0, %r11, 0;\n@!%p0 st.shared.b32 [%r20], %r0;\n@%p0 ld.shared.b32 %r0, [%r20];",
              2, 1, "that the block has not written");
  // A half of a word.
  expectError(kShared + "st.shared.b16 [%r20], %h0;\nld.shared.b32 %r0, [%r20];", 1, 1, "has not written");
  expectFine(kShared + "st.shared.b16 [%r20], %h0;\nst.shared.b16 [%r20+2], %h0;\nld.shared.b32 %r0, [%r20];", 1, 64);
}

TEST(PtxMemory, RacesInSharedMemory) {
  const std::string toNeighbour = "xor.b32 %r22, %r21, 4;\nmov.b32 %r23, s;\nadd.s32 %r22, %r22, %r23;\n";
  const std::string toOtherWarp = "xor.b32 %r22, %r21, 128;\nmov.b32 %r23, s;\nadd.s32 %r22, %r22, %r23;\n";
  const std::string write = "st.shared.b32 [%r20], %r10;\n", read = "ld.shared.b32 %r0, [%r22];\n";
  for (const std::string &pointer : {toNeighbour, toOtherWarp}) {
    std::string start = kShared + pointer;
    expectFine(start + write + "bar.sync 0;\n" + read, 1, 64);
    expectFine(start + write + "bar.sync 0;\n" + read + "bar.sync 0;\n" + write, 1, 64);
    // Each order runs one of two neighbours first, which then reads what was not written or what races.
    expectError(start + write + "bar.sync 0;\n" + read + write, 1, 64, "race: ");
    expectError(start + write + "bar.sync 0;\n" + write + read, 1, 64, "race: ");
  }
  // Within a warp, a barrier of the warp is enough; a shuffle or a vote is none.
  std::string start = kShared + toNeighbour;
  expectFine(start + write + "bar.warp.sync -1;\n" + read, 2, 64);
  expectError(kShared + toOtherWarp + write + "bar.sync 0;\n" + write + "bar.warp.sync -1;\n" + read, 1, 64,
              "race: reads byte");
  expectError(start + write + "bar.sync 0;\n" + write + "shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;\n" + read, 1, 64,
              "race: reads byte");
  expectError(start + write + "bar.sync 0;\n" + write + "vote.sync.any.pred %p1, %p0, -1;\n" + read, 1, 64,
              "race: reads byte");
  // Lanes of one warp write the same word, and a lane of each warp.
  expectError(kShared + "st.shared.b32 [s], %r10;", 1, 2, "race: writes byte 0 of shared memory that thread ");
  expectError(kShared + "and.b32 %r1, %r10, 31;\nsetp.eq.s32 %p0, %r1, 0;\n"
                        "@%p0 st.shared.b32 [s], %r10;",
              1, 64, "race: writes byte 0 of shared memory that thread ");
  // All lanes read, one of another warp writes.
  expectError(kShared + "mov.b32 %r23, s;\nsetp.eq.s32 %p0, %r10, 0;\n@%p0 st.shared.b32 [%r23], %r10;\nbar.sync 0;\n"
                        "ld.shared.b32 %r0, [%r23];\nsetp.eq.s32 %p1, %r10, 40;\n@%p1 st.shared.b32 [%r23], %r10;",
              1, 64, "race: ");
  expectFine(kShared + "mov.b32 %r23, s;\nsetp.eq.s32 %p0, %r10, 0;\n@%p0 st.shared.b32 [%r23], %r10;\nbar.sync 0;\n"
                       "ld.shared.b32 %r0, [%r23];\nbar.sync 0;\nsetp.eq.s32 %p1, %r10, 40;\n"
                       "@%p1 st.shared.b32 [%r23], %r10;",
             1, 64);
}

TEST(PtxMemory, EveryReaderCounts) {
  // Of all threads that read a word, one writes it. Votes make all read first, and order nothing.
  const std::string body = kShared + "mov.b32 %r23, s;\nsetp.eq.s32 %p0, %r10, 0;\n@%p0 st.shared.b32 [%r23], %r10;\n"
                                     "bar.sync 0;\nld.shared.b32 %r0, [%r23];\nvote.sync.any.pred %p1, %p0, -1;\n";
  for (const char *writer : {"0", "63"})
    expectError(body + "setp.eq.s32 %p1, %r10, " + writer + ";\n@%p1 st.shared.b32 [%r23], %r10;", 1, 64,
                "race: writes byte 0 of shared memory that several warps of block 0 read");
  for (const char *writer : {"0", "31"})
    expectError(body + "setp.eq.s32 %p1, %r10, " + writer + ";\n@%p1 st.shared.b32 [%r23], %r10;", 1, 32,
                "race: writes byte 0 of shared memory that several lanes of warp 0 of block 0 read");
  expectFine(body + "bar.warp.sync -1;\nsetp.eq.s32 %p1, %r10, 31;\n@%p1 st.shared.b32 [%r23], %r10;", 1, 32);
}

TEST(PtxMemory, RacesOfPartsOfWords) {
  // A part of a word has the past of the word.
  expectFine(kShared + "st.shared.b32 [%r20], %r10;\nbar.sync 0;\nld.shared.b16 %h0, [%r20+2];", 1, 64);
  expectError(kShared + "xor.b32 %r22, %r21, 4;\nmov.b32 %r23, s;\nadd.s32 %r22, %r22, %r23;\n"
                        "st.shared.b32 [%r20], %r10;\nbar.sync 0;\nst.shared.b32 [%r20], %r10;\n"
                        "ld.shared.b16 %h0, [%r22+2];",
              1, 64, "race: ");
  // Neighbours write the halves of a word, which is no race. A third who reads all of it makes one.
  const std::string half = kShared + "mov.b32 %r22, s;\nshl.b32 %r23, %r10, 1;\nadd.s32 %r22, %r22, %r23;\n"
                                     "st.shared.b16 [%r22], %h0;\n";
  expectFine(half, 1, 64);
  expectFine(half + "bar.sync 0;\nand.b32 %r23, %r23, 124;\nmov.b32 %r24, s;\nadd.s32 %r24, %r24, %r23;\n"
                    "ld.shared.b32 %r0, [%r24];",
             1, 64);
  expectError(half + "bar.sync 0;\nst.shared.b16 [%r22], %h0;\nand.b32 %r23, %r23, 124;\nmov.b32 %r24, s;\n"
                     "add.s32 %r24, %r24, %r23;\nld.shared.b32 %r0, [%r24];",
              1, 64, "race: ");
}

TEST(PtxMemory, BarriersOfAPartOfAWarp) {
  // Lanes 0 to 15 meet, and lanes 16 to 31.
  const std::string masks = "setp.lt.u32 %p0, %r10, 16;\nselp.b32 %r30, 65535, -65536, %p0;\n";
  const std::string exchange = "mov.b32 %r23, s;\nadd.s32 %r22, %r22, %r23;\nst.shared.b32 [%r20], %r10;\n"
                               "bar.warp.sync %r30;\nld.shared.b32 %r0, [%r22];\n";
  expectFine(kShared + masks + "xor.b32 %r22, %r21, 4;\n" + exchange, 1, 32);
  expectError(kShared + masks + "st.shared.b32 [%r20], %r10;\nbar.sync 0;\nxor.b32 %r22, %r21, 64;\n" + exchange, 1, 32,
              "race: ");
}

TEST(PtxMemory, RacesInGlobalMemory) {
  expectFine("ld.global.b32 %r0, [%d0];\nst.global.b32 [%d0], %r0;\nld.global.b32 %r0, [%d0];", 2, 128);
  // All threads of all blocks write, or one writes what others read.
  const std::string first = "ld.param.b64 %d3, [a];\n";
  expectError(first + "st.global.b32 [%d3], %r10;", 1, 64, "race: writes byte 0 of 'a' that thread ");
  expectError(first + "st.global.b32 [%d3], %r10;", 2, 1, "race: writes byte 0 of 'a' that thread 0 of block ");
  expectFine(first + "ld.global.b32 %r0, [%d3];", 2, 64);
  expectError(first + "ld.global.b32 %r0, [%d3];\nst.global.b32 [%d0], %r0;", 2, 64, "race: ");
  expectError(first + "ld.global.b32 %r0, [%d3];\nbar.sync 0;\nst.global.b32 [%d0], %r0;", 2, 64, "race: ");
  expectFine(first + "ld.global.b32 %r0, [%d3];\nbar.sync 0;\nst.global.b32 [%d0], %r0;", 1, 64);
  // Launches are ordered.
  Runner run;
  run.launch.blockX = 1;
  EXPECT_EQ(run(kernelText(first + "st.global.b32 [%d3], 1;")), "");
  EXPECT_EQ(run(kernelText(first + "st.global.b32 [%d3], 1;")), "");
}

TEST(PtxMemory, LaunchesOnOneMemoryAreOrdered) {
  std::vector<uint32_t> a(64), b(64);
  auto module = Module::parse(kernelText(kPointers + "ld.global.nc.b32 %r0, [%d1];\nadd.s32 %r0, %r0, 1;\n"
                                                     "st.global.b32 [%d0], %r0;"));
  ASSERT_TRUE(bool(module)) << messageOf(module.takeError());
  Memory memory;
  memory.add(a.data(), 256, "a");
  memory.add(b.data(), 256, "b");
  Launch launch;
  launch.blockX = 64;
  // Each launch reads what the one before wrote.
  for (unsigned turn = 0; turn < 6; ++turn) {
    auto parameters = turn % 2 ? pack(b.data(), a.data(), a.data()) : pack(a.data(), b.data(), a.data());
    EXPECT_EQ(messageOf(runKernel(*module, memory, parameters, launch).takeError()), "");
  }
  EXPECT_EQ(b[63], 6u);
}

TEST(PtxMemory, NonCoherentLoads) {
  expectFine("ld.global.nc.b32 %r0, [%d0];\nst.global.b32 [%d1], %r0;", 2, 64);
  expectError("ld.global.nc.b32 %r0, [%d0];\nst.global.b32 [%d0], %r0;", 1, 1,
              "writes byte 0 of 'a' that ld.global.nc has read in this launch");
  expectError("st.global.b32 [%d0], %r0;\nld.global.nc.b32 %r0, [%d0];", 1, 1,
              "ld.global.nc reads byte 0 of 'a' that thread 0 of block 0 wrote in this launch");
  // An ordinary load of the same bytes does not make it good, nor does a barrier.
  expectError("ld.global.nc.b32 %r0, [%d0];\nld.global.b32 %r0, [%d0];\nbar.sync 0;\nst.global.b32 [%d0], %r0;", 1, 64,
              "that ld.global.nc has read in this launch");
}

TEST(PtxMemory, Sectors) {
  // 1024 bytes on a boundary of a sector.
  auto count = [&](const std::string &body) {
    alignas(32) static uint32_t memory[256];
    auto module = Module::parse(kernelText(body));
    EXPECT_TRUE(bool(module));
    Memory known;
    known.add(memory, sizeof(memory), "memory");
    Launch launch;
    launch.blockX = 32;
    auto counts = runKernel(*module, known, pack(&memory, &memory, &memory), launch);
    EXPECT_TRUE(bool(counts));
    return counts ? *counts : Counts();
  };
  Traffic dense = count(kPointers + "ld.global.b32 %r0, [%d0];").loads;
  EXPECT_EQ(dense.requests, 1u);
  EXPECT_EQ(dense.sectors, 4u);
  EXPECT_EQ(dense.bytes, 128u);
  Traffic stored = count(kPointers + "add.s64 %d3, %d0, %d10;\nst.global.v2.b32 [%d3], {%r0, %r1};").stores;
  EXPECT_EQ(stored.requests, 1u);
  EXPECT_EQ(stored.sectors, 8u);
  EXPECT_EQ(stored.bytes, 256u);
  Traffic strided =
      count(kPointers + "mul.wide.u32 %d3, %r10, 28;\nadd.s64 %d3, %d3, %d0;\nld.global.b32 %r0, [%d3];").loads;
  EXPECT_EQ(strided.sectors, 32u);
  Traffic backward =
      count(kPointers + "sub.s64 %d3, %d0, %d10;\nsub.s64 %d3, %d3, %d10;\nld.global.b32 %r0, [%d3+128];").loads;
  EXPECT_EQ(backward.sectors, 5u);
  // Neighbours alternate between two places of 64 bytes.
  Traffic woven = count(kPointers + "and.b32 %r1, %r10, 1;\nmul.wide.u32 %d3, %r1, 128;\nshr.u32 %r2, %r10, 1;\n"
                                    "mul.wide.u32 %d4, %r2, 4;\nadd.s64 %d3, %d3, %d4;\nld.param.b64 %d5, [a];\n"
                                    "add.s64 %d3, %d3, %d5;\nld.global.b32 %r0, [%d3];")
                      .loads;
  EXPECT_EQ(woven.sectors, 4u);
  // Half of the lanes take the load twice, in a loop; each turn is a request.
  Traffic loop =
      count(kPointers + "setp.lt.u32 %p0, %r10, 16;\nselp.b32 %r1, 2, 1, %p0;\nL:\nld.global.b32 %r0, [%d0];\n"
                        "sub.s32 %r1, %r1, 1;\nsetp.gt.s32 %p1, %r1, 0;\n@%p1 bra L;")
          .loads;
  EXPECT_EQ(loop.requests, 2u);
  EXPECT_EQ(loop.sectors, 6u);
  EXPECT_EQ(loop.bytes, 192u);
}

} // namespace
