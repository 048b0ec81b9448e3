// RUN: resid-opt %s -split-input-file -verify-diagnostics

func.func @attention_grad.C1_integers(%q: tensor<1x2x3x4xf32>, %dy: tensor<1x2x3x4xi8>, %s: tensor<1x2x3xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64, of rank 1 or more}}
  %g:3 = resid.attention_grad %dy, %q, %q, %q statistics(%s, %s)
       : tensor<1x2x3x4xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention_grad.C1_rank(%q: tensor<2x3x4xf32>, %s: tensor<2x3xf32>) {
  // expected-error @+1 {{expected q of rank 4, [batch, heads, positions, size], but got 'tensor<2x3x4xf32>'}}
  %g:3 = resid.attention_grad %q, %q, %q, %q statistics(%s, %s)
       : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return
}

// -----

func.func @attention_grad.C2_size(%q: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x8xf32>, %s: tensor<1x2x3xf32>) {
  // expected-error @+1 {{expected k with heads of size 4 but got 'tensor<1x2x3x8xf32>'}}
  %g:3 = resid.attention_grad %q, %q, %v, %q statistics(%s, %s)
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention_grad.C3_batch(%q: tensor<1x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %s: tensor<1x2x3xf32>) {
  // expected-error @+1 {{expected k and v of the batch of q, 'tensor<1x2x3x4xf32>', but got 'tensor<2x2x3x4xf32>'}}
  %g:3 = resid.attention_grad %q, %q, %k, %k statistics(%s, %s)
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>
  return
}

// -----

func.func @attention_grad.C4_remainder(%q: tensor<1x2x3x4xf32>, %k: tensor<1x3x3x4xf32>, %s: tensor<1x2x3xf32>) {
  // expected-error @+1 {{expected a number of heads in k that divides that of q but got 'tensor<1x3x3x4xf32>' and 'tensor<1x2x3x4xf32>'}}
  %g:3 = resid.attention_grad %q, %q, %k, %k statistics(%s, %s)
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x3x3x4xf32>, tensor<1x3x3x4xf32>
  return
}

// -----

func.func @attention_grad.C5_mask(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf32>, %mask: tensor<5xi1>) {
  // expected-error @+1 {{expected a mask that broadcasts to [batch, heads, queries, keys], 'tensor<1x2x3x3xi1>', but got 'tensor<5xi1>'}}
  %g:3 = resid.attention_grad %q, %q, %q, %q statistics(%s, %s) mask(%mask)
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<5xi1>
  return
}

// -----

func.func @attention_grad.C6_scale(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf32>) {
  // expected-error @+1 {{expected scale to be finite in 'f32' but got 1e+39}}
  %g:3 = resid.attention_grad %q, %q, %q, %q statistics(%s, %s) {scale = 1.0e39}
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention_grad.C7_shape(%q: tensor<1x2x3x4xf32>, %dy: tensor<1x2x5x4xf32>, %s: tensor<1x2x3xf32>) {
  // expected-error @+1 {{expected dy of the rows of q and the size of v, 'tensor<1x2x3x4xf32>', but got 'tensor<1x2x5x4xf32>'}}
  %g:3 = resid.attention_grad %dy, %q, %q, %q statistics(%s, %s)
       : tensor<1x2x5x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention_grad.C7_type(%q: tensor<1x2x3x4xf32>, %dy: tensor<1x2x3x4xf64>, %s: tensor<1x2x3xf32>) {
  // expected-error @+1 {{expected dy of f64 only where q, k, v, the mask or the sink is but got 'tensor<1x2x3x4xf64>'}}
  %g:3 = resid.attention_grad %dy, %q, %q, %q statistics(%s, %s)
       : tensor<1x2x3x4xf64>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention_grad.C8_type(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf64>) {
  // expected-error @+1 {{expected statistics of type 'tensor<1x2x3xf32>' but got 'tensor<1x2x3xf64>'}}
  %g:3 = "resid.attention_grad"(%q, %q, %q, %q, %s, %s) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
       : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3xf64>, tensor<1x2x3xf64>)
         -> (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>)
  return
}

// -----

func.func @attention_grad.C9_site(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf32>, %i: i64) {
  // expected-error @+1 {{expected seed, step, p and site together but got only seed and step and p}}
  %g:3 = resid.attention_grad %q, %q, %q, %q statistics(%s, %s) dropout(%i, %i) {p = 0.5}
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention_grad.C10_p(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf32>, %i: i64) {
  // expected-error @+1 {{expected p in [0, 1] but got 1.5}}
  %g:3 = resid.attention_grad %q, %q, %q, %q statistics(%s, %s) dropout(%i, %i) {p = 1.5, site = 0}
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention_grad.C11_origin(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf32>, %i: i64) {
  // expected-error @+1 {{expected a dropout clause beside origin but got none}}
  %g:3 = resid.attention_grad %q, %q, %q, %q statistics(%s, %s) origin(%i, %i)
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention_grad.C12_rows(%q: tensor<65537x65536x1x1xf32>, %s: tensor<65537x65536x1xf32>, %i: i64) {
  // expected-error @+1 {{expected at most 4294967296 rows under dropout but got 4295032832}}
  %g:3 = resid.attention_grad %q, %q, %q, %q statistics(%s, %s) dropout(%i, %i) {p = 0.5, site = 0}
       : tensor<65537x65536x1x1xf32>, tensor<65537x65536x1x1xf32>, tensor<65537x65536x1x1xf32>, tensor<65537x65536x1x1xf32>
  return
}

// -----

func.func @attention_grad.C13_dk(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf32>) {
  // expected-error @+1 {{expected dk of type 'tensor<1x2x3x4xf32>' but got 'tensor<1x2x3x4xbf16>'}}
  %g:3 = "resid.attention_grad"(%q, %q, %q, %q, %s, %s) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
       : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>)
         -> (tensor<1x2x3x4xf32>, tensor<1x2x3x4xbf16>, tensor<1x2x3x4xf32>)
  return
}

// -----

func.func @attention_grad.C14_column(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf32>, %i: i64) {
  %c = arith.constant 2 : i64
  // expected-error @+1 {{expected origin_col to be a multiple of 8 but got 2}}
  %g:3 = resid.attention_grad %q, %q, %q, %q statistics(%s, %s) dropout(%i, %i) origin(%i, %i, %c) {p = 0.5, site = 0}
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention_grad.C15_window(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf32>) {
  // expected-error @+1 {{expected a window of 1 or more but got -3}}
  %g:3 = resid.attention_grad %q, %q, %q, %q statistics(%s, %s) {window = -3}
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention_grad.C16_cap(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf32>) {
  // expected-error @+1 {{expected cap to be finite and greater than 0 in 'f32' but got 0}}
  %g:3 = resid.attention_grad %q, %q, %q, %q statistics(%s, %s) {cap = 0.0}
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return
}

// -----

func.func @attention_grad.C17_size(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf32>, %sink: tensor<3xf32>) {
  // expected-error @+1 {{expected a sink with a number for each head of q, 'tensor<1x2x3x4xf32>', but got 'tensor<3xf32>'}}
  %g:4 = resid.attention_grad %q, %q, %q, %q statistics(%s, %s) sink(%sink)
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3xf32>
  return
}

// -----

func.func @attention_grad.C18_alone(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf32>) {
  // expected-error @+1 {{expected dsinks beside a sink, and only there}}
  %g:4 = "resid.attention_grad"(%q, %q, %q, %q, %s, %s) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
       : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>)
         -> (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x3x2xf32>)
  return
}

// -----

func.func @attention_grad.C18_type(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf32>, %sink: tensor<2xf32>) {
  // expected-error @+1 {{expected dsinks of type 'tensor<1x3x2xf32>' but got 'tensor<1x2x3xf32>'}}
  %g:4 = "resid.attention_grad"(%q, %q, %q, %q, %s, %s, %sink) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
       : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<2xf32>)
         -> (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3xf32>)
  return
}

// -----

func.func @attention_grad.C19_keys(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf32>, %a: tensor<1x3xi32>, %b: tensor<1x4xi32>) {
  // expected-error @+1 {{expected segments of k of type 'tensor<1x3xi32>' but got 'tensor<1x4xi32>'}}
  %g:3 = resid.attention_grad %q, %q, %q, %q statistics(%s, %s) segments(%a, %b)
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x3xi32>, tensor<1x4xi32>
  return
}

// -----

func.func @attention_grad.C20_dropout(%q: tensor<1x2x3x4xf32>, %s: tensor<1x2x3xf32>, %a: tensor<1x3xi32>, %i: i64) {
  // expected-error @+1 {{expected no dropout beside segments}}
  %g:3 = resid.attention_grad %q, %q, %q, %q statistics(%s, %s) segments(%a, %a) dropout(%i, %i) {p = 0.5, site = 0}
       : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x3xi32>, tensor<1x3xi32>
  return
}
