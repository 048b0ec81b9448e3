// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @add.C1_integer(%x: tensor<4x8xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<4x8xi32>'}}
  %y = resid.add %x, %x : tensor<4x8xi32>
  return
}

// -----

func.func @add.C1_unranked(%x: tensor<*xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<*xf32>'}}
  %y = resid.add %x, %x : tensor<*xf32>
  return
}

// -----

func.func @add.C1_rank_0(%x: tensor<f32>) {
  // expected-error @+1 {{of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<f32>'}}
  %y = resid.add %x, %x : tensor<f32>
  return
}

// -----

func.func @add.C1_encoding(%x: tensor<4x8xf32, "mine">) {
  // expected-error @+1 {{without an encoding and of at most 2^47 bytes, but got 'tensor<4x8xf32, "mine">'}}
  %y = resid.add %x, %x : tensor<4x8xf32, "mine">
  return
}

// -----

// 2^47 bytes are the limit: 2^45 elements of f32.
func.func @add.C1_bytes(%fits: tensor<32x1099511627776xf32>, %x: tensor<33x1099511627776xf32>) {
  %z = resid.add %fits, %fits : tensor<32x1099511627776xf32>
  // expected-error @+1 {{of at most 2^47 bytes, but got 'tensor<33x1099511627776xf32>'}}
  %y = resid.add %x, %x : tensor<33x1099511627776xf32>
  return
}

// -----

func.func @add.C1_bytes_that_overflow(%x: tensor<9223372036854775807x2xf32>) {
  // expected-error @+1 {{of at most 2^47 bytes, but got 'tensor<9223372036854775807x2xf32>'}}
  %y = resid.add %x, %x : tensor<9223372036854775807x2xf32>
  return
}

// -----

// A zero size does not excuse the others: strides are products of them.
func.func @add.C1_bytes_beside_zero(%x: tensor<0x9223372036854775807xf32>) {
  // expected-error @+1 {{of at most 2^47 bytes, but got 'tensor<0x9223372036854775807xf32>'}}
  %y = resid.add %x, %x : tensor<0x9223372036854775807xf32>
  return
}

// -----

func.func @add.C2_branch_of_another_type(%x: tensor<4x8xf32>, %f: tensor<4x8xbf16>) {
  // expected-error @+1 {{expected f of the type of x, 'tensor<4x8xf32>', but got 'tensor<4x8xbf16>'}}
  %y = "resid.add"(%x, %f) {operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>} : (tensor<4x8xf32>, tensor<4x8xbf16>) -> tensor<4x8xf32>
  return
}

// -----

func.func @add.C2_branch_of_another_shape(%x: tensor<4x8xf32>, %f: tensor<?x8xf32>) {
  // expected-error @+1 {{expected f of the type of x, 'tensor<4x8xf32>', but got 'tensor<?x8xf32>'}}
  %y = "resid.add"(%x, %f) {operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>} : (tensor<4x8xf32>, tensor<?x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @add.C3_narrower_result(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected result of shape [4, 8] and of 'f32', but got 'tensor<4x8xbf16>'}}
  %y = resid.add %x, %x : tensor<4x8xf32> -> tensor<4x8xbf16>
  return
}

// -----

func.func @add.C3_other_half(%x: tensor<4x8xf16>) {
  // expected-error @+1 {{expected result of shape [4, 8] and of 'f16' or 'f32', but got 'tensor<4x8xbf16>'}}
  %y = resid.add %x, %x : tensor<4x8xf16> -> tensor<4x8xbf16>
  return
}

// -----

func.func @add.C3_f64_result(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected result of shape [4, 8] and of 'f32', but got 'tensor<4x8xf64>'}}
  %y = resid.add %x, %x : tensor<4x8xf32> -> tensor<4x8xf64>
  return
}

// -----

func.func @add.C3_result_shape(%x: tensor<4x?xbf16>) {
  // expected-error @+1 {{expected result of shape [4, ?] and of 'bf16' or 'f32', but got 'tensor<4x8xf32>'}}
  %y = resid.add %x, %x : tensor<4x?xbf16> -> tensor<4x8xf32>
  return
}

// -----

func.func @add.C4_f64_gate(%x: tensor<4x8xf32>, %g: tensor<8xf64>) {
  // expected-error @+1 {{expected gate of f16, bf16 or f32 beside x of 'f32', but got 'tensor<8xf64>'}}
  %y = resid.add %x, %x gate(%g) : tensor<4x8xf32>, tensor<8xf64>
  return
}

// -----

func.func @add.C5_gate_size(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{expected a gate that broadcasts to shape [4, 8] but got [4]}}
  %y = resid.add %x, %x gate(%g) : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @add.C5_gate_rank(%x: tensor<4x8xf32>, %g: tensor<1x4x8xf32>) {
  // expected-error @+1 {{expected a gate that broadcasts to shape [4, 8] but got [1, 4, 8]}}
  %y = resid.add %x, %x gate(%g) : tensor<4x8xf32>, tensor<1x4x8xf32>
  return
}

// -----

func.func @add.C5_stream_does_not_broadcast(%x: tensor<4x1xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{expected a gate that broadcasts to shape [4, 1] but got [8]}}
  %y = resid.add %x, %x gate(%g) : tensor<4x1xf32>, tensor<8xf32>
  return
}

// -----

func.func @add.C6_infinite_skip_scale(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected skip_scale to be finite in 'f32' but got inf}}
  %y = resid.add %x, %x {skip_scale = 0x7FF0000000000000 : f64} : tensor<4x8xf32>
  return
}

// -----

// 1e300 is finite as an attribute and in f64, but not in f32.
func.func @add.C6_branch_scale(%fits: tensor<4x8xf64>, %x: tensor<4x8xbf16>) {
  %z = resid.add %fits, %fits {branch_scale = 1.0e300} : tensor<4x8xf64>
  // expected-error @+1 {{expected branch_scale to be finite in 'f32' but got 1e+300}}
  %y = resid.add %x, %x {branch_scale = 1.0e300} : tensor<4x8xbf16>
  return
}

// -----

func.func @add.C4_skip(%x: tensor<4x8xf32>, %s: tensor<f64>) {
  // expected-error @+1 {{expected skip}}
  %y = resid.add %x, %x skip(%s) : tensor<4x8xf32>, tensor<f64>
  return
}

// -----

func.func @add.C5_skip(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{expected a skip that broadcasts to shape [4, 8] but got [4]}}
  %y = resid.add %x, %x skip(%s) : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @add.C5_scale(%x: tensor<4x8xf32>, %l: tensor<4xf32>) {
  // expected-error @+1 {{expected a scale of also that broadcasts to shape [4, 8] but got [4]}}
  %y = resid.add %x, %x also(%x scale %l) : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @add.C7_type(%x: tensor<4x8xf32>, %o: tensor<4x8xbf16>) {
  // expected-error @+1 {{expected also of type 'tensor<4x8xf32>' but got 'tensor<4x8xbf16>'}}
  %y = "resid.add"(%x, %x, %o) {operandSegmentSizes = array<i32: 1, 1, 0, 0, 1, 0>} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xbf16>) -> tensor<4x8xf32>
  return
}

// -----

func.func @add.C7_scale_alone(%x: tensor<4x8xf32>, %l: tensor<f32>) {
  // expected-error @+1 {{expected also beside its scale but got none}}
  %y = "resid.add"(%x, %x, %l) {operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 1>} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @add.C8_both(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{expected no skip_scale beside skip but got 2}}
  %y = resid.add %x, %x skip(%s) {skip_scale = 2.0} : tensor<4x8xf32>, tensor<f32>
  return
}
