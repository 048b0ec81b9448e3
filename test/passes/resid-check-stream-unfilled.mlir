// Sums that begin with what nobody wrote, and neighbours that fill it or never read it: those carry no expected-warning.
// RUN: resid-opt %s --resid-check-stream --split-input-file --verify-diagnostics -o /dev/null

func.func @product(%a: tensor<8x4xf32>, %b: tensor<4x8xf32>) -> tensor<8x8xf32> {
  // expected-note @+1 {{the array is made here, and holds any numbers}}
  %e = tensor.empty() : tensor<8x8xf32>
  // expected-warning @+2 {{'linalg.matmul' reads its output array, which nobody filled}}
  // expected-note @+1 {{mend: fill the array first, by linalg.fill with 0 for a sum}}
  %m = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m : tensor<8x8xf32>
}

func.func @filled(%a: tensor<8x4xf32>, %b: tensor<4x8xf32>, %c: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = linalg.add ins(%m, %c : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = linalg.transpose ins(%n : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  return %m, %n, %t : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

func.func @sums(%a: tensor<8x4xf32>, %b: tensor<4x8xf32>) -> (tensor<8xf32>, tensor<8xbf16>, tensor<8x8xf32>) {
  // expected-note @+1 {{the array is made here}}
  %e = tensor.empty() : tensor<8xf32>
  // expected-warning @+2 {{'linalg.reduce' reads its output array, which nobody filled}}
  // expected-note @+1 {{mend}}
  %r = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%e : tensor<8xf32>) dimensions = [1]
  // expected-note @+1 {{the array is made here}}
  %g = tensor.empty() : tensor<8xbf16>
  // expected-warning @+2 {{'linalg.generic' reads its output array, which nobody filled}}
  // expected-note @+1 {{mend: fill the array first, by linalg.fill with 0 for a sum}}
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x4xf32>) outs(%g : tensor<8xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %t = arith.truncf %in : f32 to bf16
    %u = arith.addf %t, %out : bf16
    linalg.yield %u : bf16
  } -> tensor<8xbf16>
  // expected-note @+1 {{the array is made here}}
  %h = bufferization.alloc_tensor() : tensor<8x8xf32>
  // expected-warning @+2 {{'linalg.contract' reads its output array, which nobody filled}}
  // expected-note @+1 {{mend}}
  %c = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<8x4xf32>, tensor<4x8xf32>) outs(%h : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r, %s, %c : tensor<8xf32>, tensor<8xbf16>, tensor<8x8xf32>
}

// -----

// Nobody fills what is read beside the output either. The window of a pooling has no elements that are read.
func.func @inputs(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x2x2xf32>, tensor<4xf32>) {
  %window = tensor.empty() : tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1x2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %p = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%x, %window : tensor<1x1x4x4xf32>, tensor<2x2xf32>) outs(%f : tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  // expected-note @+1 {{the array is made here}}
  %u = tensor.empty() : tensor<4xf32>
  %o = tensor.empty() : tensor<4xf32>
  // expected-warning @+2 {{'linalg.exp' reads an array that nobody filled}}
  // expected-note @+1 {{mend}}
  %y = linalg.exp ins(%u : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %p, %y : tensor<1x1x2x2xf32>, tensor<4xf32>
}

// -----

// A loop carries it, whole or tile by tile. In the second one each tile is filled, in the third the first turn fills all.
func.func @loops(%a: tensor<8x4xf32>, %b: tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  // expected-note @+1 {{the array is made here}}
  %e = tensor.empty() : tensor<8x8xf32>
  %0 = scf.for %i = %c0 to %c2 step %c1 iter_args(%acc = %e) -> tensor<8x8xf32> {
    // expected-warning @+2 {{'linalg.matmul' reads its output array, which nobody filled}}
    // expected-note @+1 {{mend}}
    %m = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x8xf32>) outs(%acc : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %m : tensor<8x8xf32>
  }
  // expected-note @+1 {{the array is made here}}
  %g = tensor.empty() : tensor<8x8xf32>
  %1 = scf.forall (%i) = (0) to (8) step (2) shared_outs(%acc = %g) -> tensor<8x8xf32> {
    %rows = tensor.extract_slice %a[%i, 0] [2, 4] [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
    %tile = tensor.extract_slice %acc[%i, 0] [2, 8] [1, 1] : tensor<8x8xf32> to tensor<2x8xf32>
    // expected-warning @+2 {{'linalg.matmul' reads its output array, which nobody filled}}
    // expected-note @+1 {{mend}}
    %m = linalg.matmul ins(%rows, %b : tensor<2x4xf32>, tensor<4x8xf32>) outs(%tile : tensor<2x8xf32>) -> tensor<2x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %m into %acc[%i, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<8x8xf32>
    }
  }
  %2 = scf.for %i = %c0 to %c8 step %c2 iter_args(%acc = %e) -> tensor<8x8xf32> {
    %rows = tensor.extract_slice %a[%i, 0] [2, 4] [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
    %tile = tensor.extract_slice %acc[%i, 0] [2, 8] [1, 1] : tensor<8x8xf32> to tensor<2x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%tile : tensor<2x8xf32>) -> tensor<2x8xf32>
    %m = linalg.matmul ins(%rows, %b : tensor<2x4xf32>, tensor<4x8xf32>) outs(%f : tensor<2x8xf32>) -> tensor<2x8xf32>
    %n = tensor.insert_slice %m into %acc[%i, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<8x8xf32>
    scf.yield %n : tensor<8x8xf32>
  }
  %3 = scf.for %i = %c0 to %c2 step %c1 iter_args(%acc = %e) -> tensor<8x8xf32> {
    %first = arith.cmpi eq, %i, %c0 : index
    %n = scf.if %first -> tensor<8x8xf32> {
      %f = linalg.fill ins(%zero : f32) outs(%acc : tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %f : tensor<8x8xf32>
    } else {
      %m = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x8xf32>) outs(%acc : tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %m : tensor<8x8xf32>
    }
    scf.yield %n : tensor<8x8xf32>
  }
  return %0, %1, %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
