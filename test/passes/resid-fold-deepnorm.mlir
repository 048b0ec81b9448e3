// RUN: resid-opt %s -resid-fold-deepnorm="report=true" -verify-diagnostics -split-input-file | FileCheck %s
// The numbers of a folded DeepNorm, and every reason to refuse one. The values are compared in test/run/deepnorm.test.

// CHECK-LABEL: func.func @block(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xf32>, %[[G:[^:]*]]: tensor<8xf32>)
// CHECK: resid.block post %[[X]] norm(layer gamma %[[G]] : tensor<8xf32> epsilon = 2.500000e-06) {branch_scale = 1.500000e+00 : f64} : tensor<4x8xf32>
func.func @block(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{folded (exact in real arithmetic): skip_scale 2 into branch_scale and epsilon}}
  %y = resid.block post %x norm(layer gamma %g : tensor<8xf32> epsilon = 1.0e-5) {skip_scale = 2.0, branch_scale = 3.0} : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

// An epsilon of 0 stays 0; a narrower result and the attributes of the norm stay too.
// CHECK-LABEL: func.func @flat(
// CHECK: %[[S:.*]] = resid.add %{{.*}} {branch_scale = 5.000000e-01 : f64} : tensor<4x8xf32>
// CHECK: resid.rms_norm %[[S]] gamma(%{{.*}}) {epsilon = 0.000000e+00 : f64, mine.note = "kept", narrow_affine, zero_centered_gamma} : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xbf16>
func.func @flat(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xbf16> {
  // expected-remark @below {{folded (exact in real arithmetic): skip_scale 2 into branch_scale and epsilon}}
  %s = resid.add %x, %f {skip_scale = 2.0} : tensor<4x8xf32>
  %n = resid.rms_norm %s gamma(%g) {epsilon = 0.0, narrow_affine, zero_centered_gamma, mine.note = "kept"} : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xbf16>
  return %n : tensor<4x8xbf16>
}

// -----

// alpha is prepared: multiplied by skip_scale.
// CHECK-LABEL: func.func @argument_alpha(
// CHECK-SAME: %[[A:[^:]*]]: tensor<f32> {resid.name = "alpha", resid.prepared = 0 : i64})
// CHECK: resid.dyt %{{.*}} alpha(%[[A]])
// CHECK-LABEL: func.func @argument_alpha_prepare(
// CHECK-SAME: %[[A:[^:]*]]: tensor<f32> {resid.name = "alpha"}) -> tensor<f32>
// CHECK: linalg.generic {{.*}} ins(%[[A]] : tensor<f32>)
// CHECK: %[[C:.*]] = arith.constant 2.500000e+00 : f32
// CHECK: arith.mulf %{{.*}}, %[[C]] : f32
func.func @argument_alpha(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %alpha: tensor<f32> {resid.name = "alpha"}) -> tensor<4x8xf32> {
  // expected-remark @below {{folded (exact in real arithmetic): skip_scale 2.5 into branch_scale and alpha}}
  %s = resid.add %x, %f {skip_scale = 2.5} : tensor<4x8xf32>
  %n = resid.dyt %s alpha(%alpha) : tensor<4x8xf32>, tensor<f32>
  return %n : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @constant_alpha(
// CHECK: %[[A:.*]] = arith.constant dense<1.250000e+00> : tensor<f32>
// CHECK: resid.dyt %{{.*}} alpha(%[[A]])
func.func @constant_alpha(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %alpha = arith.constant dense<0.5> : tensor<f32>
  // expected-remark @below {{folded (exact in real arithmetic): skip_scale 2.5 into branch_scale and alpha}}
  %s = resid.add %x, %f {skip_scale = 2.5} : tensor<4x8xf32>
  %n = resid.dyt %s alpha(%alpha) : tensor<4x8xf32>, tensor<f32>
  return %n : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @computed_alpha(
// CHECK: skip_scale
func.func @computed_alpha(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %a: tensor<f32>) -> tensor<4x8xf32> {
  %alpha = math.tanh %a : tensor<f32>
  // expected-remark @below {{not folded: expected weights that are constants or arguments of the function, but got the result of math.tanh}}
  %s = resid.add %x, %f {skip_scale = 2.5} : tensor<4x8xf32>
  %n = resid.dyt %s alpha(%alpha) : tensor<4x8xf32>, tensor<f32>
  return %n : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @sum_read_twice(
// CHECK: skip_scale
func.func @sum_read_twice(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // expected-remark @below {{not folded: expected the norm as the only reader of the sum, but got 2 readers}}
  %s = resid.add %x, %f {skip_scale = 2.5} : tensor<4x8xf32>
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n, %s : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @negative(
// CHECK: skip_scale
func.func @negative(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{not folded: expected skip_scale to be positive, but got -1.5}}
  %s = resid.add %x, %f {skip_scale = -1.5} : tensor<4x8xf32>
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @zero(
// CHECK: skip_scale
func.func @zero(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{not folded: expected skip_scale to be positive, but got 0}}
  %y = resid.block post %x norm(rms epsilon = 1.0e-5) {skip_scale = 0.0} : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @statistics(
// CHECK: skip_scale
func.func @statistics(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  // expected-remark @below {{not folded: expected no reader of the norm's statistics, which change, but got one}}
  %s = resid.add %x, %f {skip_scale = 2.5} : tensor<4x8xf32>
  %n, %rstd = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
  return %n, %rstd : tensor<4x8xf32>, tensor<4xf32>
}

// -----

// In f32 epsilon would vanish; in f64 it does not.
// CHECK-LABEL: func.func @epsilon_vanishes(
// CHECK: skip_scale
func.func @epsilon_vanishes(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{not folded: expected epsilon divided by the square of skip_scale to be finite and not to vanish, but got 1e-49}}
  %s = resid.add %x, %f {skip_scale = 1.0e22} : tensor<4x8xf32>
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}
// CHECK-LABEL: func.func @epsilon_stays(
// CHECK-NOT: skip_scale
// CHECK: return
func.func @epsilon_stays(%x: tensor<4x8xf64>, %f: tensor<4x8xf64>) -> tensor<4x8xf64> {
  // expected-remark @below {{folded (exact in real arithmetic): skip_scale 1e+22 into branch_scale and epsilon}}
  %s = resid.add %x, %f {skip_scale = 1.0e22} : tensor<4x8xf64>
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<4x8xf64>
  return %n : tensor<4x8xf64>
}

// -----

// CHECK-LABEL: func.func @epsilon_overflows(
// CHECK: skip_scale
func.func @epsilon_overflows(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{not folded: expected epsilon divided by the square of skip_scale to be finite and not to vanish, but got 1e+39}}
  %s = resid.add %x, %f {skip_scale = 1.0e-22} : tensor<4x8xf32>
  %n = resid.rms_norm %s {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @branch_overflows(
// CHECK: skip_scale
func.func @branch_overflows(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{not folded: expected branch_scale divided by skip_scale to be finite and not to vanish, but got 1e+39}}
  %s = resid.add %x, %f {skip_scale = 1.0e-10, branch_scale = 1.0e29} : tensor<4x8xf32>
  %n = resid.rms_norm %s {epsilon = 0.0} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

// No DeepNorm, and nothing to say: nothing normalises the sum alone, or it is not scaled.
// CHECK-LABEL: func.func @pre_norm(
// CHECK-COUNT-2: skip_scale
func.func @pre_norm(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = resid.block pre %x norm(rms epsilon = 1.0e-5) {skip_scale = 2.0} : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  %z = resid.block pre %y norm(rms epsilon = 1.0e-5) {skip_scale = 3.0} : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  %r = resid.block post %z norm(rms epsilon = 1.0e-5) {branch_scale = 3.0} : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}
