// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows without columns are not gone through, or these would take years; where something is written once per row, they are.

// REQUIRES: resid-run
// RUN: for entry in add_norm no_columns; do \
// RUN:   timeout 300 resid-run %s --entry=$entry '--arg=f32[17592186044416x0]=0' '--arg=f32[17592186044416x0]=0' || exit 1; done | FileCheck %s
// RUN: timeout 300 resid-run %s --entry=two_axes '--arg=f32[4398046511104x0x8]=0' | FileCheck %s --check-prefix=AXES
// RUN: resid-run %s --entry=statistics '--arg=f32[3x0]=0' --check | FileCheck %s --check-prefix=STATISTICS

// CHECK-COUNT-4: out{{[01]}}: 17592186044416x0xf32
// AXES: out0: 4398046511104x0x8xf32
// STATISTICS: out3: ok
// STATISTICS: out1: 3xf32, 3 NaN
// STATISTICS: out2: 3xf32, 3 NaN
// STATISTICS: out3: 3xf32, 3 NaN

func.func @add_norm(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %s = resid.add %x, %f : tensor<?x?xf32>
  %y = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<?x?xf32>
  return %y, %s : tensor<?x?xf32>, tensor<?x?xf32>
}
func.func @no_columns(%x: tensor<?x0xf32>, %f: tensor<?x0xf32>) -> (tensor<?x0xf32>, tensor<?x0xf32>) {
  %s = resid.add %x, %f : tensor<?x0xf32>
  %y = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<?x0xf32>
  return %y, %s : tensor<?x0xf32>, tensor<?x0xf32>
}
func.func @two_axes(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = resid.rms_norm %x {epsilon = 1.0e-5, norm_rank = 2} : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
func.func @statistics(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %y, %mean, %correction, %rstd = resid.layer_norm %x {epsilon = 1.0e-5}
      : tensor<?x?xf32> -> tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  return %y, %mean, %correction, %rstd : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
