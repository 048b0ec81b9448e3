// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of LLaMA on whole sentences: RMS norm before each sub-layer, rotary positions, 4 heads of queries on 2 of keys, a
// causal mask, SwiGLU, and the norm after the last block. ../generation has such blocks with a key-value cache. README.md
// says how to run it.

!stream = tensor<?x?x64xf32>
!vector = tensor<64xf32>
!table = tensor<?x8xf32>
!heads = tensor<?x4x?x16xf32>
!groups = tensor<?x2x?x16xf32>

func.func @llama_block(
    %x: !stream, %cos: !table, %sin: !table, %norm1: !vector, %query: tensor<64x64xf32>, %key: tensor<32x64xf32>,
    %value: tensor<32x64xf32>, %output: tensor<64x64xf32>, %norm2: !vector, %gate: tensor<160x64xf32>, %up: tensor<160x64xf32>,
    %down: tensor<64x160xf32>, %norm: !vector) -> !stream {
  %a = resid.block pre %x norm(rms gamma %norm1 : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %sentences = tensor.dim %h, %c0 : !stream
    %tokens = tensor.dim %h, %c1 : !stream
    %q_rows = resid.linear %h, %query : !stream, tensor<64x64xf32>
    %q_split = tensor.expand_shape %q_rows [[0], [1], [2, 3]] output_shape [%sentences, %tokens, 4, 16] : !stream into tensor<?x?x4x16xf32>
    %q_empty = tensor.empty(%sentences, %tokens) : !heads
    %q = linalg.transpose ins(%q_split : tensor<?x?x4x16xf32>) outs(%q_empty : !heads) permutation = [0, 2, 1, 3]
    %q_turned = resid.rotary %q cos(%cos) sin(%sin) : !heads, !table, !table
    %k = func.call @split(%h, %key) : (!stream, tensor<32x64xf32>) -> !groups
    %k_turned = resid.rotary %k cos(%cos) sin(%sin) : !groups, !table, !table
    %v = func.call @split(%h, %value) : (!stream, tensor<32x64xf32>) -> !groups
    %context = resid.attention %q_turned, %k_turned, %v {causal} : !heads, !groups, !groups
    %empty = tensor.empty(%sentences, %tokens) : tensor<?x?x4x16xf32>
    %joined = linalg.transpose ins(%context : !heads) outs(%empty : tensor<?x?x4x16xf32>) permutation = [0, 2, 1, 3]
    %rows = tensor.collapse_shape %joined [[0], [1], [2, 3]] : tensor<?x?x4x16xf32> into !stream
    %f = resid.linear %rows, %output : !stream, tensor<64x64xf32>
    resid.yield %f : !stream
  }
  %b = resid.block pre %a norm(rms gamma %norm2 : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %gated = resid.linear %h, %gate : !stream, tensor<160x64xf32>
    %raised = resid.linear %h, %up : !stream, tensor<160x64xf32>
    %inner = resid.activation swiglu %gated, %raised : tensor<?x?x160xf32>
    %f = resid.linear %inner, %down : tensor<?x?x160xf32>, tensor<64x160xf32>
    resid.yield %f : !stream
  }
  %y = resid.rms_norm %b gamma(%norm) {epsilon = 1.0e-5} : !stream, !vector
  return %y : !stream
}

// Keys or values, in as many heads as they have.
func.func private @split(%x: !stream, %weight: tensor<32x64xf32>) -> !groups {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sentences = tensor.dim %x, %c0 : !stream
  %tokens = tensor.dim %x, %c1 : !stream
  %rows = resid.linear %x, %weight : !stream, tensor<32x64xf32>
  %split = tensor.expand_shape %rows [[0], [1], [2, 3]] output_shape [%sentences, %tokens, 2, 16] : tensor<?x?x32xf32> into tensor<?x?x2x16xf32>
  %empty = tensor.empty(%sentences, %tokens) : !groups
  %heads = linalg.transpose ins(%split : tensor<?x?x2x16xf32>) outs(%empty : !groups) permutation = [0, 2, 1, 3]
  return %heads : !groups
}
