// RUN: resid-opt %s -resid-convert-norm-placement="to=peri" | FileCheck %s
// RUN: not resid-opt %s -resid-convert-norm-placement="to=sandwich" 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not resid-opt %s -resid-convert-norm-placement 2>&1 | FileCheck %s --check-prefix=MISSING
// WRONG: error: expected to=post, pre, branch_post, peri, post_shifted or none, but got 'sandwich'
// MISSING: error: expected to=post, pre, branch_post, peri, post_shifted or none, but got ''
// Between placements that leave the stream raw, who reads it in the middle reads what it read before.

// CHECK-LABEL: func.func @auxiliary_head(
// CHECK: %[[Y0:.*]] = resid.block peri %arg0
// CHECK: %[[HEAD:.*]] = math.exp %[[Y0]]
// CHECK: %[[Y1:.*]] = resid.block peri %[[Y0]]
// CHECK: arith.addf %[[Y0]]
// CHECK: %[[Y:.*]] = resid.rms_norm %[[Y1]]
// CHECK: return %[[HEAD]], %[[Y]]
func.func @auxiliary_head(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %y0 = resid.block pre %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %head = math.exp %y0 : tensor<2x8xf32>
  %y1 = resid.block pre %y0 norm(rms epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    %f = arith.addf %y0, %h : tensor<2x8xf32>
    resid.yield %f : tensor<2x8xf32>
  }
  return %head, %y1 : tensor<2x8xf32>, tensor<2x8xf32>
}

// Where the stream forks it goes on raw: there is no final norm.
// CHECK-LABEL: func.func @fork(
// CHECK: %[[Y0:.*]] = resid.block peri %arg0
// CHECK: %[[A:.*]] = resid.block peri %[[Y0]]
// CHECK: resid.rms_norm %[[A]]
// CHECK: %[[B:.*]] = resid.block peri %[[Y0]]
// CHECK: resid.rms_norm %[[B]]
func.func @fork(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %y0 = resid.block pre %x norm(rms epsilon = 1.0e-6) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %a = resid.block pre %y0 norm(rms epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %b = resid.block pre %y0 norm(rms epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %a, %b : tensor<2x8xf32>, tensor<2x8xf32>
}
