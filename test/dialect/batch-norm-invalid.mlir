// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @batch_norm.C1_encoding(%x: tensor<4x8xf32, "mine">) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more}}
  %y = resid.batch_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32, "mine">
  return
}

// -----

func.func @batch_norm.C2_one_row(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected x of rank 2 or more, since a batch norm goes down the rows, but got 'tensor<8xf32>'}}
  %y = resid.batch_norm %x {epsilon = 1.0e-5} : tensor<8xf32>
  return
}

// -----

func.func @batch_norm.C3_wider(%x: tensor<4x8xbf16>) {
  // expected-error @+1 {{expected result of shape [4, 8] and of 'bf16' or a narrower type, but got 'tensor<4x8xf32>'}}
  %y = resid.batch_norm %x {epsilon = 1.0e-5} : tensor<4x8xbf16> -> tensor<4x8xf32>
  return
}

// -----

func.func @batch_norm.C4_negative(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected epsilon to be finite and not negative in 'f32' but got -1}}
  %y = resid.batch_norm %x {epsilon = -1.0} : tensor<4x8xf32>
  return
}

// -----

func.func @batch_norm.C5_gamma(%x: tensor<4x8xf32>, %g: tensor<9xf32>) {
  // expected-error @+1 {{expected gamma of shape [8], that of the last dimensions, but got [9]}}
  %y = resid.batch_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<9xf32>
  return
}

// -----

func.func @batch_norm.C5_beta_alone(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected gamma beside beta but got none}}
  %y = resid.batch_norm %x beta(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm.C6_wide(%x: tensor<4x8xf32>, %g: tensor<8xf64>) {
  // expected-error @+1 {{expected gamma of f16, bf16 or f32 beside x of 'f32', but got 'tensor<8xf64>'}}
  %y = resid.batch_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf64>
  return
}

// -----

func.func @batch_norm.C7_both(%x: tensor<4x8xf32>, %m: tensor<8xf32>) {
  // expected-error @+1 {{expected no statistics as results where they are operands, but got 2}}
  %y:3 = resid.batch_norm %x statistics(%m, %m) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm.C7_one(%x: tensor<4x8xf32>, %m: tensor<8xf32>) {
  // expected-error @+1 {{expected the statistics mean, variance but got 1}}
  %y = resid.batch_norm %x statistics(%m) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm.C7_type(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected mean of type 'tensor<8xf32>' but got 'tensor<8xf64>'}}
  %y:3 = resid.batch_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<8xf64>, tensor<8xf64>
  return
}

// -----

func.func @batch_norm.C7_results(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected the statistics mean, variance, or mean, variance, mean_correction, rstd but got 3}}
  %y:4 = resid.batch_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}
