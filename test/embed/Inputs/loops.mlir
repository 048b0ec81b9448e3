// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers in a loop, and one layer to compare with.

func.func @step(%x: tensor<?x70xf32>, %g: tensor<70xf32>) -> tensor<?x70xf32> {
  %r = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-6} : tensor<?x70xf32>, tensor<70xf32>
  %s = resid.add %x, %r : tensor<?x70xf32>
  return %s : tensor<?x70xf32>
}

func.func @stack(%x: tensor<?x70xf32>, %g: tensor<70xf32>, %n: index) -> (tensor<?x70xf32>, tensor<?x70xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = resid.add %x, %x : tensor<?x70xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %first) -> tensor<?x70xf32> {
    %s = func.call @step(%h, %g) : (tensor<?x70xf32>, tensor<70xf32>) -> tensor<?x70xf32>
    scf.yield %s : tensor<?x70xf32>
  }
  // What the loop began with is used after it.
  return %y, %first : tensor<?x70xf32>, tensor<?x70xf32>
}

func.func @two(%x: tensor<?x70xf32>, %g: tensor<70xf32>, %n: index) -> (tensor<?x70xf32>, tensor<?x70xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y, %z = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x, %k = %x) -> (tensor<?x70xf32>, tensor<?x70xf32>) {
    %s = func.call @step(%h, %g) : (tensor<?x70xf32>, tensor<70xf32>) -> tensor<?x70xf32>
    %t = resid.add %k, %h : tensor<?x70xf32>
    scf.yield %s, %t : tensor<?x70xf32>, tensor<?x70xf32>
  }
  return %y, %z : tensor<?x70xf32>, tensor<?x70xf32>
}

func.func @nested(%x: tensor<?x70xf32>, %g: tensor<70xf32>, %n: index) -> tensor<?x70xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<?x70xf32> {
    %inner = scf.for %j = %c0 to %n step %c1 iter_args(%k = %h) -> tensor<?x70xf32> {
      %s = func.call @step(%k, %g) : (tensor<?x70xf32>, tensor<70xf32>) -> tensor<?x70xf32>
      scf.yield %s : tensor<?x70xf32>
    }
    %t = resid.add %inner, %h : tensor<?x70xf32>
    scf.yield %t : tensor<?x70xf32>
  }
  return %y : tensor<?x70xf32>
}
