// RUN: resid-opt %s -resid-form-blocks="complete=true" -verify-diagnostics -o /dev/null
// RUN: %python %S/../tools/Inputs/expect_exit.py 1 residc %s --placement=post -o %t.o 2>&1 | FileCheck %s --check-prefix=RESIDC
// RUN: resid-opt %s -resid-form-blocks 2>/dev/null | FileCheck %s
// A conversion takes all sub-layers or none: what does not become a block is an error, with place and reason.

// A sum of values that do not depend on each other is no sub-layer, and no error.
func.func @embedding(%tokens: tensor<2x8xf32>, %positions: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %e = resid.add %tokens, %positions : tensor<2x8xf32>
  %h = resid.rms_norm %e {epsilon = 1.0e-6} : tensor<2x8xf32>
  %f = math.absf %h : tensor<2x8xf32>
  %y = resid.add %e, %f : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// The first sub-layer could be converted, the second could not.
// CHECK-LABEL: func.func @half(
// CHECK: resid.block pre
// CHECK: resid.add %
func.func @half(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %h = resid.rms_norm %x {epsilon = 1.0e-6} : tensor<2x8xf32>
  %f = math.absf %h : tensor<2x8xf32>
  %y = resid.add %x, %f : tensor<2x8xf32>
  %n = resid.rms_norm %y {epsilon = 1.0e-6} : tensor<2x8xf32>
  %g = math.tanh %n : tensor<2x8xf32>
  // RESIDC: resid-form-blocks-complete.mlir:[[@LINE+2]]:8: error: 'resid.add' op not formed: expected no reader of the branch outside of it, but got func.return that reads math.tanh
  // expected-error @+1 {{'resid.add' op not formed: expected no reader of the branch outside of it, but got func.return that reads math.tanh}}
  %z = resid.add %y, %g : tensor<2x8xf32>
  // RESIDC: resid-form-blocks-complete.mlir:[[@LINE+2]]:3: note: the reader is here
  // expected-note @+1 {{the reader is here}}
  return %z, %g : tensor<2x8xf32>, tensor<2x8xf32>
}
