// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types, modes and ops around resid ops, as resid-run shows them.
//
// RUN: resid-run %s --backend=reference --entry=scalars --arg=7 --arg=-2 --arg=0.5 --arg=true | FileCheck %s --check-prefix=SCALARS
// RUN: resid-run %s --backend=reference --entry=gelu --arg=f32[3]=-1,0,1 | FileCheck %s --check-prefix=GELU
// RUN: resid-run %s --backend=reference --entry=column_sum --arg=f64[2x3]=1,2,3,4,5,6 | FileCheck %s --check-prefix=COLUMNS
// RUN: resid-run %s --backend=reference --entry=softmax --arg=f32[1x2]=0,0 | FileCheck %s --check-prefix=SOFTMAX
// RUN: resid-run %s --backend=reference --entry=halves --arg=bf16[4]=1 | FileCheck %s --check-prefix=HALVES
// RUN: resid-run %s --backend=reference --entry=halves --arg=bf16[4]=1 --check=wide | FileCheck %s --check-prefix=WIDE
// RUN: resid-run %s --backend=reference --entry=dynamic --arg=f32[0x4]=1 | FileCheck %s --check-prefix=EMPTY

// SCALARS: out0: i64 5
// SCALARS-NEXT: out1: f32 3.5
// SCALARS-NEXT: out2: i1 0
func.func @scalars(%a: i64, %b: i64, %c: f32, %d: i1) -> (i64, f32, i1) {
  %s = arith.addi %a, %b : i64
  %f = arith.sitofp %a : i64 to f32
  %p = arith.mulf %f, %c : f32
  %less = arith.cmpi slt, %a, %b : i64
  %i = arith.andi %less, %d : i1
  return %s, %p, %i : i64, f32, i1
}

// GELU: first -0.158655 0 0.841345
func.func @gelu(%x: tensor<3xf32>) -> tensor<3xf32> {
  %half = arith.constant dense<0.5> : tensor<3xf32>
  %one = arith.constant dense<1.0> : tensor<3xf32>
  %root = arith.constant dense<0.70710678> : tensor<3xf32>
  %0 = arith.mulf %x, %root : tensor<3xf32>
  %1 = math.erf %0 : tensor<3xf32>
  %2 = arith.addf %1, %one : tensor<3xf32>
  %3 = arith.mulf %x, %half : tensor<3xf32>
  %4 = arith.mulf %2, %3 : tensor<3xf32>
  return %4 : tensor<3xf32>
}

// COLUMNS: out0: 3xf64, min 5, max 9, first 5 7 9
func.func @column_sum(%x: tensor<2x3xf64>) -> tensor<3xf64> {
  %zero = arith.constant dense<0.0> : tensor<3xf64>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<2x3xf64>) outs(%zero : tensor<3xf64>) dimensions = [0]
  return %r : tensor<3xf64>
}

// SOFTMAX: first 0.5 0.5
func.func @softmax(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %e = tensor.empty() : tensor<1x2xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<1x2xf32>) outs(%e : tensor<1x2xf32>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// 1 + 2^-8 twice: rounded to bf16 each time, the small part is lost; the wide mode keeps it.
// HALVES: first 1 1 1 1
// WIDE: out0: ok, largest error 0.00781 at [0], bound there
func.func @halves(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = resid.add %x, %x {branch_scale = 0.00390625} : tensor<4xbf16>
  %1 = resid.add %0, %x {branch_scale = 0.00390625} : tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

// EMPTY: out0: 0x4xf32{{$}}
func.func @dynamic(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
