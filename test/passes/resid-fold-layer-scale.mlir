// RUN: resid-opt %s -resid-fold-layer-scale="report=true" -verify-diagnostics -split-input-file | FileCheck %s
// What a folded gate leaves, and every reason to refuse one. The values are compared in test/run/layer-scale.test.

// CHECK-LABEL: func.func @signature(
// CHECK-SAME: tensor<4x8xf32>, %{{[^:]*}}: tensor<4x6xf32>, %[[W:[^:]*]]: tensor<6x8xf32> {resid.prepared = 0 : i64}, %[[B:[^:]*]]: tensor<8xf32> {resid.prepared = 1 : i64})
// CHECK: linalg.matmul ins(%{{.*}}, %[[W]]
// CHECK: %[[F:.*]] = resid.add_bias %{{.*}}, %[[B]]
// CHECK: resid.add %{{[^,]*}}, %[[F]] : tensor<4x8xf32>
// CHECK-LABEL: func.func @signature_prepare(
// CHECK-SAME: %[[W:[^:]*]]: tensor<6x8xf32>, %[[B:[^:]*]]: tensor<8xf32>, %[[G:[^:]*]]: tensor<8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[W]], %[[G]]
// CHECK: linalg.generic {{.*}} ins(%[[B]], %[[G]]
func.func @signature(%x: tensor<4x8xf32>, %u: tensor<4x6xf32>, %w: tensor<6x8xf32>, %b: tensor<8xf32>, %gate: tensor<8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  %m = linalg.matmul ins(%u, %w : tensor<4x6xf32>, tensor<6x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
  %f = resid.add_bias %m, %b : tensor<4x8xf32>, tensor<8xf32>
  // expected-remark @below {{folded (exact in real arithmetic): gate into the linear layer before it}}
  %y = resid.add %x, %f gate(%gate) : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Columns of a weight [in, out] are scaled.
// CHECK-LABEL: func.func @constants(
// CHECK-DAG: arith.constant dense<{{\[\[}}5.000000e-01, 6.000000e+00], [2.500000e-01, -1.200000e+01]]> : tensor<2x2xf32>
// CHECK-DAG: arith.constant dense<[4.000000e+00, 1.200000e+01]> : tensor<2xf32>
// CHECK-NOT: gate
func.func @constants(%x: tensor<4x2xf32>, %u: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x2xf32>
  %w = arith.constant dense<[[1.0, -2.0], [0.5, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[8.0, -4.0]> : tensor<2xf32>
  %gate = arith.constant dense<[0.25, -1.5]> : tensor<2xf32>
  %m = linalg.matmul ins(%u, %w : tensor<4x2xf32>, tensor<2x2xf32>) outs(%zeros : tensor<4x2xf32>) -> tensor<4x2xf32>
  %f = resid.add_bias %m, %b : tensor<4x2xf32>, tensor<2xf32>
  // expected-remark @below {{folded (exact in real arithmetic): gate and branch_scale into the linear layer before it}}
  %y = resid.add %x, %f gate(%gate) {branch_scale = 2.0} : tensor<4x2xf32>, tensor<2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// A narrow branch: the layer's result is widened before it joins the stream.
// CHECK-LABEL: func.func @narrow_branch(
// CHECK-NOT: gate
// CHECK: return
func.func @narrow_branch(%x: tensor<4x8xf32>, %u: tensor<4x6xbf16>, %w: tensor<6x8xbf16>, %gate: tensor<8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xbf16>
  // expected-remark @below {{folded (exact in real arithmetic): gate into the linear layer before it}}
  %y = resid.block none %x gate(%gate : tensor<8xf32>) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %m = linalg.matmul ins(%u, %w : tensor<4x6xbf16>, tensor<6x8xbf16>) outs(%zeros : tensor<4x8xbf16>) -> tensor<4x8xbf16>
    %f = arith.extf %m : tensor<4x8xbf16> to tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @activation(
// CHECK: gate(
func.func @activation(%x: tensor<4x8xf32>, %u: tensor<4x6xf32>, %w: tensor<6x8xf32>, %gate: tensor<8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  %m = linalg.matmul ins(%u, %w : tensor<4x6xf32>, tensor<6x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-note @below {{found here}}
  %f = math.tanh %m : tensor<4x8xf32>
  // expected-remark @below {{not folded: expected a linear layer that makes the value, but got math.tanh}}
  %y = resid.add %x, %f gate(%gate) : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A bias together with an activation in one elementwise op is no bias.
// CHECK-LABEL: func.func @bias_with_activation(
// CHECK: gate(
func.func @bias_with_activation(%x: tensor<4x8xf32>, %u: tensor<4x6xf32>, %w: tensor<6x8xf32>, %b: tensor<8xf32>, %gate: tensor<8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  %m = linalg.matmul ins(%u, %w : tensor<4x6xf32>, tensor<6x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-note @below {{found here}}
  %f = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%m, %b : tensor<4x8xf32>, tensor<8xf32>) outs(%zeros : tensor<4x8xf32>) {
  ^bb0(%element: f32, %bias: f32, %out: f32):
    %sum = arith.addf %element, %bias : f32
    %t = math.tanh %sum : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{not folded: expected a linear layer that makes the value, but got linalg.generic}}
  %y = resid.add %x, %f gate(%gate) : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @branch_is_an_argument(
// CHECK: gate(
func.func @branch_is_an_argument(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %gate: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{not folded: expected a linear layer that makes the value, but got an argument}}
  %y = resid.add %x, %f gate(%gate) : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Drop path: one number per sample.
// CHECK-LABEL: func.func @gate_per_sample(
// CHECK: gate(
func.func @gate_per_sample(%x: tensor<4x8xf32>, %u: tensor<4x6xf32>, %w: tensor<6x8xf32>, %gate: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  %f = linalg.matmul ins(%u, %w : tensor<4x6xf32>, tensor<6x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{not folded: expected a gate of one number, or of one per feature, but got one per row or element}}
  %y = resid.add %x, %f gate(%gate) : tensor<4x8xf32>, tensor<4x1xf32>
  return %y : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @full_gate(
// CHECK: gate(
func.func @full_gate(%x: tensor<4x8xf32>, %u: tensor<4x6xf32>, %w: tensor<6x8xf32>, %gate: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  %f = linalg.matmul ins(%u, %w : tensor<4x6xf32>, tensor<6x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{not folded: expected a gate of one number, or of one per feature, but got one per row or element}}
  %y = resid.add %x, %f gate(%gate) : tensor<4x8xf32>, tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @norm_after_branch(
// CHECK: gate(
func.func @norm_after_branch(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %gate: tensor<8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not folded: expected a linear layer right before the gate, but got a norm}}
  %y = resid.block branch_post %x norm(rms epsilon = 1.0e-5) gate(%gate : tensor<8xf32>) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @layer_read_twice(
// CHECK: gate(
func.func @layer_read_twice(%x: tensor<4x8xf32>, %u: tensor<4x6xf32>, %w: tensor<6x8xf32>, %gate: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-note @below {{found here}}
  %f = linalg.matmul ins(%u, %w : tensor<4x6xf32>, tensor<6x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{not folded: expected one reader of linalg.matmul, but got 2}}
  %y = resid.add %x, %f gate(%gate) : tensor<4x8xf32>, tensor<8xf32>
  return %y, %f : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @accumulates(
// CHECK: gate(
func.func @accumulates(%x: tensor<4x8xf32>, %u: tensor<4x6xf32>, %w: tensor<6x8xf32>, %start: tensor<4x8xf32>, %gate: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-note @below {{found here}}
  %f = linalg.matmul ins(%u, %w : tensor<4x6xf32>, tensor<6x8xf32>) outs(%start : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{not folded: expected a linear layer that accumulates onto zeros or a bias, but got other initial values}}
  %y = resid.add %x, %f gate(%gate) : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @weight_per_sample(
// CHECK: gate(
func.func @weight_per_sample(%x: tensor<2x4x8xf32>, %u: tensor<2x4x6xf32>, %w: tensor<2x6x8xf32>, %gate: tensor<8xf32>) -> tensor<2x4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<2x4x8xf32>
  // expected-note @below {{found here}}
  %f = linalg.batch_matmul ins(%u, %w : tensor<2x4x6xf32>, tensor<2x6x8xf32>) outs(%zeros : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  // expected-remark @below {{not folded: expected a linear layer whose rows share a weight and whose last axis is its output features, but got linalg.batch_matmul}}
  %y = resid.add %x, %f gate(%gate) : tensor<2x4x8xf32>, tensor<8xf32>
  return %y : tensor<2x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @computed_gate(
// CHECK: gate(
func.func @computed_gate(%x: tensor<4x8xf32>, %u: tensor<4x6xf32>, %w: tensor<6x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  %gate = math.tanh %g : tensor<8xf32>
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-note @below {{found here}}
  %f = linalg.matmul ins(%u, %w : tensor<4x6xf32>, tensor<6x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{not folded: expected weights that are constants or arguments of the function, but got the result of math.tanh}}
  %y = resid.add %x, %f gate(%gate) : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @nothing_to_fold(
func.func @nothing_to_fold(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = resid.add %x, %f {skip_scale = 2.0} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The writer is a resid.linear with a bias of its own, and another after.
// CHECK-LABEL: func.func @linear_op(
// CHECK: %[[M:.*]] = resid.linear %{{.*}}, %{{.*}} bias(%{{.*}}) : tensor<4x6xf32>, tensor<8x6xf32>, tensor<8xf32>
// CHECK: %[[F:.*]] = resid.add_bias %[[M]], %{{.*}}
// CHECK: resid.add %{{.*}}, %[[F]] : tensor<4x8xf32>{{$}}
// CHECK-LABEL: func.func @linear_op_prepare(
// CHECK-SAME: -> (tensor<8x6xf32>, tensor<8xf32>, tensor<8xf32>)
func.func @linear_op(%x: tensor<4x8xf32>, %u: tensor<4x6xf32>, %w: tensor<8x6xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>, %gate: tensor<8xf32>) -> tensor<4x8xf32> {
  %m = resid.linear %u, %w bias(%b) : tensor<4x6xf32>, tensor<8x6xf32>, tensor<8xf32>
  %f = resid.add_bias %m, %c : tensor<4x8xf32>, tensor<8xf32>
  // expected-remark @below {{folded}}
  %y = resid.add %x, %f gate(%gate) : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}
