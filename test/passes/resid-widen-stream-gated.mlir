// One residual stream to two with the gated connection, which takes the norm before the branch.
// RUN: resid-opt %s -resid-widen-stream="streams=2 connection=gated report" --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: initial = {factor = 2.000000e+00 : f64, of = "g", offset = 0.000000e+00 : f64}, name = "connection_0_norm", shape = array<i64: 2, 8>, to = "connection 0"
// CHECK-SAME: initial = {normal = 2.000000e-02 : f64}, name = "connection_0_down", shape = array<i64: 320, 16>
// CHECK-SAME: initial = array<f64: 0.000000e+00>, name = "connection_0_up", shape = array<i64: 16, 320>
// CHECK-SAME: initial = array<f64: 0.000000e+00>, name = "connection_0_write", shape = array<i64: 2, 16>
// CHECK-SAME: initial = array<f64: 5.000000e-01>, name = "head_read", shape = array<i64: 2, 1>
// CHECK-LABEL: func.func @pre(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xbf16>, %[[G:[^:]*]]: tensor<8xf32> {resid.name = "g"}, %[[N:[^:]*]]: tensor<2x8xf32> {resid.name = "connection_0_norm"}, %[[DOWN:[^:]*]]: tensor<320x16xbf16> {{[^,]*}}, %[[UP:[^:]*]]: tensor<16x320xbf16> {{[^,]*}}, %[[WRITE:[^:]*]]: tensor<2x16xbf16>
// CHECK: %[[S:.*]] = linalg.broadcast ins(%[[X]]
// CHECK: %[[H:.*]] = resid.rms_norm %[[S]] gamma(%[[N]]) {epsilon = {{.*}}, norm_rank = 1 : i64}
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[H]]
// CHECK: resid.linear %[[FLAT]], %[[DOWN]]
// CHECK: resid.activation silu
// CHECK: resid.linear %{{.*}}, %[[UP]]
// CHECK: %[[GATES:.*]] = tensor.expand_shape
// CHECK: %[[ROW:.*]] = resid.read %[[H]] weights(%[[GATES]]) {scale = 5.000000e-01 : f64}
// CHECK: resid.linear %[[FLAT]], %[[WRITE]]
// CHECK: %[[Y:.*]] = resid.block none %[[S]] streams(write %{{.*}} : tensor<?x2x1xbf16>) : tensor<?x2x8xbf16> {
// CHECK: math.tanh %[[ROW]]
// CHECK: resid.read %[[Y]] weights(%{{.*}}) : tensor<?x2x8xbf16>, tensor<2x1xf32>
func.func @pre(%x: tensor<?x8xbf16>, %g: tensor<8xf32> {resid.name = "g"}) -> tensor<?x8xbf16> {
  // expected-remark @+1 {{converted streams=1 to streams=2 connection=gated (bit-exact)}}
  %a = resid.block pre %x norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-5) : tensor<?x8xbf16> {
  ^bb0(%h: tensor<?x8xbf16>):
    %f = math.tanh %h : tensor<?x8xbf16>
    resid.yield %f : tensor<?x8xbf16>
  }
  return %a : tensor<?x8xbf16>
}

// -----

// A constant gamma that is centred on zero: 1 + (2·gamma + 1) is twice 1 + gamma. The norm after the branch stays.
// CHECK: initial = array<f64: 2.000000e+00, 0.000000e+00, 2.000000e+00, 0.000000e+00>, name = "connection_0_norm"
// CHECK-LABEL: func.func @peri(
// CHECK: resid.block branch_post %{{.*}} norm(layer epsilon = {{[^)]*}}) streams(write
func.func @peri(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %g = arith.constant dense<[0.5, -0.5]> : tensor<2xf32>
  // expected-remark @+1 {{converted}}
  %a = resid.block peri %x norm(rms gamma %g : tensor<2xf32> epsilon = 1.0e-5 zero_centered_gamma) norm(layer epsilon = 1.0e-5) : tensor<3x2xf32> {
  ^bb0(%h: tensor<3x2xf32>):
    resid.yield %h : tensor<3x2xf32>
  }
  return %a : tensor<3x2xf32>
}

// -----

func.func @without_norm(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{not converted: expected placement pre or peri for connection gated, but got branch_post, which has no norm that the read could be}}
  %a = resid.block branch_post %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %a : tensor<4x8xf32>
}

// -----

func.func @layer_norm(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{not converted: expected an RMS norm before the branch, which becomes the read of a gated connection, but got layer}}
  %a = resid.block pre %x norm(layer epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %a : tensor<4x8xf32>
}

// -----

func.func @computed_gamma(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  %gamma = math.exp %g : tensor<8xf32>
  // expected-error @+1 {{not converted: expected gamma to be an argument of the function or a constant, but got neither}}
  %a = resid.block pre %x norm(rms gamma %gamma : tensor<8xf32> epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return %a : tensor<4x8xf32>
}

// -----

func.func @open_features(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  // expected-error @+1 {{not converted: expected a static number of features for connection gated, but got 'tensor<4x?xf32>'}}
  %a = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x?xf32> {
  ^bb0(%h: tensor<4x?xf32>):
    resid.yield %h : tensor<4x?xf32>
  }
  return %a : tensor<4x?xf32>
}
