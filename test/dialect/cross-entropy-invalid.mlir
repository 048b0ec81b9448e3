// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @cross_entropy.C1_logits_rank(%x: tensor<f32>, %l: tensor<i64>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<f32>'}}
  %0 = resid.cross_entropy %x labels(%l) : tensor<f32>, tensor<i64>
  return
}

// -----

func.func @cross_entropy.C1_labels(%x: tensor<4x8xf32>, %l: tensor<4xi8>) {
  // expected-error @+1 {{operand #1 must be ranked tensor of i32 or i64, without an encoding and of at most 2^47 bytes, but got 'tensor<4xi8>'}}
  %0 = resid.cross_entropy %x labels(%l) : tensor<4x8xf32>, tensor<4xi8>
  return
}

// -----

func.func @cross_entropy.C2_rows(%x: tensor<4x8xf32>, %l: tensor<5xi64>) {
  // expected-error @+1 {{expected a label for each row of 'tensor<4x8xf32>', but got 'tensor<5xi64>'}}
  %0 = resid.cross_entropy %x labels(%l) : tensor<4x8xf32>, tensor<5xi64>
  return
}

// -----

func.func @cross_entropy.C2_rank(%x: tensor<4x8xf32>, %l: tensor<4x8xi64>) {
  // expected-error @+1 {{expected a label for each row of 'tensor<4x8xf32>', but got 'tensor<4x8xi64>'}}
  %0 = resid.cross_entropy %x labels(%l) : tensor<4x8xf32>, tensor<4x8xi64>
  return
}

// -----

func.func @cross_entropy.C3_loss(%x: tensor<4x8xf32>, %l: tensor<4xi64>) {
  // expected-error @+1 {{expected loss of type 'tensor<4xf32>' but got 'tensor<4xf64>'}}
  %0 = resid.cross_entropy %x labels(%l) : tensor<4x8xf32>, tensor<4xi64> -> tensor<4xf64>
  return
}

// -----

func.func @cross_entropy.C3_logsumexp(%x: tensor<4x8xf32>, %l: tensor<4xi64>) {
  // expected-error @+1 {{expected logsumexp of type 'tensor<4xf32>' but got 'tensor<8xf32>'}}
  %0:2 = resid.cross_entropy %x labels(%l) : tensor<4x8xf32>, tensor<4xi64> -> tensor<4xf32>, tensor<8xf32>
  return
}

// -----

func.func @cross_entropy.C3_how_many(%x: tensor<4x8xf32>, %l: tensor<4xi64>) {
  // expected-error @+1 {{expected the types of loss and logsumexp, but got 3}}
  %0:3 = resid.cross_entropy %x labels(%l) : tensor<4x8xf32>, tensor<4xi64> -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @cross_entropy.C4_width(%x: tensor<2147483649xf32>, %l: tensor<i64>) {
  // expected-error @+1 {{expected rows of at most 2^31 logits but got 'tensor<2147483649xf32>'}}
  %0 = resid.cross_entropy %x labels(%l) : tensor<2147483649xf32>, tensor<i64>
  return
}

// -----

func.func @cross_entropy.C5_ignore_index(%x: tensor<4x8xf32>, %l: tensor<4xi32>) {
  // expected-error @+1 {{expected ignore_index to be a number of 'i32' but got 2147483648}}
  %0 = resid.cross_entropy %x labels(%l) {ignore_index = 2147483648} : tensor<4x8xf32>, tensor<4xi32>
  return
}
