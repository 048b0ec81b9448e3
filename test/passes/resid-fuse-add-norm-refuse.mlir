// RUN: resid-opt %s -resid-fuse-add-norm="report=true" -verify-diagnostics -split-input-file | FileCheck %s
// Chains that are not fused, or not as far as they reach, each with its reason. The chains beside them, which are, stand
// in resid-fuse-add-norm.mlir.

// CHECK-LABEL: func.func @dropout_beside_gamma_of_rank_two
// CHECK: resid.dropout
// CHECK: resid.add
// CHECK: resid.layer_norm
func.func @dropout_beside_gamma_of_rank_two(%x: tensor<2x4x8xf32>, %f: tensor<2x4x8xf32>, %g: tensor<4x8xf32>, %seed: i64, %step: i64) -> tensor<2x4x8xf32> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<2x4x8xf32>
  %s = resid.add %x, %d : tensor<2x4x8xf32>
  // expected-remark @below {{not fused: expected a norm over 1 dimension beside dropout, but got one over 2}}
  %n = resid.layer_norm %s gamma(%g) {epsilon = 1.0e-5} : tensor<2x4x8xf32>, tensor<4x8xf32>
  return %n : tensor<2x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @dropout_on_first_operand_beside_norm_rank_two
// CHECK-NOT: resid.add_norm
func.func @dropout_on_first_operand_beside_norm_rank_two(%x: tensor<2x4x8xf32>, %f: tensor<2x4x8xf32>, %seed: i64, %step: i64) -> tensor<2x4x8xf32> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<2x4x8xf32>
  %s = resid.add %d, %x : tensor<2x4x8xf32>
  // expected-remark @below {{not fused: expected a norm over 1 dimension beside dropout, but got one over 2}}
  %n = resid.layer_norm %s {epsilon = 1.0e-5, norm_rank = 2} : tensor<2x4x8xf32>
  return %n : tensor<2x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @dropout_read_elsewhere
// CHECK: %[[D:.*]] = resid.dropout
// CHECK: resid.add_norm rms %{{.*}}, %[[D]] {
func.func @dropout_read_elsewhere(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>, %seed: i64, %step: i64) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  // expected-remark @below {{not fused: expected one reader of resid.dropout, but got 2; fusing would compute it twice}}
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<2x8xf32>
  %s = resid.add %x, %d : tensor<2x8xf32>
  // expected-remark @below {{fused into resid.add_norm (bit-exact): resid.add, resid.rms_norm}}
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n, %d : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @dropout_read_by_both_operands
// CHECK: %[[D:.*]] = resid.dropout
// CHECK: resid.add_norm rms %[[D]], %[[D]] {
func.func @dropout_read_by_both_operands(%f: tensor<2x8xf32>, %seed: i64, %step: i64) -> tensor<2x8xf32> {
  // expected-remark @below {{not fused: expected one reader of resid.dropout, but got 2; fusing would compute it twice}}
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<2x8xf32>
  %s = resid.add %d, %d : tensor<2x8xf32>
  // expected-remark @below {{fused into resid.add_norm (bit-exact): resid.add, resid.rms_norm}}
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @biased_branch_read_elsewhere
// CHECK: %[[B:.*]] = resid.add_bias
// CHECK: resid.add_norm rms %{{.*}}, %[[B]] dropout(
func.func @biased_branch_read_elsewhere(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>, %bias: tensor<8xf32>, %seed: i64, %step: i64) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  // expected-remark @below {{not fused: expected one reader of resid.add_bias, but got 2; fusing would compute it twice}}
  %b = resid.add_bias %f, %bias : tensor<2x8xf32>, tensor<8xf32>
  %d = resid.dropout %b seed(%seed, %step) {p = 0.1, site = 0} : tensor<2x8xf32>
  %s = resid.add %x, %d : tensor<2x8xf32>
  // expected-remark @below {{fused into resid.add_norm (bit-exact): resid.dropout, resid.add, resid.rms_norm}}
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n, %b : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @dropout_outside_the_loop
// CHECK: %[[D:.*]] = resid.dropout
// CHECK: scf.for
// CHECK: resid.add_norm rms %{{.*}}, %[[D]] {
func.func @dropout_outside_the_loop(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>, %n: index, %seed: i64, %step: i64) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{not fused: expected resid.dropout in the block of the residual add, but got another block; fusing would compute it as often as the add}}
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<2x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<2x8xf32> {
    %s = resid.add %h, %d : tensor<2x8xf32>
    // expected-remark @below {{fused into resid.add_norm (bit-exact): resid.add, resid.rms_norm}}
    %y = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
    scf.yield %y : tensor<2x8xf32>
  }
  return %r : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @norm_inside_the_loop
// CHECK: resid.add %
// CHECK: scf.for
// CHECK: resid.rms_norm
func.func @norm_inside_the_loop(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = resid.add %x, %f : tensor<2x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<2x8xf32> {
    // expected-remark @below {{not fused: expected the residual add in the block of the norm, but got another block; fusing would compute the sum as often as the norm}}
    %y = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
    %z = arith.maximumf %h, %y : tensor<2x8xf32>
    scf.yield %z : tensor<2x8xf32>
  }
  return %r : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @extf_between_add_and_norm
// CHECK-NOT: resid.add_norm
func.func @extf_between_add_and_norm(%x: tensor<2x8xbf16>, %f: tensor<2x8xbf16>) -> tensor<2x8xf32> {
  %s = resid.add %x, %f : tensor<2x8xbf16>
  %e = arith.extf %s : tensor<2x8xbf16> to tensor<2x8xf32>
  // expected-remark @below {{not fused: expected the norm to read the sum itself, but got arith.extf between them; fusing would round the sum elsewhere}}
  %n = resid.rms_norm %e {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @truncf_between_add_and_norm
// CHECK-NOT: resid.add_norm
func.func @truncf_between_add_and_norm(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>) -> tensor<2x8xbf16> {
  %s = resid.add %x, %f : tensor<2x8xf32>
  %e = arith.truncf %s : tensor<2x8xf32> to tensor<2x8xbf16>
  // expected-remark @below {{not fused: expected the norm to read the sum itself, but got arith.truncf between them; fusing would round the sum elsewhere}}
  %n = resid.rms_norm %e {epsilon = 1.0e-5} : tensor<2x8xbf16>
  return %n : tensor<2x8xbf16>
}

// -----

// CHECK-LABEL: func.func @extf_after_dropout
// CHECK: resid.dropout {{.*}}bf16
// CHECK: %[[E:.*]] = arith.extf
// CHECK: resid.add_norm rms %{{.*}}, %[[E]] {
func.func @extf_after_dropout(%x: tensor<2x8xf32>, %f: tensor<2x8xbf16>, %seed: i64, %step: i64) -> tensor<2x8xf32> {
  // expected-remark @below {{not fused: expected no arith.extf after resid.dropout; fusing would not round its result to its own type}}
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<2x8xbf16>
  %e = arith.extf %d : tensor<2x8xbf16> to tensor<2x8xf32>
  %s = resid.add %x, %e : tensor<2x8xf32>
  // expected-remark @below {{fused into resid.add_norm (bit-exact): resid.add, resid.rms_norm}}
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @extf_between_bias_and_dropout
// CHECK: resid.add_bias
// CHECK: %[[E:.*]] = arith.extf
// CHECK: resid.add_norm rms %{{.*}}, %[[E]] dropout(
func.func @extf_between_bias_and_dropout(%x: tensor<2x8xf32>, %f: tensor<2x8xbf16>, %bias: tensor<8xbf16>, %seed: i64, %step: i64) -> tensor<2x8xf32> {
  // expected-remark @below {{not fused: expected no arith.extf after resid.add_bias; fusing would not round its result to its own type}}
  %b = resid.add_bias %f, %bias : tensor<2x8xbf16>, tensor<8xbf16>
  %e = arith.extf %b : tensor<2x8xbf16> to tensor<2x8xf32>
  %d = resid.dropout %e seed(%seed, %step) {p = 0.1, site = 0} : tensor<2x8xf32>
  %s = resid.add %x, %d : tensor<2x8xf32>
  // expected-remark @below {{fused into resid.add_norm (bit-exact): resid.dropout, resid.add, resid.rms_norm}}
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @second_norm_of_one_sum
// CHECK: %[[N:.*]], %[[S:.*]] = resid.add_norm rms
// CHECK: %[[M:.*]] = resid.layer_norm %[[S]]
// CHECK: return %[[N]], %[[M]]
func.func @second_norm_of_one_sum(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %s = resid.add %x, %f : tensor<2x8xf32>
  // expected-remark @below {{fused into resid.add_norm (bit-exact): resid.add, resid.rms_norm}}
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  // expected-remark @below {{not fused: expected a sum that no other norm is fused with, but got the sum of a resid.add_norm; the norm reads it from there}}
  %m = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n, %m : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @sum_read_before_gamma_is_defined
// CHECK-NOT: resid.add_norm
func.func @sum_read_before_gamma_is_defined(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>, %g0: tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %s = resid.add %x, %f : tensor<2x8xf32>
  // expected-note @below {{the earlier reader is here}}
  %r = math.absf %s : tensor<2x8xf32>
  %g = arith.negf %g0 : tensor<8xf32>
  // expected-remark @below {{not fused: expected the parameters of the norm before every other reader of the sum, but got an earlier reader}}
  %n = resid.rms_norm %s gamma(%g) {epsilon = 1.0e-5} : tensor<2x8xf32>, tensor<8xf32>
  return %n, %r : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @gamma_computed_from_the_sum
// CHECK-NOT: resid.add_norm
func.func @gamma_computed_from_the_sum(%x: tensor<8xf32>, %f: tensor<8xf32>) -> tensor<8xf32> {
  %s = resid.add %x, %f : tensor<8xf32>
  // expected-note @below {{the earlier reader is here}}
  %g = math.absf %s : tensor<8xf32>
  // expected-remark @below {{not fused: expected the parameters of the norm before every other reader of the sum, but got an earlier reader}}
  %n = resid.rms_norm %s gamma(%g) {epsilon = 1.0e-5} : tensor<8xf32>, tensor<8xf32>
  return %n : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @gamma_is_the_sum
// CHECK-NOT: resid.add_norm
func.func @gamma_is_the_sum(%x: tensor<8xf32>, %f: tensor<8xf32>) -> tensor<8xf32> {
  %s = resid.add %x, %f : tensor<8xf32>
  // expected-remark @below {{not fused: expected parameters that do not depend on the sum, but got the sum itself}}
  %n = resid.rms_norm %s gamma(%s) {epsilon = 1.0e-5} : tensor<8xf32>, tensor<8xf32>
  return %n : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @dropout_on_the_skip_operand_of_a_gated_add
// CHECK: %[[D:.*]] = resid.dropout
// CHECK: resid.add_norm rms %[[D]], %{{.*}} gate(
func.func @dropout_on_the_skip_operand_of_a_gated_add(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>, %w: tensor<8xf32>, %seed: i64, %step: i64) -> tensor<2x8xf32> {
  // expected-remark @below {{not fused: expected resid.dropout on the branch operand, but got it on the skip operand; with a gate or scales the operands do not commute}}
  %d = resid.dropout %x seed(%seed, %step) {p = 0.1, site = 0} : tensor<2x8xf32>
  %s = resid.add %d, %f gate(%w) : tensor<2x8xf32>, tensor<8xf32>
  // expected-remark @below {{fused into resid.add_norm (bit-exact): resid.add, resid.rms_norm}}
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @bias_on_the_skip_operand_of_a_scaled_add
// CHECK: %[[B:.*]] = resid.add_bias
// CHECK: resid.add_norm rms %[[B]], %{{.*}} {{{.*}}skip_scale
func.func @bias_on_the_skip_operand_of_a_scaled_add(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>, %bias: tensor<8xf32>) -> tensor<2x8xf32> {
  // expected-remark @below {{not fused: expected resid.add_bias on the branch operand, but got it on the skip operand; with a gate or scales the operands do not commute}}
  %b = resid.add_bias %x, %bias : tensor<2x8xf32>, tensor<8xf32>
  %s = resid.add %b, %f {skip_scale = 1.2} : tensor<2x8xf32>
  // expected-remark @below {{fused into resid.add_norm (bit-exact): resid.add, resid.rms_norm}}
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n : tensor<2x8xf32>
}

// -----

// Bias after dropout is another order than the fused op's: bias is taken, dropout stays, and there is nothing to mend.
// CHECK-LABEL: func.func @bias_after_dropout
// CHECK: %[[D:.*]] = resid.dropout
// CHECK: resid.add_norm rms %{{.*}}, %[[D]] bias(
func.func @bias_after_dropout(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>, %bias: tensor<8xf32>, %seed: i64, %step: i64) -> tensor<2x8xf32> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<2x8xf32>
  %b = resid.add_bias %d, %bias : tensor<2x8xf32>, tensor<8xf32>
  %s = resid.add %x, %b : tensor<2x8xf32>
  // expected-remark @below {{fused into resid.add_norm (bit-exact): resid.add_bias, resid.add, resid.rms_norm}}
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n : tensor<2x8xf32>
}

// -----

// A norm that reads no sum is no chain: no remark.
// CHECK-LABEL: func.func @norm_of_an_argument
// CHECK: resid.rms_norm
func.func @norm_of_an_argument(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n : tensor<2x8xf32>
}
