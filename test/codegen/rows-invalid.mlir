// What the verifiers of the rows dialect refuse.
// RUN: resid-opt --split-input-file --verify-diagnostics %s

func.func @statistics_type(%x: tensor<4x8xbf16>) {
  // expected-error @+1 {{expected results of type 'tensor<4xf32>' but got 'tensor<4xbf16>'}}
  %s, %r = rows.rms_statistics %x {epsilon = 1.0e-5, norm_rank = 1} : tensor<4x8xbf16> -> tensor<4xbf16>
  return
}

// -----

func.func @statistics_rank(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected norm_rank between 1 and x's rank 2 but got 3}}
  %s, %k, %e, %r = rows.layer_statistics %x {epsilon = 1.0e-5, norm_rank = 3} : tensor<4x8xf32> -> tensor<f32>
  return
}

// -----

func.func @halves_sizes(%s: i64) {
  // expected-error @+1 {{expected one size per dynamic dimension of the result, 1, but got 0}}
  %h = rows.random_halves seed %s step %s origin_row %s site %s dims() : tensor<?x8xi32>
  return
}

// -----

#transposed = affine_map<(r, c) -> (c, r)>
func.func @columns_not_last(%n: index, %x: memref<?x?xf32>) {
  // expected-error @+1 {{expected the columns all, last and in order, or not at all}}
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [#transposed]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
  }
  return
}

// -----

#column = affine_map<(r, c) -> (c)>
func.func @rows_share_an_init(%n: index, %x: memref<?xf32>) {
  // expected-error @+1 {{expected the map of an init to use every row dimension}}
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?xf32>) attributes {indexing_maps = [#column]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>
func.func @column_missing(%n: index, %x: memref<?x?xf32>, %v: f32) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [#full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    // expected-error @+1 {{expected a column exactly where the operand's map uses the columns}}
    rows.store %v, %xr : f32, !rows.row<f32>
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>
func.func @row_type(%n: index, %x: memref<?x?xf32>) {
  // expected-error @+1 {{expected row 0 to be '!rows.row<f32>' but got '!rows.row<f64>'}}
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [#full]} {
  ^bb0(%r: index, %xr: !rows.row<f64>):
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>
func.func @phase_yields_too_little(%n: index, %x: memref<?x?xf32>) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [#full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    // expected-error @+1 {{expected the body to yield one value per reduction, of the results' types}}
    %s = rows.phase [sum] : f32 {
    ^bb0(%j: index):
    }
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>
func.func @column_of_another_phase(%n: index, %x: memref<?x?xf32>, %v: f32) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [#full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      // expected-error @+1 {{expected the column to be that of the surrounding phase}}
      rows.store %v, %xr[%n] : f32, !rows.row<f32>
    }
  }
  return
}
