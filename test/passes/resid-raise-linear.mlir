// RUN: resid-opt %s -resid-raise -canonicalize -split-input-file | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: resid-opt %s -resid-raise=level=all -canonicalize -split-input-file 2>/dev/null | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: resid-opt %s -resid-raise=level=off -split-input-file | FileCheck %s --check-prefix=OFF
// RUN: resid-opt %s -resid-raise="level=all report=true" -split-input-file -verify-diagnostics -o /dev/null
// OFF-NOT: resid.
// Linear layers that are written out. The values are compared in test/run/raise.test.

#rows = affine_map<(a, b) -> (a, b)>
#last = affine_map<(a, b) -> (b)>
// torch-mlir: rows in one, the weight turned, the bias copied to each row. The bits stay.
// CHECK-LABEL: func.func @torch(
// CHECK-NEXT: %[[Y:.*]] = resid.linear %arg0, %arg1 bias(%arg2) : tensor<2x3x8xf32>, tensor<5x8xf32>, tensor<5xf32>
// CHECK-NEXT: return %[[Y]]
func.func @torch(%x: tensor<2x3x8xf32>, %w: tensor<5x8xf32>, %b: tensor<5xf32>) -> tensor<2x3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e_w = tensor.empty() : tensor<8x5xf32>
  %e = tensor.empty() : tensor<6x5xf32>
  %t = linalg.transpose ins(%w : tensor<5x8xf32>) outs(%e_w : tensor<8x5xf32>) permutation = [1, 0]
  %r = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x8xf32> into tensor<6x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<6x5xf32>) -> tensor<6x5xf32>
  %p = linalg.matmul ins(%r, %t : tensor<6x8xf32>, tensor<8x5xf32>) outs(%z : tensor<6x5xf32>) -> tensor<6x5xf32>
  %c = linalg.generic {indexing_maps = [#last, #rows], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<5xf32>) outs(%e : tensor<6x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<6x5xf32>
  // expected-remark @below {{raised (bit-exact): resid.linear}}
  %s = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%p, %c : tensor<6x5xf32>, tensor<6x5xf32>) outs(%e : tensor<6x5xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %v = arith.addf %in, %on : f32
    linalg.yield %v : f32
  } -> tensor<6x5xf32>
  %y = tensor.expand_shape %s [[0, 1], [2]] output_shape [2, 3, 5] : tensor<6x5xf32> into tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// bf16 with sums in f32, one rounding, and the bias added after the rows are split; a weight that is copied for each batch.
#full = affine_map<(a, b, c) -> (a, b, c)>
#matrix = affine_map<(a, b, c) -> (b, c)>
#last = affine_map<(a, b, c) -> (c)>
// CHECK-LABEL: func.func @narrow(
// CHECK: resid.linear %{{.*}}, %arg1 bias(%arg2) {transposed} : {{.*}}, tensor<8x5xbf16>, tensor<5xf32>
// CHECK: resid.linear %arg3, %arg1 bias(%arg2) {transposed} : tensor<2x?x8xbf16>, tensor<8x5xbf16>, tensor<5xf32> -> tensor<2x?x5xf32>
// CHECK-NOT: linalg
// CHECK: return
func.func @narrow(%x: tensor<6x8xbf16>, %w: tensor<8x5xbf16>, %b: tensor<5xf32>, %h: tensor<2x?x8xbf16>) -> (tensor<2x3x5xbf16>, tensor<2x?x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<6x5xf32>
  %e3 = tensor.empty() : tensor<2x3x5xbf16>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<6x5xf32>) -> tensor<6x5xf32>
  %p = linalg.matmul ins(%x, %w : tensor<6x8xbf16>, tensor<8x5xbf16>) outs(%z : tensor<6x5xf32>) -> tensor<6x5xf32>
  %p3 = tensor.expand_shape %p [[0, 1], [2]] output_shape [2, 3, 5] : tensor<6x5xf32> into tensor<2x3x5xf32>
  // expected-remark @below {{raised (bit-exact): resid.linear}}
  %y = linalg.generic {indexing_maps = [#last, #full, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b, %p3 : tensor<5xf32>, tensor<2x3x5xf32>) outs(%e3 : tensor<2x3x5xbf16>) {
  ^bb0(%in: f32, %on: f32, %out: bf16):
    %v = arith.addf %in, %on : f32
    %t = arith.truncf %v : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<2x3x5xbf16>
  %n = tensor.dim %h, %c1 : tensor<2x?x8xbf16>
  %e_w = tensor.empty() : tensor<2x8x5xbf16>
  %e_y = tensor.empty(%n) : tensor<2x?x5xf32>
  %w3 = linalg.generic {indexing_maps = [#matrix, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<8x5xbf16>) outs(%e_w : tensor<2x8x5xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<2x8x5xbf16>
  %z_y = linalg.fill ins(%zero : f32) outs(%e_y : tensor<2x?x5xf32>) -> tensor<2x?x5xf32>
  %q = linalg.batch_matmul ins(%h, %w3 : tensor<2x?x8xbf16>, tensor<2x8x5xbf16>) outs(%z_y : tensor<2x?x5xf32>) -> tensor<2x?x5xf32>
  // expected-remark @below {{raised (bit-exact): resid.linear}}
  %y1 = linalg.generic {indexing_maps = [#full, #last, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %b : tensor<2x?x5xf32>, tensor<5xf32>) outs(%e_y : tensor<2x?x5xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %v = arith.addf %in, %on : f32
    linalg.yield %v : f32
  } -> tensor<2x?x5xf32>
  return %y, %y1 : tensor<2x3x5xbf16>, tensor<2x?x5xf32>
}

// -----

// Other roundings: of the product to bf16, before a sum in bf16 or in f32; from the bias on; in f64.
#rows = affine_map<(a, b) -> (a, b)>
#last = affine_map<(a, b) -> (b)>
// CHECK-LABEL: func.func @other_bits(
// EXACT-NOT: resid.
// ALL-COUNT-4: resid.linear
// ALL-NOT: linalg.
// CHECK: return
func.func @other_bits(%h: tensor<6x8xbf16>, %v: tensor<8x5xbf16>, %x: tensor<6x8xf32>, %w: tensor<8x5xf32>, %b: tensor<5xf32>, %c: tensor<5xbf16>) -> (tensor<6x5xbf16>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %small = arith.constant 0.0 : bf16
  %wide = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<6x5xf32>
  %e_b = tensor.empty() : tensor<6x5xbf16>
  %e_w = tensor.empty() : tensor<6x5xf64>
  %z_b = linalg.fill ins(%small : bf16) outs(%e_b : tensor<6x5xbf16>) -> tensor<6x5xbf16>
  %p0 = linalg.matmul ins(%h, %v : tensor<6x8xbf16>, tensor<8x5xbf16>) outs(%z_b : tensor<6x5xbf16>) -> tensor<6x5xbf16>
  // expected-remark @below {{raised (exact in real arithmetic): resid.linear}}
  %y0 = linalg.generic {indexing_maps = [#rows, #last, #rows], iterator_types = ["parallel", "parallel"]} ins(%p0, %c : tensor<6x5xbf16>, tensor<5xbf16>) outs(%e_b : tensor<6x5xbf16>) {
  ^bb0(%in: bf16, %on: bf16, %out: bf16):
    %t = arith.addf %in, %on : bf16
    linalg.yield %t : bf16
  } -> tensor<6x5xbf16>
  %start = linalg.broadcast ins(%b : tensor<5xf32>) outs(%e : tensor<6x5xf32>) dimensions = [0]
  // expected-remark @below {{raised (exact in real arithmetic): resid.linear}}
  %y1 = linalg.matmul ins(%x, %w : tensor<6x8xf32>, tensor<8x5xf32>) outs(%start : tensor<6x5xf32>) -> tensor<6x5xf32>
  %z_w = linalg.fill ins(%wide : f64) outs(%e_w : tensor<6x5xf64>) -> tensor<6x5xf64>
  %p2 = linalg.matmul ins(%x, %w : tensor<6x8xf32>, tensor<8x5xf32>) outs(%z_w : tensor<6x5xf64>) -> tensor<6x5xf64>
  // expected-remark @below {{raised (exact in real arithmetic): resid.linear}}
  %y2 = linalg.generic {indexing_maps = [#rows, #last, #rows], iterator_types = ["parallel", "parallel"]} ins(%p2, %b : tensor<6x5xf64>, tensor<5xf32>) outs(%e : tensor<6x5xf32>) {
  ^bb0(%in: f64, %on: f32, %out: f32):
    %t = arith.extf %on : f32 to f64
    %s = arith.addf %in, %t : f64
    %n = arith.truncf %s : f64 to f32
    linalg.yield %n : f32
  } -> tensor<6x5xf32>
  %p3 = linalg.matmul ins(%h, %v : tensor<6x8xbf16>, tensor<8x5xbf16>) outs(%z_b : tensor<6x5xbf16>) -> tensor<6x5xbf16>
  // expected-remark @below {{raised (exact in real arithmetic): resid.linear}}
  %y3 = linalg.generic {indexing_maps = [#rows, #last, #rows], iterator_types = ["parallel", "parallel"]} ins(%p3, %b : tensor<6x5xbf16>, tensor<5xf32>) outs(%e : tensor<6x5xf32>) {
  ^bb0(%in: bf16, %on: f32, %out: f32):
    %t = arith.extf %in : bf16 to f32
    %s = arith.addf %t, %on : f32
    linalg.yield %s : f32
  } -> tensor<6x5xf32>
  return %y0, %y1, %y2, %y3 : tensor<6x5xbf16>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>
}

// -----

// No linear layers: a bias for each row, a product that is read twice, a weight for each batch, a sum with a matrix, a product that starts from one.
#rows = affine_map<(a, b) -> (a, b)>
#first = affine_map<(a, b) -> (a)>
#last = affine_map<(a, b) -> (b)>
#full = affine_map<(a, b, c) -> (a, b, c)>
#end = affine_map<(a, b, c) -> (c)>
// CHECK-LABEL: func.func @others(
// CHECK-NOT: resid.
// CHECK: return
func.func @others(%x: tensor<6x8xf32>, %w: tensor<8x5xf32>, %r: tensor<6xf32>, %b: tensor<5xf32>, %h: tensor<2x6x8xf32>, %v: tensor<2x8x5xf32>, %m: tensor<6x5xf32>)
    -> (tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<2x6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x5xf32>
  %e3 = tensor.empty() : tensor<2x6x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<6x5xf32>) -> tensor<6x5xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  %p0 = linalg.matmul ins(%x, %w : tensor<6x8xf32>, tensor<8x5xf32>) outs(%z : tensor<6x5xf32>) -> tensor<6x5xf32>
  // expected-remark @below {{not raised: 'linear' is nearly that, but its bias is not one of output features}}
  %y0 = linalg.generic {indexing_maps = [#rows, #first, #rows], iterator_types = ["parallel", "parallel"]} ins(%p0, %r : tensor<6x5xf32>, tensor<6xf32>) outs(%e : tensor<6x5xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %t = arith.addf %in, %on : f32
    linalg.yield %t : f32
  } -> tensor<6x5xf32>
  %p1 = linalg.matmul ins(%x, %w : tensor<6x8xf32>, tensor<8x5xf32>) outs(%z : tensor<6x5xf32>) -> tensor<6x5xf32>
  // expected-remark @below {{not raised: 'linear' is nearly that, but something else reads its product}}
  %y1 = linalg.generic {indexing_maps = [#rows, #last, #rows], iterator_types = ["parallel", "parallel"]} ins(%p1, %b : tensor<6x5xf32>, tensor<5xf32>) outs(%e : tensor<6x5xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %t = arith.addf %in, %on : f32
    linalg.yield %t : f32
  } -> tensor<6x5xf32>
  %p2 = linalg.batch_matmul ins(%h, %v : tensor<2x6x8xf32>, tensor<2x8x5xf32>) outs(%z3 : tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  %y2 = linalg.generic {indexing_maps = [#full, #end, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p2, %b : tensor<2x6x5xf32>, tensor<5xf32>) outs(%e3 : tensor<2x6x5xf32>) {
  ^bb0(%in: f32, %on: f32, %out: f32):
    %t = arith.addf %in, %on : f32
    linalg.yield %t : f32
  } -> tensor<2x6x5xf32>
  %p3 = linalg.matmul ins(%x, %w : tensor<6x8xf32>, tensor<8x5xf32>) outs(%z : tensor<6x5xf32>) -> tensor<6x5xf32>
  %y3 = arith.addf %p3, %m : tensor<6x5xf32>
  %y4 = linalg.matmul ins(%x, %w : tensor<6x8xf32>, tensor<8x5xf32>) outs(%m : tensor<6x5xf32>) -> tensor<6x5xf32>
  return %y0, %p1, %y1, %y2, %y3, %y4 : tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<2x6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>
}
