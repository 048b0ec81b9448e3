// RUN: resid-opt %s --resid-prepare-entries --resid-row-kernels --resid-pack-strided --split-input-file | FileCheck %s

// Row kernels and linalg read and write strided arrays where they are.
// CHECK-LABEL: @in_place.impl
// CHECK-NOT:     linalg.copy
func.func @in_place(%x: tensor<4x8xf32> {resid.strided}, %w: tensor<8x8xf32> {resid.strided})
    -> (tensor<4x8xf32> {resid.strided}, tensor<4x8xf32> {resid.strided}) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
  %f = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<4x8xf32>
  return %f, %n : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A norm over two axes needs its columns next to each other: copied once, computed elsewhere, copied back.
// CHECK-LABEL: @two_axes.impl
// CHECK:         %[[X:.*]] = bufferization.to_tensor
// CHECK:         %[[PACKED:.*]] = linalg.copy ins(%[[X]]
// CHECK-NOT:     linalg.copy
// CHECK:         %[[KERNELS:.*]]:2 = rows.kernel {{.*}}ins(%[[PACKED]]
// CHECK:         %[[COPY:.*]] = linalg.copy ins(%[[KERNELS]]#{{[01]}}
// CHECK:         materialize_in_destination %[[COPY]]
// CHECK:         materialize_in_destination %[[KERNELS]]#{{[01]}}
func.func @two_axes(%x: tensor<?x4x8xf32> {resid.strided}) -> (tensor<?x4x8xf32> {resid.strided}, tensor<?x4x8xf32>) {
  %n = resid.rms_norm %x {epsilon = 1.0e-6, norm_rank = 2 : i64} : tensor<?x4x8xf32>
  %s = resid.add %x, %n : tensor<?x4x8xf32>
  return %n, %s : tensor<?x4x8xf32>, tensor<?x4x8xf32>
}

// -----

// What a loop carries along has one layout.
// CHECK-LABEL: @carried.impl
// CHECK:         %[[PACKED:.*]] = linalg.copy
// CHECK:         %[[LOOP:.*]] = scf.for {{.*}}iter_args(%{{.*}} = %[[PACKED]])
// CHECK:         %[[COPY:.*]] = linalg.copy ins(%[[LOOP]]
// CHECK:         materialize_in_destination %[[COPY]]
func.func @carried(%x: tensor<?x8xf32> {resid.strided}, %n: index) -> (tensor<?x8xf32> {resid.strided}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?x8xf32> {
    %s = resid.rms_norm %a {epsilon = 1.0e-6} : tensor<?x8xf32>
    scf.yield %s : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}
