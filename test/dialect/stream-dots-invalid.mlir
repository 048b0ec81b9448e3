// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @stream_dots.C1_element(%a: tensor<?x4x8xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<?x4x8xi32>'}}
  %0 = "resid.stream_dots"(%a, %a) : (tensor<?x4x8xi32>, tensor<?x4x8xi32>) -> tensor<?x4x4xf32>
  return
}

// -----

func.func @stream_dots.C2_rank(%a: tensor<?x4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a and b of the same rows and features but got 'tensor<?x4x8xf32>' and 'tensor<4x8xf32>'}}
  %0 = resid.stream_dots %a, %b : tensor<?x4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @stream_dots.C2_features(%a: tensor<?x4x8xf32>, %b: tensor<?x4x9xf32>) {
  // expected-error @+1 {{expected a and b of the same rows and features but got 'tensor<?x4x8xf32>' and 'tensor<?x4x9xf32>'}}
  %0 = resid.stream_dots %a, %b : tensor<?x4x8xf32>, tensor<?x4x9xf32>
  return
}

// -----

func.func @stream_dots.C2_streams(%a: tensor<?x4x8xf32>, %b: tensor<?x17x8xf32>) {
  // expected-error @+1 {{expected b of rank 2 or more, whose last dimension but one is static and from 1 to 16, but got 'tensor<?x17x8xf32>'}}
  %0 = resid.stream_dots %a, %b : tensor<?x4x8xf32>, tensor<?x17x8xf32>
  return
}

// -----

func.func @stream_dots.C3_result(%a: tensor<?x4x8xf32>) {
  // expected-error @+1 {{expected a result of type 'tensor<?x4x4xf32>' but got 'tensor<?x4x4xf64>'}}
  %0 = "resid.stream_dots"(%a, %a) : (tensor<?x4x8xf32>, tensor<?x4x8xf32>) -> tensor<?x4x4xf64>
  return
}
