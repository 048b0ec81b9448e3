// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @read.C1_element(%x: tensor<?x4x8xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<?x4x8xi32>'}}
  %0 = resid.read %x : tensor<?x4x8xi32>
  return
}

// -----

func.func @read.C2_rank(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected x of rank 2 or more, whose last dimension but one is static and from 1 to 16, but got 'tensor<8xf32>'}}
  %0 = "resid.read"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @read.C2_dynamic(%x: tensor<2x?x8xf32>) {
  // expected-error @+1 {{expected x of rank 2 or more, whose last dimension but one is static and from 1 to 16, but got 'tensor<2x?x8xf32>'}}
  %0 = resid.read %x : tensor<2x?x8xf32>
  return
}

// -----

func.func @read.C2_many(%x: tensor<17x8xf32>) {
  // expected-error @+1 {{expected x of rank 2 or more, whose last dimension but one is static and from 1 to 16, but got 'tensor<17x8xf32>'}}
  %0 = resid.read %x : tensor<17x8xf32>
  return
}

// -----

func.func @read.C3_streams(%x: tensor<?x4x8xf32>, %a: tensor<3x1xf32>) {
  // expected-error @+1 {{expected weights that broadcast to x, with one for each of 4 streams, but got 'tensor<3x1xf32>' beside 'tensor<?x4x8xf32>'}}
  %0 = resid.read %x weights(%a) : tensor<?x4x8xf32>, tensor<3x1xf32>
  return
}

// -----

func.func @read.C3_features(%x: tensor<?x4x8xf32>, %a: tensor<4x7xf32>) {
  // expected-error @+1 {{expected weights that broadcast to x, with one for each of 4 streams, but got 'tensor<4x7xf32>' beside 'tensor<?x4x8xf32>'}}
  %0 = resid.read %x weights(%a) : tensor<?x4x8xf32>, tensor<4x7xf32>
  return
}

// -----

func.func @read.C3_rank(%x: tensor<?x4x8xf32>, %a: tensor<8xf32>) {
  // expected-error @+1 {{expected weights that broadcast to x, with one for each of 4 streams, but got 'tensor<8xf32>' beside 'tensor<?x4x8xf32>'}}
  %0 = resid.read %x weights(%a) : tensor<?x4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @read.C3_large(%x: tensor<?x4x8xf32>, %a: tensor<1x?x4x8xf32>) {
  // expected-error @+1 {{expected weights that broadcast to x, with one for each of 4 streams, but got 'tensor<1x?x4x8xf32>' beside 'tensor<?x4x8xf32>'}}
  %0 = resid.read %x weights(%a) : tensor<?x4x8xf32>, tensor<1x?x4x8xf32>
  return
}

// -----

func.func @read.C4_shape(%x: tensor<?x4x8xf32>) {
  // expected-error @+1 {{expected a result of type 'tensor<?x8xf32>' or of f32 for narrower streams, but got 'tensor<?x4xf32>'}}
  %0 = resid.read %x : tensor<?x4x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @read.C4_element(%x: tensor<?x4x8xf32>) {
  // expected-error @+1 {{expected a result of type 'tensor<?x8xf32>' or of f32 for narrower streams, but got 'tensor<?x8xbf16>'}}
  %0 = resid.read %x : tensor<?x4x8xf32> -> tensor<?x8xbf16>
  return
}

// -----

func.func @read.C5_f64(%x: tensor<?x4x8xf32>, %a: tensor<4x1xf64>) {
  // expected-error @+1 {{expected weights of f16, bf16 or f32 beside x of 'f32', but got 'tensor<4x1xf64>'}}
  %0 = resid.read %x weights(%a) : tensor<?x4x8xf32>, tensor<4x1xf64>
  return
}

// -----

func.func @read.C6_scale(%x: tensor<?x4x8xf32>) {
  // expected-error @+1 {{expected scale to be finite in 'f32' but got 1e+300}}
  %0 = resid.read %x {scale = 1.0e300} : tensor<?x4x8xf32>
  return
}
