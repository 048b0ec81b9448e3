// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @activation.C1_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<f32>'}}
  %y = resid.activation relu %x : tensor<f32>
  return
}

// -----

func.func @activation.C2_result_type(%x: tensor<4x8xbf16>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<4x8xbf16>' are incompatible with return type(s) of operation 'tensor<4x8xf32>'}}
  %y = "resid.activation"(%x) {kind = #resid<activation_kind relu>} : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  return
}

// -----

func.func @activation.C3_missing(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected up for swiglu but got none}}
  %y = resid.activation swiglu %x : tensor<4x8xf32>
  return
}

// -----

func.func @activation.C3_unwanted(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected no up for gelu but got one}}
  %y = resid.activation gelu %x, %x : tensor<4x8xf32>
  return
}

// -----

func.func @activation.C4_element(%x: tensor<4x8xf32>, %up: tensor<4x8xbf16>) {
  // expected-error @+1 {{expected up of the type of x, 'tensor<4x8xf32>', but got 'tensor<4x8xbf16>'}}
  %y = "resid.activation"(%x, %up) {kind = #resid<activation_kind geglu>} : (tensor<4x8xf32>, tensor<4x8xbf16>) -> tensor<4x8xf32>
  return
}

// -----

func.func @another_name(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected the activation 'relu', 'gelu', 'gelu_tanh', 'silu', 'swiglu', 'geglu', 'geglu_tanh', 'sigmoid', 'relu2' or 'swiglu_oai', but got 'gelu_new'; did you mean 'gelu_tanh'?}}
  %y = resid.activation gelu_new %x : tensor<4x8xf32>
  return
}

// -----

func.func @no_name(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected the activation 'relu', 'gelu', 'gelu_tanh', 'silu', 'swiglu', 'geglu', 'geglu_tanh', 'sigmoid', 'relu2' or 'swiglu_oai', but got none}}
  %y = resid.activation %x : tensor<4x8xf32>
  return
}

// -----

func.func @two_types(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected 1 type (x and up), but got more}}
  %y = resid.activation swiglu %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @activation.C5_limit(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected no limit for gelu but got 7}}
  %y = resid.activation gelu %x {limit = 7.0} : tensor<4x8xf32>
  return
}

// -----

func.func @activation.C5_no_limit(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected limit for swiglu_oai but got none}}
  %y = resid.activation swiglu_oai %x, %x {alpha = 1.702} : tensor<4x8xf32>
  return
}

// -----

func.func @activation.C5_no_alpha(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected alpha for swiglu_oai but got none}}
  %y = resid.activation swiglu_oai %x, %x {limit = 7.0} : tensor<4x8xf32>
  return
}

// -----

func.func @activation.C5_alpha(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected no alpha for swiglu but got one}}
  %y = resid.activation swiglu %x, %x {alpha = 1.702} : tensor<4x8xf32>
  return
}

// -----

func.func @activation.C5_negative(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected limit to be finite and greater than 0 in 'f32' but got -7}}
  %y = resid.activation swiglu %x, %x {limit = -7.0} : tensor<4x8xf32>
  return
}
