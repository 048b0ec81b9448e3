// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @dyt.C1_alpha_integer(%x: tensor<4x8xf32>, %a: tensor<i32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor of f16, bf16, f32 or f64, without an encoding and of at most 2^47 bytes, but got 'tensor<i32>'}}
  %y = resid.dyt %x alpha(%a) : tensor<4x8xf32>, tensor<i32>
  return
}

// -----

func.func @dyt.C2_wider_result(%x: tensor<4x8xf16>, %a: tensor<f32>) {
  // expected-error @+1 {{expected result of shape [4, 8] and of 'f16' or a narrower type, but got 'tensor<4x8xf32>'}}
  %y = resid.dyt %x alpha(%a) : tensor<4x8xf16>, tensor<f32> -> tensor<4x8xf32>
  return
}

// -----

func.func @dyt.C3_alpha_of_rank_1(%x: tensor<4x8xf32>, %a: tensor<1xf32>) {
  // expected-error @+1 {{expected alpha of rank 0 but got 'tensor<1xf32>'}}
  %y = resid.dyt %x alpha(%a) : tensor<4x8xf32>, tensor<1xf32>
  return
}

// -----

func.func @dyt.C4_gamma_of_rank_0(%x: tensor<4x8xf32>, %a: tensor<f32>) {
  // expected-error @+1 {{expected between 1 and 2 normalised dimensions but got 0}}
  %y = resid.dyt %x alpha(%a) gamma(%a) : tensor<4x8xf32>, tensor<f32>, tensor<f32>
  return
}

// -----

func.func @dyt.C4_gamma_above_the_rank(%x: tensor<4x8xf32>, %a: tensor<f32>, %g: tensor<1x4x8xf32>) {
  // expected-error @+1 {{expected between 1 and 2 normalised dimensions but got 3}}
  %y = resid.dyt %x alpha(%a) gamma(%g) : tensor<4x8xf32>, tensor<f32>, tensor<1x4x8xf32>
  return
}

// -----

func.func @dyt.C5_gamma_size(%x: tensor<4x8xf32>, %a: tensor<f32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{expected gamma of shape [8], that of the last dimensions, but got [4]}}
  %y = resid.dyt %x alpha(%a) gamma(%g) : tensor<4x8xf32>, tensor<f32>, tensor<4xf32>
  return
}

// -----

func.func @dyt.C6_beta_without_gamma(%x: tensor<4x8xf32>, %a: tensor<f32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{expected gamma beside beta but got none}}
  %y = resid.dyt %x alpha(%a) beta(%b) : tensor<4x8xf32>, tensor<f32>, tensor<8xf32>
  return
}

// -----

func.func @dyt.C7_f64_alpha(%x: tensor<4x8xf32>, %a: tensor<f64>) {
  // expected-error @+1 {{expected alpha of f16, bf16 or f32 beside x of 'f32', but got 'tensor<f64>'}}
  %y = resid.dyt %x alpha(%a) : tensor<4x8xf32>, tensor<f64>
  return
}

// -----

func.func @dyt.C7_f64_gamma(%x: tensor<4x8xf32>, %a: tensor<f32>, %g: tensor<8xf64>) {
  // expected-error @+1 {{expected gamma of f16, bf16 or f32 beside x of 'f32', but got 'tensor<8xf64>'}}
  %y = resid.dyt %x alpha(%a) gamma(%g) : tensor<4x8xf32>, tensor<f32>, tensor<8xf64>
  return
}

// -----

func.func @dyt.C8_zero_centered_without_gamma(%x: tensor<4x8xf32>, %a: tensor<f32>) {
  // expected-error @+1 {{expected gamma beside zero_centered_gamma but got none}}
  %y = resid.dyt %x alpha(%a) {zero_centered_gamma} : tensor<4x8xf32>, tensor<f32>
  return
}

// -----

func.func @dyt.C8_narrow_affine_without_gamma(%x: tensor<4x8xf32>, %a: tensor<f32>) {
  // expected-error @+1 {{expected gamma beside narrow_affine but got none}}
  %y = resid.dyt %x alpha(%a) {narrow_affine} : tensor<4x8xf32>, tensor<f32>
  return
}
