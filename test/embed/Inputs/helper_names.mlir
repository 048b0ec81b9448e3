// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that are called what the helpers of an object were or are called, dots aside.

func.func @norm(%x: tensor<?x8x8xf32>) -> tensor<?x8x8xf32> {
  %y = resid.rms_norm %x {epsilon = 1.0e-5, norm_rank = 2} : tensor<?x8x8xf32>
  %z = resid.rms_norm %y {epsilon = 1.0e-5} : tensor<?x8x8xf32>
  return %z : tensor<?x8x8xf32>
}
func.func @norm__impl(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = resid.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @norm_impl(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = resid.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @norm__scratch(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = resid.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @norm_scratch(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = resid.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @norm__rows(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = resid.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @norm__stream(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = resid.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @norm__task(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = resid.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @resid_last_cache_bytes(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = resid.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @resid_second_cache_bytes(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = resid.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @resid_ask_caches(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = resid.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @resid_write_lines(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = resid.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @resid_flush_line(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = resid.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
