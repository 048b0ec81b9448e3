// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of overlap.c: rows of a fixed size; sizes that are open in both directions; and arrays whose numbers of rows
// have nothing to do with each other.

func.func @fixed(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>, %gamma: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %s = resid.add %x, %f : tensor<?x8xf32>
  %y = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32>
  return %y, %s : tensor<?x8xf32>, tensor<?x8xf32>
}

func.func @both_open(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = resid.add %x, %f : tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}

func.func @unrelated(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %y = resid.rms_norm %a {epsilon = 1.0e-6} : tensor<?x8xf32>
  %z = resid.rms_norm %b {epsilon = 1.0e-6} : tensor<?x8xf32>
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}
