// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @dyt_grad.C1_rank(%x: tensor<f32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more}}
  %dx:2 = resid.dyt_grad %x, %x alpha(%x) : tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----

func.func @dyt_grad.C2_wider_dy(%dy: tensor<4x8xf32>, %x: tensor<4x8xbf16>, %a: tensor<f32>) {
  // expected-error @+1 {{expected dy of shape [4, 8] and of 'bf16' or a narrower type, but got 'tensor<4x8xf32>'}}
  %dx:2 = resid.dyt_grad %dy, %x alpha(%a) : tensor<4x8xf32>, tensor<4x8xbf16>, tensor<f32>
  return
}

// -----

func.func @dyt_grad.C3_rank(%x: tensor<4x8xf32>, %a: tensor<1xf32>) {
  // expected-error @+1 {{expected alpha of rank 0 but got 'tensor<1xf32>'}}
  %dx:2 = resid.dyt_grad %x, %x alpha(%a) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<1xf32>
  return
}

// -----

func.func @dyt_grad.C3_wide_dalpha(%x: tensor<4x8xf32>, %a: tensor<f32>) {
  // expected-error @+1 {{expected dalpha of f16, bf16 or f32 beside x of 'f32', but got 'tensor<f64>'}}
  %dx:2 = resid.dyt_grad %x, %x alpha(%a) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> -> tensor<4x8xf32>, tensor<f64>
  return
}

// -----

func.func @dyt_grad.C4_rank(%x: tensor<4x8xf32>, %a: tensor<f32>, %g: tensor<2x4x8xf32>) {
  // expected-error @+1 {{expected between 1 and 2 normalised dimensions but got 3}}
  %dx:4 = resid.dyt_grad %x, %x alpha(%a) gamma(%g) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<2x4x8xf32>
  return
}

// -----

func.func @dyt_grad.C5_shape(%x: tensor<4x8xf32>, %a: tensor<f32>, %g: tensor<9xf32>) {
  // expected-error @+1 {{expected gamma of shape [8], that of the last dimensions, but got [9]}}
  %dx:4 = resid.dyt_grad %x, %x alpha(%a) gamma(%g) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<9xf32>
  return
}

// -----

func.func @dyt_grad.C5_type(%x: tensor<4x8xf32>, %a: tensor<f32>, %g: tensor<8xf64>) {
  // expected-error @+1 {{expected gamma of f16, bf16 or f32 beside x of 'f32', but got 'tensor<8xf64>'}}
  %dx:4 = resid.dyt_grad %x, %x alpha(%a) gamma(%g) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<8xf64>
  return
}

// -----

func.func @dyt_grad.C6_dx(%x: tensor<4x8xf32>, %a: tensor<f32>) {
  // expected-error @+1 {{expected dx of x's type 'tensor<4x8xf32>' but got 'tensor<4x8xbf16>'}}
  %dx:2 = resid.dyt_grad %x, %x alpha(%a) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> -> tensor<4x8xbf16>, tensor<f32>
  return
}

// -----

func.func @dyt_grad.C7_missing(%x: tensor<4x8xf32>, %a: tensor<f32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected dgamma and dbeta beside gamma but got 0 results beside dx}}
  %dx:2 = resid.dyt_grad %x, %x alpha(%a) gamma(%g) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<f32>
  return
}

// -----

func.func @dyt_grad.C7_without_gamma(%x: tensor<4x8xf32>, %a: tensor<f32>) {
  // expected-error @+1 {{expected no dgamma without gamma but got 2 results beside dx}}
  %dx:4 = resid.dyt_grad %x, %x alpha(%a) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> -> tensor<4x8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @dyt_grad.C8_no_gamma(%x: tensor<4x8xf32>, %a: tensor<f32>) {
  // expected-error @+1 {{expected gamma beside zero_centered_gamma but got none}}
  %dx:2 = resid.dyt_grad %x, %x alpha(%a) {zero_centered_gamma} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>
  return
}

// -----

func.func @one_result(%x: tensor<4x8xf32>, %a: tensor<f32>) {
  // expected-error @+1 {{expected the types of dx and dalpha after the arrow, but got 1}}
  %dx = resid.dyt_grad %x, %x alpha(%a) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> -> tensor<4x8xf32>
  return
}
