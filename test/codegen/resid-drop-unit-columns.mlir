// Elementwise ops on groups of single columns go along the groups.
// RUN: resid-opt %s --resid-drop-unit-columns | FileCheck %s
// RUN: residc %s -o %t.o

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

// A column of a wider array, one that goes into such an array, and arrays with strides. The first is also that of a part.
// CHECK-LABEL: func.func @columns(
// CHECK-NOT:     collapse_shape
// CHECK:         return
func.func @columns(%wide: tensor<2x3x4x7xf32>, %strided: tensor<2x3x4x1xf32> {resid.strided}, %whole: tensor<2x3x4x1xf32>)
    -> (tensor<2x3x4x1xf32>, tensor<2x3x4x1xf32>, tensor<2x3x4x7xf32>, tensor<2x3x4x2xf32>) {
  %empty = tensor.empty() : tensor<2x3x4x1xf32>
  %column = tensor.extract_slice %wide[0, 0, 0, 5] [2, 3, 4, 1] [1, 1, 1, 1] : tensor<2x3x4x7xf32> to tensor<2x3x4x1xf32>
  %a = linalg.exp ins(%column : tensor<2x3x4x1xf32>) outs(%empty : tensor<2x3x4x1xf32>) -> tensor<2x3x4x1xf32>
  %b = linalg.exp ins(%strided : tensor<2x3x4x1xf32>) outs(%empty : tensor<2x3x4x1xf32>) -> tensor<2x3x4x1xf32>
  %c = linalg.exp ins(%whole : tensor<2x3x4x1xf32>) outs(%empty : tensor<2x3x4x1xf32>) -> tensor<2x3x4x1xf32>
  %d = tensor.insert_slice %c into %wide[0, 0, 0, 2] [2, 3, 4, 1] [1, 1, 1, 1] : tensor<2x3x4x1xf32> into tensor<2x3x4x7xf32>
  %e = linalg.log ins(%whole : tensor<2x3x4x1xf32>) outs(%empty : tensor<2x3x4x1xf32>) -> tensor<2x3x4x1xf32>
  %f = tensor.concat dim(3) %e, %whole : (tensor<2x3x4x1xf32>, tensor<2x3x4x1xf32>) -> tensor<2x3x4x2xf32>
  return %a, %b, %d, %f : tensor<2x3x4x1xf32>, tensor<2x3x4x1xf32>, tensor<2x3x4x7xf32>, tensor<2x3x4x2xf32>
}

// Parts of the groups themselves lie together.
// CHECK-LABEL: func.func @parts(
// CHECK-COUNT-2: linalg.generic {{.*}} : tensor<?x4xf32>)
func.func @parts(%z: tensor<?x24xf32>, %base: tensor<24x1xf32>) -> (tensor<?x4x1xf32>, tensor<?x4x1xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %z, %c0 : tensor<?x24xf32>
  %empty = tensor.empty(%rows) : tensor<?x4x1xf32>
  %four = tensor.extract_slice %z[0, 8] [%rows, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %w = tensor.expand_shape %four [[0], [1, 2]] output_shape [%rows, 4, 1] : tensor<?x4xf32> into tensor<?x4x1xf32>
  %a = linalg.exp ins(%w : tensor<?x4x1xf32>) outs(%empty : tensor<?x4x1xf32>) -> tensor<?x4x1xf32>
  %part = tensor.extract_slice %base[4, 0] [4, 1] [1, 1] : tensor<24x1xf32> to tensor<4x1xf32>
  %b = linalg.generic {
      indexing_maps = [affine_map<(r, i, c) -> (i, c)>, affine_map<(r, i, c) -> (r, i, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%part : tensor<4x1xf32>) outs(%empty : tensor<?x4x1xf32>) {
    ^bb0(%x: f32, %out: f32):
      %t = math.exp %x : f32
      linalg.yield %t : f32
  } -> tensor<?x4x1xf32>
  return %a, %b : tensor<?x4x1xf32>, tensor<?x4x1xf32>
}
