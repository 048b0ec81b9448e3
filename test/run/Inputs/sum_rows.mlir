// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of the rows of a matrix, as the gradient of a bias has it.

func.func @block(%x: tensor<?x64xf32>, %acc: tensor<64xf32>) -> tensor<64xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x64xf32>) outs(%acc : tensor<64xf32>) {
  ^bb0(%element: f32, %sum: f32):
    %more = arith.addf %sum, %element : f32
    linalg.yield %more : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
