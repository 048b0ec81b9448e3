// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @embedding_grad.C1_ids(%dy: tensor<4x8xf32>, %ids: tensor<4xi1>, %t: tensor<9x8xf32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor of i32 or i64, of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<4xi1>'}}
  %0 = resid.embedding_grad %dy, %ids like(%t) : tensor<4xi1>, tensor<9x8xf32>
  return
}

// -----

func.func @embedding_grad.C2_rank(%dy: tensor<4x8xf32>, %ids: tensor<4xi64>, %t: tensor<8xf32>) {
  // expected-error @+1 {{expected a table of rank 2 but got 'tensor<8xf32>'}}
  %0 = resid.embedding_grad %dy, %ids like(%t) : tensor<4xi64>, tensor<8xf32>
  return
}

// -----

func.func @embedding_grad.C3_dy(%dy: tensor<4x8xbf16>, %ids: tensor<4xi64>, %t: tensor<9x8xf32>) {
  // expected-error @+1 {{expected dy of type 'tensor<4x8xf32>' but got 'tensor<4x8xbf16>'}}
  %0 = "resid.embedding_grad"(%dy, %ids, %t) : (tensor<4x8xbf16>, tensor<4xi64>, tensor<9x8xf32>) -> tensor<9x8xf32>
  return
}

// -----

func.func @embedding_grad.C4_dtable(%dy: tensor<4x8xf32>, %ids: tensor<4xi64>, %t: tensor<9x8xf32>) {
  // expected-error @+1 {{expected dtable of the type of table, 'tensor<9x8xf32>', but got 'tensor<9x8xf64>'}}
  %0 = "resid.embedding_grad"(%dy, %ids, %t) : (tensor<4x8xf32>, tensor<4xi64>, tensor<9x8xf32>) -> tensor<9x8xf64>
  return
}
