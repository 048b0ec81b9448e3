// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decoder layer of the original Transformer, post-norm: causal self-attention, attention to what an encoder made (the
// memory, which the branch captures from above), and a feed-forward with ReLU. 4 heads of 16. Sentences and their lengths
// are known at run time only; a mask says which places of the memory hold a token. README.md says how to run it.

!stream = tensor<?x?x64xf32>
!vector = tensor<64xf32>
!matrix = tensor<64x64xf32>
!heads = tensor<?x4x?x16xf32>

func.func @decoder_layer(
    %x: !stream, %memory: !stream, %memory_mask: tensor<?x?xi1>,
    %self_query: !matrix, %self_key: !matrix, %self_value: !matrix, %self_output: !matrix, %norm1_gamma: !vector, %norm1_beta: !vector,
    %cross_query: !matrix, %cross_key: !matrix, %cross_value: !matrix, %cross_output: !matrix, %norm2_gamma: !vector, %norm2_beta: !vector,
    %up_weight: tensor<256x64xf32>, %up_bias: tensor<256xf32>, %down_weight: tensor<64x256xf32>, %down_bias: !vector,
    %norm3_gamma: !vector, %norm3_beta: !vector) -> !stream {
  %a = resid.block post %x norm(layer gamma %norm1_gamma : !vector beta %norm1_beta : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %q = func.call @split(%h, %self_query) : (!stream, !matrix) -> !heads
    %k = func.call @split(%h, %self_key) : (!stream, !matrix) -> !heads
    %v = func.call @split(%h, %self_value) : (!stream, !matrix) -> !heads
    %context = resid.attention %q, %k, %v {causal} : !heads, !heads, !heads
    %f = func.call @join(%context, %self_output) : (!heads, !matrix) -> !stream
    resid.yield %f : !stream
  }
  %b = resid.block post %a norm(layer gamma %norm2_gamma : !vector beta %norm2_beta : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %sentences = tensor.dim %memory_mask, %c0 : tensor<?x?xi1>
    %places = tensor.dim %memory_mask, %c1 : tensor<?x?xi1>
    %mask = tensor.expand_shape %memory_mask [[0, 1, 2], [3]] output_shape [%sentences, 1, 1, %places] : tensor<?x?xi1> into tensor<?x1x1x?xi1>
    %q = func.call @split(%h, %cross_query) : (!stream, !matrix) -> !heads
    %k = func.call @split(%memory, %cross_key) : (!stream, !matrix) -> !heads
    %v = func.call @split(%memory, %cross_value) : (!stream, !matrix) -> !heads
    %context = resid.attention %q, %k, %v mask(%mask) : !heads, !heads, !heads, tensor<?x1x1x?xi1>
    %f = func.call @join(%context, %cross_output) : (!heads, !matrix) -> !stream
    resid.yield %f : !stream
  }
  %y = resid.block post %b norm(layer gamma %norm3_gamma : !vector beta %norm3_beta : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %raised = resid.linear %h, %up_weight bias(%up_bias) : !stream, tensor<256x64xf32>, tensor<256xf32>
    %inner = resid.activation relu %raised : tensor<?x?x256xf32>
    %f = resid.linear %inner, %down_weight bias(%down_bias) : tensor<?x?x256xf32>, tensor<64x256xf32>, !vector
    resid.yield %f : !stream
  }
  return %y : !stream
}

// A linear layer whose result is taken apart into heads.
func.func private @split(%x: !stream, %weight: !matrix) -> !heads {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sentences = tensor.dim %x, %c0 : !stream
  %tokens = tensor.dim %x, %c1 : !stream
  %rows = resid.linear %x, %weight : !stream, !matrix
  %split = tensor.expand_shape %rows [[0], [1], [2, 3]] output_shape [%sentences, %tokens, 4, 16] : !stream into tensor<?x?x4x16xf32>
  %empty = tensor.empty(%sentences, %tokens) : !heads
  %heads = linalg.transpose ins(%split : tensor<?x?x4x16xf32>) outs(%empty : !heads) permutation = [0, 2, 1, 3]
  return %heads : !heads
}

// The heads side by side again, and a linear layer.
func.func private @join(%heads: !heads, %weight: !matrix) -> !stream {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %sentences = tensor.dim %heads, %c0 : !heads
  %tokens = tensor.dim %heads, %c2 : !heads
  %empty = tensor.empty(%sentences, %tokens) : tensor<?x?x4x16xf32>
  %joined = linalg.transpose ins(%heads : !heads) outs(%empty : tensor<?x?x4x16xf32>) permutation = [0, 2, 1, 3]
  %rows = tensor.collapse_shape %joined [[0], [1], [2, 3]] : tensor<?x?x4x16xf32> into !stream
  %f = resid.linear %rows, %weight : !stream, !matrix
  return %f : !stream
}
