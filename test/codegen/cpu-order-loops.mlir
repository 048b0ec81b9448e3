// Contractions run along contiguous elements; nothing moves where that is impossible or changes the order of sums.
// RUN: resid-opt %s --resid-order-loops | FileCheck %s

// CHECK-DAG: #[[LEFT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[RIGHT:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>

// CHECK-LABEL: func.func @matmul(
// CHECK:         linalg.generic {indexing_maps = [#[[LEFT]], #[[RIGHT]], #[[OUT]]],
// CHECK-SAME:      iterator_types = ["parallel", "reduction", "parallel"]}
func.func @matmul(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

#left = affine_map<(m, n, k) -> (m, k)>
#right_transposed = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @transposed(
// CHECK:         iterator_types = ["parallel", "parallel", "reduction"]
func.func @transposed(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#left, #right_transposed, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @row_sums(
// CHECK:         linalg.reduce
func.func @row_sums(%a: memref<?x?xf32>, %c: memref<?xf32>) {
  linalg.reduce {arith.addf} ins(%a : memref<?x?xf32>) outs(%c : memref<?xf32>) dimensions = [1]
  return
}
