// RUN: resid-opt %s --resid-lower-packs --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @panels(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[0, 7]
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[PADDED]] {{\[\[}}0], [1, 2]] output_shape [4, 2, 16]
// CHECK: linalg.transpose ins(%[[SPLIT]] : tensor<4x2x16xf32>) outs(%{{.*}} : tensor<2x4x16xf32>) permutation = [1, 0, 2]
// CHECK-LABEL: func.func @matrix(
// CHECK: %[[ORDERED:.*]] = linalg.transpose ins(%{{.*}} : tensor<2x4x16xf32>) {{.*}} permutation = [1, 0, 2]
// CHECK: %[[JOINED:.*]] = tensor.collapse_shape %[[ORDERED]] {{\[\[}}0], [1, 2]]
// CHECK: tensor.extract_slice %[[JOINED]][0, 0] [4, 25] [1, 1]
func.func @panels(%w: tensor<4x25xf32>) -> tensor<2x4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x16xf32>
  %p = linalg.pack %w padding_value(%zero : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e : tensor<4x25xf32> -> tensor<2x4x16xf32>
  return %p : tensor<2x4x16xf32>
}
func.func @matrix(%p: tensor<2x4x16xf32>) -> tensor<4x25xf32> {
  %e = tensor.empty() : tensor<4x25xf32>
  %w = linalg.unpack %p outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e : tensor<2x4x16xf32> -> tensor<4x25xf32>
  return %w : tensor<4x25xf32>
}

// -----

// A call could bring arrays that do not fit together.
func.func @open(%w: tensor<?x8xf32>, %e: tensor<?x8x2xf32>) -> tensor<?x8x2xf32> {
  // expected-error @below {{'linalg.pack' op is not available on any target: expected tensors of static sizes}}
  %p = linalg.pack %w inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<?x8xf32> -> tensor<?x8x2xf32>
  return %p : tensor<?x8x2xf32>
}

// -----

func.func @open_panels(%p: tensor<?x8x2xf32>, %e: tensor<5x8xf32>) -> tensor<5x8xf32> {
  // expected-error @below {{'linalg.unpack' op is not available on any target: expected tensors of static sizes}}
  %w = linalg.unpack %p inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<?x8x2xf32> -> tensor<5x8xf32>
  return %w : tensor<5x8xf32>
}
