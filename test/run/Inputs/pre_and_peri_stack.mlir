// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three sub-layers with an RMS norm before each branch, one of them with a norm after it too, and a final norm.

func.func @stack(%x: tensor<?x24xf32>, %g0: tensor<24xf32>, %g1: tensor<24xf32>, %g2: tensor<24xf32>, %g3: tensor<24xf32>,
                 %g: tensor<24xf32>) -> tensor<?x24xf32> {
  %y0 = resid.block pre %x norm(rms gamma %g0 : tensor<24xf32> epsilon = 1.0e-5) : tensor<?x24xf32> {
  ^bb0(%h: tensor<?x24xf32>):
    %f = math.tanh %h : tensor<?x24xf32>
    resid.yield %f : tensor<?x24xf32>
  }
  %y1 = resid.block peri %y0 norm(rms gamma %g1 : tensor<24xf32> epsilon = 1.0e-5 zero_centered_gamma)
      norm(layer gamma %g2 : tensor<24xf32> epsilon = 1.0e-5) {branch_scale = 0.7} : tensor<?x24xf32> {
  ^bb0(%h: tensor<?x24xf32>):
    %f = resid.activation silu %h : tensor<?x24xf32>
    resid.yield %f : tensor<?x24xf32>
  }
  %y2 = resid.block pre %y1 norm(rms gamma %g3 : tensor<24xf32> epsilon = 1.0e-5) : tensor<?x24xf32> {
  ^bb0(%h: tensor<?x24xf32>):
    %f = resid.activation gelu %h : tensor<?x24xf32>
    resid.yield %f : tensor<?x24xf32>
  }
  %n = resid.rms_norm %y2 gamma(%g) {epsilon = 1.0e-5} : tensor<?x24xf32>, tensor<24xf32>
  return %n : tensor<?x24xf32>
}
