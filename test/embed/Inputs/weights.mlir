// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model whose weights come in a struct: of several types, between other arguments, with names that C does not take, one
// without elements, and one that a function of its own makes.

func.func @model(%x: tensor<?x8xf32>, %gamma: tensor<8xf32> {resid.weight = "norm.weight"}, %scale: f32,
                 %proj: tensor<8x8xbf16> {resid.weight = "h.0/*proj*/\\.weight"}, %class: tensor<8xf32> {resid.weight},
                 %empty: tensor<0x3xf32> {resid.weight = "empty"}, %folded: tensor<8xf32> {resid.prepared = 0 : i64})
    -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %n = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32>
  %out = tensor.empty(%rows) : tensor<?x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<?x8xf32>) -> tensor<?x8xf32>
  %wide = arith.extf %proj : tensor<8x8xbf16> to tensor<8x8xf32>
  %p = linalg.matmul ins(%n, %wide : tensor<?x8xf32>, tensor<8x8xf32>) outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
  %b = resid.add_bias %p, %class : tensor<?x8xf32>, tensor<8xf32>
  %c = resid.add_bias %b, %folded : tensor<?x8xf32>, tensor<8xf32>
  %scales = tensor.splat %scale : tensor<8xf32>
  %s = resid.add %x, %c gate(%scales) : tensor<?x8xf32>, tensor<8xf32>
  return %s : tensor<?x8xf32>
}

func.func @model_prepare(%a: tensor<8xf32> {resid.weight = "a"}, %b: tensor<8xf32> {resid.weight = "b"}) -> tensor<8xf32> {
  %s = arith.addf %a, %b : tensor<8xf32>
  return %s : tensor<8xf32>
}
