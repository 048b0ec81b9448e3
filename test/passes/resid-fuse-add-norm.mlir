// RUN: resid-opt %s -resid-fuse-add-norm | FileCheck %s
// Which chains become one resid.add_norm, and what is taken over. That every combination of clauses goes there and back
// is tested in fuse-expand-inverse.test; what is refused, in resid-fuse-add-norm-refuse.mlir.

// CHECK-LABEL: func.func @post_norm(
// CHECK-SAME: %[[X:.*]]: tensor<?x768xf32>, %[[F:.*]]: tensor<?x768xf32>, %[[G:.*]]: tensor<768xf32>, %[[B:.*]]: tensor<768xf32>, %[[SEED:.*]]: i64, %[[STEP:.*]]: i64
func.func @post_norm(%x: tensor<?x768xf32>, %f: tensor<?x768xf32>, %gamma: tensor<768xf32>, %beta: tensor<768xf32>,
                     %seed: i64, %step: i64) -> tensor<?x768xf32> {
  // CHECK-NEXT: %[[N:.*]], %{{.*}} = resid.add_norm layer %[[X]], %[[F]] dropout(%[[SEED]], %[[STEP]]) gamma(%[[G]]) beta(%[[B]])
  // CHECK-SAME: {epsilon = {{1[.]0*e-05.*}}, p = {{1[.]0*e-01.*}}, site = 0{{.*}}} : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>{{$}}
  // CHECK-NEXT: return %[[N]]
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
  %s = resid.add %x, %d : tensor<?x768xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
  return %y : tensor<?x768xf32>
}

// CHECK-LABEL: func.func @pre_norm_gated(
// CHECK-SAME: %[[X:.*]]: tensor<4x16x512xf32>, %[[F:.*]]: tensor<4x16x512xf32>, %[[W:.*]]: tensor<512xf32>, %[[G:.*]]: tensor<512xf32>
func.func @pre_norm_gated(%x: tensor<4x16x512xf32>, %f: tensor<4x16x512xf32>, %gate: tensor<512xf32>, %gamma: tensor<512xf32>)
    -> (tensor<4x16x512xf32>, tensor<4x16x512xf32>) {
  // CHECK-NEXT: %[[N:.*]], %[[S:.*]] = resid.add_norm rms %[[X]], %[[F]] gate(%[[W]]) gamma(%[[G]])
  // CHECK-SAME: branch_scale = {{5[.]0*e-01.*}}, epsilon
  // CHECK-NEXT: return %[[N]], %[[S]]
  %s = resid.add %x, %f gate(%gate) {branch_scale = 0.5} : tensor<4x16x512xf32>, tensor<512xf32>
  %n = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : tensor<4x16x512xf32>, tensor<512xf32>
  return %n, %s : tensor<4x16x512xf32>, tensor<4x16x512xf32>
}

// CHECK-LABEL: func.func @bias_dropout_origin_dyt(
// CHECK-SAME: %[[X:.*]]: tensor<2x8xf64>, %[[F:.*]]: tensor<2x8xf64>, %[[B:.*]]: tensor<8xf64>, %[[A:.*]]: tensor<f64>, %[[S:[^:]*]]: i64, %[[T:[^:]*]]: i64, %[[R:[^:]*]]: i64, %[[I:[^:]*]]: i64
func.func @bias_dropout_origin_dyt(%x: tensor<2x8xf64>, %f: tensor<2x8xf64>, %bias: tensor<8xf64>, %alpha: tensor<f64>,
                                   %seed: i64, %step: i64, %row: i64, %layer: i64) -> tensor<2x8xf64> {
  // CHECK-NEXT: resid.add_norm dyt %[[X]], %[[F]] bias(%[[B]]) dropout(%[[S]], %[[T]]) origin(%[[R]], %[[I]]) alpha(%[[A]])
  // CHECK-NOT: resid.
  %b = resid.add_bias %f, %bias : tensor<2x8xf64>, tensor<8xf64>
  %d = resid.dropout %b seed(%seed, %step) origin(%row, %layer) {p = 0.5, site = 7} : tensor<2x8xf64>
  %s = resid.add %x, %d : tensor<2x8xf64>
  %n = resid.dyt %s alpha(%alpha) : tensor<2x8xf64>, tensor<f64>
  return %n : tensor<2x8xf64>
}

// The branch on the first operand of a plain add: x + f = f + x in every bit.
// CHECK-LABEL: func.func @branch_on_first_operand(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[F:[^:]*]]: tensor<2x8xf32>
func.func @branch_on_first_operand(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>, %bias: tensor<8xf32>, %seed: i64, %step: i64) -> tensor<2x8xf32> {
  // CHECK-NEXT: resid.add_norm rms %[[X]], %[[F]] bias(
  // CHECK-SAME: dropout(
  // CHECK-NEXT: return
  %b = resid.add_bias %f, %bias : tensor<2x8xf32>, tensor<8xf32>
  %d = resid.dropout %b seed(%seed, %step) {p = 0.5, site = 7} : tensor<2x8xf32>
  %s = resid.add %d, %x : tensor<2x8xf32>
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n : tensor<2x8xf32>
}

// Both operands could be the branch: the second is, the first stays.
// CHECK-LABEL: func.func @branches_on_both_operands(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[F:[^:]*]]: tensor<2x8xf32>
func.func @branches_on_both_operands(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>, %bias: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: %[[L:.*]] = resid.add_bias %[[X]]
  // CHECK-NEXT: resid.add_norm rms %[[L]], %[[F]] bias(
  %l = resid.add_bias %x, %bias : tensor<2x8xf32>, tensor<8xf32>
  %r = resid.add_bias %f, %bias : tensor<2x8xf32>, tensor<8xf32>
  %s = resid.add %l, %r : tensor<2x8xf32>
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @wide_stream_narrow_norm_statistics(
func.func @wide_stream_narrow_norm_statistics(%x: tensor<?x768xbf16>, %f: tensor<?x768xbf16>, %g: tensor<768xf32>)
    -> (tensor<?x768xbf16>, tensor<?x768xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  // CHECK-NEXT: %[[N:.*]], %[[S:.*]], %[[MEAN:.*]], %[[CORRECTION:.*]], %[[RSTD:.*]] = resid.add_norm layer
  // CHECK-SAME: narrow_affine
  // CHECK-SAME: zero_centered_gamma
  // CHECK-SAME: : tensor<?x768xbf16>, tensor<768xf32> -> tensor<?x768xbf16>, tensor<?x768xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  // CHECK-NEXT: return %[[N]], %[[S]], %[[MEAN]], %[[CORRECTION]], %[[RSTD]]
  %s = resid.add %x, %f : tensor<?x768xbf16> -> tensor<?x768xf32>
  %n, %mean, %correction, %rstd = resid.layer_norm %s gamma(%g) {epsilon = 1.0e-5, zero_centered_gamma, narrow_affine}
      : tensor<?x768xf32>, tensor<768xf32> -> tensor<?x768xbf16>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  return %n, %s, %mean, %correction, %rstd : tensor<?x768xbf16>, tensor<?x768xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @gamma_of_rank_two(
func.func @gamma_of_rank_two(%x: tensor<2x4x8xf32>, %f: tensor<2x4x8xf32>, %bias: tensor<8xf32>, %g: tensor<4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NEXT: resid.add_norm layer {{.*}} bias({{.*}} gamma(
  %b = resid.add_bias %f, %bias : tensor<2x4x8xf32>, tensor<8xf32>
  %s = resid.add %x, %b : tensor<2x4x8xf32>
  %n = resid.layer_norm %s gamma(%g) {epsilon = 1.0e-5} : tensor<2x4x8xf32>, tensor<4x8xf32>
  return %n : tensor<2x4x8xf32>
}

// CHECK-LABEL: func.func @norm_rank_two_without_gamma(
func.func @norm_rank_two_without_gamma(%x: tensor<2x4x8xf32>, %f: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NEXT: resid.add_norm layer {{.*}}norm_rank = 2
  %s = resid.add %x, %f : tensor<2x4x8xf32>
  %n = resid.layer_norm %s {epsilon = 1.0e-5, norm_rank = 2} : tensor<2x4x8xf32>
  return %n : tensor<2x4x8xf32>
}

// A narrow branch on a wide stream: the fused op reads the extended branch, which loses no rounding.
// CHECK-LABEL: func.func @extended_branch(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>, %[[F:[^:]*]]: tensor<2x8xbf16>
func.func @extended_branch(%x: tensor<2x8xf32>, %f: tensor<2x8xbf16>, %seed: i64, %step: i64) -> tensor<2x8xf32> {
  // CHECK-NEXT: %[[E:.*]] = arith.extf %[[F]]
  // CHECK-NEXT: resid.add_norm rms %[[X]], %[[E]] dropout(
  %e = arith.extf %f : tensor<2x8xbf16> to tensor<2x8xf32>
  %d = resid.dropout %e seed(%seed, %step) {p = 0.5, site = 7} : tensor<2x8xf32>
  %s = resid.add %x, %d : tensor<2x8xf32>
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n : tensor<2x8xf32>
}

// A parameter made between add and norm, and a reader of the sum after it: the fused op stands between the two.
// CHECK-LABEL: func.func @reader_between_add_and_norm(
func.func @reader_between_add_and_norm(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>, %g0: tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  // CHECK-NEXT: %[[G:.*]] = arith.negf
  // CHECK-NEXT: %[[N:.*]], %[[S:.*]] = resid.add_norm rms {{.*}} gamma(%[[G]])
  // CHECK-NEXT: %[[R:.*]] = math.absf %[[S]]
  // CHECK-NEXT: return %[[N]], %[[R]]
  %s = resid.add %x, %f : tensor<2x8xf32>
  %g = arith.negf %g0 : tensor<8xf32>
  %r = math.absf %s : tensor<2x8xf32>
  %n = resid.rms_norm %s gamma(%g) {epsilon = 1.0e-5} : tensor<2x8xf32>, tensor<8xf32>
  return %n, %r : tensor<2x8xf32>, tensor<2x8xf32>
}

// The sum read inside a region after the norm.
// CHECK-LABEL: func.func @reader_in_a_region(
func.func @reader_in_a_region(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>, %c: i1) -> tensor<2x8xf32> {
  // CHECK-NEXT: %[[N:.*]], %[[S:.*]] = resid.add_norm rms
  // CHECK: scf.yield %[[S]]
  // CHECK: scf.yield %[[N]]
  %s = resid.add %x, %f : tensor<2x8xf32>
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  %r = scf.if %c -> tensor<2x8xf32> {
    scf.yield %s : tensor<2x8xf32>
  } else {
    scf.yield %n : tensor<2x8xf32>
  }
  return %r : tensor<2x8xf32>
}

// A pre-norm stack: each sum is normalised and carried on.
// CHECK-LABEL: func.func @pre_norm_chain(
func.func @pre_norm_chain(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  // CHECK-NEXT: %[[N1:.*]], %[[S1:.*]] = resid.add_norm rms
  // CHECK-NEXT: %[[N2:.*]], %[[S2:.*]] = resid.add_norm rms %[[S1]], %[[N1]]
  // CHECK-NEXT: return %[[N2]], %[[S2]]
  %s1 = resid.add %x, %f : tensor<2x8xf32>
  %n1 = resid.rms_norm %s1 {epsilon = 1.0e-5} : tensor<2x8xf32>
  %s2 = resid.add %s1, %n1 : tensor<2x8xf32>
  %n2 = resid.rms_norm %s2 {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n2, %s2 : tensor<2x8xf32>, tensor<2x8xf32>
}
