// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decoder in the shape of LLaMA, small: RMS norm before each sub-layer, rotary positions, grouped heads, SwiGLU. Keys and
// values of earlier tokens are in caches of 128 places, which each call adds to.

func.func private @layer(%x: tensor<?x64xf32>, %past: i64, %cos: tensor<128x8xf32>, %sin: tensor<128x8xf32>, %key_cache: tensor<1x2x128x16xf32>, %value_cache: tensor<1x2x128x16xf32>,
    %norm1: tensor<64xf32>, %query: tensor<64x64xf32>, %key: tensor<32x64xf32>, %value: tensor<32x64xf32>, %output: tensor<64x64xf32>, %norm2: tensor<64xf32>, %gate: tensor<160x64xf32>, %up: tensor<160x64xf32>, %down: tensor<64x160xf32>) -> (tensor<?x64xf32>, tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>) {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x64xf32>
  %h = resid.rms_norm %x gamma(%norm1) {epsilon = 1.0e-5} : tensor<?x64xf32>, tensor<64xf32>
  %q_rows = resid.linear %h, %query : tensor<?x64xf32>, tensor<64x64xf32>
  %k_rows = resid.linear %h, %key : tensor<?x64xf32>, tensor<32x64xf32>
  %v_rows = resid.linear %h, %value : tensor<?x64xf32>, tensor<32x64xf32>
  %q_s = tensor.expand_shape %q_rows [[0, 1], [2, 3]] output_shape [1, %n, 4, 16] : tensor<?x64xf32> into tensor<1x?x4x16xf32>
  %q_e = tensor.empty(%n) : tensor<1x4x?x16xf32>
  %q = linalg.transpose ins(%q_s : tensor<1x?x4x16xf32>) outs(%q_e : tensor<1x4x?x16xf32>) permutation = [0, 2, 1, 3]
  %k_s = tensor.expand_shape %k_rows [[0, 1], [2, 3]] output_shape [1, %n, 2, 16] : tensor<?x32xf32> into tensor<1x?x2x16xf32>
  %k_e = tensor.empty(%n) : tensor<1x2x?x16xf32>
  %k = linalg.transpose ins(%k_s : tensor<1x?x2x16xf32>) outs(%k_e : tensor<1x2x?x16xf32>) permutation = [0, 2, 1, 3]
  %v_s = tensor.expand_shape %v_rows [[0, 1], [2, 3]] output_shape [1, %n, 2, 16] : tensor<?x32xf32> into tensor<1x?x2x16xf32>
  %v_e = tensor.empty(%n) : tensor<1x2x?x16xf32>
  %v = linalg.transpose ins(%v_s : tensor<1x?x2x16xf32>) outs(%v_e : tensor<1x2x?x16xf32>) permutation = [0, 2, 1, 3]
  %q_turned = resid.rotary %q cos(%cos) sin(%sin) offset(%past) : tensor<1x4x?x16xf32>, tensor<128x8xf32>, tensor<128x8xf32>
  %k_turned = resid.rotary %k cos(%cos) sin(%sin) offset(%past) : tensor<1x2x?x16xf32>, tensor<128x8xf32>, tensor<128x8xf32>
  %keys = resid.append %key_cache, %k_turned past(%past) : tensor<1x2x128x16xf32>, tensor<1x2x?x16xf32>
  %values = resid.append %value_cache, %v past(%past) : tensor<1x2x128x16xf32>, tensor<1x2x?x16xf32>
  %a = resid.attention %q_turned, %keys, %values past(%past) {causal} : tensor<1x4x?x16xf32>, tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>
  %a_empty = tensor.empty(%n) : tensor<1x?x4x16xf32>
  %a_joined = linalg.transpose ins(%a : tensor<1x4x?x16xf32>) outs(%a_empty : tensor<1x?x4x16xf32>) permutation = [0, 2, 1, 3]
  %a_rows = tensor.collapse_shape %a_joined [[0, 1], [2, 3]] : tensor<1x?x4x16xf32> into tensor<?x64xf32>
  %f = resid.linear %a_rows, %output : tensor<?x64xf32>, tensor<64x64xf32>
  %middle = resid.add %x, %f : tensor<?x64xf32>
  %g = resid.rms_norm %middle gamma(%norm2) {epsilon = 1.0e-5} : tensor<?x64xf32>, tensor<64xf32>
  %gated = resid.linear %g, %gate : tensor<?x64xf32>, tensor<160x64xf32>
  %raised = resid.linear %g, %up : tensor<?x64xf32>, tensor<160x64xf32>
  %inner = resid.activation swiglu %gated, %raised : tensor<?x160xf32>
  %lowered = resid.linear %inner, %down : tensor<?x160xf32>, tensor<64x160xf32>
  %y = resid.add %middle, %lowered : tensor<?x64xf32>
  return %y, %keys, %values : tensor<?x64xf32>, tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>
}

// The stream of some tokens, which come after %past others, to what is said of the next token at each of them.
func.func @step(%x: tensor<?x64xf32>, %past: i64, %cos: tensor<128x8xf32>, %sin: tensor<128x8xf32>,
    %key_cache0: tensor<1x2x128x16xf32>, %value_cache0: tensor<1x2x128x16xf32>, %key_cache1: tensor<1x2x128x16xf32>, %value_cache1: tensor<1x2x128x16xf32>,
    %layer0_norm1: tensor<64xf32> {resid.weight}, %layer0_query: tensor<64x64xf32> {resid.weight}, %layer0_key: tensor<32x64xf32> {resid.weight}, %layer0_value: tensor<32x64xf32> {resid.weight}, %layer0_output: tensor<64x64xf32> {resid.weight}, %layer0_norm2: tensor<64xf32> {resid.weight}, %layer0_gate: tensor<160x64xf32> {resid.weight}, %layer0_up: tensor<160x64xf32> {resid.weight}, %layer0_down: tensor<64x160xf32> {resid.weight},
    %layer1_norm1: tensor<64xf32> {resid.weight}, %layer1_query: tensor<64x64xf32> {resid.weight}, %layer1_key: tensor<32x64xf32> {resid.weight}, %layer1_value: tensor<32x64xf32> {resid.weight}, %layer1_output: tensor<64x64xf32> {resid.weight}, %layer1_norm2: tensor<64xf32> {resid.weight}, %layer1_gate: tensor<160x64xf32> {resid.weight}, %layer1_up: tensor<160x64xf32> {resid.weight}, %layer1_down: tensor<64x160xf32> {resid.weight},
    %final_norm: tensor<64xf32> {resid.weight}, %head: tensor<96x64xf32> {resid.weight})
    -> (tensor<?x96xf32>, tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>) {
  %x0, %keys0, %values0 = func.call @layer(%x, %past, %cos, %sin, %key_cache0, %value_cache0, %layer0_norm1, %layer0_query, %layer0_key, %layer0_value, %layer0_output, %layer0_norm2, %layer0_gate, %layer0_up, %layer0_down)
      : (tensor<?x64xf32>, i64, tensor<128x8xf32>, tensor<128x8xf32>, tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<160x64xf32>, tensor<160x64xf32>, tensor<64x160xf32>) -> (tensor<?x64xf32>, tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>)
  %x1, %keys1, %values1 = func.call @layer(%x0, %past, %cos, %sin, %key_cache1, %value_cache1, %layer1_norm1, %layer1_query, %layer1_key, %layer1_value, %layer1_output, %layer1_norm2, %layer1_gate, %layer1_up, %layer1_down)
      : (tensor<?x64xf32>, i64, tensor<128x8xf32>, tensor<128x8xf32>, tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<160x64xf32>, tensor<160x64xf32>, tensor<64x160xf32>) -> (tensor<?x64xf32>, tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>)
  %normed = resid.rms_norm %x1 gamma(%final_norm) {epsilon = 1.0e-5} : tensor<?x64xf32>, tensor<64xf32>
  %logits = resid.linear %normed, %head : tensor<?x64xf32>, tensor<96x64xf32>
  return %logits, %keys0, %values0, %keys1, %values1 : tensor<?x96xf32>, tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>, tensor<1x2x128x16xf32>
}
