// RUN: resid-opt %s -split-input-file -verify-diagnostics
//
// Slips in the text of ops, and the messages that name them.

func.func @type_of_gamma(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>) {
  // expected-error @+1 {{expected 2 types (x, gamma), but got 1: that of gamma is missing}}
  %y = resid.layer_norm %x gamma(%gamma) {epsilon = 1.0e-5} : tensor<4x8xf32>
  return
}

// -----

func.func @type_of_beta(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>) {
  // expected-error @+1 {{expected 3 types (x, gamma, beta), but got 2: that of beta is missing}}
  %y = resid.rms_norm %x gamma(%gamma) beta(%gamma) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @type_of_gate(%x: tensor<4x8xf32>, %gate: tensor<8xf32>) {
  // expected-error @+1 {{expected 2 types (x and f, gate), but got 1: that of gate is missing}}
  %y = resid.add %x, %x gate(%gate) : tensor<4x8xf32>
  return
}

// -----

func.func @type_of_f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected 1 type (x and f), but got more}}
  %y = resid.add %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @type_of_bias(%x: tensor<4x8xf32>, %bias: tensor<8xf32>) {
  // expected-error @+1 {{expected 2 types (f, bias), but got 1: that of bias is missing}}
  %y = resid.add_bias %x, %bias : tensor<4x8xf32>
  return
}

// -----

func.func @type_of_alpha(%x: tensor<4x8xf32>, %alpha: tensor<f32>) {
  // expected-error @+1 {{expected 2 types (x, alpha), but got 1: that of alpha is missing}}
  %y = resid.dyt %x alpha(%alpha) : tensor<4x8xf32>
  return
}

// -----

func.func @types_of_add_norm(%x: tensor<4x8xf32>, %bias: tensor<8xf32>) {
  // expected-error @+1 {{expected 3 types (x and f, bias, gamma), but got 2: that of gamma is missing}}
  %n, %s = resid.add_norm rms %x, %x bias(%bias) gamma(%bias) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @exponent_without_point(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a float with digits before and after its point, 1.0e-5, but got 1e-5}}
  %y = resid.layer_norm %x {epsilon = 1e-5} : tensor<4x8xf32>
  return
}

// -----

func.func @exponent_without_point_or_sign(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a float with digits before and after its point, 12.0E3, but got 12E3}}
  %y = resid.add %x, %x {branch_scale = -12E3} : tensor<4x8xf32>
  return
}

// -----

func.func @integer(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{attribute 'epsilon' failed to satisfy constraint: 64-bit float attribute, written with a point as in 1.0 or 1.0e-5}}
  %y = resid.layer_norm %x {epsilon = 1} : tensor<4x8xf32>
  return
}

// -----

func.func @point_without_digit(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected a float with digits before and after its point, 0.1, but got .1}}
  %y = resid.dropout %x seed(%s, %s) {p = .1, site = 0} : tensor<4x8xf32>
  return
}

// -----

// Other words after numbers are MLIR's to refuse.
func.func @no_exponent(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected '}' in attribute dictionary}}
  %y = resid.layer_norm %x {epsilon = 1 e} : tensor<4x8xf32>
  return
}

// -----

func.func @integer_in_a_clause(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a float with digits before and after its point, 1.0, but got 1}}
  %y = resid.block pre %x norm(rms epsilon = 1) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @exponent_in_a_clause(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected a float with digits before and after its point, 1.0e-1, but got 1e-1}}
  %y = resid.block none %x dropout(1e-1, site 0, seed %s, step %s) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

// The block around the op says nothing of its own.
func.func @in_a_region(%x: tensor<4x8xf32>) {
  %y = resid.block none %x : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    // expected-error @+1 {{custom op 'resid.rms_norm' expected a float with digits before and after its point, 1.0e-6, but got 1e-6}}
    %f = resid.rms_norm %h {epsilon = 1e-6} : tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  return
}

// -----

func.func @unknown_op(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected an op of the dialect, but got 'resid.layernorm'; did you mean 'resid.layer_norm'?}}
  %y = resid.layernorm %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  return
}

// -----

func.func @op_of_another_library(%x: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{expected an op of the dialect, but got 'resid.bias_add'; did you mean 'resid.add_bias'?}}
  %y = resid.bias_add %x, %b : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @op_of_a_framework(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{expected an op of the dialect, but got 'resid.scaled_dot_product_attention'; did you mean 'resid.attention'?}}
  %y = resid.scaled_dot_product_attention %q, %q, %q : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention_types(%q: tensor<1x2x3x4xf32>, %mask: tensor<f32>) {
  // expected-error @+1 {{expected 4 types (q, k, v, mask), but got 3: that of mask is missing}}
  %y = resid.attention %q, %q, %q mask(%mask) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention_clauses(%q: tensor<1x2x3x4xf32>, %mask: tensor<f32>, %past: i64) {
  // expected-error @+1 {{expected 'mask' before 'past', but got it after}}
  %y = resid.attention %q, %q, %q past(%past) mask(%mask) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<f32>
  return
}

// -----

func.func @sink_last(%q: tensor<1x2x3x4xf32>, %sink: tensor<2xf32>, %past: i64) {
  // expected-error @+1 {{expected 'sink' before 'past', but got it after}}
  %y = resid.attention %q, %q, %q past(%past) sink(%sink) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<2xf32>
  return
}

// -----

func.func @attention_dropout_first(%q: tensor<1x2x3x4xf32>, %past: i64) {
  // expected-error @+1 {{expected 'past' before 'dropout', but got it after}}
  %y = resid.attention %q, %q, %q dropout(%past, %past) past(%past) {p = 0.5, site = 0} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @no_op_near(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected 'resid.activation', 'resid.add', 'resid.add_bias', 'resid.add_norm', 'resid.append', 'resid.attention', 'resid.attention_grad', 'resid.batch_norm', 'resid.batch_norm_grad', 'resid.block', 'resid.cross_entropy', 'resid.cross_entropy_grad', 'resid.dequantize', 'resid.dropout', 'resid.dyt', 'resid.dyt_grad', 'resid.embedding', 'resid.embedding_grad', 'resid.gate_grad', 'resid.group_norm', 'resid.group_norm_grad', 'resid.l2_norm', 'resid.l2_norm_grad', 'resid.layer_norm', 'resid.layer_norm_grad', 'resid.linear', 'resid.project', 'resid.quantize', 'resid.read', 'resid.rms_norm', 'resid.rms_norm_grad', 'resid.rotary', 'resid.sinkhorn', 'resid.sinkhorn_grad', 'resid.stream_dots', 'resid.write' or 'resid.yield', but got 'resid.softmax'}}
  %y = resid.softmax %x : tensor<4x8xf32>
  return
}

// -----

func.func @beta_first(%x: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected 'gamma' before 'beta', but got it after}}
  %y = resid.layer_norm %x beta(%g) gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @dropout_behind(%x: tensor<4x8xf32>, %s: i64, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected 'dropout' before 'gamma', but got it after}}
  resid.add_norm rms %x, %x gamma (%g) dropout(%s, %s) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @no_kind(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected the norm kind 'layer', 'rms', 'dyt', 'group' or 'l2', but got none}}
  resid.add_norm %x, %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  return
}

// -----

func.func @kind_of_an_op(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{but got 'layer_norm'; did you mean 'layer'?}}
  resid.add_norm layer_norm %x, %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  return
}

// -----

func.func @placement(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected the placement 'post', 'pre', 'branch_post', 'peri', 'post_shifted' or 'none', but got 'pre_norm'; did you mean 'pre'?}}
  resid.block pre_norm %x norm(rms epsilon = 1.0e-5) : tensor<4x8xf32> branch(%h) {
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @epsilon_without_a_point(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'resid.rms_norm' op attribute 'epsilon' failed to satisfy constraint: 64-bit float attribute, written with a point as in 1.0 or 1.0e-5}}
  %y = resid.rms_norm %x {epsilon = 1} : tensor<4x8xf32>
  return
}

// -----

func.func @groups_with_a_point(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'resid.group_norm' op attribute 'groups' failed to satisfy constraint: 64-bit integer attribute, written without a point as in 8}}
  %y = resid.group_norm %x {epsilon = 1.0e-5, groups = 2.0} : tensor<4x8xf32>
  return
}
