// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @project.C1_element(%x: tensor<?x4x8xf32>, %w: tensor<24x32xi32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor of f16, bf16, f32 or f64, without an encoding and of at most 2^47 bytes, but got 'tensor<24x32xi32>'}}
  %0 = resid.project %x, %w {epsilon = 1.0e-6} : tensor<?x4x8xf32>, tensor<24x32xi32> -> tensor<?x24xf32>
  return
}

// -----

func.func @project.C2_streams(%x: tensor<?x?x8xf32>, %w: tensor<24x32xf32>) {
  // expected-error @+1 {{expected x of rank 2 or more, whose last dimension but one is static and from 1 to 16, but got 'tensor<?x?x8xf32>'}}
  %0 = resid.project %x, %w {epsilon = 1.0e-6} : tensor<?x?x8xf32>, tensor<24x32xf32>
  return
}

// -----

func.func @project.C2_columns(%x: tensor<?x4x8xf32>, %w: tensor<24x8xf32>) {
  // expected-error @+1 {{expected a weight of 1 to 64 rows of 4 times the features of 'tensor<?x4x8xf32>', but got 'tensor<24x8xf32>'}}
  %0 = resid.project %x, %w {epsilon = 1.0e-6} : tensor<?x4x8xf32>, tensor<24x8xf32>
  return
}

// -----

func.func @project.C2_rows(%x: tensor<?x4x8xf32>, %w: tensor<65x32xf32>) {
  // expected-error @+1 {{expected a weight of 1 to 64 rows of 4 times the features of 'tensor<?x4x8xf32>', but got 'tensor<65x32xf32>'}}
  %0 = resid.project %x, %w {epsilon = 1.0e-6} : tensor<?x4x8xf32>, tensor<65x32xf32>
  return
}

// -----

func.func @project.C2_dynamic(%x: tensor<?x4x8xf32>, %w: tensor<?x32xf32>) {
  // expected-error @+1 {{expected a weight of 1 to 64 rows of 4 times the features of 'tensor<?x4x8xf32>', but got 'tensor<?x32xf32>'}}
  %0 = resid.project %x, %w {epsilon = 1.0e-6} : tensor<?x4x8xf32>, tensor<?x32xf32>
  return
}

// -----

func.func @project.C3_z(%x: tensor<?x4x8xf32>, %w: tensor<24x32xf32>) {
  // expected-error @+1 {{expected z of type 'tensor<?x24xf32>' but got 'tensor<?x24xf64>'}}
  %0 = resid.project %x, %w {epsilon = 1.0e-6} : tensor<?x4x8xf32>, tensor<24x32xf32> -> tensor<?x24xf64>
  return
}

// -----

func.func @project.C3_rstd(%x: tensor<?x4x8xf32>, %w: tensor<24x32xf32>) {
  // expected-error @+1 {{expected rstd of type 'tensor<?xf32>' but got 'tensor<?x24xf32>'}}
  %0:2 = resid.project %x, %w {epsilon = 1.0e-6} : tensor<?x4x8xf32>, tensor<24x32xf32> -> tensor<?x24xf32>, tensor<?x24xf32>
  return
}

// -----

func.func @project.C4_negative(%x: tensor<?x4x8xf32>, %w: tensor<24x32xf32>) {
  // expected-error @+1 {{expected epsilon to be finite and not negative in 'f32' but got -1}}
  %0 = resid.project %x, %w {epsilon = -1.0} : tensor<?x4x8xf32>, tensor<24x32xf32>
  return
}
