// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What threads do together in the PTX interpreter: shuffles, votes, barriers, and the mistakes they can make.

#include "PtxTest.h"

using namespace resid::ptx;

namespace {

/// Each of 64 threads computes %ry from %r10, its number, and %r14, its lane; the results are in `a`.
std::vector<uint32_t> results(const std::string &body, std::string *error = nullptr, unsigned threads = 64) {
  Runner run;
  run.launch.blockX = threads;
  std::string message = run(
      kernelText("mov.u32 %r10, %tid.x;\nmov.u32 %r14, %laneid;\nmul.wide.u32 %d10, %r10, 4;\nld.param.b64 %d0, [a];\n"
                 "add.s64 %d0, %d0, %d10;\nmov.b32 %ry, 0;\n" +
                 body + "\nst.global.b32 [%d0], %ry;"));
  if (error)
    *error = message;
  else
    EXPECT_EQ(message, "");
  run.a.resize(threads);
  return run.a;
}

template <typename F> void expectLanes(const std::string &body, F expected) {
  std::vector<uint32_t> found = results(body);
  for (uint32_t thread = 0; thread < found.size(); ++thread)
    EXPECT_EQ(found[thread], uint32_t(expected(thread))) << body << thread;
}

void expectError(const std::string &body, const std::string &message, unsigned threads = 64) {
  std::string error;
  results(body, &error, threads);
  EXPECT_NE(error.find(message), std::string::npos) << body << ": " << error;
}

TEST(PtxWarps, Shuffles) {
  expectLanes("shfl.sync.bfly.b32 %ry, %r10, 5, 31, -1;", [](uint32_t t) { return t ^ 5; });
  expectLanes("shfl.sync.idx.b32 %ry, %r10, 7, 31, -1;", [](uint32_t t) { return t / 32 * 32 + 7; });
  expectLanes("sub.s32 %r1, 31, %r14;\nshfl.sync.idx.b32 %ry, %r10, %r1, 31, 0xffffffff;",
              [](uint32_t t) { return t / 32 * 32 + (31 - t % 32); });
  // Out of range, a lane keeps its own value, and the predicate is false.
  expectLanes("shfl.sync.down.b32 %ry|%p1, %r10, 3, 31, -1;\n@!%p1 add.s32 %ry, %ry, 1000;",
              [](uint32_t t) { return t % 32 + 3 < 32 ? t + 3 : t + 1000; });
  expectLanes("shfl.sync.up.b32 %ry|%p1, %r10, 4, 0, -1;\n@!%p1 add.s32 %ry, %ry, 1000;",
              [](uint32_t t) { return t % 32 >= 4 ? t - 4 : t + 1000; });
  // Segments of 8 lanes: the mask is in bits 8 to 12.
  expectLanes("shfl.sync.down.b32 %ry, %r10, 2, 0x181f, -1;", [](uint32_t t) { return t % 8 < 6 ? t + 2 : t; });
  expectLanes("shfl.sync.idx.b32 %ry, %r10, 9, 0x181f, -1;", [](uint32_t t) { return t / 8 * 8 + 1; });
}

TEST(PtxWarps, ShufflesOfAPart) {
  // Each half of a warp names itself.
  expectLanes("setp.lt.u32 %p0, %r14, 16;\nselp.b32 %r1, 0xffff, 0xffff0000, %p0;\n"
              "shfl.sync.bfly.b32 %ry, %r10, 8, 31, %r1;",
              [](uint32_t t) { return t ^ 8; });
  // Half of the lanes take another way, and do not take part.
  expectLanes("setp.lt.u32 %p0, %r14, 16;\n@!%p0 bra L;\nshfl.sync.bfly.b32 %ry, %r10, 1, 31, 0xffff;\nL:",
              [](uint32_t t) { return t % 32 < 16 ? t ^ 1 : 0; });
}

TEST(PtxWarps, Votes) {
  const std::string odd = "and.b32 %r1, %r10, 1;\nsetp.eq.s32 %p1, %r1, 1;\nsetp.lt.u32 %p2, %r10, 32;\n";
  auto expectVote = [&](const std::string &vote, auto expected) {
    expectLanes(odd + vote + "\nselp.b32 %ry, 1, 0, %py;", expected);
  };
  expectVote("vote.sync.any.pred %py, %p1, -1;", [](uint32_t) { return 1; });
  expectVote("vote.sync.all.pred %py, %p1, -1;", [](uint32_t) { return 0; });
  expectVote("vote.sync.any.pred %py, %p2, -1;", [](uint32_t t) { return t < 32; });
  expectVote("vote.sync.all.pred %py, !%p2, -1;", [](uint32_t t) { return t >= 32; });
  expectVote("vote.sync.uni.pred %py, %p2, -1;", [](uint32_t) { return 1; });
  expectVote("vote.sync.uni.pred %py, %p1, -1;", [](uint32_t) { return 0; });
  expectLanes(odd + "vote.sync.ballot.b32 %ry, %p1, -1;", [](uint32_t) { return 0xaaaaaaaa; });
  expectLanes(odd + "vote.sync.ballot.b32 %ry, !%p2, -1;", [](uint32_t t) { return t < 32 ? 0 : ~0u; });
  expectLanes("redux.sync.add.s32 %ry, %r10, -1;", [](uint32_t t) { return t < 32 ? 496 : 1520; });
  expectLanes("redux.sync.max.u32 %ry, %r10, -1;", [](uint32_t t) { return t | 31; });
  expectLanes("sub.s32 %r1, %r10, 40;\nredux.sync.min.s32 %ry, %r1, -1;", [](uint32_t t) { return t < 32 ? -40 : -8; });
  expectLanes("redux.sync.xor.b32 %ry, %r10, -1;", [](uint32_t) { return 0; });
}

TEST(PtxWarps, SpecialRegisters) {
  expectLanes("mov.u32 %ry, %warpid;", [](uint32_t t) { return t / 32; });
  expectLanes("mov.u32 %ry, %laneid;", [](uint32_t t) { return t % 32; });
  expectLanes("mov.u32 %ry, %lanemask_lt;", [](uint32_t t) { return (1u << t % 32) - 1; });
  expectLanes("mov.u32 %ry, %lanemask_ge;", [](uint32_t t) { return ~0u << t % 32; });
  expectLanes("mov.u32 %ry, %ntid.x;", [](uint32_t) { return 64; });
  expectLanes("mov.u32 %r1, %ntid.y;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %nctaid.x;\nshl.b32 %r1, %r1, 8;\n"
              "add.s32 %ry, %r1, %r2;\nadd.s32 %ry, %ry, %r3;",
              [](uint32_t) { return 257; });
  // Of the lanes that run at once, at least the lane itself.
  expectLanes("activemask.b32 %r1;\nmov.u32 %r2, %lanemask_eq;\nand.b32 %ry, %r1, %r2;",
              [](uint32_t t) { return 1u << t % 32; });
}

TEST(PtxWarps, Barriers) {
  // All kinds, and threads of one warp that wait for those of another.
  for (const char *barrier : {"bar.sync 0;", "barrier.sync 1;", "barrier.sync.aligned 0;", "barrier.cta.sync 0;",
                              "barrier.cta.sync.aligned 0;", "bar.sync 0, 64;", "bar.cta.sync 0;"})
    expectLanes(std::string(".shared .align 4 .b8 s[256];\nshl.b32 %r1, %r10, 2;\nmov.b32 %r2, s;\n"
                            "add.s32 %r3, %r2, %r1;\nst.shared.b32 [%r3], %r10;\n") +
                    barrier + "\nxor.b32 %r1, %r1, 252;\nadd.s32 %r3, %r2, %r1;\nld.shared.b32 %ry, [%r3];",
                [](uint32_t t) { return 63 - t; });
  // Threads at different instructions may meet at a barrier that is not aligned.
  const std::string twoWays = "setp.lt.u32 %p0, %r10, 32;\n@%p0 bra L;\n";
  expectLanes(twoWays + "barrier.sync 0;\nbra M;\nL:\nbarrier.sync 0;\nM:", [](uint32_t) { return 0; });
  expectError(twoWays + "bar.sync 0;\nbra M;\nL:\nbar.sync 0;\nM:", "threads wait at different barriers: thread ");
  expectError(twoWays + "barrier.sync 0;\nbra M;\nL:\nbarrier.sync 1;\nM:",
              "threads wait at different barriers: thread ");
}

TEST(PtxWarps, DivergentBarriers) {
  expectError("setp.lt.u32 %p0, %r10, 63;\n@%p0 bar.sync 0;", "a barrier of the block, but thread 63 has exited");
  expectError("setp.lt.u32 %p0, %r10, 32;\n@%p0 ret;\nbar.sync 0;", "a barrier of the block, but thread 0 has exited");
  expectError("bar.sync 0, 32;", "a barrier of a part of the block, which is not supported");
  // Half of a warp waits for the block, the other half for the warp.
  expectError("setp.lt.u32 %p0, %r14, 16;\n@%p0 bra L;\nbar.sync 0;\nL:\nbar.warp.sync -1;",
              "no thread can go on: this one waits for lane 16, and thread 16 waits at line 22 (bar.sync 0)");
}

TEST(PtxWarps, LanesThatHaveExited) {
  // Nobody waits for them, whatever the mask, as long as nobody reads their values.
  std::vector<uint32_t> found = results("setp.ge.u32 %p0, %r14, 16;\n@%p0 ret;\n"
                                        "shfl.sync.bfly.b32 %ry, %r10, 8, 31, -1;");
  for (uint32_t thread = 0; thread < found.size(); ++thread)
    if (thread % 32 < 16)
      EXPECT_EQ(found[thread], thread ^ 8);
}

TEST(PtxWarps, MissingPartners) {
  // A lane that is not in the mask, and one that names itself alone.
  expectError("shfl.sync.bfly.b32 %ry, %r10, 16, 31, 0xfffe;", "the mask 0xfffe lacks the lane itself, 0");
  expectError("setp.ge.u32 %p0, %r14, 16;\n@%p0 bra L;\nshfl.sync.bfly.b32 %ry, %r10, 16, 31, 0xffff;\nL:",
              "the shuffle reads lane 16, which is not there");
  expectError("setp.eq.u32 %p0, %r10, 40;\n@%p0 exit;\nshfl.sync.bfly.b32 %ry, %r10, 1, 31, -1;",
              "the shuffle reads lane 8, which is not there");
  // A block whose last warp is not full.
  expectError("shfl.sync.bfly.b32 %ry, %r10, 16, 31, -1;", "the shuffle reads lane 16, which is not there", 40);
  // Lanes at two shuffles.
  expectError("setp.lt.u32 %p0, %r14, 16;\n@%p0 bra L;\nshfl.sync.bfly.b32 %ry, %r10, 1, 31, -1;\nbra M;\nL:\n"
              "shfl.sync.bfly.b32 %ry, %r10, 2, 31, -1;\nM:",
              "no thread can go on: this one waits for lane 16, and thread 16 waits at line 22");
}

TEST(PtxWarps, JumpsBeyondTheirTable) {
  const std::string jump = "$T_0: .branchtargets\n\t$L,\n\t$M,\n\t$O;\nbrx.idx \t%r1, $T_0;\n$M:\t// the second\n"
                           "mov.b32 %ry, 6;\nbra.uni $N;\n$L:\nmov.b32 %ry, 5;\nbra.uni $N;\n$O:\nmov.b32 %ry, 7;\n$N:";
  expectLanes("rem.u32 %r1, %r10, 3;\n" + jump, [](uint32_t t) { return 5 + t % 3; });
  expectError("mov.b32 %r1, 3;\n" + jump, "index 3 of 3 branch targets");
}

TEST(PtxWarps, EndlessLoops) {
  Runner run;
  run.launch.maxBasicBlocks = 1000;
  EXPECT_NE(run(kernelText("L:\nbra L;")).find("the kernel does not end"), std::string::npos);
}

TEST(PtxWarps, LaunchesThatDoNotFit) {
  auto module = Module::parse(std::string(kHead) + ".visible .entry k(.param .u64 a)\n.maxntid 64, 1, 1\n{\nret;\n}\n" +
                              ".visible .entry r(.param .u64 a)\n.reqntid 32\n{\nret;\n}\n");
  ASSERT_TRUE(bool(module)) << messageOf(module.takeError());
  EXPECT_EQ(module->kernels().size(), 2u);
  EXPECT_EQ(module->find("nothing"), nullptr);
  std::vector<uint8_t> parameters(8);
  auto launch = [&](const char *name, unsigned grid, unsigned block) {
    Launch launch;
    launch.gridX = grid;
    launch.blockX = block;
    launch.parameters = parameters;
    return messageOf(run(*module->find(name), launch, Memory()).takeError());
  };
  EXPECT_EQ(launch("k", 1, 64), "");
  EXPECT_EQ(launch("k", 1, 65), "kernel 'k': at most 64 threads in a block but got 65");
  EXPECT_EQ(launch("r", 1, 31), "kernel 'r': expected 32 threads in a block but got 31");
  EXPECT_EQ(launch("k", 0, 1), "kernel 'k': a launch of no threads");
  parameters.resize(4);
  EXPECT_EQ(launch("k", 1, 1), "kernel 'k': expected 8 bytes of parameters but got 4");
}

} // namespace
