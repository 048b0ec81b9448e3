// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of a post-norm residual block as in the original Transformer: y = LayerNorm(x + dropout(f)). The second
// function is the last block of the network in ../data/ocr, whose norm has a smaller epsilon.

func.func @post_norm_block(%x: tensor<?x120xf32>, %f: tensor<?x120xf32>, %gamma: tensor<120xf32>, %beta: tensor<120xf32>,
                           %seed: i64, %step: i64) -> (tensor<?x120xf32>, tensor<?x120xf32>) {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x120xf32>
  %s = resid.add %x, %d : tensor<?x120xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5}
      : tensor<?x120xf32>, tensor<120xf32>, tensor<120xf32>
  return %y, %s : tensor<?x120xf32>, tensor<?x120xf32>
}

func.func @last_post_norm_block(%x: tensor<?x120xf32>, %f: tensor<?x120xf32>, %gamma: tensor<120xf32>,
                                %beta: tensor<120xf32>, %seed: i64, %step: i64)
    -> (tensor<?x120xf32>, tensor<?x120xf32>) {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 1} : tensor<?x120xf32>
  %s = resid.add %x, %d : tensor<?x120xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-6}
      : tensor<?x120xf32>, tensor<120xf32>, tensor<120xf32>
  return %y, %s : tensor<?x120xf32>, tensor<?x120xf32>
}
