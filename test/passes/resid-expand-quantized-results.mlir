// RUN: resid-opt %s --resid-expand-quantized-results | FileCheck %s
// Any first pass of resid-opt finds the ops expanded.
// RUN: resid-opt %s --cse | FileCheck %s

// CHECK-LABEL: func.func @norms
// CHECK: %[[N:.*]] = resid.layer_norm %arg0 {epsilon = {{[^}]*}}} : tensor<4x8xf32>{{$}}
// CHECK: %q, %scale = resid.quantize %[[N]] {granularity = row} : tensor<4x8xf32>
// CHECK: %[[M:.*]], %[[SUM:.*]] = resid.add_norm rms %arg0, %arg0 {epsilon = {{[^}]*}}} : tensor<4x8xf32>{{$}}
// CHECK: %[[Q:.*]] = resid.quantize %[[M]] scale(%arg1) {granularity = tensor}
// CHECK: return %q, %scale, %[[Q]], %[[SUM]]
func.func @norms(%x: tensor<4x8xf32>, %s: tensor<f32>) -> (tensor<4x8xi8>, tensor<4xf32>, tensor<4x8xi8>, tensor<4x8xf32>) {
  %q, %r = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xi8>, tensor<4xf32>
  %t, %sum = resid.add_norm rms %x, %x quantize(tensor scale %s : tensor<f32>) {epsilon = 1.0e-5}
      : tensor<4x8xf32> -> tensor<4x8xi8>, tensor<4x8xf32>
  return %q, %r, %t, %sum : tensor<4x8xi8>, tensor<4xf32>, tensor<4x8xi8>, tensor<4x8xf32>
}

// A block within the branch of another.
// CHECK-LABEL: func.func @block
// CHECK: %[[Y:.*]] = resid.block post %arg0 norm(rms epsilon = {{.*}}) : tensor<4x8xf32> {
// CHECK: %[[Z:.*]] = resid.block none %{{.*}} : tensor<4x8xf32> {
// CHECK: resid.quantize %[[Z]] {granularity = group 3}
// CHECK: resid.quantize %[[Y]] {granularity = row}
func.func @block(%x: tensor<4x8xf32>) -> (tensor<4x8xi8>, tensor<4xf32>) {
  %q, %r = resid.block post %x norm(rms epsilon = 1.0e-6) : tensor<4x8xf32> -> tensor<4x8xi8>, tensor<4xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %i, %s = resid.block none %h quantize(group 3) : tensor<4x8xf32> -> tensor<4x8xi8>, tensor<4x3xf32> {
    ^bb0(%k: tensor<4x8xf32>):
      resid.yield %k : tensor<4x8xf32>
    }
    %f = resid.dequantize %i scale(%s) {granularity = group 3} : tensor<4x8xi8>, tensor<4x3xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %q, %r : tensor<4x8xi8>, tensor<4xf32>
}
