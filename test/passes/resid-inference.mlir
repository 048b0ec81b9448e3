// RUN: resid-opt %s -resid-inference="report=true" -verify-diagnostics | FileCheck %s
// Dropout goes, everything else and every signature stays.

// CHECK-LABEL: func.func @dropout_op(
// CHECK-SAME: %[[F:[^:]*]]: tensor<2x8xf32>, %{{[^:]*}}: i64, %{{[^:]*}}: i64) -> tensor<2x8xf32>
func.func @dropout_op(%f: tensor<2x8xf32>, %seed: i64, %step: i64) -> tensor<2x8xf32> {
  // CHECK-NEXT: return %[[F]]
  // expected-remark @below {{removed dropout (changes the function)}}
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<2x8xf32>
  return %d : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @dropout_of_everything(
// CHECK-SAME: %[[F:[^:]*]]: tensor<2x8xf32>
func.func @dropout_of_everything(%f: tensor<2x8xf32>, %seed: i64, %step: i64) -> tensor<2x8xf32> {
  // CHECK-NEXT: return %[[F]]
  // expected-remark @below {{removed dropout (changes the function)}}
  %d = resid.dropout %f seed(%seed, %step) {p = 1.0, site = 0} : tensor<2x8xf32>
  return %d : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @dropout_in_a_loop(
func.func @dropout_in_a_loop(%x: tensor<2x8xf32>, %n: index, %seed: i64, %step: i64) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for {{.*}} iter_args(%[[H:.*]] = %{{.*}})
  // CHECK-NEXT: resid.add %[[H]], %[[H]]
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<2x8xf32> {
    // expected-remark @below {{removed dropout (changes the function)}}
    %d = resid.dropout %h seed(%seed, %step) {p = 0.1, site = 0} : tensor<2x8xf32>
    %s = resid.add %h, %d : tensor<2x8xf32>
    scf.yield %s : tensor<2x8xf32>
  }
  return %r : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @dropout_clause(
func.func @dropout_clause(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>, %b: tensor<8xf32>, %w: tensor<8xf32>, %seed: i64, %step: i64,
                          %r: i64, %i: i64) -> tensor<2x8xf32> {
  // CHECK-NEXT: resid.add_norm rms %{{[a-z0-9]*}}, %{{[a-z0-9]*}} bias(%{{[a-z0-9]*}}) gate(%{{[a-z0-9]*}}) {epsilon = {{[^,]*}}} : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>
  // expected-remark @below {{removed dropout (changes the function)}}
  %n, %s = resid.add_norm rms %x, %f bias(%b) dropout(%seed, %step) origin(%r, %i, %r) extent(%i, %r) gate(%w) {epsilon = 1.0e-5, p = 0.1, site = 3}
      : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %n : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @dropout_of_weights(
// CHECK-SAME: i64, %{{[^:]*}}: i64) -> tensor<1x2x3x4xf32>
func.func @dropout_of_weights(%q: tensor<1x2x3x4xf32>, %past: i64, %seed: i64, %step: i64) -> tensor<1x2x3x4xf32> {
  // CHECK-NEXT: resid.attention %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} past(%{{[a-z0-9]*}}) {causal} :
  // expected-remark @below {{removed dropout (changes the function)}}
  %y = resid.attention %q, %q, %q past(%past) dropout(%seed, %step) origin(%seed, %step, %step) extent(%step, %seed) {causal, p = 0.1, site = 3}
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return %y : tensor<1x2x3x4xf32>
}

// CHECK-LABEL: func.func @no_dropout(
func.func @no_dropout(%x: tensor<2x8xf32>, %f: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: resid.add_norm rms %{{[a-z0-9]*}}, %{{[a-z0-9]*}} {epsilon
  %n, %s = resid.add_norm rms %x, %f {epsilon = 1.0e-5} : tensor<2x8xf32>
  return %n : tensor<2x8xf32>
}
