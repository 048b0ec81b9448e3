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
func.func @select(%I: tensor<?xf32>, %complex: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %I, %complex : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @connect(%complex: tensor<?xf32>, %PTRDIFF_MAX: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %complex, %PTRDIFF_MAX : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @signal(%PTRDIFF_MAX: tensor<?xf32>, %concept: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %PTRDIFF_MAX, %concept : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @index(%concept: tensor<?xf32>, %requires: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %concept, %requires : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @gamma(%requires: tensor<?xf32>, %char8_t: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %requires, %char8_t : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @y0(%char8_t: tensor<?xf32>, %co_yield: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %char8_t, %co_yield : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @stdin(%co_yield: tensor<?xf32>, %noreturn: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %co_yield, %noreturn : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @environ(%noreturn: tensor<?xf32>, %I: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %noreturn, %I : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @isnan(%I: tensor<?xf32>, %complex: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %I, %complex : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @_start(%complex: tensor<?xf32>, %PTRDIFF_MAX: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %complex, %PTRDIFF_MAX : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @ptrdiff_t(%PTRDIFF_MAX: tensor<?xf32>, %concept: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %PTRDIFF_MAX, %concept : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @FILE(%concept: tensor<?xf32>, %requires: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %concept, %requires : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @gettid(%requires: tensor<?xf32>, %char8_t: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %requires, %char8_t : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @PTRDIFF_MAX(%char8_t: tensor<?xf32>, %co_yield: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %char8_t, %co_yield : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @concept(%co_yield: tensor<?xf32>, %noreturn: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %co_yield, %noreturn : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @co_await(%noreturn: tensor<?xf32>, %I: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %noreturn, %I : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @char8_t(%I: tensor<?xf32>, %complex: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %I, %complex : tensor<?xf32>
  return %s : tensor<?xf32>
}
func.func @typeof_unqual(%complex: tensor<?xf32>, %PTRDIFF_MAX: tensor<?xf32>) -> tensor<?xf32> {
  %s = resid.add %complex, %PTRDIFF_MAX : tensor<?xf32>
  return %s : tensor<?xf32>
}
