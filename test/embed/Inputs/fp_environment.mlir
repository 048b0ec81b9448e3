// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of fp_environment.c: arithmetic, a norm of each kind with its statistics, random numbers.

func.func @add_f32(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = resid.add %x, %x {skip_scale = 0.5} : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
func.func @layer_f32(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
func.func @rms_f32(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
func.func @dropout_f32(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %seed = arith.constant 7 : i64
  %y = resid.dropout %x seed(%seed, %seed) {p = 0.25, site = 0} : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
func.func @add_bf16(%x: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %y = resid.add %x, %x {skip_scale = 0.5} : tensor<?x?xbf16>
  return %y : tensor<?x?xbf16>
}
func.func @layer_bf16(%x: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %y = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<?x?xbf16>
  return %y : tensor<?x?xbf16>
}
func.func @rms_bf16(%x: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %y = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x?xbf16>
  return %y : tensor<?x?xbf16>
}
func.func @dropout_bf16(%x: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %seed = arith.constant 7 : i64
  %y = resid.dropout %x seed(%seed, %seed) {p = 0.25, site = 0} : tensor<?x?xbf16>
  return %y : tensor<?x?xbf16>
}
func.func @add_f16(%x: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %y = resid.add %x, %x {skip_scale = 0.5} : tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}
func.func @layer_f16(%x: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %y = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}
func.func @rms_f16(%x: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %y = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}
func.func @dropout_f16(%x: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %seed = arith.constant 7 : i64
  %y = resid.dropout %x seed(%seed, %seed) {p = 0.25, site = 0} : tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}
