// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @sinkhorn.C1_element(%l: tensor<?x4x4xbf16>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f32 or f64, without an encoding and of at most 2^47 bytes, but got 'tensor<?x4x4xbf16>'}}
  %0 = resid.sinkhorn %l {iterations = 2, epsilon = 0.0} : tensor<?x4x4xbf16>
  return
}

// -----

func.func @sinkhorn.C2_square(%l: tensor<?x4x3xf32>) {
  // expected-error @+1 {{expected logits of rank 2 or more, whose last two dimensions are static and equal, but got 'tensor<?x4x3xf32>'}}
  %0 = resid.sinkhorn %l {iterations = 2, epsilon = 0.0} : tensor<?x4x3xf32>
  return
}

// -----

func.func @sinkhorn.C2_dynamic(%l: tensor<?x?xf32>) {
  // expected-error @+1 {{expected logits of rank 2 or more, whose last dimension but one is static and from 1 to 16, but got 'tensor<?x?xf32>'}}
  %0 = resid.sinkhorn %l {iterations = 2, epsilon = 0.0} : tensor<?x?xf32>
  return
}

// -----

func.func @sinkhorn.C3_none(%l: tensor<4x4xf32>) {
  // expected-error @+1 {{expected 1 to 1000 iterations but got 0}}
  %0 = resid.sinkhorn %l {iterations = 0, epsilon = 0.0} : tensor<4x4xf32>
  return
}

// -----

func.func @sinkhorn.C4_negative(%l: tensor<4x4xf32>) {
  // expected-error @+1 {{expected epsilon to be finite and not negative in 'f32' but got -1}}
  %0 = resid.sinkhorn %l {iterations = 1, epsilon = -1.0} : tensor<4x4xf32>
  return
}
