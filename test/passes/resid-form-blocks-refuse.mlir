// RUN: resid-opt %s -resid-form-blocks="report=true" -split-input-file -verify-diagnostics -o /dev/null
// RUN: resid-opt %s -split-input-file -o %t.before
// RUN: resid-opt %s -resid-form-blocks -split-input-file -o %t.after
// RUN: resid-opt %t.after -resid-expand-blocks -split-input-file | diff %t.before -
// RUN: FileCheck %s --input-file %t.after
// Each reason, and what stands beside a refused sub-layer is formed all the same.

// A wider sum is of another type than the stream.
// CHECK-LABEL: func.func @wide_sum(
// CHECK: resid.add %
func.func @wide_sum(%x: tensor<2x8xbf16>) -> tensor<2x8xf32> {
  %f = math.absf %x : tensor<2x8xbf16>
  // expected-remark @+1 {{not formed: expected a sum of the stream's type 'tensor<2x8xbf16>' but got 'tensor<2x8xf32>'}}
  %s = resid.add %x, %f : tensor<2x8xbf16> -> tensor<2x8xf32>
  return %s : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @independent_branch(
// CHECK: resid.add %
// CHECK: resid.block none
func.func @independent_branch(%x: tensor<2x8xf32>, %memory: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %f = math.absf %memory : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected a branch that depends on the stream, but got one that does not}}
  %s = resid.add %x, %f : tensor<2x8xf32>
  %g = math.absf %s : tensor<2x8xf32>
  // expected-remark @+1 {{formed (bit-exact): none}}
  %t = resid.add %s, %g : tensor<2x8xf32>
  return %t : tensor<2x8xf32>
}

// -----

// One value added again and again: a sum as the first operand is the stream, which does not branch off the second.
// CHECK-LABEL: func.func @same_branch_again(
// CHECK-COUNT-3: resid.add %
func.func @same_branch_again(%x: tensor<2x8xf32>, %a: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-remark @+1 {{not formed: expected a branch that depends on the stream, but got one that does not}}
  %s = resid.add %x, %a : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected a branch that depends on the stream, but got one that does not}}
  %t = resid.add %s, %a : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected a branch that depends on the stream, but got one that does not}}
  %u = resid.add %t, %a : tensor<2x8xf32>
  return %u : tensor<2x8xf32>
}

// -----

// The size of the stream is no dependence on it.
// CHECK-LABEL: func.func @branch_of_sizes(
// CHECK: resid.add %
func.func @branch_of_sizes(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %f = linalg.fill ins(%one : f32) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  // expected-remark @+1 {{not formed: expected a branch that depends on the stream, but got one that does not}}
  %s = resid.add %x, %f : tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}

// -----

// The residual of a post-norm stack with the branch of a pre-norm one: neither depends on the other.
// CHECK-LABEL: func.func @norm_on_the_skip_path(
// CHECK: resid.add %
func.func @norm_on_the_skip_path(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %h = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<2x8xf32>
  %f = math.absf %x : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected a branch that depends on the stream, but got one that does not}}
  %s = resid.add %h, %f : tensor<2x8xf32>
  return %s : tensor<2x8xf32>
}

// -----

// A scaled add does not commute.
// CHECK-LABEL: func.func @branch_first(
// CHECK: resid.add %
func.func @branch_first(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %f = math.absf %x : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected the branch as the second operand, but got it as the first; with a gate or scales the operands do not commute}}
  %s = resid.add %f, %x {skip_scale = 0.5} : tensor<2x8xf32>
  return %s : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @branch_outside_of_the_loop(
// CHECK: resid.add %
func.func @branch_outside_of_the_loop(%x: tensor<2x8xf32>, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the branch is here}}
  %f = math.absf %x : tensor<2x8xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<2x8xf32> {
    // expected-remark @+1 {{not formed: expected the branch in the block of the residual add, but got a part of it in another block}}
    %s = resid.add %f, %x : tensor<2x8xf32>
    scf.yield %s : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

// A loop that carries stream and branch: the branch belongs to the iteration before.
// CHECK-LABEL: func.func @rotated_loop(
// CHECK: resid.add %
func.func @rotated_loop(%x: tensor<2x8xf32>, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y:2 = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x, %f = %x) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
    // expected-remark @+1 {{not formed: expected a branch that depends on the stream, but got one that does not}}
    %s = resid.add %h, %f : tensor<2x8xf32>
    %m = resid.rms_norm %s {epsilon = 1.0e-6} : tensor<2x8xf32>
    %g = math.absf %m : tensor<2x8xf32>
    scf.yield %s, %g : tensor<2x8xf32>, tensor<2x8xf32>
  }
  return %y#0 : tensor<2x8xf32>
}

// -----

// Parallel branches with one norm: neither sub-layer has it for itself.
// CHECK-LABEL: func.func @shared_norm(
// CHECK: resid.add %
// CHECK: resid.add %
func.func @shared_norm(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %h = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<2x8xf32>
  %f = math.absf %h : tensor<2x8xf32>
  // expected-note @+1 {{the reader is here}}
  %g = math.tanh %h : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected no reader of the branch outside of it, but got math.tanh that reads resid.rms_norm}}
  %s = resid.add %x, %f : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected a branch that depends on the stream, but got one that does not}}
  %t = resid.add %s, %g : tensor<2x8xf32>
  return %t : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @branch_read_outside(
// CHECK: resid.add %
func.func @branch_read_outside(%x: tensor<2x8xf32>, %s: i64) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %f = math.absf %x : tensor<2x8xf32>
  %d = resid.dropout %f seed(%s, %s) {p = 0.1, site = 0} : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected no reader of the branch outside of it, but got func.return that reads resid.dropout}}
  %y = resid.add %x, %d : tensor<2x8xf32>
  // expected-note @+1 {{the reader is here}}
  return %y, %d : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// A reader in a loop is one outside of the branch too.
// CHECK-LABEL: func.func @branch_read_in_a_loop(
// CHECK: resid.add %
func.func @branch_read_in_a_loop(%x: tensor<2x8xf32>, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = math.absf %x : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected no reader of the branch outside of it, but got math.tanh that reads math.absf}}
  %s = resid.add %x, %f : tensor<2x8xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %s) -> tensor<2x8xf32> {
    // expected-note @+1 {{the reader is here}}
    %t = math.tanh %f : tensor<2x8xf32>
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @gate_of_the_branch(
// CHECK: resid.add %
func.func @gate_of_the_branch(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-note @+1 {{the value is here}}
  %f = math.absf %x : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected the gate from outside of the branch, but got a value of it}}
  %y = resid.add %x, %f gate(%f) : tensor<2x8xf32>, tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// A norm whose gamma is computed from what it normalises.
// CHECK-LABEL: func.func @gamma_of_the_branch(
// CHECK: resid.add %
func.func @gamma_of_the_branch(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note @+1 {{the value is here}}
  %f = math.absf %x : tensor<8xf32>
  %n = resid.rms_norm %f gamma(%f) {epsilon = 1.0e-6} : tensor<8xf32>, tensor<8xf32>
  // expected-remark @+1 {{not formed: expected gamma from outside of the branch, but got a value of it}}
  %y = resid.add %x, %n : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @beta_of_the_branch(
// CHECK: resid.add %
func.func @beta_of_the_branch(%x: tensor<8xf32>, %g: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note @+1 {{the value is here}}
  %f = math.absf %x : tensor<8xf32>
  %n = resid.rms_norm %f gamma(%g) beta(%f) {epsilon = 1.0e-6} : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  // expected-remark @+1 {{not formed: expected beta from outside of the branch, but got a value of it}}
  %y = resid.add %x, %n : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @alpha_of_the_branch(
// CHECK: resid.add %
func.func @alpha_of_the_branch(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %f = math.absf %x : tensor<2x8xf32>
  %e = tensor.extract %f[%c0, %c0] : tensor<2x8xf32>
  // expected-note @+1 {{the value is here}}
  %alpha = tensor.from_elements %e : tensor<f32>
  %n = resid.dyt %f alpha(%alpha) : tensor<2x8xf32>, tensor<f32>
  // expected-remark @+1 {{not formed: expected alpha from outside of the branch, but got a value of it}}
  %y = resid.add %x, %n : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// Each operand of a dropout, computed from the branch that it drops.
// CHECK-LABEL: func.func @random_operands_of_the_branch(
// CHECK-COUNT-7: resid.add %
func.func @random_operands_of_the_branch(%x: tensor<2x8xf32>, %s: i64) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
  %c0 = arith.constant 0 : index
  %f1 = math.absf %x : tensor<2x8xf32>
  %e1 = tensor.extract %f1[%c0, %c0] : tensor<2x8xf32>
  // expected-note @+1 {{the value is here}}
  %i1 = arith.fptosi %e1 : f32 to i64
  %d1 = resid.dropout %f1 seed(%i1, %s) {p = 0.1, site = 0} : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected the seed from outside of the branch, but got a value of it}}
  %y1 = resid.add %x, %d1 : tensor<2x8xf32>
  %f2 = math.absf %x : tensor<2x8xf32>
  %e2 = tensor.extract %f2[%c0, %c0] : tensor<2x8xf32>
  // expected-note @+1 {{the value is here}}
  %i2 = arith.fptosi %e2 : f32 to i64
  %d2 = resid.dropout %f2 seed(%s, %i2) {p = 0.1, site = 1} : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected the step from outside of the branch, but got a value of it}}
  %y2 = resid.add %x, %d2 : tensor<2x8xf32>
  %f3 = math.absf %x : tensor<2x8xf32>
  %e3 = tensor.extract %f3[%c0, %c0] : tensor<2x8xf32>
  // expected-note @+1 {{the value is here}}
  %i3 = arith.fptosi %e3 : f32 to i64
  %d3 = resid.dropout %f3 seed(%s, %s) origin(%i3, %s) {p = 0.1, site = 2} : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected the origin's row from outside of the branch, but got a value of it}}
  %y3 = resid.add %x, %d3 : tensor<2x8xf32>
  %f4 = math.absf %x : tensor<2x8xf32>
  %e4 = tensor.extract %f4[%c0, %c0] : tensor<2x8xf32>
  // expected-note @+1 {{the value is here}}
  %i4 = arith.fptosi %e4 : f32 to i64
  %d4 = resid.dropout %f4 seed(%s, %s) origin(%s, %i4) {p = 0.1, site = 3} : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected the origin's site from outside of the branch, but got a value of it}}
  %y4 = resid.add %x, %d4 : tensor<2x8xf32>
  %f5 = math.absf %x : tensor<2x8xf32>
  %e5 = tensor.extract %f5[%c0, %c0] : tensor<2x8xf32>
  // expected-note @+1 {{the value is here}}
  %i5 = arith.fptosi %e5 : f32 to i64
  %d5 = resid.dropout %f5 seed(%s, %s) origin(%s, %s, %i5) {p = 0.1, site = 4} : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected the origin's column from outside of the branch, but got a value of it}}
  %y5 = resid.add %x, %d5 : tensor<2x8xf32>
  %f6 = math.absf %x : tensor<2x8xf32>
  %e6 = tensor.extract %f6[%c0, %c0] : tensor<2x8xf32>
  // expected-note @+1 {{the value is here}}
  %i6 = arith.fptosi %e6 : f32 to i64
  %d6 = resid.dropout %f6 seed(%s, %s) origin(%s, %s) extent(%i6, %s) {p = 0.1, site = 5} : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected the local extent from outside of the branch, but got a value of it}}
  %y6 = resid.add %x, %d6 : tensor<2x8xf32>
  %f7 = math.absf %x : tensor<2x8xf32>
  %e7 = tensor.extract %f7[%c0, %c0] : tensor<2x8xf32>
  // expected-note @+1 {{the value is here}}
  %i7 = arith.fptosi %e7 : f32 to i64
  %d7 = resid.dropout %f7 seed(%s, %s) origin(%s, %s) extent(%s, %i7) {p = 0.1, site = 6} : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected the global extent from outside of the branch, but got a value of it}}
  %y7 = resid.add %x, %d7 : tensor<2x8xf32>
  return %y1, %y2, %y3, %y4, %y5, %y6, %y7 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// The branch reads the stream beside the norm of it.
// CHECK-LABEL: func.func @raw_stream_in_the_branch(
// CHECK: resid.add %
func.func @raw_stream_in_the_branch(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %h = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<2x8xf32>
  // expected-note @+1 {{the other reader is here}}
  %f = arith.mulf %h, %x : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected the norm to be all of the branch that reads the stream, but got another reader}}
  %y = resid.add %x, %f : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// The norm after the branch rounds an f32 value to the stream's type.
// CHECK-LABEL: func.func @wide_branch(
// CHECK: resid.add %
func.func @wide_branch(%x: tensor<2x8xbf16>) -> tensor<2x8xbf16> {
  %f = arith.extf %x : tensor<2x8xbf16> to tensor<2x8xf32>
  // expected-note @+1 {{the norm is here}}
  %n = resid.rms_norm %f {epsilon = 1.0e-6} : tensor<2x8xf32> -> tensor<2x8xbf16>
  // expected-remark @+1 {{not formed: expected a norm after the branch that reads 'tensor<2x8xbf16>' but got 'tensor<2x8xf32>'}}
  %y = resid.add %x, %n : tensor<2x8xbf16>
  return %y : tensor<2x8xbf16>
}

// -----

// CHECK-LABEL: func.func @read_statistics(
// CHECK-COUNT-3: resid.add %
func.func @read_statistics(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // expected-note @+1 {{the norm is here}}
  %n1, %r1 = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
  %f1 = math.absf %n1 : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected no reader of the statistics of the norm before the branch, but got one}}
  %y1 = resid.add %x, %f1 : tensor<2x8xf32>
  %f2 = math.absf %x : tensor<2x8xf32>
  // expected-note @+1 {{the norm is here}}
  %n2, %r2 = resid.rms_norm %f2 {epsilon = 1.0e-6} : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
  // expected-remark @+1 {{not formed: expected no reader of the statistics of the norm after the branch, but got one}}
  %y2 = resid.add %x, %n2 : tensor<2x8xf32>
  %f3 = math.absf %x : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected no reader of the statistics of the norm after the sum, but got one}}
  %y3 = resid.add %x, %f3 : tensor<2x8xf32>
  // expected-note @+1 {{the norm is here}}
  %n3, %r3 = resid.rms_norm %y3 {epsilon = 1.0e-6} : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
  return %y1, %y2, %n3, %r1, %r2, %r3 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @narrow_affine_on_one_norm(
// CHECK: resid.add %
func.func @narrow_affine_on_one_norm(%x: tensor<2x8xf32>, %g: tensor<8xf32>) -> tensor<2x8xf32> {
  %h = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-6, narrow_affine} : tensor<2x8xf32>, tensor<8xf32>
  %f = math.absf %h : tensor<2x8xf32>
  // expected-note @+1 {{the norm after the branch is here}}
  %n = resid.rms_norm %f gamma(%g) {epsilon = 1.0e-6} : tensor<2x8xf32>, tensor<8xf32>
  // expected-remark @+1 {{not formed: expected narrow_affine on both norms or on none, but got it on one}}
  %y = resid.add %x, %n : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// A post-norm stack whose first sum feeds an auxiliary head; the second sub-layer does not depend on that.
// CHECK-LABEL: func.func @sum_read_elsewhere(
// CHECK: resid.add %
// CHECK: resid.rms_norm
// CHECK: resid.block post
func.func @sum_read_elsewhere(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %f = math.absf %x : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected a sum that only the norm after it reads, but got another reader}}
  %s = resid.add %x, %f : tensor<2x8xf32>
  %h = resid.rms_norm %s {epsilon = 1.0e-6} : tensor<2x8xf32>
  // expected-note @+1 {{the other reader is here}}
  %head = math.exp %s : tensor<2x8xf32>
  %g = math.tanh %h : tensor<2x8xf32>
  // expected-remark @+1 {{formed (bit-exact): post}}
  %t = resid.add %h, %g : tensor<2x8xf32>
  %n = resid.rms_norm %t {epsilon = 1.0e-6} : tensor<2x8xf32>
  return %n, %head : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// The norm between two sub-layers narrows the stream.
// CHECK-LABEL: func.func @narrowed_stream(
// CHECK: resid.add %
// CHECK: resid.block none
func.func @narrowed_stream(%x: tensor<2x8xf32>) -> tensor<2x8xbf16> {
  %f = math.absf %x : tensor<2x8xf32>
  // expected-remark @+1 {{not formed: expected a norm after the sum that makes 'tensor<2x8xf32>' but got 'tensor<2x8xbf16>'}}
  %s = resid.add %x, %f : tensor<2x8xf32>
  // expected-note @+1 {{the norm is here}}
  %h = resid.rms_norm %s {epsilon = 1.0e-6} : tensor<2x8xf32> -> tensor<2x8xbf16>
  %g = math.tanh %h : tensor<2x8xbf16>
  // expected-remark @+1 {{formed (bit-exact): none}}
  %t = resid.add %h, %g : tensor<2x8xbf16>
  return %t : tensor<2x8xbf16>
}

// -----

// A norm whose gamma is the sum that it normalises.
// CHECK-LABEL: func.func @gamma_of_the_sum(
// CHECK: resid.add %
// CHECK: resid.block post
func.func @gamma_of_the_sum(%x: tensor<8xf32>) -> tensor<8xf32> {
  %f = math.absf %x : tensor<8xf32>
  // expected-remark @+1 {{not formed: expected parameters of the norm after the sum that do not depend on it, but got the sum itself}}
  %s = resid.add %x, %f : tensor<8xf32>
  // expected-note @+1 {{the norm is here}}
  %h = resid.rms_norm %s gamma(%s) {epsilon = 1.0e-6} : tensor<8xf32>, tensor<8xf32>
  %g = math.tanh %h : tensor<8xf32>
  // expected-remark @+1 {{formed (bit-exact): post}}
  %t = resid.add %h, %g : tensor<8xf32>
  %n = resid.rms_norm %t {epsilon = 1.0e-6} : tensor<8xf32>
  return %n : tensor<8xf32>
}

// -----

// What a function of unknown effects does must not change its place among others.
// CHECK-LABEL: func.func @calls_in_between(
// CHECK: call @attention
// CHECK-NEXT: call @count
// CHECK-NEXT: resid.add %
// CHECK: call @count
// CHECK-NEXT: resid.block none
func.func private @attention(tensor<2x8xf32>) -> tensor<2x8xf32>
func.func private @count()
func.func @calls_in_between(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %f = func.call @attention(%x) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  // expected-note @+1 {{the other op is here}}
  func.call @count() : () -> ()
  // expected-remark @+1 {{not formed: expected no effects of other ops between those of the branch and the end of the sub-layer, but got func.call}}
  %s = resid.add %x, %f : tensor<2x8xf32>
  func.call @count() : () -> ()
  %g = func.call @attention(%s) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  // expected-remark @+1 {{formed (bit-exact): none}}
  %t = resid.add %s, %g : tensor<2x8xf32>
  return %t : tensor<2x8xf32>
}
