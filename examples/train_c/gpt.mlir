// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small GPT over bytes: from sequences of 64 bytes to the loss at the byte after each of them. Four layers of causal
// attention and MLP, pre-norm as written, learned positions, and dropout of embeddings, attention weights and branches.
// A layer has three sites of dropout; its origin keeps them apart from those of the other layers.

// Width 128, 4 heads of 32.
!ids = tensor<?x64xi32>
!losses = tensor<?x64xf32>
!stream = tensor<?x64x128xf32>
!wide = tensor<?x64x512xf32>
!logits = tensor<?x64x256xf32>
!split = tensor<?x64x4x32xf32>
!heads = tensor<?x4x64x32xf32>
!table = tensor<256x128xf32>
!positions = tensor<64x128xf32>
!square = tensor<128x128xf32>
!up = tensor<512x128xf32>
!down = tensor<128x512xf32>
!vector = tensor<128xf32>
!inner = tensor<512xf32>

func.func @model(%before: !ids, %next: !ids, %seed: i64, %step: i64,
    %table: !table {resid.weight}, %table_of_positions: !positions {resid.weight},
    %norm_gamma0: !vector {resid.weight}, %norm_beta0: !vector {resid.weight}, %query0: !square {resid.weight}, %key0: !square {resid.weight}, %value0: !square {resid.weight}, %out0: !square {resid.weight}, %out_bias0: !vector {resid.weight},
    %norm_gamma1: !vector {resid.weight}, %norm_beta1: !vector {resid.weight}, %up0: !up {resid.weight}, %up_bias0: !inner {resid.weight}, %down0: !down {resid.weight}, %down_bias0: !vector {resid.weight},
    %norm_gamma2: !vector {resid.weight}, %norm_beta2: !vector {resid.weight}, %query1: !square {resid.weight}, %key1: !square {resid.weight}, %value1: !square {resid.weight}, %out1: !square {resid.weight}, %out_bias1: !vector {resid.weight},
    %norm_gamma3: !vector {resid.weight}, %norm_beta3: !vector {resid.weight}, %up1: !up {resid.weight}, %up_bias1: !inner {resid.weight}, %down1: !down {resid.weight}, %down_bias1: !vector {resid.weight},
    %norm_gamma4: !vector {resid.weight}, %norm_beta4: !vector {resid.weight}, %query2: !square {resid.weight}, %key2: !square {resid.weight}, %value2: !square {resid.weight}, %out2: !square {resid.weight}, %out_bias2: !vector {resid.weight},
    %norm_gamma5: !vector {resid.weight}, %norm_beta5: !vector {resid.weight}, %up2: !up {resid.weight}, %up_bias2: !inner {resid.weight}, %down2: !down {resid.weight}, %down_bias2: !vector {resid.weight},
    %norm_gamma6: !vector {resid.weight}, %norm_beta6: !vector {resid.weight}, %query3: !square {resid.weight}, %key3: !square {resid.weight}, %value3: !square {resid.weight}, %out3: !square {resid.weight}, %out_bias3: !vector {resid.weight},
    %norm_gamma7: !vector {resid.weight}, %norm_beta7: !vector {resid.weight}, %up3: !up {resid.weight}, %up_bias3: !inner {resid.weight}, %down3: !down {resid.weight}, %down_bias3: !vector {resid.weight},
    %last_norm_gamma: !vector {resid.weight}, %last_norm_beta: !vector {resid.weight}, %head: !table {resid.weight}) -> !losses {
  %embedded = resid.embedding %before, %table : !ids, !table
  %placed = linalg.generic {
      indexing_maps = [affine_map<(s, t, c) -> (s, t, c)>, affine_map<(s, t, c) -> (t, c)>, affine_map<(s, t, c) -> (s, t, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%embedded, %table_of_positions : !stream, !positions) outs(%embedded : !stream) {
  ^bb0(%e: f32, %p: f32, %init: f32):
    %sum = arith.addf %e, %p : f32
    linalg.yield %sum : f32
  } -> !stream
  %x0 = resid.dropout %placed seed(%seed, %step) {p = 0.1, site = 12} : !stream
  %row = arith.constant 0 : i64

  %site0 = arith.constant 0 : i64
  %a0 = resid.block pre %x0 norm(layer gamma %norm_gamma0 : !vector beta %norm_beta0 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 1, seed %seed, step %step, origin %row %site0) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attend(%h, %query0, %key0, %value0, %out0, %out_bias0, %seed, %step, %site0)
        : (!stream, !square, !square, !square, !square, !vector, i64, i64, i64) -> !stream
    resid.yield %f : !stream
  }
  %x1 = resid.block pre %a0 norm(layer gamma %norm_gamma1 : !vector beta %norm_beta1 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 2, seed %seed, step %step, origin %row %site0) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @mlp(%h, %up0, %up_bias0, %down0, %down_bias0) : (!stream, !up, !inner, !down, !vector) -> !stream
    resid.yield %f : !stream
  }

  %site1 = arith.constant 3 : i64
  %a1 = resid.block pre %x1 norm(layer gamma %norm_gamma2 : !vector beta %norm_beta2 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 1, seed %seed, step %step, origin %row %site1) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attend(%h, %query1, %key1, %value1, %out1, %out_bias1, %seed, %step, %site1)
        : (!stream, !square, !square, !square, !square, !vector, i64, i64, i64) -> !stream
    resid.yield %f : !stream
  }
  %x2 = resid.block pre %a1 norm(layer gamma %norm_gamma3 : !vector beta %norm_beta3 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 2, seed %seed, step %step, origin %row %site1) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @mlp(%h, %up1, %up_bias1, %down1, %down_bias1) : (!stream, !up, !inner, !down, !vector) -> !stream
    resid.yield %f : !stream
  }

  %site2 = arith.constant 6 : i64
  %a2 = resid.block pre %x2 norm(layer gamma %norm_gamma4 : !vector beta %norm_beta4 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 1, seed %seed, step %step, origin %row %site2) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attend(%h, %query2, %key2, %value2, %out2, %out_bias2, %seed, %step, %site2)
        : (!stream, !square, !square, !square, !square, !vector, i64, i64, i64) -> !stream
    resid.yield %f : !stream
  }
  %x3 = resid.block pre %a2 norm(layer gamma %norm_gamma5 : !vector beta %norm_beta5 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 2, seed %seed, step %step, origin %row %site2) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @mlp(%h, %up2, %up_bias2, %down2, %down_bias2) : (!stream, !up, !inner, !down, !vector) -> !stream
    resid.yield %f : !stream
  }

  %site3 = arith.constant 9 : i64
  %a3 = resid.block pre %x3 norm(layer gamma %norm_gamma6 : !vector beta %norm_beta6 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 1, seed %seed, step %step, origin %row %site3) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @attend(%h, %query3, %key3, %value3, %out3, %out_bias3, %seed, %step, %site3)
        : (!stream, !square, !square, !square, !square, !vector, i64, i64, i64) -> !stream
    resid.yield %f : !stream
  }
  %x4 = resid.block pre %a3 norm(layer gamma %norm_gamma7 : !vector beta %norm_beta7 : !vector epsilon = 1.0e-5)
      dropout(0.1, site 2, seed %seed, step %step, origin %row %site3) : !stream {
  ^bb0(%h: !stream):
    %f = func.call @mlp(%h, %up3, %up_bias3, %down3, %down_bias3) : (!stream, !up, !inner, !down, !vector) -> !stream
    resid.yield %f : !stream
  }

  %normed = resid.layer_norm %x4 gamma(%last_norm_gamma) beta(%last_norm_beta) {epsilon = 1.0e-5} : !stream, !vector, !vector
  %logits = resid.linear %normed, %head : !stream, !table
  %loss = resid.cross_entropy %logits labels(%next) : !logits, !ids
  return %loss : !losses
}

// Each byte attends to itself and those before it.
func.func private @attend(%h: !stream, %query: !square, %key: !square, %value: !square, %out: !square, %out_bias: !vector,
    %seed: i64, %step: i64, %site: i64) -> !stream {
  %q = func.call @project(%h, %query) : (!stream, !square) -> !heads
  %k = func.call @project(%h, %key) : (!stream, !square) -> !heads
  %v = func.call @project(%h, %value) : (!stream, !square) -> !heads
  %row = arith.constant 0 : i64
  %context = resid.attention %q, %k, %v dropout(%seed, %step) origin(%row, %site) {causal, p = 0.1, site = 0} : !heads, !heads, !heads
  %zero = arith.constant 0 : index
  %sequences = tensor.dim %h, %zero : !stream
  %empty = tensor.empty(%sequences) : !split
  %joined = linalg.transpose ins(%context : !heads) outs(%empty : !split) permutation = [0, 2, 1, 3]
  %rows = tensor.collapse_shape %joined [[0], [1], [2, 3]] : !split into !stream
  %f = resid.linear %rows, %out bias(%out_bias) : !stream, !square, !vector
  return %f : !stream
}

// Queries, keys or values, head by head.
func.func private @project(%h: !stream, %weight: !square) -> !heads {
  %zero = arith.constant 0 : index
  %sequences = tensor.dim %h, %zero : !stream
  %projected = resid.linear %h, %weight : !stream, !square
  %split = tensor.expand_shape %projected [[0], [1], [2, 3]] output_shape [%sequences, 64, 4, 32] : !stream into !split
  %empty = tensor.empty(%sequences) : !heads
  %heads = linalg.transpose ins(%split : !split) outs(%empty : !heads) permutation = [0, 2, 1, 3]
  return %heads : !heads
}

func.func private @mlp(%h: !stream, %up: !up, %up_bias: !inner, %down: !down, %down_bias: !vector) -> !stream {
  %wide = resid.linear %h, %up bias(%up_bias) : !stream, !up, !inner
  %active = resid.activation gelu %wide : !wide
  %f = resid.linear %active, %down bias(%down_bias) : !wide, !down, !vector
  return %f : !stream
}
