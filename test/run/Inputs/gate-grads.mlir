// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of gates of every shape, in one function for each mixture of types; sizes that are known at run time only,
// and one row.
func.func @single(%dy: tensor<6x5x77xf32>, %f: tensor<6x5x77xf32>)
    -> (tensor<f32>, tensor<1xf32>, tensor<77xf32>, tensor<5x1xf32>, tensor<5x77xf32>, tensor<1x77xf32>, tensor<6x1x1xf32>, tensor<6x5x1xf32>, tensor<6x1x77xf32>, tensor<1x5x1xf32>, tensor<1x1x1xf32>, tensor<6x5x77xf32>) {
  %0 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<6x5x77xf32>, tensor<6x5x77xf32> -> tensor<f32>
  %1 = resid.gate_grad %dy, %f : tensor<6x5x77xf32>, tensor<6x5x77xf32> -> tensor<1xf32>
  %2 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<6x5x77xf32>, tensor<6x5x77xf32> -> tensor<77xf32>
  %3 = resid.gate_grad %dy, %f : tensor<6x5x77xf32>, tensor<6x5x77xf32> -> tensor<5x1xf32>
  %4 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<6x5x77xf32>, tensor<6x5x77xf32> -> tensor<5x77xf32>
  %5 = resid.gate_grad %dy, %f : tensor<6x5x77xf32>, tensor<6x5x77xf32> -> tensor<1x77xf32>
  %6 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<6x5x77xf32>, tensor<6x5x77xf32> -> tensor<6x1x1xf32>
  %7 = resid.gate_grad %dy, %f : tensor<6x5x77xf32>, tensor<6x5x77xf32> -> tensor<6x5x1xf32>
  %8 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<6x5x77xf32>, tensor<6x5x77xf32> -> tensor<6x1x77xf32>
  %9 = resid.gate_grad %dy, %f : tensor<6x5x77xf32>, tensor<6x5x77xf32> -> tensor<1x5x1xf32>
  %10 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<6x5x77xf32>, tensor<6x5x77xf32> -> tensor<1x1x1xf32>
  %11 = resid.gate_grad %dy, %f : tensor<6x5x77xf32>, tensor<6x5x77xf32> -> tensor<6x5x77xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11 : tensor<f32>, tensor<1xf32>, tensor<77xf32>, tensor<5x1xf32>, tensor<5x77xf32>, tensor<1x77xf32>, tensor<6x1x1xf32>, tensor<6x5x1xf32>, tensor<6x1x77xf32>, tensor<1x5x1xf32>, tensor<1x1x1xf32>, tensor<6x5x77xf32>
}
func.func @half(%dy: tensor<4x5x1100xf32>, %f: tensor<4x5x1100xbf16>)
    -> (tensor<bf16>, tensor<1100xf32>, tensor<1100xbf16>, tensor<5x1xf16>, tensor<4x1x1xf32>, tensor<4x5x1xbf16>) {
  %0 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<4x5x1100xf32>, tensor<4x5x1100xbf16> -> tensor<bf16>
  %1 = resid.gate_grad %dy, %f : tensor<4x5x1100xf32>, tensor<4x5x1100xbf16> -> tensor<1100xf32>
  %2 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<4x5x1100xf32>, tensor<4x5x1100xbf16> -> tensor<1100xbf16>
  %3 = resid.gate_grad %dy, %f : tensor<4x5x1100xf32>, tensor<4x5x1100xbf16> -> tensor<5x1xf16>
  %4 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<4x5x1100xf32>, tensor<4x5x1100xbf16> -> tensor<4x1x1xf32>
  %5 = resid.gate_grad %dy, %f : tensor<4x5x1100xf32>, tensor<4x5x1100xbf16> -> tensor<4x5x1xbf16>
  return %0, %1, %2, %3, %4, %5 : tensor<bf16>, tensor<1100xf32>, tensor<1100xbf16>, tensor<5x1xf16>, tensor<4x1x1xf32>, tensor<4x5x1xbf16>
}
func.func @double(%dy: tensor<3x130xf64>, %f: tensor<3x130xf64>)
    -> (tensor<f64>, tensor<130xf32>, tensor<3x1xf64>, tensor<1x130xf64>) {
  %0 = resid.gate_grad %dy, %f {branch_scale = -2.0} : tensor<3x130xf64>, tensor<3x130xf64> -> tensor<f64>
  %1 = resid.gate_grad %dy, %f : tensor<3x130xf64>, tensor<3x130xf64> -> tensor<130xf32>
  %2 = resid.gate_grad %dy, %f {branch_scale = -2.0} : tensor<3x130xf64>, tensor<3x130xf64> -> tensor<3x1xf64>
  %3 = resid.gate_grad %dy, %f : tensor<3x130xf64>, tensor<3x130xf64> -> tensor<1x130xf64>
  return %0, %1, %2, %3 : tensor<f64>, tensor<130xf32>, tensor<3x1xf64>, tensor<1x130xf64>
}
func.func @open(%dy: tensor<?x?x?xf32>, %f: tensor<?x?x?xf32>)
    -> (tensor<f32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?x1x1xf32>, tensor<?x1x?xf32>, tensor<1x1x1xf32>, tensor<768xf32>) {
  %0 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<?x?x?xf32>, tensor<?x?x?xf32> -> tensor<f32>
  %1 = resid.gate_grad %dy, %f : tensor<?x?x?xf32>, tensor<?x?x?xf32> -> tensor<?xf32>
  %2 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<?x?x?xf32>, tensor<?x?x?xf32> -> tensor<?x1xf32>
  %3 = resid.gate_grad %dy, %f : tensor<?x?x?xf32>, tensor<?x?x?xf32> -> tensor<?x1x1xf32>
  %4 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<?x?x?xf32>, tensor<?x?x?xf32> -> tensor<?x1x?xf32>
  %5 = resid.gate_grad %dy, %f : tensor<?x?x?xf32>, tensor<?x?x?xf32> -> tensor<1x1x1xf32>
  %6 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<?x?x?xf32>, tensor<?x?x?xf32> -> tensor<768xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<f32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?x1x1xf32>, tensor<?x1x?xf32>, tensor<1x1x1xf32>, tensor<768xf32>
}
func.func @row(%dy: tensor<?xf32>, %f: tensor<?xf32>)
    -> (tensor<f32>, tensor<?xf32>, tensor<1xf32>) {
  %0 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<?xf32>, tensor<?xf32> -> tensor<f32>
  %1 = resid.gate_grad %dy, %f : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  %2 = resid.gate_grad %dy, %f {branch_scale = 0.3} : tensor<?xf32>, tensor<?xf32> -> tensor<1xf32>
  return %0, %1, %2 : tensor<f32>, tensor<?xf32>, tensor<1xf32>
}
// An add with a gate, of which the branch is saved.
func.func @gated(%x: tensor<?x768xf32>, %h: tensor<?x768xf32>, %bias: tensor<768xf32>, %w: tensor<768xf32>, %z: tensor<f32>,
                 %gamma: tensor<768xf32>) -> tensor<?x768xf32> {
  %f = resid.add_bias %h, %bias : tensor<?x768xf32>, tensor<768xf32>
  %s = resid.add %x, %f gate(%w) {branch_scale = 0.5} : tensor<?x768xf32>, tensor<768xf32>
  %t = resid.add %s, %f gate(%z) : tensor<?x768xf32>, tensor<f32>
  %y = resid.layer_norm %t gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x768xf32>, tensor<768xf32>
  return %y : tensor<?x768xf32>
}
// The same with the vector alone.
func.func @scaled(%x: tensor<?x768xf32>, %f: tensor<?x768xf32>, %w: tensor<768xf32>, %gamma: tensor<768xf32>)
    -> tensor<?x768xf32> {
  %s = resid.add %x, %f gate(%w) : tensor<?x768xf32>, tensor<768xf32>
  %y = resid.layer_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x768xf32>, tensor<768xf32>
  return %y : tensor<?x768xf32>
}
