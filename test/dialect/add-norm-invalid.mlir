// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @add_norm.C1_bytes(%x: tensor<9223372036854775807x2xf32>) {
  // expected-error @+1 {{of at most 2^47 bytes, but got 'tensor<9223372036854775807x2xf32>'}}
  %n, %s = resid.add_norm rms %x, %x {epsilon = 1.0e-5} : tensor<9223372036854775807x2xf32>
  return
}

// -----

func.func @add_norm.C2_branch_of_another_type(%x: tensor<4x8xf32>, %f: tensor<4x8xbf16>) {
  // expected-error @+1 {{expected f of the type of x, 'tensor<4x8xf32>', but got 'tensor<4x8xbf16>'}}
  %n, %s = "resid.add_norm"(%x, %f) <{kind = #resid<norm_kind rms>, epsilon = 1.0e-5, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> : (tensor<4x8xf32>, tensor<4x8xbf16>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @add_norm.C3_narrower_sum(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected sum of shape [4, 8] and of 'f32', but got 'tensor<4x8xbf16>'}}
  %n, %s = resid.add_norm rms %x, %f {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xbf16>, tensor<4x8xbf16>
  return
}

// -----

func.func @add_norm.C4_normalized_wider_than_the_sum(%x: tensor<4x8xbf16>, %f: tensor<4x8xbf16>) {
  // expected-error @+1 {{expected normalized of shape [4, 8] and of 'bf16' or a narrower type, but got 'tensor<4x8xf32>'}}
  %n, %s = resid.add_norm rms %x, %f {epsilon = 1.0e-5} : tensor<4x8xbf16> -> tensor<4x8xf32>, tensor<4x8xbf16>
  return
}

// -----

func.func @add_norm.C5_f64_bias(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %p: tensor<8xf64>) {
  // expected-error @+1 {{expected bias of f16, bf16 or f32 beside x of 'f32', but got 'tensor<8xf64>'}}
  %n, %s = resid.add_norm rms %x, %f bias(%p) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf64>
  return
}

// -----

func.func @add_norm.C5_f64_gate(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %p: tensor<8xf64>) {
  // expected-error @+1 {{expected gate of f16, bf16 or f32 beside x of 'f32', but got 'tensor<8xf64>'}}
  %n, %s = resid.add_norm rms %x, %f gate(%p) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf64>
  return
}

// -----

func.func @add_norm.C5_f64_gamma(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %p: tensor<8xf64>) {
  // expected-error @+1 {{expected gamma of f16, bf16 or f32 beside x of 'f32', but got 'tensor<8xf64>'}}
  %n, %s = resid.add_norm rms %x, %f gamma(%p) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf64>
  return
}

// -----

func.func @add_norm.C5_f64_alpha(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %a: tensor<f64>) {
  // expected-error @+1 {{expected alpha of f16, bf16 or f32 beside x of 'f32', but got 'tensor<f64>'}}
  %n, %s = resid.add_norm dyt %x, %f alpha(%a) : tensor<4x8xf32>, tensor<f64>
  return
}

// -----

func.func @add_norm.C5_f64_beta(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf64>) {
  // expected-error @+1 {{expected beta of f16, bf16 or f32 beside x of 'f32', but got 'tensor<8xf64>'}}
  %n, %s = resid.add_norm rms %x, %f gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf64>
  return
}

// -----

func.func @add_norm.C6_bias_size(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %b: tensor<1xf32>) {
  // expected-error @+1 {{expected bias of shape [8], that of the last dimensions, but got [1]}}
  %n, %s = resid.add_norm rms %x, %f bias(%b) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<1xf32>
  return
}

// -----

func.func @add_norm.C6_bias_rank(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error @+1 {{expected bias of rank 1 but got 'tensor<4x8xf32>'}}
  %n, %s = resid.add_norm rms %x, %f bias(%b) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C7_p_without_seed(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected seed, step, p and site together but got only p}}
  %n, %s = resid.add_norm rms %x, %f {epsilon = 1.0e-5, p = 0.1} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C7_dropout_without_site(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %i: i64) {
  // expected-error @+1 {{expected seed, step, p and site together but got only seed and step and p}}
  %n, %s = resid.add_norm rms %x, %f dropout(%i, %i) {epsilon = 1.0e-5, p = 0.1} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C7_seed_without_step(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %i: i64) {
  // expected-error @+1 {{expected seed, step, p and site together but got only seed and p and site}}
  %n, %s = "resid.add_norm"(%x, %f, %i) <{kind = #resid<norm_kind rms>, epsilon = 1.0e-5, p = 0.1, site = 0, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> : (tensor<4x8xf32>, tensor<4x8xf32>, i64) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @add_norm.C8_p(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %i: i64) {
  // expected-error @+1 {{expected p in [0, 1] but got 1.5}}
  %n, %s = resid.add_norm rms %x, %f dropout(%i, %i) {epsilon = 1.0e-5, p = 1.5, site = 0} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C9_site(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %i: i64) {
  // expected-error @+1 {{expected site in [0, 4294967296) but got -1}}
  %n, %s = resid.add_norm rms %x, %f dropout(%i, %i) {epsilon = 1.0e-5, p = 0.5, site = -1} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C10_origin_without_dropout(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %i: i64) {
  // expected-error @+1 {{expected a dropout clause beside origin but got none}}
  %n, %s = resid.add_norm rms %x, %f origin(%i, %i) {epsilon = 1.0e-5} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C10_half_an_origin(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %i: i64) {
  // expected-error @+1 {{expected origin_row and origin_site together but got only origin_site}}
  %n, %s = "resid.add_norm"(%x, %f, %i, %i, %i) <{kind = #resid<norm_kind rms>, epsilon = 1.0e-5, p = 0.1, site = 0, operandSegmentSizes = array<i32: 1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> : (tensor<4x8xf32>, tensor<4x8xf32>, i64, i64, i64) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @add_norm.C11_rows(%x: tensor<4294967297x8xf32>, %i: i64) {
  // expected-error @+1 {{expected at most 4294967296 rows under dropout but got 4294967297}}
  %n, %s = resid.add_norm rms %x, %x dropout(%i, %i) {epsilon = 1.0e-5, p = 0.5, site = 0} : tensor<4294967297x8xf32>
  return
}

// -----

func.func @add_norm.C12_gate_size(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{expected a gate that broadcasts to shape [4, 8] but got [4]}}
  %n, %s = resid.add_norm rms %x, %f gate(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @add_norm.C13_skip_scale(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected skip_scale to be finite in 'f32' but got nan}}
  %n, %s = resid.add_norm rms %x, %f {epsilon = 1.0e-5, skip_scale = 0x7FF8000000000000 : f64} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C13_branch_scale(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected branch_scale to be finite in 'f32' but got nan}}
  %n, %s = resid.add_norm rms %x, %f {epsilon = 1.0e-5, branch_scale = 0x7FF8000000000000 : f64} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C14_dyt_without_alpha(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected an alpha for dyt but got none}}
  %n, %s = resid.add_norm dyt %x, %f : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C14_layer_with_alpha(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %a: tensor<f32>) {
  // expected-error @+1 {{expected no alpha for layer but got one}}
  %n, %s = resid.add_norm layer %x, %f alpha(%a) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<f32>
  return
}

// -----

func.func @add_norm.C14_alpha_of_rank_1(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %a: tensor<1xf32>) {
  // expected-error @+1 {{expected alpha of rank 0 but got 'tensor<1xf32>'}}
  %n, %s = resid.add_norm dyt %x, %f alpha(%a) : tensor<4x8xf32>, tensor<1xf32>
  return
}

// -----

func.func @add_norm.C15_layer_without_epsilon(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected an epsilon for layer but got none}}
  %n, %s = resid.add_norm layer %x, %f : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C15_dyt_with_epsilon(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %a: tensor<f32>) {
  // expected-error @+1 {{expected no epsilon for dyt but got one}}
  %n, %s = resid.add_norm dyt %x, %f alpha(%a) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<f32>
  return
}

// -----

func.func @add_norm.C15_vanishing_epsilon(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected epsilon to be 0 or to stay above 0 in 'f32' but got 1e-60}}
  %n, %s = resid.add_norm rms %x, %f {epsilon = 1.0e-60} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C16_normalised_dimensions(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected between 1 and 2 normalised dimensions but got 3}}
  %n, %s = resid.add_norm rms %x, %f {epsilon = 1.0e-5, norm_rank = 3} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C17_norm_rank_beside_gamma(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected norm_rank to be left out or to be 1 but got 2}}
  %n, %s = resid.add_norm rms %x, %f gamma(%g) {epsilon = 1.0e-5, norm_rank = 2} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @add_norm.C17_norm_rank_for_dyt(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %a: tensor<f32>) {
  // expected-error @+1 {{expected norm_rank to be left out or to be 1 but got 2}}
  %n, %s = resid.add_norm dyt %x, %f alpha(%a) {norm_rank = 2} : tensor<4x8xf32>, tensor<f32>
  return
}

// -----

func.func @add_norm.C18_gamma_size(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{expected gamma of shape [8], that of the last dimensions, but got [4]}}
  %n, %s = resid.add_norm rms %x, %f gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @add_norm.C19_beta_without_gamma(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{expected gamma beside beta but got none}}
  %n, %s = resid.add_norm rms %x, %f beta(%b) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @add_norm.C19_beta_size(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<9xf32>) {
  // expected-error @+1 {{expected beta of shape [8], that of the last dimensions, but got [9]}}
  %n, %s = resid.add_norm rms %x, %f gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>, tensor<9xf32>
  return
}

// -----

func.func @add_norm.C20_narrow_affine_without_gamma(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected gamma beside narrow_affine but got none}}
  %n, %s = resid.add_norm rms %x, %f {epsilon = 1.0e-5, narrow_affine} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C20_zero_centered_without_gamma(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected gamma beside zero_centered_gamma but got none}}
  %n, %s = resid.add_norm rms %x, %f {epsilon = 1.0e-5, zero_centered_gamma} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C21_one_statistic_of_layer(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected no statistics or 3 but got 1}}
  %n, %s, %r = resid.add_norm layer %x, %f {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @add_norm.C21_three_statistics_of_rms(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected no statistics or 1 but got 3}}
  %n, %s, %r:3 = resid.add_norm rms %x, %f {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @add_norm.C21_a_statistic_of_dyt(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %a: tensor<f32>) {
  // expected-error @+1 {{expected no statistics but got 1}}
  %n, %s, %r = resid.add_norm dyt %x, %f alpha(%a) : tensor<4x8xf32>, tensor<f32> -> tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @add_norm.C21_statistics_type(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected statistics of type 'tensor<4xf32>' but got 'tensor<8xf32>'}}
  %n, %s, %r = resid.add_norm rms %x, %f {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @add_norm_one_result_type(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected at least two result types (normalized, sum) after '->', but got 1}}
  %n, %s = resid.add_norm rms %x, %f {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @add_norm_unknown_kind(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected the norm kind 'layer', 'rms', 'dyt', 'group' or 'l2', but got 'batch'}}
  %n, %s = resid.add_norm batch %x, %f {epsilon = 1.0e-5} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C22_group_without_groups(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected groups for group but got none}}
  %n, %s = resid.add_norm group %x, %f {epsilon = 1.0e-5} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C22_groups_for_layer(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected no groups for layer but got some}}
  %n, %s = resid.add_norm layer %x, %f {epsilon = 1.0e-5, groups = 2} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C22_does_not_divide(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a number of groups that divides 8 but got 3}}
  %n, %s = resid.add_norm group %x, %f {epsilon = 1.0e-5, groups = 3} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C17_group_over_two_dimensions(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected norm_rank to be left out or to be 1 but got 2}}
  %n, %s = resid.add_norm group %x, %f {epsilon = 1.0e-5, groups = 2, norm_rank = 2} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C23_column(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %i: i64) {
  %c = arith.constant 4 : i64
  // expected-error @+1 {{expected origin_col to be a multiple of 8 but got 4}}
  %n, %s = resid.add_norm rms %x, %f dropout(%i, %i) origin(%i, %i, %c) {epsilon = 1.0e-5, p = 0.1, site = 0} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C23_extent_without_dropout(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %i: i64) {
  // expected-error @+1 {{expected a dropout clause beside an extent but got none}}
  %n, %s = resid.add_norm rms %x, %f extent(%i, %i) {epsilon = 1.0e-5} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm.C12_skip(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{expected a skip that broadcasts to shape [4, 8] but got [4]}}
  %y, %t = resid.add_norm rms %x, %x skip(%s) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<4xf32>
  return
}
