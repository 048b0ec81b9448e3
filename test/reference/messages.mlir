// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the evaluator says of values that a valid program must not get.
//
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=index --arg=f32[4]=1 --arg=9 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: messages.mlir:[[#]]:[[#]]: error: 'tensor.extract' op expected an index below 4 in dimension 0 but got 9
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=slice --arg=f32[4]=1 --arg=3 2>&1 | FileCheck %s --check-prefix=SLICE
// SLICE: messages.mlir:[[#]]:[[#]]: error: 'tensor.extract_slice' op expected dimension 0 of the slice inside of size 4 but got offset 3, size 2, stride 1
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=step --arg=f32[4]=1 --arg=0 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: messages.mlir:[[#]]:[[#]]: error: 'scf.for' op expected a step of 1 or more but got 0
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=size --arg=-3 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: messages.mlir:[[#]]:[[#]]: error: 'tensor.empty' op expected sizes of 0 or more but got -3
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 resid-run %s --backend=reference --entry=bias --arg=f32[2x4]=1 --arg=f32[3]=1 2>&1 | FileCheck %s --check-prefix=BIAS
// BIAS: messages.mlir:[[#]]:[[#]]: error: 'resid.add_bias' op expected bias to have size 4 but got 3
// REQUIRES: resid-run

func.func @index(%x: tensor<4xf32>, %i: index) -> tensor<f32> {
  %e = tensor.extract %x[%i] : tensor<4xf32>
  %y = tensor.from_elements %e : tensor<f32>
  return %y : tensor<f32>
}

func.func @slice(%x: tensor<?xf32>, %i: index) -> tensor<2xf32> {
  %y = tensor.extract_slice %x[%i] [2] [1] : tensor<?xf32> to tensor<2xf32>
  return %y : tensor<2xf32>
}

func.func @step(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %y = scf.for %k = %c0 to %c4 step %i iter_args(%a = %x) -> (tensor<4xf32>) {
    scf.yield %a : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

func.func @size(%x: index) -> tensor<?xf32> {
  %y = tensor.empty(%x) : tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @bias(%x: tensor<2x4xf32>, %b: tensor<?xf32>) -> tensor<2x4xf32> {
  %y = resid.add_bias %x, %b : tensor<2x4xf32>, tensor<?xf32>
  return %y : tensor<2x4xf32>
}
