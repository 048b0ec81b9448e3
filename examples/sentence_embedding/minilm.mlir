// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// all-MiniLM-L6-v2, from the ids of tokens to the embeddings of sentences: embeddings of words and places, an encoder of six
// post-norm layers in the shape of BERT, the mean over the tokens of each sentence, and length 1. How many sentences, and of
// how many tokens, is known at run time. `make run` compiles and runs it: README.md.

!ids = tensor<?x?xi64>
!mask = tensor<?x?xi1>
!stream = tensor<?x?x384xf32>
!vector = tensor<384xf32>
!matrix = tensor<384x384xf32>
!words = tensor<30522x384xf32>
!places = tensor<512x384xf32>
!kinds = tensor<2x384xf32>
!up = tensor<1536x384xf32>
!up_bias = tensor<1536xf32>
!down = tensor<384x1536xf32>
!hidden = tensor<?x?x1536xf32>
!split = tensor<?x?x12x32xf32>
!heads = tensor<?x12x?x32xf32>
!keys = tensor<?x1x1x?xi1>
!sentences = tensor<?x384xf32>
!row_of_one = tensor<?xf32>

// The mask is true for tokens, and false for the places after the end of a shorter sentence.
func.func @minilm(
    %ids: !ids, %mask: !mask,
    %words: !words {resid.weight = "embeddings.word_embeddings.weight"},
    %places: !places {resid.weight = "embeddings.position_embeddings.weight"},
    %kinds: !kinds {resid.weight = "embeddings.token_type_embeddings.weight"},
    %norm_gamma: !vector {resid.weight = "embeddings.LayerNorm.weight"},
    %norm_beta: !vector {resid.weight = "embeddings.LayerNorm.bias"},
    %layer0_query_weight: !matrix {resid.weight = "encoder.layer.0.attention.self.query.weight"},
    %layer0_query_bias: !vector {resid.weight = "encoder.layer.0.attention.self.query.bias"},
    %layer0_key_weight: !matrix {resid.weight = "encoder.layer.0.attention.self.key.weight"},
    %layer0_key_bias: !vector {resid.weight = "encoder.layer.0.attention.self.key.bias"},
    %layer0_value_weight: !matrix {resid.weight = "encoder.layer.0.attention.self.value.weight"},
    %layer0_value_bias: !vector {resid.weight = "encoder.layer.0.attention.self.value.bias"},
    %layer0_output_weight: !matrix {resid.weight = "encoder.layer.0.attention.output.dense.weight"},
    %layer0_output_bias: !vector {resid.weight = "encoder.layer.0.attention.output.dense.bias"},
    %layer0_norm1_gamma: !vector {resid.weight = "encoder.layer.0.attention.output.LayerNorm.weight"},
    %layer0_norm1_beta: !vector {resid.weight = "encoder.layer.0.attention.output.LayerNorm.bias"},
    %layer0_up_weight: !up {resid.weight = "encoder.layer.0.intermediate.dense.weight"},
    %layer0_up_bias: !up_bias {resid.weight = "encoder.layer.0.intermediate.dense.bias"},
    %layer0_down_weight: !down {resid.weight = "encoder.layer.0.output.dense.weight"},
    %layer0_down_bias: !vector {resid.weight = "encoder.layer.0.output.dense.bias"},
    %layer0_norm2_gamma: !vector {resid.weight = "encoder.layer.0.output.LayerNorm.weight"},
    %layer0_norm2_beta: !vector {resid.weight = "encoder.layer.0.output.LayerNorm.bias"},
    %layer1_query_weight: !matrix {resid.weight = "encoder.layer.1.attention.self.query.weight"},
    %layer1_query_bias: !vector {resid.weight = "encoder.layer.1.attention.self.query.bias"},
    %layer1_key_weight: !matrix {resid.weight = "encoder.layer.1.attention.self.key.weight"},
    %layer1_key_bias: !vector {resid.weight = "encoder.layer.1.attention.self.key.bias"},
    %layer1_value_weight: !matrix {resid.weight = "encoder.layer.1.attention.self.value.weight"},
    %layer1_value_bias: !vector {resid.weight = "encoder.layer.1.attention.self.value.bias"},
    %layer1_output_weight: !matrix {resid.weight = "encoder.layer.1.attention.output.dense.weight"},
    %layer1_output_bias: !vector {resid.weight = "encoder.layer.1.attention.output.dense.bias"},
    %layer1_norm1_gamma: !vector {resid.weight = "encoder.layer.1.attention.output.LayerNorm.weight"},
    %layer1_norm1_beta: !vector {resid.weight = "encoder.layer.1.attention.output.LayerNorm.bias"},
    %layer1_up_weight: !up {resid.weight = "encoder.layer.1.intermediate.dense.weight"},
    %layer1_up_bias: !up_bias {resid.weight = "encoder.layer.1.intermediate.dense.bias"},
    %layer1_down_weight: !down {resid.weight = "encoder.layer.1.output.dense.weight"},
    %layer1_down_bias: !vector {resid.weight = "encoder.layer.1.output.dense.bias"},
    %layer1_norm2_gamma: !vector {resid.weight = "encoder.layer.1.output.LayerNorm.weight"},
    %layer1_norm2_beta: !vector {resid.weight = "encoder.layer.1.output.LayerNorm.bias"},
    %layer2_query_weight: !matrix {resid.weight = "encoder.layer.2.attention.self.query.weight"},
    %layer2_query_bias: !vector {resid.weight = "encoder.layer.2.attention.self.query.bias"},
    %layer2_key_weight: !matrix {resid.weight = "encoder.layer.2.attention.self.key.weight"},
    %layer2_key_bias: !vector {resid.weight = "encoder.layer.2.attention.self.key.bias"},
    %layer2_value_weight: !matrix {resid.weight = "encoder.layer.2.attention.self.value.weight"},
    %layer2_value_bias: !vector {resid.weight = "encoder.layer.2.attention.self.value.bias"},
    %layer2_output_weight: !matrix {resid.weight = "encoder.layer.2.attention.output.dense.weight"},
    %layer2_output_bias: !vector {resid.weight = "encoder.layer.2.attention.output.dense.bias"},
    %layer2_norm1_gamma: !vector {resid.weight = "encoder.layer.2.attention.output.LayerNorm.weight"},
    %layer2_norm1_beta: !vector {resid.weight = "encoder.layer.2.attention.output.LayerNorm.bias"},
    %layer2_up_weight: !up {resid.weight = "encoder.layer.2.intermediate.dense.weight"},
    %layer2_up_bias: !up_bias {resid.weight = "encoder.layer.2.intermediate.dense.bias"},
    %layer2_down_weight: !down {resid.weight = "encoder.layer.2.output.dense.weight"},
    %layer2_down_bias: !vector {resid.weight = "encoder.layer.2.output.dense.bias"},
    %layer2_norm2_gamma: !vector {resid.weight = "encoder.layer.2.output.LayerNorm.weight"},
    %layer2_norm2_beta: !vector {resid.weight = "encoder.layer.2.output.LayerNorm.bias"},
    %layer3_query_weight: !matrix {resid.weight = "encoder.layer.3.attention.self.query.weight"},
    %layer3_query_bias: !vector {resid.weight = "encoder.layer.3.attention.self.query.bias"},
    %layer3_key_weight: !matrix {resid.weight = "encoder.layer.3.attention.self.key.weight"},
    %layer3_key_bias: !vector {resid.weight = "encoder.layer.3.attention.self.key.bias"},
    %layer3_value_weight: !matrix {resid.weight = "encoder.layer.3.attention.self.value.weight"},
    %layer3_value_bias: !vector {resid.weight = "encoder.layer.3.attention.self.value.bias"},
    %layer3_output_weight: !matrix {resid.weight = "encoder.layer.3.attention.output.dense.weight"},
    %layer3_output_bias: !vector {resid.weight = "encoder.layer.3.attention.output.dense.bias"},
    %layer3_norm1_gamma: !vector {resid.weight = "encoder.layer.3.attention.output.LayerNorm.weight"},
    %layer3_norm1_beta: !vector {resid.weight = "encoder.layer.3.attention.output.LayerNorm.bias"},
    %layer3_up_weight: !up {resid.weight = "encoder.layer.3.intermediate.dense.weight"},
    %layer3_up_bias: !up_bias {resid.weight = "encoder.layer.3.intermediate.dense.bias"},
    %layer3_down_weight: !down {resid.weight = "encoder.layer.3.output.dense.weight"},
    %layer3_down_bias: !vector {resid.weight = "encoder.layer.3.output.dense.bias"},
    %layer3_norm2_gamma: !vector {resid.weight = "encoder.layer.3.output.LayerNorm.weight"},
    %layer3_norm2_beta: !vector {resid.weight = "encoder.layer.3.output.LayerNorm.bias"},
    %layer4_query_weight: !matrix {resid.weight = "encoder.layer.4.attention.self.query.weight"},
    %layer4_query_bias: !vector {resid.weight = "encoder.layer.4.attention.self.query.bias"},
    %layer4_key_weight: !matrix {resid.weight = "encoder.layer.4.attention.self.key.weight"},
    %layer4_key_bias: !vector {resid.weight = "encoder.layer.4.attention.self.key.bias"},
    %layer4_value_weight: !matrix {resid.weight = "encoder.layer.4.attention.self.value.weight"},
    %layer4_value_bias: !vector {resid.weight = "encoder.layer.4.attention.self.value.bias"},
    %layer4_output_weight: !matrix {resid.weight = "encoder.layer.4.attention.output.dense.weight"},
    %layer4_output_bias: !vector {resid.weight = "encoder.layer.4.attention.output.dense.bias"},
    %layer4_norm1_gamma: !vector {resid.weight = "encoder.layer.4.attention.output.LayerNorm.weight"},
    %layer4_norm1_beta: !vector {resid.weight = "encoder.layer.4.attention.output.LayerNorm.bias"},
    %layer4_up_weight: !up {resid.weight = "encoder.layer.4.intermediate.dense.weight"},
    %layer4_up_bias: !up_bias {resid.weight = "encoder.layer.4.intermediate.dense.bias"},
    %layer4_down_weight: !down {resid.weight = "encoder.layer.4.output.dense.weight"},
    %layer4_down_bias: !vector {resid.weight = "encoder.layer.4.output.dense.bias"},
    %layer4_norm2_gamma: !vector {resid.weight = "encoder.layer.4.output.LayerNorm.weight"},
    %layer4_norm2_beta: !vector {resid.weight = "encoder.layer.4.output.LayerNorm.bias"},
    %layer5_query_weight: !matrix {resid.weight = "encoder.layer.5.attention.self.query.weight"},
    %layer5_query_bias: !vector {resid.weight = "encoder.layer.5.attention.self.query.bias"},
    %layer5_key_weight: !matrix {resid.weight = "encoder.layer.5.attention.self.key.weight"},
    %layer5_key_bias: !vector {resid.weight = "encoder.layer.5.attention.self.key.bias"},
    %layer5_value_weight: !matrix {resid.weight = "encoder.layer.5.attention.self.value.weight"},
    %layer5_value_bias: !vector {resid.weight = "encoder.layer.5.attention.self.value.bias"},
    %layer5_output_weight: !matrix {resid.weight = "encoder.layer.5.attention.output.dense.weight"},
    %layer5_output_bias: !vector {resid.weight = "encoder.layer.5.attention.output.dense.bias"},
    %layer5_norm1_gamma: !vector {resid.weight = "encoder.layer.5.attention.output.LayerNorm.weight"},
    %layer5_norm1_beta: !vector {resid.weight = "encoder.layer.5.attention.output.LayerNorm.bias"},
    %layer5_up_weight: !up {resid.weight = "encoder.layer.5.intermediate.dense.weight"},
    %layer5_up_bias: !up_bias {resid.weight = "encoder.layer.5.intermediate.dense.bias"},
    %layer5_down_weight: !down {resid.weight = "encoder.layer.5.output.dense.weight"},
    %layer5_down_bias: !vector {resid.weight = "encoder.layer.5.output.dense.bias"},
    %layer5_norm2_gamma: !vector {resid.weight = "encoder.layer.5.output.LayerNorm.weight"},
    %layer5_norm2_beta: !vector {resid.weight = "encoder.layer.5.output.LayerNorm.bias"}) -> !sentences {
  %keys = call @expand_mask(%mask) : (!mask) -> !keys
  %embedded = call @embed(%ids, %words, %places, %kinds) : (!ids, !words, !places, !kinds) -> !stream
  %x0 = resid.layer_norm %embedded gamma(%norm_gamma) beta(%norm_beta) {epsilon = 1.0e-12} : !stream, !vector, !vector

  %a0 = resid.block post %x0 norm(layer gamma %layer0_norm1_gamma : !vector beta %layer0_norm1_beta : !vector epsilon = 1.0e-12) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attention(%h, %keys, %layer0_query_weight, %layer0_query_bias, %layer0_key_weight, %layer0_key_bias, %layer0_value_weight, %layer0_value_bias, %layer0_output_weight, %layer0_output_bias)
        : (!stream, !keys, !matrix, !vector, !matrix, !vector, !matrix, !vector, !matrix, !vector) -> !stream
    resid.yield %f : !stream
  }
  %x1 = resid.block post %a0 norm(layer gamma %layer0_norm2_gamma : !vector beta %layer0_norm2_beta : !vector epsilon = 1.0e-12) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @feed_forward(%h, %layer0_up_weight, %layer0_up_bias, %layer0_down_weight, %layer0_down_bias) : (!stream, !up, !up_bias, !down, !vector) -> !stream
    resid.yield %f : !stream
  }

  %a1 = resid.block post %x1 norm(layer gamma %layer1_norm1_gamma : !vector beta %layer1_norm1_beta : !vector epsilon = 1.0e-12) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attention(%h, %keys, %layer1_query_weight, %layer1_query_bias, %layer1_key_weight, %layer1_key_bias, %layer1_value_weight, %layer1_value_bias, %layer1_output_weight, %layer1_output_bias)
        : (!stream, !keys, !matrix, !vector, !matrix, !vector, !matrix, !vector, !matrix, !vector) -> !stream
    resid.yield %f : !stream
  }
  %x2 = resid.block post %a1 norm(layer gamma %layer1_norm2_gamma : !vector beta %layer1_norm2_beta : !vector epsilon = 1.0e-12) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @feed_forward(%h, %layer1_up_weight, %layer1_up_bias, %layer1_down_weight, %layer1_down_bias) : (!stream, !up, !up_bias, !down, !vector) -> !stream
    resid.yield %f : !stream
  }

  %a2 = resid.block post %x2 norm(layer gamma %layer2_norm1_gamma : !vector beta %layer2_norm1_beta : !vector epsilon = 1.0e-12) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attention(%h, %keys, %layer2_query_weight, %layer2_query_bias, %layer2_key_weight, %layer2_key_bias, %layer2_value_weight, %layer2_value_bias, %layer2_output_weight, %layer2_output_bias)
        : (!stream, !keys, !matrix, !vector, !matrix, !vector, !matrix, !vector, !matrix, !vector) -> !stream
    resid.yield %f : !stream
  }
  %x3 = resid.block post %a2 norm(layer gamma %layer2_norm2_gamma : !vector beta %layer2_norm2_beta : !vector epsilon = 1.0e-12) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @feed_forward(%h, %layer2_up_weight, %layer2_up_bias, %layer2_down_weight, %layer2_down_bias) : (!stream, !up, !up_bias, !down, !vector) -> !stream
    resid.yield %f : !stream
  }

  %a3 = resid.block post %x3 norm(layer gamma %layer3_norm1_gamma : !vector beta %layer3_norm1_beta : !vector epsilon = 1.0e-12) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attention(%h, %keys, %layer3_query_weight, %layer3_query_bias, %layer3_key_weight, %layer3_key_bias, %layer3_value_weight, %layer3_value_bias, %layer3_output_weight, %layer3_output_bias)
        : (!stream, !keys, !matrix, !vector, !matrix, !vector, !matrix, !vector, !matrix, !vector) -> !stream
    resid.yield %f : !stream
  }
  %x4 = resid.block post %a3 norm(layer gamma %layer3_norm2_gamma : !vector beta %layer3_norm2_beta : !vector epsilon = 1.0e-12) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @feed_forward(%h, %layer3_up_weight, %layer3_up_bias, %layer3_down_weight, %layer3_down_bias) : (!stream, !up, !up_bias, !down, !vector) -> !stream
    resid.yield %f : !stream
  }

  %a4 = resid.block post %x4 norm(layer gamma %layer4_norm1_gamma : !vector beta %layer4_norm1_beta : !vector epsilon = 1.0e-12) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attention(%h, %keys, %layer4_query_weight, %layer4_query_bias, %layer4_key_weight, %layer4_key_bias, %layer4_value_weight, %layer4_value_bias, %layer4_output_weight, %layer4_output_bias)
        : (!stream, !keys, !matrix, !vector, !matrix, !vector, !matrix, !vector, !matrix, !vector) -> !stream
    resid.yield %f : !stream
  }
  %x5 = resid.block post %a4 norm(layer gamma %layer4_norm2_gamma : !vector beta %layer4_norm2_beta : !vector epsilon = 1.0e-12) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @feed_forward(%h, %layer4_up_weight, %layer4_up_bias, %layer4_down_weight, %layer4_down_bias) : (!stream, !up, !up_bias, !down, !vector) -> !stream
    resid.yield %f : !stream
  }

  %a5 = resid.block post %x5 norm(layer gamma %layer5_norm1_gamma : !vector beta %layer5_norm1_beta : !vector epsilon = 1.0e-12) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attention(%h, %keys, %layer5_query_weight, %layer5_query_bias, %layer5_key_weight, %layer5_key_bias, %layer5_value_weight, %layer5_value_bias, %layer5_output_weight, %layer5_output_bias)
        : (!stream, !keys, !matrix, !vector, !matrix, !vector, !matrix, !vector, !matrix, !vector) -> !stream
    resid.yield %f : !stream
  }
  %x6 = resid.block post %a5 norm(layer gamma %layer5_norm2_gamma : !vector beta %layer5_norm2_beta : !vector epsilon = 1.0e-12) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @feed_forward(%h, %layer5_up_weight, %layer5_up_bias, %layer5_down_weight, %layer5_down_bias) : (!stream, !up, !up_bias, !down, !vector) -> !stream
    resid.yield %f : !stream
  }

  %means = call @pool(%x6, %mask) : (!stream, !mask) -> !sentences
  %y = call @normalize(%means) : (!sentences) -> !sentences
  return %y : !sentences
}

// The row of each word, of its place, and of the first kind of token: all are of one sentence.
func.func private @embed(%ids: !ids, %words: !words, %places: !places, %kinds: !kinds) -> !stream {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sentences = tensor.dim %ids, %c0 : !ids
  %tokens = tensor.dim %ids, %c1 : !ids
  %most = arith.constant 512 : index
  %fit = arith.cmpi ule, %tokens, %most : index
  cf.assert %fit, "expected a place for each token"
  %place = tensor.extract_slice %places[0, 0] [%tokens, 384] [1, 1] : !places to !sentences
  %kind = tensor.extract_slice %kinds[0, 0] [1, 384] [1, 1] : !kinds to !vector
  %empty = tensor.empty(%sentences, %tokens) : !stream
  %x = linalg.generic {
      indexing_maps = [affine_map<(b, t, c) -> (b, t)>, affine_map<(b, t, c) -> (t, c)>, affine_map<(b, t, c) -> (c)>, affine_map<(b, t, c) -> (b, t, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%ids, %place, %kind : !ids, !sentences, !vector) outs(%empty : !stream) {
  ^bb0(%id: i64, %at: f32, %of: f32, %init: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 2 : index
    %word = tensor.extract %words[%row, %column] : !words
    %first = arith.addf %word, %of : f32
    %all = arith.addf %first, %at : f32
    linalg.yield %all : f32
  } -> !stream
  return %x : !stream
}

// The same keys for every head and query.
func.func private @expand_mask(%mask: !mask) -> !keys {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sentences = tensor.dim %mask, %c0 : !mask
  %tokens = tensor.dim %mask, %c1 : !mask
  %keys = tensor.expand_shape %mask [[0, 1, 2], [3]] output_shape [%sentences, 1, 1, %tokens] : !mask into !keys
  return %keys : !keys
}

func.func private @attention(
    %x: !stream, %keys: !keys, %query_weight: !matrix, %query_bias: !vector, %key_weight: !matrix, %key_bias: !vector,
    %value_weight: !matrix, %value_bias: !vector, %output_weight: !matrix, %output_bias: !vector) -> !stream {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sentences = tensor.dim %x, %c0 : !stream
  %tokens = tensor.dim %x, %c1 : !stream
  %q = call @split(%x, %query_weight, %query_bias) : (!stream, !matrix, !vector) -> !heads
  %k = call @split(%x, %key_weight, %key_bias) : (!stream, !matrix, !vector) -> !heads
  %v = call @split(%x, %value_weight, %value_bias) : (!stream, !matrix, !vector) -> !heads
  %context = resid.attention %q, %k, %v mask(%keys) : !heads, !heads, !heads, !keys
  %empty = tensor.empty(%sentences, %tokens) : !split
  %joined = linalg.transpose ins(%context : !heads) outs(%empty : !split) permutation = [0, 2, 1, 3]
  %rows = tensor.collapse_shape %joined [[0], [1], [2, 3]] : !split into !stream
  %f = resid.linear %rows, %output_weight bias(%output_bias) : !stream, !matrix, !vector
  return %f : !stream
}

// A linear layer whose result is taken apart into heads.
func.func private @split(%x: !stream, %weight: !matrix, %bias: !vector) -> !heads {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sentences = tensor.dim %x, %c0 : !stream
  %tokens = tensor.dim %x, %c1 : !stream
  %rows = resid.linear %x, %weight bias(%bias) : !stream, !matrix, !vector
  %split = tensor.expand_shape %rows [[0], [1], [2, 3]] output_shape [%sentences, %tokens, 12, 32] : !stream into !split
  %empty = tensor.empty(%sentences, %tokens) : !heads
  %heads = linalg.transpose ins(%split : !split) outs(%empty : !heads) permutation = [0, 2, 1, 3]
  return %heads : !heads
}

func.func private @feed_forward(%x: !stream, %up_weight: !up, %up_bias: !up_bias, %down_weight: !down, %down_bias: !vector) -> !stream {
  %raised = resid.linear %x, %up_weight bias(%up_bias) : !stream, !up, !up_bias
  %inner = resid.activation gelu %raised : !hidden
  %f = resid.linear %inner, %down_weight bias(%down_bias) : !hidden, !down, !vector
  return %f : !stream
}

// The mean over the tokens of each sentence.
func.func private @pool(%x: !stream, %mask: !mask) -> !sentences {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sentences = tensor.dim %x, %c0 : !stream
  %tokens = tensor.dim %x, %c1 : !stream
  %ones_empty = tensor.empty(%sentences, %tokens) : tensor<?x?xf32>
  %ones = linalg.map ins(%mask : !mask) outs(%ones_empty : tensor<?x?xf32>) (%present: i1, %init: f32) {
    %number = arith.uitofp %present : i1 to f32
    linalg.yield %number : f32
  }
  %counts_empty = tensor.empty(%sentences) : !row_of_one
  %counts_start = linalg.fill ins(%zero : f32) outs(%counts_empty : !row_of_one) -> !row_of_one
  %counts = linalg.reduce { arith.addf } ins(%ones : tensor<?x?xf32>) outs(%counts_start : !row_of_one) dimensions = [1]
  %sums_empty = tensor.empty(%sentences) : !sentences
  %sums_start = linalg.fill ins(%zero : f32) outs(%sums_empty : !sentences) -> !sentences
  %sums = linalg.contract
      indexing_maps = [affine_map<(b, c, t) -> (b, t)>, affine_map<(b, c, t) -> (b, t, c)>, affine_map<(b, c, t) -> (b, c)>]
      ins(%ones, %x : tensor<?x?xf32>, !stream) outs(%sums_start : !sentences) -> !sentences
  %means = linalg.generic {
      indexing_maps = [affine_map<(b, c) -> (b, c)>, affine_map<(b, c) -> (b)>, affine_map<(b, c) -> (b, c)>],
      iterator_types = ["parallel", "parallel"]} ins(%sums, %counts : !sentences, !row_of_one) outs(%sums_empty : !sentences) {
  ^bb0(%sum: f32, %count: f32, %init: f32):
    %mean = arith.divf %sum, %count : f32
    linalg.yield %mean : f32
  } -> !sentences
  return %means : !sentences
}

// Each row over its length, which counts as 1e-12 where it is less.
func.func private @normalize(%x: !sentences) -> !sentences {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 1.0e-12 : f32
  %c0 = arith.constant 0 : index
  %sentences = tensor.dim %x, %c0 : !sentences
  %start_empty = tensor.empty(%sentences) : !row_of_one
  %start = linalg.fill ins(%zero : f32) outs(%start_empty : !row_of_one) -> !row_of_one
  %squares = linalg.generic {
      indexing_maps = [affine_map<(b, c) -> (b, c)>, affine_map<(b, c) -> (b)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : !sentences) outs(%start : !row_of_one) {
  ^bb0(%v: f32, %sum: f32):
    %square = arith.mulf %v, %v : f32
    %more = arith.addf %sum, %square : f32
    linalg.yield %more : f32
  } -> !row_of_one
  %empty = tensor.empty(%sentences) : !sentences
  %y = linalg.generic {
      indexing_maps = [affine_map<(b, c) -> (b, c)>, affine_map<(b, c) -> (b)>, affine_map<(b, c) -> (b, c)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %squares : !sentences, !row_of_one) outs(%empty : !sentences) {
  ^bb0(%v: f32, %sum: f32, %init: f32):
    %root = math.sqrt %sum : f32
    %length = arith.maximumf %root, %least : f32
    %quotient = arith.divf %v, %length : f32
    linalg.yield %quotient : f32
  } -> !sentences
  return %y : !sentences
}
