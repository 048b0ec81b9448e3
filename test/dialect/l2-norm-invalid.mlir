// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @l2_norm.C1_gamma_encoding(%x: tensor<4x8xf32>, %g: tensor<8xf32, "mine">) {
  // expected-error @+1 {{operand #1 must be ranked tensor of f16, bf16, f32 or f64, without an encoding and of at most 2^47 bytes, but got 'tensor<8xf32, "mine">'}}
  %y = resid.l2_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32, "mine">
  return
}

// -----

func.func @l2_norm.C2_wider_result(%x: tensor<4x8xbf16>) {
  // expected-error @+1 {{expected result of shape [4, 8] and of 'bf16' or a narrower type, but got 'tensor<4x8xf32>'}}
  %y = resid.l2_norm %x {epsilon = 1.0e-5} : tensor<4x8xbf16> -> tensor<4x8xf32>
  return
}

// -----

func.func @l2_norm.C2_other_half(%x: tensor<4x8xbf16>) {
  // expected-error @+1 {{expected result of shape [4, 8] and of 'bf16' or a narrower type, but got 'tensor<4x8xf16>'}}
  %y = resid.l2_norm %x {epsilon = 1.0e-5} : tensor<4x8xbf16> -> tensor<4x8xf16>
  return
}

// -----

func.func @l2_norm.C2_result_shape(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected result of shape [4, 8] and of 'f32' or a narrower type, but got 'tensor<4x9xf32>'}}
  %y = resid.l2_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x9xf32>
  return
}

// -----

func.func @l2_norm_without_epsilon(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{requires attribute 'epsilon'}}
  %y = resid.l2_norm %x : tensor<4x8xf32>
  return
}

// -----

func.func @l2_norm.C3_negative_epsilon(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected epsilon to be finite and not negative in 'f32' but got -1e-05}}
  %y = resid.l2_norm %x {epsilon = -1.0e-5} : tensor<4x8xf32>
  return
}

// -----

func.func @l2_norm.C3_infinite_epsilon(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected epsilon to be finite and not negative in 'f32' but got inf}}
  %y = resid.l2_norm %x {epsilon = 0x7FF0000000000000 : f64} : tensor<4x8xf32>
  return
}

// -----

func.func @l2_norm.C3_epsilon_not_a_number(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected epsilon to be finite and not negative in 'f32' but got nan}}
  %y = resid.l2_norm %x {epsilon = 0x7FF8000000000000 : f64} : tensor<4x8xf32>
  return
}

// -----

// 1e-60 is above 0 in f64, and 0 itself may be written; in f32 1e-60 would silently become 0.
func.func @l2_norm.C3_vanishing_epsilon(%x: tensor<4x8xf32>, %d: tensor<4x8xf64>) {
  %0 = resid.l2_norm %d {epsilon = 1.0e-60} : tensor<4x8xf64>
  %1 = resid.l2_norm %x {epsilon = 0.0} : tensor<4x8xf32>
  // expected-error @+1 {{expected epsilon to be 0 or to stay above 0 in 'f32' but got 1e-60}}
  %y = resid.l2_norm %x {epsilon = 1.0e-60} : tensor<4x8xf32>
  return
}

// -----

func.func @l2_norm.C4_no_dimension(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected between 1 and 2 normalised dimensions but got 0}}
  %y = resid.l2_norm %x {epsilon = 1.0e-5, norm_rank = 0} : tensor<4x8xf32>
  return
}

// -----

func.func @l2_norm.C4_more_than_the_rank(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected between 1 and 2 normalised dimensions but got 3}}
  %y = resid.l2_norm %x {epsilon = 1.0e-5, norm_rank = 3} : tensor<4x8xf32>
  return
}

// -----

func.func @l2_norm.C4_gamma_of_rank_0(%x: tensor<4x8xf32>, %g: tensor<f32>) {
  // expected-error @+1 {{expected between 1 and 2 normalised dimensions but got 0}}
  %y = resid.l2_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<f32>
  return
}

// -----

func.func @l2_norm.C5_norm_rank_beside_gamma(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected norm_rank of at most gamma's rank, 1, but got 2}}
  %y = resid.l2_norm %x gamma(%g) {epsilon = 1.0e-5, norm_rank = 2} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @l2_norm.C6_gamma_size(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{expected gamma of shape [8], that of the last dimensions, but got [4]}}
  %y = resid.l2_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @l2_norm.C6_gamma_does_not_broadcast(%x: tensor<4x8xf32>, %g: tensor<1x8xf32>) {
  // expected-error @+1 {{expected gamma of shape [4, 8], that of the last dimensions, but got [1, 8]}}
  %y = resid.l2_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<1x8xf32>
  return
}

// -----

func.func @l2_norm.C7_beta_without_gamma(%x: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{expected gamma beside beta but got none}}
  %y = resid.l2_norm %x beta(%b) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @l2_norm.C7_beta_rank(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<4x8xf32>) {
  // expected-error @+1 {{expected beta of rank 1 but got 'tensor<4x8xf32>'}}
  %y = resid.l2_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @l2_norm.C7_beta_size(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<9xf32>) {
  // expected-error @+1 {{expected beta of shape [8], that of the last dimensions, but got [9]}}
  %y = resid.l2_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>, tensor<9xf32>
  return
}

// -----

func.func @l2_norm.C8_f64_gamma(%x: tensor<4x8xf32>, %g: tensor<8xf64>) {
  // expected-error @+1 {{expected gamma of f16, bf16 or f32 beside x of 'f32', but got 'tensor<8xf64>'}}
  %y = resid.l2_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf64>
  return
}

// -----

func.func @l2_norm.C8_f64_beta(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf64>) {
  // expected-error @+1 {{expected beta of f16, bf16 or f32 beside x of 'f32', but got 'tensor<8xf64>'}}
  %y = resid.l2_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf64>
  return
}

// -----

func.func @l2_norm.C9_zero_centered_without_gamma(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected gamma beside zero_centered_gamma but got none}}
  %y = resid.l2_norm %x {epsilon = 1.0e-5, zero_centered_gamma} : tensor<4x8xf32>
  return
}

// -----

func.func @l2_norm.C9_narrow_affine_without_gamma(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected gamma beside narrow_affine but got none}}
  %y = resid.l2_norm %x {epsilon = 1.0e-5, narrow_affine} : tensor<4x8xf32>
  return
}

// -----

func.func @l2_norm.C10_number_of_statistics(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected no statistics or 1 but got 3}}
  %y:4 = resid.l2_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @l2_norm.C10_statistics_keep_no_dimension(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected statistics of type 'tensor<4xf32>' but got 'tensor<4x1xf32>'}}
  %y:2 = resid.l2_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4x1xf32>
  return
}

// -----

func.func @l2_norm.C10_statistics_of_f64(%x: tensor<4x8xf64>) {
  // expected-error @+1 {{expected statistics of type 'tensor<4xf64>' but got 'tensor<4xf32>'}}
  %y:2 = resid.l2_norm %x {epsilon = 1.0e-5} : tensor<4x8xf64> -> tensor<4x8xf64>, tensor<4xf32>
  return
}

// -----

func.func @l2_norm.C10_statistics_of_two_dimensions(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected statistics of type 'tensor<f32>' but got 'tensor<4xf32>'}}
  %y:2 = resid.l2_norm %x {epsilon = 1.0e-5, norm_rank = 2} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
  return
}
