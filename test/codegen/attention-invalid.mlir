// RUN: resid-opt --split-input-file --verify-diagnostics %s

#heads = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#keys = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
func.func @maps(%q: tensor<1x2x3x16xf32>) -> tensor<1x2x3x16xf32> {
  // expected-error@+1 {{expected 4 maps, but got 3}}
  %y = attention.kernel q(%q : tensor<1x2x3x16xf32>) k(%q : tensor<1x2x3x16xf32>) v(%q : tensor<1x2x3x16xf32>)
      outs(%q : tensor<1x2x3x16xf32>) attributes {indexing_maps = [#heads, #keys, #heads], scale = 1.0 : f64} -> tensor<1x2x3x16xf32>
  return %y : tensor<1x2x3x16xf32>
}

// -----

#heads = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#keys = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
func.func @queries_as_values(%q: tensor<1x2x3x16xf32>) -> tensor<1x2x3x16xf32> {
  // expected-error@+1 {{expected a map to every dimension of 'tensor<1x2x3x16xf32>', but got affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>}}
  %y = attention.kernel q(%q : tensor<1x2x3x16xf32>) k(%q : tensor<1x2x3x16xf32>) v(%q : tensor<1x2x3x16xf32>)
      outs(%q : tensor<1x2x3x16xf32>) attributes {indexing_maps = [#heads, #keys, #heads, #heads], scale = 1.0 : f64} -> tensor<1x2x3x16xf32>
  return %y : tensor<1x2x3x16xf32>
}

// -----

#heads = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#keys = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
func.func @size(%q: tensor<1x2x3x?xf32>) -> tensor<1x2x3x?xf32> {
  // expected-error@+1 {{expected heads of a static size}}
  %y = attention.kernel q(%q : tensor<1x2x3x?xf32>) k(%q : tensor<1x2x3x?xf32>) v(%q : tensor<1x2x3x?xf32>)
      outs(%q : tensor<1x2x3x?xf32>) attributes {indexing_maps = [#heads, #keys, #keys, #heads], scale = 1.0 : f64} -> tensor<1x2x3x?xf32>
  return %y : tensor<1x2x3x?xf32>
}

// -----

#heads = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#keys = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#rows = affine_map<(b, h, i, j, d) -> (b, h, i)>
func.func @inits(%q: tensor<1x2x3x16xf32>, %m: tensor<1x2x3xf32>) -> tensor<1x2x3x16xf32> {
  // expected-error@+1 {{expected one init or three, but got 2}}
  %y:2 = attention.kernel q(%q : tensor<1x2x3x16xf32>) k(%q : tensor<1x2x3x16xf32>) v(%q : tensor<1x2x3x16xf32>)
      outs(%q, %m : tensor<1x2x3x16xf32>, tensor<1x2x3xf32>) attributes {indexing_maps = [#heads, #keys, #keys, #heads, #rows], scale = 1.0 : f64}
      -> tensor<1x2x3x16xf32>, tensor<1x2x3xf32>
  return %y#0 : tensor<1x2x3x16xf32>
}

// -----

#heads = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#keys = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
func.func @dropout(%q: tensor<1x2x3x16xf32>, %seed: i64) -> tensor<1x2x3x16xf32> {
  // expected-error@+1 {{expected seed, step, row and site of a dropout, and perhaps its first call and extent, beside its threshold and scale, but got 1 number}}
  %y = attention.kernel q(%q : tensor<1x2x3x16xf32>) k(%q : tensor<1x2x3x16xf32>) v(%q : tensor<1x2x3x16xf32>) dropout(%seed)
      outs(%q : tensor<1x2x3x16xf32>) attributes {indexing_maps = [#heads, #keys, #keys, #heads], scale = 1.0 : f64, threshold = 6554 : i64} -> tensor<1x2x3x16xf32>
  return %y : tensor<1x2x3x16xf32>
}

// -----

#heads = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#keys = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#rows = affine_map<(b, h, i, j, d) -> (b, h, i)>
func.func @backward_inits(%q: tensor<1x2x3x16xf32>, %m: tensor<1x2x3xf32>) {
  // expected-error@+1 {{expected three inits, but got 1}}
  %dq = attention.backward q(%q : tensor<1x2x3x16xf32>) k(%q : tensor<1x2x3x16xf32>) v(%q : tensor<1x2x3x16xf32>)
      dy(%q : tensor<1x2x3x16xf32>) max(%m : tensor<1x2x3xf32>) sum(%m : tensor<1x2x3xf32>) outs(%q : tensor<1x2x3x16xf32>)
      attributes {indexing_maps = [#heads, #keys, #keys, #heads, #rows, #rows, #heads], scale = 1.0 : f64} -> tensor<1x2x3x16xf32>
  return
}

// -----

#heads = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#keys = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#rows = affine_map<(b, h, i, j, d) -> (b, h, i)>
func.func @backward_maps(%q: tensor<1x2x3x16xf32>, %m: tensor<1x2x3xf32>) {
  // expected-error@+1 {{expected a map to every dimension of 'tensor<1x2x3xf32>', but got affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3)>}}
  %g:3 = attention.backward q(%q : tensor<1x2x3x16xf32>) k(%q : tensor<1x2x3x16xf32>) v(%q : tensor<1x2x3x16xf32>)
      dy(%q : tensor<1x2x3x16xf32>) max(%m : tensor<1x2x3xf32>) sum(%m : tensor<1x2x3xf32>)
      outs(%q, %q, %q : tensor<1x2x3x16xf32>, tensor<1x2x3x16xf32>, tensor<1x2x3x16xf32>)
      attributes {indexing_maps = [#heads, #keys, #keys, #heads, affine_map<(b, h, i, j, d) -> (b, h, j)>, #rows, #heads, #keys, #keys], scale = 1.0 : f64}
      -> tensor<1x2x3x16xf32>, tensor<1x2x3x16xf32>, tensor<1x2x3x16xf32>
  return
}

// -----

#heads = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#keys = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
func.func @sink_of_rows(%q: tensor<1x2x3x16xf32>, %s: tensor<2xf32>) {
  // expected-error@+1 {{expected a map to every dimension of 'tensor<2xf32>', but got affine_map<(d0, d1, d2, d3, d4) -> (d2)>}}
  %y = attention.kernel q(%q : tensor<1x2x3x16xf32>) k(%q : tensor<1x2x3x16xf32>) v(%q : tensor<1x2x3x16xf32>) sink(%s : tensor<2xf32>)
      outs(%q : tensor<1x2x3x16xf32>)
      attributes {indexing_maps = [#heads, #keys, #keys, affine_map<(b, h, i, j, d) -> (i)>, #heads], scale = 1.0 : f64} -> tensor<1x2x3x16xf32>
  return
}

// -----

#heads = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#keys = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#rows = affine_map<(b, h, i, j, d) -> (b, h, i)>
func.func @backward_sink(%q: tensor<1x2x3x16xf32>, %m: tensor<1x2x3xf32>, %s: tensor<2xf32>) {
  // expected-error@+1 {{expected four inits, but got 1}}
  %dq = attention.backward q(%q : tensor<1x2x3x16xf32>) k(%q : tensor<1x2x3x16xf32>) v(%q : tensor<1x2x3x16xf32>) sink(%s : tensor<2xf32>)
      dy(%q : tensor<1x2x3x16xf32>) max(%m : tensor<1x2x3xf32>) sum(%m : tensor<1x2x3xf32>) outs(%q : tensor<1x2x3x16xf32>)
      attributes {indexing_maps = [#heads, #keys, #keys, affine_map<(b, h, i, j, d) -> (h)>, #heads, #rows, #rows, #heads], scale = 1.0 : f64}
      -> tensor<1x2x3x16xf32>
  return
}
