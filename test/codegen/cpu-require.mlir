// A run-time condition stores its status in the function's status cell, unless one is stored already.
// RUN: resid-opt %s --resid-lower-require --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @checked(
// CHECK-SAME:      %[[CONDITION:.*]]: i1, %[[CELL:.*]]: memref<i32>)
// CHECK:         %[[CURRENT:.*]] = memref.load %[[CELL]][]
// CHECK:         %[[UNSET:.*]] = arith.cmpi eq, %[[CURRENT]], %c0_i32
// CHECK:         %[[FAILED:.*]] = arith.select %[[UNSET]], %c-4_i32, %[[CURRENT]]
// CHECK:         %[[NEXT:.*]] = arith.select %[[CONDITION]], %[[CURRENT]], %[[FAILED]]
// CHECK:         memref.store %[[NEXT]], %[[CELL]][]
// CHECK-NOT:     rows.require
func.func @checked(%condition: i1, %status: memref<i32>) {
  rows.require %condition status -4
  return
}

// -----

func.func @no_cell(%condition: i1, %not_a_cell: memref<4xi32>) {
  // expected-error @below {{expected a function whose last argument is the status cell, a memref<i32>, but got '(i1, memref<4xi32>) -> ()'}}
  rows.require %condition status -4
  return
}
