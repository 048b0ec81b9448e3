// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @dropout.C1_complex(%x: tensor<4x8xcomplex<f32>>, %s: i64) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more, without an encoding and of at most 2^47 bytes, but got 'tensor<4x8xcomplex<f32>>'}}
  %y = resid.dropout %x seed(%s, %s) {p = 0.1, site = 0} : tensor<4x8xcomplex<f32>>
  return
}

// -----

func.func @dropout.C2_result_type(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<4x8xf32>' are incompatible with return type(s) of operation 'tensor<4x8xbf16>'}}
  %y = "resid.dropout"(%x, %s, %s) <{p = 0.1, site = 0, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>}> : (tensor<4x8xf32>, i64, i64) -> tensor<4x8xbf16>
  return
}

// -----

func.func @dropout.C3_above_1(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected p in [0, 1] but got 1.5}}
  %y = resid.dropout %x seed(%s, %s) {p = 1.5, site = 0} : tensor<4x8xf32>
  return
}

// -----

func.func @dropout.C3_negative(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected p in [0, 1] but got -0.1}}
  %y = resid.dropout %x seed(%s, %s) {p = -0.1, site = 0} : tensor<4x8xf32>
  return
}

// -----

func.func @dropout.C3_not_a_number(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected p in [0, 1] but got nan}}
  %y = resid.dropout %x seed(%s, %s) {p = 0x7FF8000000000000 : f64, site = 0} : tensor<4x8xf32>
  return
}

// -----

func.func @dropout.C4_negative(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected site in [0, 4294967296) but got -1}}
  %y = resid.dropout %x seed(%s, %s) {p = 0.1, site = -1} : tensor<4x8xf32>
  return
}

// -----

func.func @dropout.C4_too_large(%x: tensor<4x8xf32>, %s: i64) {
  %z = resid.dropout %x seed(%s, %s) {p = 0.1, site = 4294967295} : tensor<4x8xf32>
  // expected-error @+1 {{expected site in [0, 4294967296) but got 4294967296}}
  %y = resid.dropout %x seed(%s, %s) {p = 0.1, site = 4294967296} : tensor<4x8xf32>
  return
}

// -----

func.func @dropout_without_site(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{requires attribute 'site'}}
  %y = resid.dropout %x seed(%s, %s) {p = 0.1} : tensor<4x8xf32>
  return
}

// -----

func.func @dropout.C5_half_an_origin(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected origin_row and origin_site together but got only origin_row}}
  %y = "resid.dropout"(%x, %s, %s, %s) <{p = 0.1, site = 0, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0>}> : (tensor<4x8xf32>, i64, i64, i64) -> tensor<4x8xf32>
  return
}

// -----

func.func @dropout.C6_rows(%fits: tensor<65536x65536x8xf32>, %x: tensor<65537x65536x8xf32>, %s: i64) {
  %z = resid.dropout %fits seed(%s, %s) {p = 0.1, site = 0} : tensor<65536x65536x8xf32>
  // expected-error @+1 {{expected at most 4294967296 rows under dropout but got 4295032832}}
  %y = resid.dropout %x seed(%s, %s) {p = 0.1, site = 0} : tensor<65537x65536x8xf32>
  return
}

// -----

func.func @dropout.C6_columns(%fits: tensor<34359738368xf32>, %x: tensor<34359738369xf32>, %s: i64) {
  %z = resid.dropout %fits seed(%s, %s) {p = 0.1, site = 0} : tensor<34359738368xf32>
  // expected-error @+1 {{expected at most 34359738368 columns under dropout but got 34359738369}}
  %y = resid.dropout %x seed(%s, %s) {p = 0.1, site = 0} : tensor<34359738369xf32>
  return
}

// -----

func.func @dropout.C7_column_alone(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected origin_row and origin_site beside origin_col but got none}}
  %y = "resid.dropout"(%x, %s, %s, %s) <{p = 0.1, site = 0, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 0, 0>}> : (tensor<4x8xf32>, i64, i64, i64) -> tensor<4x8xf32>
  return
}

// -----

func.func @dropout.C7_extent_alone(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected origin_row and origin_site beside an extent but got none}}
  %y = resid.dropout %x seed(%s, %s) extent(%s, %s) {p = 0.1, site = 0} : tensor<4x8xf32>
  return
}

// -----

func.func @dropout.C7_half_an_extent(%x: tensor<4x8xf32>, %s: i64) {
  // expected-error @+1 {{expected extent_local and extent_global together but got only extent_global}}
  %y = "resid.dropout"(%x, %s, %s, %s, %s, %s) <{p = 0.1, site = 0, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 1>}> : (tensor<4x8xf32>, i64, i64, i64, i64, i64) -> tensor<4x8xf32>
  return
}

// -----

// What is no constant is checked when the program runs.
func.func @dropout.C8_column_between_calls(%x: tensor<4x8xf32>, %s: i64) {
  %open = resid.dropout %x seed(%s, %s) origin(%s, %s, %s) {p = 0.1, site = 0} : tensor<4x8xf32>
  %eight = arith.constant 8 : i64
  %fits = resid.dropout %x seed(%s, %s) origin(%s, %s, %eight) {p = 0.1, site = 0} : tensor<4x8xf32>
  %c = arith.constant 12 : i64
  // expected-error @+1 {{expected origin_col to be a multiple of 8 but got 12}}
  %y = resid.dropout %x seed(%s, %s) origin(%s, %s, %c) {p = 0.1, site = 0} : tensor<4x8xf32>
  return
}

// -----

func.func @dropout.C8_negative_column(%x: tensor<4x8xf32>, %s: i64) {
  %c = arith.constant -8 : i64
  // expected-error @+1 {{expected origin_col in [0, 34359738360] but got -8}}
  %y = resid.dropout %x seed(%s, %s) origin(%s, %s, %c) {p = 0.1, site = 0} : tensor<4x8xf32>
  return
}

// -----

func.func @dropout.C8_columns_behind_the_last(%fits: tensor<4x8xf32>, %x: tensor<4x9xf32>, %s: i64) {
  %c = arith.constant 34359738360 : i64
  %z = resid.dropout %fits seed(%s, %s) origin(%s, %s, %c) {p = 0.1, site = 0} : tensor<4x8xf32>
  // expected-error @+1 {{expected origin_col in [0, 34359738359] but got 34359738360}}
  %y = resid.dropout %x seed(%s, %s) origin(%s, %s, %c) {p = 0.1, site = 0} : tensor<4x9xf32>
  return
}

// -----

func.func @dropout.C9_no_local_rows(%x: tensor<4x8xf32>, %s: i64) {
  %c = arith.constant 0 : i64
  // expected-error @+1 {{expected extent_local of at least 1 but got 0}}
  %y = resid.dropout %x seed(%s, %s) origin(%s, %s) extent(%c, %s) {p = 0.1, site = 0} : tensor<4x8xf32>
  return
}

// -----

func.func @dropout.C9_no_global_rows(%x: tensor<4x8xf32>, %s: i64) {
  %c = arith.constant 0 : i64
  // expected-error @+1 {{expected extent_global in [1, 4294967296] but got 0}}
  %y = resid.dropout %x seed(%s, %s) origin(%s, %s) extent(%s, %c) {p = 0.1, site = 0} : tensor<4x8xf32>
  return
}

// -----

func.func @dropout.C9_local_above_global(%x: tensor<4x8xf32>, %s: i64) {
  %three = arith.constant 3 : i64
  %four = arith.constant 4 : i64
  %fits = resid.dropout %x seed(%s, %s) origin(%s, %s) extent(%four, %four) {p = 0.1, site = 0} : tensor<4x8xf32>
  // expected-error @+1 {{expected extent_local of at most 3, which is extent_global, but got 4}}
  %y = resid.dropout %x seed(%s, %s) origin(%s, %s) extent(%four, %three) {p = 0.1, site = 0} : tensor<4x8xf32>
  return
}

// -----

func.func @dropout.C9_too_large(%x: tensor<4x8xf32>, %s: i64) {
  %fits = arith.constant 4294967296 : i64
  %z = resid.dropout %x seed(%s, %s) origin(%s, %s) extent(%fits, %fits) {p = 0.1, site = 0} : tensor<4x8xf32>
  %c = arith.constant 4294967297 : i64
  // expected-error @+1 {{expected extent_local of at most 4294967296 but got 4294967297}}
  %y = resid.dropout %x seed(%s, %s) origin(%s, %s) extent(%c, %s) {p = 0.1, site = 0} : tensor<4x8xf32>
  return
}
