// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The MLP sub-layer of a vision transformer with drop path (stochastic depth): in training, each image of the batch
// leaves the sub-layer out with probability 0.2. The gate is a number per image, 0 or 1/0.8, drawn by dropout of ones.

!images = tensor<?x?x32xf32>
!hidden = tensor<?x?x64xf32>
!gate = tensor<?x1x1xf32>
!vector = tensor<32xf32>

#linear = [affine_map<(b, t, o, c) -> (b, t, c)>, affine_map<(b, t, o, c) -> (c, o)>,
           affine_map<(b, t, o, c) -> (b, t, o)>]

func.func @mlp_sublayer(%x: !images, %gamma: !vector, %beta: !vector, %fc1: tensor<32x64xf32>, %fc2: tensor<64x32xf32>,
                        %seed: i64, %step: i64) -> !images {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !images
  %tokens = tensor.dim %x, %c1 : !images

  %gate_empty = tensor.empty(%batch) : !gate
  %ones = linalg.fill ins(%one : f32) outs(%gate_empty : !gate) -> !gate
  %gate = resid.dropout %ones seed(%seed, %step) {p = 0.2, site = 0} : !gate

  %y = resid.block pre %x norm(layer gamma %gamma : !vector beta %beta : !vector epsilon = 1.0e-6)
      gate(%gate : !gate) : !images {
  ^bb0(%h: !images):
    %hidden_empty = tensor.empty(%batch, %tokens) : !hidden
    %hidden_start = linalg.fill ins(%zero : f32) outs(%hidden_empty : !hidden) -> !hidden
    %z = linalg.contract indexing_maps = #linear
        ins(%h, %fc1 : !images, tensor<32x64xf32>) outs(%hidden_start : !hidden) -> !hidden
    // GELU: z/2·(1 + erf(z/sqrt(2)))
    %gelu = linalg.map ins(%z : !hidden) outs(%hidden_empty : !hidden) (%v: f32, %init: f32) {
      %half = arith.constant 0.5 : f32
      %root = arith.constant 0.70710678 : f32
      %scaled = arith.mulf %v, %root : f32
      %erf = math.erf %scaled : f32
      %shifted = arith.addf %one, %erf : f32
      %halved = arith.mulf %v, %half : f32
      %product = arith.mulf %halved, %shifted : f32
      linalg.yield %product : f32
    }
    %empty = tensor.empty(%batch, %tokens) : !images
    %start = linalg.fill ins(%zero : f32) outs(%empty : !images) -> !images
    %f = linalg.contract indexing_maps = #linear
        ins(%gelu, %fc2 : !hidden, tensor<64x32xf32>) outs(%start : !images) -> !images
    resid.yield %f : !images
  }
  return %y : !images
}
