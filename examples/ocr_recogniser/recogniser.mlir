// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two pre-norm Transformer blocks of the text recogniser in ../data/ocr: the norms, the residual additions, and the
// sub-layers between them in linalg. A line of text is a stream of tokens of width 120; how many, is known at run time.

!stream = tensor<?x120xf32>
!vector = tensor<120xf32>
!qkv = tensor<?x360xf32>
!qkv_w = tensor<120x360xf32>
!qkv_b = tensor<360xf32>
!proj_w = tensor<120x120xf32>
!heads = tensor<?x8x15xf32>
!scores = tensor<8x?x?xf32>
!hidden = tensor<?x240xf32>
!fc1_w = tensor<120x240xf32>
!fc1_b = tensor<240xf32>
!fc2_w = tensor<240x120xf32>

func.func @recogniser(
    %text: tensor<1x?x120xf32>,
    // Weights, by their names in weights/recogniser.safetensors.
    %block1_norm1_gamma: !vector {resid.weight}, %block1_norm1_beta: !vector {resid.weight},
    %block1_qkv_weight: !qkv_w {resid.weight}, %block1_qkv_bias: !qkv_b {resid.weight},
    %block1_proj_weight: !proj_w {resid.weight}, %block1_proj_bias: !vector {resid.weight},
    %block1_norm2_gamma: !vector {resid.weight}, %block1_norm2_beta: !vector {resid.weight},
    %block1_fc1_weight: !fc1_w {resid.weight}, %block1_fc1_bias: !fc1_b {resid.weight},
    %block1_fc2_weight: !fc2_w {resid.weight}, %block1_fc2_bias: !vector {resid.weight},
    %block2_norm1_gamma: !vector {resid.weight}, %block2_norm1_beta: !vector {resid.weight},
    %block2_qkv_weight: !qkv_w {resid.weight}, %block2_qkv_bias: !qkv_b {resid.weight},
    %block2_proj_weight: !proj_w {resid.weight}, %block2_proj_bias: !vector {resid.weight},
    %block2_norm2_gamma: !vector {resid.weight}, %block2_norm2_beta: !vector {resid.weight},
    %block2_fc1_weight: !fc1_w {resid.weight}, %block2_fc1_bias: !fc1_b {resid.weight},
    %block2_fc2_weight: !fc2_w {resid.weight}, %block2_fc2_bias: !vector {resid.weight},
    %final_norm_gamma: !vector {resid.weight}, %final_norm_beta: !vector {resid.weight}) -> tensor<1x?x120xf32> {
  %c1 = arith.constant 1 : index
  %tokens = tensor.dim %text, %c1 : tensor<1x?x120xf32>
  %x0 = tensor.collapse_shape %text [[0, 1], [2]] : tensor<1x?x120xf32> into !stream

  %a1 = resid.block pre %x0
      norm(layer gamma %block1_norm1_gamma : !vector beta %block1_norm1_beta : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attention(%h, %block1_qkv_weight, %block1_qkv_bias, %block1_proj_weight, %block1_proj_bias)
        : (!stream, !qkv_w, !qkv_b, !proj_w, !vector) -> !stream
    resid.yield %f : !stream
  }
  %x1 = resid.block pre %a1
      norm(layer gamma %block1_norm2_gamma : !vector beta %block1_norm2_beta : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @mlp(%h, %block1_fc1_weight, %block1_fc1_bias, %block1_fc2_weight, %block1_fc2_bias)
        : (!stream, !fc1_w, !fc1_b, !fc2_w, !vector) -> !stream
    resid.yield %f : !stream
  }

  %a2 = resid.block pre %x1
      norm(layer gamma %block2_norm1_gamma : !vector beta %block2_norm1_beta : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attention(%h, %block2_qkv_weight, %block2_qkv_bias, %block2_proj_weight, %block2_proj_bias)
        : (!stream, !qkv_w, !qkv_b, !proj_w, !vector) -> !stream
    resid.yield %f : !stream
  }
  %x2 = resid.block pre %a2
      norm(layer gamma %block2_norm2_gamma : !vector beta %block2_norm2_beta : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @mlp(%h, %block2_fc1_weight, %block2_fc1_bias, %block2_fc2_weight, %block2_fc2_bias)
        : (!stream, !fc1_w, !fc1_b, !fc2_w, !vector) -> !stream
    resid.yield %f : !stream
  }

  %y = resid.layer_norm %x2 gamma(%final_norm_gamma) beta(%final_norm_beta) {epsilon = 1.0e-6}
      : !stream, !vector, !vector
  %result = tensor.expand_shape %y [[0, 1], [2]] output_shape [1, %tokens, 120] : !stream into tensor<1x?x120xf32>
  return %result : tensor<1x?x120xf32>
}

func.func private @attention(%h: !stream, %qkv_weight: !qkv_w, %qkv_bias: !qkv_b, %proj_weight: !proj_w,
                             %proj_bias: !vector) -> !stream {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %h, %c0 : !stream
  %qkv_empty = tensor.empty(%tokens) : !qkv
  %qkv_start = linalg.fill ins(%zero : f32) outs(%qkv_empty : !qkv) -> !qkv
  %qkv_product = linalg.matmul ins(%h, %qkv_weight : !stream, !qkv_w) outs(%qkv_start : !qkv) -> !qkv
  %qkv = resid.add_bias %qkv_product, %qkv_bias : !qkv, !qkv_b
  %heads = call @attend(%qkv) : (!qkv) -> !stream
  %empty = tensor.empty(%tokens) : !stream
  %start = linalg.fill ins(%zero : f32) outs(%empty : !stream) -> !stream
  %product = linalg.matmul ins(%heads, %proj_weight : !stream, !proj_w) outs(%start : !stream) -> !stream
  %f = resid.add_bias %product, %proj_bias : !stream, !vector
  return %f : !stream
}

// Attention of 8 heads of width 15 over all tokens, from query, key and value side by side to the heads side by side.
func.func private @attend(%qkv: !qkv) -> !stream {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.25819888710975647 : f32
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %qkv, %c0 : !qkv
  %split = tensor.expand_shape %qkv [[0], [1, 2, 3]] output_shape [%tokens, 3, 8, 15] : !qkv into tensor<?x3x8x15xf32>
  %q = tensor.extract_slice %split[0, 0, 0, 0] [%tokens, 1, 8, 15] [1, 1, 1, 1] : tensor<?x3x8x15xf32> to !heads
  %k = tensor.extract_slice %split[0, 1, 0, 0] [%tokens, 1, 8, 15] [1, 1, 1, 1] : tensor<?x3x8x15xf32> to !heads
  %v = tensor.extract_slice %split[0, 2, 0, 0] [%tokens, 1, 8, 15] [1, 1, 1, 1] : tensor<?x3x8x15xf32> to !heads

  // The query times 1/sqrt(15), as the model has it.
  %scaled_empty = tensor.empty(%tokens) : !heads
  %scaled = linalg.map ins(%q : !heads) outs(%scaled_empty : !heads) (%element: f32, %init: f32) {
    %product = arith.mulf %element, %scale : f32
    linalg.yield %product : f32
  }

  // Of each head, query i with key j; then softmax over the keys.
  %scores_empty = tensor.empty(%tokens, %tokens) : !scores
  %scores_zero = linalg.fill ins(%zero : f32) outs(%scores_empty : !scores) -> !scores
  %scores = linalg.contract
      indexing_maps = [affine_map<(head, i, j, d) -> (i, head, d)>, affine_map<(head, i, j, d) -> (j, head, d)>,
                       affine_map<(head, i, j, d) -> (head, i, j)>]
      ins(%scaled, %k : !heads, !heads) outs(%scores_zero : !scores) -> !scores
  %weights = linalg.softmax dimension(2) ins(%scores : !scores) outs(%scores_empty : !scores) -> !scores

  %heads_zero = linalg.fill ins(%zero : f32) outs(%scaled_empty : !heads) -> !heads
  %heads = linalg.contract
      indexing_maps = [affine_map<(head, i, j, d) -> (head, i, j)>, affine_map<(head, i, j, d) -> (j, head, d)>,
                       affine_map<(head, i, j, d) -> (i, head, d)>]
      ins(%weights, %v : !scores, !heads) outs(%heads_zero : !heads) -> !heads
  %joined = tensor.collapse_shape %heads [[0], [1, 2]] : !heads into !stream
  return %joined : !stream
}

func.func private @mlp(%h: !stream, %fc1_weight: !fc1_w, %fc1_bias: !fc1_b, %fc2_weight: !fc2_w,
                       %fc2_bias: !vector) -> !stream {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %h, %c0 : !stream
  %hidden_empty = tensor.empty(%tokens) : !hidden
  %hidden_start = linalg.fill ins(%zero : f32) outs(%hidden_empty : !hidden) -> !hidden
  %hidden = linalg.matmul ins(%h, %fc1_weight : !stream, !fc1_w) outs(%hidden_start : !hidden) -> !hidden
  %z = resid.add_bias %hidden, %fc1_bias : !hidden, !fc1_b
  // SiLU: z/(1 + exp(-z))
  %silu = linalg.map ins(%z : !hidden) outs(%hidden_empty : !hidden) (%v: f32, %init: f32) {
    %one = arith.constant 1.0 : f32
    %negated = arith.negf %v : f32
    %exponential = math.exp %negated : f32
    %denominator = arith.addf %one, %exponential : f32
    %quotient = arith.divf %v, %denominator : f32
    linalg.yield %quotient : f32
  }
  %empty = tensor.empty(%tokens) : !stream
  %start = linalg.fill ins(%zero : f32) outs(%empty : !stream) -> !stream
  %product = linalg.matmul ins(%silu, %fc2_weight : !hidden, !fc2_w) outs(%start : !stream) -> !stream
  %f = resid.add_bias %product, %fc2_bias : !stream, !vector
  return %f : !stream
}
