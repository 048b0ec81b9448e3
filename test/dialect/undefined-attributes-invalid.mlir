// RUN: resid-opt %s -split-input-file -verify-diagnostics
//
// An attribute that an op does not define is refused, with the name that was probably meant: it would otherwise leave the
// arithmetic as it is.

func.func @add(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{'resid.add' op expected an attribute that the op defines, but got 'branch_scal'; did you mean 'branch_scale'?}}
  %y = resid.add %x, %f {branch_scal = 0.5} : tensor<4x8xf32>
  return
}

// -----

func.func @generic_form(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{'resid.add' op expected an attribute that the op defines, but got 'skipScale'; did you mean 'skip_scale'?}}
  %y = "resid.add"(%x, %f) {branch_scale = 0.5, skipScale = 0.5} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// MLIR drops properties that it does not know.
func.func @properties(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{for op resid.add: expected an attribute that the op defines, but got 'branch_scal'; did you mean 'branch_scale'?}}
  %y = "resid.add"(%x, %f) <{branch_scal = 0.5}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @nothing_near(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{'resid.add' op expected 'branch_scale' or 'skip_scale', but got 'scale'}}
  %y = resid.add %x, %f {scale = 0.5} : tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>) {
  // expected-error @+1 {{'resid.layer_norm' op expected an attribute that the op defines, but got 'zero_centred_gamma'; did you mean 'zero_centered_gamma'?}}
  %y = resid.layer_norm %x gamma(%gamma) {epsilon = 1.0e-5, zero_centred_gamma} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

// As PyTorch has it; that epsilon is missing would come second.
func.func @rms_norm(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'resid.rms_norm' op expected an attribute that the op defines, but got 'eps'; did you mean 'epsilon'?}}
  %y = resid.rms_norm %x {eps = 1.0e-5} : tensor<4x8xf32>
  return
}

// -----

func.func @dyt(%x: tensor<4x8xf32>, %alpha: tensor<f32>) {
  // expected-error @+1 {{'resid.dyt' op expected 'narrow_affine' or 'zero_centered_gamma', but got 'epsilon'}}
  %y = resid.dyt %x alpha(%alpha) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<f32>
  return
}

// -----

func.func @dropout(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{'resid.dropout' op expected an attribute that the op defines, but got 'rate'; did you mean 'p'?}}
  %y = resid.dropout %x seed(%s, %s) {rate = 0.1, site = 0} : tensor<4x8xf32>
  return
}

// -----

func.func @add_bias(%x: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{'resid.add_bias' op expected no attribute without a dot in its name, but got 'scale'}}
  %y = resid.add_bias %x, %b {scale = 0.5} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @add_norm(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{'resid.add_norm' op expected an attribute that the op defines, but got 'branch_skale'; did you mean 'branch_scale'?}}
  %n, %s = resid.add_norm layer %x, %f {epsilon = 1.0e-5, branch_skale = 0.5} : tensor<4x8xf32>
  return
}

// -----

func.func @block(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'resid.block' op expected an attribute that the op defines, but got 'skip_scal'; did you mean 'skip_scale'?}}
  %y = resid.block pre %x norm(rms epsilon = 1.0e-5) {skip_scal = 1.2} : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @yield(%x: tensor<4x8xf32>) {
  %y = resid.block pre %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    // expected-error @+1 {{'resid.yield' op expected no attribute without a dot in its name, but got 'scale'}}
    resid.yield %h {scale = 0.5} : tensor<4x8xf32>
  }
  return
}

// -----

// Attributes of others have a dot; that of older versions of MLIR says how many operands each clause has.
func.func @allowed(%x: tensor<4x8xf32>, %b: tensor<8xf32>) {
  %y = resid.add %x, %x {mine.tag = "a", branch_scale = 0.5} : tensor<4x8xf32>
  %z = resid.add_bias %y, %b {mine.tag} : tensor<4x8xf32>, tensor<8xf32>
  %u = "resid.rms_norm"(%z) <{epsilon = 1.0e-5, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> {mine.tag}
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = "resid.rms_norm"(%u) {epsilon = 1.0e-5, operand_segment_sizes = array<i32: 1, 0, 0, 0>}
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %w = resid.block pre %v norm(rms epsilon = 1.0e-5) {mine.tag} : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h {mine.tag} : tensor<4x8xf32>
  }
  return
}

// -----

func.func @attention(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{'resid.attention' op expected an attribute that the op defines, but got 'is_causal'; did you mean 'causal'?}}
  %y = resid.attention %q, %q, %q {is_causal} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @sliding_window(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{'resid.attention' op expected an attribute that the op defines, but got 'sliding_window'; did you mean 'window'?}}
  %y = resid.attention %q, %q, %q {sliding_window = 4096 : i64} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @softcap(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{'resid.attention' op expected an attribute that the op defines, but got 'softcap'; did you mean 'cap'?}}
  %y = resid.attention %q, %q, %q {softcap = 30.0 : f64} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}
