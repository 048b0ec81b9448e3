// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @add_bias.C1_integer(%f: tensor<4x8xf32>, %b: tensor<8xi8>) {
  // expected-error @+1 {{operand #1 must be ranked tensor of f16, bf16, f32 or f64, without an encoding and of at most 2^47 bytes, but got 'tensor<8xi8>'}}
  %y = resid.add_bias %f, %b : tensor<4x8xf32>, tensor<8xi8>
  return
}

// -----

func.func @add_bias.C2_result_type(%f: tensor<4x8xbf16>, %b: tensor<8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<4x8xbf16>' are incompatible with return type(s) of operation 'tensor<4x8xf32>'}}
  %y = "resid.add_bias"(%f, %b) : (tensor<4x8xbf16>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @add_bias.C3_size(%f: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{expected bias of shape [8], that of the last dimensions, but got [4]}}
  %y = resid.add_bias %f, %b : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @add_bias.C3_does_not_broadcast(%f: tensor<4x8xf32>, %b: tensor<1xf32>) {
  // expected-error @+1 {{expected bias of shape [8], that of the last dimensions, but got [1]}}
  %y = resid.add_bias %f, %b : tensor<4x8xf32>, tensor<1xf32>
  return
}

// -----

func.func @add_bias.C3_rank(%f: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error @+1 {{expected bias of rank 1 but got 'tensor<4x8xf32>'}}
  %y = resid.add_bias %f, %b : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @add_bias.C4_f64_bias(%f: tensor<4x8xf32>, %b: tensor<8xf64>) {
  // expected-error @+1 {{expected bias of f16, bf16 or f32 beside f of 'f32', but got 'tensor<8xf64>'}}
  %y = resid.add_bias %f, %b : tensor<4x8xf32>, tensor<8xf64>
  return
}
