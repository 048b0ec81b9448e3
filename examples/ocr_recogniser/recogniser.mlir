// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two pre-norm Transformer blocks of the text recogniser in ../data/ocr: the norms, the residual additions, and the
// sub-layers between them in linalg. A line of text is a stream of tokens of width 120; how many, is known at run time.

!stream = tensor<?x120xf32>
!vector = tensor<120xf32>
!qkv = tensor<?x360xf32>
!heads = tensor<?x8x15xf32>
!scores = tensor<8x?x?xf32>
!hidden = tensor<?x240xf32>

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
  %scaled = linalg.map ins(%q : !heads) outs(%scaled_empty : !heads)
    (%element: f32, %init: f32) {
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

func.func private @silu(%z: !hidden) -> !hidden {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %z, %c0 : !hidden
  %empty = tensor.empty(%tokens) : !hidden
  %y = linalg.map ins(%z : !hidden) outs(%empty : !hidden)
    (%element: f32, %init: f32) {
      %one = arith.constant 1.0 : f32
      %negated = arith.negf %element : f32
      %exponential = math.exp %negated : f32
      %denominator = arith.addf %one, %exponential : f32
      %quotient = arith.divf %element, %denominator : f32
      linalg.yield %quotient : f32
    }
  return %y : !hidden
}

// The attention, then the MLP, each a sub-layer that reads the norm of the stream and adds its result to the stream.
func.func private @transformer_block(
    %x: !stream,
    %norm1_gamma: !vector, %norm1_beta: !vector,
    %qkv_weight: tensor<120x360xf32>, %qkv_bias: tensor<360xf32>,
    %proj_weight: tensor<120x120xf32>, %proj_bias: !vector,
    %norm2_gamma: !vector, %norm2_beta: !vector,
    %fc1_weight: tensor<120x240xf32>, %fc1_bias: tensor<240xf32>,
    %fc2_weight: tensor<240x120xf32>, %fc2_bias: !vector) -> !stream {
  // What the products are added to.
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : !stream
  %empty120 = tensor.empty(%tokens) : !stream
  %zero120 = linalg.fill ins(%zero : f32) outs(%empty120 : !stream) -> !stream
  %empty240 = tensor.empty(%tokens) : !hidden
  %zero240 = linalg.fill ins(%zero : f32) outs(%empty240 : !hidden) -> !hidden
  %empty360 = tensor.empty(%tokens) : !qkv
  %zero360 = linalg.fill ins(%zero : f32) outs(%empty360 : !qkv) -> !qkv

  %attended = resid.block pre %x
      norm(layer gamma %norm1_gamma : !vector beta %norm1_beta : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %qkv_product = linalg.matmul ins(%h, %qkv_weight : !stream, tensor<120x360xf32>) outs(%zero360 : !qkv) -> !qkv
    %qkv = resid.add_bias %qkv_product, %qkv_bias : !qkv, tensor<360xf32>
    %heads = func.call @attend(%qkv) : (!qkv) -> !stream
    %proj = linalg.matmul ins(%heads, %proj_weight : !stream, tensor<120x120xf32>) outs(%zero120 : !stream) -> !stream
    %f = resid.add_bias %proj, %proj_bias : !stream, !vector
    resid.yield %f : !stream
  }
  %y = resid.block pre %attended
      norm(layer gamma %norm2_gamma : !vector beta %norm2_beta : !vector epsilon = 1.0e-5) : !stream {
  ^bb0(%h: !stream):
    %fc1 = linalg.matmul ins(%h, %fc1_weight : !stream, tensor<120x240xf32>) outs(%zero240 : !hidden) -> !hidden
    %z = resid.add_bias %fc1, %fc1_bias : !hidden, tensor<240xf32>
    %activated = func.call @silu(%z) : (!hidden) -> !hidden
    %fc2 = linalg.matmul ins(%activated, %fc2_weight : !hidden, tensor<240x120xf32>) outs(%zero120 : !stream) -> !stream
    %f = resid.add_bias %fc2, %fc2_bias : !stream, !vector
    resid.yield %f : !stream
  }
  return %y : !stream
}

func.func @recogniser(
    %text: tensor<1x?x120xf32>,
    %block1_norm1_gamma: !vector, %block1_norm1_beta: !vector,
    %block1_qkv_weight: tensor<120x360xf32>, %block1_qkv_bias: tensor<360xf32>,
    %block1_proj_weight: tensor<120x120xf32>, %block1_proj_bias: !vector,
    %block1_norm2_gamma: !vector, %block1_norm2_beta: !vector,
    %block1_fc1_weight: tensor<120x240xf32>, %block1_fc1_bias: tensor<240xf32>,
    %block1_fc2_weight: tensor<240x120xf32>, %block1_fc2_bias: !vector,
    %block2_norm1_gamma: !vector, %block2_norm1_beta: !vector,
    %block2_qkv_weight: tensor<120x360xf32>, %block2_qkv_bias: tensor<360xf32>,
    %block2_proj_weight: tensor<120x120xf32>, %block2_proj_bias: !vector,
    %block2_norm2_gamma: !vector, %block2_norm2_beta: !vector,
    %block2_fc1_weight: tensor<120x240xf32>, %block2_fc1_bias: tensor<240xf32>,
    %block2_fc2_weight: tensor<240x120xf32>, %block2_fc2_bias: !vector,
    %final_norm_gamma: !vector, %final_norm_beta: !vector) -> tensor<1x?x120xf32> {
  %c1 = arith.constant 1 : index
  %tokens = tensor.dim %text, %c1 : tensor<1x?x120xf32>
  %x0 = tensor.collapse_shape %text [[0, 1], [2]] : tensor<1x?x120xf32> into !stream
  %x1 = call @transformer_block(
      %x0, %block1_norm1_gamma, %block1_norm1_beta, %block1_qkv_weight, %block1_qkv_bias,
      %block1_proj_weight, %block1_proj_bias, %block1_norm2_gamma, %block1_norm2_beta,
      %block1_fc1_weight, %block1_fc1_bias, %block1_fc2_weight, %block1_fc2_bias)
      : (!stream, !vector, !vector, tensor<120x360xf32>, tensor<360xf32>,
         tensor<120x120xf32>, !vector, !vector, !vector,
         tensor<120x240xf32>, tensor<240xf32>, tensor<240x120xf32>, !vector) -> !stream
  %x2 = call @transformer_block(
      %x1, %block2_norm1_gamma, %block2_norm1_beta, %block2_qkv_weight, %block2_qkv_bias,
      %block2_proj_weight, %block2_proj_bias, %block2_norm2_gamma, %block2_norm2_beta,
      %block2_fc1_weight, %block2_fc1_bias, %block2_fc2_weight, %block2_fc2_bias)
      : (!stream, !vector, !vector, tensor<120x360xf32>, tensor<360xf32>,
         tensor<120x120xf32>, !vector, !vector, !vector,
         tensor<120x240xf32>, tensor<240xf32>, tensor<240x120xf32>, !vector) -> !stream
  %y = resid.layer_norm %x2 gamma(%final_norm_gamma) beta(%final_norm_beta) {epsilon = 1.0e-6}
      : !stream, !vector, !vector
  %result = tensor.expand_shape %y [[0, 1], [2]] output_shape [1, %tokens, 120] : !stream into tensor<1x?x120xf32>
  return %result : tensor<1x?x120xf32>
}
