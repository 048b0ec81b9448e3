// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of a trained Transformer's stream come out bit for bit, and norms as the float64 references do.
//
// RUN: resid-run %s --backend=reference --arg=%examples_dir/data/ocr/image1/block1_attn_x.npy \
// RUN:   --arg=%examples_dir/data/ocr/image1/block1_attn_branch.npy --arg=%examples_dir/data/ocr/image1/block1_attn_gamma.npy \
// RUN:   --arg=%examples_dir/data/ocr/image1/block1_attn_beta.npy --out=%t.sum.npy --out=%t.normed.npy
// RUN: cmp %t.sum.npy %examples_dir/data/ocr/image1/block1_attn_sum.npy
// RUN: cmp %t.normed.npy %examples_dir/data/ocr/image1/block1_attn_normed.npy

func.func @block(%x: tensor<1x?x120xf32>, %f: tensor<1x?x120xf32>, %gamma: tensor<120xf32>, %beta: tensor<120xf32>)
    -> (tensor<1x?x120xf32>, tensor<1x?x120xf32>) {
  %s = resid.add %x, %f : tensor<1x?x120xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<1x?x120xf32>, tensor<120xf32>, tensor<120xf32>
  return %s, %y : tensor<1x?x120xf32>, tensor<1x?x120xf32>
}
