// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @write.C1_element(%x: tensor<?x4x8xi32>, %y: tensor<?x8xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<?x4x8xi32>'}}
  %0 = resid.write %x, %y : tensor<?x4x8xi32>
  return
}

// -----

func.func @write.C2_streams(%x: tensor<?x?x8xf32>, %y: tensor<?x8xf32>) {
  // expected-error @+1 {{expected x of rank 2 or more, whose last dimension but one is static and from 1 to 16, but got 'tensor<?x?x8xf32>'}}
  %0 = resid.write %x, %y : tensor<?x?x8xf32>
  return
}

// -----

func.func @write.C2_branch(%x: tensor<?x4x8xf32>, %y: tensor<4x8xf32>) {
  // expected-error @+1 {{expected y of type 'tensor<?x8xf32>' but got 'tensor<4x8xf32>'}}
  %0 = "resid.write"(%x, %y) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<?x4x8xf32>, tensor<4x8xf32>) -> tensor<?x4x8xf32>
  return
}

// -----

func.func @write.C3_nothing(%x: tensor<?x4x8xf32>) {
  // expected-error @+1 {{expected y or a mix, and weights only with y, but got no y}}
  %0 = resid.write %x : tensor<?x4x8xf32>
  return
}

// -----

func.func @write.C3_weights(%x: tensor<?x4x8xf32>, %a: tensor<4x1xf32>) {
  // expected-error @+1 {{expected y or a mix, and weights only with y, but got no y}}
  %0 = resid.write %x weights(%a) mix(%a) : tensor<?x4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>
  return
}

// -----

func.func @write.C4_streams(%x: tensor<?x4x8xf32>, %y: tensor<?x8xf32>, %a: tensor<3x1xf32>) {
  // expected-error @+1 {{expected weights that broadcast to x, with one for each of 4 streams, but got 'tensor<3x1xf32>' beside 'tensor<?x4x8xf32>'}}
  %0 = resid.write %x, %y weights(%a) : tensor<?x4x8xf32>, tensor<3x1xf32>
  return
}

// -----

func.func @write.C5_rank(%x: tensor<?x4x8xf32>, %y: tensor<?x8xf32>, %c: tensor<2x?x4x4xf32>) {
  // expected-error @+1 {{expected a mix of 4x4 or 4x1, for all rows or for each row of 'tensor<?x4x8xf32>', but got 'tensor<2x?x4x4xf32>'}}
  %0 = resid.write %x, %y mix(%c) : tensor<?x4x8xf32>, tensor<2x?x4x4xf32>
  return
}

// -----

func.func @write.C5_size(%x: tensor<?x4x8xf32>, %y: tensor<?x8xf32>, %c: tensor<4x3xf32>) {
  // expected-error @+1 {{expected a mix of 4x4 or 4x1, for all rows or for each row of 'tensor<?x4x8xf32>', but got 'tensor<4x3xf32>'}}
  %0 = resid.write %x, %y mix(%c) : tensor<?x4x8xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @write.C5_rows(%x: tensor<5x4x8xf32>, %c: tensor<6x4x4xf32>) {
  // expected-error @+1 {{expected a mix of 4x4 or 4x1, for all rows or for each row of 'tensor<5x4x8xf32>', but got 'tensor<6x4x4xf32>'}}
  %0 = resid.write %x mix(%c) : tensor<5x4x8xf32>, tensor<6x4x4xf32>
  return
}

// -----

func.func @write.C6_result(%x: tensor<?x4x8xf32>, %y: tensor<?x8xf32>) {
  // expected-error @+1 {{expected a result of type 'tensor<?x4x8xf32>' or of f32 for narrower streams, but got 'tensor<?x4x8xf64>'}}
  %0 = resid.write %x, %y : tensor<?x4x8xf32> -> tensor<?x4x8xf64>
  return
}

// -----

func.func @write.C7_diagonal(%x: tensor<?x4x8xf32>, %y: tensor<?x8xf32>, %c: tensor<4x1xf32>) {
  // expected-error @+1 {{expected transposed only with a mix of n by n, but got 'tensor<4x1xf32>'}}
  %0 = resid.write %x, %y mix(%c) {transposed} : tensor<?x4x8xf32>, tensor<4x1xf32>
  return
}

// -----

func.func @write.C7_no_mix(%x: tensor<?x4x8xf32>, %y: tensor<?x8xf32>) {
  // expected-error @+1 {{expected transposed only with a mix of n by n, but got no mix}}
  %0 = resid.write %x, %y {transposed} : tensor<?x4x8xf32>
  return
}

// -----

func.func @write.C8_weights(%x: tensor<?x4x8xf32>, %y: tensor<?x8xf32>, %a: tensor<4x1xf64>) {
  // expected-error @+1 {{expected weights of f16, bf16 or f32 beside x of 'f32', but got 'tensor<4x1xf64>'}}
  %0 = resid.write %x, %y weights(%a) : tensor<?x4x8xf32>, tensor<4x1xf64>
  return
}

// -----

func.func @write.C8_mix(%x: tensor<?x4x8xf32>, %y: tensor<?x8xf32>, %c: tensor<4x4xf64>) {
  // expected-error @+1 {{expected mix of f16, bf16 or f32 beside x of 'f32', but got 'tensor<4x4xf64>'}}
  %0 = resid.write %x, %y mix(%c) : tensor<?x4x8xf32>, tensor<4x4xf64>
  return
}
