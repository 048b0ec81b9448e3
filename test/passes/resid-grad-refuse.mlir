// RUN: resid-opt %s -split-input-file -verify-diagnostics --resid-grad=function=f
// RUN: not resid-opt %S/Inputs/grad.mlir --resid-grad="function=nothing" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not resid-opt %S/Inputs/grad.mlir --resid-grad="function=f wrt=3" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not resid-opt %S/Inputs/grad.mlir --resid-grad="function=f wrt=0,2" 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not resid-opt %S/Inputs/grad.mlir --resid-grad="function=taken" 2>&1 | FileCheck %s --check-prefix=TAKEN
// NOTHING: error: expected a function to differentiate, but 'nothing' is none
// COUNT: grad.mlir:2:1: error: expected an argument from 0 to 2 in wrt, but got 3
// TYPE: grad.mlir:2:{{[0-9]+}}: error: expected a tensor of floats as argument 2, whose gradient is asked for, but got 'i64'
// TAKEN: grad.mlir:{{[0-9:]+}}: error: expected no function 'taken_forward', which differentiation makes

func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'math.tanh' has no rule for its gradient, and a result depends on it}}
  %y = math.tanh %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'resid.add' op has no gradient with a gate yet: expected an add without one}}
  %y = resid.add %x, %f gate(%w) : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  // expected-error @+1 {{'resid.rms_norm' op has no gradient through its statistics}}
  %y, %rstd = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
  return %y, %rstd : tensor<4x8xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{expected an argument that is a tensor of floats, but 'f' has none}}
func.func @f(%n: i64) -> i64 {
  return %n : i64
}

// -----

// expected-error @+1 {{expected a function with one block to differentiate, but 'f' has 0}}
func.func private @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32>

// -----

func.func @f(%x: tensor<4x8xf32>, %cos: tensor<4x4xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'resid.rotary' op has no gradient of its tables yet: expected cos and sin that depend on no argument whose gradient is taken}}
  %y = resid.rotary %x cos(%cos) sin(%cos) : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  // expected-error @+1 {{'linalg.generic' op has no gradient of this form: expected a sum of products of f16, bf16, f32 or f64}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<4xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%e: f32, %old: f32):
    %n = arith.maximumf %e, %old : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @f(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x9x4xf32>, %past: i64) -> tensor<1x2x3x4xf32> {
  // expected-error @+1 {{'resid.attention' op has no gradient with a cache yet: expected an attention without past}}
  %y = resid.attention %q, %k, %k past(%past) : tensor<1x2x3x4xf32>, tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>
  return %y : tensor<1x2x3x4xf32>
}

// -----

func.func @f(%q: tensor<1x2x3x4xf32>, %mask: tensor<3x3xf32>) -> tensor<1x2x3x4xf32> {
  // expected-error @+1 {{'resid.attention' op has no gradient of its mask yet: expected one that depends on no argument whose gradient is taken}}
  %y = resid.attention %q, %q, %q mask(%mask) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3x3xf32>
  return %y : tensor<1x2x3x4xf32>
}

// -----

func.func @f(%q: tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3xf32>) {
  // expected-error @+1 {{'resid.attention' op has no gradient through its statistics: expected them to reach no result whose gradient is taken}}
  %y, %max, %sum = resid.attention %q, %q, %q : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
      -> tensor<1x2x3x4xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>
  return %y, %max : tensor<1x2x3x4xf32>, tensor<1x2x3xf32>
}
