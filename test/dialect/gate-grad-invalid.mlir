// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @gate_grad.C1_rank(%f: tensor<f32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more}}
  %g = resid.gate_grad %f, %f : tensor<f32>, tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @gate_grad.C1_encoding(%f: tensor<4x8xf32>) {
  // expected-error @+1 {{result #0 must be ranked tensor of f16, bf16, f32 or f64, without an encoding}}
  %g = resid.gate_grad %f, %f : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8xf32, "mine">
  return
}

// -----

func.func @gate_grad.C2_narrow_dy(%dy: tensor<4x8xbf16>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected dy of shape [4, 8] and of 'f32', but got 'tensor<4x8xbf16>'}}
  %g = resid.gate_grad %dy, %f : tensor<4x8xbf16>, tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @gate_grad.C2_shape(%dy: tensor<4x9xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected dy of shape [4, 8] and of 'f32', but got 'tensor<4x9xf32>'}}
  %g = resid.gate_grad %dy, %f : tensor<4x9xf32>, tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @gate_grad.C3_wide(%dy: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected dgate of f16, bf16 or f32 beside f of 'f32', but got 'tensor<8xf64>'}}
  %g = resid.gate_grad %dy, %f : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8xf64>
  return
}

// -----

func.func @gate_grad.C4_shape(%dy: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected a gate that broadcasts to shape [4, 8] but got [9]}}
  %g = resid.gate_grad %dy, %f : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<9xf32>
  return
}

// -----

func.func @gate_grad.C5_infinite(%dy: tensor<4x8xf32>, %f: tensor<4x8xf32>) {
  // expected-error @+1 {{expected branch_scale to be finite in 'f32' but got 1e+300}}
  %g = resid.gate_grad %dy, %f {branch_scale = 1.0e300} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8xf32>
  return
}
