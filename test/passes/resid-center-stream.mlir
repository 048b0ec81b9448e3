// RUN: resid-opt %s -resid-center-stream="report=true" -verify-diagnostics -split-input-file | FileCheck %s
// What is written down for a centred stack, and every reason to refuse one. The values are compared in
// test/run/centred-stacks.test.

// CHECK-DAG: #[[ELEMENTS:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @pre(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xbf16>, %[[G:[^:]*]]: tensor<8xf32>, %[[B:[^:]*]]: tensor<8xf32>, %[[W:[^:]*]]: tensor<8x8xbf16> {resid.prepared = 0 : i64}
// The entry is centred in f32 and rounded once.
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %{{.*}}, %[[M:[^,]*]], %[[CORRECTION:[^,]*]], %{{.*}} = resid.layer_norm %[[X]] {epsilon
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x8xbf16>
// CHECK: %[[ENTRY:.*]] = linalg.generic {indexing_maps = [#[[ELEMENTS]], #[[ROWS]], #[[ROWS]], #[[ELEMENTS]]]
// CHECK-SAME: ins(%[[X]], %[[M]], %[[CORRECTION]] : tensor<?x8xbf16>, tensor<?xf32>, tensor<?xf32>) outs(%[[E]]
// CHECK-NEXT: ^bb0(%[[V:.*]]: bf16, %[[VM:.*]]: f32, %[[VC:.*]]: f32
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[V]]
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[WIDE]], %[[VM]]
// CHECK-NEXT: %[[DD:.*]] = arith.subf %[[D]], %[[VC]]
// CHECK-NEXT: %[[NARROW:.*]] = arith.truncf %[[DD]]
// CHECK-NEXT: linalg.yield %[[NARROW]]
// CHECK: %[[Y:.*]] = resid.block pre %[[ENTRY]] norm(rms gamma %[[G]] : tensor<8xf32> beta %[[B]] : tensor<8xf32> epsilon = {{1[.]0*e-05}} zero_centered_gamma) {narrow_affine}
// CHECK: linalg.matmul ins(%{{.*}}, %[[W]]
// CHECK: resid.rms_norm %[[Y]] gamma(%[[G]]) beta(%[[B]]) {epsilon = {{1[.]0*e-03}} : f64, mine.head} : tensor<?x8xbf16>, tensor<8xf32>, tensor<8xf32>
// CHECK-NOT: resid.layer_norm
// CHECK-LABEL: func.func @pre_prepare(
// CHECK-SAME: %[[OLD:[^:]*]]: tensor<8x8xbf16>) -> tensor<8x8xbf16>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} "reduction"
// CHECK: linalg.generic {{.*}} ins(%[[OLD]], %[[SUM]]
func.func @pre(%x: tensor<?x8xbf16>, %g: tensor<8xf32>, %b: tensor<8xf32>, %w: tensor<8x8xbf16>) -> tensor<?x8xbf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %rows = tensor.dim %x, %c0 : tensor<?x8xbf16>
  %empty = tensor.empty(%rows) : tensor<?x8xbf16>
  %zeros = linalg.fill ins(%zero : bf16) outs(%empty : tensor<?x8xbf16>) -> tensor<?x8xbf16>
  // expected-remark @below {{centred (exact in real arithmetic); layer norms that become RMS norms: 2}}
  %y = resid.block pre %x norm(layer gamma %g : tensor<8xf32> beta %b : tensor<8xf32> epsilon = 1.0e-5 zero_centered_gamma) {narrow_affine} : tensor<?x8xbf16> {
  ^bb0(%h: tensor<?x8xbf16>):
    %f = linalg.matmul ins(%h, %w : tensor<?x8xbf16>, tensor<8x8xbf16>) outs(%zeros : tensor<?x8xbf16>) -> tensor<?x8xbf16>
    resid.yield %f : tensor<?x8xbf16>
  }
  %n = resid.layer_norm %y gamma(%g) beta(%b) {epsilon = 1.0e-3, mine.head} : tensor<?x8xbf16>, tensor<8xf32>, tensor<8xf32>
  return %n : tensor<?x8xbf16>
}

// -----

// Each row of the weight, and the bias, lose their mean: of (1, -2, 7) it is 2.
// CHECK-LABEL: func.func @constants(
// CHECK-DAG: arith.constant dense<{{\[\[}}-1.000000e+00, -4.000000e+00, 5.000000e+00], [0.000000e+00, 1.500000e+00, -1.500000e+00]]> : tensor<2x3xf32>
// CHECK-DAG: arith.constant dense<[1.000000e+00, 1.100000e+01, -1.200000e+01]> : tensor<3xf64>
// The gate scales each row as a whole and stays.
// CHECK: resid.block pre %{{.*}} norm(rms epsilon = {{.*}}) gate(%{{.*}} : tensor<4x1xf64>)
// CHECK-NOT: _prepare
func.func @constants(%x: tensor<4x3xf64>, %a: tensor<4x2xf32>, %path: tensor<4x1xf64>) -> tensor<4x3xf64> {
  %zeros = arith.constant dense<0.0> : tensor<4x3xf32>
  %w = arith.constant dense<[[1.0, -2.0, 7.0], [0.5, 2.0, -1.0]]> : tensor<2x3xf32>
  %b = arith.constant dense<[10.0, 20.0, -3.0]> : tensor<3xf64>
  // expected-remark @below {{centred (exact in real arithmetic); layer norms that become RMS norms: 2}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) gate(%path : tensor<4x1xf64>) : tensor<4x3xf64> {
  ^bb0(%h: tensor<4x3xf64>):
    %m = linalg.matmul ins(%a, %w : tensor<4x2xf32>, tensor<2x3xf32>) outs(%zeros : tensor<4x3xf32>) -> tensor<4x3xf32>
    %e = arith.extf %m : tensor<4x3xf32> to tensor<4x3xf64>
    %f = resid.add_bias %e, %b : tensor<4x3xf64>, tensor<3xf64>
    resid.yield %f : tensor<4x3xf64>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x3xf64>
  return %n : tensor<4x3xf64>
}

// -----

// Inference mode takes it away.
func.func @dropout(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %s: i64) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected no dropout between the branch and the stream, but got one; resid-inference removes it}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) dropout(0.1, site 0, seed %s, step %s) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @gate_per_feature(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected a gate of one number or one per row, but got tensor<8xf32>}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) gate(%g : tensor<8xf32>) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @gate_per_element(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %g: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected a gate of one number or one per row, but got tensor<4x8xf32>}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) gate(%g : tensor<4x8xf32>) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @gate_of_unknown_width(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %g: tensor<?xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected a gate of one number or one per row, but got tensor<?xf32>}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) gate(%g : tensor<?xf32>) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @post(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected the branch to read the stream through a norm, as in pre, but got post}}
  %y = resid.block post %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @branch_post(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected the branch to read the stream through a norm, as in pre, but got branch_post}}
  %y = resid.block branch_post %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @post_shifted(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected the branch to read the stream through a norm, as in pre, but got post_shifted}}
  %y = resid.block post_shifted %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @none(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected the branch to read the stream through a norm, as in pre, but got none}}
  %y = resid.block none %x : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @rms(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected a layer norm to read the stream, but got one of kind rms}}
  %y = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @dyt(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %a: tensor<f32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected a layer norm to read the stream, but got one of kind dyt}}
  %y = resid.block pre %x norm(dyt alpha %a : tensor<f32>) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @norm_over_two_dimensions(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected a norm over 1 dimension, but got one over 2}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5 norm_rank = 2) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

// What the second norm hands out has the mean of γ ⊙ x̂.
func.func @peri_with_gamma(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected a linear layer to write to the stream, but got a norm after the branch}}
  %y = resid.block peri %x norm(layer epsilon = 1.0e-5) norm(layer gamma %g : tensor<8xf32> epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @peri_rms(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected a linear layer to write to the stream, but got a norm after the branch}}
  %y = resid.block peri %x norm(layer epsilon = 1.0e-5) norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

// The mean over both dimensions is zero, that of each row is not.
func.func @peri_over_two_dimensions(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected a linear layer to write to the stream, but got a norm after the branch}}
  %y = resid.block peri %x norm(layer epsilon = 1.0e-5) norm(layer epsilon = 1.0e-5 norm_rank = 2) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

// The caller gets the raw stream.
func.func @returned(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected norms to be all that reads the stream beside its blocks, but got func.return}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-note @below {{found here}}
  return %y : tensor<4x8xf32>
}

// -----

func.func @head(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected norms to be all that reads the stream beside its blocks, but got math.absf}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-note @below {{found here}}
  %n = math.absf %y : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @final_rms(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected a layer norm to read the stream, but got one of kind rms}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-note @below {{found here}}
  %n = resid.rms_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @final_norm_over_two_dimensions(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected a norm over 1 dimension, but got one over 2}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-note @below {{found here}}
  %n = resid.layer_norm %y {epsilon = 1.0e-5, norm_rank = 2} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @statistics(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected a norm without statistics, but got the mean of the stream}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-note @below {{found here}}
  %m, %n, %c, %r = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return %n : tensor<4xf32>
}

// -----

func.func @stream_as_gamma(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected norms to be all that reads the stream beside its blocks, but got resid.layer_norm}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  // expected-note @below {{found here}}
  %n = resid.layer_norm %x gamma(%y) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

// A norm would do, the sum does not.
func.func @tapped(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected norms to be all that reads the stream beside its blocks, but got arith.addf}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %z = resid.block pre %y norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %m = resid.layer_norm %z {epsilon = 1.0e-5} : tensor<4x8xf32>
  // expected-note @below {{found here}}
  %n = arith.addf %m, %y : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

// The second branch reads the stream beside its norm.
func.func @captured(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected norms to be all that reads the stream beside its blocks, but got arith.addf}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %z = resid.block pre %y norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    // expected-note @below {{found here}}
    %a = arith.addf %h, %y : tensor<4x8xf32>
    %f = linalg.matmul ins(%a, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %z {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @writer_is_not_linear(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{not centred: expected a linear layer that makes the value, but got math.tanh}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    // expected-note @below {{found here}}
    %f = math.tanh %h : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func private @mlp(tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @writer_is_a_call(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{not centred: expected a linear layer that makes the value, but got func.call}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    // expected-note @below {{found here}}
    %f = func.call @mlp(%h) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @no_writer(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{not centred: expected a linear layer that makes the value, but got an argument}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @writer_accumulates(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{not centred: expected a linear layer that accumulates onto zeros or a bias, but got other initial values}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    // expected-note @below {{found here}}
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%h : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @computed_weight(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  %v = math.absf %w : tensor<8x8xf32>
  // expected-remark @below {{not centred: expected weights that are constants or arguments of the function, but got the result of math.absf}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    // expected-note @below {{found here}}
    %f = linalg.matmul ins(%h, %v : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @computed_bias(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %c: tensor<8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  %b = math.absf %c : tensor<8xf32>
  // expected-remark @below {{not centred: expected weights that are constants or arguments of the function, but got the result of math.absf}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    // expected-note @below {{found here}}
    %m = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    %f = resid.add_bias %m, %b : tensor<4x8xf32>, tensor<8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

// The mean over the features is not that of the columns which the slice leaves out.
func.func @part_of_a_weight(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x9xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  %s = tensor.extract_slice %v[0, 0] [8, 8] [1, 1] : tensor<8x9xf32> to tensor<8x8xf32>
  // expected-remark @below {{not centred: expected weights that are constants or arguments of the function, but got the result of tensor.extract_slice}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    // expected-note @below {{found here}}
    %f = linalg.matmul ins(%h, %s : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

func.func @called(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark @below {{not centred: expected a function that nothing calls, since its arguments change, but @called is called; inline the calls first}}
  %y = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    // expected-note @below {{found here}}
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}
func.func @caller(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %y = call @called(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
