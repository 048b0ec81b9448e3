// RUN: resid-opt %s -resid-raise -canonicalize -split-input-file | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: resid-opt %s -resid-raise=level=all -canonicalize -split-input-file 2>/dev/null | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: resid-opt %s -resid-raise=level=off -split-input-file | FileCheck %s --check-prefix=OFF
// OFF-NOT: resid.
// Activations and norms that are written out, in the forms of importers. What the remarks say: resid-raise-remarks.mlir. The values are compared in
// test/run/raise.test.

#full = affine_map<(i, j) -> (i, j)>

// The steps of the ops, one by one: the bits stay.
// CHECK-LABEL: func.func @exact_gelu(
// CHECK-NEXT: %[[Y:.*]] = resid.activation gelu %arg0 : tensor<4x?xf32>
// CHECK-NEXT: return %[[Y]]
func.func @exact_gelu(%x: tensor<4x?xf32>, %e: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %y = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x?xf32>) outs(%e : tensor<4x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.constant 0.707106769 : f32
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %u = arith.mulf %c, %a : f32
    %f = math.erf %u : f32
    %s = arith.addf %f, %one : f32
    %h = arith.mulf %a, %half : f32
    %r = arith.mulf %s, %h : f32
    linalg.yield %r : f32
  } -> tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}

// In bf16 the steps are in f32, with one rounding.
// CHECK-LABEL: func.func @exact_silu_bf16(
// CHECK: resid.activation silu %arg0 : tensor<4x8xbf16>
// CHECK-NOT: math.exp
func.func @exact_silu_bf16(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %w = arith.extf %x : tensor<4x8xbf16> to tensor<4x8xf32>
  %n = arith.negf %w : tensor<4x8xf32>
  %p = math.exp %n : tensor<4x8xf32>
  %d = arith.addf %p, %one : tensor<4x8xf32>
  %q = arith.divf %w, %d : tensor<4x8xf32>
  %y = arith.truncf %q : tensor<4x8xf32> to tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}

// Across two ops, of which one is linalg; in f64.
// CHECK-LABEL: func.func @exact_gelu_tanh_f64(
// CHECK: resid.activation gelu_tanh %arg0 : tensor<4x8xf64>
// CHECK-NOT: math.tanh
func.func @exact_gelu_tanh_f64(%x: tensor<4x8xf64>, %e: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %t = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf64>) outs(%e : tensor<4x8xf64>) {
  ^bb0(%a: f64, %o: f64):
    %k = arith.constant 0.044715 : f64
    %s = arith.constant 0.79788456080286541 : f64
    %2 = arith.mulf %a, %a : f64
    %3 = arith.mulf %2, %a : f64
    %4 = arith.mulf %k, %3 : f64
    %5 = arith.addf %a, %4 : f64
    %6 = arith.mulf %s, %5 : f64
    %7 = math.tanh %6 : f64
    linalg.yield %7 : f64
  } -> tensor<4x8xf64>
  %half = arith.constant dense<0.5> : tensor<4x8xf64>
  %one = arith.constant dense<1.0> : tensor<4x8xf64>
  %h = arith.mulf %half, %x : tensor<4x8xf64>
  %p = arith.addf %one, %t : tensor<4x8xf64>
  %y = arith.mulf %h, %p : tensor<4x8xf64>
  return %y : tensor<4x8xf64>
}

// CHECK-LABEL: func.func @exact_relu(
// CHECK: resid.activation relu %arg0
// CHECK: resid.activation relu %arg0
// CHECK: resid.activation relu %arg1
// CHECK: resid.activation relu %arg0
// CHECK: return
func.func @exact_relu(%x: tensor<4x8xf32>, %h: tensor<4x8xf16>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf16>, tensor<4x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %half = arith.constant dense<0.0> : tensor<4x8xf16>
  %m = arith.maximumf %zero, %x : tensor<4x8xf32>
  %c = arith.cmpf ugt, %x, %zero : tensor<4x8xf32>
  %s = arith.select %c, %x, %zero : tensor<4x8xi1>, tensor<4x8xf32>
  %n = arith.maximumf %h, %half : tensor<4x8xf16>
  %d = arith.cmpf oge, %zero, %x : tensor<4x8xf32>
  %t = arith.select %d, %zero, %x : tensor<4x8xi1>, tensor<4x8xf32>
  return %m, %s, %n, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf16>, tensor<4x8xf32>
}

// -----

// Other bits: what becomes of NaN (maxnumf, ogt), of -0 (-0.0), of rounding after each step (bf16), of the division (ONNX), of a fused step.
// CHECK-LABEL: func.func @other_bits(
// EXACT-NOT: resid.activation
// ALL-COUNT-6: resid.activation
// ALL-NOT: resid.activation
// CHECK: return
func.func @other_bits(%x: tensor<4x8xf32>, %b: tensor<4x8xbf16>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xbf16>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %negative = arith.constant dense<-0.0> : tensor<4x8xf32>
  %r0 = arith.maxnumf %x, %zero : tensor<4x8xf32>
  %c = arith.cmpf ogt, %x, %zero : tensor<4x8xf32>
  %r1 = arith.select %c, %x, %zero : tensor<4x8xi1>, tensor<4x8xf32>
  %r2 = arith.maximumf %x, %negative : tensor<4x8xf32>
  %bone = arith.constant dense<1.0> : tensor<4x8xbf16>
  %bn = arith.negf %b : tensor<4x8xbf16>
  %be = math.exp %bn : tensor<4x8xbf16>
  %bd = arith.addf %be, %bone : tensor<4x8xbf16>
  %r3 = arith.divf %b, %bd : tensor<4x8xbf16>
  %root = arith.constant dense<1.41421354> : tensor<4x8xf32>
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %half = arith.constant dense<0.5> : tensor<4x8xf32>
  %u = arith.divf %x, %root : tensor<4x8xf32>
  %f = math.erf %u : tensor<4x8xf32>
  %s = arith.addf %f, %one : tensor<4x8xf32>
  %p = arith.mulf %x, %s : tensor<4x8xf32>
  %r4 = arith.mulf %p, %half : tensor<4x8xf32>
  %h = arith.mulf %x, %half : tensor<4x8xf32>
  %r5 = math.fma %h, %f, %h : tensor<4x8xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xbf16>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// ONNX: Pow and Tanh; x·sigmoid(x).
// CHECK-LABEL: func.func @onnx_activations(
// ALL: resid.activation gelu_tanh %arg0
// ALL: resid.activation silu %arg0
// ALL-NOT: math
// EXACT-NOT: resid.activation
// CHECK: return
func.func @onnx_activations(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %three = arith.constant dense<3.0> : tensor<4x8xf32>
  %k = arith.constant dense<0.044715> : tensor<4x8xf32>
  %c = arith.constant dense<0.797884583> : tensor<4x8xf32>
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %half = arith.constant dense<0.5> : tensor<4x8xf32>
  %0 = math.powf %x, %three : tensor<4x8xf32>
  %1 = arith.mulf %0, %k : tensor<4x8xf32>
  %2 = arith.addf %x, %1 : tensor<4x8xf32>
  %3 = arith.mulf %2, %c : tensor<4x8xf32>
  %4 = math.tanh %3 : tensor<4x8xf32>
  %5 = arith.addf %4, %one : tensor<4x8xf32>
  %6 = arith.mulf %x, %5 : tensor<4x8xf32>
  %7 = arith.mulf %6, %half : tensor<4x8xf32>
  %n = arith.negf %x : tensor<4x8xf32>
  %e = math.exp %n : tensor<4x8xf32>
  %d = arith.addf %e, %one : tensor<4x8xf32>
  %g = arith.divf %one, %d : tensor<4x8xf32>
  %s = arith.mulf %x, %g : tensor<4x8xf32>
  return %7, %s : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// What is not the function: another constant, exp(x), a sum of two tensors' functions, GELU of x times y.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: resid.
// CHECK: return
func.func @others(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %quick = arith.constant dense<-1.702> : tensor<4x8xf32>
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %six = arith.constant dense<6.0> : tensor<4x8xf32>
  %a = arith.mulf %x, %quick : tensor<4x8xf32>
  %b = math.exp %a : tensor<4x8xf32>
  %c = arith.addf %b, %one : tensor<4x8xf32>
  %0 = arith.divf %x, %c : tensor<4x8xf32>
  %d = math.exp %x : tensor<4x8xf32>
  %e = arith.addf %d, %one : tensor<4x8xf32>
  %1 = arith.divf %x, %e : tensor<4x8xf32>
  %n = arith.negf %x : tensor<4x8xf32>
  %f = math.exp %n : tensor<4x8xf32>
  %g = arith.addf %f, %one : tensor<4x8xf32>
  %2 = arith.divf %y, %g : tensor<4x8xf32>
  %3 = arith.maximumf %x, %six : tensor<4x8xf32>
  return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// torch-mlir: sums keep the dimension, the variance is taken in f64, gamma and beta are broadcast by maps.
#full = affine_map<(a, b, c) -> (a, b, c)>
#row = affine_map<(a, b, c) -> (a, b, 0)>
#column = affine_map<(a, b, c) -> (c)>
// CHECK-LABEL: func.func @torch_layer_norm(
// ALL-NEXT: %[[Y:.*]] = resid.layer_norm %arg0 gamma(%arg1) beta(%arg2) {epsilon = 1.000000e-05 : f64} : tensor<?x5x8xf32>, tensor<8xf32>, tensor<8xf32>
// ALL-NEXT: return %[[Y]]
// EXACT-NOT: resid.
// EXACT: return
func.func @torch_layer_norm(%x: tensor<?x5x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<?x5x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %zero64 = arith.constant 0.0 : f64
  %n = arith.constant 8.0 : f32
  %n64 = arith.constant 8.0 : f64
  %eps = arith.constant 1.000000e-05 : f32
  %d = tensor.dim %x, %c0 : tensor<?x5x8xf32>
  %e1 = tensor.empty(%d) : tensor<?x5x1xf32>
  %e8 = tensor.empty(%d) : tensor<?x5x8xf32>
  %w1 = tensor.empty(%d) : tensor<?x5x1xf64>
  %w8 = tensor.empty(%d) : tensor<?x5x8xf64>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x5x1xf32>) -> tensor<?x5x1xf32>
  %zw = linalg.fill ins(%zero64 : f64) outs(%w1 : tensor<?x5x1xf64>) -> tensor<?x5x1xf64>
  %sum = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<?x5x8xf32>) outs(%z1 : tensor<?x5x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.addf %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<?x5x1xf32>
  %mean = linalg.generic {indexing_maps = [#row, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%sum : tensor<?x5x1xf32>) outs(%e1 : tensor<?x5x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = arith.divf %in, %n : f32
    linalg.yield %v : f32
  } -> tensor<?x5x1xf32>
  %wide = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<?x5x8xf32>) outs(%w8 : tensor<?x5x8xf64>) {
  ^bb0(%in: f32, %out: f64):
    %v = arith.extf %in : f32 to f64
    linalg.yield %v : f64
  } -> tensor<?x5x8xf64>
  %wsum = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%wide : tensor<?x5x8xf64>) outs(%zw : tensor<?x5x1xf64>) {
  ^bb0(%in: f64, %out: f64):
    %v = arith.addf %in, %out : f64
    linalg.yield %v : f64
  } -> tensor<?x5x1xf64>
  %wmean = linalg.generic {indexing_maps = [#row, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%wsum : tensor<?x5x1xf64>) outs(%w1 : tensor<?x5x1xf64>) {
  ^bb0(%in: f64, %out: f64):
    %v = arith.divf %in, %n64 : f64
    linalg.yield %v : f64
  } -> tensor<?x5x1xf64>
  %squares = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%wide, %wmean : tensor<?x5x8xf64>, tensor<?x5x1xf64>) outs(%w8 : tensor<?x5x8xf64>) {
  ^bb0(%in: f64, %m: f64, %out: f64):
    %v = arith.subf %in, %m : f64
    %q = arith.mulf %v, %v : f64
    linalg.yield %q : f64
  } -> tensor<?x5x8xf64>
  %qsum = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%squares : tensor<?x5x8xf64>) outs(%zw : tensor<?x5x1xf64>) {
  ^bb0(%in: f64, %out: f64):
    %v = arith.addf %in, %out : f64
    linalg.yield %v : f64
  } -> tensor<?x5x1xf64>
  %rstd = linalg.generic {indexing_maps = [#row, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%qsum : tensor<?x5x1xf64>) outs(%e1 : tensor<?x5x1xf32>) {
  ^bb0(%in: f64, %out: f32):
    %v = arith.divf %in, %n64 : f64
    %t = arith.truncf %v : f64 to f32
    %a = arith.addf %t, %eps : f32
    %r = math.rsqrt %a : f32
    linalg.yield %r : f32
  } -> tensor<?x5x1xf32>
  %centered = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %mean : tensor<?x5x8xf32>, tensor<?x5x1xf32>) outs(%e8 : tensor<?x5x8xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %v = arith.subf %in, %m : f32
    linalg.yield %v : f32
  } -> tensor<?x5x8xf32>
  %normalized = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%centered, %rstd : tensor<?x5x8xf32>, tensor<?x5x1xf32>) outs(%e8 : tensor<?x5x8xf32>) {
  ^bb0(%in: f32, %r: f32, %out: f32):
    %v = arith.mulf %in, %r : f32
    linalg.yield %v : f32
  } -> tensor<?x5x8xf32>
  %scaled = linalg.generic {indexing_maps = [#full, #column, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%normalized, %g : tensor<?x5x8xf32>, tensor<8xf32>) outs(%e8 : tensor<?x5x8xf32>) {
  ^bb0(%in: f32, %w: f32, %out: f32):
    %v = arith.mulf %in, %w : f32
    linalg.yield %v : f32
  } -> tensor<?x5x8xf32>
  %y = linalg.generic {indexing_maps = [#full, #column, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scaled, %b : tensor<?x5x8xf32>, tensor<8xf32>) outs(%e8 : tensor<?x5x8xf32>) {
  ^bb0(%in: f32, %w: f32, %out: f32):
    %v = arith.addf %in, %w : f32
    linalg.yield %v : f32
  } -> tensor<?x5x8xf32>
  return %y : tensor<?x5x8xf32>
}

// -----

// LLaMA from ONNX: Pow, ReduceMean, Sqrt, Reciprocal; the sum drops its dimension and a broadcast brings it back. The stream is bf16, the norm f32.
#full = affine_map<(a, b) -> (a, b)>
#column = affine_map<(a, b) -> (b)>
// CHECK-LABEL: func.func @onnx_rms_norm(
// ALL-DAG: %[[W:.*]] = arith.extf %arg0
// ALL: %[[Y:.*]] = resid.rms_norm %[[W]] gamma(%arg1) {epsilon = 9.9999999999999995E-7 : f64} : tensor<4x8xf32>, tensor<8xbf16>
// ALL: return %[[Y]]
// EXACT-NOT: resid.
// EXACT: return
func.func @onnx_rms_norm(%h: tensor<4x8xbf16>, %g: tensor<8xbf16>) -> tensor<4x8xf32> {
  %x = arith.extf %h : tensor<4x8xbf16> to tensor<4x8xf32>
  %two = arith.constant dense<2.0> : tensor<4x8xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<4xf32>
  %eighth = arith.constant dense<0.125> : tensor<4xf32>
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %e4 = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %q = math.powf %x, %two : tensor<4x8xf32>
  %s = linalg.reduce ins(%q : tensor<4x8xf32>) outs(%zeros : tensor<4xf32>) dimensions = [1]
    (%in: f32, %out: f32) {
      %v = arith.addf %out, %in : f32
      linalg.yield %v : f32
    }
  %m = arith.mulf %s, %eighth : tensor<4xf32>
  %a = arith.addf %m, %eps : tensor<4xf32>
  %r = math.sqrt %a : tensor<4xf32>
  %i = arith.divf %one, %r : tensor<4xf32>
  %b = linalg.broadcast ins(%i : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]
  %n = arith.mulf %x, %b : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#full, #column, #full], iterator_types = ["parallel", "parallel"]} ins(%n, %g : tensor<4x8xf32>, tensor<8xbf16>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %w: bf16, %out: f32):
    %v = arith.extf %w : bf16 to f32
    %p = arith.mulf %in, %v : f32
    linalg.yield %p : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// No norm: the mean over another number, sums that start from ones, the root of another tensor's squares, a norm down the rows.
#full = affine_map<(a, b) -> (a, b)>
#row = affine_map<(a, b) -> (a)>
#column = affine_map<(a, b) -> (b)>
// CHECK-LABEL: func.func @no_norms(
// CHECK-NOT: resid.
// CHECK: return
func.func @no_norms(%x: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %nine = arith.constant dense<9.0> : tensor<8xf32>
  %eight = arith.constant dense<8.0> : tensor<8xf32>
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  %q = arith.mulf %x, %x : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %s = linalg.reduce ins(%q : tensor<8x8xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1] (%in: f32, %out: f32) {
      %v = arith.addf %out, %in : f32
      linalg.yield %v : f32
    }
  %one = linalg.reduce ins(%q : tensor<8x8xf32>) outs(%ones : tensor<8xf32>) dimensions = [1] (%in: f32, %out: f32) {
      %v = arith.addf %out, %in : f32
      linalg.yield %v : f32
    }
  %down = linalg.reduce ins(%q : tensor<8x8xf32>) outs(%zeros : tensor<8xf32>) dimensions = [0] (%in: f32, %out: f32) {
      %v = arith.addf %out, %in : f32
      linalg.yield %v : f32
    }
  %m0 = arith.divf %s, %nine : tensor<8xf32>
  %m1 = arith.divf %one, %eight : tensor<8xf32>
  %m2 = arith.divf %s, %eight : tensor<8xf32>
  %m3 = arith.divf %down, %eight : tensor<8xf32>
  %r0 = math.rsqrt %m0 : tensor<8xf32>
  %r1 = math.rsqrt %m1 : tensor<8xf32>
  %r2 = math.rsqrt %m2 : tensor<8xf32>
  %r3 = math.rsqrt %m3 : tensor<8xf32>
  %b0 = linalg.broadcast ins(%r0 : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %b1 = linalg.broadcast ins(%r1 : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %b2 = linalg.broadcast ins(%r2 : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [1]
  %b3 = linalg.broadcast ins(%r3 : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %0 = arith.mulf %x, %b0 : tensor<8x8xf32>
  %1 = arith.mulf %x, %b1 : tensor<8x8xf32>
  %2 = arith.mulf %z, %b2 : tensor<8x8xf32>
  %3 = arith.mulf %x, %b3 : tensor<8x8xf32>
  return %0, %1, %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// torch-mlir with a batch of one: 0 is the place in it, or a reshape puts it in front. Squares are powers with an integer.
#full = affine_map<(a, b, c) -> (a, b, c)>
#one = affine_map<(a, b, c) -> (0, b, c)>
#row = affine_map<(a, b, c) -> (0, b, 0)>
#sum = affine_map<(a, b, c) -> (a, b, 0)>
// CHECK-LABEL: func.func @batch_of_one(
// ALL: %[[W:.*]] = tensor.expand_shape %arg0
// ALL-NEXT: %[[A:.*]] = resid.activation silu %[[W]] : tensor<1x4x8xf32>
// ALL-NEXT: %[[Y:.*]] = resid.rms_norm %[[A]] {epsilon = 9.9999999999999995E-7 : f64} : tensor<1x4x8xf32>
// ALL-NEXT: return %[[Y]]
// EXACT-NOT: resid.
// EXACT: return
func.func @batch_of_one(%h: tensor<4x8xf32>) -> tensor<1x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %eight = arith.constant 8.0 : f32
  %eps = arith.constant 1.0e-6 : f64
  %two = arith.constant 2 : i64
  %x = tensor.expand_shape %h [[0, 1], [2]] output_shape [1, 4, 8] : tensor<4x8xf32> into tensor<1x4x8xf32>
  %e = tensor.empty() : tensor<1x4x8xf32>
  %er = tensor.empty() : tensor<1x4x1xf32>
  %s = linalg.generic {indexing_maps = [#one, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<1x4x8xf32>) outs(%e : tensor<1x4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %one, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<1x4x8xf32>
  %a = linalg.generic {indexing_maps = [#one, #one, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %x : tensor<1x4x8xf32>, tensor<1x4x8xf32>) outs(%e : tensor<1x4x8xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %0 = arith.mulf %in, %on : f32
    linalg.yield %0 : f32
  } -> tensor<1x4x8xf32>
  %q = linalg.generic {indexing_maps = [#one, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a : tensor<1x4x8xf32>) outs(%e : tensor<1x4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.fpowi %in, %two : f32, i64
    linalg.yield %0 : f32
  } -> tensor<1x4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%er : tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %m = linalg.generic {indexing_maps = [#full, #sum], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q : tensor<1x4x8xf32>) outs(%z : tensor<1x4x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<1x4x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (0, b, 0)>, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%m : tensor<1x4x1xf32>) outs(%er : tensor<1x4x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %eight : f32
    %1 = arith.truncf %eps : f64 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = math.rsqrt %2 : f32
    linalg.yield %3 : f32
  } -> tensor<1x4x1xf32>
  %y = linalg.generic {indexing_maps = [#one, #row, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %r : tensor<1x4x8xf32>, tensor<1x4x1xf32>) outs(%e : tensor<1x4x8xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %0 = arith.mulf %in, %on : f32
    linalg.yield %0 : f32
  } -> tensor<1x4x8xf32>
  return %y : tensor<1x4x8xf32>
}

// -----

// Gated kinds, where the function is not rounded before the product: in f32, and in bf16 with one rounding at the end.
// CHECK-LABEL: func.func @exact_gated(
// CHECK: resid.activation swiglu %arg0, %arg1 : tensor<4x8xf32>
// CHECK: resid.activation geglu %arg2, %arg3 : tensor<4x8xbf16>
// CHECK-NOT: math
// CHECK: return
func.func @exact_gated(%x: tensor<4x8xf32>, %u: tensor<4x8xf32>, %h: tensor<4x8xbf16>, %v: tensor<4x8xbf16>) -> (tensor<4x8xf32>, tensor<4x8xbf16>) {
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %half = arith.constant dense<0.5> : tensor<4x8xf32>
  %root = arith.constant dense<0.707106769> : tensor<4x8xf32>
  %n = arith.negf %x : tensor<4x8xf32>
  %e = math.exp %n : tensor<4x8xf32>
  %d = arith.addf %e, %one : tensor<4x8xf32>
  %s = arith.divf %x, %d : tensor<4x8xf32>
  %0 = arith.mulf %u, %s : tensor<4x8xf32>
  %w = arith.extf %h : tensor<4x8xbf16> to tensor<4x8xf32>
  %r = arith.mulf %w, %root : tensor<4x8xf32>
  %f = math.erf %r : tensor<4x8xf32>
  %p = arith.addf %one, %f : tensor<4x8xf32>
  %m = arith.mulf %w, %half : tensor<4x8xf32>
  %g = arith.mulf %m, %p : tensor<4x8xf32>
  %wv = arith.extf %v : tensor<4x8xbf16> to tensor<4x8xf32>
  %y = arith.mulf %g, %wv : tensor<4x8xf32>
  %1 = arith.truncf %y : tensor<4x8xf32> to tensor<4x8xbf16>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xbf16>
}

// -----

// LLaMA from torch-mlir, in bf16: a sigmoid, and a rounding after each product. GELU with tanh as Gemma has it; a gate beside a ReLU, a gate that
// broadcasts, and a gate that is added are none of these.
// CHECK-LABEL: func.func @gated(
// ALL: resid.activation swiglu %arg0, %arg1 : tensor<4x8xbf16>
// ALL: resid.activation geglu_tanh %arg2, %arg3 : tensor<4x8xf32>
// ALL: %[[S:.*]] = resid.activation silu %arg2 : tensor<4x8xf32>
// ALL: linalg.generic {{.*}} ins(%[[S]], %arg4
// ALL: %[[T:.*]] = resid.activation silu %arg3 : tensor<4x8xf32>
// ALL: arith.addf %[[T]], %arg2
// ALL: resid.activation relu %arg2
// ALL: arith.mulf
// ALL-NOT: resid.
// EXACT-NOT: glu
// CHECK: return
func.func @gated(%h: tensor<4x8xbf16>, %v: tensor<4x8xbf16>, %x: tensor<4x8xf32>, %u: tensor<4x8xf32>, %g: tensor<8xf32>)
    -> (tensor<4x8xbf16>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %bone = arith.constant dense<1.0> : tensor<4x8xbf16>
  %b0 = arith.negf %h : tensor<4x8xbf16>
  %b1 = math.exp %b0 : tensor<4x8xbf16>
  %b2 = arith.addf %b1, %bone : tensor<4x8xbf16>
  %b3 = arith.divf %bone, %b2 : tensor<4x8xbf16>
  %b4 = arith.mulf %b3, %h : tensor<4x8xbf16>
  %0 = arith.mulf %b4, %v : tensor<4x8xbf16>
  %three = arith.constant dense<3.0> : tensor<4x8xf32>
  %k = arith.constant dense<0.044715> : tensor<4x8xf32>
  %c = arith.constant dense<0.797884583> : tensor<4x8xf32>
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %half = arith.constant dense<0.5> : tensor<4x8xf32>
  %t0 = math.powf %x, %three : tensor<4x8xf32>
  %t1 = arith.mulf %t0, %k : tensor<4x8xf32>
  %t2 = arith.addf %x, %t1 : tensor<4x8xf32>
  %t3 = arith.mulf %t2, %c : tensor<4x8xf32>
  %t4 = math.tanh %t3 : tensor<4x8xf32>
  %t5 = arith.addf %t4, %one : tensor<4x8xf32>
  %t6 = arith.mulf %x, %t5 : tensor<4x8xf32>
  %t7 = arith.mulf %t6, %half : tensor<4x8xf32>
  %1 = arith.mulf %t7, %u : tensor<4x8xf32>
  %s0 = arith.negf %x : tensor<4x8xf32>
  %s1 = math.exp %s0 : tensor<4x8xf32>
  %s2 = arith.addf %s1, %one : tensor<4x8xf32>
  %s3 = arith.divf %x, %s2 : tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%s3, %g : tensor<4x8xf32>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %gate: f32, %out: f32):
    %v0 = arith.mulf %in, %gate : f32
    linalg.yield %v0 : f32
  } -> tensor<4x8xf32>
  %a0 = arith.negf %u : tensor<4x8xf32>
  %a1 = math.exp %a0 : tensor<4x8xf32>
  %a2 = arith.addf %a1, %one : tensor<4x8xf32>
  %a3 = arith.divf %u, %a2 : tensor<4x8xf32>
  %3 = arith.addf %a3, %x : tensor<4x8xf32>
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %r = arith.maximumf %x, %zero : tensor<4x8xf32>
  %4 = arith.mulf %r, %u : tensor<4x8xf32>
  return %0, %1, %2, %3, %4 : tensor<4x8xbf16>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Norms over the last two dimensions, with parameters of these dimensions or none. One over 24 elements that divides by 8, one whose squares are
// summed over another row, and a gamma of one dimension are not part of such a norm.
#full = affine_map<(a, b, c) -> (a, b, c)>
#matrix = affine_map<(a, b, c) -> (b, c)>
#row = affine_map<(a, b, c) -> (a)>
#narrow = affine_map<(a, b, c) -> (a, b)>
#last = affine_map<(a, b, c) -> (c)>
// CHECK-LABEL: func.func @two_dimensions(
// ALL: %[[Y:.*]] = resid.layer_norm %arg0 gamma(%arg1) beta(%arg2) {epsilon = 1.000000e-05 : f64} : tensor<?x3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
// ALL: %[[R:.*]] = resid.rms_norm %arg0 {epsilon = 0.000000e+00 : f64, norm_rank = 2 : i64} : tensor<?x3x8xf32>
// ALL-NOT: resid.
// ALL: return %[[Y]], %{{.*}}, %{{.*}}, %{{.*}} :
// EXACT-NOT: resid.
// EXACT: return
func.func @two_dimensions(%x: tensor<?x3x8xf32>, %g: tensor<3x8xf32>, %b: tensor<3x8xf32>, %v: tensor<8xf32>)
    -> (tensor<?x3x8xf32>, tensor<?x3x8xf32>, tensor<?x3x8xf32>, tensor<?x3x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 24.0 : f32
  %eight = arith.constant 8.0 : f32
  %eps = arith.constant 1.000000e-05 : f32
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x3x8xf32>
  %e = tensor.empty(%d) : tensor<?x3x8xf32>
  %e1 = tensor.empty(%d) : tensor<?xf32>
  %e2 = tensor.empty(%d) : tensor<?x3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x3xf32>) -> tensor<?x3xf32>
  %sum = linalg.reduce ins(%x : tensor<?x3x8xf32>) outs(%z : tensor<?xf32>) dimensions = [1, 2] (%in: f32, %out: f32) {
      %t = arith.addf %in, %out : f32
      linalg.yield %t : f32
    }
  %c = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %sum : tensor<?x3x8xf32>, tensor<?xf32>) outs(%e : tensor<?x3x8xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %m = arith.divf %s, %n : f32
    %t = arith.subf %in, %m : f32
    linalg.yield %t : f32
  } -> tensor<?x3x8xf32>
  %squares = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction", "reduction"]} ins(%c : tensor<?x3x8xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %q = arith.mulf %in, %in : f32
    %t = arith.addf %q, %out : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#full, #row, #matrix, #matrix, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c, %squares, %g, %b : tensor<?x3x8xf32>, tensor<?xf32>, tensor<3x8xf32>, tensor<3x8xf32>) outs(%e : tensor<?x3x8xf32>) {
  ^bb0(%in: f32, %s: f32, %w: f32, %a: f32, %out: f32):
    %m = arith.divf %s, %n : f32
    %u = arith.addf %m, %eps : f32
    %r = math.rsqrt %u : f32
    %t = arith.mulf %in, %r : f32
    %p = arith.mulf %t, %w : f32
    %o = arith.addf %p, %a : f32
    linalg.yield %o : f32
  } -> tensor<?x3x8xf32>
  %raw = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<?x3x8xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %q = arith.mulf %in, %in : f32
    %t = arith.addf %q, %out : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %rms = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %raw : tensor<?x3x8xf32>, tensor<?xf32>) outs(%e : tensor<?x3x8xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %m = arith.divf %s, %n : f32
    %r = math.rsqrt %m : f32
    %t = arith.mulf %in, %r : f32
    linalg.yield %t : f32
  } -> tensor<?x3x8xf32>
  %scaled = linalg.generic {indexing_maps = [#full, #last, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rms, %v : tensor<?x3x8xf32>, tensor<8xf32>) outs(%e : tensor<?x3x8xf32>) {
  ^bb0(%in: f32, %w: f32, %out: f32):
    %t = arith.mulf %in, %w : f32
    linalg.yield %t : f32
  } -> tensor<?x3x8xf32>
  %other = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %raw : tensor<?x3x8xf32>, tensor<?xf32>) outs(%e : tensor<?x3x8xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %m = arith.divf %s, %eight : f32
    %r = math.rsqrt %m : f32
    %t = arith.mulf %in, %r : f32
    linalg.yield %t : f32
  } -> tensor<?x3x8xf32>
  %part = linalg.generic {indexing_maps = [#full, #narrow], iterator_types = ["parallel", "parallel", "reduction"]} ins(%c : tensor<?x3x8xf32>) outs(%z2 : tensor<?x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %q = arith.mulf %in, %in : f32
    %t = arith.addf %q, %out : f32
    linalg.yield %t : f32
  } -> tensor<?x3xf32>
  %mixed = linalg.generic {indexing_maps = [#full, #narrow, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c, %part : tensor<?x3x8xf32>, tensor<?x3xf32>) outs(%e : tensor<?x3x8xf32>) {
  ^bb0(%in: f32, %p: f32, %out: f32):
    %m = arith.divf %p, %n : f32
    %r = math.rsqrt %m : f32
    %t = arith.mulf %in, %r : f32
    linalg.yield %t : f32
  } -> tensor<?x3x8xf32>
  return %y, %scaled, %other, %mixed : tensor<?x3x8xf32>, tensor<?x3x8xf32>, tensor<?x3x8xf32>, tensor<?x3x8xf32>
}
