// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions and arguments whose names mean something in C, C++, a generated header or a library; see names.c.

func.func @main(%RESID_API: tensor<?xf32>, %exp: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %RESID_API, %exp : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @class(%exp: tensor<?xf32>, %NULL: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %exp, %NULL : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @int(%NULL: tensor<?xf32>, %class: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %NULL, %class : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @exp(%class: tensor<?xf32>, %UINT8_MAX: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %class, %UINT8_MAX : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @malloc(%UINT8_MAX: tensor<?xf32>, %out0: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %UINT8_MAX, %out0 : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @memcpy(%out0: tensor<?xf32>, %_Complex: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %out0, %_Complex : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @RESID_API(%_Complex: tensor<?xf32>, %ctx: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %_Complex, %ctx : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @RESID_OK(%ctx: tensor<?xf32>, %RESID_API: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %ctx, %RESID_API : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @DLTensor(%RESID_API: tensor<?xf32>, %exp: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %RESID_API, %exp : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @kDLCPU(%exp: tensor<?xf32>, %NULL: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %exp, %NULL : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @INT64_MAX(%NULL: tensor<?xf32>, %class: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %NULL, %class : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @resid_status(%class: tensor<?xf32>, %UINT8_MAX: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %class, %UINT8_MAX : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @resid_alloc(%UINT8_MAX: tensor<?xf32>, %out0: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %UINT8_MAX, %out0 : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @resid_dl_read(%out0: tensor<?xf32>, %_Complex: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %out0, %_Complex : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @resid_cpu_choice(%_Complex: tensor<?xf32>, %ctx: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %_Complex, %ctx : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @__linux__(%ctx: tensor<?xf32>, %RESID_API: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %ctx, %RESID_API : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @ordinary(%RESID_API: tensor<?xf32>, %exp: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %RESID_API, %exp : tensor<?xf32>
  return %s : tensor<?xf32>
}
