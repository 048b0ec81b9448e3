// Elementwise ops on groups of single columns go along the groups.
// RUN: resid-opt %s --resid-drop-unit-columns | FileCheck %s

// CHECK-LABEL: func.func @weights(
// CHECK:         %[[ROWS:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<?x4x1xf32> into tensor<?x4xf32>
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[ROWS]], %{{.*}} : tensor<?x4xf32>, tensor<4xf32>)
// CHECK:         tensor.expand_shape {{.*}} : tensor<?x4xf32> into tensor<?x4x1xf32>
// CHECK:         linalg.generic {{.*}} : tensor<?x4xf32>)
func.func @weights(%z: tensor<?x4x1xf32>, %base: tensor<4x1xf32>) -> tensor<?x4x1xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %z, %c0 : tensor<?x4x1xf32>
  %empty = tensor.empty(%rows) : tensor<?x4x1xf32>
  %sums = linalg.generic {
      indexing_maps = [affine_map<(r, i, c) -> (r, i, c)>, affine_map<(r, i, c) -> (i, c)>, affine_map<(r, i, c) -> (r, i, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%z, %base : tensor<?x4x1xf32>, tensor<4x1xf32>) outs(%empty : tensor<?x4x1xf32>) {
    ^bb0(%x: f32, %b: f32, %out: f32):
      %t = arith.addf %x, %b : f32
      linalg.yield %t : f32
  } -> tensor<?x4x1xf32>
  %mapped = linalg.map ins(%sums : tensor<?x4x1xf32>) outs(%empty : tensor<?x4x1xf32>) (%in: f32, %out: f32) {
    %t = math.exp %in : f32
    linalg.yield %t : f32
  }
  return %mapped : tensor<?x4x1xf32>
}

// Rows of which nobody knows how many are a group; wider ones; and sums.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     collapse_shape
// CHECK:         return
func.func @others(%open: tensor<4x?x1xf32>, %wide: tensor<?x4x2xf32>, %summed: tensor<3x4x1xf32>, %sum: tensor<3x1xf32>) -> (tensor<4x?x1xf32>, tensor<?x4x2xf32>, tensor<3x1xf32>) {
  %a = linalg.exp ins(%open : tensor<4x?x1xf32>) outs(%open : tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
  %b = linalg.exp ins(%wide : tensor<?x4x2xf32>) outs(%wide : tensor<?x4x2xf32>) -> tensor<?x4x2xf32>
  %c = linalg.reduce { arith.addf } ins(%summed : tensor<3x4x1xf32>) outs(%sum : tensor<3x1xf32>) dimensions = [1]
  return %a, %b, %c : tensor<4x?x1xf32>, tensor<?x4x2xf32>, tensor<3x1xf32>
}
