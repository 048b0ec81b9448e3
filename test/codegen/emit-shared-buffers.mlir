// RUN: resid-opt %s --resid-prepare-entries --resid-row-kernels --resid-bufferize --resid-plan-scratch --resid-build-entries | FileCheck %s

// Which output may be exactly which input: same type, same rows and columns, one kernel.

// CHECK: func.func @chain({{.*}}in_place = [array<i64: 0, 0>, array<i64: 0, 1>, array<i64: 1, 0>, array<i64: 1, 1>]
// CHECK: func.func private @chain.impl({{[^{]*}}, %{{[a-z0-9]+}}: i64) {
func.func @chain(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>, %gamma: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %s = resid.add %x, %f : tensor<?x8xf32>
  %n = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x8xf32>, tensor<8xf32>
  return %n, %s : tensor<?x8xf32>, tensor<?x8xf32>
}

// Another element type, and a parameter that happens to have the stream's shape.
// CHECK: func.func @wider({{.*}}in_place = []
func.func @wider(%x: tensor<?x8xbf16>, %f: tensor<?x8xbf16>) -> tensor<?x8xf32> {
  %s = resid.add %x, %f : tensor<?x8xbf16> -> tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}
// CHECK: func.func @parameter({{.*}}in_place = [array<i64: 0, 0>]
func.func @parameter(%x: tensor<1x8xf32>, %bias: tensor<8xf32>) -> tensor<1x8xf32> {
  %s = resid.add_bias %x, %bias : tensor<1x8xf32>, tensor<8xf32>
  return %s : tensor<1x8xf32>
}

// Strided arrays share buffers by the same rule; whether their strides are equal is asked at run time.
// CHECK: func.func @strided({{.*}}in_place = [array<i64: 0, 0>, array<i64: 0, 1>]
func.func @strided(%x: tensor<?x8xf32> {resid.strided}, %f: tensor<?x8xf32>) -> (tensor<?x8xf32> {resid.strided}) {
  %s = resid.add %x, %f : tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}
// One that is copied first is read before anything is written, but not row by row.
// CHECK: func.func @packed({{.*}}in_place = []
func.func @packed(%x: tensor<?x4x8xf32> {resid.strided}) -> tensor<?x4x8xf32> {
  %n = resid.rms_norm %x {epsilon = 1.0e-6, norm_rank = 2 : i64} : tensor<?x4x8xf32>
  return %n : tensor<?x4x8xf32>
}

// A matmul reads its input again and again.
// CHECK: func.func @branch({{.*}}in_place = []
// CHECK: func.func private @branch.impl(%{{[a-z0-9]+}}: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr {llvm.noalias}
func.func @branch(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x8xf32>) -> tensor<8x8xf32>
  %f = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = resid.add %x, %f : tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}

// A cache that grows begins as a copy of the argument, and may be it. Nothing is copied then.
// CHECK: func.func @append({{.*}}in_place = [array<i64: 0, 0>]
// CHECK: func.func private @append.impl(
// CHECK:   %[[FROM:.+]] = memref.extract_aligned_pointer_as_index
// CHECK:   %[[TO:.+]] = memref.extract_aligned_pointer_as_index
// CHECK:   %[[DIFFER:.+]] = arith.cmpi ne, %[[FROM]], %[[TO]] : index
// CHECK:   scf.if %[[DIFFER]] {
// CHECK:     rows.kernel
// CHECK:   }
// CHECK:   memref.copy
func.func @append(%cache: tensor<1x2x16x8xf32>, %x: tensor<1x2x1x8xf32>, %past: i64) -> tensor<1x2x16x8xf32> {
  %y = resid.append %cache, %x past(%past) : tensor<1x2x16x8xf32>, tensor<1x2x1x8xf32>
  return %y : tensor<1x2x16x8xf32>
}

// One that is read afterwards, or of another type, is not.
// CHECK: func.func @twice({{.*}}in_place = []
func.func @twice(%cache: tensor<1x2x16x8xf32>, %x: tensor<1x2x1x8xf32>, %past: i64) -> (tensor<1x2x16x8xf32>, tensor<1x2x16x8xf32>) {
  %y = resid.append %cache, %x past(%past) : tensor<1x2x16x8xf32>, tensor<1x2x1x8xf32>
  %z = arith.addf %cache, %y : tensor<1x2x16x8xf32>
  return %y, %z : tensor<1x2x16x8xf32>, tensor<1x2x16x8xf32>
}
