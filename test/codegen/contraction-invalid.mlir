// RUN: resid-opt --split-input-file --verify-diagnostics %s

func.func @maps(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %e: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{expected 3 maps, but got 2}}
  %y = contraction.kernel a(%x : tensor<4x8xf32>) b(%w : tensor<8x6xf32>) start(%zero : f32) outs(%e : tensor<4x6xf32>)
      attributes {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>], parallel_loops = 2 : i64} -> tensor<4x6xf32> {
  ^bb0(%p: f32):
    contraction.yield %p : f32
  }
  return %y : tensor<4x6xf32>
}

// -----

func.func @start(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %e: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error@+1 {{expected either start or initial}}
  %y = contraction.kernel a(%x : tensor<4x8xf32>) b(%w : tensor<8x6xf32>) outs(%e : tensor<4x6xf32>)
      attributes {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], parallel_loops = 2 : i64} -> tensor<4x6xf32> {
  ^bb0(%p: f32):
    contraction.yield %p : f32
  }
  return %y : tensor<4x6xf32>
}

// -----

func.func @result(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %e: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{expected all parallel loops in the result, but got affine_map<(d0, d1, d2) -> (d0, d1)>}}
  %y = contraction.kernel a(%x : tensor<4x8xf32>) b(%w : tensor<8x6xf32>) start(%zero : f32) outs(%e : tensor<4x6xf32>)
      attributes {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], parallel_loops = 3 : i64} -> tensor<4x6xf32> {
  ^bb0(%p: f32):
    contraction.yield %p : f32
  }
  return %y : tensor<4x6xf32>
}

// -----

func.func @element(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %e: tensor<4x6xbf16>) -> tensor<4x6xbf16> {
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{expected the body to yield 'bf16', but got 'f32'}}
  %y = contraction.kernel a(%x : tensor<4x8xf32>) b(%w : tensor<8x6xf32>) start(%zero : f32) outs(%e : tensor<4x6xbf16>)
      attributes {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], parallel_loops = 2 : i64} -> tensor<4x6xbf16> {
  ^bb0(%p: f32):
    contraction.yield %p : f32
  }
  return %y : tensor<4x6xbf16>
}

// -----

func.func @blocks(%x: memref<4x8xf32>) {
  // expected-error@+1 {{expected one contraction.kernel and rows.kernel ops, on buffers}}
  contraction.row_blocks locals(%x : memref<4x8xf32>) {
  }
  return
}

// -----

func.func @locals(%x: memref<4x8xf32>, %w: memref<8x6xf32>, %y: memref<4x6xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{expected the bytes of a row for each of 1 locals, but got 0 numbers}}
  contraction.row_blocks locals(%x : memref<4x8xf32>) {
    contraction.kernel a(%x : memref<4x8xf32>) b(%w : memref<8x6xf32>) start(%zero : f32) outs(%y : memref<4x6xf32>)
        attributes {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], parallel_loops = 2 : i64} {
    ^bb0(%p: f32):
      contraction.yield %p : f32
    }
  }
  return
}

// -----

func.func @row_counts(%x: memref<4x8xf32>, %w: memref<8x6xf32>, %y: memref<4x6xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{expected how many rows each of 1 kernels has, but got 2 numbers}}
  contraction.row_blocks attributes {row_counts = array<i64: 1, 2>} {
    contraction.kernel a(%x : memref<4x8xf32>) b(%w : memref<8x6xf32>) start(%zero : f32) outs(%y : memref<4x6xf32>)
        attributes {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], parallel_loops = 2 : i64} {
    ^bb0(%p: f32):
      contraction.yield %p : f32
    }
  }
  return
}

// -----

func.func @scale_of_columns(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %s: tensor<6xf32>, %e: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{expected row_scale along loops of a alone, but got affine_map<(d0, d1, d2) -> (d1)>}}
  %y = contraction.kernel a(%x : tensor<4x8xf32>) b(%w : tensor<8x6xf32>) start(%zero : f32) row_scale(%s : tensor<6xf32>) outs(%e : tensor<4x6xf32>)
      attributes {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n)>, affine_map<(m, n, k) -> (m, n)>], parallel_loops = 2 : i64} -> tensor<4x6xf32> {
  ^bb0(%p: f32):
    contraction.yield %p : f32
  }
  return %y : tensor<4x6xf32>
}

// -----

func.func @scale_type(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %s: tensor<4xf64>, %e: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{expected row_scale in the arithmetic type, but got 'f64'}}
  %y = contraction.kernel a(%x : tensor<4x8xf32>) b(%w : tensor<8x6xf32>) start(%zero : f32) row_scale(%s : tensor<4xf64>) outs(%e : tensor<4x6xf32>)
      attributes {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m)>, affine_map<(m, n, k) -> (m, n)>], parallel_loops = 2 : i64} -> tensor<4x6xf32> {
  ^bb0(%p: f32):
    contraction.yield %p : f32
  }
  return %y : tensor<4x6xf32>
}

// -----

func.func @chain(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %i: tensor<4x6xf32>, %e: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error@+1 {{expected chains to begin at start}}
  %y = contraction.kernel a(%x : tensor<4x8xf32>) b(%w : tensor<8x6xf32>) initial(%i : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>)
      attributes {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (m, n)>],
        parallel_loops = 2 : i64, chain = 4 : i64} -> tensor<4x6xf32> {
  ^bb0(%p: f32):
    contraction.yield %p : f32
  }
  return %y : tensor<4x6xf32>
}
