// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @attention.C1_integers(%q: tensor<1x2x3x4xi8>, %k: tensor<1x2x5x4xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<1x2x3x4xi8>'}}
  %y = resid.attention %q, %k, %k : tensor<1x2x3x4xi8>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>
  return
}

// -----

func.func @attention.C1_mask_of_bytes(%q: tensor<1x2x3x4xf32>, %mask: tensor<3xi8>) {
  // expected-error @+1 {{operand #3 must be ranked tensor of i1, f16, bf16, f32 or f64, without an encoding and of at most 2^47 bytes, but got 'tensor<3xi8>'}}
  %y = resid.attention %q, %q, %q mask(%mask)
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3xi8>
  return
}

// -----

func.func @attention.C1_encoding(%q: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32, "mine">) {
  // expected-error @+1 {{operand #2 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more, without an encoding and of at most 2^47 bytes}}
  %y = resid.attention %q, %q, %v : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32, "mine">
  return
}

// -----

func.func @attention.C1_heads_folded_into_features(%q: tensor<1x3x8xf32>, %k: tensor<1x2x5x4xf32>) {
  // expected-error @+1 {{expected q of rank 4, [batch, heads, positions, size], but got 'tensor<1x3x8xf32>'}}
  %y = resid.attention %q, %k, %k : tensor<1x3x8xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>
  return
}

// -----

func.func @attention.C1_rank_of_v(%q: tensor<1x2x3x4xf32>, %v: tensor<3x4xf32>) {
  // expected-error @+1 {{expected v of rank 4, [batch, heads, positions, size], but got 'tensor<3x4xf32>'}}
  %y = resid.attention %q, %q, %v : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @attention.C2_dynamic_size(%q: tensor<1x2x3x?xf32>) {
  // expected-error @+1 {{expected heads of a static size from 1 to 576 but got 'tensor<1x2x3x?xf32>'}}
  %y = resid.attention %q, %q, %q : tensor<1x2x3x?xf32>, tensor<1x2x3x?xf32>, tensor<1x2x3x?xf32>
  return
}

// -----

func.func @attention.C2_no_size(%q: tensor<1x2x3x0xf32>) {
  // expected-error @+1 {{expected heads of a static size from 1 to 576 but got 'tensor<1x2x3x0xf32>'}}
  %y = resid.attention %q, %q, %q : tensor<1x2x3x0xf32>, tensor<1x2x3x0xf32>, tensor<1x2x3x0xf32>
  return
}

// -----

func.func @attention.C2_large_size(%q: tensor<1x2x3x577xf32>) {
  // expected-error @+1 {{expected heads of a static size from 1 to 576 but got 'tensor<1x2x3x577xf32>'}}
  %y = resid.attention %q, %q, %q : tensor<1x2x3x577xf32>, tensor<1x2x3x577xf32>, tensor<1x2x3x577xf32>
  return
}

// -----

func.func @attention.C2_size_of_values(%q: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x8xf32>) {
  // expected-error @+1 {{expected k with heads of size 4 but got 'tensor<1x2x3x8xf32>'}}
  %y = resid.attention %q, %v, %q : tensor<1x2x3x4xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C2_size_of_keys_is_open(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x?xf32>) {
  // expected-error @+1 {{expected heads of a static size from 1 to 576 but got 'tensor<1x2x3x?xf32>'}}
  %y = resid.attention %q, %k, %k : tensor<1x2x3x4xf32>, tensor<1x2x3x?xf32>, tensor<1x2x3x?xf32>
  return
}

// -----

func.func @attention.C3_keys_and_values(%q: tensor<1x2x3x4xf32>, %v: tensor<1x2x5x4xf32>) {
  // expected-error @+1 {{expected v of the batch, heads and keys of k, 'tensor<1x2x3x4xf32>', but got 'tensor<1x2x5x4xf32>'}}
  %y = resid.attention %q, %q, %v : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>
  return
}

// -----

func.func @attention.C3_batch(%q: tensor<2x2x3x4xf32>, %k: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{expected k and v of the batch of q, 'tensor<2x2x3x4xf32>', but got 'tensor<1x2x3x4xf32>'}}
  %y = resid.attention %q, %k, %k : tensor<2x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C4_remainder(%q: tensor<1x8x3x4xf32>, %k: tensor<1x3x3x4xf32>) {
  // expected-error @+1 {{expected a number of heads in k that divides that of q but got 'tensor<1x3x3x4xf32>' and 'tensor<1x8x3x4xf32>'}}
  %y = resid.attention %q, %k, %k : tensor<1x8x3x4xf32>, tensor<1x3x3x4xf32>, tensor<1x3x3x4xf32>
  return
}

// -----

func.func @attention.C4_no_keys_for_a_head(%q: tensor<1x8x3x4xf32>, %k: tensor<1x0x3x4xf32>) {
  // expected-error @+1 {{expected a number of heads in k that divides that of q but got}}
  %y = resid.attention %q, %k, %k : tensor<1x8x3x4xf32>, tensor<1x0x3x4xf32>, tensor<1x0x3x4xf32>
  return
}

// -----

func.func @attention.C5_keys(%q: tensor<1x2x3x4xf32>, %mask: tensor<3x5xi1>) {
  // expected-error @+1 {{expected a mask that broadcasts to [batch, heads, queries, keys], 'tensor<1x2x3x3xi1>', but got 'tensor<3x5xi1>'}}
  %y = resid.attention %q, %q, %q mask(%mask)
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3x5xi1>
  return
}

// -----

func.func @attention.C5_heads_of_keys(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x3x8xf32>, %mask: tensor<2x3x3xf32>) {
  // expected-error @+1 {{expected a mask that broadcasts to [batch, heads, queries, keys], 'tensor<1x4x3x3xf32>', but got 'tensor<2x3x3xf32>'}}
  %y = resid.attention %q, %k, %k mask(%mask)
       : tensor<1x4x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<2x3x3xf32>
  return
}

// -----

func.func @attention.C5_rank(%q: tensor<1x2x3x4xf32>, %mask: tensor<1x1x1x1x1xf32>) {
  // expected-error @+1 {{expected a mask that broadcasts to [batch, heads, queries, keys], 'tensor<1x2x3x3xf32>', but got 'tensor<1x1x1x1x1xf32>'}}
  %y = resid.attention %q, %q, %q mask(%mask)
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x1x1x1x1xf32>
  return
}

// -----

func.func @attention.C6_overflows(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{expected scale to be finite in 'f32' but got 1e+39}}
  %y = resid.attention %q, %q, %q {scale = 1.0e39} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention_of_a_large_scale_in_f64(%q: tensor<1x2x3x4xf32>, %mask: tensor<f64>) {
  %y = resid.attention %q, %q, %q mask(%mask) {scale = 1.0e39}
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<f64>
  return
}

// -----

func.func @attention.C7_shape(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{expected a result of the rows of q and the size of v, 'tensor<1x2x3x4xf32>', but got 'tensor<1x2x?x4xf32>'}}
  %y = resid.attention %q, %q, %q
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32> -> tensor<1x2x?x4xf32>
  return
}

// -----

func.func @attention.C8_max_alone(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{expected no statistics or 2 but got 1}}
  %y, %max = resid.attention %q, %q, %q
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32> -> tensor<1x2x3x4xf32>, tensor<1x2x3xf32>
  return
}

// -----

func.func @attention.C8_type(%q: tensor<1x2x3x4xf64>) {
  // expected-error @+1 {{expected statistics of type 'tensor<1x2x3xf64>' but got 'tensor<1x2x3xf32>'}}
  %y, %max, %sum = resid.attention %q, %q, %q
       : tensor<1x2x3x4xf64>, tensor<1x2x3x4xf64>, tensor<1x2x3x4xf64>
         -> tensor<1x2x3x4xf64>, tensor<1x2x3xf32>, tensor<1x2x3xf32>
  return
}

// -----

func.func @attention.C8_shape(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{expected statistics of type 'tensor<1x2x3xf32>' but got 'tensor<1x2x3x1xf32>'}}
  %y, %max, %sum = resid.attention %q, %q, %q
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
         -> tensor<1x2x3x4xf32>, tensor<1x2x3xf32>, tensor<1x2x3x1xf32>
  return
}

// -----

func.func @attention.C9_p_without_seed(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{expected seed, step, p and site together but got only p}}
  %y = resid.attention %q, %q, %q {p = 0.5} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C9_dropout_without_site(%q: tensor<1x2x3x4xf32>, %i: i64) {
  // expected-error @+1 {{expected seed, step, p and site together but got only seed and step and p}}
  %y = resid.attention %q, %q, %q dropout(%i, %i) {p = 0.5} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C10_p(%q: tensor<1x2x3x4xf32>, %i: i64) {
  // expected-error @+1 {{expected p in [0, 1] but got 1.5}}
  %y = resid.attention %q, %q, %q dropout(%i, %i) {p = 1.5, site = 0} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C10_site(%q: tensor<1x2x3x4xf32>, %i: i64) {
  // expected-error @+1 {{expected site in [0, 4294967296) but got -1}}
  %y = resid.attention %q, %q, %q dropout(%i, %i) {p = 0.5, site = -1} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C11_origin_without_dropout(%q: tensor<1x2x3x4xf32>, %i: i64) {
  // expected-error @+1 {{expected a dropout clause beside origin but got none}}
  %y = resid.attention %q, %q, %q origin(%i, %i) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C11_half_an_origin(%q: tensor<1x2x3x4xf32>, %i: i64) {
  // expected-error @+1 {{expected origin_row and origin_site together but got only origin_row}}
  %y = "resid.attention"(%q, %q, %q, %i, %i, %i) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0>, p = 0.5, site = 0}
       : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, i64, i64, i64) -> tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C12_rows(%q: tensor<65537x65536x1x1xf32>, %i: i64) {
  // expected-error @+1 {{expected at most 4294967296 rows under dropout but got 4295032832}}
  %y = resid.attention %q, %q, %q dropout(%i, %i) {p = 0.5, site = 0}
       : tensor<65537x65536x1x1xf32>, tensor<65537x65536x1x1xf32>, tensor<65537x65536x1x1xf32>
  return
}

// -----

func.func @attention.C12_keys(%q: tensor<1x1x1x1xf16>, %k: tensor<1x1x34359738369x1xf16>, %i: i64) {
  // expected-error @+1 {{expected at most 34359738368 columns under dropout but got 34359738369}}
  %y = resid.attention %q, %k, %k dropout(%i, %i) {p = 0.5, site = 0}
       : tensor<1x1x1x1xf16>, tensor<1x1x34359738369x1xf16>, tensor<1x1x34359738369x1xf16>
  return
}

// -----

func.func @attention.C13_extent(%q: tensor<1x2x3x4xf32>, %i: i64) {
  %c = arith.constant -1 : i64
  // expected-error @+1 {{expected extent_local of at least 1 but got -1}}
  %y = resid.attention %q, %q, %q dropout(%i, %i) origin(%i, %i) extent(%c, %i) {p = 0.5, site = 0}
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C14_window(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{expected a window of 1 or more but got 0}}
  %y = resid.attention %q, %q, %q {window = 0} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C15_zero(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{expected cap to be finite and greater than 0 in 'f32' but got 0}}
  %y = resid.attention %q, %q, %q {cap = 0.0} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C15_negative(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{expected cap to be finite and greater than 0 in 'f32' but got -1}}
  %y = resid.attention %q, %q, %q {cap = -1.0} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C15_infinite(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{expected cap to be finite and greater than 0 in 'f32' but got}}
  %y = resid.attention %q, %q, %q {cap = 0x7FF0000000000000 : f64} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C15_tiny(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{expected cap to be finite and greater than 0 in 'f32' but got 1e-60}}
  %y = resid.attention %q, %q, %q {cap = 1.0e-60} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C15_huge(%q: tensor<1x2x3x4xf32>) {
  // expected-error @+1 {{expected cap to be finite and greater than 0 in 'f32' but got 1e+60}}
  %y = resid.attention %q, %q, %q {cap = 1.0e+60} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention.C16_rank(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2xf32>) {
  // expected-error @+1 {{expected a sink with a number for each head of q, 'tensor<1x2x3x4xf32>', but got 'tensor<1x2xf32>'}}
  %y = resid.attention %q, %q, %q sink(%s) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2xf32>
  return
}

// -----

func.func @attention.C16_size(%q: tensor<1x2x3x4xf32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{expected a sink with a number for each head of q, 'tensor<1x2x3x4xf32>', but got 'tensor<3xf32>'}}
  %y = resid.attention %q, %q, %q sink(%s) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3xf32>
  return
}

// -----

func.func @attention.C16_type(%q: tensor<1x2x3x4xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{operand #3 must be ranked tensor of f16, bf16, f32 or f64}}
  %y = resid.attention %q, %q, %q sink(%s) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<2xi32>
  return
}

// -----

func.func @attention.C17_batch(%q: tensor<1x2x3x4xf32>, %p: tensor<2xi64>) {
  // expected-error @+1 {{expected a past for each sample of 'tensor<1x2x3x4xf32>', but got 'tensor<2xi64>'}}
  %y = resid.attention %q, %q, %q past(%p) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<2xi64>
  return
}

// -----

func.func @attention.C17_rank(%q: tensor<1x2x3x4xf32>, %p: tensor<i64>) {
  // expected-error @+1 {{expected a past for each sample of 'tensor<1x2x3x4xf32>', but got 'tensor<i64>'}}
  %y = resid.attention %q, %q, %q past(%p) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<i64>
  return
}

// -----

func.func @attention.C17_type(%q: tensor<1x2x3x4xf32>, %p: tensor<1xi32>) {
  // expected-error @+1 {{operand #3 must be i64, or a ranked tensor of i64, but got 'tensor<1xi32>'}}
  %y = resid.attention %q, %q, %q past(%p) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1xi32>
  return
}

// -----

func.func @attention.C18_type(%q: tensor<1x2x3x4xf32>, %s: tensor<1x3xi64>) {
  // expected-error @+1 {{operand #3 must be ranked tensor of i32, without an encoding and of at most 2^47 bytes, but got 'tensor<1x3xi64>'}}
  %y = resid.attention %q, %q, %q segments(%s, %s) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x3xi64>, tensor<1x3xi64>
  return
}

// -----

func.func @attention.C18_rank(%q: tensor<1x2x3x4xf32>, %s: tensor<3xi32>) {
  // expected-error @+1 {{expected segments of q of type 'tensor<1x3xi32>' but got 'tensor<3xi32>'}}
  %y = resid.attention %q, %q, %q segments(%s, %s) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3xi32>, tensor<3xi32>
  return
}

// -----

func.func @attention.C18_queries(%q: tensor<1x2x3x4xf32>, %s: tensor<1x4xi32>, %k: tensor<1x3xi32>) {
  // expected-error @+1 {{expected segments of q of type 'tensor<1x3xi32>' but got 'tensor<1x4xi32>'}}
  %y = resid.attention %q, %q, %q segments(%s, %k) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x4xi32>, tensor<1x3xi32>
  return
}

// -----

func.func @attention.C18_missing(%q: tensor<1x2x3x4xf32>, %s: tensor<1x3xi32>) {
  // expected-error @+1 {{expected 5 types (q, k, v, segments of q, segments of k), but got 4: that of segments of k is missing}}
  %y = resid.attention %q, %q, %q segments(%s, %s) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x3xi32>
  return
}

// -----

func.func @attention.C19_past(%q: tensor<1x2x3x4xf32>, %s: tensor<1x3xi32>, %p: i64) {
  // expected-error @+1 {{expected no past beside segments}}
  %y = resid.attention %q, %q, %q past(%p) segments(%s, %s) : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x3xi32>, tensor<1x3xi32>
  return
}

// -----

func.func @attention.C19_dropout(%q: tensor<1x2x3x4xf32>, %s: tensor<1x3xi32>, %i: i64) {
  // expected-error @+1 {{expected no dropout beside segments}}
  %y = resid.attention %q, %q, %q segments(%s, %s) dropout(%i, %i) {p = 0.5, site = 0} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x3xi32>, tensor<1x3xi32>
  return
}
