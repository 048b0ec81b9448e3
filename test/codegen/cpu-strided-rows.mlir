// RUN: resid-opt %s --resid-lower-kernels | FileCheck %s

// Rows that lie evenly apart over all row dimensions: one multiplication per row finds them.
// CHECK-LABEL: func.func private @even__rows(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: !llvm.ptr, %[[STRIDE:[a-z0-9]+]]: i64,
// CHECK-NOT:     arith.remui
// CHECK:         arith.muli %{{.*}}, %[[STRIDE]] : i64
// CHECK-NOT:     arith.remui
// CHECK-LABEL: func.func @even(
func.func @even(%x: memref<?x?x?xf32, strided<[?, ?, 1]>> {resid.strided}, %y: memref<?x?x?xf32>, %b: index, %r: index, %c: index) {
  rows.kernel rows(%b, %r) columns(%c) ins(%x : memref<?x?x?xf32, strided<[?, ?, 1]>>) outs(%y : memref<?x?x?xf32>)
      attributes {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>]} {
  ^bb0(%row: index, %xrow: !rows.row<f32>, %yrow: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xrow[%j] : !rows.row<f32> -> f32
      rows.store %v, %yrow[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// Strides that nobody vouches for: the row number is taken apart.
// CHECK-LABEL: func.func private @uneven__rows(
// CHECK:         arith.remui
// CHECK-LABEL: func.func @uneven(
func.func @uneven(%x: memref<?x?x?xf32, strided<[?, ?, 1]>>, %y: memref<?x?x?xf32>, %b: index, %r: index, %c: index) {
  rows.kernel rows(%b, %r) columns(%c) ins(%x : memref<?x?x?xf32, strided<[?, ?, 1]>>) outs(%y : memref<?x?x?xf32>)
      attributes {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>]} {
  ^bb0(%row: index, %xrow: !rows.row<f32>, %yrow: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xrow[%j] : !rows.row<f32> -> f32
      rows.store %v, %yrow[%j] : f32, !rows.row<f32>
    }
  }
  return
}
