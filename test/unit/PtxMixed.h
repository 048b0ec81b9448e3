// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel as llc 22 writes it for sm_80 (`llc -march=nvptx64 -mcpu=sm_80 -mattr=+ptx70`): a call, constant and global
// tables, static and dynamic shared memory, a jump table, narrow parameters.

#pragma once

inline const char *const kMixed = R"(
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
	ld.param.b32 	%r2, [k_param_2];
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
	setp.gt.u32 	%p2, %r2, 5;
	@%p2 bra 	$L__BB1_8;
// %bb.1:
	$L_brx_0: .branchtargets
		$L__BB1_2,
		$L__BB1_3,
		$L__BB1_4,
		$L__BB1_5,
		$L__BB1_6,
		$L__BB1_7;
	brx.idx 	%r2, $L_brx_0;
$L__BB1_2:                              // %s0
	ld.param.b8 	%rs3, [k_param_5];
	st.global.b8 	[%rd2], %rs3;
	bra.uni 	$L__BB1_8;
$L__BB1_6:                              // %s4
	st.global.b16 	[%rd2], %rs1;
	bra.uni 	$L__BB1_8;
$L__BB1_4:                              // %s2
	st.global.b16 	[%rd2], 5;
	bra.uni 	$L__BB1_8;
$L__BB1_5:                              // %s3
	st.global.b64 	[%rd2], 0;
	bra.uni 	$L__BB1_8;
$L__BB1_3:                              // %s1
	st.global.b8 	[%rd2], 4;
	bra.uni 	$L__BB1_8;
$L__BB1_7:                              // %s5
	st.global.b16 	[%rd2], %rs2;
$L__BB1_8:                              // %d
	shl.b64 	%rd16, %rd1, 2;
	add.s64 	%rd17, %rd2, %rd16;
	st.global.b32 	[%rd17], %r1;
	ret;
                                        // -- End function
}
)";
