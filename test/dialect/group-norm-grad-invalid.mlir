// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @group_norm_grad.C1_rank(%x: tensor<f32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more}}
  %dx = resid.group_norm_grad %x, %x statistics(%x, %x, %x) {groups = 1} : tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----

func.func @group_norm_grad.C2_wider_dy(%dy: tensor<4x8xf32>, %x: tensor<4x8xbf16>, %m: tensor<4x2xf32>) {
  // expected-error @+1 {{expected dy of shape [4, 8] and of 'bf16' or a narrower type, but got 'tensor<4x8xf32>'}}
  %dx = resid.group_norm_grad %dy, %x statistics(%m, %m, %m) {groups = 2} : tensor<4x8xf32>, tensor<4x8xbf16>, tensor<4x2xf32>
  return
}

// -----

func.func @group_norm_grad.C3_divides(%x: tensor<4x8xf32>, %m: tensor<4x2xf32>) {
  // expected-error @+1 {{expected a number of groups that divides 8 but got 3}}
  %dx = resid.group_norm_grad %x, %x statistics(%m, %m, %m) {groups = 3} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @group_norm_grad.C3_none(%x: tensor<4x8xf32>, %m: tensor<4x2xf32>) {
  // expected-error @+1 {{expected 1 group or more but got 0}}
  %dx = resid.group_norm_grad %x, %x statistics(%m, %m, %m) {groups = 0} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @group_norm_grad.C4_how_many(%x: tensor<4x8xf32>, %m: tensor<4x2xf32>) {
  // expected-error @+1 {{expected the statistics mean, mean_correction, rstd but got 2}}
  %dx = resid.group_norm_grad %x, %x statistics(%m, %m) {groups = 2} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @group_norm_grad.C4_shape(%x: tensor<4x8xf32>, %m: tensor<4x2xf32>) {
  // expected-error @+1 {{expected mean of type 'tensor<4x4xf32>' but got 'tensor<4x2xf32>'}}
  %dx = resid.group_norm_grad %x, %x statistics(%m, %m, %m) {groups = 4} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @group_norm_grad.C5_rank(%x: tensor<4x8xf32>, %m: tensor<4x2xf32>, %g: tensor<4x8xf32>) {
  // expected-error @+1 {{expected gamma of rank 1 but got 'tensor<4x8xf32>'}}
  %dx:3 = resid.group_norm_grad %x, %x statistics(%m, %m, %m) gamma(%g) {groups = 2} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @group_norm_grad.C5_type(%x: tensor<4x8xf32>, %m: tensor<4x2xf32>, %g: tensor<8xf64>) {
  // expected-error @+1 {{expected gamma of f16, bf16 or f32 beside x of 'f32', but got 'tensor<8xf64>'}}
  %dx:3 = resid.group_norm_grad %x, %x statistics(%m, %m, %m) gamma(%g) {groups = 2} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32>, tensor<8xf64>
  return
}

// -----

func.func @group_norm_grad.C6_dx(%x: tensor<4x8xf32>, %m: tensor<4x2xf32>) {
  // expected-error @+1 {{expected dx of x's type 'tensor<4x8xf32>' but got 'tensor<4x8xbf16>'}}
  %dx = resid.group_norm_grad %x, %x statistics(%m, %m, %m) {groups = 2} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32> -> tensor<4x8xbf16>
  return
}

// -----

func.func @group_norm_grad.C7_missing(%x: tensor<4x8xf32>, %m: tensor<4x2xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected dgamma and dbeta beside gamma but got 1 results beside dx}}
  %dx:2 = resid.group_norm_grad %x, %x statistics(%m, %m, %m) gamma(%g) {groups = 2} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @group_norm_grad.C8_no_gamma(%x: tensor<4x8xf32>, %m: tensor<4x2xf32>) {
  // expected-error @+1 {{expected gamma beside zero_centered_gamma but got none}}
  %dx = resid.group_norm_grad %x, %x statistics(%m, %m, %m) {groups = 2, zero_centered_gamma} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x2xf32>
  return
}
