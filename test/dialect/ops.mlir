// Every clause, type and shape that verifies, in the pretty form, the generic form and bytecode.
// RUN: resid-opt %s | FileCheck %s
// RUN: resid-opt %s --mlir-print-op-generic | resid-opt | FileCheck %s
// RUN: resid-opt %s --emit-bytecode | resid-opt | FileCheck %s

// CHECK-LABEL: func.func @add_gates
func.func @add_gates(%x: tensor<4x16x512xf32>, %f: tensor<4x16x512xf32>, %scalar: tensor<f32>, %feature: tensor<512xf16>,
                     %row: tensor<4x16x1xf32>, %sample: tensor<4x1x1xbf16>, %full: tensor<4x16x512xf32>, %dynamic: tensor<?x512xf32>) {
  // CHECK: resid.add %arg0, %arg1 gate(%arg2) : tensor<4x16x512xf32>, tensor<f32>
  %0 = resid.add %x, %f gate(%scalar) : tensor<4x16x512xf32>, tensor<f32>
  // CHECK: resid.add %arg0, %arg1 gate(%arg3) : tensor<4x16x512xf32>, tensor<512xf16>
  %1 = resid.add %x, %f gate(%feature) : tensor<4x16x512xf32>, tensor<512xf16>
  // CHECK: resid.add %arg0, %arg1 gate(%arg4) : tensor<4x16x512xf32>, tensor<4x16x1xf32>
  %2 = resid.add %x, %f gate(%row) : tensor<4x16x512xf32>, tensor<4x16x1xf32>
  // CHECK: resid.add %arg0, %arg1 gate(%arg5) : tensor<4x16x512xf32>, tensor<4x1x1xbf16>
  %3 = resid.add %x, %f gate(%sample) : tensor<4x16x512xf32>, tensor<4x1x1xbf16>
  // CHECK: resid.add %arg0, %arg1 gate(%arg6) {branch_scale = 2.000000e+00 : f64, skip_scale = 1.200000e+00 : f64} : tensor<4x16x512xf32>, tensor<4x16x512xf32>
  %4 = resid.add %x, %f gate(%full) {skip_scale = 1.2, branch_scale = 2.0} : tensor<4x16x512xf32>, tensor<4x16x512xf32>
  // CHECK: resid.add %arg0, %arg1 gate(%arg7) : tensor<4x16x512xf32>, tensor<?x512xf32>
  %5 = resid.add %x, %f gate(%dynamic) : tensor<4x16x512xf32>, tensor<?x512xf32>
  return
}

// CHECK-LABEL: func.func @add_types
func.func @add_types(%h: tensor<?x?xf16>, %b: tensor<3xbf16>, %d: tensor<2x3xf64>, %g: tensor<3xf64>, %z: tensor<0x5xf32>, %gate: tensor<3xf32>) {
  // CHECK: resid.add %arg0, %arg0 : tensor<?x?xf16>{{$}}
  %0 = resid.add %h, %h : tensor<?x?xf16>
  // CHECK: resid.add %arg0, %arg0 gate(%arg5) : tensor<?x?xf16>, tensor<3xf32> -> tensor<?x?xf32>
  %1 = resid.add %h, %h gate(%gate) : tensor<?x?xf16>, tensor<3xf32> -> tensor<?x?xf32>
  // CHECK: resid.add %arg1, %arg1 : tensor<3xbf16> -> tensor<3xf32>
  %2 = resid.add %b, %b : tensor<3xbf16> -> tensor<3xf32>
  // CHECK: resid.add %arg2, %arg2 gate(%arg3) : tensor<2x3xf64>, tensor<3xf64>
  %3 = resid.add %d, %d gate(%g) : tensor<2x3xf64>, tensor<3xf64>
  // CHECK: resid.add %arg4, %arg4 : tensor<0x5xf32>
  %4 = resid.add %z, %z : tensor<0x5xf32>
  return
}

// CHECK-LABEL: func.func @add_bias
func.func @add_bias(%f: tensor<?x?xbf16>, %b: tensor<768xf32>, %one: tensor<8xf64>, %d: tensor<?xf64>) {
  // CHECK: resid.add_bias %arg0, %arg1 : tensor<?x?xbf16>, tensor<768xf32>
  %0 = resid.add_bias %f, %b : tensor<?x?xbf16>, tensor<768xf32>
  // CHECK: resid.add_bias %arg2, %arg3 : tensor<8xf64>, tensor<?xf64>
  %1 = resid.add_bias %one, %d : tensor<8xf64>, tensor<?xf64>
  return
}

// CHECK-LABEL: func.func @dropout
func.func @dropout(%x: tensor<2x?x8xf16>, %seed: i64, %step: i64, %row: i64, %site: i64) {
  // CHECK: resid.dropout %arg0 seed(%arg1, %arg2) {p = 0.000000e+00 : f64, site = 4294967295 : i64} : tensor<2x?x8xf16>
  %0 = resid.dropout %x seed(%seed, %step) {p = 0.0, site = 4294967295} : tensor<2x?x8xf16>
  // CHECK: resid.dropout %arg0 seed(%arg1, %arg2) origin(%arg3, %arg4) {p = 1.000000e+00 : f64, site = 1 : i64} : tensor<2x?x8xf16>
  %1 = resid.dropout %x seed(%seed, %step) origin(%row, %site) {p = 1.0, site = 1} : tensor<2x?x8xf16>
  // CHECK: resid.dropout %arg0 seed(%arg1, %arg2) origin(%arg3, %arg4, %arg1) {p = 5.000000e-01 : f64, site = 1 : i64} : tensor<2x?x8xf16>
  %2 = resid.dropout %x seed(%seed, %step) origin(%row, %site, %seed) {p = 0.5, site = 1} : tensor<2x?x8xf16>
  // CHECK: resid.dropout %arg0 seed(%arg1, %arg2) origin(%arg3, %arg4) extent(%arg1, %arg2) {p = 5.000000e-01 : f64, site = 1 : i64} : tensor<2x?x8xf16>
  %3 = resid.dropout %x seed(%seed, %step) origin(%row, %site) extent(%seed, %step) {p = 0.5, site = 1} : tensor<2x?x8xf16>
  // CHECK: resid.dropout %arg0 seed(%arg1, %arg2) origin(%arg3, %arg4, %arg3) extent(%arg1, %arg2) {p = 5.000000e-01 : f64, site = 1 : i64} : tensor<2x?x8xf16>
  %4 = resid.dropout %x seed(%seed, %step) origin(%row, %site, %row) extent(%seed, %step) {p = 0.5, site = 1} : tensor<2x?x8xf16>
  return
}

// CHECK-LABEL: func.func @norms
func.func @norms(%x: tensor<2x3x4xf32>, %g2: tensor<3x4xbf16>, %b2: tensor<?x4xf16>, %d: tensor<4xf64>, %g: tensor<4xf32>) {
  // CHECK: %{{.*}} = resid.layer_norm %arg0 {epsilon = 0.000000e+00 : f64, norm_rank = 3 : i64} : tensor<2x3x4xf32>{{$}}
  %0 = resid.layer_norm %x {epsilon = 0.0, norm_rank = 3} : tensor<2x3x4xf32>
  // CHECK: resid.layer_norm %arg0 gamma(%arg1) beta(%arg2) {epsilon = 1.000000e-05 : f64, zero_centered_gamma} : tensor<2x3x4xf32>, tensor<3x4xbf16>, tensor<?x4xf16> -> tensor<2x3x4xbf16>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  %1:4 = resid.layer_norm %x gamma(%g2) beta(%b2) {epsilon = 1.0e-5, zero_centered_gamma} : tensor<2x3x4xf32>, tensor<3x4xbf16>, tensor<?x4xf16> -> tensor<2x3x4xbf16>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  // CHECK: resid.layer_norm %arg3 gamma(%arg4) {epsilon = 1.000000e-05 : f64, narrow_affine} : tensor<4xf64>, tensor<4xf32> -> tensor<4xf16>
  %2 = resid.layer_norm %d gamma(%g) {epsilon = 1.0e-5, narrow_affine} : tensor<4xf64>, tensor<4xf32> -> tensor<4xf16>
  // CHECK: %{{normalized.*}}, %{{rstd.*}} = resid.rms_norm %arg3 {epsilon = 1.000000e-05 : f64} : tensor<4xf64> -> tensor<4xf64>, tensor<f64>
  %3:2 = resid.rms_norm %d {epsilon = 1.0e-5} : tensor<4xf64> -> tensor<4xf64>, tensor<f64>
  // CHECK: resid.rms_norm %arg0 gamma(%arg1) beta(%arg2) {epsilon = 1.000000e-05 : f64, norm_rank = 2 : i64} : tensor<2x3x4xf32>, tensor<3x4xbf16>, tensor<?x4xf16>{{$}}
  %4 = resid.rms_norm %x gamma(%g2) beta(%b2) {epsilon = 1.0e-5, norm_rank = 2} : tensor<2x3x4xf32>, tensor<3x4xbf16>, tensor<?x4xf16>
  return
}

// CHECK-LABEL: func.func @group_norm
func.func @group_norm(%x: tensor<?x12xf32>, %g: tensor<12xf16>, %b: tensor<12xf32>) {
  // CHECK: resid.group_norm %arg0 {epsilon = 1.000000e-05 : f64, groups = 3 : i64} : tensor<?x12xf32>{{$}}
  %0 = resid.group_norm %x {epsilon = 1.0e-5, groups = 3} : tensor<?x12xf32>
  // CHECK: %normalized, %mean, %mean_correction, %rstd = resid.group_norm %arg0 gamma(%arg1) beta(%arg2) {epsilon = 0.000000e+00 : f64, groups = 1 : i64, narrow_affine} : tensor<?x12xf32>, tensor<12xf16>, tensor<12xf32> -> tensor<?x12xbf16>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
  %1:4 = resid.group_norm %x gamma(%g) beta(%b) {epsilon = 0.0, groups = 1, narrow_affine} : tensor<?x12xf32>, tensor<12xf16>, tensor<12xf32> -> tensor<?x12xbf16>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
  // CHECK: resid.add_norm group %arg0, %arg0 {epsilon = 1.000000e-05 : f64, groups = 3 : i64} : tensor<?x12xf32>
  %2:2 = resid.add_norm group %x, %x {epsilon = 1.0e-5, groups = 3} : tensor<?x12xf32>
  return
}

// CHECK-LABEL: func.func @dyt
func.func @dyt(%x: tensor<2x3x4xf32>, %a: tensor<f16>, %g: tensor<3x4xf32>, %b: tensor<3x4xf32>) {
  // CHECK: resid.dyt %arg0 alpha(%arg1) : tensor<2x3x4xf32>, tensor<f16>{{$}}
  %0 = resid.dyt %x alpha(%a) : tensor<2x3x4xf32>, tensor<f16>
  // CHECK: resid.dyt %arg0 alpha(%arg1) gamma(%arg2) beta(%arg3) {narrow_affine, zero_centered_gamma} : tensor<2x3x4xf32>, tensor<f16>, tensor<3x4xf32>, tensor<3x4xf32> -> tensor<2x3x4xbf16>
  %1 = resid.dyt %x alpha(%a) gamma(%g) beta(%b) {narrow_affine, zero_centered_gamma} : tensor<2x3x4xf32>, tensor<f16>, tensor<3x4xf32>, tensor<3x4xf32> -> tensor<2x3x4xbf16>
  return
}

// CHECK-LABEL: func.func @add_norm
func.func @add_norm(%x: tensor<?x8xbf16>, %f: tensor<?x8xbf16>, %bias: tensor<8xbf16>, %seed: i64, %step: i64, %gate: tensor<?x1xf32>,
                    %g: tensor<8xf32>, %b: tensor<8xf32>, %a: tensor<f32>) {
  // CHECK: resid.add_norm rms %arg0, %arg1 {epsilon = 1.000000e-05 : f64} : tensor<?x8xbf16>{{$}}
  %0:2 = resid.add_norm rms %x, %f {epsilon = 1.0e-5} : tensor<?x8xbf16>
  // CHECK: resid.add_norm layer %arg0, %arg1 {epsilon = 1.000000e-05 : f64, norm_rank = 2 : i64} : tensor<?x8xbf16>{{$}}
  %1:2 = resid.add_norm layer %x, %f {epsilon = 1.0e-5, norm_rank = 2} : tensor<?x8xbf16>
  // CHECK: resid.add_norm layer %arg0, %arg1 bias(%arg2) dropout(%arg3, %arg4) gate(%arg5) gamma(%arg6) beta(%arg7) {branch_scale = 2.000000e+00 : f64, epsilon = 1.000000e-05 : f64, narrow_affine, p = 5.000000e-01 : f64, site = 7 : i64, skip_scale = 5.000000e-01 : f64, zero_centered_gamma} : tensor<?x8xbf16>, tensor<8xbf16>, tensor<?x1xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<?x8xbf16>, tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  %n, %s, %mean, %corr, %rstd = resid.add_norm layer %x, %f bias(%bias) dropout(%seed, %step) gate(%gate) gamma(%g) beta(%b)
    {epsilon = 1.0e-5, p = 0.5, site = 7, skip_scale = 0.5, branch_scale = 2.0, zero_centered_gamma, narrow_affine}
    : tensor<?x8xbf16>, tensor<8xbf16>, tensor<?x1xf32>, tensor<8xf32>, tensor<8xf32>
    -> tensor<?x8xbf16>, tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  // CHECK: resid.add_norm rms %arg0, %arg1 dropout(%arg3, %arg4) origin(%arg3, %arg4, %arg4) extent(%arg4, %arg3) gamma(%arg6) {epsilon = 1.000000e-05 : f64, p = 5.000000e-01 : f64, site = 7 : i64} : tensor<?x8xbf16>, tensor<8xf32>{{$}}
  %3:2 = resid.add_norm rms %x, %f dropout(%seed, %step) origin(%seed, %step, %step) extent(%step, %seed) gamma(%g) {epsilon = 1.0e-5, p = 0.5, site = 7} : tensor<?x8xbf16>, tensor<8xf32>
  // CHECK: resid.add_norm dyt %arg0, %arg1 alpha(%arg8) : tensor<?x8xbf16>, tensor<f32> -> tensor<?x8xf32>, tensor<?x8xf32>
  %2:2 = resid.add_norm dyt %x, %f alpha(%a) : tensor<?x8xbf16>, tensor<f32> -> tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<2x8x?x64xbf16>, %k: tensor<2x2x?x64xbf16>, %v: tensor<2x2x?x64xf32>, %bools: tensor<?x1x1x?xi1>,
                     %bias: tensor<8x?x?xf16>, %one: tensor<f64>, %past: i64) {
  // CHECK: resid.attention %arg0, %arg1, %arg2 : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>{{$}}
  %0 = resid.attention %q, %k, %v : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>
  // CHECK: resid.attention %arg0, %arg1, %arg2 mask(%arg3) past(%arg6) {causal, scale = 1.250000e-01 : f64} : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>, tensor<?x1x1x?xi1>{{$}}
  %1 = resid.attention %q, %k, %v mask(%bools) past(%past) {causal, scale = 0.125}
       : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>, tensor<?x1x1x?xi1>
  // CHECK: %attention, %max, %sum = resid.attention %arg0, %arg1, %arg2 mask(%arg4) : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>, tensor<8x?x?xf16> -> tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>, tensor<2x8x?xf32>
  %2:3 = resid.attention %q, %k, %v mask(%bias)
         : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>, tensor<8x?x?xf16>
           -> tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>, tensor<2x8x?xf32>
  // CHECK: resid.attention %arg0, %arg1, %arg2 mask(%arg5) past(%arg6) : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>, tensor<f64> -> tensor<2x8x?x64xf64>, tensor<2x8x?xf64>, tensor<2x8x?xf64>
  %3:3 = resid.attention %q, %k, %v mask(%one) past(%past)
         : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>, tensor<f64>
           -> tensor<2x8x?x64xf64>, tensor<2x8x?xf64>, tensor<2x8x?xf64>
  // CHECK: resid.attention %arg0, %arg1, %arg2 dropout(%arg6, %arg6) {p = 1.000000e-01 : f64, site = 3 : i64} : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>{{$}}
  %4 = resid.attention %q, %k, %v dropout(%past, %past) {p = 0.1, site = 3}
       : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>
  // CHECK: resid.attention %arg0, %arg1, %arg2 mask(%arg3) past(%arg6) dropout(%arg6, %arg6) origin(%arg6, %arg6, %arg6) extent(%arg6, %arg6) {causal, p = 1.000000e+00 : f64, scale = 1.250000e-01 : f64, site = 0 : i64} : tensor<2x8x?x64xbf16>
  %5 = resid.attention %q, %k, %v mask(%bools) past(%past) dropout(%past, %past) origin(%past, %past, %past) extent(%past, %past) {causal, p = 1.0, scale = 0.125, site = 0}
       : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>, tensor<?x1x1x?xi1>
  return
}

// CHECK-LABEL: func.func @attention_terms
func.func @attention_terms(%q: tensor<2x8x?x64xbf16>, %k: tensor<2x2x?x64xbf16>, %bias: tensor<8x?x?xf16>, %sink: tensor<?xf16>, %past: i64,
                           %s: tensor<2x8x?xf32>, %wide: tensor<8xf64>) {
  // CHECK: resid.attention %arg0, %arg1, %arg1 mask(%arg2) sink(%arg3) past(%arg4) {cap = 3.000000e+01 : f64, causal, window = 9223372036854775807 : i64} : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<8x?x?xf16>, tensor<?xf16>{{$}}
  %0 = resid.attention %q, %k, %k mask(%bias) sink(%sink) past(%past) {cap = 30.0, causal, window = 9223372036854775807}
       : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<8x?x?xf16>, tensor<?xf16>
  // CHECK: resid.attention %arg0, %arg1, %arg1 sink(%arg6) : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<8xf64> -> tensor<2x8x?x64xbf16>, tensor<2x8x?xf64>, tensor<2x8x?xf64>
  %1:3 = resid.attention %q, %k, %k sink(%wide)
         : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<8xf64> -> tensor<2x8x?x64xbf16>, tensor<2x8x?xf64>, tensor<2x8x?xf64>
  // CHECK: %dq, %dk, %dv, %dsinks = resid.attention_grad %arg0, %arg0, %arg1, %arg1 statistics(%arg5, %arg5) mask(%arg2) sink(%arg3) {cap = 1.000000e+00 : f64, window = 1 : i64} : tensor<2x8x?x64xbf16>, tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<8x?x?xf16>, tensor<?xf16>{{$}}
  %2:4 = resid.attention_grad %q, %q, %k, %k statistics(%s, %s) mask(%bias) sink(%sink) {cap = 1.0, window = 1}
         : tensor<2x8x?x64xbf16>, tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<8x?x?xf16>, tensor<?xf16>
  return
}

// CHECK-LABEL: func.func @attention_packs
func.func @attention_packs(%q: tensor<2x8x?x64xbf16>, %k: tensor<2x2x?x64xbf16>, %sink: tensor<8xf16>, %pasts: tensor<?xi64>,
                           %a: tensor<2x?xi32>, %b: tensor<?x?xi32>, %s: tensor<2x8x?xf32>) {
  // CHECK: resid.attention %arg0, %arg1, %arg1 sink(%arg2) past(%arg3) {causal} : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<8xf16>, tensor<?xi64>{{$}}
  %0 = resid.attention %q, %k, %k sink(%sink) past(%pasts) {causal}
       : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<8xf16>, tensor<?xi64>
  // CHECK: resid.append %arg1, %arg1 past(%arg3) : tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<?xi64>
  %1 = resid.append %k, %k past(%pasts) : tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<?xi64>
  // CHECK: resid.attention %arg0, %arg1, %arg1 segments(%arg4, %arg5) : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x?xi32>, tensor<?x?xi32>{{$}}
  %2 = resid.attention %q, %k, %k segments(%a, %b)
       : tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x?xi32>, tensor<?x?xi32>
  // CHECK: resid.attention_grad %arg0, %arg0, %arg1, %arg1 statistics(%arg6, %arg6) segments(%arg4, %arg5) {causal} : tensor<2x8x?x64xbf16>, tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x?xi32>, tensor<?x?xi32>{{$}}
  %3:3 = resid.attention_grad %q, %q, %k, %k statistics(%s, %s) segments(%a, %b) {causal}
         : tensor<2x8x?x64xbf16>, tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x?xi32>, tensor<?x?xi32>
  return
}

// CHECK-LABEL: func.func @attention_sizes
func.func @attention_sizes(%q: tensor<?x?x?x256xf16>, %none: tensor<0x0x0x1xf64>, %fixed: tensor<3x6x5x1xf64>, %keys: tensor<3x?x5x1xf64>,
                           %k: tensor<?x2x7x1xf64>, %v: tensor<3x2x?x1xf64>, %mask: tensor<1x6x5x7xf64>) {
  // CHECK: resid.attention %arg0, %arg0, %arg0 : tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>
  %0 = resid.attention %q, %q, %q : tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>
  // CHECK: resid.attention %arg1, %arg1, %arg1 {scale = -0.000000e+00 : f64} : tensor<0x0x0x1xf64>, tensor<0x0x0x1xf64>, tensor<0x0x0x1xf64>
  %1 = resid.attention %none, %none, %none {scale = -0.0} : tensor<0x0x0x1xf64>, tensor<0x0x0x1xf64>, tensor<0x0x0x1xf64>
  // CHECK: resid.attention %arg2, %arg4, %arg5 mask(%arg6) {resid.note = "kept"} : tensor<3x6x5x1xf64>, tensor<?x2x7x1xf64>, tensor<3x2x?x1xf64>, tensor<1x6x5x7xf64>
  %2 = resid.attention %fixed, %k, %v mask(%mask) {resid.note = "kept"} : tensor<3x6x5x1xf64>, tensor<?x2x7x1xf64>, tensor<3x2x?x1xf64>, tensor<1x6x5x7xf64>
  // CHECK: resid.attention %arg2, %arg3, %arg3 : tensor<3x6x5x1xf64>, tensor<3x?x5x1xf64>, tensor<3x?x5x1xf64>
  %3 = resid.attention %fixed, %keys, %keys : tensor<3x6x5x1xf64>, tensor<3x?x5x1xf64>, tensor<3x?x5x1xf64>
  return
}

// CHECK-LABEL: func.func @append
func.func @append(%cache: tensor<1x2x512x64xf16>, %x: tensor<1x2x?x64xf16>, %open: tensor<?x?x?x?xf64>, %one: tensor<?x4x1x?xf64>, %past: i64) {
  // CHECK: resid.append %arg0, %arg1 past(%arg4) : tensor<1x2x512x64xf16>, tensor<1x2x?x64xf16>
  %0 = resid.append %cache, %x past(%past) : tensor<1x2x512x64xf16>, tensor<1x2x?x64xf16>
  // CHECK: resid.append %arg2, %arg3 past(%arg4) : tensor<?x?x?x?xf64>, tensor<?x4x1x?xf64>
  %1 = resid.append %open, %one past(%past) : tensor<?x?x?x?xf64>, tensor<?x4x1x?xf64>
  return
}

// CHECK-LABEL: func.func @linear
func.func @linear(%x: tensor<2x?x8xbf16>, %w: tensor<6x8xf16>, %b: tensor<6xf32>, %row: tensor<6xf64>, %open: tensor<?x?xf32>) {
  // CHECK: resid.linear %arg0, %arg1 : tensor<2x?x8xbf16>, tensor<6x8xf16>{{$}}
  %0 = resid.linear %x, %w : tensor<2x?x8xbf16>, tensor<6x8xf16>
  // CHECK: resid.linear %arg0, %arg1 bias(%arg2) : tensor<2x?x8xbf16>, tensor<6x8xf16>, tensor<6xf32> -> tensor<2x?x6xf64>
  %1 = resid.linear %x, %w bias(%b) : tensor<2x?x8xbf16>, tensor<6x8xf16>, tensor<6xf32> -> tensor<2x?x6xf64>
  // CHECK: resid.linear %arg3, %arg1 {transposed} : tensor<6xf64>, tensor<6x8xf16>{{$}}
  %2 = resid.linear %row, %w {transposed} : tensor<6xf64>, tensor<6x8xf16> -> tensor<8xf64>
  // CHECK: resid.linear %arg4, %arg4 bias(%arg2) {transposed} : tensor<?x?xf32>, tensor<?x?xf32>, tensor<6xf32>{{$}}
  %3 = resid.linear %open, %open bias(%b) {transposed} : tensor<?x?xf32>, tensor<?x?xf32>, tensor<6xf32>
  return
}

// CHECK-LABEL: func.func @linear_of_integers
func.func @linear_of_integers(%x: tensor<?x8xbf16>, %w: tensor<?x8xi4>, %s: tensor<?x2xf16>, %z: tensor<?x2xi8>, %o: tensor<?x2xf32>, %b: tensor<?xf32>) {
  // CHECK: resid.linear %arg0, %arg1 weight_scale(%arg2) {group = 4 : i64} : tensor<?x8xbf16>, tensor<?x8xi4>, tensor<?x2xf16>{{$}}
  %0 = resid.linear %x, %w weight_scale(%s) {group = 4} : tensor<?x8xbf16>, tensor<?x8xi4>, tensor<?x2xf16>
  // CHECK: resid.linear %arg0, %arg1 weight_scale(%arg2) weight_zero(%arg3) bias(%arg5) {group = 4 : i64} : tensor<?x8xbf16>, tensor<?x8xi4>, tensor<?x2xf16>, tensor<?x2xi8>, tensor<?xf32>{{$}}
  %1 = resid.linear %x, %w weight_scale(%s) weight_zero(%z) bias(%b) {group = 4} : tensor<?x8xbf16>, tensor<?x8xi4>, tensor<?x2xf16>, tensor<?x2xi8>, tensor<?xf32>
  // CHECK: resid.linear %arg0, %arg1 weight_scale(%arg2) weight_offset(%arg4) {group = 4 : i64} : tensor<?x8xbf16>, tensor<?x8xi4>, tensor<?x2xf16>, tensor<?x2xf32> -> tensor<?x?xf32>{{$}}
  %2 = resid.linear %x, %w weight_scale(%s) weight_offset(%o) {group = 4} : tensor<?x8xbf16>, tensor<?x8xi4>, tensor<?x2xf16>, tensor<?x2xf32> -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @activation
func.func @activation(%x: tensor<2x?x8xbf16>, %d: tensor<?xf64>) {
  // CHECK: resid.activation relu %arg0 : tensor<2x?x8xbf16>{{$}}
  %0 = resid.activation relu %x : tensor<2x?x8xbf16>
  // CHECK: resid.activation gelu %arg1 : tensor<?xf64>
  %1 = resid.activation gelu %d : tensor<?xf64>
  // CHECK: resid.activation gelu_tanh %arg0 : tensor<2x?x8xbf16>
  %2 = resid.activation gelu_tanh %x : tensor<2x?x8xbf16>
  // CHECK: resid.activation silu %arg0 : tensor<2x?x8xbf16>
  %3 = resid.activation silu %x : tensor<2x?x8xbf16>
  // CHECK: resid.activation swiglu %arg0, %{{.+}} : tensor<2x?x8xbf16>{{$}}
  %4 = resid.activation swiglu %x, %0 : tensor<2x?x8xbf16>
  // CHECK: resid.activation geglu %arg1, %arg1 : tensor<?xf64>
  %5 = resid.activation geglu %d, %d : tensor<?xf64>
  // CHECK: resid.activation geglu_tanh %arg1, %arg1 : tensor<?xf64>
  %6 = resid.activation geglu_tanh %d, %d : tensor<?xf64>
  return
}

// CHECK-LABEL: func.func @rotary
func.func @rotary(%x: tensor<2x4x?x8xbf16>, %c: tensor<?x4xf32>, %s: tensor<?x4xbf16>, %row: tensor<3x9xf64>, %t: tensor<16x2xf16>, %past: i64,
                  %pasts: tensor<?xi64>) {
  // CHECK: resid.rotary %arg0 cos(%arg1) sin(%arg2) offset(%arg6) : tensor<2x4x?x8xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?xi64>
  %2 = resid.rotary %x cos(%c) sin(%s) offset(%pasts) : tensor<2x4x?x8xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?xi64>
  // CHECK: resid.rotary %arg0 cos(%arg1) sin(%arg2) : tensor<2x4x?x8xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>
  %0 = resid.rotary %x cos(%c) sin(%s) : tensor<2x4x?x8xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>
  // CHECK: resid.rotary %arg3 cos(%arg4) sin(%arg4) offset(%arg5) {interleaved} : tensor<3x9xf64>, tensor<16x2xf16>, tensor<16x2xf16>
  %1 = resid.rotary %row cos(%t) sin(%t) offset(%past) {interleaved} : tensor<3x9xf64>, tensor<16x2xf16>, tensor<16x2xf16>
  return
}

// CHECK-LABEL: func.func @norm_grads
func.func @norm_grads(%dy: tensor<?x8xbf16>, %x: tensor<?x8xf32>, %m: tensor<?xf32>, %g: tensor<8xbf16>, %w: tensor<2x8xf64>, %r: tensor<f64>) {
  // CHECK: %dx, %dgamma, %dbeta = resid.layer_norm_grad %arg0, %arg1 statistics(%arg2, %arg2, %arg2) gamma(%arg3) sum(%arg1) {zero_centered_gamma} : tensor<?x8xbf16>, tensor<?x8xf32>, tensor<?xf32>, tensor<8xbf16>{{$}}
  %0:3 = resid.layer_norm_grad %dy, %x statistics(%m, %m, %m) gamma(%g) sum(%x) {zero_centered_gamma} : tensor<?x8xbf16>, tensor<?x8xf32>, tensor<?xf32>, tensor<8xbf16>
  // CHECK: resid.layer_norm_grad %arg0, %arg1 statistics(%arg2, %arg2, %arg2) gamma(%arg3) : tensor<?x8xbf16>, tensor<?x8xf32>, tensor<?xf32>, tensor<8xbf16> -> tensor<?x8xf32>, tensor<8xbf16>, tensor<8xf32>
  %1:3 = resid.layer_norm_grad %dy, %x statistics(%m, %m, %m) gamma(%g) : tensor<?x8xbf16>, tensor<?x8xf32>, tensor<?xf32>, tensor<8xbf16> -> tensor<?x8xf32>, tensor<8xbf16>, tensor<8xf32>
  // CHECK: %{{dx.*}} = resid.rms_norm_grad %arg4, %arg4 statistics(%arg5) {norm_rank = 2 : i64} : tensor<2x8xf64>, tensor<2x8xf64>, tensor<f64>{{$}}
  %2 = resid.rms_norm_grad %w, %w statistics(%r) {norm_rank = 2} : tensor<2x8xf64>, tensor<2x8xf64>, tensor<f64>
  return
}

// CHECK-LABEL: func.func @tokens
func.func @tokens(%x: tensor<?x8xbf16>, %l: tensor<?xi32>, %d: tensor<8xf64>, %one: tensor<i64>, %s: tensor<?xf32>, %t: tensor<9x8xbf16>, %ids: tensor<2x?xi64>, %dy: tensor<2x?x8xbf16>) {
  // CHECK: %loss = resid.cross_entropy %arg0 labels(%arg1) : tensor<?x8xbf16>, tensor<?xi32>{{$}}
  %0 = resid.cross_entropy %x labels(%l) : tensor<?x8xbf16>, tensor<?xi32>
  // CHECK: %{{loss.*}}, %logsumexp = resid.cross_entropy %arg2 labels(%arg3) {ignore_index = -100 : i64} : tensor<8xf64>, tensor<i64> -> tensor<f64>, tensor<f64>
  %1:2 = resid.cross_entropy %d labels(%one) {ignore_index = -100} : tensor<8xf64>, tensor<i64> -> tensor<f64>, tensor<f64>
  // CHECK: resid.cross_entropy_grad %arg4, %arg0 labels(%arg1) logsumexp(%arg4) {ignore_index = 3 : i64} : tensor<?x8xbf16>, tensor<?xi32>{{$}}
  %2 = resid.cross_entropy_grad %s, %x labels(%l) logsumexp(%s) {ignore_index = 3} : tensor<?x8xbf16>, tensor<?xi32>
  // CHECK: %[[ROWS:.+]] = resid.embedding %arg6, %arg5 : tensor<2x?xi64>, tensor<9x8xbf16>{{$}}
  %3 = resid.embedding %ids, %t : tensor<2x?xi64>, tensor<9x8xbf16>
  // CHECK: resid.embedding_grad %[[ROWS]], %arg6 like(%arg5) : tensor<2x?xi64>, tensor<9x8xbf16>{{$}}
  %4 = resid.embedding_grad %3, %ids like(%t) : tensor<2x?xi64>, tensor<9x8xbf16>
  return
}

// CHECK-LABEL: func.func @scalar_grads
func.func @scalar_grads(%dy: tensor<?x8xf32>, %x: tensor<?x8xbf16>, %w: tensor<?x8xf32>, %a: tensor<f32>, %g: tensor<8xbf16>) {
  // CHECK: %dgate = resid.gate_grad %arg0, %arg1 {branch_scale = 5.000000e-01 : f64} : tensor<?x8xf32>, tensor<?x8xbf16> -> tensor<?x1xf32>{{$}}
  %0 = resid.gate_grad %dy, %x {branch_scale = 0.5} : tensor<?x8xf32>, tensor<?x8xbf16> -> tensor<?x1xf32>
  // CHECK: %dx, %dalpha, %dgamma, %dbeta = resid.dyt_grad %arg0, %arg2 alpha(%arg3) gamma(%arg4) sum(%arg2) {zero_centered_gamma} : tensor<?x8xf32>, tensor<?x8xf32>, tensor<f32>, tensor<8xbf16>{{$}}
  %1:4 = resid.dyt_grad %dy, %w alpha(%a) gamma(%g) sum(%w) {zero_centered_gamma} : tensor<?x8xf32>, tensor<?x8xf32>, tensor<f32>, tensor<8xbf16>
  // CHECK: resid.dyt_grad %arg0, %arg2 alpha(%arg3) : tensor<?x8xf32>, tensor<?x8xf32>, tensor<f32> -> tensor<?x8xf32>, tensor<bf16>{{$}}
  %2:2 = resid.dyt_grad %dy, %w alpha(%a) : tensor<?x8xf32>, tensor<?x8xf32>, tensor<f32> -> tensor<?x8xf32>, tensor<bf16>
  return
}

// CHECK-LABEL: func.func @attention_grads
func.func @attention_grads(%dy: tensor<2x8x?x64xf16>, %q: tensor<2x8x?x64xbf16>, %k: tensor<2x2x?x64xbf16>, %v: tensor<2x2x?x64xf32>,
                           %max: tensor<2x8x?xf32>, %wide: tensor<2x8x?xf64>, %mask: tensor<f64>, %i: i64) {
  // CHECK: %dq, %dk, %dv = resid.attention_grad %arg0, %arg1, %arg2, %arg3 statistics(%arg4, %arg4) {causal, scale = 1.250000e-01 : f64} : tensor<2x8x?x64xf16>, tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>{{$}}
  %0:3 = resid.attention_grad %dy, %q, %k, %v statistics(%max, %max) {causal, scale = 0.125}
       : tensor<2x8x?x64xf16>, tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>
  // CHECK: resid.attention_grad %arg0, %arg1, %arg2, %arg3 statistics(%arg5, %arg5) mask(%arg6) dropout(%arg7, %arg7) origin(%arg7, %arg7) extent(%arg7, %arg7) {p = 1.000000e-01 : f64, site = 3 : i64} : tensor<2x8x?x64xf16>, tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>, tensor<f64>{{$}}
  %1:3 = resid.attention_grad %dy, %q, %k, %v statistics(%wide, %wide) mask(%mask) dropout(%i, %i) origin(%i, %i) extent(%i, %i) {p = 0.1, site = 3}
       : tensor<2x8x?x64xf16>, tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xf32>, tensor<f64>
  return
}

// CHECK-LABEL: func.func @group_norm_grads
func.func @group_norm_grads(%dy: tensor<?x8xbf16>, %x: tensor<?x8xf32>, %m: tensor<?x2xf32>, %g: tensor<8xbf16>) {
  // CHECK: %dx, %dgamma, %dbeta = resid.group_norm_grad %arg0, %arg1 statistics(%arg2, %arg2, %arg2) gamma(%arg3) sum(%arg1) {groups = 2 : i64, zero_centered_gamma} : tensor<?x8xbf16>, tensor<?x8xf32>, tensor<?x2xf32>, tensor<8xbf16>{{$}}
  %0:3 = resid.group_norm_grad %dy, %x statistics(%m, %m, %m) gamma(%g) sum(%x) {groups = 2, zero_centered_gamma} : tensor<?x8xbf16>, tensor<?x8xf32>, tensor<?x2xf32>, tensor<8xbf16>
  return
}

// CHECK-LABEL: func.func @batch_norms
func.func @batch_norms(%x: tensor<?x8xf32>, %m: tensor<8xf32>, %g: tensor<8xbf16>, %b: tensor<?xf32>) {
  // CHECK: %normalized, %mean, %variance = resid.batch_norm %arg0 gamma(%arg2) beta(%arg3) {epsilon = 1.000000e-05 : f64} : tensor<?x8xf32>, tensor<8xbf16>, tensor<?xf32> -> tensor<?x8xbf16>, tensor<8xf32>, tensor<8xf32>{{$}}
  %0:3 = resid.batch_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xbf16>, tensor<?xf32> -> tensor<?x8xbf16>, tensor<8xf32>, tensor<8xf32>
  // CHECK: resid.batch_norm %arg0 statistics(%arg1, %arg1) gamma(%arg2) {epsilon = 0.000000e+00 : f64} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xbf16>{{$}}
  %1 = resid.batch_norm %x statistics(%m, %m) gamma(%g) {epsilon = 0.0} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xbf16>
  // CHECK: %dx, %dgamma, %dbeta = resid.batch_norm_grad %arg0, %arg0 statistics(%arg1, %arg1) gamma(%arg2) sum(%arg0) {epsilon = 1.000000e-05 : f64, fixed_statistics} : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8xbf16>{{$}}
  %2:3 = resid.batch_norm_grad %x, %x statistics(%m, %m) gamma(%g) sum(%x) {epsilon = 1.0e-5, fixed_statistics} : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8xbf16>
  // CHECK: %normalized_0, %mean_1, %variance_2, %mean_correction, %rstd = resid.batch_norm %arg0 {epsilon = 1.000000e-05 : f64} : tensor<?x8xf32> -> tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>{{$}}
  %y, %mean, %variance, %c, %r = resid.batch_norm %x {epsilon = 1.0e-5} : tensor<?x8xf32> -> tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  // CHECK: resid.batch_norm_grad %arg0, %arg0 statistics(%mean_1, %mean_correction, %rstd) {epsilon = 1.000000e-05 : f64} : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>{{$}}
  %3 = resid.batch_norm_grad %x, %x statistics(%mean, %c, %r) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @streams
func.func @streams(%x: tensor<?x4x8xbf16>, %y: tensor<?x8xbf16>, %a: tensor<?x4x1xf32>, %c: tensor<4x4xf32>, %d: tensor<4x1xf16>, %w: tensor<24x?xf32>, %l: tensor<?x4x4xf32>) {
  // CHECK: resid.read %arg0 weights(%arg2) {scale = 2.500000e-01 : f64} : tensor<?x4x8xbf16>, tensor<?x4x1xf32>{{$}}
  %0 = resid.read %x weights(%a) {scale = 0.25} : tensor<?x4x8xbf16>, tensor<?x4x1xf32>
  // CHECK: resid.read %arg0 : tensor<?x4x8xbf16> -> tensor<?x8xf32>{{$}}
  %1 = resid.read %x : tensor<?x4x8xbf16> -> tensor<?x8xf32>
  // CHECK: resid.write %arg0, %arg1 weights(%arg2) mix(%arg3) {transposed} : tensor<?x4x8xbf16>, tensor<?x4x1xf32>, tensor<4x4xf32> -> tensor<?x4x8xf32>{{$}}
  %2 = resid.write %x, %y weights(%a) mix(%c) {transposed} : tensor<?x4x8xbf16>, tensor<?x4x1xf32>, tensor<4x4xf32> -> tensor<?x4x8xf32>
  // CHECK: resid.write %arg0 mix(%arg4) : tensor<?x4x8xbf16>, tensor<4x1xf16>{{$}}
  %3 = resid.write %x mix(%d) : tensor<?x4x8xbf16>, tensor<4x1xf16>
  // CHECK: resid.write %arg0, %arg1 : tensor<?x4x8xbf16>{{$}}
  %4 = resid.write %x, %y : tensor<?x4x8xbf16>
  // CHECK: %z = resid.project %arg0, %arg5 {epsilon = 1.000000e-05 : f64} : tensor<?x4x8xbf16>, tensor<24x?xf32>{{$}}
  %5 = resid.project %x, %w {epsilon = 1.0e-5} : tensor<?x4x8xbf16>, tensor<24x?xf32>
  // CHECK: %z_0, %rstd = resid.project %arg0, %arg5 {epsilon = 1.000000e-05 : f64} : tensor<?x4x8xbf16>, tensor<24x?xf32> -> tensor<?x24xf32>, tensor<?xf32>{{$}}
  %6:2 = resid.project %x, %w {epsilon = 1.0e-5} : tensor<?x4x8xbf16>, tensor<24x?xf32> -> tensor<?x24xf32>, tensor<?xf32>
  // CHECK: resid.sinkhorn %arg6 {epsilon = 1.000000e-05 : f64, iterations = 20 : i64} : tensor<?x4x4xf32>{{$}}
  %7 = resid.sinkhorn %l {iterations = 20, epsilon = 1.0e-5} : tensor<?x4x4xf32>
  // CHECK: resid.sinkhorn_grad %arg6, %arg6 {epsilon = 0.000000e+00 : f64, iterations = 1 : i64} : tensor<?x4x4xf32>{{$}}
  %8 = resid.sinkhorn_grad %l, %l {iterations = 1, epsilon = 0.0} : tensor<?x4x4xf32>
  // CHECK: resid.stream_dots %arg0, %cast : tensor<?x4x8xbf16>, tensor<?x4x?xf32>{{$}}
  %9 = tensor.cast %a : tensor<?x4x1xf32> to tensor<?x4x?xf32>
  %10 = resid.stream_dots %x, %9 : tensor<?x4x8xbf16>, tensor<?x4x?xf32>
  // CHECK: resid.rms_norm %arg6 gamma(%arg3) {epsilon = 1.000000e-05 : f64, norm_rank = 1 : i64} : tensor<?x4x4xf32>, tensor<4x4xf32>{{$}}
  %11 = resid.rms_norm %l gamma(%c) {epsilon = 1.0e-5, norm_rank = 1} : tensor<?x4x4xf32>, tensor<4x4xf32>
  return
}

// CHECK-LABEL: func.func @quantization
func.func @quantization(%x: tensor<?x768xbf16>, %static: tensor<f32>, %w: tensor<8x768xi8>, %s: tensor<8xf32>) {
  // CHECK: %q, %scale = resid.quantize %arg0 {granularity = row} : tensor<?x768xbf16>{{$}}
  %0:2 = resid.quantize %x {granularity = row} : tensor<?x768xbf16>
  // CHECK: resid.quantize %arg0 {granularity = group 100, "x note.y" = "kept", x.unit} : tensor<?x768xbf16>{{$}}
  %1:2 = resid.quantize %x {"x note.y" = "kept", granularity = group 100, x.unit} : tensor<?x768xbf16>
  // CHECK: resid.quantize %arg0 scale(%arg1) {granularity = tensor} : tensor<?x768xbf16>, tensor<f32>{{$}}
  %2 = resid.quantize %x scale(%static) {granularity = tensor} : tensor<?x768xbf16>, tensor<f32>
  // CHECK: resid.dequantize %q scale(%scale) {granularity = row} : tensor<?x768xi8>, tensor<?xf32>{{$}}
  %3 = resid.dequantize %0#0 scale(%0#1) {granularity = row} : tensor<?x768xi8>, tensor<?xf32>
  // CHECK: resid.dequantize %{{.*}} scale(%{{.*}}) {granularity = group 100} : tensor<?x768xi8>, tensor<?x8xf32> -> tensor<?x768xbf16>{{$}}
  %4 = resid.dequantize %1#0 scale(%1#1) {granularity = group 100} : tensor<?x768xi8>, tensor<?x8xf32> -> tensor<?x768xbf16>
  // CHECK: resid.linear %q, %arg2 x_scale(%scale) weight_scale(%arg3) : tensor<?x768xi8>, tensor<8x768xi8>, tensor<?xf32>, tensor<8xf32>{{$}}
  %5 = resid.linear %0#0, %w x_scale(%0#1) weight_scale(%s) : tensor<?x768xi8>, tensor<8x768xi8>, tensor<?xf32>, tensor<8xf32>
  // CHECK: resid.linear %{{.*}}, %arg2 x_scale(%arg1) weight_scale(%arg3) : tensor<?x768xi8>, tensor<8x768xi8>, tensor<f32>, tensor<8xf32> -> tensor<?x8xf16>{{$}}
  %6 = resid.linear %2, %w x_scale(%static) weight_scale(%s) : tensor<?x768xi8>, tensor<8x768xi8>, tensor<f32>, tensor<8xf32> -> tensor<?x8xf16>
  return
}

// CHECK-LABEL: func.func @quantized_results
func.func @quantized_results(%x: tensor<?x768xbf16>, %g: tensor<768xbf16>, %static: tensor<f32>) {
  // CHECK: resid.layer_norm %arg0 {epsilon = {{.*}}} : tensor<?x768xbf16> -> tensor<?x768xi8>, tensor<?xf32>{{$}}
  %0:2 = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<?x768xbf16> -> tensor<?x768xi8>, tensor<?xf32>
  // CHECK: resid.rms_norm %arg0 gamma(%arg1) quantize(group 100) {epsilon = {{.*}}, x.unit} : tensor<?x768xbf16>, tensor<768xbf16> -> tensor<?x768xi8>, tensor<?x8xf32>{{$}}
  %1:2 = resid.rms_norm %x gamma(%g) quantize(group 100) {epsilon = 1.0e-5, x.unit} : tensor<?x768xbf16>, tensor<768xbf16> -> tensor<?x768xi8>, tensor<?x8xf32>
  // CHECK: resid.l2_norm %arg0 quantize(tensor scale %arg2 : tensor<f32>) {epsilon = {{.*}}} : tensor<?x768xbf16> -> tensor<?x768xi8>{{$}}
  %2 = resid.l2_norm %x quantize(tensor scale %static : tensor<f32>) {epsilon = 1.0e-12} : tensor<?x768xbf16> -> tensor<?x768xi8>
  // CHECK: resid.add_norm rms %arg0, %arg0 quantize(tensor) {epsilon = {{.*}}} : tensor<?x768xbf16> -> tensor<?x768xi8>, tensor<?x768xf32>, tensor<f32>{{$}}
  %3:3 = resid.add_norm rms %x, %x quantize(tensor) {epsilon = 1.0e-5} : tensor<?x768xbf16> -> tensor<?x768xi8>, tensor<?x768xf32>, tensor<f32>
  // CHECK: resid.block post %arg0 norm(rms epsilon = {{.*}}) quantize(tensor scale %arg2 : tensor<f32>) {skip_scale = {{.*}}} : tensor<?x768xbf16> -> tensor<?x768xi8> {
  %4 = resid.block post %x norm(rms epsilon = 1.0e-6) quantize(tensor scale %static : tensor<f32>) {skip_scale = 2.0} : tensor<?x768xbf16> -> tensor<?x768xi8> {
  ^bb0(%h: tensor<?x768xbf16>):
    resid.yield %h : tensor<?x768xbf16>
  }
  // CHECK: resid.block none %arg0 : tensor<?x768xbf16> -> tensor<?x768xi8>, tensor<?xf32> {
  %5:2 = resid.block none %x : tensor<?x768xbf16> -> tensor<?x768xi8>, tensor<?xf32> {
  ^bb0(%h: tensor<?x768xbf16>):
    resid.yield %h : tensor<?x768xbf16>
  }
  return
}
