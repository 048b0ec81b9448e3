// RUN: resid-opt %s -resid-fuse-add-norm | FileCheck %s
// RUN: resid-opt %s -resid-form-blocks | FileCheck %s
// RUN: resid-opt %s -resid-fuse-add-norm=report 2>&1 >/dev/null | FileCheck %s --check-prefix=FUSE
// RUN: resid-opt %s -resid-form-blocks=report 2>&1 >/dev/null | FileCheck %s --check-prefix=FORM
// No fused op and no clause of a block states a gamma of more dimensions than are normalised.

// CHECK-LABEL: func.func @post
// CHECK: resid.rms_norm {{.*}} norm_rank = 1
// FUSE: not fused: expected a gamma of the normalised dimensions alone, but got one with more
func.func @post(%x: tensor<?x4x8xf32>, %g: tensor<4x8xf32>) -> tensor<?x4x8xf32> {
  %f = math.tanh %x : tensor<?x4x8xf32>
  %s = resid.add %x, %f : tensor<?x4x8xf32>
  %n = resid.rms_norm %s gamma(%g) {epsilon = 1.0e-5, norm_rank = 1} : tensor<?x4x8xf32>, tensor<4x8xf32>
  return %n : tensor<?x4x8xf32>
}

// CHECK-LABEL: func.func @pre
// CHECK: resid.rms_norm {{.*}} norm_rank = 1
// CHECK: resid.add
// FORM: expected a gamma of the normalised dimensions alone before the branch, but got one with more
func.func @pre(%x: tensor<?x4x8xf32>, %g: tensor<4x8xf32>) -> tensor<?x4x8xf32> {
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5, norm_rank = 1} : tensor<?x4x8xf32>, tensor<4x8xf32>
  %f = math.tanh %n : tensor<?x4x8xf32>
  %s = resid.add %x, %f : tensor<?x4x8xf32>
  return %s : tensor<?x4x8xf32>
}

// Nor is such a gamma a factor of a weight.
// RUN: resid-opt %s -resid-fold-norm-affine 2>&1 | FileCheck %s --check-prefix=FOLD
// FOLD-LABEL: func.func @linear
// FOLD: resid.rms_norm %arg0 gamma(%arg1)
func.func @linear(%x: tensor<?x4x8xf32>, %g: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x4x8xf32> {
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5, norm_rank = 1} : tensor<?x4x8xf32>, tensor<4x8xf32>
  %y = resid.linear %n, %w : tensor<?x4x8xf32>, tensor<8x8xf32>
  return %y : tensor<?x4x8xf32>
}
