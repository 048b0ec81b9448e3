// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @batch_norm_grad.C1_rank(%x: tensor<f32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more}}
  %dx = resid.batch_norm_grad %x, %x statistics(%x, %x) {epsilon = 1.0e-5} : tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----

func.func @batch_norm_grad.C2_one_row(%x: tensor<8xf32>, %m: tensor<8xf32>) {
  // expected-error @+1 {{expected x of rank 2 or more, since a batch norm goes down the rows, but got 'tensor<8xf32>'}}
  %dx = resid.batch_norm_grad %x, %x statistics(%m, %m) {epsilon = 1.0e-5} : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm_grad.C3_epsilon(%x: tensor<4x8xf32>, %m: tensor<8xf32>) {
  // expected-error @+1 {{expected epsilon to be 0 or to stay above 0 in 'f32' but got 1e-200}}
  %dx = resid.batch_norm_grad %x, %x statistics(%m, %m) {epsilon = 1.0e-200} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm_grad.C4_how_many(%x: tensor<4x8xf32>, %m: tensor<8xf32>) {
  // expected-error @+1 {{expected the statistics mean, variance, or mean, mean_correction, rstd but got 4}}
  %dx = resid.batch_norm_grad %x, %x statistics(%m, %m, %m, %m) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm_grad.C4_shape(%x: tensor<4x8xf32>, %m: tensor<4xf32>) {
  // expected-error @+1 {{expected mean of type 'tensor<8xf32>' but got 'tensor<4xf32>'}}
  %dx = resid.batch_norm_grad %x, %x statistics(%m, %m) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @batch_norm_grad.C5_gamma(%x: tensor<4x8xf32>, %m: tensor<8xf32>, %g: tensor<9xf32>) {
  // expected-error @+1 {{expected gamma of shape [8], that of the last dimensions, but got [9]}}
  %dx:3 = resid.batch_norm_grad %x, %x statistics(%m, %m) gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<9xf32>
  return
}

// -----

func.func @batch_norm_grad.C6_dx(%x: tensor<4x8xf32>, %m: tensor<8xf32>) {
  // expected-error @+1 {{expected dx of x's type 'tensor<4x8xf32>' but got 'tensor<4x8xbf16>'}}
  %dx = resid.batch_norm_grad %x, %x statistics(%m, %m) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xbf16>
  return
}

// -----

func.func @batch_norm_grad.C7_missing(%x: tensor<4x8xf32>, %m: tensor<8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected dgamma and dbeta beside gamma but got 1 results beside dx}}
  %dx:2 = resid.batch_norm_grad %x, %x statistics(%m, %m) gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<8xf32>
  return
}
