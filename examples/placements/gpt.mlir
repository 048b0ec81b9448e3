// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPT, small: six pre-norm layers of causal attention and MLP, then the final norm. The layers are one loop over
// stacked parameters; the origin of a layer's dropout sites keeps its masks apart from the other layers'.

// Width 32, 4 heads of 8, MLP 32 -> 64 -> 32. The layer comes first, then what of it: query, key and value (the factor
// 1/sqrt(8) of the scores is in the query's weights), or the norm before the attention and the one before the MLP.
!stream = tensor<?x32xf32>
!vector = tensor<32xf32>
!norms = tensor<6x2x32xf32>
!qkv = tensor<6x3x32x4x8xf32>
!out = tensor<6x4x8x32xf32>
!fc1 = tensor<6x32x64xf32>
!fc2 = tensor<6x64x32xf32>
!heads = tensor<?x4x8xf32>
!scores = tensor<4x?x?xf32>
!hidden = tensor<?x64xf32>

func.func @gpt(%x: !stream, %qkv: !qkv, %out: !out, %fc1: !fc1, %fc2: !fc2, %gammas: !norms, %betas: !norms,
               %final_gamma: !vector, %final_beta: !vector, %seed: i64, %step: i64) -> !stream {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %layers = arith.constant 6 : index
  %row = arith.constant 0 : i64
  %sites = arith.constant 2 : i64
  %last = scf.for %i = %c0 to %layers step %c1 iter_args(%s = %x) -> (!stream) {
    %g0 = tensor.extract_slice %gammas[%i, 0, 0] [1, 1, 32] [1, 1, 1] : !norms to !vector
    %b0 = tensor.extract_slice %betas[%i, 0, 0] [1, 1, 32] [1, 1, 1] : !norms to !vector
    %g1 = tensor.extract_slice %gammas[%i, 1, 0] [1, 1, 32] [1, 1, 1] : !norms to !vector
    %b1 = tensor.extract_slice %betas[%i, 1, 0] [1, 1, 32] [1, 1, 1] : !norms to !vector
    %layer = arith.index_cast %i : index to i64
    %site = arith.muli %layer, %sites : i64

    %t = resid.block pre %s norm(layer gamma %g0 : !vector beta %b0 : !vector epsilon = 1.0e-5)
        dropout(0.1, site 0, seed %seed, step %step, origin %row %site) : !stream {
    ^bb0(%h: !stream):
      %f = func.call @attend(%h, %i, %qkv, %out) : (!stream, index, !qkv, !out) -> !stream
      resid.yield %f : !stream
    }
    %u = resid.block pre %t norm(layer gamma %g1 : !vector beta %b1 : !vector epsilon = 1.0e-5)
        dropout(0.1, site 1, seed %seed, step %step, origin %row %site) : !stream {
    ^bb0(%h: !stream):
      %f = func.call @mlp(%h, %i, %fc1, %fc2) : (!stream, index, !fc1, !fc2) -> !stream
      resid.yield %f : !stream
    }
    scf.yield %u : !stream
  }
  %y = resid.layer_norm %last gamma(%final_gamma) beta(%final_beta) {epsilon = 1.0e-5} : !stream, !vector, !vector
  return %y : !stream
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

// Queries (part 0), keys (1) or values (2) of layer i.
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

// Each token attends to itself and those before it.
func.func private @attend(%x: !stream, %i: index, %qkv: !qkv, %out: !out) -> !stream {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %tokens = tensor.dim %x, %c0 : !stream
  %q = call @project(%x, %i, %c0, %qkv) : (!stream, index, index, !qkv) -> !heads
  %k = call @project(%x, %i, %c1, %qkv) : (!stream, index, index, !qkv) -> !heads
  %v = call @project(%x, %i, %c2, %qkv) : (!stream, index, index, !qkv) -> !heads
  %mask = call @causal_mask(%tokens) : (index) -> !scores
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

// 0, and -inf where a key is later than the query: the scores are added to it.
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

// Two linear layers with GELU in its tanh form between them.
func.func private @mlp(%x: !stream, %i: index, %fc1: !fc1, %fc2: !fc2) -> !stream {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : !stream
  %w1 = tensor.extract_slice %fc1[%i, 0, 0] [1, 32, 64] [1, 1, 1] : !fc1 to tensor<32x64xf32>
  %w2 = tensor.extract_slice %fc2[%i, 0, 0] [1, 64, 32] [1, 1, 1] : !fc2 to tensor<64x32xf32>
  %hidden_empty = tensor.empty(%tokens) : !hidden
  %hidden_start = linalg.fill ins(%zero : f32) outs(%hidden_empty : !hidden) -> !hidden
  %z = linalg.matmul ins(%x, %w1 : !stream, tensor<32x64xf32>) outs(%hidden_start : !hidden) -> !hidden
  // z/2·(1 + tanh(sqrt(2/pi)·(z + 0.044715·z³)))
  %gelu = linalg.map ins(%z : !hidden) outs(%hidden_empty : !hidden) (%v: f32, %init: f32) {
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %cubic = arith.constant 0.044715 : f32
    %root = arith.constant 0.797884583 : f32
    %square = arith.mulf %v, %v : f32
    %share = arith.mulf %square, %cubic : f32
    %factor = arith.addf %share, %one : f32
    %inner = arith.mulf %v, %factor : f32
    %scaled = arith.mulf %inner, %root : f32
    %tanh = math.tanh %scaled : f32
    %shifted = arith.addf %tanh, %one : f32
    %halved = arith.mulf %v, %half : f32
    %product = arith.mulf %halved, %shifted : f32
    linalg.yield %product : f32
  }
  %empty = tensor.empty(%tokens) : !stream
  %start = linalg.fill ins(%zero : f32) outs(%empty : !stream) -> !stream
  %f = linalg.matmul ins(%gelu, %w2 : !hidden, tensor<64x32xf32>) outs(%start : !stream) -> !stream
  return %f : !stream
}
