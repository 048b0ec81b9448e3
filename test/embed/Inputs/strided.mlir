// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of strided.cpp: every array whose rows may lie apart does, in each element type that has stores of its own,
// and with two row dimensions. Without the attribute they are what strided.cpp compares with.

func.func @layer(%x: tensor<?x?xf32> {resid.strided}, %f: tensor<?x?xf32> {resid.strided}, %gamma: tensor<?xf32>)
    -> (tensor<?x?xf32> {resid.strided}, tensor<?x?xf32> {resid.strided}) {
  %s = resid.add %x, %f : tensor<?x?xf32>
  %y = resid.layer_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>
  return %y, %s : tensor<?x?xf32>, tensor<?x?xf32>
}
func.func @rms_bf16(%x: tensor<?x?xbf16> {resid.strided}, %f: tensor<?x?xbf16> {resid.strided}, %gamma: tensor<?xf32>)
    -> (tensor<?x?xbf16> {resid.strided}, tensor<?x?xbf16> {resid.strided}) {
  %s = resid.add %x, %f : tensor<?x?xbf16>
  %y = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x?xbf16>, tensor<?xf32>
  return %y, %s : tensor<?x?xbf16>, tensor<?x?xbf16>
}
func.func @layer_rank3(%x: tensor<?x?x?xf32> {resid.strided}, %f: tensor<?x?x?xf32> {resid.strided}, %gamma: tensor<?xf32>)
    -> (tensor<?x?x?xf32> {resid.strided}, tensor<?x?x?xf32> {resid.strided}) {
  %s = resid.add %x, %f : tensor<?x?x?xf32>
  %y = resid.layer_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x?x?xf32>, tensor<?xf32>
  return %y, %s : tensor<?x?x?xf32>, tensor<?x?x?xf32>
}
