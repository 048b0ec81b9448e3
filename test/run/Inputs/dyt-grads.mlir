// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of dynamic tanh, in mixtures of types and shapes.
func.func @single(%dy: tensor<?x768xf32>, %x: tensor<?x768xf32>, %a: tensor<f32>, %g: tensor<768xf32>, %dsum: tensor<?x768xf32>)
    -> (tensor<?x768xf32>, tensor<f32>, tensor<768xf32>, tensor<768xf32>) {
  %dx, %da, %dg, %db = resid.dyt_grad %dy, %x alpha(%a) gamma(%g) sum(%dsum)
      : tensor<?x768xf32>, tensor<?x768xf32>, tensor<f32>, tensor<768xf32>
  return %dx, %da, %dg, %db : tensor<?x768xf32>, tensor<f32>, tensor<768xf32>, tensor<768xf32>
}
func.func @wide(%dy: tensor<3x2500xbf16>, %x: tensor<3x2500xf32>, %a: tensor<f32>, %g: tensor<2500xbf16>)
    -> (tensor<3x2500xf32>, tensor<f32>, tensor<2500xbf16>, tensor<2500xbf16>) {
  %dx, %da, %dg, %db = resid.dyt_grad %dy, %x alpha(%a) gamma(%g) {zero_centered_gamma}
      : tensor<3x2500xbf16>, tensor<3x2500xf32>, tensor<f32>, tensor<2500xbf16>
  return %dx, %da, %dg, %db : tensor<3x2500xf32>, tensor<f32>, tensor<2500xbf16>, tensor<2500xbf16>
}
func.func @half(%dy: tensor<7x130xbf16>, %x: tensor<7x130xbf16>, %a: tensor<f32>, %g: tensor<130xbf16>, %dsum: tensor<7x130xbf16>)
    -> (tensor<7x130xbf16>, tensor<f32>, tensor<130xbf16>, tensor<130xbf16>) {
  %dx, %da, %dg, %db = resid.dyt_grad %dy, %x alpha(%a) gamma(%g) sum(%dsum)
      : tensor<7x130xbf16>, tensor<7x130xbf16>, tensor<f32>, tensor<130xbf16>
  return %dx, %da, %dg, %db : tensor<7x130xbf16>, tensor<f32>, tensor<130xbf16>, tensor<130xbf16>
}
func.func @double(%dy: tensor<2x5x33xf64>, %x: tensor<2x5x33xf64>, %a: tensor<f64>, %g: tensor<5x33xf64>, %dsum: tensor<2x5x33xf64>)
    -> (tensor<2x5x33xf64>, tensor<f64>, tensor<5x33xf64>, tensor<5x33xf64>) {
  %dx, %da, %dg, %db = resid.dyt_grad %dy, %x alpha(%a) gamma(%g) sum(%dsum)
      : tensor<2x5x33xf64>, tensor<2x5x33xf64>, tensor<f64>, tensor<5x33xf64>
  return %dx, %da, %dg, %db : tensor<2x5x33xf64>, tensor<f64>, tensor<5x33xf64>, tensor<5x33xf64>
}
func.func @bare(%dy: tensor<4x5x64xf16>, %x: tensor<4x5x64xf16>, %a: tensor<f16>)
    -> (tensor<4x5x64xf16>, tensor<f16>) {
  %dx, %da = resid.dyt_grad %dy, %x alpha(%a)
      : tensor<4x5x64xf16>, tensor<4x5x64xf16>, tensor<f16>
  return %dx, %da : tensor<4x5x64xf16>, tensor<f16>
}
func.func @row(%dy: tensor<?xf32>, %x: tensor<?xf32>, %a: tensor<f32>, %g: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<f32>, tensor<?xf32>, tensor<?xf32>) {
  %dx, %da, %dg, %db = resid.dyt_grad %dy, %x alpha(%a) gamma(%g)
      : tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<?xf32>
  return %dx, %da, %dg, %db : tensor<?xf32>, tensor<f32>, tensor<?xf32>, tensor<?xf32>
}
