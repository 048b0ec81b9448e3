// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel as llc 22 writes it for sm_80 (`llc -march=nvptx64 -mcpu=sm_80 -mattr=+ptx70`), from IR that says: each
// block of 128 threads scales a row of 256 numbers by 1 / sqrt(mean of squares + epsilon).

#pragma once

inline const char *const kRms = R"(
.version 7.0
.target sm_80
.address_size 64

	// .globl	rms                     // -- Begin function rms
// slots has been demoted
                                        // @rms
.visible .entry rms(
	.param .u64 .ptr .global .align 1 rms_param_0,
	.param .u64 .ptr .global .align 1 rms_param_1,
	.param .f32 rms_param_2
)
.maxntid 128
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<36>;
	.reg .b64 	%rd<11>;
	// demoted variable
	.shared .align 16 .b8 slots[16];
// %bb.0:
	ld.param.b32 	%r4, [rms_param_2];
	ld.param.b64 	%rd3, [rms_param_1];
	ld.param.b64 	%rd4, [rms_param_0];
	mov.u32 	%r5, %tid.x;
	mov.u32 	%r6, %ctaid.x;
	shl.b32 	%r7, %r6, 8;
	shl.b32 	%r8, %r5, 1;
	add.s32 	%r9, %r7, %r8;
	cvt.u64.u32 	%rd1, %r9;
	mul.wide.u32 	%rd5, %r9, 4;
	add.s64 	%rd6, %rd4, %rd5;
	ld.global.nc.v2.b32 	{%r1, %r2}, [%rd6];
	mul.rn.f32 	%r10, %r1, %r1;
	mul.rn.f32 	%r11, %r2, %r2;
	add.rn.f32 	%r12, %r10, %r11;
	shfl.sync.bfly.b32 	%r13, %r12, 16, 31, -1;
	add.rn.f32 	%r14, %r12, %r13;
	shfl.sync.bfly.b32 	%r15, %r14, 8, 31, -1;
	add.rn.f32 	%r16, %r14, %r15;
	shfl.sync.bfly.b32 	%r17, %r16, 4, 31, -1;
	add.rn.f32 	%r18, %r16, %r17;
	shfl.sync.bfly.b32 	%r19, %r18, 2, 31, -1;
	add.rn.f32 	%r20, %r18, %r19;
	shfl.sync.bfly.b32 	%r21, %r20, 1, 31, -1;
	and.b32 	%r23, %r5, 31;
	setp.ne.b32 	%p1, %r23, 0;
	@%p1 bra 	$L__BB0_2;
// %bb.1:                               // %put
	add.rn.f32 	%r3, %r20, %r21;
	shr.u32 	%r22, %r5, 5;
	mul.wide.u32 	%rd7, %r22, 4;
	mov.b64 	%rd8, slots;
	add.s64 	%rd2, %rd8, %rd7;
	st.shared.b32 	[%rd2], %r3;
$L__BB0_2:                              // %go
	bar.sync 	0;
	ld.shared.v4.b32 	{%r24, %r25, %r26, %r27}, [slots];
	add.rn.f32 	%r28, %r24, %r25;
	add.rn.f32 	%r29, %r28, %r26;
	add.rn.f32 	%r30, %r29, %r27;
	mul.rn.f32 	%r31, %r30, 0f3B800000;
	add.rn.f32 	%r32, %r31, %r4;
	sqrt.rn.f32 	%r33, %r32;
	div.rn.f32 	%r34, %r1, %r33;
	div.rn.f32 	%r35, %r2, %r33;
	shl.b64 	%rd9, %rd1, 2;
	add.s64 	%rd10, %rd3, %rd9;
	st.global.v2.b32 	[%rd10], {%r34, %r35};
	ret;
                                        // -- End function
}
)";
