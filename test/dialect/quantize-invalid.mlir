// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @quantize.C1_element(%x: tensor<4x8xf64>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16 or f32, of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<4x8xf64>'}}
  %0:2 = resid.quantize %x {granularity = row} : tensor<4x8xf64>
  return
}

// -----

func.func @quantize.C1_rank(%x: tensor<f32>) {
  // expected-error @+1 {{expected x to be a ranked tensor of rank 1 or more, but got 'tensor<f32>'}}
  %0:2 = resid.quantize %x {granularity = row} : tensor<f32>
  return
}

// -----

func.func @quantize.C2_open(%x: tensor<4x?xf32>) {
  // expected-error @+1 {{expected a static last dimension of 1 or more for groups but got 'tensor<4x?xf32>'}}
  %0:2 = resid.quantize %x {granularity = group 8} : tensor<4x?xf32>
  return
}

// -----

func.func @quantize.C2_none(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected groups of 1 or more but got 0}}
  %0:2 = resid.quantize %x {granularity = group 0} : tensor<4x8xf32>
  return
}

// -----

func.func @quantize.C2_without_group(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected group exactly where granularity is group}}
  %0:2 = "resid.quantize"(%x) {granularity = #resid<granularity group>} : (tensor<4x8xf32>) -> (tensor<4x8xi8>, tensor<4x1xf32>)
  return
}

// -----

func.func @quantize.C2_beside_rows(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected group exactly where granularity is group}}
  %0:2 = "resid.quantize"(%x) {granularity = #resid<granularity row>, group = 8 : i64} : (tensor<4x8xf32>) -> (tensor<4x8xi8>, tensor<4xf32>)
  return
}

// -----

func.func @quantize.C3_rows(%x: tensor<4x8xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{expected scale of the shape of 'tensor<4xf32>' but got 'tensor<8xf32>'}}
  %0 = resid.quantize %x scale(%s) {granularity = row} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @quantize.C3_groups(%x: tensor<4x9xf32>, %s: tensor<4x2xf32>) {
  // expected-error @+1 {{expected scale of the shape of 'tensor<4x3xf32>' but got 'tensor<4x2xf32>'}}
  %0 = resid.quantize %x scale(%s) {granularity = group 4} : tensor<4x9xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @quantize.C4_shape(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected q of the shape of 'tensor<4x8xf32>' but got 'tensor<4x9xi8>'}}
  %0:2 = "resid.quantize"(%x) {granularity = #resid<granularity row>} : (tensor<4x8xf32>) -> (tensor<4x9xi8>, tensor<4xf32>)
  return
}

// -----

func.func @quantize.C4_no_scale(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected scale as an operand or as a result}}
  %0 = "resid.quantize"(%x) {granularity = #resid<granularity row>} : (tensor<4x8xf32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @quantize.C4_scale(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected scale of type 'tensor<4xf32>' but got 'tensor<8xf32>'}}
  %0:2 = "resid.quantize"(%x) {granularity = #resid<granularity row>} : (tensor<4x8xf32>) -> (tensor<4x8xi8>, tensor<8xf32>)
  return
}

// -----

func.func @keyword(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected granularity to be row, tensor or group G, but got 'column'}}
  %0:2 = resid.quantize %x {granularity = column} : tensor<4x8xf32>
  return
}

// -----

func.func @no_granularity(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected {granularity = row}, tensor or group G}}
  %0:2 = resid.quantize %x : tensor<4x8xf32>
  return
}

// -----

func.func @dequantize.C1_element(%x: tensor<4x8xi32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of i8, of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<4x8xi32>'}}
  %0 = resid.dequantize %x scale(%s) {granularity = row} : tensor<4x8xi32>, tensor<4xf32>
  return
}

// -----

func.func @dequantize.C2_open(%x: tensor<4x?xi8>, %s: tensor<4x2xf32>) {
  // expected-error @+1 {{expected a static last dimension of 1 or more for groups but got 'tensor<4x?xi8>'}}
  %0 = resid.dequantize %x scale(%s) {granularity = group 4} : tensor<4x?xi8>, tensor<4x2xf32>
  return
}

// -----

func.func @dequantize.C2_none(%x: tensor<4x8xi8>, %s: tensor<4x2xf32>) {
  // expected-error @+1 {{expected groups of 1 or more but got 0}}
  %0 = resid.dequantize %x scale(%s) {granularity = group 0} : tensor<4x8xi8>, tensor<4x2xf32>
  return
}

// -----

func.func @dequantize.C3_tensor(%x: tensor<4x8xi8>, %s: tensor<4xf32>) {
  // expected-error @+1 {{expected scale of the shape of 'tensor<f32>' but got 'tensor<4xf32>'}}
  %0 = resid.dequantize %x scale(%s) {granularity = tensor} : tensor<4x8xi8>, tensor<4xf32>
  return
}

// -----

func.func @dequantize.C4_shape(%x: tensor<4x8xi8>, %s: tensor<4xf32>) {
  // expected-error @+1 {{expected a result of the shape of 'tensor<4x8xi8>' but got 'tensor<8x4xf32>'}}
  %0 = resid.dequantize %x scale(%s) {granularity = row} : tensor<4x8xi8>, tensor<4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @quantize.C2_no_features(%x: tensor<4x0xf32>) {
  // expected-error @+1 {{expected a static last dimension of 1 or more for groups but got 'tensor<4x0xf32>'}}
  %0:2 = resid.quantize %x {granularity = group 8} : tensor<4x0xf32>
  return
}

// -----

func.func @dequantize.C2_no_features(%x: tensor<4x0xi8>, %s: tensor<4x0xf32>) {
  // expected-error @+1 {{expected a static last dimension of 1 or more for groups but got 'tensor<4x0xi8>'}}
  %0 = resid.dequantize %x scale(%s) {granularity = group 8} : tensor<4x0xi8>, tensor<4x0xf32>
  return
}

// -----

func.func @type_of_group(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{attribute 'group' failed to satisfy constraint}}
  %0:2 = resid.quantize %x {granularity = row, group = "a"} : tensor<4x8xf32>
  return
}
