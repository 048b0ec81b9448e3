// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX texts that the interpreter refuses, and what it says.

#include "PtxTest.h"

using namespace resid::ptx;

namespace {

/// The error of a kernel with one line, which is the 14th.
std::string errorOf(const std::string &line) { return parseError(kernelText(line)); }

TEST(PtxTexts, RoundingAndSubnormals) {
  for (const char *mnemonic : {"add.f32", "sub.f32", "mul.f32", "add.f64", "add.f16", "mul.bf16", "fma.f16x2"})
    EXPECT_EQ(errorOf(std::string(mnemonic) + " %r0, %r1, %r2;"),
              "line 14: a float operation rounds without .rn: " + std::string(mnemonic) + " %r0, %r1, %r2");
  EXPECT_NE(errorOf("add.rz.f32 %r0, %r1, %r2;").find("rounds without .rn"), std::string::npos);
  EXPECT_NE(errorOf("cvt.rz.f32.f64 %r0, %d1;").find("rounds without .rn"), std::string::npos);
  EXPECT_NE(errorOf("cvt.f32.s32 %r0, %r1;").find("rounds without .rn"), std::string::npos);
  for (const char *text : {"add.rn.ftz.f32 %r0, %r1, %r2;", "setp.lt.ftz.f32 %p0, %r1, %r2;",
                           "max.ftz.f32 %r0, %r1, %r2;", "cvt.rn.ftz.bf16.f32 %h0, %r1;", "abs.ftz.f32 %r0, %r1;"})
    EXPECT_NE(errorOf(text).find("subnormals are flushed"), std::string::npos) << text;
}

TEST(PtxTexts, Approximations) {
  for (std::string text : {"rcp.approx.f32 %r0, %r1", "rcp.approx.ftz.f64 %d0, %d1", "sqrt.approx.f32 %r0, %r1",
                           "rsqrt.approx.f32 %r0, %r1", "ex2.approx.ftz.f32 %r0, %r1", "div.full.f32 %r0, %r1, %r2",
                           "tanh.approx.f32 %r0, %r1", "lg2.approx.f32 %r0, %r1", "sin.approx.f32 %r0, %r1"})
    EXPECT_EQ(errorOf(text + ";"), "line 14: an approximation: " + text);
}

TEST(PtxTexts, UnknownInstructions) {
  EXPECT_EQ(errorOf("frob.b32 %r0, %r1;"), "line 14: unknown instruction: frob.b32 %r0, %r1");
  EXPECT_EQ(errorOf("add.frob.s32 %r0, %r1, %r2;"), "line 14: unknown modifier '.frob': add.frob.s32 %r0, %r1, %r2");
  EXPECT_EQ(errorOf("add.rn.sat.f32 %r0, %r1, %r2;"), "line 14: unknown modifier '.sat': add.rn.sat.f32 %r0, %r1, %r2");
  EXPECT_EQ(errorOf("add.b32 %r0, %r1, %r2;"), "line 14: unknown instruction: add.b32 %r0, %r1, %r2");
  EXPECT_EQ(errorOf("add.s32 %r0, %r1;"), "line 14: expected 3 operands but got 2: add.s32 %r0, %r1");
  EXPECT_EQ(errorOf("add.s32 %r0, %r1, %x2;"), "line 14: unknown register '%x2': add.s32 %r0, %r1, %x2");
  EXPECT_EQ(errorOf("add.s32 %r0, %r1, %r40;"), "line 14: unknown register '%r40': add.s32 %r0, %r1, %r40");
  EXPECT_EQ(errorOf("add.s32 3, %r1, %r2;"), "line 14: expected a register as the result: add.s32 3, %r1, %r2");
  EXPECT_EQ(errorOf("mov.b64 %d0, nowhere;"), "line 14: unknown symbol 'nowhere': mov.b64 %d0, nowhere");
  EXPECT_EQ(errorOf("bra nowhere;"), "line 14: unknown label 'nowhere'");
  EXPECT_EQ(errorOf("L:\nL:"), "line 16: label 'L' twice");
  EXPECT_EQ(errorOf("ld.param.b64 %d0, [d];"), "line 14: unknown parameter 'd': ld.param.b64 %d0, [d]");
  EXPECT_EQ(errorOf("ld.param.b64 %d0, [a+4];"), "line 14: access beyond the 8 bytes of 'a': ld.param.b64 %d0, [a+4]");
  EXPECT_EQ(errorOf("st.param.b64 [a], %d0;"), "line 14: unknown instruction: st.param.b64 [a], %d0");
  EXPECT_EQ(errorOf("st.global.nc.b64 [%d1], %d0;"), "line 14: unknown instruction: st.global.nc.b64 [%d1], %d0");
  EXPECT_EQ(errorOf("atom.global.add.u32 %r0, [%d0], %r1;"),
            "line 14: unknown instruction: atom.global.add.u32 %r0, [%d0], %r1");
}

TEST(PtxTexts, LocalMemoryAndExternals) {
  EXPECT_EQ(errorOf(".local .align 8 .b8 depot[16];"), "line 14: local memory: .local depot");
  EXPECT_EQ(errorOf("ld.local.b32 %r0, [%d0];"), "line 14: local memory: ld.local.b32 %r0, [%d0]");
  EXPECT_EQ(parseError(std::string(kHead) + ".extern .func f;\n"), "line 4: external function 'f'");
  EXPECT_EQ(parseError(std::string(kHead) + ".extern .global .u32 n;\n"), "line 4: external variable 'n'");
  EXPECT_EQ(parseError(std::string(kHead) + ".func f;\n"), "function 'f' has no body");
  EXPECT_EQ(parseError(std::string(kHead) + ".func f\n{\ncall f;\nret;\n}\n"), "recursive call of 'f'");
  EXPECT_EQ(parseError(kernelText("call f;")), "line 14: unknown function 'f': call f");
  EXPECT_EQ(parseError(kernelText("call f;", ".func f(.param .b32 x)\n{\nret;\n}\n")),
            "line 18: expected 1 arguments but got 0: call f");
}

TEST(PtxTexts, StaticSharedMemoryIsLimited) {
  EXPECT_EQ(errorOf(".shared .align 4 .b8 s[49152];"), "");
  EXPECT_EQ(errorOf(".shared .align 4 .b8 s[49153];"),
            "kernel 'k' declares 49153 bytes of shared memory, and at most 49152 can be declared");
}

TEST(PtxTexts, BrokenTexts) {
  EXPECT_EQ(parseError(""), "line 1: expected .version");
  EXPECT_EQ(parseError(".version 7.0\n.target sm_80\n.address_size 32\n"), "line 4: expected .address_size 64");
  EXPECT_EQ(parseError(std::string(kHead) + "hello"), "line 4: unknown directive 'hello'");
  EXPECT_EQ(parseError(std::string(kHead) + ".visible .entry k()\n{\nret;\n"),
            "line 7: expected '}' before the end of the text");
  EXPECT_EQ(errorOf("add.s32 %r0, , %r1;"), "line 14: expected a name but got ','");
  EXPECT_EQ(errorOf("ld.global.b32 %r0, [%d0;"), "line 14: expected ']' but got ';'");
  EXPECT_EQ(errorOf("mov.b32 %r0, 0f3F8;"), "line 14: expected a name but got '0f3F8'");
  EXPECT_EQ(parseError(std::string(kHead) + ".global .b8 t[2] = {1, 2, 3};\n"),
            "line 4: more values than 't' has elements");
}

TEST(PtxTexts, DebugInformationIsSkipped) {
  EXPECT_EQ(parseError(std::string(kHead) + ".file 1 \"a.c\"\n.visible .entry k()\n{\n.reg .b32 %r<2>;\n.loc 1 2 3\n"
                                            "mov.b32 %r0, 1; // a comment\n/* and\nanother */\n.pragma \"nounroll\";\n"
                                            "ret;\n}\n.section .debug_info { .b8 1 }\n"),
            "");
}

TEST(PtxTexts, RegistersOfScopes) {
  Runner run;
  run.launch.blockX = 1;
  ASSERT_EQ(run(kernelText("mov.b32 %r0, 0x10002;\n{\n.reg .b32 %r0;\nmov.b32 %r0, 7;\n}\nld.param.b64 %d0, [a];\n"
                           "{ .reg .b16 tmp; mov.b32 {tmp, %h1}, %r0; st.global.b16 [%d0+4], tmp; }\n"
                           "st.global.b32 [%d0], %r0;")),
            "");
  EXPECT_EQ(run.a[0], 0x10002u);
  EXPECT_EQ(run.a[1], 2u);
}

} // namespace
