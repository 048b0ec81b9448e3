// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that were worked out by hand or published with the definitions: residual add, gate, norm, dropout.
//
// RUN: resid-run %s --backend=reference --entry=gate_then_norm --arg=f32[1x4]=1,2,3,4 --arg=f32[1x4]=0.5,-0.3,0.8,0.2 \
// RUN:   --arg=f32[1x4]=1.1111111,0,1.1111111,1.1111111 | FileCheck %s --check-prefix=GATE
// RUN: resid-run %s --backend=reference --entry=gate_for_dropout --arg=f32[5]=0.5,0.3,0.8,0.2,0.6 \
// RUN:   --arg=f32[5]=1.1111111,1.1111111,0,1.1111111,1.1111111 | FileCheck %s --check-prefix=KEPT
// RUN: resid-run %s --backend=reference --entry=two_elements --arg=f32[4x16x512]=random:1 --arg=f32[4x16x512]=random:2 \
// RUN:   | FileCheck %s --check-prefix=ADD
// RUN: resid-run %s --backend=reference --entry=no_dropout --arg=f32[2x4]=1,2,3,4,5,6,7,8 --arg=1 --arg=0 \
// RUN:   | FileCheck %s --check-prefix=IDENTITY
// RUN: resid-run %s --backend=reference --entry=all_dropped --arg=f32[2x4]=nan --arg=1 --arg=0 \
// RUN:   | FileCheck %s --check-prefix=DROPPED

// GATE: out0: 1x4xf32, min 1.55556, max 4.22222, first 1.55556 2 3.88889 4.22222
// GATE: out1: 1x4xf32, min -1.17773, max 1.12966, first -1.17773 -0.793165 0.841236 1.12966
func.func @gate_then_norm(%x: tensor<1x4xf32>, %f: tensor<1x4xf32>, %gate: tensor<1x4xf32>)
    -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %s = resid.add %x, %f gate(%gate) : tensor<1x4xf32>, tensor<1x4xf32>
  %y = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<1x4xf32>
  return %s, %y : tensor<1x4xf32>, tensor<1x4xf32>
}

// KEPT: first 0.555556 0.333333 0 0.222222 0.666667
func.func @gate_for_dropout(%f: tensor<5xf32>, %gate: tensor<5xf32>) -> tensor<5xf32> {
  %zero = arith.constant dense<0.0> : tensor<5xf32>
  %s = resid.add %zero, %f gate(%gate) : tensor<5xf32>, tensor<5xf32>
  return %s : tensor<5xf32>
}

// ADD: out0: f32 0.43743
// ADD: out1: f32 -1.872
func.func @two_elements(%x: tensor<4x16x512xf32>, %f: tensor<4x16x512xf32>) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c15 = arith.constant 15 : index
  %c511 = arith.constant 511 : index
  %a = arith.constant -0.07005 : f32
  %b = arith.constant 0.50748 : f32
  %c = arith.constant 0.09600 : f32
  %d = arith.constant -1.96800 : f32
  %x1 = tensor.insert %a into %x[%c0, %c1, %c511] : tensor<4x16x512xf32>
  %x2 = tensor.insert %c into %x1[%c3, %c15, %c0] : tensor<4x16x512xf32>
  %f1 = tensor.insert %b into %f[%c0, %c1, %c511] : tensor<4x16x512xf32>
  %f2 = tensor.insert %d into %f1[%c3, %c15, %c0] : tensor<4x16x512xf32>
  %s = resid.add %x2, %f2 : tensor<4x16x512xf32>
  %first = tensor.extract %s[%c0, %c1, %c511] : tensor<4x16x512xf32>
  %second = tensor.extract %s[%c3, %c15, %c0] : tensor<4x16x512xf32>
  return %first, %second : f32, f32
}

// A threshold of 0 keeps everything.
// IDENTITY: first 1 2 3 4 5 6 7 8
func.func @no_dropout(%x: tensor<2x4xf32>, %seed: i64, %step: i64) -> tensor<2x4xf32> {
  %y = resid.dropout %x seed(%seed, %step) {p = 1.0e-6, site = 0} : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// DROPPED: min 0, max 0, first 0 0 0 0 0 0 0 0
func.func @all_dropped(%x: tensor<2x4xf32>, %seed: i64, %step: i64) -> tensor<2x4xf32> {
  %y = resid.dropout %x seed(%seed, %step) {p = 1.0, site = 0} : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
