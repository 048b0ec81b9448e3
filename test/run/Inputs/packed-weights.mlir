// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two sub-layers whose weights are [in, out] and [out, in], of every float type, arguments and a constant, with widths that do
// not fill panels; the first norm's gamma can be folded into the first weight.

#rows = affine_map<(m, n, k) -> (m, k)>
#columns = affine_map<(m, n, k) -> (n, k)>
#product = affine_map<(m, n, k) -> (m, n)>

func.func @model(%x: tensor<?x21xf32>, %gamma: tensor<21xf32>, %up: tensor<21x35xf32> {resid.weight = "up"},
                 %down: tensor<21x35xbf16> {resid.weight}, %half: tensor<21x19xf16> {resid.weight}, %double: tensor<50x19xf64> {resid.weight})
    -> (tensor<?x21xf32>, tensor<?x50xf64>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x21xf32>
  %zero = arith.constant 0.0 : f32
  %n = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x21xf32>, tensor<21xf32>
  %e0 = tensor.empty(%m) : tensor<?x35xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x35xf32>) -> tensor<?x35xf32>
  %h = linalg.matmul ins(%n, %up : tensor<?x21xf32>, tensor<21x35xf32>) outs(%i0 : tensor<?x35xf32>) -> tensor<?x35xf32>
  %a = math.tanh %h : tensor<?x35xf32>
  %e1 = tensor.empty(%m) : tensor<?x21xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x21xf32>) -> tensor<?x21xf32>
  %wide = arith.extf %down : tensor<21x35xbf16> to tensor<21x35xf32>
  %f = linalg.matmul indexing_maps = [#rows, #columns, #product] ins(%a, %wide : tensor<?x35xf32>, tensor<21x35xf32>) outs(%i1 : tensor<?x21xf32>) -> tensor<?x21xf32>
  %s = resid.add %x, %f : tensor<?x21xf32>

  %g = arith.truncf %s : tensor<?x21xf32> to tensor<?x21xf16>
  %e2 = tensor.empty(%m) : tensor<?x19xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x19xf32>) -> tensor<?x19xf32>
  %p = linalg.matmul ins(%g, %half : tensor<?x21xf16>, tensor<21x19xf16>) outs(%i2 : tensor<?x19xf32>) -> tensor<?x19xf32>
  %mixed = arith.constant dense_resource<mixed> : tensor<19x8xbf16>
  %e3 = tensor.empty(%m) : tensor<?x8xf32>
  %i3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %q = linalg.matmul ins(%p, %mixed : tensor<?x19xf32>, tensor<19x8xbf16>) outs(%i3 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %e4 = tensor.empty(%m) : tensor<?x19xf32>
  %b = linalg.map { math.absf } ins(%p : tensor<?x19xf32>) outs(%e4 : tensor<?x19xf32>)
  %d = arith.extf %b : tensor<?x19xf32> to tensor<?x19xf64>
  %bias = tensor.extract %q[%c0, %c0] : tensor<?x8xf32>
  %start = arith.extf %bias : f32 to f64
  %e5 = tensor.empty(%m) : tensor<?x50xf64>
  %i5 = linalg.fill ins(%start : f64) outs(%e5 : tensor<?x50xf64>) -> tensor<?x50xf64>
  %y = linalg.matmul indexing_maps = [#rows, #columns, #product] ins(%d, %double : tensor<?x19xf64>, tensor<50x19xf64>) outs(%i5 : tensor<?x50xf64>) -> tensor<?x50xf64>
  return %s, %y : tensor<?x21xf32>, tensor<?x50xf64>
}
{-# dialect_resources: { builtin: { mixed: "0x02000000E0BF40BF803EA03FB0BFC0BE203FD03F80BF0000803FD0BF20BFC03EB03FA0BF80BE403FE03F60BF003E903FC0BF00BF003FC03F90BF00BE603FE0BF40BF803EA03FB0BFC0BE203FD03F80BF0000803FD0BF20BFC03EB03FA0BF80BE403FE03F60BF003E903FC0BF00BF003FC03F90BF00BE603FE0BF40BF803EA03FB0BFC0BE203FD03F80BF0000803FD0BF20BFC03EB03FA0BF80BE403FE03F60BF003E903FC0BF00BF003FC03F90BF00BE603FE0BF40BF803EA03FB0BFC0BE203FD03F80BF0000803FD0BF20BFC03EB03FA0BF80BE403FE03F60BF003E903FC0BF00BF003FC03F90BF00BE603FE0BF40BF803EA03FB0BFC0BE203FD03F80BF0000803FD0BF20BFC03EB03FA0BF80BE403FE03F60BF003E903FC0BF00BF003FC03F90BF00BE603FE0BF40BF803EA03FB0BFC0BE203F" } } #-}
