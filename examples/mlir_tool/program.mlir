// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A residual block whose result is marked by an op that resid does not know.

func.func @block(%x: tensor<?x64xf32>, %f: tensor<?x64xf32>, %gamma: tensor<64xf32>) -> tensor<?x64xf32> {
  %s = resid.add %x, %f : tensor<?x64xf32>
  %y = resid.layer_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x64xf32>, tensor<64xf32>
  %m = mark.here %y "after attention" : tensor<?x64xf32>
  return %m : tensor<?x64xf32>
}
