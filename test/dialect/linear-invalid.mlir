// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @linear.C1_integer(%x: tensor<4x8xf32>, %w: tensor<6x8xi16>) {
  // expected-error @+1 {{operand #1 must be ranked tensor of f16, bf16, f32, f64, i8 or i4, without an encoding and of at most 2^47 bytes, but got 'tensor<6x8xi16>'}}
  %y = resid.linear %x, %w : tensor<4x8xf32>, tensor<6x8xi16>
  return
}

// -----

func.func @linear.C1_rank_of_x(%x: tensor<f32>, %w: tensor<6x8xf32>) {
  // expected-error @+1 {{expected x of rank 1 or more and a weight of rank 2, but got 'tensor<f32>' and 'tensor<6x8xf32>'}}
  %y = resid.linear %x, %w : tensor<f32>, tensor<6x8xf32>
  return
}

// -----

func.func @linear.C2_batch(%x: tensor<2x4x8xf32>, %w: tensor<2x6x8xf32>) {
  // expected-error @+1 {{expected weight of rank 2 but got 'tensor<2x6x8xf32>'}}
  %y = resid.linear %x, %w : tensor<2x4x8xf32>, tensor<2x6x8xf32> -> tensor<2x4x6xf32>
  return
}

// -----

func.func @linear.C2_text(%x: tensor<4x8xf32>, %w: tensor<8xf32>) {
  // expected-error @+1 {{expected x of rank 1 or more and a weight of rank 2, but got 'tensor<4x8xf32>' and 'tensor<8xf32>'}}
  %y = resid.linear %x, %w : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @linear.C3_order_of_axes(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) {
  // expected-error @+1 {{expected a weight of 8 input features, the last dimension of x, but got 'tensor<8x6xf32>' with them last}}
  %y = resid.linear %x, %w : tensor<4x8xf32>, tensor<8x6xf32>
  return
}

// -----

func.func @linear.C3_transposed(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @+1 {{expected a weight of 8 input features, the last dimension of x, but got 'tensor<6x8xf32>' with them first}}
  %y = resid.linear %x, %w {transposed} : tensor<4x8xf32>, tensor<6x8xf32>
  return
}

// -----

func.func @linear.C4_features(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @+1 {{expected a result of the shape of 'tensor<4x6xf32>', but got 'tensor<4x8xf32>'}}
  %y = resid.linear %x, %w : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @linear.C4_rows(%x: tensor<?x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @+1 {{expected a result of the shape of 'tensor<?x6xf32>', but got 'tensor<4x6xf32>'}}
  %y = resid.linear %x, %w : tensor<?x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @linear.C5_size(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{expected bias of shape [6], that of the last dimensions, but got [8]}}
  %y = resid.linear %x, %w bias(%b) : tensor<4x8xf32>, tensor<6x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @linear.C5_rank(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>, %b: tensor<4x6xf32>) {
  // expected-error @+1 {{expected bias of rank 1 but got 'tensor<4x6xf32>'}}
  %y = resid.linear %x, %w bias(%b) : tensor<4x8xf32>, tensor<6x8xf32>, tensor<4x6xf32>
  return
}

// -----

func.func @missing_type(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) {
  // expected-error @+1 {{expected 3 types (x, weight, bias), but got 2: that of bias is missing}}
  %y = resid.linear %x, %w bias(%b) : tensor<4x8xf32>, tensor<6x8xf32>
  return
}

// -----

func.func @linear.C6_no_scale(%x: tensor<4x8xf32>, %w: tensor<6x8xi8>) {
  // expected-error @+1 {{'resid.linear' op expected weight_scale and group for a weight of 'i8'}}
  %y = resid.linear %x, %w : tensor<4x8xf32>, tensor<6x8xi8>
  return
}

// -----

func.func @linear.C6_no_group(%x: tensor<4x8xf32>, %w: tensor<6x8xi4>, %s: tensor<6x2xf32>) {
  // expected-error @+1 {{'resid.linear' op expected weight_scale and group for a weight of 'i4'}}
  %y = resid.linear %x, %w weight_scale(%s) : tensor<4x8xf32>, tensor<6x8xi4>, tensor<6x2xf32>
  return
}

// -----

func.func @linear.C6_floats(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>, %s: tensor<6x2xf32>) {
  // expected-error @+1 {{'resid.linear' op expected no weight_scale and no group for a weight of 'f32'}}
  %y = resid.linear %x, %w weight_scale(%s) {group = 4} : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>
  return
}

// -----

func.func @linear.C6_zero_of_floats(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>, %z: tensor<6x2xi8>) {
  // expected-error @+1 {{'resid.linear' op expected no weight_zero and no weight_offset for a weight of 'f32'}}
  %y = resid.linear %x, %w weight_zero(%z) : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xi8>
  return
}

// -----

func.func @linear.C6_both(%x: tensor<4x8xf32>, %w: tensor<6x8xi8>, %s: tensor<6x2xf32>, %z: tensor<6x2xi8>) {
  // expected-error @+1 {{'resid.linear' op expected weight_zero or weight_offset, but got both}}
  %y = resid.linear %x, %w weight_scale(%s) weight_zero(%z) weight_offset(%s) {group = 4}
      : tensor<4x8xf32>, tensor<6x8xi8>, tensor<6x2xf32>, tensor<6x2xi8>, tensor<6x2xf32>
  return
}

// -----

func.func @linear.C7_transposed(%x: tensor<4x8xf32>, %w: tensor<8x6xi8>, %s: tensor<6x2xf32>) {
  // expected-error @+1 {{'resid.linear' op expected no 'transposed' for a weight of 'i8'}}
  %y = resid.linear %x, %w weight_scale(%s) {group = 4, transposed} : tensor<4x8xf32>, tensor<8x6xi8>, tensor<6x2xf32>
  return
}

// -----

func.func @linear.C7_wide(%x: tensor<4x8xf64>, %w: tensor<6x8xi8>, %s: tensor<6x2xf32>) {
  // expected-error @+1 {{'resid.linear' op expected no f64 beside a weight of 'i8'}}
  %y = resid.linear %x, %w weight_scale(%s) {group = 4} : tensor<4x8xf64>, tensor<6x8xi8>, tensor<6x2xf32>
  return
}

// -----

func.func @linear.C7_open(%x: tensor<4x?xf32>, %w: tensor<6x?xi8>, %s: tensor<6x2xf32>) {
  // expected-error @+1 {{'resid.linear' op expected a static number of input features for a weight of 'i8', but got 'tensor<6x?xi8>'}}
  %y = resid.linear %x, %w weight_scale(%s) {group = 4} : tensor<4x?xf32>, tensor<6x?xi8>, tensor<6x2xf32>
  return
}

// -----

func.func @linear.C7_group(%x: tensor<4x8xf32>, %w: tensor<6x8xi4>, %s: tensor<6x2xf32>) {
  // expected-error @+1 {{'resid.linear' op expected an even group that divides 8 input features, but got 6}}
  %y = resid.linear %x, %w weight_scale(%s) {group = 6} : tensor<4x8xf32>, tensor<6x8xi4>, tensor<6x2xf32>
  return
}

// -----

func.func @linear.C8_scale(%x: tensor<4x8xf32>, %w: tensor<6x8xi4>, %s: tensor<6x4xf16>) {
  // expected-error @+1 {{'resid.linear' op expected weight_scale of the shape of 'tensor<6x2xf16>', but got 'tensor<6x4xf16>'}}
  %y = resid.linear %x, %w weight_scale(%s) {group = 4} : tensor<4x8xf32>, tensor<6x8xi4>, tensor<6x4xf16>
  return
}

// -----

func.func @linear.C8_zero(%x: tensor<4x8xf32>, %w: tensor<6x8xi4>, %s: tensor<6x2xf16>, %z: tensor<2xi8>) {
  // expected-error @+1 {{'resid.linear' op expected weight_zero of the shape of 'tensor<6x2xi8>', but got 'tensor<2xi8>'}}
  %y = resid.linear %x, %w weight_scale(%s) weight_zero(%z) {group = 4} : tensor<4x8xf32>, tensor<6x8xi4>, tensor<6x2xf16>, tensor<2xi8>
  return
}

// -----

func.func @linear.C9_weight(%q: tensor<?x8xi8>, %w: tensor<4x8xf32>, %r: tensor<?xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{expected x and weight of i8, x_scale and weight_scale together, and nothing else of integers, but got operands of}}
  %0 = resid.linear %q, %w x_scale(%r) weight_scale(%s) : tensor<?x8xi8>, tensor<4x8xf32>, tensor<?xf32>, tensor<4xf32>
  return
}

// -----

func.func @linear.C9_no_scale(%q: tensor<?x8xi8>, %w: tensor<4x8xi8>) {
  // expected-error @+1 {{expected x and weight of i8, x_scale and weight_scale together, and nothing else of integers, but got operands of}}
  %0 = resid.linear %q, %w : tensor<?x8xi8>, tensor<4x8xi8>
  return
}

// -----

func.func @linear.C9_scale_of_floats(%q: tensor<?x8xf32>, %w: tensor<4x8xf32>, %r: tensor<?xf32>) {
  // expected-error @+1 {{expected x and weight of i8, x_scale and weight_scale together, and nothing else of integers, but got operands of}}
  %0 = resid.linear %q, %w x_scale(%r) : tensor<?x8xf32>, tensor<4x8xf32>, tensor<?xf32>
  return
}

// -----

func.func @linear.C9_group(%q: tensor<?x8xi8>, %w: tensor<4x8xi8>, %r: tensor<?xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{expected x and weight of i8, x_scale and weight_scale together, and nothing else of integers, but got operands of}}
  %0 = resid.linear %q, %w x_scale(%r) weight_scale(%s) {group = 8} : tensor<?x8xi8>, tensor<4x8xi8>, tensor<?xf32>, tensor<4xf32>
  return
}

// -----

func.func @linear.C9_wide(%q: tensor<?x8xi8>, %w: tensor<4x8xi8>, %r: tensor<?xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{expected no f64, and weight_scale of f32, beside integers but got operands of}}
  %0 = resid.linear %q, %w x_scale(%r) weight_scale(%s) : tensor<?x8xi8>, tensor<4x8xi8>, tensor<?xf32>, tensor<4xf32> -> tensor<?x4xf64>
  return
}

// -----

func.func @linear.C9_outputs(%q: tensor<?x8xi8>, %w: tensor<4x8xi8>, %r: tensor<?xf32>, %s: tensor<5xf32>) {
  // expected-error @+1 {{expected weight_scale}}
  %0 = resid.linear %q, %w x_scale(%r) weight_scale(%s) : tensor<?x8xi8>, tensor<4x8xi8>, tensor<?xf32>, tensor<5xf32>
  return
}

// -----

func.func @linear.C10_rows(%q: tensor<3x8xi8>, %w: tensor<4x8xi8>, %r: tensor<2xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{expected x_scale of rank 0, or with a number for each row of 'tensor<3x8xi8>', but got 'tensor<2xf32>'}}
  %0 = resid.linear %q, %w x_scale(%r) weight_scale(%s) : tensor<3x8xi8>, tensor<4x8xi8>, tensor<2xf32>, tensor<4xf32>
  return
}

// -----

func.func @linear.C11_deep(%q: tensor<3x131072xi8>, %w: tensor<4x131072xi8>, %r: tensor<3xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{expected at most 131071 input features of integers but got 131072}}
  %0 = resid.linear %q, %w x_scale(%r) weight_scale(%s) : tensor<3x131072xi8>, tensor<4x131072xi8>, tensor<3xf32>, tensor<4xf32>
  return
}

// -----

func.func @type_of_transposed(%x: tensor<2x2xf32>) {
  // expected-error @+1 {{attribute 'transposed' failed to satisfy constraint}}
  %0 = resid.linear %x, %x {transposed = true} : tensor<2x2xf32>, tensor<2x2xf32>
  return
}
