// Each rewrite beside the nearest program that must stay as it is.
// RUN: resid-opt %s -canonicalize | FileCheck %s

// T = round(0.000007·65536) = 0.
// CHECK-LABEL: func.func @dropout_threshold_0
// CHECK-NEXT: return %arg0
func.func @dropout_threshold_0(%x: tensor<4x8xf32>, %s: i64) -> tensor<4x8xf32> {
  %y = resid.dropout %x seed(%s, %s) {p = 0.000007, site = 0} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// T = round(0.000008·65536) = 1.
// CHECK-LABEL: func.func @dropout_threshold_1
// CHECK-NEXT: resid.dropout
func.func @dropout_threshold_1(%x: tensor<4x8xf32>, %s: i64) -> tensor<4x8xf32> {
  %y = resid.dropout %x seed(%s, %s) {p = 0.000008, site = 0} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Zeros in training, the input in inference: which, is not known here.
// CHECK-LABEL: func.func @dropout_of_all
// CHECK-NEXT: resid.dropout
func.func @dropout_of_all(%x: tensor<4x8xf32>, %s: i64) -> tensor<4x8xf32> {
  %y = resid.dropout %x seed(%s, %s) {p = 1.0, site = 0} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @gate_of_1
// CHECK-NEXT: resid.add %arg0, %arg1 {branch_scale = 5.000000e-01 : f64} : tensor<?x8xbf16> -> tensor<?x8xf32>
func.func @gate_of_1(%x: tensor<?x8xbf16>, %f: tensor<?x8xbf16>) -> tensor<?x8xf32> {
  %one = arith.constant dense<1.0> : tensor<1x8xf32>
  %y = resid.add %x, %f gate(%one) {branch_scale = 0.5} : tensor<?x8xbf16>, tensor<1x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @gate_of_2
// CHECK: resid.add %arg0, %arg1 gate(
func.func @gate_of_2(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %two = arith.constant dense<2.0> : tensor<8xf32>
  %y = resid.add %x, %f gate(%two) : tensor<?x8xf32>, tensor<8xf32>
  return %y : tensor<?x8xf32>
}

// This gate also says that there are four rows; without it, nothing would.
// CHECK-LABEL: func.func @gate_of_1_that_checks_a_size
// CHECK: resid.add %arg0, %arg1 gate(
func.func @gate_of_1_that_checks_a_size(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %y = resid.add %x, %f gate(%one) : tensor<?x8xf32>, tensor<4x8xf32>
  return %y : tensor<?x8xf32>
}

// -0 + +0 is +0.
// CHECK-LABEL: func.func @add_of_zero
// CHECK: resid.add_bias
// CHECK: resid.add
func.func @add_of_zero(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %bias = arith.constant dense<0.0> : tensor<8xf32>
  %b = resid.add_bias %x, %bias : tensor<4x8xf32>, tensor<8xf32>
  %y = resid.add %b, %zero : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// 0·f is NaN where f is infinite.
// CHECK-LABEL: func.func @scale_of_zero
// CHECK-NEXT: resid.add %arg0, %arg0 {branch_scale = 0.000000e+00 : f64, skip_scale = 0.000000e+00 : f64}
func.func @scale_of_zero(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = resid.add %x, %x {skip_scale = 0.0, branch_scale = 0.0} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Each rounding stays.
// CHECK-LABEL: func.func @add_twice
// CHECK-COUNT-2: resid.add
func.func @add_twice(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = resid.add %x, %f : tensor<4x8xf32>
  %1 = resid.add %0, %f : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @unused_statistics
// CHECK-NEXT: %[[L:.*]] = resid.layer_norm %arg0 gamma(%arg1) {epsilon = 1.000000e-05 : f64, mine.tag, narrow_affine} : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xbf16>
// CHECK-NEXT: %[[R:.*]] = resid.rms_norm %arg0 {epsilon = 1.000000e-05 : f64} : tensor<4x8xf32>{{$}}
// CHECK-NEXT: %[[N:.*]], %[[S:.*]] = resid.add_norm rms %arg0, %[[R]] {epsilon = 1.000000e-05 : f64} : tensor<4x8xf32>{{$}}
// CHECK-NEXT: return %[[L]], %[[N]], %[[S]]
func.func @unused_statistics(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> (tensor<4x8xbf16>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %l:4 = resid.layer_norm %x gamma(%g) {epsilon = 1.0e-5, narrow_affine, mine.tag} : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xbf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %r:2 = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
  %n, %s, %rstd = resid.add_norm rms %x, %r#0 {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
  return %l#0, %n, %s : tensor<4x8xbf16>, tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @one_used_statistic
// CHECK-NEXT: %normalized, %mean, %mean_correction, %rstd = resid.layer_norm
// CHECK-NEXT: return %mean_correction
func.func @one_used_statistic(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %l:4 = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return %l#2 : tensor<4xf32>
}

// CHECK-LABEL: func.func @fused_dropout_threshold_0
// CHECK-NEXT: %normalized, %sum = resid.add_norm layer %arg0, %arg1 bias(%arg2) gate(%arg3) gamma(%arg4) {epsilon = 1.000000e-05 : f64, skip_scale = 2.000000e+00 : f64} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xbf16>, tensor<8xf16>
func.func @fused_dropout_threshold_0(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %b: tensor<8xf32>, %w: tensor<8xbf16>, %g: tensor<8xf16>, %s: i64) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %n, %sum = resid.add_norm layer %x, %f bias(%b) dropout(%s, %s) origin(%s, %s, %s) extent(%s, %s) gate(%w) gamma(%g) {epsilon = 1.0e-5, p = 0.0, site = 3, skip_scale = 2.0} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xbf16>, tensor<8xf16>
  return %n, %sum : tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @fused_dropout_threshold_1
// CHECK-NEXT: resid.add_norm layer %arg0, %arg1 dropout(%arg2, %arg2) {epsilon = 1.000000e-05 : f64, p = {{.*}} : f64, site = 3 : i64}
func.func @fused_dropout_threshold_1(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %s: i64) -> tensor<4x8xf32> {
  %n, %sum = resid.add_norm layer %x, %f dropout(%s, %s) {epsilon = 1.0e-5, p = 0.000008, site = 3} : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @fused_gate_of_1
// CHECK-NEXT: resid.add_norm dyt %arg0, %arg1 alpha(%arg2) : tensor<4x8xf32>, tensor<f32>{{$}}
func.func @fused_gate_of_1(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %a: tensor<f32>) -> tensor<4x8xf32> {
  %one = arith.constant dense<1.0> : tensor<f32>
  %n, %sum = resid.add_norm dyt %x, %f gate(%one) alpha(%a) : tensor<4x8xf32>, tensor<f32>, tensor<f32>
  return %n : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @fused_gate_of_minus_1
// CHECK: resid.add_norm dyt %arg0, %arg1 gate(
func.func @fused_gate_of_minus_1(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %a: tensor<f32>) -> tensor<4x8xf32> {
  %minus = arith.constant dense<-1.0> : tensor<f32>
  %n, %sum = resid.add_norm dyt %x, %f gate(%minus) alpha(%a) : tensor<4x8xf32>, tensor<f32>, tensor<f32>
  return %n : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @attention_drops_nothing
// CHECK-NEXT: resid.attention %arg0, %arg0, %arg0 {causal} : tensor<1x2x3x4xf32>
func.func @attention_drops_nothing(%q: tensor<1x2x3x4xf32>, %s: i64) -> tensor<1x2x3x4xf32> {
  %y = resid.attention %q, %q, %q dropout(%s, %s) origin(%s, %s, %s) extent(%s, %s) {causal, p = 0.000001, site = 3} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return %y : tensor<1x2x3x4xf32>
}

// Whether all is dropped is not known before the mode is.
// CHECK-LABEL: func.func @attention_drops_all
// CHECK-NEXT: resid.attention %arg0, %arg0, %arg0 dropout(%arg1, %arg1) {p = 1.000000e+00 : f64, site = 3 : i64}
func.func @attention_drops_all(%q: tensor<1x2x3x4xf32>, %s: i64) -> tensor<1x2x3x4xf32> {
  %y = resid.attention %q, %q, %q dropout(%s, %s) {p = 1.0, site = 3} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return %y : tensor<1x2x3x4xf32>
}
