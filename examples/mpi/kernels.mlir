// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The row kernels of one rank, which residc compiles: its part of a linear layer, and the end of the sub-layer. The rows
// of a rank are a shard, so their dropout begins at its first row: each rank draws its part of one mask.

func.func @product(%h: tensor<?x?xf32>, %w: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %h, %c0 : tensor<?x?xf32>
  %empty = tensor.empty(%rows) : tensor<?x256xf32>
  %from = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x256xf32>) -> tensor<?x256xf32>
  %y = linalg.matmul ins(%h, %w : tensor<?x?xf32>, tensor<?x256xf32>) outs(%from : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

func.func @add_norm(%x: tensor<?x256xf32>, %f: tensor<?x256xf32>, %gamma: tensor<256xf32>, %seed: i64, %step: i64,
                    %first: i64) -> (tensor<?x256xf32>, tensor<?x256xf32>) {
  %layer = arith.constant 0 : i64
  %y, %s = resid.add_norm rms %x, %f dropout(%seed, %step) origin(%first, %layer) gamma(%gamma)
           {epsilon = 1.0e-6, p = 0.1, site = 0} : tensor<?x256xf32>, tensor<256xf32>
  return %y, %s : tensor<?x256xf32>, tensor<?x256xf32>
}
