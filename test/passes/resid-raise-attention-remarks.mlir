// RUN: resid-opt %s -resid-raise="level=all report=true" -split-input-file -verify-diagnostics -o /dev/null
// RUN: resid-opt %s -resid-raise=level=all -split-input-file 2>/dev/null | grep -c resid.attention | grep -x 1
// RUN: sed '/expected-remark/d; s/only-exact/expected-remark @below/' %s > %t.mlir
// RUN: resid-opt %t.mlir -resid-raise=report=true -split-input-file -verify-diagnostics -o /dev/null
// What is nearly attention, and why it is left alone.

!q = tensor<2x6x8xf32>
!s = tensor<2x6x6xf32>
#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
#full = affine_map<(b, i, j) -> (b, i, j)>
func.func @attention(%q: !q, %k: !q, %v: !q, %e: !q, %f: !s) -> !q {
  %zero = arith.constant 0.0 : f32
  %z_q = linalg.fill ins(%zero : f32) outs(%e : !q) -> !q
  %z_s = linalg.fill ins(%zero : f32) outs(%f : !s) -> !s
  %p = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %w = linalg.softmax dimension(2) ins(%p : !s) outs(%f : !s) -> !s
  // only-exact {{not raised: 'attention' is equal in real arithmetic, but not in its bits; level=all raises it}}
  // expected-remark @below {{raised (exact in real arithmetic): resid.attention}}
  %y = linalg.batch_matmul ins(%w, %v : !s, !q) outs(%z_q : !q) -> !q
  return %y : !q
}

// -----

// Over the queries, as an op and as a chain.
!q = tensor<2x6x8xf32>
!s = tensor<2x6x6xf32>
#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
#full = affine_map<(b, i, j) -> (b, i, j)>
#columns = affine_map<(b, i, j) -> (b, j)>
func.func @over_queries(%q: !q, %k: !q, %v: !q, %e: !q, %f: !s, %g: tensor<2x6xf32>) -> (!q, !q, !q) {
  %zero = arith.constant 0.0 : f32
  %z_q = linalg.fill ins(%zero : f32) outs(%e : !q) -> !q
  %z_s = linalg.fill ins(%zero : f32) outs(%f : !s) -> !s
  %z_g = linalg.fill ins(%zero : f32) outs(%g : tensor<2x6xf32>) -> tensor<2x6xf32>
  %p = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %w = linalg.softmax dimension(1) ins(%p : !s) outs(%f : !s) -> !s
  // expected-remark @below {{not raised: 'attention' is nearly that, but its softmax is not over the keys}}
  %y = linalg.batch_matmul ins(%w, %v : !s, !q) outs(%z_q : !q) -> !q
  %x = math.exp %p : !s
  %sum = linalg.generic {indexing_maps = [#full, #columns], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : !s) outs(%z_g : tensor<2x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.addf %in, %out : f32
    linalg.yield %t : f32
  } -> tensor<2x6xf32>
  %w1 = linalg.generic {indexing_maps = [#full, #columns, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %sum : !s, tensor<2x6xf32>) outs(%f : !s) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> !s
  // expected-remark @below {{not raised: 'attention' is nearly that, but its softmax is not over the keys}}
  %y1 = linalg.batch_matmul ins(%w1, %v : !s, !q) outs(%z_q : !q) -> !q
  // The weights transposed: over the keys of the product, but the values are summed over its queries.
  %p2 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %w2 = linalg.softmax dimension(2) ins(%p2 : !s) outs(%f : !s) -> !s
  // expected-remark @below {{not raised: 'attention' is nearly that, but its softmax is not over the keys}}
  %y2 = linalg.batch_matmul indexing_maps = [affine_map<(b, i, d, j) -> (b, j, i)>, affine_map<(b, i, d, j) -> (b, j, d)>, affine_map<(b, i, d, j) -> (b, i, d)>]
    ins(%w2, %v : !s, !q) outs(%z_q : !q) -> !q
  return %y, %y1, %y2 : !q, !q, !q
}

// -----

// Masks: a number instead of -Inf, one that is scaled, one that depends on the scores, two of them.
!q = tensor<2x6x8xf32>
!s = tensor<2x6x6xf32>
#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
func.func @masks(%q: !q, %k: !q, %v: !q, %e: !q, %f: !s, %bits: tensor<2x6x6xi1>, %m: !s) -> (!q, !q, !q, !q, !q) {
  %zero = arith.constant 0.0 : f32
  %large = arith.constant dense<-1.0e9> : !s
  %none = arith.constant dense<0xFF800000> : !s
  %half = arith.constant dense<0.5> : !s
  %z_q = linalg.fill ins(%zero : f32) outs(%e : !q) -> !q
  %z_s = linalg.fill ins(%zero : f32) outs(%f : !s) -> !s
  %p0 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %s0 = arith.select %bits, %p0, %large : tensor<2x6x6xi1>, !s
  %w0 = linalg.softmax dimension(2) ins(%s0 : !s) outs(%f : !s) -> !s
  // expected-remark @below {{not raised: 'attention' is nearly that, but its mask puts something else than -Inf in place of scores}}
  %y0 = linalg.batch_matmul ins(%w0, %v : !s, !q) outs(%z_q : !q) -> !q
  %p1 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %a1 = arith.addf %p1, %m : !s
  %s1 = arith.mulf %a1, %half : !s
  %w1 = linalg.softmax dimension(2) ins(%s1 : !s) outs(%f : !s) -> !s
  // expected-remark @below {{not raised: 'attention' is nearly that, but its mask is added before the scores are scaled}}
  %y1 = linalg.batch_matmul ins(%w1, %v : !s, !q) outs(%z_q : !q) -> !q
  %p2 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %c2 = arith.cmpf ogt, %p2, %half : !s
  %s2 = arith.select %c2, %p2, %none : tensor<2x6x6xi1>, !s
  %w2 = linalg.softmax dimension(2) ins(%s2 : !s) outs(%f : !s) -> !s
  // expected-remark @below {{not raised: 'attention' is nearly that, but its mask depends on its scores}}
  %y2 = linalg.batch_matmul ins(%w2, %v : !s, !q) outs(%z_q : !q) -> !q
  %p3 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %a3 = arith.addf %p3, %m : !s
  %s3 = arith.select %bits, %a3, %none : tensor<2x6x6xi1>, !s
  %w3 = linalg.softmax dimension(2) ins(%s3 : !s) outs(%f : !s) -> !s
  // expected-remark @below {{not raised: 'attention' is nearly that, but it has two masks}}
  %y3 = linalg.batch_matmul ins(%w3, %v : !s, !q) outs(%z_q : !q) -> !q
  %p4 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%m : !s) -> !s
  %a4 = arith.addf %p4, %m : !s
  %w4 = linalg.softmax dimension(2) ins(%a4 : !s) outs(%f : !s) -> !s
  // expected-remark @below {{not raised: 'attention' is nearly that, but two masks are added to its scores}}
  %y4 = linalg.batch_matmul ins(%w4, %v : !s, !q) outs(%z_q : !q) -> !q
  return %y0, %y1, %y2, %y3, %y4 : !q, !q, !q, !q, !q
}

// -----

// Scores that are read elsewhere, that are scaled by a tensor, that are divided by zero or scaled by a large number, that are a difference, and heads
// of two sizes.
!q = tensor<2x6x8xf32>
!s = tensor<2x6x6xf32>
#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
func.func @scores(%q: !q, %k: !q, %v: !q, %e: !q, %f: !s, %m: !s, %u: tensor<2x6x577xf32>) -> (!q, !s, !q, !q, !q, !q, tensor<2x6x577xf32>) {
  %zero = arith.constant 0.0 : f32
  %z_q = linalg.fill ins(%zero : f32) outs(%e : !q) -> !q
  %z_s = linalg.fill ins(%zero : f32) outs(%f : !s) -> !s
  %z_u = linalg.fill ins(%zero : f32) outs(%u : tensor<2x6x577xf32>) -> tensor<2x6x577xf32>
  %p0 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %w0 = linalg.softmax dimension(2) ins(%p0 : !s) outs(%f : !s) -> !s
  // expected-remark @below {{not raised: 'attention' is nearly that, but something else reads its scores or weights}}
  %y0 = linalg.batch_matmul ins(%w0, %v : !s, !q) outs(%z_q : !q) -> !q
  %p1 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %s1 = arith.mulf %p1, %m : !s
  %w1 = linalg.softmax dimension(2) ins(%s1 : !s) outs(%f : !s) -> !s
  // expected-remark @below {{not raised: 'attention' is nearly that, but its scores are scaled by something else than a constant}}
  %y1 = linalg.batch_matmul ins(%w1, %v : !s, !q) outs(%z_q : !q) -> !q
  %none = arith.constant dense<0.0> : !s
  %large = arith.constant dense<1.0e13> : !s
  %p4 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %s4 = arith.divf %p4, %none : !s
  %w4 = linalg.softmax dimension(2) ins(%s4 : !s) outs(%f : !s) -> !s
  // expected-remark @below {{not raised: 'attention' is nearly that, but its scores are scaled by something else than a constant}}
  %y4 = linalg.batch_matmul ins(%w4, %v : !s, !q) outs(%z_q : !q) -> !q
  %p5 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %s5 = arith.mulf %p5, %large : !s
  %w5 = linalg.softmax dimension(2) ins(%s5 : !s) outs(%f : !s) -> !s
  // expected-remark @below {{not raised: 'attention' is nearly that, but its scores are scaled by a number above 1e12}}
  %y5 = linalg.batch_matmul ins(%w5, %v : !s, !q) outs(%z_q : !q) -> !q
  %p2 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %s2 = arith.subf %p2, %m : !s
  %w2 = linalg.softmax dimension(2) ins(%s2 : !s) outs(%f : !s) -> !s
  // expected-remark @below {{not raised: 'attention' is nearly that, but its scores are something else than a product with a scale and a mask}}
  %y2 = linalg.batch_matmul ins(%w2, %v : !s, !q) outs(%z_q : !q) -> !q
  %p3 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %w3 = linalg.softmax dimension(2) ins(%p3 : !s) outs(%f : !s) -> !s
  // expected-remark @below {{not raised: 'attention' is nearly that, but its heads are not of known sizes from 1 to 576}}
  %y3 = linalg.batch_matmul ins(%w3, %u : !s, tensor<2x6x577xf32>) outs(%z_u : tensor<2x6x577xf32>) -> tensor<2x6x577xf32>
  return %y0, %w0, %y1, %y2, %y4, %y5, %y3 : !q, !s, !q, !q, !q, !q, tensor<2x6x577xf32>
}

// -----

// No attention at all: weights that are no softmax (another divisor), a softmax of an argument, zeros in other rows than those without a key.
!q = tensor<2x6x8xf32>
!s = tensor<2x6x6xf32>
#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
#full = affine_map<(b, i, j) -> (b, i, j)>
#rows = affine_map<(b, i, j) -> (b, i)>
func.func @others(%s: !s, %q: !q, %k: !q, %v: !q, %e: !q, %f: !s, %g: tensor<2x6xf32>, %bits: tensor<2x6xi1>) -> (!q, !q, !q) {
  %zero = arith.constant 0.0 : f32
  %z_q = linalg.fill ins(%zero : f32) outs(%e : !q) -> !q
  %z_s = linalg.fill ins(%zero : f32) outs(%f : !s) -> !s
  %z_g = linalg.fill ins(%zero : f32) outs(%g : tensor<2x6xf32>) -> tensor<2x6xf32>
  %x = math.exp %s : !s
  %w = arith.divf %x, %s : !s
  %y = linalg.batch_matmul ins(%w, %v : !s, !q) outs(%z_q : !q) -> !q
  %w1 = linalg.softmax dimension(2) ins(%s : !s) outs(%f : !s) -> !s
  %y1 = linalg.batch_matmul ins(%w1, %v : !s, !q) outs(%z_q : !q) -> !q
  %p2 = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z_s : !s) -> !s
  %x2 = math.exp %p2 : !s
  %sum2 = linalg.generic {indexing_maps = [#full, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x2 : !s) outs(%z_g : tensor<2x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.addf %in, %out : f32
    linalg.yield %t : f32
  } -> tensor<2x6xf32>
  %w2 = linalg.generic {indexing_maps = [#full, #rows, #rows, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x2, %sum2, %bits : !s, tensor<2x6xf32>, tensor<2x6xi1>) outs(%f : !s) {
  ^bb0(%a: f32, %b: f32, %c: i1, %out: f32):
    %t = arith.divf %a, %b : f32
    %u = arith.select %c, %zero, %t : f32
    linalg.yield %u : f32
  } -> !s
  %y2 = linalg.batch_matmul ins(%w2, %v : !s, !q) outs(%z_q : !q) -> !q
  return %y, %y1, %y2 : !q, !q, !q
}
