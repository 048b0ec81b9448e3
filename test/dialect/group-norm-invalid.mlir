// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @group_norm.C1_gamma_encoding(%x: tensor<4x8xf32>, %g: tensor<8xf32, "mine">) {
  // expected-error @+1 {{operand #1 must be ranked tensor of f16, bf16, f32 or f64, without an encoding and of at most 2^47 bytes, but got 'tensor<8xf32, "mine">'}}
  %y = resid.group_norm %x gamma(%g) {epsilon = 1.0e-5, groups = 2} : tensor<4x8xf32>, tensor<8xf32, "mine">
  return
}

// -----

func.func @group_norm.C2_wider_result(%x: tensor<4x8xbf16>) {
  // expected-error @+1 {{expected result of shape [4, 8] and of 'bf16' or a narrower type, but got 'tensor<4x8xf32>'}}
  %y = resid.group_norm %x {epsilon = 1.0e-5, groups = 2} : tensor<4x8xbf16> -> tensor<4x8xf32>
  return
}

// -----

func.func @group_norm.C3_negative_epsilon(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected epsilon to be finite and not negative in 'f32' but got -1e-05}}
  %y = resid.group_norm %x {epsilon = -1.0e-5, groups = 2} : tensor<4x8xf32>
  return
}

// -----

func.func @group_norm_without_groups(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{requires attribute 'groups'}}
  %y = resid.group_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  return
}

// -----

func.func @group_norm.C4_no_group(%x: tensor<4x?xf32>) {
  // expected-error @+1 {{expected 1 group or more but got 0}}
  %y = resid.group_norm %x {epsilon = 1.0e-5, groups = 0} : tensor<4x?xf32>
  return
}

// -----

func.func @group_norm.C4_does_not_divide(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a number of groups that divides 8 but got 3}}
  %y = resid.group_norm %x {epsilon = 1.0e-5, groups = 3} : tensor<4x8xf32>
  return
}

// -----

func.func @group_norm.C4_does_not_divide_gamma(%x: tensor<4x?xf32>, %g: tensor<10xf32>) {
  // expected-error @+1 {{expected a number of groups that divides 10 but got 3}}
  %y = resid.group_norm %x gamma(%g) {epsilon = 1.0e-5, groups = 3} : tensor<4x?xf32>, tensor<10xf32>
  return
}

// -----

func.func @group_norm.C5_gamma_per_group(%x: tensor<4x8xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{expected gamma of shape [8], that of the last dimensions, but got [2]}}
  %y = resid.group_norm %x gamma(%g) {epsilon = 1.0e-5, groups = 2} : tensor<4x8xf32>, tensor<2xf32>
  return
}

// -----

func.func @group_norm.C5_gamma_rank(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>) {
  // expected-error @+1 {{expected gamma of rank 1 but got 'tensor<4x8xf32>'}}
  %y = resid.group_norm %x gamma(%g) {epsilon = 1.0e-5, groups = 2} : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @group_norm.C6_beta_alone(%x: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{expected gamma beside beta but got none}}
  %y = resid.group_norm %x beta(%b) {epsilon = 1.0e-5, groups = 2} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @group_norm.C7_f64_gamma(%x: tensor<4x8xf32>, %g: tensor<8xf64>) {
  // expected-error @+1 {{expected gamma of f16, bf16 or f32 beside x of 'f32', but got 'tensor<8xf64>'}}
  %y = resid.group_norm %x gamma(%g) {epsilon = 1.0e-5, groups = 2} : tensor<4x8xf32>, tensor<8xf64>
  return
}

// -----

func.func @group_norm.C8_zero_centered_without_gamma(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected gamma beside zero_centered_gamma but got none}}
  %y = resid.group_norm %x {epsilon = 1.0e-5, groups = 2, zero_centered_gamma} : tensor<4x8xf32>
  return
}

// -----

func.func @group_norm.C9_one_statistic(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected no statistics or 3 but got 1}}
  %y, %r = resid.group_norm %x {epsilon = 1.0e-5, groups = 2} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @group_norm.C9_statistics_of_rows(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected statistics of type 'tensor<4x2xf32>' but got 'tensor<4xf32>'}}
  %y, %m, %c, %r = resid.group_norm %x {epsilon = 1.0e-5, groups = 2}
      : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}
