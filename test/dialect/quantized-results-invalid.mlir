// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @layer_norm.C11_f64(%x: tensor<4x8xf64>) {
  // expected-error @+1 {{expected f16, bf16 or f32 to quantise but got 'tensor<4x8xf64>'}}
  %0:2 = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<4x8xf64> -> tensor<4x8xi8>, tensor<4xf32>
  return
}

// -----

func.func @layer_norm.C11_statistics(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected results of types 'tensor<4x8xi8>', 'tensor<4xf32>' but got 'tensor<4x8xi8>', 'tensor<4xf32>', 'tensor<4xf32>', 'tensor<4xf32>'}}
  %0:4 = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xi8>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @layer_norm.C11_floats(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a result of i8 beside quantize but got 'tensor<4x8xf32>'}}
  %0 = resid.layer_norm %x quantize(row) {epsilon = 1.0e-5} : tensor<4x8xf32>
  return
}

// -----

func.func @rms_norm.C11_scale(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected results of types 'tensor<4x8xi8>', 'tensor<f32>' but got 'tensor<4x8xi8>', 'tensor<4xf32>'}}
  %0:2 = resid.rms_norm %x quantize(tensor) {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xi8>, tensor<4xf32>
  return
}

// -----

func.func @rms_norm.C11_missing(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected results of types 'tensor<4x8xi8>', 'tensor<4xf32>' but got 'tensor<4x8xi8>'}}
  %0 = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xi8>
  return
}

// -----

func.func @rms_norm.C11_static(%x: tensor<4x8xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{expected scale of the shape of 'tensor<4xf32>' but got 'tensor<8xf32>'}}
  %0 = resid.rms_norm %x quantize(row scale %s : tensor<8xf32>) {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xi8>
  return
}

// -----

func.func @rms_norm.C11_granularity(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected granularity to be row, tensor or group G, but got 'column'}}
  %0:2 = resid.rms_norm %x quantize(column) {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xi8>, tensor<8xf32>
  return
}

// -----

func.func @l2_norm.C11_group(%x: tensor<4x?xf32>) {
  // expected-error @+1 {{expected a static last dimension of 1 or more for groups but got 'tensor<4x?xf32>'}}
  %0:2 = resid.l2_norm %x quantize(group 8) {epsilon = 1.0e-12} : tensor<4x?xf32> -> tensor<4x?xi8>, tensor<4x?xf32>
  return
}

// -----

func.func @add_norm.C24_sum(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected results of types 'tensor<4x8xi8>', 'tensor<4x8xf32>', 'tensor<4xf32>' but got 'tensor<4x8xi8>', 'tensor<4x8xf32>'}}
  %0:2 = resid.add_norm rms %x, %x {epsilon = 1.0e-5} : tensor<4x8xf32> -> tensor<4x8xi8>, tensor<4x8xf32>
  return
}

// -----

func.func @block.C17_type(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected results of types 'tensor<4x8xi8>', 'tensor<4xf32>' but got 'tensor<4x8xi8>', 'tensor<8xf32>'}}
  %0:2 = resid.block post %x norm(rms epsilon = 1.0e-6) : tensor<4x8xf32> -> tensor<4x8xi8>, tensor<8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}

// -----

func.func @block.C17_floats(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{expected a result of i8 beside quantize but got 'tensor<4x8xf32>'}}
  %0 = resid.block none %x quantize(tensor scale %s : tensor<f32>) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  return
}
