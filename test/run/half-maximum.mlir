// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maxima and minima of f16 are no calls into a library, also where one reads another, and in a softmax.
// REQUIRES: resid-run
// RUN: resid-run %s --entry=maximum --arg=f16[3x70]=random:1 --check | FileCheck %s
// RUN: resid-run %s --entry=nested --arg=f16[3x70]=random:1 --arg=f16[3x70]=nan --check | FileCheck %s
// RUN: resid-run %s --entry=softmax --arg=f16[3x70]=random:1 --check | FileCheck %s
// CHECK: out0: ok,
func.func @maximum(%x: tensor<3x70xf16>) -> tensor<3xf16> {
  %least = arith.constant dense<0xFC00> : tensor<3xf16>
  %y = linalg.reduce { arith.maxnumf } ins(%x : tensor<3x70xf16>) outs(%least : tensor<3xf16>) dimensions = [1]
  return %y : tensor<3xf16>
}

func.func @nested(%x: tensor<3x70xf16>, %y: tensor<3x70xf16>) -> tensor<3x70xf16> {
  %0 = arith.maxnumf %x, %y : tensor<3x70xf16>
  %1 = arith.minnumf %y, %x : tensor<3x70xf16>
  %2 = arith.maxnumf %0, %1 : tensor<3x70xf16>
  return %2 : tensor<3x70xf16>
}

func.func @softmax(%x: tensor<3x70xf16>) -> tensor<3x70xf16> {
  %e = tensor.empty() : tensor<3x70xf16>
  %y = linalg.softmax dimension(1) ins(%x : tensor<3x70xf16>) outs(%e : tensor<3x70xf16>) -> tensor<3x70xf16>
  return %y : tensor<3x70xf16>
}
