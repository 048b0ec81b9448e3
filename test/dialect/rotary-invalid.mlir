// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @rotary.C1_integer(%x: tensor<4x8xf32>, %c: tensor<4x4xi32>, %s: tensor<4x4xf32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor of f16, bf16, f32 or f64, without an encoding and of at most 2^47 bytes, but got 'tensor<4x4xi32>'}}
  %y = resid.rotary %x cos(%c) sin(%s) : tensor<4x8xf32>, tensor<4x4xi32>, tensor<4x4xf32>
  return
}

// -----

func.func @rotary.C2_result_type(%x: tensor<4x8xbf16>, %c: tensor<4x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<4x8xbf16>' are incompatible with return type(s) of operation 'tensor<4x8xf32>'}}
  %y = "resid.rotary"(%x, %c, %c) : (tensor<4x8xbf16>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @rotary.C3_rank(%x: tensor<8xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{expected x of rank 2 or more with a static last dimension but got 'tensor<8xf32>'}}
  %y = resid.rotary %x cos(%c) sin(%c) : tensor<8xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @rotary.C3_dynamic(%x: tensor<4x?xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{expected x of rank 2 or more with a static last dimension but got 'tensor<4x?xf32>'}}
  %y = resid.rotary %x cos(%c) sin(%c) : tensor<4x?xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @rotary.C4_too_wide(%x: tensor<4x9xf32>, %c: tensor<4x5xf32>) {
  // expected-error @+1 {{expected cos of rank 2 with 1 to 4 columns, half of the last dimension of x, but got 'tensor<4x5xf32>'}}
  %y = resid.rotary %x cos(%c) sin(%c) : tensor<4x9xf32>, tensor<4x5xf32>, tensor<4x5xf32>
  return
}

// -----

func.func @rotary.C4_dynamic(%x: tensor<4x8xf32>, %c: tensor<4x?xf32>) {
  // expected-error @+1 {{expected cos of rank 2 with 1 to 4 columns, half of the last dimension of x, but got 'tensor<4x?xf32>'}}
  %y = resid.rotary %x cos(%c) sin(%c) : tensor<4x8xf32>, tensor<4x?xf32>, tensor<4x?xf32>
  return
}

// -----

func.func @rotary.C4_no_columns(%x: tensor<4x8xf32>, %c: tensor<4x0xf32>) {
  // expected-error @+1 {{expected cos of rank 2 with 1 to 4 columns, half of the last dimension of x, but got 'tensor<4x0xf32>'}}
  %y = resid.rotary %x cos(%c) sin(%c) : tensor<4x8xf32>, tensor<4x0xf32>, tensor<4x0xf32>
  return
}

// -----

func.func @rotary.C5_columns(%x: tensor<4x8xf32>, %c: tensor<4x4xf32>, %s: tensor<4x8xf32>) {
  // expected-error @+1 {{expected sin of the shape of cos, 'tensor<4x4xf32>', but got 'tensor<4x8xf32>'}}
  %y = resid.rotary %x cos(%c) sin(%s) : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @rotary.C5_rows(%x: tensor<?x8xf32>, %c: tensor<4x4xf32>, %s: tensor<5x4xf32>, %past: i64) {
  // expected-error @+1 {{expected sin of the shape of cos, 'tensor<4x4xf32>', but got 'tensor<5x4xf32>'}}
  %y = resid.rotary %x cos(%c) sin(%s) offset(%past) : tensor<?x8xf32>, tensor<4x4xf32>, tensor<5x4xf32>
  return
}

// -----

func.func @rotary.C6_more_rows(%x: tensor<4x8xf32>, %c: tensor<5x4xf32>) {
  // expected-error @+1 {{expected cos of 4 rows, one for each position, but got 'tensor<5x4xf32>'}}
  %y = resid.rotary %x cos(%c) sin(%c) : tensor<4x8xf32>, tensor<5x4xf32>, tensor<5x4xf32>
  return
}

// -----

func.func @rotary.C6_fewer_rows(%x: tensor<4x8xf32>, %c: tensor<?x4xf32>, %s: tensor<3x4xf32>, %past: i64) {
  // expected-error @+1 {{expected sin of 4 rows or more, one for each position, but got 'tensor<3x4xf32>'}}
  %y = resid.rotary %x cos(%c) sin(%s) offset(%past) : tensor<4x8xf32>, tensor<?x4xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @rotary.C7_wide_tables(%x: tensor<4x8xf32>, %c: tensor<4x4xf32>, %s: tensor<4x4xf64>) {
  // expected-error @+1 {{expected sin of f16, bf16 or f32 beside x of 'f32', but got 'tensor<4x4xf64>'}}
  %y = resid.rotary %x cos(%c) sin(%s) : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xf64>
  return
}

// -----

func.func @rotary.C8_samples(%x: tensor<2x4x8xf32>, %c: tensor<4x4xf32>, %o: tensor<3xi64>) {
  // expected-error @+1 {{expected an offset for each sample of 'tensor<2x4x8xf32>', but got 'tensor<3xi64>'}}
  %y = resid.rotary %x cos(%c) sin(%c) offset(%o) : tensor<2x4x8xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<3xi64>
  return
}

// -----

func.func @rotary.C8_no_samples(%x: tensor<4x8xf32>, %c: tensor<4x4xf32>, %o: tensor<4xi64>) {
  // expected-error @+1 {{expected an offset for each sample of 'tensor<4x8xf32>', but got 'tensor<4xi64>'}}
  %y = resid.rotary %x cos(%c) sin(%c) offset(%o) : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xi64>
  return
}
