// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four sub-layers in pre-norm, flat, with a final norm.

func.func @stack(%x: tensor<?x24xf32>, %g0: tensor<24xf32>, %g1: tensor<24xf32>, %g2: tensor<24xf32>, %g3: tensor<24xf32>,
                 %g: tensor<24xf32>) -> tensor<?x24xf32> {
  %h0 = resid.rms_norm %x gamma(%g0) {epsilon = 1.0e-5} : tensor<?x24xf32>, tensor<24xf32>
  %f0 = math.tanh %h0 : tensor<?x24xf32>
  %y0 = resid.add %x, %f0 : tensor<?x24xf32>
  %h1 = resid.rms_norm %y0 gamma(%g1) {epsilon = 1.0e-5} : tensor<?x24xf32>, tensor<24xf32>
  %f1 = resid.activation gelu %h1 : tensor<?x24xf32>
  %y1 = resid.add %y0, %f1 {branch_scale = 0.7} : tensor<?x24xf32>
  %f2 = resid.activation silu %y1 : tensor<?x24xf32>
  %h2 = resid.rms_norm %f2 gamma(%g2) {epsilon = 1.0e-5} : tensor<?x24xf32>, tensor<24xf32>
  %y2 = resid.add %y1, %h2 : tensor<?x24xf32>
  %h3 = resid.rms_norm %y2 gamma(%g3) {epsilon = 1.0e-5} : tensor<?x24xf32>, tensor<24xf32>
  %f3 = math.tanh %h3 : tensor<?x24xf32>
  %y3 = resid.add %y2, %f3 gate(%g0) : tensor<?x24xf32>, tensor<24xf32>
  %n = resid.rms_norm %y3 gamma(%g) {epsilon = 1.0e-5} : tensor<?x24xf32>, tensor<24xf32>
  return %n : tensor<?x24xf32>
}
