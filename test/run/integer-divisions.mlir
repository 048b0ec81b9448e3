// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer divisions of arrays that fill no vector: they must not run for what is after the end.
// REQUIRES: resid-run
// RUN: resid-run %s --check --arg=i32[5]=17,-17,0,5,-5 --arg=i32[5]=3,3,-7,-2,-2 | FileCheck %s
// CHECK-COUNT-7: ok, bit-equal
func.func @main(%x: tensor<5xi32>, %y: tensor<5xi32>)
    -> (tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>) {
  %0 = arith.divsi %x, %y : tensor<5xi32>
  %1 = arith.divui %x, %y : tensor<5xi32>
  %2 = arith.remsi %x, %y : tensor<5xi32>
  %3 = arith.remui %x, %y : tensor<5xi32>
  %4 = arith.floordivsi %x, %y : tensor<5xi32>
  %5 = arith.ceildivsi %x, %y : tensor<5xi32>
  %6 = arith.ceildivui %x, %y : tensor<5xi32>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>
}
