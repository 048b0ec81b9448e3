// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows an attention in a post-norm Transformer: y = LayerNorm(x + dropout(f)).

func.func @attention_block(%x: tensor<?x64xf32>, %f: tensor<?x64xf32>, %gamma: tensor<64xf32>, %beta: tensor<64xf32>,
                           %seed: i64, %step: i64) -> tensor<?x64xf32> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x64xf32>
  %s = resid.add %x, %d : tensor<?x64xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>
  return %y : tensor<?x64xf32>
}
