// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One sub-layer in each placement, with a final norm where the placement wants one.

!T = tensor<?x512xf32>
!V = tensor<512xf32>
!W = tensor<512x512xf32>
func.func private @mlp(%h: !T, %w1: !W, %w2: !W) -> !T {
  %y = math.tanh %h : !T
  return %y : !T
}
func.func @post(%x: !T, %w1: !W, %w2: !W, %gamma: !V, %beta: !V, %seed: i64, %step: i64) -> !T {
  %y = resid.block post %x norm(layer gamma %gamma : !V beta %beta : !V epsilon = 1.0e-5) dropout(0.1, site 0, seed %seed, step %step) : !T {
  ^bb0(%h: !T):
    %f = func.call @mlp(%h, %w1, %w2) : (!T, !W, !W) -> !T
    resid.yield %f : !T
  }
  return %y : !T
}
func.func @pre(%x: !T, %w1: !W, %w2: !W, %gamma: !V, %beta: !V, %fg: !V, %fb: !V, %seed: i64, %step: i64) -> !T {
  %y = resid.block pre %x norm(layer gamma %gamma : !V beta %beta : !V epsilon = 1.0e-5) dropout(0.1, site 0, seed %seed, step %step) : !T {
  ^bb0(%h: !T):
    %f = func.call @mlp(%h, %w1, %w2) : (!T, !W, !W) -> !T
    resid.yield %f : !T
  }
  %z = resid.layer_norm %y gamma(%fg) beta(%fb) {epsilon = 1.0e-5} : !T, !V, !V
  return %z : !T
}
func.func @branch_post(%x: !T, %w1: !W, %w2: !W, %gamma: !V, %fg: !V, %seed: i64, %step: i64) -> !T {
  %y = resid.block branch_post %x norm(rms gamma %gamma : !V epsilon = 1.0e-5) dropout(0.1, site 0, seed %seed, step %step) : !T {
  ^bb0(%h: !T):
    %f = func.call @mlp(%h, %w1, %w2) : (!T, !W, !W) -> !T
    resid.yield %f : !T
  }
  %z = resid.rms_norm %y gamma(%fg) {epsilon = 1.0e-5} : !T, !V
  return %z : !T
}
func.func @peri(%x: !T, %w1: !W, %w2: !W, %gamma1: !V, %gamma2: !V, %fg: !V, %seed: i64, %step: i64) -> !T {
  %y = resid.block peri %x norm(rms gamma %gamma1 : !V epsilon = 1.0e-5) norm(rms gamma %gamma2 : !V epsilon = 1.0e-5) dropout(0.1, site 0, seed %seed, step %step) : !T {
  ^bb0(%h: !T):
    %f = func.call @mlp(%h, %w1, %w2) : (!T, !W, !W) -> !T
    resid.yield %f : !T
  }
  %z = resid.rms_norm %y gamma(%fg) {epsilon = 1.0e-5} : !T, !V
  return %z : !T
}
func.func @post_shifted(%x: !T, %w1: !W, %w2: !W, %gamma: !V, %fg: !V, %seed: i64, %step: i64) -> !T {
  %y = resid.block post_shifted %x norm(rms gamma %gamma : !V epsilon = 1.0e-5) dropout(0.1, site 0, seed %seed, step %step) : !T {
  ^bb0(%h: !T):
    %f = func.call @mlp(%h, %w1, %w2) : (!T, !W, !W) -> !T
    resid.yield %f : !T
  }
  %z = resid.rms_norm %y gamma(%fg) {epsilon = 1.0e-5} : !T, !V
  return %z : !T
}
func.func @none(%x: !T, %w1: !W, %w2: !W, %gate: tensor<f32>) -> !T {
  %y = resid.block none %x gate(%gate : tensor<f32>) {skip_scale = 1.2, branch_scale = 0.5} : !T {
  ^bb0(%h: !T):
    %f = func.call @mlp(%h, %w1, %w2) : (!T, !W, !W) -> !T
    resid.yield %f : !T
  }
  return %y : !T
}
