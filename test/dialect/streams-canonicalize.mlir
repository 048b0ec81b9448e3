// RUN: resid-opt %s -canonicalize | FileCheck %s
// One stream is what it was without streams, and weights of 1 are none. No bit changes.

// CHECK-LABEL: func.func @one_stream
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[}}[0], [1, 2]] : tensor<?x1x8xf32> into tensor<?x8xf32>
// CHECK: %[[G:.*]] = tensor.collapse_shape %arg2 {{\[}}[0], [1, 2]] : tensor<?x1x1xf32> into tensor<?x1xf32>
// CHECK: %[[S:.*]] = resid.add %[[X]], %arg1 gate(%[[G]]) {skip_scale = 1.250000e+00 : f64} : tensor<?x8xf32>, tensor<?x1xf32>
// CHECK: tensor.expand_shape %[[S]] {{\[}}[0], [1, 2]] {{.*}} : tensor<?x8xf32> into tensor<?x1x8xf32>
func.func @one_stream(%x: tensor<?x1x8xf32>, %y: tensor<?x8xf32>, %b: tensor<?x1x1xf32>) -> tensor<?x1x8xf32> {
  %c = arith.constant dense<1.25> : tensor<1x1xf32>
  %0 = resid.write %x, %y weights(%b) mix(%c) : tensor<?x1x8xf32>, tensor<?x1x1xf32>, tensor<1x1xf32>
  return %0 : tensor<?x1x8xf32>
}

// CHECK-LABEL: func.func @one_stream_read
// CHECK-NEXT: tensor.collapse_shape %arg0 {{\[}}[0, 1]] : tensor<1x8xbf16> into tensor<8xbf16>
// CHECK-NEXT: resid.read %arg0 : tensor<1x8xbf16> -> tensor<8xf32>
func.func @one_stream_read(%x: tensor<1x8xbf16>) -> (tensor<8xbf16>, tensor<8xf32>) {
  %0 = resid.read %x : tensor<1x8xbf16>
  %1 = resid.read %x : tensor<1x8xbf16> -> tensor<8xf32>
  return %0, %1 : tensor<8xbf16>, tensor<8xf32>
}

// CHECK-LABEL: func.func @ones
// CHECK: resid.read %arg0 : tensor<?x4x8xf32>{{$}}
// CHECK: resid.write %arg0, %arg1 : tensor<?x4x8xf32>{{$}}
func.func @ones(%x: tensor<?x4x8xf32>, %y: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x4x8xf32>) {
  %c = arith.constant dense<1.0> : tensor<4x1xf32>
  %0 = resid.read %x weights(%c) : tensor<?x4x8xf32>, tensor<4x1xf32>
  %1 = resid.write %x, %y weights(%c) : tensor<?x4x8xf32>, tensor<4x1xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x4x8xf32>
}

// A mix of run time has the same bits, but is no attribute; a constant one may turn -0 into +0; an infinite one is no skip_scale.
// CHECK-LABEL: func.func @stays
// CHECK: resid.write %arg0, %arg1 mix(%arg2)
// CHECK: resid.write %arg3, %arg1 mix(%{{.*}})
// CHECK: resid.write %arg0, %arg1 mix(%{{.*}})
func.func @stays(%x: tensor<?x1x8xf32>, %y: tensor<?x8xf32>, %c: tensor<1x1xf32>, %s: tensor<?x2x8xf32>)
    -> (tensor<?x1x8xf32>, tensor<?x2x8xf32>, tensor<?x1x8xf32>) {
  %0 = resid.write %x, %y mix(%c) : tensor<?x1x8xf32>, tensor<1x1xf32>
  %i = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %1 = resid.write %s, %y mix(%i) : tensor<?x2x8xf32>, tensor<2x2xf32>
  %h = arith.constant dense<0x7F800000> : tensor<1x1xf32>
  %2 = resid.write %x, %y mix(%h) : tensor<?x1x8xf32>, tensor<1x1xf32>
  return %0, %1, %2 : tensor<?x1x8xf32>, tensor<?x2x8xf32>, tensor<?x1x8xf32>
}
