// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pre-norm step with a learned gate on the branch (LayerScale): the stream goes on, and its RMS norm enters the next
// sub-layer. Every size is known at run time only.

func.func @gated_pre_norm(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %gate: tensor<?xf32>, %gamma: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %s = resid.add %x, %f gate(%gate) : tensor<?x?xf32>, tensor<?xf32>
  %n = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x?xf32>, tensor<?xf32>
  return %n, %s : tensor<?x?xf32>, tensor<?x?xf32>
}
