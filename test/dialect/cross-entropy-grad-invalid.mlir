// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @cross_entropy_grad.C1_labels(%s: tensor<4xf32>, %x: tensor<4x8xf32>, %l: tensor<4xindex>) {
  // expected-error @+1 {{operand #2 must be ranked tensor of i32 or i64, without an encoding and of at most 2^47 bytes, but got 'tensor<4xindex>'}}
  %0 = resid.cross_entropy_grad %s, %x labels(%l) logsumexp(%s) : tensor<4x8xf32>, tensor<4xindex>
  return
}

// -----

func.func @cross_entropy_grad.C2_rows(%s: tensor<4xf32>, %x: tensor<4x8xf32>, %l: tensor<5xi64>) {
  // expected-error @+1 {{expected a label for each row of 'tensor<4x8xf32>', but got 'tensor<5xi64>'}}
  %0 = resid.cross_entropy_grad %s, %x labels(%l) logsumexp(%s) : tensor<4x8xf32>, tensor<5xi64>
  return
}

// -----

func.func @cross_entropy_grad.C3_dloss(%d: tensor<4xf64>, %s: tensor<4xf32>, %x: tensor<4x8xf32>, %l: tensor<4xi64>) {
  // expected-error @+1 {{expected dloss of type 'tensor<4xf32>' but got 'tensor<4xf64>'}}
  %0 = "resid.cross_entropy_grad"(%d, %x, %l, %s) : (tensor<4xf64>, tensor<4x8xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @cross_entropy_grad.C3_logsumexp(%s: tensor<4xf32>, %m: tensor<8xf32>, %x: tensor<4x8xf32>, %l: tensor<4xi64>) {
  // expected-error @+1 {{expected logsumexp of type 'tensor<4xf32>' but got 'tensor<8xf32>'}}
  %0 = "resid.cross_entropy_grad"(%s, %x, %l, %m) : (tensor<4xf32>, tensor<4x8xf32>, tensor<4xi64>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @cross_entropy_grad.C4_width(%s: tensor<f32>, %x: tensor<2147483649xf32>, %l: tensor<i64>) {
  // expected-error @+1 {{expected rows of at most 2^31 logits but got 'tensor<2147483649xf32>'}}
  %0 = resid.cross_entropy_grad %s, %x labels(%l) logsumexp(%s) : tensor<2147483649xf32>, tensor<i64>
  return
}

// -----

func.func @cross_entropy_grad.C5_ignore_index(%s: tensor<4xf32>, %x: tensor<4x8xf32>, %l: tensor<4xi32>) {
  // expected-error @+1 {{expected ignore_index to be a number of 'i32' but got -2147483649}}
  %0 = resid.cross_entropy_grad %s, %x labels(%l) logsumexp(%s) {ignore_index = -2147483649} : tensor<4x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @cross_entropy_grad.C6_dlogits(%s: tensor<4xf32>, %x: tensor<4x8xf32>, %l: tensor<4xi64>) {
  // expected-error @+1 {{expected dlogits of the type of logits, 'tensor<4x8xf32>', but got 'tensor<4x8xbf16>'}}
  %0 = "resid.cross_entropy_grad"(%s, %x, %l, %s) : (tensor<4xf32>, tensor<4x8xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<4x8xbf16>
  return
}
