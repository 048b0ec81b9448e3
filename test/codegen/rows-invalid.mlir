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

func.func @means_results(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected one result per tensor, and one tensor or more, but got 1 for 2}}
  %m = rows.row_means %x, %x {norm_rank = 1} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @means_types(%x: tensor<4x8xf32>, %z: tensor<4x9xf32>) {
  // expected-error @+1 {{expected tensors of one type but got 'tensor<4x8xf32>' and 'tensor<4x9xf32>'}}
  %m:2 = rows.row_means %x, %z {norm_rank = 1} : (tensor<4x8xf32>, tensor<4x9xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @means_shape(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected results of type 'tensor<4xf32>' but got 'tensor<8xf32>'}}
  %m = rows.row_means %x {norm_rank = 1} : (tensor<4x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @softmax_shape(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected results of type 'tensor<4xf32>' but got 'tensor<8xf32>'}}
  %m:3 = rows.softmax_statistics %x, %x {norm_rank = 1} : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @numbers_size() {
  // expected-error @+1 {{expected a size exactly where that of 'tensor<?xi32>' is dynamic}}
  %n = rows.column_numbers : tensor<?xi32>
  return
}

// -----

func.func @sums_rank(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected norm_rank between 1 and x's rank 2 but got 3}}
  %m = rows.row_sums %x {norm_rank = 3} : (tensor<4x8xf32>) -> tensor<4xf32>
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

#some = affine_map<(r, s, c) -> (s, c)>
func.func @rows_share_an_init(%n: index, %x: memref<?x?xf32>) {
  // expected-error @+1 {{expected the map of an init to use every row dimension, or the columns alone, but got affine_map<(d0, d1, d2) -> (d1, d2)>}}
  rows.kernel rows(%n, %n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [#some]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
  }
  return
}

// -----

#column = affine_map<(r, c) -> (c)>
func.func @sum_without_terms(%n: index, %x: memref<?xf32>) {
  // expected-error @+1 {{expected one rows.accumulate per sum down the rows, but got 0}}
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?xf32>) attributes {indexing_maps = [#column]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
  }
  return
}

// -----

#column = affine_map<(r, c) -> (c)>
func.func @two_terms(%n: index, %x: memref<?xf32>, %v: f32) {
  // expected-error @+1 {{expected one rows.accumulate per sum down the rows, but got 2}}
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?xf32>) attributes {indexing_maps = [#column]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%c: index):
      rows.accumulate %v, %xr[%c] : f32, !rows.row<f32>
      rows.accumulate %v, %xr[%c] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

#column = affine_map<(r, c) -> (c)>
func.func @store_to_sum(%n: index, %x: memref<?xf32>, %v: f32) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?xf32>) attributes {indexing_maps = [#column]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%c: index):
      // expected-error @+1 {{expected rows.accumulate exactly on sums down the rows, whose maps are the columns alone}}
      rows.store %v, %xr[%c] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>
func.func @term_of_row(%n: index, %x: memref<?x?xf32>, %v: f32) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [#full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%c: index):
      // expected-error @+1 {{expected rows.accumulate exactly on sums down the rows}}
      rows.accumulate %v, %xr[%c] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

#column = affine_map<(r, c) -> (c)>
func.func @term_under_condition(%n: index, %x: memref<?xf32>, %v: f32, %some: i1) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?xf32>) attributes {indexing_maps = [#column]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    scf.if %some {
      rows.phase [] {
      ^bb0(%c: index):
        // expected-error @+1 {{expected to stand in a phase that every row goes through}}
        rows.accumulate %v, %xr[%c] : f32, !rows.row<f32>
      }
    }
  }
  return
}

// -----

#column = affine_map<(r, c) -> (c)>
func.func @narrow_term(%n: index, %x: memref<?xbf16>, %v: f64) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?xbf16>) attributes {indexing_maps = [#column]} {
  ^bb0(%r: index, %xr: !rows.row<bf16>):
    rows.phase [] {
    ^bb0(%c: index):
      // expected-error @+1 {{expected a term of type 'f32' but got 'f64'}}
      rows.accumulate %v, %xr[%c] : f64, !rows.row<bf16>
    }
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

// -----

func.func @halves_rank(%s: i64) {
  // expected-error @+1 {{expected a result with at least one dimension but got 'tensor<i32>'}}
  %h = rows.random_halves seed %s step %s origin_row %s site %s dims() : tensor<i32>
  return
}

// -----

func.func @map_dimensions(%n: index, %x: memref<?x?xf32>, %t: tensor<?x?xf32>, %v: f32) {
  // expected-error @+1 {{expected a map over 2 dimensions for operand 0 but got affine_map<(d0) -> (d0, d0)>}}
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r) -> (r, r)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
  }
  return
}

// -----

func.func @map_results(%n: index, %x: memref<?x?xf32>, %t: tensor<?x?xf32>, %v: f32) {
  // expected-error @+1 {{expected a map with one result per dimension of 'memref<?x?xf32>' but got affine_map<(d0, d1) -> (d0)>}}
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
  }
  return
}

// -----

func.func @map_constant(%n: index, %x: memref<?x?xf32>, %t: tensor<?x?xf32>, %v: f32) {
  // expected-error @+1 {{expected constants in maps to be 0, for dimensions of size 1 before the columns, but got affine_map<(d0, d1) -> (d0, 1)> for 'memref<?x?xf32>'}}
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, 1)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
  }
  return
}

// -----

func.func @map_sum(%n: index, %x: memref<?x?xf32>, %t: tensor<?x?xf32>, %v: f32) {
  // expected-error @+1 {{expected map results to be dimensions or 0 but got affine_map<(d0, d1) -> (d0 + 1, d1)>}}
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r + 1, c)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
  }
  return
}

// -----

func.func @map_count(%n: index, %x: memref<?x?xf32>, %t: tensor<?x?xf32>, %v: f32) {
  // expected-error @+1 {{expected one map per input and init, 1, but got 0}}
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = []} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
  }
  return
}

// -----

func.func @mixed_inits(%n: index, %x: memref<?x?xf32>, %t: tensor<?x?xf32>, %v: f32) {
  // expected-error @+1 {{expected the inits to be all tensors or all buffers but got 1 tensors of 2}}
  rows.kernel rows(%n) columns(%n) ins() outs(%x, %t : memref<?x?xf32>, tensor<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %tr: !rows.row<f32>):
  }
  return
}

// -----

func.func @results_missing(%n: index, %x: memref<?x?xf32>, %t: tensor<?x?xf32>, %v: f32) {
  // expected-error @+1 {{expected one result per tensor among the inits, 1, but got 0}}
  rows.kernel rows(%n) columns(%n) ins() outs(%t : tensor<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index, %tr: !rows.row<f32>):
  }
  return
}

// -----

func.func @body_arguments(%n: index, %x: memref<?x?xf32>, %t: tensor<?x?xf32>, %v: f32) {
  // expected-error @+1 {{expected the body to take the row index and one row per operand}}
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index):
  }
  return
}

// -----

func.func @phase_alone() {
  // expected-error @+1 {{expected to stand inside a kernel and outside of other phases}}
  rows.phase [] {
  ^bb0(%j: index):
  }
  return
}

// -----

func.func @phase_column(%n: index, %x: memref<?x?xf32>, %t: tensor<?x?xf32>, %v: f32) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    // expected-error @+1 {{expected the body to take the column}}
    rows.phase [] {
    ^bb0(%j: i64):
    }
  }
  return
}

// -----

func.func @reduction_results(%n: index, %x: memref<?x?xf32>, %t: tensor<?x?xf32>, %v: f32) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    // expected-error @+1 {{expected one result per reduction, 2, but got 1}}
    %s = rows.phase [sum, max] : f32 {
    ^bb0(%j: index):
      rows.yield %v : f32
    }
  }
  return
}

// -----

func.func @reduction_type(%n: index, %x: memref<?x?xf32>, %t: tensor<?x?xf32>, %v: f32, %h: f16) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    // expected-error @+1 {{expected reductions in f32 or f64 but got 'f16'}}
    %s = rows.phase [sum] : f16 {
    ^bb0(%j: index):
      rows.yield %h : f16
    }
  }
  return
}

// -----

func.func @reduction_kind(%n: index, %x: memref<?x?xf32>, %t: tensor<?x?xf32>, %v: f32) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    // expected-error @+1 {{custom op 'rows.phase' expected 'sum', 'sum_of_squares' or 'max', but got 'mean'}}
    %s = rows.phase [mean] : f32 {
    ^bb0(%j: index):
      rows.yield %v : f32
    }
  }
  return
}

// -----

func.func @element(%n: index, %x: memref<?x?xf32>, %t: tensor<?x?xf32>, %v: f32) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      // expected-error @+1 {{expected an element of type 'f32' but got 'f64'}}
      %e = rows.load %xr[%j] : !rows.row<f32> -> f64
    }
  }
  return
}

// -----

func.func @body_yields(%n: index, %x: memref<?x?xf32>, %t: tensor<?x?xf32>, %v: f32) {
  // expected-error @+1 {{expected a body that yields nothing}}
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    rows.yield %v : f32
  }
  return
}

// -----

func.func @local_row_of_integers(%n: index, %x: memref<?x?xf32>, %v: f32, %c: i1) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    // expected-error @+1 {{expected a local row of floats but got 'i8'}}
    %l = rows.local_row : !rows.row<i8>
  }
  return
}

// -----

func.func @local_row_that_nobody_writes(%n: index, %x: memref<?x?xf32>, %v: f32, %c: i1) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    // expected-error @+1 {{expected a local row to be written in a phase, but got none}}
    %l = rows.local_row : !rows.row<f32>
  }
  return
}

// -----

func.func @local_row_read_before_it_is_written(%n: index, %x: memref<?x?xf32>, %v: f32, %c: i1) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    %l = rows.local_row : !rows.row<f32>
    rows.phase [] {
    ^bb0(%j: index):
      // expected-error @+1 {{expected a local row to be read in a phase after the one that writes it}}
      %e = rows.load %l[%j] : !rows.row<f32> -> f32
    }
    rows.phase [] {
    ^bb0(%j: index):
      rows.store %v, %l[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

func.func @local_row_written_twice(%n: index, %x: memref<?x?xf32>, %v: f32, %c: i1) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    %l = rows.local_row : !rows.row<f32>
    rows.phase [] {
    ^bb0(%j: index):
      // expected-error @+1 {{expected a local row to be written in one phase, but got two}}
      rows.store %v, %l[%j] : f32, !rows.row<f32>
    }
    rows.phase [] {
    ^bb0(%j: index):
      rows.store %v, %l[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

func.func @local_row_written_under_a_condition(%n: index, %x: memref<?x?xf32>, %v: f32, %c: i1) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    %l = rows.local_row : !rows.row<f32>
    scf.if %c {
      rows.phase [] {
      ^bb0(%j: index):
        // expected-error @+1 {{expected a local row to be written in a phase that every row goes through}}
        rows.store %v, %l[%j] : f32, !rows.row<f32>
      }
    }
  }
  return
}

// -----

func.func @local_row_without_a_column(%n: index, %x: memref<?x?xf32>, %v: f32, %c: i1) {
  rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [affine_map<(r, c) -> (r, c)>]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
    %l = rows.local_row : !rows.row<f32>
    // expected-error @+1 {{expected a column, since a local row has an element per column}}
    rows.store %v, %l : f32, !rows.row<f32>
  }
  return
}

// -----

func.func @no_streams() {
  // expected-error @+1 {{expected one stream or more, of one type}}
  %s, %r = "rows.stream_statistics"() {epsilon = 1.0e-5, norm_rank = 1 : i64} : () -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @streams_of_two_types(%x: tensor<4x8xf32>, %z: tensor<4x8xbf16>) {
  // expected-error @+1 {{expected one stream or more, of one type}}
  %s, %r = rows.stream_statistics %x, %z {epsilon = 1.0e-5, norm_rank = 1} : tensor<4x8xf32>, tensor<4x8xbf16> -> tensor<4xf32>
  return
}

// -----

// f64 is allowed, where a weight is; another shape is not.
func.func @stream_statistics_type(%x: tensor<4x8xf32>) {
  %s, %r = rows.stream_statistics %x, %x {epsilon = 1.0e-5, norm_rank = 1} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4xf64>
  // expected-error @+1 {{expected results of type 'tensor<4xf32>' but got 'tensor<8xf32>'}}
  %t, %q = rows.stream_statistics %x, %x {epsilon = 1.0e-5, norm_rank = 1} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @joined_streams(%x: tensor<4x8xf32>, %e: tensor<4x3x8xf32>) {
  // expected-error @+1 {{expected a result with 2 streams, of the type of init, but got 'tensor<4x3x8xf32>'}}
  %j = rows.join_streams %x, %x : tensor<4x8xf32>, tensor<4x8xf32> outs(%e : tensor<4x3x8xf32>) -> tensor<4x3x8xf32>
  return
}

// -----

func.func @joined_shape(%x: tensor<4x8xf32>, %z: tensor<4x9xf32>, %e: tensor<4x2x8xf32>) {
  // expected-error @+1 {{expected streams of type 'tensor<4x8xf32>' but got 'tensor<4x9xf32>'}}
  %j = rows.join_streams %x, %z : tensor<4x8xf32>, tensor<4x9xf32> outs(%e : tensor<4x2x8xf32>) -> tensor<4x2x8xf32>
  return
}

// -----

// A move stands in an input's map, in the place of the only column, whose size is known.
#all = affine_map<(r, c) -> (r, c)>
#move = affine_map<(r, c) -> (r, (c + 4) mod 8)>
func.func @move_of_open_width(%n: index, %x: memref<?x?xf32>) {
  // expected-error @+1 {{expected map results to be dimensions or 0 but got affine_map<(d0, d1) -> (d0, (d1 + 4) mod 8)>}}
  rows.kernel rows(%n) columns(%n) ins(%x : memref<?x?xf32>) outs(%x : memref<?x?xf32>) attributes {indexing_maps = [#move, #all]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
  }
  return
}

// -----

#move = affine_map<(r, c) -> (r, (c + 4) mod 8)>
func.func @move_of_init(%n: index, %x: memref<?x8xf32>) {
  %eight = arith.constant 8 : index
  // expected-error @+1 {{expected map results to be dimensions or 0 but got affine_map<(d0, d1) -> (d0, (d1 + 4) mod 8)>}}
  rows.kernel rows(%n) columns(%eight) ins() outs(%x : memref<?x8xf32>) attributes {indexing_maps = [#move]} {
  ^bb0(%r: index, %xr: !rows.row<f32>):
  }
  return
}

// -----

#all = affine_map<(r, c) -> (r, c)>
#move = affine_map<(r, c) -> (r, c + r)>
func.func @move_by_row(%n: index, %x: memref<?x8xf32>) {
  %eight = arith.constant 8 : index
  // expected-error @+1 {{expected map results to be dimensions or 0 but got affine_map<(d0, d1) -> (d0, d0 + d1)>}}
  rows.kernel rows(%n) columns(%eight) ins(%x : memref<?x8xf32>) outs(%x : memref<?x8xf32>) attributes {indexing_maps = [#move, #all]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
  }
  return
}
