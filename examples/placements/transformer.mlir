// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The original Transformer, small: an encoder of six layers, each attention and MLP, so twelve sub-layers on a stream,
// and a layer of its decoder. All post-norm; the other placements of the norms are made from this file; see README.md.

// Width 32, 4 heads of 8, MLP 32 -> 64 -> 32. The weights of all attentions (MLPs) of a function stand one after the
// other; qkv holds query, key and value, and the factor 1/sqrt(8) of the scores is in the query's weights.
!stream = tensor<?x32xf32>
!vector = tensor<32xf32>
!qkv = tensor<?x3x32x4x8xf32>
!out = tensor<?x4x8x32xf32>
!fc1 = tensor<?x32x64xf32>
!fc2 = tensor<?x64x32xf32>
!heads = tensor<?x4x8xf32>
!scores = tensor<4x?x?xf32>
!hidden = tensor<?x64xf32>

func.func @encoder(
    %x: !stream, %qkv: !qkv, %out: !out, %fc1: !fc1, %fc2: !fc2,
    %gamma0: !vector, %beta0: !vector, %gamma1: !vector, %beta1: !vector, %gamma2: !vector, %beta2: !vector,
    %gamma3: !vector, %beta3: !vector, %gamma4: !vector, %beta4: !vector, %gamma5: !vector, %beta5: !vector,
    %gamma6: !vector, %beta6: !vector, %gamma7: !vector, %beta7: !vector, %gamma8: !vector, %beta8: !vector,
    %gamma9: !vector, %beta9: !vector, %gamma10: !vector, %beta10: !vector, %gamma11: !vector, %beta11: !vector,
    %seed: i64, %step: i64) -> !stream {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %tokens = tensor.dim %x, %c0 : !stream
  %all = call @no_mask(%tokens, %tokens) : (index, index) -> !scores

  %x1 = resid.block post %x norm(layer gamma %gamma0 : !vector beta %beta0 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 0, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attend(%h, %h, %all, %c0, %qkv, %out) : (!stream, !stream, !scores, index, !qkv, !out) -> !stream
    resid.yield %f : !stream
  }
  %x2 = resid.block post %x1 norm(layer gamma %gamma1 : !vector beta %beta1 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 1, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @mlp(%h, %c0, %fc1, %fc2) : (!stream, index, !fc1, !fc2) -> !stream
    resid.yield %f : !stream
  }

  %x3 = resid.block post %x2 norm(layer gamma %gamma2 : !vector beta %beta2 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 2, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attend(%h, %h, %all, %c1, %qkv, %out) : (!stream, !stream, !scores, index, !qkv, !out) -> !stream
    resid.yield %f : !stream
  }
  %x4 = resid.block post %x3 norm(layer gamma %gamma3 : !vector beta %beta3 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 3, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @mlp(%h, %c1, %fc1, %fc2) : (!stream, index, !fc1, !fc2) -> !stream
    resid.yield %f : !stream
  }

  %x5 = resid.block post %x4 norm(layer gamma %gamma4 : !vector beta %beta4 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 4, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attend(%h, %h, %all, %c2, %qkv, %out) : (!stream, !stream, !scores, index, !qkv, !out) -> !stream
    resid.yield %f : !stream
  }
  %x6 = resid.block post %x5 norm(layer gamma %gamma5 : !vector beta %beta5 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 5, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @mlp(%h, %c2, %fc1, %fc2) : (!stream, index, !fc1, !fc2) -> !stream
    resid.yield %f : !stream
  }

  %x7 = resid.block post %x6 norm(layer gamma %gamma6 : !vector beta %beta6 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 6, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attend(%h, %h, %all, %c3, %qkv, %out) : (!stream, !stream, !scores, index, !qkv, !out) -> !stream
    resid.yield %f : !stream
  }
  %x8 = resid.block post %x7 norm(layer gamma %gamma7 : !vector beta %beta7 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 7, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @mlp(%h, %c3, %fc1, %fc2) : (!stream, index, !fc1, !fc2) -> !stream
    resid.yield %f : !stream
  }

  %x9 = resid.block post %x8 norm(layer gamma %gamma8 : !vector beta %beta8 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 8, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attend(%h, %h, %all, %c4, %qkv, %out) : (!stream, !stream, !scores, index, !qkv, !out) -> !stream
    resid.yield %f : !stream
  }
  %x10 = resid.block post %x9 norm(layer gamma %gamma9 : !vector beta %beta9 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 9, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @mlp(%h, %c4, %fc1, %fc2) : (!stream, index, !fc1, !fc2) -> !stream
    resid.yield %f : !stream
  }

  %x11 = resid.block post %x10 norm(layer gamma %gamma10 : !vector beta %beta10 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 10, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attend(%h, %h, %all, %c5, %qkv, %out) : (!stream, !stream, !scores, index, !qkv, !out) -> !stream
    resid.yield %f : !stream
  }
  %x12 = resid.block post %x11 norm(layer gamma %gamma11 : !vector beta %beta11 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 11, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @mlp(%h, %c5, %fc1, %fc2) : (!stream, index, !fc1, !fc2) -> !stream
    resid.yield %f : !stream
  }
  return %x12 : !stream
}

// The branch of the cross-attention captures %memory, the encoder's result.
func.func @decoder_layer(
    %x: !stream, %memory: !stream, %qkv: !qkv, %out: !out, %fc1: !fc1, %fc2: !fc2,
    %gamma0: !vector, %beta0: !vector, %gamma1: !vector, %beta1: !vector, %gamma2: !vector, %beta2: !vector,
    %seed: i64, %step: i64) -> !stream {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tokens = tensor.dim %x, %c0 : !stream
  %memory_tokens = tensor.dim %memory, %c0 : !stream
  %causal = call @causal_mask(%tokens) : (index) -> !scores
  %all = call @no_mask(%tokens, %memory_tokens) : (index, index) -> !scores

  %x1 = resid.block post %x norm(layer gamma %gamma0 : !vector beta %beta0 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 0, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attend(%h, %h, %causal, %c0, %qkv, %out) : (!stream, !stream, !scores, index, !qkv, !out) -> !stream
    resid.yield %f : !stream
  }
  %x2 = resid.block post %x1 norm(layer gamma %gamma1 : !vector beta %beta1 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 1, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attend(%h, %memory, %all, %c1, %qkv, %out)
        : (!stream, !stream, !scores, index, !qkv, !out) -> !stream
    resid.yield %f : !stream
  }
  %x3 = resid.block post %x2 norm(layer gamma %gamma2 : !vector beta %beta2 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 2, seed %seed, step %step) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @mlp(%h, %c0, %fc1, %fc2) : (!stream, index, !fc1, !fc2) -> !stream
    resid.yield %f : !stream
  }
  return %x3 : !stream
}

// The branches, in linalg.

#to_heads = [affine_map<(t, head, d, c) -> (t, c)>, affine_map<(t, head, d, c) -> (c, head, d)>,
             affine_map<(t, head, d, c) -> (t, head, d)>]
#to_scores = [affine_map<(head, q, k, d) -> (q, head, d)>, affine_map<(head, q, k, d) -> (k, head, d)>,
              affine_map<(head, q, k, d) -> (head, q, k)>]
#to_means = [affine_map<(head, q, k, d) -> (head, q, k)>, affine_map<(head, q, k, d) -> (k, head, d)>,
             affine_map<(head, q, k, d) -> (q, head, d)>]
#to_stream = [affine_map<(t, c, head, d) -> (t, head, d)>, affine_map<(t, c, head, d) -> (head, d, c)>,
              affine_map<(t, c, head, d) -> (t, c)>]

// Queries (part 0), keys (1) or values (2) of the i-th attention.
func.func private @project(%x: !stream, %i: index, %part: index, %qkv: !qkv) -> !heads {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : !stream
  %w = tensor.extract_slice %qkv[%i, %part, 0, 0, 0] [1, 1, 32, 4, 8] [1, 1, 1, 1, 1] : !qkv to tensor<32x4x8xf32>
  %empty = tensor.empty(%tokens) : !heads
  %start = linalg.fill ins(%zero : f32) outs(%empty : !heads) -> !heads
  %y = linalg.contract indexing_maps = #to_heads
      ins(%x, %w : !stream, tensor<32x4x8xf32>) outs(%start : !heads) -> !heads
  return %y : !heads
}

// Tokens of %x attend to tokens of %memory. The scores are added to %mask: 0, or -inf where a token must not look.
func.func private @attend(%x: !stream, %memory: !stream, %mask: !scores, %i: index, %qkv: !qkv, %out: !out)
    -> !stream {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %tokens = tensor.dim %x, %c0 : !stream
  %q = call @project(%x, %i, %c0, %qkv) : (!stream, index, index, !qkv) -> !heads
  %k = call @project(%memory, %i, %c1, %qkv) : (!stream, index, index, !qkv) -> !heads
  %v = call @project(%memory, %i, %c2, %qkv) : (!stream, index, index, !qkv) -> !heads
  %scores = linalg.contract indexing_maps = #to_scores ins(%q, %k : !heads, !heads) outs(%mask : !scores) -> !scores
  %shares = linalg.softmax dimension(2) ins(%scores : !scores) outs(%mask : !scores) -> !scores
  %heads_empty = tensor.empty(%tokens) : !heads
  %heads_start = linalg.fill ins(%zero : f32) outs(%heads_empty : !heads) -> !heads
  %means = linalg.contract indexing_maps = #to_means
      ins(%shares, %v : !scores, !heads) outs(%heads_start : !heads) -> !heads
  %w = tensor.extract_slice %out[%i, 0, 0, 0] [1, 4, 8, 32] [1, 1, 1, 1] : !out to tensor<4x8x32xf32>
  %empty = tensor.empty(%tokens) : !stream
  %start = linalg.fill ins(%zero : f32) outs(%empty : !stream) -> !stream
  %f = linalg.contract indexing_maps = #to_stream
      ins(%means, %w : !heads, tensor<4x8x32xf32>) outs(%start : !stream) -> !stream
  return %f : !stream
}

// Two linear layers with ReLU between them.
func.func private @mlp(%x: !stream, %i: index, %fc1: !fc1, %fc2: !fc2) -> !stream {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : !stream
  %w1 = tensor.extract_slice %fc1[%i, 0, 0] [1, 32, 64] [1, 1, 1] : !fc1 to tensor<32x64xf32>
  %w2 = tensor.extract_slice %fc2[%i, 0, 0] [1, 64, 32] [1, 1, 1] : !fc2 to tensor<64x32xf32>
  %hidden_empty = tensor.empty(%tokens) : !hidden
  %hidden_start = linalg.fill ins(%zero : f32) outs(%hidden_empty : !hidden) -> !hidden
  %z = linalg.matmul ins(%x, %w1 : !stream, tensor<32x64xf32>) outs(%hidden_start : !hidden) -> !hidden
  %relu = linalg.map ins(%z : !hidden) outs(%hidden_empty : !hidden) (%element: f32, %init: f32) {
    %positive = arith.maximumf %element, %zero : f32
    linalg.yield %positive : f32
  }
  %empty = tensor.empty(%tokens) : !stream
  %start = linalg.fill ins(%zero : f32) outs(%empty : !stream) -> !stream
  %f = linalg.matmul ins(%relu, %w2 : !hidden, tensor<64x32xf32>) outs(%start : !stream) -> !stream
  return %f : !stream
}

func.func private @no_mask(%queries: index, %keys: index) -> !scores {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%queries, %keys) : !scores
  %mask = linalg.fill ins(%zero : f32) outs(%empty : !scores) -> !scores
  return %mask : !scores
}

// No token looks at a later one.
func.func private @causal_mask(%tokens: index) -> !scores {
  %zero = arith.constant 0.0 : f32
  %minus_infinity = arith.constant 0xFF800000 : f32
  %empty = tensor.empty(%tokens, %tokens) : !scores
  %mask = linalg.generic {indexing_maps = [affine_map<(head, q, k) -> (head, q, k)>],
                          iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : !scores) {
  ^bb0(%init: f32):
    %q = linalg.index 1 : index
    %k = linalg.index 2 : index
    %later = arith.cmpi ugt, %k, %q : index
    %value = arith.select %later, %minus_infinity, %zero : f32
    linalg.yield %value : f32
  } -> !scores
  return %mask : !scores
}
