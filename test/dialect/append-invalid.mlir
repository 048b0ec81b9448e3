// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @append.C1_bytes(%cache: tensor<1x2x8x4xi8>, %x: tensor<1x2x1x4xi8>, %past: i64) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<1x2x8x4xi8>'}}
  %y = resid.append %cache, %x past(%past) : tensor<1x2x8x4xi8>, tensor<1x2x1x4xi8>
  return
}

// -----

func.func @append.C2_element_type(%cache: tensor<1x2x8x4xbf16>, %x: tensor<1x2x1x4xf32>, %past: i64) {
  // expected-error @+1 {{expected [batch, heads, new keys, size] that fit into the cache 'tensor<1x2x8x4xbf16>' but got 'tensor<1x2x1x4xf32>'}}
  %y = resid.append %cache, %x past(%past) : tensor<1x2x8x4xbf16>, tensor<1x2x1x4xf32>
  return
}

// -----

func.func @append.C2_rank(%cache: tensor<2x8x4xf32>, %x: tensor<2x1x4xf32>, %past: i64) {
  // expected-error @+1 {{expected [batch, heads, new keys, size] that fit into the cache 'tensor<2x8x4xf32>' but got 'tensor<2x1x4xf32>'}}
  %y = resid.append %cache, %x past(%past) : tensor<2x8x4xf32>, tensor<2x1x4xf32>
  return
}

// -----

func.func @append.C2_rank_of_x(%cache: tensor<1x2x8x4xf32>, %x: tensor<2x1x4xf32>, %past: i64) {
  // expected-error @+1 {{expected [batch, heads, new keys, size] that fit into the cache 'tensor<1x2x8x4xf32>' but got 'tensor<2x1x4xf32>'}}
  %y = resid.append %cache, %x past(%past) : tensor<1x2x8x4xf32>, tensor<2x1x4xf32>
  return
}

// -----

func.func @append.C2_heads(%cache: tensor<1x2x8x4xf32>, %x: tensor<1x4x1x4xf32>, %past: i64) {
  // expected-error @+1 {{expected [batch, heads, new keys, size] that fit into the cache 'tensor<1x2x8x4xf32>' but got 'tensor<1x4x1x4xf32>'}}
  %y = resid.append %cache, %x past(%past) : tensor<1x2x8x4xf32>, tensor<1x4x1x4xf32>
  return
}

// -----

func.func @append.C2_too_many(%cache: tensor<1x2x8x4xf32>, %x: tensor<1x2x9x4xf32>, %past: i64) {
  // expected-error @+1 {{expected [batch, heads, new keys, size] that fit into the cache 'tensor<1x2x8x4xf32>' but got 'tensor<1x2x9x4xf32>'}}
  %y = resid.append %cache, %x past(%past) : tensor<1x2x8x4xf32>, tensor<1x2x9x4xf32>
  return
}

// -----

func.func @append.C3_result(%cache: tensor<1x2x8x4xf32>, %x: tensor<1x2x1x4xf32>, %past: i64) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<1x2x8x4xf32>' are incompatible with return type(s) of operation 'tensor<1x2x?x4xf32>'}}
  %y = "resid.append"(%cache, %x, %past) : (tensor<1x2x8x4xf32>, tensor<1x2x1x4xf32>, i64) -> tensor<1x2x?x4xf32>
  return
}

// -----

func.func @append.C4_batch(%cache: tensor<1x2x8x4xf32>, %x: tensor<1x2x1x4xf32>, %past: tensor<2xi64>) {
  // expected-error @+1 {{expected a past for each sample of 'tensor<1x2x8x4xf32>', but got 'tensor<2xi64>'}}
  %y = resid.append %cache, %x past(%past) : tensor<1x2x8x4xf32>, tensor<1x2x1x4xf32>, tensor<2xi64>
  return
}
