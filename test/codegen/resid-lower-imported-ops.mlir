// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: resid-opt %s --resid-lower-imported-ops | FileCheck %s
// RUN: resid-opt %s --resid-lower-imported-ops --resid-to-linalg | FileCheck %s --check-prefix=CHECKED

// CHECK-LABEL: func.func @gather(
// CHECK: linalg.generic
// CHECK: ^bb0(%[[I:.*]]: i64, %{{.*}}: f32):
// CHECK-DAG: %[[D:.*]] = linalg.index 1
// CHECK-DAG: %[[K:.*]] = arith.index_cast %[[I]]
// CHECK: tensor.extract %{{.*}}[%[[K]], %[[D]]]
// CHECKED-LABEL: func.func @gather(
// CHECKED: rows.require {{.*}} says "an index of tensor.extract lies outside of its tensor"
// CHECKED-NOT: rows.require
// CHECKED: return
func.func @gather(%table: tensor<8x5xf32>, %ids: tensor<?x1xi64>) -> tensor<?x5xf32> {
  %y = tensor.gather %table[%ids] gather_dims([0]) : (tensor<8x5xf32>, tensor<?x1xi64>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// CHECK-LABEL: func.func @scatter(
// CHECK: scf.for
// CHECK: tensor.insert_slice
// CHECKED-LABEL: func.func @scatter(
// CHECKED: rows.require {{.*}} status -4 says "tensor.insert_slice reaches outside of its tensor"
func.func @scatter(%rows: tensor<2x5xf32>, %into: tensor<8x5xf32>, %ids: tensor<2x1xi64>) -> tensor<8x5xf32> {
  %y = tensor.scatter %rows into %into[%ids] scatter_dims([0]) unique
      : (tensor<2x5xf32>, tensor<8x5xf32>, tensor<2x1xi64>) -> tensor<8x5xf32>
  return %y : tensor<8x5xf32>
}

// What follows from sizes and loops is not checked when the program runs.
// CHECKED-LABEL: func.func @known(
// CHECKED-NOT: rows.require
// CHECKED: return
func.func @known(%x: tensor<?x8xf32>, %table: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> tensor<8xf32> {
    %v = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    %t = arith.addf %s, %v : tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  }
  %z = tensor.generate {
  ^bb0(%i: index):
    %c7 = arith.constant 7 : index
    %k = arith.subi %c7, %i : index
    %v = tensor.extract %table[%k] : tensor<8xf32>
    tensor.yield %v : f32
  } : tensor<8xf32>
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}

// One more than the loop's last turn is not known to be there.
// CHECKED-LABEL: func.func @next(
// CHECKED: scf.for
// CHECKED: rows.require {{.*}} says "tensor.extract_slice reaches outside of its tensor"
func.func @next(%x: tensor<?x8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> tensor<8xf32> {
    %next = arith.addi %i, %c1 : index
    %v = tensor.extract_slice %x[%next, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    %t = arith.addf %s, %v : tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}
