// The texts by which the dialect is specified, word for word.
// RUN: resid-opt %s | FileCheck %s
// RUN: resid-opt %s | resid-opt | FileCheck %s
// RUN: resid-opt %s --mlir-print-op-generic | resid-opt | FileCheck %s

// CHECK-LABEL: func.func @post_norm
// CHECK: %[[D:.*]] = resid.dropout %arg1 seed(%arg4, %arg5) {p = 1.000000e-01 : f64, site = 0 : i64} : tensor<?x768xf32>
// CHECK: %[[S:.*]] = resid.add %arg0, %[[D]] : tensor<?x768xf32>
// CHECK: resid.layer_norm %[[S]] gamma(%arg2) beta(%arg3) {epsilon = 1.000000e-05 : f64} : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>{{$}}
func.func @post_norm(%x: tensor<?x768xf32>, %f: tensor<?x768xf32>, %gamma: tensor<768xf32>, %beta: tensor<768xf32>,
                     %seed: i64, %step: i64) -> tensor<?x768xf32> {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
  %s = resid.add %x, %d : tensor<?x768xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
  return %y : tensor<?x768xf32>
}

// CHECK-LABEL: func.func @pre_norm_gated
// CHECK: %[[S:.*]] = resid.add %arg0, %arg1 gate(%arg2) {branch_scale = 5.000000e-01 : f64} : tensor<4x16x512xf32>, tensor<512xf32>{{$}}
// CHECK: resid.rms_norm %[[S]] gamma(%arg3) {epsilon = {{.*}} : f64} : tensor<4x16x512xf32>, tensor<512xf32>{{$}}
func.func @pre_norm_gated(%x: tensor<4x16x512xf32>, %f: tensor<4x16x512xf32>, %gate: tensor<512xf32>, %gamma: tensor<512xf32>)
    -> (tensor<4x16x512xf32>, tensor<4x16x512xf32>) {
  %s = resid.add %x, %f gate(%gate) {branch_scale = 0.5} : tensor<4x16x512xf32>, tensor<512xf32>
  %n = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : tensor<4x16x512xf32>, tensor<512xf32>
  return %n, %s : tensor<4x16x512xf32>, tensor<4x16x512xf32>
}

!T = tensor<?x768xf32>
!Tg = tensor<768xf32>
!Tm = tensor<?xf32>

// CHECK-LABEL: func.func @statistics
// CHECK: %normalized, %mean, %mean_correction, %rstd = resid.layer_norm %arg0 gamma(%arg1) {epsilon = 1.000000e-05 : f64} : tensor<?x768xf32>, tensor<768xf32> -> tensor<?x768xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
func.func @statistics(%s: !T, %g: !Tg) -> (!T, !Tm, !Tm, !Tm) {
  %y, %mean, %corr, %rstd = resid.layer_norm %s gamma(%g) {epsilon = 1.0e-5} : !T, !Tg -> !T, !Tm, !Tm, !Tm
  return %y, %mean, %corr, %rstd : !T, !Tm, !Tm, !Tm
}

// CHECK-LABEL: func.func @wide_stream
// CHECK: resid.add %arg0, %arg1 : tensor<?x768xbf16> -> tensor<?x768xf32>
func.func @wide_stream(%x: tensor<?x768xbf16>, %f: tensor<?x768xbf16>) -> tensor<?x768xf32> {
  %s = resid.add %x, %f : tensor<?x768xbf16> -> tensor<?x768xf32>
  return %s : tensor<?x768xf32>
}

// The scales are at their defaults and are not printed again.
// CHECK-LABEL: func.func @fused
// CHECK: %normalized, %sum = resid.add_norm layer %arg0, %arg1 bias(%arg2) dropout(%arg6, %arg7) origin(%arg8, %arg9) gate(%arg3) gamma(%arg4) beta(%arg5) {epsilon = 1.000000e-05 : f64, p = 1.000000e-01 : f64, site = 3 : i64} : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>{{$}}
func.func @fused(%x: !T, %f: !T, %b: !Tg, %w: !Tg, %g: !Tg, %be: !Tg, %seed: i64, %step: i64, %r: i64, %i: i64) -> (!T, !T) {
  %n, %s = resid.add_norm layer %x, %f bias(%b) dropout(%seed, %step) origin(%r, %i) gate(%w) gamma(%g) beta(%be) {epsilon = 1.0e-5, p = 0.1, site = 3, skip_scale = 1.0, branch_scale = 1.0} : !T, !Tg, !Tg, !Tg, !Tg
  return %n, %s : !T, !T
}

// CHECK-LABEL: func.func @fused_dyt
// CHECK: resid.add_norm dyt %arg0, %arg1 alpha(%arg2) gamma(%arg3) : tensor<?x768xf32>, tensor<f32>, tensor<768xf32>{{$}}
func.func @fused_dyt(%x: !T, %f: !T, %a: tensor<f32>, %g: !Tg) -> !T {
  %n, %s = resid.add_norm dyt %x, %f alpha(%a) gamma(%g) : !T, tensor<f32>, !Tg
  return %n : !T
}
