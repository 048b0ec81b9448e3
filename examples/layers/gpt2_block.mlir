// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of GPT-2: pre-norm, 8 heads with a causal mask, a feed-forward with GELU (tanh), and the norm after the last block.
// 4 sequences of 16 tokens. Weights are [in, out], as the checkpoints of GPT-2 have them. How to compile it in each
// placement and to run it: README.md.

!stream = tensor<4x16x512xf32>
!vector = tensor<512xf32>
!heads = tensor<4x8x16x64xf32>

func.func @gpt2_block(
    %x: !stream, %norm1_gamma: !vector, %norm1_beta: !vector, %qkv_weight: tensor<512x1536xf32>, %qkv_bias: tensor<1536xf32>,
    %output_weight: tensor<512x512xf32>, %output_bias: !vector, %norm2_gamma: !vector, %norm2_beta: !vector,
    %up_weight: tensor<512x2048xf32>, %up_bias: tensor<2048xf32>, %down_weight: tensor<2048x512xf32>, %down_bias: !vector,
    %norm_gamma: !vector, %norm_beta: !vector) -> !stream {
  %a = resid.block pre %x norm(layer gamma %norm1_gamma : !vector beta %norm1_beta : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %qkv = resid.linear %h, %qkv_weight bias(%qkv_bias) {transposed} : !stream, tensor<512x1536xf32>, tensor<1536xf32>
    %split = tensor.expand_shape %qkv [[0], [1], [2, 3, 4]] output_shape [4, 16, 3, 8, 64] : tensor<4x16x1536xf32> into tensor<4x16x3x8x64xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %q = func.call @take(%split, %c0) : (tensor<4x16x3x8x64xf32>, index) -> !heads
    %k = func.call @take(%split, %c1) : (tensor<4x16x3x8x64xf32>, index) -> !heads
    %v = func.call @take(%split, %c2) : (tensor<4x16x3x8x64xf32>, index) -> !heads
    %context = resid.attention %q, %k, %v {causal} : !heads, !heads, !heads
    %empty = tensor.empty() : tensor<4x16x8x64xf32>
    %joined = linalg.transpose ins(%context : !heads) outs(%empty : tensor<4x16x8x64xf32>) permutation = [0, 2, 1, 3]
    %rows = tensor.collapse_shape %joined [[0], [1], [2, 3]] : tensor<4x16x8x64xf32> into !stream
    %f = resid.linear %rows, %output_weight bias(%output_bias) {transposed} : !stream, tensor<512x512xf32>, !vector
    resid.yield %f : !stream
  }
  %b = resid.block pre %a norm(layer gamma %norm2_gamma : !vector beta %norm2_beta : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %raised = resid.linear %h, %up_weight bias(%up_bias) {transposed} : !stream, tensor<512x2048xf32>, tensor<2048xf32>
    %inner = resid.activation gelu_tanh %raised : tensor<4x16x2048xf32>
    %f = resid.linear %inner, %down_weight bias(%down_bias) {transposed} : tensor<4x16x2048xf32>, tensor<2048x512xf32>, !vector
    resid.yield %f : !stream
  }
  %y = resid.layer_norm %b gamma(%norm_gamma) beta(%norm_beta) {epsilon = 1.0e-5} : !stream, !vector, !vector
  return %y : !stream
}

// Queries (part 0), keys (1) or values (2), head by head.
func.func private @take(%split: tensor<4x16x3x8x64xf32>, %part: index) -> !heads {
  %taken = tensor.extract_slice %split[0, 0, %part, 0, 0] [4, 16, 1, 8, 64] [1, 1, 1, 1, 1] : tensor<4x16x3x8x64xf32> to tensor<4x16x8x64xf32>
  %empty = tensor.empty() : !heads
  %heads = linalg.transpose ins(%taken : tensor<4x16x8x64xf32>) outs(%empty : !heads) permutation = [0, 2, 1, 3]
  return %heads : !heads
}
