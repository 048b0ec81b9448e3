// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of statuses.c: forward without scratch, and a matmul between two norms, which needs some.

func.func @post(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %gamma: tensor<?xf32>, %beta: tensor<?xf32>,
                %seed: i64, %step: i64, %row: i64, %site: i64) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %d = resid.dropout %f seed(%seed, %step) origin(%row, %site) {p = 0.25, site = 3} : tensor<?x?xf32>
  %s = resid.add %x, %d : tensor<?x?xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  return %y, %s : tensor<?x?xf32>, tensor<?x?xf32>
}

func.func @with_scratch(%x: tensor<?x8xf32>, %weight: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %n = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<?x8xf32>
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %f = linalg.matmul ins(%n, %weight : tensor<?x8xf32>, tensor<8x8xf32>) outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
  %s = resid.add %x, %f : tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}
