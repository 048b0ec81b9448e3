// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of bf16 and of open width, with parameters of f32.

func.func @mixed(%x: tensor<?x?xbf16>, %f: tensor<?x?xbf16>, %gamma: tensor<?xf32>, %beta: tensor<?xf32>) -> tensor<?x?xbf16> {
  %s = resid.add %x, %f : tensor<?x?xbf16>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x?xbf16>, tensor<?xf32>, tensor<?xf32>
  return %y : tensor<?x?xbf16>
}
