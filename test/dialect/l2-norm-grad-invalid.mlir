// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @l2_norm_grad.C1_gamma_encoding(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %g: tensor<8xf32, "mine">) {
  // expected-error @+1 {{operand #3 must be ranked tensor of f16, bf16, f32 or f64, without an encoding and of at most 2^47 bytes, but got 'tensor<8xf32, "mine">'}}
  %dx:3 = resid.l2_norm_grad %x, %x statistics(%m) gamma(%g) {epsilon = 1.0e-12} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32, "mine">
  return
}

// -----

func.func @l2_norm_grad.C2_wider_dy(%dy: tensor<4x8xf32>, %x: tensor<4x8xbf16>, %m: tensor<4xf32>) {
  // expected-error @+1 {{expected dy of shape [4, 8] and of 'bf16' or a narrower type, but got 'tensor<4x8xf32>'}}
  %dx = resid.l2_norm_grad %dy, %x statistics(%m) {epsilon = 1.0e-12} : tensor<4x8xf32>, tensor<4x8xbf16>, tensor<4xf32>
  return
}

// -----

func.func @l2_norm_grad.C3_rank(%x: tensor<4x8xf32>, %m: tensor<4xf32>) {
  // expected-error @+1 {{expected between 1 and 2 normalised dimensions but got 3}}
  %dx = resid.l2_norm_grad %x, %x statistics(%m) {epsilon = 1.0e-12, norm_rank = 3} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @l2_norm_grad.C3_rank_beside_gamma(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected norm_rank of at most gamma's rank, 1, but got 2}}
  %dx:3 = resid.l2_norm_grad %x, %x statistics(%m) gamma(%g) {epsilon = 1.0e-12, norm_rank = 2} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>
  return
}

// -----

func.func @l2_norm_grad.C4_how_many(%x: tensor<4x8xf32>, %m: tensor<4xf32>) {
  // expected-error @+1 {{expected the statistics rstd but got 2}}
  %dx = resid.l2_norm_grad %x, %x statistics(%m, %m) {epsilon = 1.0e-12} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @l2_norm_grad.C4_shape(%x: tensor<4x8xf32>, %m: tensor<5xf32>) {
  // expected-error @+1 {{expected rstd of type 'tensor<4xf32>' but got 'tensor<5xf32>'}}
  %dx = resid.l2_norm_grad %x, %x statistics(%m) {epsilon = 1.0e-12} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<5xf32>
  return
}

// -----

func.func @l2_norm_grad.C5_gamma_shape(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %g: tensor<9xf32>) {
  // expected-error @+1 {{expected gamma}}
  %dx:3 = resid.l2_norm_grad %x, %x statistics(%m) gamma(%g) {epsilon = 1.0e-12} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<9xf32>
  return
}

// -----

func.func @l2_norm_grad.C5_gamma_type(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %g: tensor<8xf64>) {
  // expected-error @+1 {{expected gamma of f16, bf16 or f32 beside x of 'f32', but got 'tensor<8xf64>'}}
  %dx:3 = resid.l2_norm_grad %x, %x statistics(%m) gamma(%g) {epsilon = 1.0e-12} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<8xf64> -> tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @l2_norm_grad.C6_dx(%x: tensor<4x8xf32>, %m: tensor<4xf32>) {
  // expected-error @+1 {{expected dx of x's type 'tensor<4x8xf32>' but got 'tensor<4x8xbf16>'}}
  %dx = resid.l2_norm_grad %x, %x statistics(%m) {epsilon = 1.0e-12} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32> -> tensor<4x8xbf16>
  return
}

// -----

func.func @l2_norm_grad.C6_sum(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %s: tensor<4x8xbf16>) {
  // expected-error @+1 {{expected sum of x's type 'tensor<4x8xf32>' but got 'tensor<4x8xbf16>'}}
  %dx = "resid.l2_norm_grad"(%x, %x, %m, %s) {epsilon = 1.0e-12, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xbf16>) -> tensor<4x8xf32>
  return
}

// -----

func.func @l2_norm_grad.C7_no_gamma(%x: tensor<4x8xf32>, %m: tensor<4xf32>) {
  // expected-error @+1 {{expected no dgamma without gamma but got 2 results beside dx}}
  %dx:3 = resid.l2_norm_grad %x, %x statistics(%m) {epsilon = 1.0e-12} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32> -> tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @l2_norm_grad.C7_no_dbeta(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected dgamma and dbeta beside gamma but got 1 results beside dx}}
  %dx:2 = resid.l2_norm_grad %x, %x statistics(%m) gamma(%g) {epsilon = 1.0e-12} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @l2_norm_grad.C7_dbeta_shape(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected dbeta of gamma's shape, 'tensor<8xf32>', but got 'tensor<9xf32>'}}
  %dx:3 = resid.l2_norm_grad %x, %x statistics(%m) gamma(%g) {epsilon = 1.0e-12} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<8xf32>, tensor<9xf32>
  return
}

// -----

func.func @l2_norm_grad.C7_dgamma_type(%x: tensor<4x8xf32>, %m: tensor<4xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected dgamma of f16, bf16 or f32 beside x of 'f32', but got 'tensor<8xf64>'}}
  %dx:3 = resid.l2_norm_grad %x, %x statistics(%m) gamma(%g) {epsilon = 1.0e-12} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<8xf64>, tensor<8xf32>
  return
}

// -----

func.func @l2_norm_grad.C8_zero_centred(%x: tensor<4x8xf32>, %m: tensor<4xf32>) {
  // expected-error @+1 {{expected gamma beside zero_centered_gamma but got none}}
  %dx = resid.l2_norm_grad %x, %x statistics(%m) {epsilon = 1.0e-12, zero_centered_gamma} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @l2_norm_grad.C9_negative(%x: tensor<4x8xf32>, %m: tensor<4xf32>) {
  // expected-error @+1 {{epsilon}}
  %dx = resid.l2_norm_grad %x, %x statistics(%m) {epsilon = -1.0} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
  return
}
