// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops whose tensors change places, follow each other, or become one.

// REQUIRES: resid-run
// RUN: for entry in swap rotate follow shift both; do for count in 0 1 2 5; do \
// RUN:   resid-run %s --entry=$entry '--arg=f32[3x8]=random:1' '--arg=f32[3x8]=random:2' '--arg=f32[3x8]=random:3' --arg=$count --check || exit 1; \
// RUN: done; done | FileCheck %s
// CHECK-COUNT-60: out{{[0-2]}}: ok

// A cache of open size that each turn writes into, at other places of each sample.
// RUN: resid-run %s --entry=caches --arg=f32[3x2x9x4]=random:1 --arg=f32[3x2x2x4]=random:2 --arg=i64[3]=0,3,2 --check 2>/dev/null | FileCheck %s --check-prefix=CACHES
// CACHES: out0: ok, bit-equal

func.func @swap(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %z: tensor<?x8xf32>, %n: index) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %z) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
    scf.yield %b, %a, %c : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
func.func @rotate(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %z: tensor<?x8xf32>, %n: index) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %z) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
    scf.yield %b, %c, %a : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
func.func @follow(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %z: tensor<?x8xf32>, %n: index) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %z) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
    %s = resid.add %a, %b {branch_scale = 0.5} : tensor<?x8xf32>
    %t = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<?x8xf32>
    scf.yield %t, %a, %b : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
func.func @shift(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %z: tensor<?x8xf32>, %n: index) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %z) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
    scf.yield %b, %c, %c : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
func.func @both(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %z: tensor<?x8xf32>, %n: index) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %z) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
    %s = resid.add %a, %b {branch_scale = 0.5} : tensor<?x8xf32>
    %t = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<?x8xf32>
    scf.yield %t, %t, %a : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
func.func @caches(%c: tensor<3x2x?x4xf32>, %x: tensor<3x2x2x4xf32>, %p: tensor<3xi64>) -> tensor<3x2x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %two = arith.constant dense<2> : tensor<3xi64>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%k = %c, %past = %p) -> (tensor<3x2x?x4xf32>, tensor<3xi64>) {
    %n = resid.append %k, %x past(%past) : tensor<3x2x?x4xf32>, tensor<3x2x2x4xf32>, tensor<3xi64>
    %next = arith.addi %past, %two : tensor<3xi64>
    scf.yield %n, %next : tensor<3x2x?x4xf32>, tensor<3xi64>
  }
  return %r#0 : tensor<3x2x?x4xf32>
}
