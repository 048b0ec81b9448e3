// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of worked-numbers.test.

func.func @post_norm(%x: tensor<1x4xf32>, %f: tensor<1x4xf32>, %gate: tensor<4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %s = resid.add %x, %f gate(%gate) : tensor<1x4xf32>, tensor<4xf32>
  %y = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<1x4xf32>
  return %s, %y : tensor<1x4xf32>, tensor<1x4xf32>
}

func.func @gated_branch(%f: tensor<5xf32>, %gate: tensor<5xf32>) -> tensor<5xf32> {
  %zeros = arith.constant dense<0.0> : tensor<5xf32>
  %s = resid.add %zeros, %f gate(%gate) : tensor<5xf32>, tensor<5xf32>
  return %s : tensor<5xf32>
}

func.func @dropout(%x: tensor<?x?xf32>, %seed: i64, %step: i64) -> tensor<?x?xf32> {
  %d = resid.dropout %x seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

func.func @add(%x: tensor<4x16x512xf32>, %f: tensor<4x16x512xf32>) -> tensor<4x16x512xf32> {
  %s = resid.add %x, %f : tensor<4x16x512xf32>
  return %s : tensor<4x16x512xf32>
}

func.func @block(%x: tensor<1x?x120xf32>, %f: tensor<1x?x120xf32>, %gamma: tensor<120xf32>, %beta: tensor<120xf32>)
    -> (tensor<1x?x120xf32>, tensor<1x?x120xf32>) {
  %s = resid.add %x, %f : tensor<1x?x120xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<1x?x120xf32>, tensor<120xf32>, tensor<120xf32>
  return %s, %y : tensor<1x?x120xf32>, tensor<1x?x120xf32>
}

func.func @last_block(%x: tensor<1x?x120xf32>, %f: tensor<1x?x120xf32>, %gamma: tensor<120xf32>, %beta: tensor<120xf32>)
    -> (tensor<1x?x120xf32>, tensor<1x?x120xf32>) {
  %s = resid.add %x, %f : tensor<1x?x120xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-6} : tensor<1x?x120xf32>, tensor<120xf32>, tensor<120xf32>
  return %s, %y : tensor<1x?x120xf32>, tensor<1x?x120xf32>
}

func.func @first_norm(%x: tensor<1x?x120xf32>, %gamma: tensor<120xf32>, %beta: tensor<120xf32>) -> tensor<1x?x120xf32> {
  %y = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<1x?x120xf32>, tensor<120xf32>, tensor<120xf32>
  return %y : tensor<1x?x120xf32>
}
