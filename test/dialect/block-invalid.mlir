// RUN: resid-opt %s -split-input-file -verify-diagnostics
// Each constraint of resid.block, by its number, and what the text refuses.

func.func @block.text_unknown_placement(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected the placement 'post', 'pre', 'branch_post', 'peri', 'post_shifted' or 'none', but got 'sandwich'}}
  %y = resid.block sandwich %x : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.text_unknown_norm(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected the norm kind 'layer', 'rms', 'dyt', 'group' or 'l2', but got 'batch'}}
  %y = resid.block post %x norm(batch epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.text_clause_among_the_attributes(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected 'p' in its clause but got it among the attributes}}
  %y = resid.block none %x {p = 0.5} : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C1_encoding(%x: tensor<4x8xi32>, %z: i64) {
  // expected-error @+1 {{ranked tensor of f16, bf16, f32 or f64}}
  %y = resid.block none %x : tensor<4x8xi32> {
  ^bb0(%h: tensor<4x8xi32>):
    "resid.yield"(%h) : (tensor<4x8xi32>) -> ()
  }
  return
}

// -----

func.func @block.C2_post_without_norm(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected 1 norm for placement post but got 0}}
  %y = resid.block post %x : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C2_peri_with_one_norm(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected 2 norms for placement peri but got 1}}
  %y = resid.block peri %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C2_none_with_a_norm(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected 0 norms for placement none but got 1}}
  %y = resid.block none %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C4_negative_epsilon(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected epsilon to be finite and not negative in }}
  %y = resid.block post %x norm(rms epsilon = -1.0) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C5_alpha_of_rank_one(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected alpha of rank 0 but got }}
  %y = resid.block post %x norm(dyt alpha %g : tensor<8xf32>) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C5_gamma_of_another_size(%x: tensor<4x8xf32>, %g: tensor<7xf32>) {
  // expected-error @+1 {{expected gamma of shape [8]}}
  %y = resid.block post %x norm(rms gamma %g : tensor<7xf32> epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C5_beta_without_gamma(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected gamma beside beta but got none}}
  %y = resid.block post %x norm(rms beta %g : tensor<8xf32> epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C5_norm_rank_beside_gamma(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected norm_rank to be left out or to be 1 but got 2}}
  %y = resid.block post %x norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-5 norm_rank = 2) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C5_norm_rank_of_zero(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected between 1 and 2 normalised dimensions but got 0}}
  %y = resid.block post %x norm(rms epsilon = 1.0e-5 norm_rank = 0) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C5_norm_rank_of_dyt(%x: tensor<4x8xf32>, %a: tensor<f32>) {
  // expected-error @+1 {{expected norm_rank to be left out or to be 1 but got 2}}
  %y = resid.block post %x norm(dyt alpha %a : tensor<f32> norm_rank = 2) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C6_zero_centered_without_gamma(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected gamma beside zero_centered_gamma but got none}}
  %y = resid.block post %x norm(rms epsilon = 1.0e-5 zero_centered_gamma) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C6_narrow_affine_without_gamma(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected gamma beside narrow_affine but got none}}
  %y = resid.block post %x norm(rms epsilon = 1.0e-5) {narrow_affine} : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C7_probability(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected p in [0, 1] but got 1.5}}
  %y = resid.block none %x dropout(1.5, site 0, seed %s, step %s) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C7_site(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected site in [0, 4294967296) but got -1}}
  %y = resid.block none %x dropout(0.5, site -1, seed %s, step %s) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C8_gate_of_another_size(%x: tensor<4x8xf32>, %w: tensor<7xf32>) {
  // expected-error @+1 {{expected a gate that broadcasts to shape [4, 8] but got [7]}}
  %y = resid.block none %x gate(%w : tensor<7xf32>) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C8_scale_is_infinite(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected branch_scale to be finite in }}
  %y = resid.block none %x {branch_scale = 0x7FF0000000000000 : f64} : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C9_gamma_of_f64(%x: tensor<4x8xf32>, %g: tensor<8xf64>) {
  // expected-error @+1 {{expected gamma of f16, bf16 or f32 beside x of }}
  %y = resid.block post %x norm(rms gamma %g : tensor<8xf64> epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C9_gate_of_f64(%x: tensor<4x8xf32>, %w: tensor<8xf64>) {
  // expected-error @+1 {{expected gate of f16, bf16 or f32 beside x of }}
  %y = resid.block none %x gate(%w : tensor<8xf64>) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C10_two_arguments(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a branch with 1 argument but got 2}}
  %y = resid.block none %x : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>, %k: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C10_input_of_another_shape(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a branch that takes 'tensor<4x8xf32>' but got 'tensor<4x7xf32>'}}
  %y = resid.block none %x : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x7xf32>):
    resid.yield %x : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C10_narrow_input_without_norm_before_the_branch(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a branch that takes 'tensor<4x8xf32>' but got 'tensor<4x8xbf16>'}}
  %y = resid.block post %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xbf16>):
    resid.yield %x : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C10_wider_input(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a branch that takes 'tensor<4x8xf32>' or a narrower element type but got 'tensor<4x8xf64>'}}
  %y = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf64>):
    resid.yield %x : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C11_narrow_yield(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a branch that yields 'tensor<4x8xf32>' but got 'tensor<4x8xbf16>'}}
  %y = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xbf16>):
    resid.yield %h : tensor<4x8xbf16>
  }
  return
}

// -----

func.func @block.C11_another_terminator(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a branch that ends in resid.yield but got llvm.unreachable}}
  %y = resid.block none %x : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    llvm.unreachable
  }
  return
}

// -----

func.func @block.C3_parameter_too_many(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected 0 norm parameters but got 1}}
  %y = "resid.block"(%x, %g) <{placement = #resid<placement none>, norms = [], operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @block.C4_layer_without_epsilon(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected an epsilon for layer but got none}}
  %y = "resid.block"(%x) <{placement = #resid<placement post>, norms = [#resid.norm<kind = layer>], operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @block.C7_seed_without_p(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected seed, step, p and site together but got only seed and step}}
  %y = "resid.block"(%x, %s, %s) <{placement = #resid<placement none>, norms = [], operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }) : (tensor<4x8xf32>, i64, i64) -> tensor<4x8xf32>
  return
}

// -----

func.func @block.C7_origin_without_dropout(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected a dropout clause beside origin but got none}}
  %y = "resid.block"(%x, %s, %s) <{placement = #resid<placement none>, norms = [], operandSegmentSizes = array<i32: 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }) : (tensor<4x8xf32>, i64, i64) -> tensor<4x8xf32>
  return
}

// -----

func.func @yield_outside_a_block(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects parent op 'resid.block'}}
  resid.yield %x : tensor<4x8xf32>
}

// -----

// In generic form only; block.C4.
func.func @epsilon_type(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'resid.block' op expected epsilon of f64 but got 1.562500e-02 : f32}}
  %y = "resid.block"(%x) <{norms = [#resid.norm<kind = layer, epsilon = 1.562500e-02 : f32>], operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>,
                           placement = #resid<placement post>}> ({
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @block.C12_does_not_divide(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a number of groups that divides 8 but got 3}}
  %y = resid.block post %x norm(group epsilon = 1.0e-5 groups = 3) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C12_groups_for_rms(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected no groups for rms but got some}}
  %y = "resid.block"(%x) <{placement = #resid<placement post>, norms = [#resid.norm<kind = rms, epsilon = 1.0e-5 : f64, groups = 2 : i64>], operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @block.C12_groups_of_i32(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected groups of i64 but got 2 : i32}}
  %y = "resid.block"(%x) <{placement = #resid<placement post>, norms = [#resid.norm<kind = group, epsilon = 1.0e-5 : f64, groups = 2 : i32>], operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @block.C13_column(%x: tensor<4x8xf32>, %s: i64) {
  %c = arith.constant 9 : i64
  // expected-error @+1 {{expected origin_col to be a multiple of 8 but got 9}}
  %y = resid.block none %x dropout(0.5, site 0, seed %s, step %s, origin %s %s %c) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C13_extent(%x: tensor<4x8xf32>, %s: i64) {
  %c = arith.constant 0 : i64
  // expected-error @+1 {{expected extent_local of at least 1 but got 0}}
  %y = resid.block none %x dropout(0.5, site 0, seed %s, step %s, origin %s %s, extent %c %s) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C14_weights_without_streams(%x: tensor<4x3x8xf32>, %a: tensor<3x1xf32>) {
  // expected-error @+1 {{expected weights of a read only in a clause streams but got 'tensor<3x1xf32>'}}
  %y = "resid.block"(%x, %a) <{placement = #resid<placement none>, norms = [], operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0>}> ({
  ^bb0(%h: tensor<4x3x8xf32>):
    resid.yield %h : tensor<4x3x8xf32>
  }) : (tensor<4x3x8xf32>, tensor<3x1xf32>) -> tensor<4x3x8xf32>
  return
}

// -----

func.func @block.C14_read_scale_without_streams(%x: tensor<4x3x8xf32>) {
  // expected-error @+1 {{expected read_scale only beside a clause streams but got 0.5}}
  %y = resid.block none %x {read_scale = 0.5} : tensor<4x3x8xf32> {
  ^bb0(%h: tensor<4x3x8xf32>):
    resid.yield %h : tensor<4x3x8xf32>
  }
  return
}

// -----

func.func @block.C14_dynamic_streams(%x: tensor<4x?x8xf32>) {
  // expected-error @+1 {{expected x of rank 2 or more, whose last dimension but one is static and from 1 to 16, but got 'tensor<4x?x8xf32>'}}
  %y = resid.block none %x streams() : tensor<4x?x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C14_weights_of_other_streams(%x: tensor<4x3x8xf32>, %a: tensor<2x1xf32>) {
  // expected-error @+1 {{expected weights that broadcast to x, with one for each of 3 streams, but got 'tensor<2x1xf32>' beside 'tensor<4x3x8xf32>'}}
  %y = resid.block none %x streams(write %a : tensor<2x1xf32>) : tensor<4x3x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C14_mix_of_other_streams(%x: tensor<4x3x8xf32>, %c: tensor<3x2xf32>) {
  // expected-error @+1 {{expected a mix of 3x3 or 3x1, for all rows or for each row of 'tensor<4x3x8xf32>', but got 'tensor<3x2xf32>'}}
  %y = resid.block none %x streams(mix %c : tensor<3x2xf32>) : tensor<4x3x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C15_norm_of_the_streams(%x: tensor<4x3x8xf32>) {
  // expected-error @+1 {{expected placement pre, branch_post, peri or none beside 3 streams, since a norm of each stream does not commute with the read, but got post}}
  %y = resid.block post %x norm(rms epsilon = 1.0e-6) streams() : tensor<4x3x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C16_skip_scale(%x: tensor<4x3x8xf32>) {
  // expected-error @+1 {{expected no skip_scale beside streams, since the mix says what is kept, but got 0.5}}
  %y = resid.block none %x streams() {skip_scale = 0.5} : tensor<4x3x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block_streams_out_of_order(%x: tensor<4x3x8xf32>, %a: tensor<3x1xf32>) {
  // expected-error @+1 {{expected write or mix after ',', in the order read, write, mix}}
  %y = resid.block none %x streams(write %a : tensor<3x1xf32>, read %a : tensor<3x1xf32>) : tensor<4x3x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C10_argument_of_all_streams(%x: tensor<4x3x8xf32>) {
  // expected-error @+1 {{expected a branch that takes 'tensor<4x8xf32>' but got 'tensor<4x3x8xf32>'}}
  %y = resid.block none %x streams() : tensor<4x3x8xf32> {
  ^bb0(%h: tensor<4x3x8xf32>):
    resid.yield %h : tensor<4x3x8xf32>
  }
  return
}

// -----

func.func @block_streams_of_another_word(%x: tensor<4x3x8xf32>) {
  // expected-error @+1 {{expected read, write, mix or ')'}}
  %y = resid.block none %x streams(scale) : tensor<4x3x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C8_skip(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{expected a skip that broadcasts to shape [4, 8] but got [4]}}
  %y = resid.block none %x skip(%s : tensor<4xf32>) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C16_skip(%x: tensor<4x2x8xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{expected no skip beside streams, since the mix says what is kept, but got 'tensor<f32>'}}
  %y = resid.block none %x skip(%s : tensor<f32>) streams() : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C16_also(%x: tensor<4x2x8xf32>) {
  // expected-error @+1 {{expected no also beside streams, since the mix says what is kept, but got 'tensor<4x2x8xf32>'}}
  %y = resid.block none %x also(%x) streams() : tensor<4x2x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}
