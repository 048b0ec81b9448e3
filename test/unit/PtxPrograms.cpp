// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel as llc 22 writes it, against plain loops of the host; and what is counted of threads that leave. Row kernels
// as a compiler ships them, and what a mistake in one of them is reported as, are in test/run/cuda-*.test.

#include "PtxTest.h"

using namespace resid::ptx;

namespace {

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

/// As llc writes it for sm_80 (`llc -march=nvptx64 -mcpu=sm_80 -mattr=+ptx70`): a call, constant and global tables,
/// static and dynamic shared memory, narrow parameters.
const char *const kMixed = R"(
.version 7.0
.target sm_80
.address_size 64

	// .globl	f                       // -- Begin function f
.visible .const .align 4 .b8 tab[16] = {0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 192, 127};
.global .align 2 .b8 gtab[8] = {1, 0, 2, 0, 255, 255, 4, 0};
.visible .global .align 8 .u64 gp = tab+4;
// sm has been demoted
.extern .shared .align 16 .b8 dyn[];
                                        // @f
.visible .func  (.param .b32 func_retval0) f(
	.param .b32 f_param_0,
	.param .b64 f_param_1,
	.param .align 16 .b8 f_param_2[16]
)
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<2>;

// %bb.0:
	ld.param.b32 	%r1, [f_param_0];
	add.rn.f32 	%r2, %r1, 0f3F800000;
	ld.param.b64 	%rd1, [f_param_1];
	cvt.rn.f32.u64 	%r3, %rd1;
	ld.param.v4.b32 	{%r4, %r5, %r6, %r7}, [f_param_2];
	div.rn.f32 	%r8, %r2, %r3;
	add.rn.f32 	%r9, %r8, %r6;
	st.param.b32 	[func_retval0], %r9;
	ret;
                                        // -- End function
}
	// .globl	k                       // -- Begin function k
.visible .entry k(
	.param .u64 .ptr .global .align 1 k_param_0,
	.param .u64 .ptr .global .align 1 k_param_1,
	.param .u32 k_param_2,
	.param .align 2 .b8 k_param_3[2],
	.param .align 2 .b8 k_param_4[2],
	.param .u8 k_param_5,
	.param .u8 k_param_6,
	.param .align 16 .b8 k_param_7[16]
)                                       // @k
{
	.reg .pred 	%p<3>;
	.reg .b16 	%rs<7>;
	.reg .b32 	%r<20>;
	.reg .b64 	%rd<18>;
	// demoted variable
	.shared .align 16 .b8 sm[256];
// %bb.0:
	ld.param.b8 	%rs4, [k_param_6];
	and.b16 	%rs5, %rs4, 1;
	setp.ne.b16 	%p1, %rs5, 0;
	ld.param.b16 	%rs2, [k_param_4];
	ld.param.b16 	%rs1, [k_param_3];
	ld.param.b64 	%rd2, [k_param_1];
	ld.param.b64 	%rd3, [k_param_0];
	mov.u32 	%r3, %tid.x;
	cvt.u64.u32 	%rd1, %r3;
	mul.wide.u32 	%rd4, %r3, 4;
	add.s64 	%rd5, %rd3, %rd4;
	ld.global.nc.b32 	%r4, [%rd5];
	{ // callseq 0, 0
	.param .b32 	param0;
	.param .b64 	param1;
	.param .align 16 .b8 	param2[16];
	.param .b32 	retval0;
	ld.param.v4.b32 	{%r5, %r6, %r7, %r8}, [k_param_7];
	st.param.v4.b32 	[param2], {%r5, %r6, %r7, %r8};
	st.param.b64 	[param1], %rd1;
	st.param.b32 	[param0], %r4;
	call.uni (retval0), f, (param0, param1, param2);
	ld.param.b32 	%r9, [retval0];
	} // callseq 0
	mov.b64 	%rd6, sm;
	add.s64 	%rd7, %rd6, %rd4;
	st.shared.b32 	[%rd7], %r9;
	mov.b64 	%rd8, dyn;
	add.s64 	%rd9, %rd8, %rd4;
	st.shared.b32 	[%rd9], %r9;
	bar.sync 	0;
	and.b32 	%r10, %r3, 3;
	mul.wide.u32 	%rd10, %r10, 4;
	mov.b64 	%rd11, tab;
	add.s64 	%rd12, %rd11, %rd10;
	ld.const.b32 	%r11, [%rd12];
	mul.wide.u32 	%rd13, %r10, 2;
	mov.b64 	%rd14, gtab;
	add.s64 	%rd15, %rd14, %rd13;
	ld.global.b16 	%rs6, [%rd15];
	cvt.rn.f32.u16 	%r12, %rs6;
	shfl.sync.bfly.b32 	%r13, %r9, 1, 31, -1;
	add.rn.f32 	%r14, %r13, %r11;
	cvt.f32.f16 	%r15, %rs1;
	cvt.u32.u16 	%r16, %rs2;
	shl.b32 	%r17, %r16, 16;
	add.rn.f32 	%r18, %r14, %r15;
	add.rn.f32 	%r19, %r18, %r17;
	selp.f32 	%r1, %r19, %r12, %p1;
	shl.b64 	%rd16, %rd1, 2;
	add.s64 	%rd17, %rd2, %rd16;
	st.global.b32 	[%rd17], %r1;
	ret;
                                        // -- End function
}
)";

TEST(PtxPrograms, CallsAndTables) {
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
  for (uint8_t way : {0, 1}) {
    std::vector<uint8_t> parameters = pack(a.data(), b.data(), 7u, uint16_t(0x4100), uint16_t(0x4020), uint8_t(9), way);
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
    auto counts = runKernel(*module, memory, parameters, launch);
    ASSERT_TRUE(bool(counts)) << messageOf(counts.takeError());
    EXPECT_EQ(counts->opcodes["call.uni"], threads);
    auto f = [&](unsigned t) { return (a[t] + 1) / float(t) + vector[2]; };
    const float narrow[] = {1, 2, 65535, 4};
    for (unsigned t = 0; t < threads; ++t) {
      float expected = way ? ((f(t ^ 1) + table[t & 3]) + 2.5f) + 2.5f : narrow[t & 3];
      EXPECT_EQ(bitsOf(b[t]), bitsOf(expected)) << t;
    }
  }
}

} // namespace
