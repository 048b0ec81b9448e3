// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @embedding.C1_ids(%ids: tensor<i64>, %t: tensor<9x8xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of i32 or i64, of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<i64>'}}
  %0 = resid.embedding %ids, %t : tensor<i64>, tensor<9x8xf32>
  return
}

// -----

func.func @embedding.C1_table(%ids: tensor<4xi64>, %t: tensor<9x8xi64>) {
  // expected-error @+1 {{operand #1 must be ranked tensor of f16, bf16, f32 or f64, without an encoding and of at most 2^47 bytes, but got 'tensor<9x8xi64>'}}
  %0 = resid.embedding %ids, %t : tensor<4xi64>, tensor<9x8xi64>
  return
}

// -----

func.func @embedding.C2_rank(%ids: tensor<4xi64>, %t: tensor<9x8x2xf32>) {
  // expected-error @+1 {{expected a table of rank 2 but got 'tensor<9x8x2xf32>'}}
  %0 = resid.embedding %ids, %t : tensor<4xi64>, tensor<9x8x2xf32>
  return
}

// -----

func.func @embedding.C3_result(%ids: tensor<4xi64>, %t: tensor<9x8xf32>) {
  // expected-error @+1 {{expected a result of type 'tensor<4x8xf32>' but got 'tensor<?x8xf32>'}}
  %0 = "resid.embedding"(%ids, %t) : (tensor<4xi64>, tensor<9x8xf32>) -> tensor<?x8xf32>
  return
}
