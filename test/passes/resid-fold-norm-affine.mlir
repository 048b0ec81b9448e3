// RUN: resid-opt %s -resid-fold-norm-affine="report=true" -verify-diagnostics -split-input-file | FileCheck %s
// What is written down after a fold, and every reason to refuse one. The values are compared in test/run/norm-affine.test.

// The weight keeps its place and its name, gamma and beta leave, the new bias comes last.
// CHECK-LABEL: func.func @signature(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xf32> {resid.name = "x"}, %[[W:[^:]*]]: tensor<8x6xf32> {resid.name = "w", resid.prepared = 1 : i64},
// CHECK-SAME: %[[ZEROS:[^:]*]]: tensor<4x6xf32> {resid.name = "w_bias"}, %[[B:[^:]*]]: tensor<6xf32> {resid.name = "w_bias_2", resid.prepared = 0 : i64})
// CHECK: %[[N:.*]] = resid.layer_norm %[[X]] {epsilon = {{.*}}} : tensor<4x8xf32>
// CHECK: %[[M:.*]] = linalg.matmul ins(%[[N]], %[[W]] : {{.*}}) outs(%[[ZEROS]]
// CHECK: resid.add_bias %[[M]], %[[B]]
// The function that prepares takes the old weights in the order of the old signature.
// CHECK-LABEL: func.func @signature_prepare(
// CHECK-SAME: %[[G:[^:]*]]: tensor<8xf32> {resid.name = "g"}, %[[BETA:[^:]*]]: tensor<8xf32>, %[[W:[^:]*]]: tensor<8x6xf32> {resid.name = "w"})
// CHECK-SAME: -> (tensor<6xf32>, tensor<8x6xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[BETA]], %[[W]]
// CHECK: linalg.generic {{.*}} ins(%[[W]], %[[G]]
func.func @signature(%x: tensor<4x8xf32> {resid.name = "x"}, %g: tensor<8xf32> {resid.name = "g"}, %b: tensor<8xf32>, %w: tensor<8x6xf32> {resid.name = "w"},
                     %zeros: tensor<4x6xf32> {resid.name = "w_bias"}) -> tensor<4x6xf32> {
  // expected-remark @below {{folded (exact in real arithmetic): gamma and beta into 1 linear layer}}
  %n = resid.layer_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  %y = linalg.matmul ins(%n, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%zeros : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// γ scales rows of a weight [in, out] and adds 1 first; β·W is summed over them. Rounded to bf16 once.
// CHECK-LABEL: func.func @constants(
// CHECK-DAG: arith.constant dense<{{\[\[}}1.500000e+00, -3.000000e+00], [-1.250000e-01, -1.000000e+00]]> : tensor<2x2xbf16>
// CHECK-DAG: arith.constant dense<[1.600000e+01, -1.000000e+01]> : tensor<2xf32>
// CHECK: resid.layer_norm %{{[a-z0-9]*}} {epsilon
// CHECK-NOT: _prepare
func.func @constants(%x: tensor<4x2xf32>, %zeros: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %g = arith.constant dense<[0.5, -1.25]> : tensor<2xf32>
  %b = arith.constant dense<[7.0, 2.0]> : tensor<2xf32>
  %w = arith.constant dense<[[1.0, -2.0], [0.5, 4.0]]> : tensor<2x2xbf16>
  %c = arith.constant dense<[8.0, -4.0]> : tensor<2xf32>
  // expected-remark @below {{folded (exact in real arithmetic): gamma and beta into 1 linear layer}}
  %n = resid.layer_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5, zero_centered_gamma} : tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>
  %h = arith.truncf %n : tensor<4x2xf32> to tensor<4x2xbf16>
  %m = linalg.matmul ins(%h, %w : tensor<4x2xbf16>, tensor<2x2xbf16>) outs(%zeros : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = resid.add_bias %m, %c : tensor<4x2xf32>, tensor<2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// bf16 weights are multiplied in f32 and rounded once.
// CHECK-LABEL: func.func @narrow_weight_prepare(
// CHECK: ^bb0(%[[W:.*]]: bf16, %[[G:.*]]: f32, %{{.*}}: bf16):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[W]] : bf16 to f32
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[WIDE]], %[[G]] : f32
// CHECK-NEXT: %[[R:.*]] = arith.truncf %[[P]] : f32 to bf16
// CHECK-NEXT: linalg.yield %[[R]]
func.func @narrow_weight(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %w: tensor<8x6xbf16>, %zeros: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-remark @below {{folded (exact in real arithmetic): gamma into 1 linear layer}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xbf16>
  %y = linalg.matmul ins(%n, %w : tensor<4x8xbf16>, tensor<8x6xbf16>) outs(%zeros : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// A weight that is widened for the layer alone is the narrow one; its transpose, which is read elsewhere too, is no weight.
// CHECK-LABEL: func.func @widened_weight(
// CHECK-SAME: %[[W:[^:]*]]: tensor<8x6xbf16> {resid.prepared = 0 : i64}
// CHECK: arith.extf %[[W]] : tensor<8x6xbf16> to tensor<8x6xf32>
func.func @widened_weight(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %w: tensor<8x6xbf16>, %zeros: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-remark @below {{folded (exact in real arithmetic): gamma into 1 linear layer}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  %wide = arith.extf %w : tensor<8x6xbf16> to tensor<8x6xf32>
  %y = linalg.matmul ins(%n, %wide : tensor<4x8xf32>, tensor<8x6xf32>) outs(%zeros : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
// CHECK-LABEL: func.func @transpose_read_elsewhere(
// CHECK: resid.rms_norm %{{.*}} gamma(
func.func @transpose_read_elsewhere(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %w: tensor<6x8xf32>, %zeros: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<8x6xf32>) {
  // expected-remark @below {{not folded: expected weights that are constants or arguments of the function, but got the result of linalg.transpose}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  %e = tensor.empty() : tensor<8x6xf32>
  %wt = linalg.transpose ins(%w : tensor<6x8xf32>) outs(%e : tensor<8x6xf32>) permutation = [1, 0]
  // expected-note @below {{found here}}
  %y = linalg.matmul ins(%n, %wt : tensor<4x8xf32>, tensor<8x6xf32>) outs(%zeros : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y, %wt : tensor<4x6xf32>, tensor<8x6xf32>
}

// -----

// The statistics do not depend on gamma and stay. A gamma that another norm reads stays an argument too.
// CHECK-LABEL: func.func @statistics_and_shared_gamma(
// CHECK-SAME: %{{[^:]*}}: tensor<4x8xf32>, %[[G:[^:]*]]: tensor<8xf32> {resid.prepare_input = 0 : i64}, %{{[^:]*}}: tensor<8x6xf32> {resid.prepared = 0 : i64}
// CHECK: resid.rms_norm %{{.*}} {epsilon = {{.*}}} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
// CHECK: resid.rms_norm %{{.*}} gamma(%[[G]])
func.func @statistics_and_shared_gamma(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %w: tensor<8x6xf32>, %zeros: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>, tensor<4x8xf32>) {
  // expected-remark @below {{folded (exact in real arithmetic): gamma into 1 linear layer}}
  %n, %rstd = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<4xf32>
  %y = linalg.matmul ins(%n, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%zeros : tensor<4x6xf32>) -> tensor<4x6xf32>
  // expected-remark @+2 {{not folded: expected linear layers as the only readers, but got func.return}}
  // expected-note @+2 {{found here}}
  %z = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-3} : tensor<4x8xf32>, tensor<8xf32>
  return %y, %rstd, %z : tensor<4x6xf32>, tensor<4xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @read_by_residual_add
// CHECK: resid.rms_norm %{{.*}} gamma(
func.func @read_by_residual_add(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %w: tensor<8x8xf32>, %zeros: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{not folded: expected linear layers as the only readers, but got resid.add}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  %y = linalg.matmul ins(%n, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-note @below {{found here}}
  %s = resid.add %n, %y : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @no_reader
// CHECK: resid.rms_norm %{{.*}} gamma(
func.func @no_reader(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-remark @below {{not folded: expected linear layers that read the value, but got none}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @two_dimensions
// CHECK: resid.rms_norm %{{.*}} gamma(
func.func @two_dimensions(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %w: tensor<8x6xf32>, %zeros: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-remark @below {{not folded: expected a norm over 1 dimension, but got one over 2}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<4x8xf32>
  %y = linalg.matmul ins(%n, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%zeros : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// The layer sums over rows, not over features.
// CHECK-LABEL: func.func @sums_over_rows
// CHECK: resid.rms_norm %{{.*}} gamma(
func.func @sums_over_rows(%x: tensor<8x8xf32>, %g: tensor<8xf32>, %w: tensor<6x8xf32>, %zeros: tensor<6x8xf32>) -> tensor<6x8xf32> {
  // expected-remark @below {{not folded: expected linear layers as the only readers, but got linalg.matmul}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<8x8xf32>, tensor<8xf32>
  // expected-note @below {{found here}}
  %y = linalg.matmul ins(%w, %n : tensor<6x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<6x8xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// -----

// Attention scores: each sample has a matrix of its own.
// CHECK-LABEL: func.func @weight_per_sample
// CHECK: resid.rms_norm %{{.*}} gamma(
func.func @weight_per_sample(%x: tensor<2x4x8xf32>, %g: tensor<8xf32>, %w: tensor<2x8x6xf32>, %zeros: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  // expected-remark @below {{not folded: expected linear layers as the only readers, but got linalg.batch_matmul}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<2x4x8xf32>, tensor<8xf32>
  // expected-note @below {{found here}}
  %y = linalg.batch_matmul ins(%n, %w : tensor<2x4x8xf32>, tensor<2x8x6xf32>) outs(%zeros : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  return %y : tensor<2x4x6xf32>
}

// -----

// CHECK-LABEL: func.func @computed_weight
// CHECK: resid.rms_norm %{{.*}} gamma(
func.func @computed_weight(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %v: tensor<8x6xf32>, %zeros: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-remark @below {{not folded: expected weights that are constants or arguments of the function, but got the result of math.tanh}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  %w = math.tanh %v : tensor<8x6xf32>
  // expected-note @below {{found here}}
  %y = linalg.matmul ins(%n, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%zeros : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// CHECK-LABEL: func.func @carried_gamma
// CHECK: resid.rms_norm %{{.*}} gamma(
func.func @carried_gamma(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %w: tensor<8x6xf32>, %zeros: tensor<4x6xf32>, %count: index) -> tensor<4x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r, %last = scf.for %i = %c0 to %count step %c1 iter_args(%sum = %zeros, %h = %g) -> (tensor<4x6xf32>, tensor<8xf32>) {
    // expected-remark @below {{not folded: expected weights that are constants or arguments of the function, but got an argument of a region}}
    %n = resid.rms_norm %x gamma(%h) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
    // expected-note @below {{found here}}
    %y = linalg.matmul ins(%n, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%sum : tensor<4x6xf32>) -> tensor<4x6xf32>
    %next = math.tanh %h : tensor<8xf32>
    scf.yield %y, %next : tensor<4x6xf32>, tensor<8xf32>
  }
  return %r : tensor<4x6xf32>
}

// -----

// The stack of weights is scaled by the stack of gammas, layer by layer.
// CHECK-LABEL: func.func @stacked(
// CHECK-SAME: %[[WS:[^:]*]]: tensor<3x8x8xf32> {resid.prepared = 0 : i64}
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[H:.*]] = %
// CHECK: %[[W:.*]] = tensor.extract_slice %[[WS]][%[[I]], 0, 0] [1, 8, 8] [1, 1, 1] : tensor<3x8x8xf32> to tensor<8x8xf32>
// CHECK: resid.rms_norm %[[H]] {epsilon
// CHECK: linalg.matmul ins(%{{.*}}, %[[W]]
// CHECK-LABEL: func.func @stacked_prepare(
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]}
func.func @stacked(%x: tensor<4x8xf32>, %gs: tensor<3x8xf32>, %ws: tensor<3x8x8xf32>, %zeros: tensor<4x8xf32>, %count: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %count step %c1 iter_args(%h = %x) -> tensor<4x8xf32> {
    %g = tensor.extract_slice %gs[%i, 0] [1, 8] [1, 1] : tensor<3x8xf32> to tensor<8xf32>
    // expected-remark @below {{folded (exact in real arithmetic): gamma into 1 linear layer}}
    %n = resid.rms_norm %h gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
    %w = tensor.extract_slice %ws[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<3x8x8xf32> to tensor<8x8xf32>
    %y = linalg.matmul ins(%n, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    scf.yield %y : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// -----

// gamma of one layer, the weight of another.
// CHECK-LABEL: func.func @slices_of_two_layers(
// CHECK: resid.rms_norm %{{.*}} gamma(
func.func @slices_of_two_layers(%x: tensor<4x8xf32>, %gs: tensor<3x8xf32>, %ws: tensor<3x8x8xf32>, %zeros: tensor<4x8xf32>, %i: index, %j: index) -> tensor<4x8xf32> {
  %g = tensor.extract_slice %gs[%i, 0] [1, 8] [1, 1] : tensor<3x8xf32> to tensor<8xf32>
  // expected-remark @below {{not folded: expected slices of one layer from all stacks of weights, but got slices by different layer numbers}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  %w = tensor.extract_slice %ws[%j, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<3x8x8xf32> to tensor<8x8xf32>
  // expected-note @below {{found here}}
  %y = linalg.matmul ins(%n, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The last gamma belongs to no layer.
// CHECK-LABEL: func.func @more_gammas(
// CHECK: resid.rms_norm %{{.*}} gamma(
func.func @more_gammas(%x: tensor<4x8xf32>, %gs: tensor<4x8xf32>, %ws: tensor<3x8x8xf32>, %zeros: tensor<4x8xf32>, %i: index) -> tensor<4x8xf32> {
  %g = tensor.extract_slice %gs[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
  // expected-remark @below {{not folded: expected stacks of equally many layers, but got 4 and 3}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  %w = tensor.extract_slice %ws[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<3x8x8xf32> to tensor<8x8xf32>
  // expected-note @below {{found here}}
  %y = linalg.matmul ins(%n, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A slice by a number that is known now is no layer of a loop.
// CHECK-LABEL: func.func @slice_by_a_constant(
// CHECK: resid.rms_norm %{{.*}} gamma(
func.func @slice_by_a_constant(%x: tensor<4x8xf32>, %gs: tensor<3x8xf32>, %w: tensor<8x8xf32>, %zeros: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %g = tensor.extract_slice %gs[1, 0] [1, 8] [1, 1] : tensor<3x8xf32> to tensor<8xf32>
  // expected-remark @below {{not folded: expected weights that are constants or arguments of the function, but got the result of tensor.extract_slice}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  // expected-note @below {{found here}}
  %y = linalg.matmul ins(%n, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @beta_beside_features_first
// CHECK: resid.layer_norm %{{.*}} gamma(
func.func @beta_beside_features_first(%x: tensor<5x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %w: tensor<6x8xf32>, %zeros: tensor<6x5xf32>) -> tensor<6x5xf32> {
  // expected-remark @below {{not folded: expected output features on the last axis, where beta becomes a bias, but got other axes}}
  %n = resid.layer_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<5x8xf32>, tensor<8xf32>, tensor<8xf32>
  // expected-note @below {{found here}}
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%w, %n : tensor<6x8xf32>, tensor<5x8xf32>) outs(%zeros : tensor<6x5xf32>) -> tensor<6x5xf32>
  return %y : tensor<6x5xf32>
}

// -----

// CHECK-LABEL: func.func @called(
// CHECK: resid.rms_norm %{{.*}} gamma(
func.func @called(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %w: tensor<8x6xf32>, %zeros: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-remark @below {{not folded: expected a function that nothing calls, since its arguments change, but @called is called; inline the calls first}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  // expected-note @below {{found here}}
  %y = linalg.matmul ins(%n, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%zeros : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @caller(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %w: tensor<8x6xf32>, %zeros: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = func.call @called(%x, %g, %w, %zeros) : (tensor<4x8xf32>, tensor<8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// CHECK-LABEL: func.func @taken(
// CHECK: resid.rms_norm %{{.*}} gamma(
func.func @taken(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %w: tensor<8x6xf32>, %zeros: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-remark @below {{not folded: expected the name @taken_prepare to be free, but the module has such a symbol}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  // expected-note @below {{found here}}
  %y = linalg.matmul ins(%n, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%zeros : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func private @taken_prepare()

// -----

// CHECK-LABEL: func.func @norm_after_branch
// CHECK: resid.block branch_post %{{.*}} norm(rms gamma
func.func @norm_after_branch(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{not folded: expected linear layers as the only readers, but got the residual add of the block}}
  %y = resid.block branch_post %x norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

// Without a gamma there is nothing to fold, and nothing to say.
// CHECK-LABEL: func.func @no_gamma
func.func @no_gamma(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %zeros: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  %y = linalg.matmul ins(%n, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%zeros : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// resid.linear is a linear layer, in either order of the weight; a bias that is needed becomes its own.
// CHECK-LABEL: func.func @linear_ops(
// CHECK-SAME: tensor<4x8xf32>, %[[V:[^:]*]]: tensor<6x8xf32> {resid.prepared = 1 : i64}, %[[W:[^:]*]]: tensor<8x6xf32> {resid.prepared = 3 : i64},
// CHECK-SAME: %[[B:[^:]*]]: tensor<6xf32> {resid.prepared = 2 : i64}, %[[C:[^:]*]]: tensor<6xf32> {resid.name = "weight_bias", resid.prepared = 0 : i64})
// CHECK: %[[N:.*]] = resid.layer_norm %arg0 {epsilon
// CHECK: resid.linear %[[N]], %[[V]] bias(%[[C]]) : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6xf32>{{$}}
// CHECK: resid.linear %[[N]], %[[W]] bias(%[[B]]) {transposed} : tensor<4x8xf32>, tensor<8x6xf32>, tensor<6xf32>{{$}}
// CHECK-NOT: resid.add_bias
func.func @linear_ops(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %v: tensor<6x8xf32>, %w: tensor<8x6xf32>, %bias: tensor<6xf32>)
    -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  // expected-remark @below {{folded}}
  %n = resid.layer_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  %y = resid.linear %n, %v : tensor<4x8xf32>, tensor<6x8xf32>
  %z = resid.linear %n, %w bias(%bias) {transposed} : tensor<4x8xf32>, tensor<8x6xf32>, tensor<6xf32>
  return %y, %z : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// A norm that a linear layer reads as its weight is no input of it.
// CHECK-LABEL: func.func @norm_as_weight(
// CHECK: gamma(
func.func @norm_as_weight(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %h: tensor<3x8xf32>) -> tensor<3x4xf32> {
  // expected-remark @below {{not folded: expected linear layers as the only readers, but got resid.linear}}
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  // expected-note @below {{found here}}
  %y = resid.linear %h, %n : tensor<3x8xf32>, tensor<4x8xf32>
  return %y : tensor<3x4xf32>
}
