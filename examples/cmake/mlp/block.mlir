// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows an MLP in a pre-norm Transformer: the sum goes on along the stream, its RMS norm into the next layer.

func.func @mlp_block(%x: tensor<?x64xf32>, %f: tensor<?x64xf32>, %gamma: tensor<64xf32>)
    -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %s = resid.add %x, %f : tensor<?x64xf32>
  %n = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x64xf32>, tensor<64xf32>
  return %n, %s : tensor<?x64xf32>, tensor<?x64xf32>
}
