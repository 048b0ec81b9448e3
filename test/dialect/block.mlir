// RUN: resid-opt %s | resid-opt | FileCheck %s
// RUN: resid-opt %s -mlir-print-op-generic | resid-opt | FileCheck %s
// The text of resid.block in every placement, there and back, also through the generic form.

// CHECK-LABEL: func.func @post(
func.func @post(%x: tensor<?x768xf32>, %g: tensor<768xf32>, %b: tensor<768xf32>, %w: tensor<768xf32>,
                %s: i64, %t: i64, %r: i64, %i: i64) -> tensor<?x768xf32> {
  // CHECK-NEXT: resid.block post %{{.*}} norm(layer gamma %{{.*}} : tensor<768xf32> beta %{{.*}} : tensor<768xf32> epsilon = 1.000000e-05) dropout(1.000000e-01, site 3, seed %{{.*}}, step %{{.*}}, origin %{{.*}} %{{.*}}) gate(%{{.*}} : tensor<768xf32>) {skip_scale = 1.200000e+00 : f64} : tensor<?x768xf32> {
  // CHECK-NEXT: ^bb0(%[[H:.*]]: tensor<?x768xf32>):
  // CHECK-NEXT: %[[F:.*]] = math.absf %[[H]]
  // CHECK-NEXT: resid.yield %[[F]] : tensor<?x768xf32>
  // CHECK-NEXT: }
  %y = resid.block post %x norm(layer gamma %g : tensor<768xf32> beta %b : tensor<768xf32> epsilon = 1.0e-5)
         dropout(0.1, site 3, seed %s, step %t, origin %r %i) gate(%w : tensor<768xf32>) {skip_scale = 1.2} : tensor<?x768xf32> {
  ^bb0(%h: tensor<?x768xf32>):
    %f = math.absf %h : tensor<?x768xf32>
    resid.yield %f : tensor<?x768xf32>
  }
  return %y : tensor<?x768xf32>
}

// A narrow input of the branch, which yields through arith.extf.
// CHECK-LABEL: func.func @pre(
func.func @pre(%x: tensor<2x8xf32>, %g: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: resid.block pre %{{.*}} norm(rms gamma %{{.*}} : tensor<8xf32> epsilon = 1.000000e-05 zero_centered_gamma) {narrow_affine} : tensor<2x8xf32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<2x8xbf16>):
  %y = resid.block pre %x norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-5 zero_centered_gamma) {narrow_affine} : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xbf16>):
    %f = math.absf %h : tensor<2x8xbf16>
    %e = arith.extf %f : tensor<2x8xbf16> to tensor<2x8xf32>
    resid.yield %e : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @branch_post(
func.func @branch_post(%x: tensor<2x4x8xf32>, %s: i64, %t: i64) -> tensor<2x4x8xf32> {
  // CHECK-NEXT: resid.block branch_post %{{.*}} norm(layer epsilon = 1.000000e-05 norm_rank = 2) dropout(1.000000e+00, site 0, seed %{{.*}}, step %{{.*}}) {branch_scale = 5.000000e-01 : f64} : tensor<2x4x8xf32> {
  %y = resid.block branch_post %x norm(layer epsilon = 1.0e-5 norm_rank = 2) dropout(1.0, site 0, seed %s, step %t) {branch_scale = 0.5} : tensor<2x4x8xf32> {
  ^bb0(%h: tensor<2x4x8xf32>):
    resid.yield %h : tensor<2x4x8xf32>
  }
  return %y : tensor<2x4x8xf32>
}

// CHECK-LABEL: func.func @peri(
func.func @peri(%x: tensor<2x8xf32>, %a: tensor<f32>, %g: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: resid.block peri %{{.*}} norm(dyt alpha %{{.*}} : tensor<f32> gamma %{{.*}} : tensor<8xf32>) norm(rms epsilon = 0.000000e+00) : tensor<2x8xf32> {
  %y = resid.block peri %x norm(dyt alpha %a : tensor<f32> gamma %g : tensor<8xf32>) norm(rms epsilon = 0.0) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @post_shifted(
func.func @post_shifted(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: resid.block post_shifted %{{.*}} norm(rms epsilon = 1.000000e-05) : tensor<2x8xf32> {
  %y = resid.block post_shifted %x norm(rms epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @none(
func.func @none(%x: tensor<2x8xf32>, %w: tensor<f32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: resid.block none %{{.*}} gate(%{{.*}} : tensor<f32>) : tensor<2x8xf32> {
  %y = resid.block none %x gate(%w : tensor<f32>) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// Drop path: one number per sample, drawn by dropout of ones, gates the whole branch of that sample.
// CHECK-LABEL: func.func @drop_path(
func.func @drop_path(%x: tensor<?x16x32xf32>, %g: tensor<32xf32>, %ones: tensor<?x1x1xf32>, %seed: i64, %step: i64) -> tensor<?x16x32xf32> {
  // CHECK-NEXT: %[[PATH:.*]] = resid.dropout %{{.*}} seed(%{{.*}}, %{{.*}}) {p = 2.000000e-01 : f64, site = 0 : i64} : tensor<?x1x1xf32>
  // CHECK-NEXT: resid.block pre %{{.*}} norm(rms gamma %{{.*}} : tensor<32xf32> epsilon = 9.9999999999999995E-7) gate(%[[PATH]] : tensor<?x1x1xf32>) : tensor<?x16x32xf32> {
  %path = resid.dropout %ones seed(%seed, %step) {p = 0.2, site = 0} : tensor<?x1x1xf32>
  %y = resid.block pre %x norm(rms gamma %g : tensor<32xf32> epsilon = 1.0e-6) gate(%path : tensor<?x1x1xf32>) : tensor<?x16x32xf32> {
  ^bb0(%h: tensor<?x16x32xf32>):
    %f = math.absf %h : tensor<?x16x32xf32>
    resid.yield %f : tensor<?x16x32xf32>
  }
  return %y : tensor<?x16x32xf32>
}

// CHECK-LABEL: func.func @group(
func.func @group(%x: tensor<2x8xf32>, %g: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: resid.block pre %{{.*}} norm(group gamma %{{.*}} : tensor<8xf32> epsilon = 1.000000e-05 groups = 4 zero_centered_gamma) : tensor<2x8xf32> {
  %y = resid.block pre %x norm(group gamma %g : tensor<8xf32> epsilon = 1.0e-5 groups = 4 zero_centered_gamma) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}

// A dropout of a shard, with a column and an extent, with each alone.
// CHECK-LABEL: func.func @shards(
func.func @shards(%x: tensor<2x4x8xf32>, %s: i64, %t: i64, %c: i64, %l: i64, %g: i64) -> tensor<2x4x8xf32> {
  // CHECK-NEXT: resid.block none %arg0 dropout(5.000000e-01, site 0, seed %arg1, step %arg2, origin %arg1 %arg2 %arg3, extent %arg4 %arg5) : tensor<2x4x8xf32> {
  %y = resid.block none %x dropout(0.5, site 0, seed %s, step %t, origin %s %t %c, extent %l %g) : tensor<2x4x8xf32> {
  ^bb0(%h: tensor<2x4x8xf32>):
    resid.yield %h : tensor<2x4x8xf32>
  }
  // CHECK: resid.block none %{{.*}} dropout(5.000000e-01, site 0, seed %arg1, step %arg2, origin %arg1 %arg2, extent %arg4 %arg5) : tensor<2x4x8xf32> {
  %z = resid.block none %y dropout(0.5, site 0, seed %s, step %t, origin %s %t, extent %l %g) : tensor<2x4x8xf32> {
  ^bb0(%h: tensor<2x4x8xf32>):
    resid.yield %h : tensor<2x4x8xf32>
  }
  // CHECK: resid.block none %{{.*}} dropout(5.000000e-01, site 0, seed %arg1, step %arg2, origin %arg1 %arg2 %arg3) : tensor<2x4x8xf32> {
  %w = resid.block none %z dropout(0.5, site 0, seed %s, step %t, origin %s %t %c) : tensor<2x4x8xf32> {
  ^bb0(%h: tensor<2x4x8xf32>):
    resid.yield %h : tensor<2x4x8xf32>
  }
  return %w : tensor<2x4x8xf32>
}

// How a sub-layer is connected to several streams.
// CHECK-LABEL: func.func @streams(
func.func @streams(%x: tensor<2x3x8xf32>, %a: tensor<2x3x1xf32>, %b: tensor<3x8xbf16>, %c: tensor<3x3xf32>,
                   %g: tensor<8xf32>) -> tensor<2x3x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = resid.block pre %{{.*}} norm(rms epsilon = 1.000000e-05) gate(%{{.*}} : tensor<8xf32>) streams(read %{{.*}} : tensor<2x3x1xf32>, write %{{.*}} : tensor<3x8xbf16>, mix %{{.*}} : tensor<3x3xf32>) {branch_scale = 5.000000e-01 : f64, read_scale = 2.000000e+00 : f64} : tensor<2x3x8xf32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<2x8xf32>):
  %y = resid.block pre %x norm(rms epsilon = 1.0e-5) gate(%g : tensor<8xf32>)
         streams(read %a : tensor<2x3x1xf32>, write %b : tensor<3x8xbf16>, mix %c : tensor<3x3xf32>)
         {branch_scale = 0.5, read_scale = 2.0} : tensor<2x3x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // CHECK: %[[Z:.*]] = resid.block none %[[Y]] streams(mix %{{.*}} : tensor<3x3xf32>) : tensor<2x3x8xf32> {
  %z = resid.block none %y streams(mix %c : tensor<3x3xf32>) : tensor<2x3x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  // CHECK: resid.block none %[[Z]] streams() : tensor<2x3x8xf32> {
  %w = resid.block none %z streams() : tensor<2x3x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %w : tensor<2x3x8xf32>
}
