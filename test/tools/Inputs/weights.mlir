// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions whose weights come from a file: by a name of their own, by the argument's name, with an open size.

func.func @model(%x: tensor<?x4xf32>, %w: tensor<4x?xbf16> {resid.weight = "layers.0.w"}, %scale: f32, %bias: tensor<2xf32> {resid.weight},
                 %table: tensor<3xi64> {resid.weight}) -> (tensor<?x2xf32>, tensor<3xi64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %known = tensor.cast %w : tensor<4x?xbf16> to tensor<4x2xbf16>
  %wide = arith.extf %known : tensor<4x2xbf16> to tensor<4x2xf32>
  %out = tensor.empty(%rows) : tensor<?x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<?x2xf32>) -> tensor<?x2xf32>
  %p = linalg.matmul ins(%x, %wide : tensor<?x4xf32>, tensor<4x2xf32>) outs(%init : tensor<?x2xf32>) -> tensor<?x2xf32>
  %scales = tensor.splat %scale : tensor<2xf32>
  %b = tensor.empty(%rows) : tensor<?x2xf32>
  %bias_rows = linalg.broadcast ins(%bias : tensor<2xf32>) outs(%b : tensor<?x2xf32>) dimensions = [0]
  %y = resid.add %bias_rows, %p gate(%scales) : tensor<?x2xf32>, tensor<2xf32>
  return %y, %table : tensor<?x2xf32>, tensor<3xi64>
}

func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

func.func @complex(%c: tensor<2xcomplex<f32>> {resid.weight}) -> tensor<2xcomplex<f32>> {
  return %c : tensor<2xcomplex<f32>>
}
